"""The number of requests to a hit, lately: by it a target for all requests becomes an error that a hit may have.

Hits are rare while a cache is cold, and common later. What was seen is forgotten hit by hit, so that the number is
equally exact however rare they are: slowly, unless the last hits show another number. Knows no risks. Invariant: it is
at least 1.
"""

from __future__ import annotations

from collections.abc import Sequence

_LONG, _SHORT = 2_000.0, 200.0  # hits that are remembered
_ANOTHER = 1.25  # times the one number, from which the other is another


class RequestsPerHit:
    """The recent requests of one category, and the hits among them."""

    def __init__(self) -> None:
        self._long, self._short = (0.0, 0.0), (0.0, 0.0)

    def note(self, *, served: bool) -> None:
        """Count a request."""
        self._long, self._short = _with(self._long, _LONG, served=served), _with(self._short, _SHORT, served=served)
        long, short = _ratio(self._long), _ratio(self._short)
        if max(long, short) > _ANOTHER * min(long, short):
            self._long = self._short

    def now(self) -> float:
        """The number, as if one more hit had been seen."""
        return _ratio(self._long)

    def state(self) -> list[float]:
        """As JSON has it."""
        return [*self._long, *self._short]

    def restore(self, state: Sequence[float]) -> None:
        """Take up what `state` gave, or how many requests and hits there ever were, as far as they are recent."""
        seen, served, *short = map(float, state)
        self._long = _at_most(seen, served, _LONG)
        self._short = (short[0], short[1]) if short else _at_most(seen, served, _SHORT)


def _with(counted: tuple[float, float], memory: float, *, served: bool) -> tuple[float, float]:
    seen, hits = counted
    kept = 1.0 - served / memory
    return kept * seen + 1.0, kept * hits + served


def _ratio(counted: tuple[float, float]) -> float:
    seen, hits = counted
    return (seen + 1.0) / (hits + 1.0)


def _at_most(seen: float, hits: float, memory: float) -> tuple[float, float]:
    share = min(1.0, memory / max(1.0, hits))
    return share * seen, share * hits
