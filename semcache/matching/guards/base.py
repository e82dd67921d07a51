"""The base of the guards: read each of two texts once, then compare the readings.

Knows no words. Invariant: two texts with one and the same reading object do not conflict, so that a guard which finds
nothing to read in most texts costs next to nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, NamedTuple, TypeVar

from semcache.protocols import Guard
from semcache.types import Conflict

R = TypeVar("R")


class GuardFinding(NamedTuple):
    """The finding of a part of a guard: what its `Conflict` says, and whether that is beyond doubt."""

    detail: str
    sure: bool = True


class ReadingGuard(ABC, Generic[R]):
    """A guard that compares two readings.

    `read` must return one shared object for all texts that say nothing of its kind.
    """

    name: str

    @abstractmethod
    def read(self, text: str) -> R:
        """The reading of `text`."""

    @abstractmethod
    def compare(self, one: R, two: R, query: str, cached: str, /) -> Conflict | None:
        """The finding against two texts with these readings. Symmetric, but for the order of what it names."""

    def is_arguable(self, one: R, two: R) -> bool:
        """Return False where other words around it do not explain a veto against two texts with these readings."""
        del one, two
        return True

    def conflict(self, query: str, cached: str) -> Conflict | None:
        """The finding against these texts, read anew."""
        one, two = self.read(query), self.read(cached)
        return None if one is two else self.compare(one, two, query, cached)


class TextGuard(ReadingGuard[str]):
    """A guard that has no readings of its own: it is shown the texts."""

    def __init__(self, guard: Guard) -> None:
        self.name = guard.name
        self._guard = guard

    def read(self, text: str) -> str:
        """The text."""
        return text

    def compare(self, _one: str, _two: str, query: str, cached: str, /) -> Conflict | None:
        """The guard's finding."""
        return self._guard.conflict(query, cached)
