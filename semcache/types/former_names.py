"""Former names of fields: a public value is read, and made, under the name that a field had before.

Invariant: every use of a former name gives a `DeprecationWarning` that says the new one.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")


class FormerName:
    """A former name of the field `name`, under which it can still be read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._message = ""

    def __set_name__(self, owner: type, former: str) -> None:
        self._message = f"`{former}` of {owner.__name__} is called `{self.name}`"

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        self.warn()
        return getattr(instance, self.name)

    def warn(self) -> None:
        """Warn whoever called the caller."""
        warnings.warn(self._message, DeprecationWarning, stacklevel=3)


def made_by_former_names(kind: type[T]) -> type[T]:
    """Let a dataclass be made with its former names as keywords too."""
    make: Callable[..., None] = kind.__init__
    formers = {former: one for former, one in vars(kind).items() if isinstance(one, FormerName)}

    @wraps(make)
    def made(self: T, *args: Any, **fields: Any) -> None:
        for former in formers.keys() & fields.keys():
            formers[former].warn()
            fields[formers[former].name] = fields.pop(former)
        make(self, *args, **fields)

    kind.__init__ = made  # type: ignore[assignment, method-assign]
    return kind
