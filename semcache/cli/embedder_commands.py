"""`semcache embedder`: make, measure and install the model that turns prompts into vectors.

Knows the commands by name and the module of each. Invariant: a command's module is imported when that command, or the
list of all with their help, is asked for, never by `semcache --help`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup
from typer.main import get_command

_COMMANDS = {
    "finetune": "semcache.cli.embedder_finetune",
    "evaluate": "semcache.cli.embedder_finetune",
    "synthesize": "semcache.cli.embedder_synthesize",
    "distill": "semcache.cli.embedder_distill",
    "federate": "semcache.cli.embedder_federate",
    "verifier": "semcache.cli.embedder_verifier",
    "install": "semcache.cli.embedder_install",
}
"""The module of each command, whose function has the command's name."""


class _OnDemand(TyperGroup):
    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        alone = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
        alone.command(cmd_name)(getattr(import_module(_COMMANDS[cmd_name]), cmd_name))
        return get_command(alone)


app = typer.Typer(cls=_OnDemand, help="Train, measure and install embedders.", no_args_is_help=True)
