"""Groups of options that several commands share, each declared once as a dataclass.

A command takes a group as one parameter, and Typer sees the fields of the group in its place. Invariant: the command
line is the same as if the command had declared every option of the group itself.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import wraps
from typing import Any, get_type_hints


def with_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Return the command with the fields of its groups as parameters of their own, for Typer to read."""
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, Any] = {name: hint for name, hint in hints.items() if is_dataclass(hint)}

    @wraps(command)
    def expanded(**given: Any) -> None:
        for name, group in groups.items():
            given[name] = group(**{field.name: given.pop(field.name) for field in fields(group)})
        command(**given)

    parameters = list(_parameters(inspect.signature(command), hints))
    expanded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {one.name: one.annotation for one in parameters}
    return expanded


def _parameters(signature: inspect.Signature, hints: dict[str, Any]) -> Iterator[inspect.Parameter]:
    for name, parameter in signature.parameters.items():
        hint = hints[name]
        if not is_dataclass(hint):
            yield parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=hint)
            continue
        annotations = get_type_hints(hint, include_extras=True)
        for field in fields(hint):
            yield inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=_default(field),
                annotation=annotations[field.name],
            )


def _default(field: Field[Any]) -> Any:
    return inspect.Parameter.empty if field.default is MISSING else field.default
