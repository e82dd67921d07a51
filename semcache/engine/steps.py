"""Work in steps: a generator that yields between pieces of work, and returns its result.

Whoever drives it may do other work in between. Invariant: the result does not depend on what is done in between.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TypeAlias, TypeVar

T = TypeVar("T")
Steps: TypeAlias = Generator[None, None, T]


def step_of(steps: Steps[T]) -> T | None:
    """Do one step; returns the result, which is never None, with the last."""
    try:
        next(steps)
    except StopIteration as end:
        result: T = end.value
        return result
    return None


def finished(steps: Steps[T]) -> T:
    """Do all steps at once."""
    while (result := step_of(steps)) is None:
        pass
    return result
