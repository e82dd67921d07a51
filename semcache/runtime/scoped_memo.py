"""Memos of what was read in texts, kept apart by who may share answers.

The time that a memo saves tells a caller that the same text was read of late. So what is remembered for one scope is
never found by another: the scope of the request under way is part of every key. Knows functions and the name of a
scope, nothing of requests. Invariant: a memo returns what the function would, gives no scope a faster reply for
what another has asked, and holds the fewer texts the longer they are: a reading takes twenty times the memory of its
text and more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache, update_wrapper
from inspect import signature
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar, cast

T = TypeVar("T", str, bytes)
P = ParamSpec("P")
R = TypeVar("R")

_USUAL = 256  # characters of a prompt, and of most turns of a conversation
_LONGEST = 1 << 18  # what is read in a longer text is remembered for one request

_scope: ContextVar[str] = ContextVar("semcache_scope", default="")
_of_request: ContextVar[dict[Any, Any] | None] = ContextVar("semcache_readings", default=None)
current = _scope.get
"""The name of the scope of the request under way; "" outside of any."""


class MemoInfo(NamedTuple):
    """How many readings a memo holds, and how many calls it answered and did not."""

    hits: int
    misses: int
    currsize: int


def enter(*names: str | None) -> None:
    """From here on, in this task and those that it starts, what is read is remembered for the scope of these names.

    What is read in texts of more than 256 KiB is remembered for the request alone.
    """
    _scope.set(_joined(names))
    _of_request.set({})


@contextmanager
def within(*names: str | None) -> Iterator[None]:
    """In this context, remember what is read for the scope of these names, and after it for the one before."""
    scope, of_request = _scope.set(_joined(names)), _of_request.set({})
    try:
        yield
    finally:
        _of_request.reset(of_request)
        _scope.reset(scope)


def scoped_cache(
    maxsize: int, *, usual: int = _USUAL
) -> Callable[[Callable[Concatenate[T, P], R]], Callable[Concatenate[T, P], R]]:
    """`functools.lru_cache` for functions of a text, with the scope of the request in the key.

    `maxsize` texts of up to `usual` characters are remembered, besides a quarter as many of up to four times the
    length, a sixteenth of up to sixteen times, and so on.
    """

    def decorate(function: Callable[Concatenate[T, P], R]) -> Callable[Concatenate[T, P], R]:
        classes = range(1 + _class((_LONGEST - 1) // usual))
        memos = [
            lru_cache(maxsize=max(1, maxsize >> 2 * number))(lambda _, *args: function(*args))  # type: ignore[call-arg]
            for number in classes
        ]
        scope, short = _scope.get, memos[0]

        def long(text: Any, *args: Any) -> Any:
            length = len(text)
            if length <= _LONGEST:
                return memos[_class((length - 1) // usual)](scope(), text, *args)
            return _once(function, text, *args)

        def remembering_of_text(text: Any) -> Any:
            return short(scope(), text) if len(text) <= usual else long(text)

        def remembering_of_all(text: Any, *args: Any) -> Any:
            return short(scope(), text, *args) if len(text) <= usual else long(text, *args)

        # Most functions are given a text alone, hundreds of times a request: no other arguments are packed for these.
        alone = len(signature(function).parameters) == 1
        remembering: Any = remembering_of_text if alone else remembering_of_all

        def info() -> MemoInfo:
            found = [memo.cache_info() for memo in memos]
            return MemoInfo(*(sum(getattr(one, name) for one in found) for name in MemoInfo._fields))

        def clear() -> None:
            for memo in memos:
                memo.cache_clear()

        update_wrapper(remembering, function)
        remembering.cache_clear = clear
        remembering.cache_info = info
        return cast("Callable[Concatenate[T, P], R]", remembering)

    return decorate


def _joined(names: Sequence[str | None]) -> str:
    return "\0".join([name or "" for name in names])


def _class(times: int) -> int:
    """The class of a text that is more than so many times as long as usual: 0, from once on 1, from four times on 2."""
    return (times.bit_length() + 1) // 2


def _once(function: Callable[..., R], *args: Any) -> R:
    """The result of a function, remembered until the request has been answered."""
    known = _of_request.get()
    if known is None:
        return function(*args)
    place = function, *args
    if place not in known:
        known[place] = function(*args)
    found: R = known[place]
    return found
