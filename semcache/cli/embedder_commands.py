"""`semcache embedder`: make, measure and install the model that turns prompts into vectors.

Knows the commands by name and the module of each. Invariant: a command's module is imported when that command, or the
list of all with their help, is asked for, never by `semcache --help`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

_NAMES = ("finetune", "evaluate", "synthesize", "distill", "federate", "verifier", "install")


class _OnDemand(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(_NAMES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in _NAMES:
            return None
        alone = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
        alone.command(cmd_name)(_command(cmd_name))
        return get_command(alone)


def _command(name: str) -> Callable[..., None]:
    """Import the module of a command, and return its function."""
    match name:
        case "synthesize":
            from semcache.cli.embedder_synthesize import synthesize

            return synthesize
        case "distill":
            from semcache.cli.embedder_distill import distill

            return distill
        case "federate":
            from semcache.cli.embedder_federate import federate

            return federate
        case "verifier":
            from semcache.cli.embedder_verifier import verifier

            return verifier
        case "install":
            from semcache.cli.embedder_install import install

            return install
    from semcache.cli.embedder_finetune import evaluate, finetune

    return evaluate if name == "evaluate" else finetune


app = typer.Typer(cls=_OnDemand, help="Train, measure and install embedders.", no_args_is_help=True)
