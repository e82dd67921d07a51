"""Memos of what was read in texts, kept apart by who may share answers.

The time that a memo saves tells a caller that the same text was read of late. So what is remembered for one scope is
never found by another: the scope of the request under way is part of every key. Knows functions and the name of a
scope, nothing of requests. Invariant: a memo returns what the function would, and gives no scope a faster reply for
what another has asked.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import lru_cache, update_wrapper
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

_scope: ContextVar[str] = ContextVar("semcache_scope", default="")
current = _scope.get
"""The name of the scope of the request under way; "" outside of any."""


def enter(*names: str | None) -> None:
    """From here on, in this task and those that it starts, what is read is remembered for the scope of these names."""
    _scope.set("\0".join([name or "" for name in names]))


def scoped_cache(maxsize: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """`functools.lru_cache` for positional arguments, with the scope of the request in the key."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        remembered = lru_cache(maxsize=maxsize)(lambda _, *args: function(*args))  # type: ignore[call-arg]
        scope = _scope.get

        def remembering(*args: Any) -> Any:
            return remembered(scope(), *args)

        update_wrapper(remembering, function)
        remembering.cache_clear = remembered.cache_clear  # type: ignore[attr-defined]
        remembering.cache_info = remembered.cache_info  # type: ignore[attr-defined]
        return remembering  # type: ignore[return-value]

    return decorate
