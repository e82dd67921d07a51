"""The recent verdicts of a language model by request and entry, and the labels of misses that wait for one.

A verdict that is asked for after a miss may come before the label of that miss or after it. Pure. Invariant: a repeated
verdict on the same request and entry can only lower the first.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any

from semcache.matching.vetoed_verdicts import Place
from semcache.types.evidence import Label

_REMEMBERED = 5_000
_WAITING = 500  # labels


class RecentVerdicts:
    """Verdicts as P(yes) in [0, 1]; a `Place` is the digest of the request and the id of the entry."""

    def __init__(self) -> None:
        self._verdicts: OrderedDict[Place, float] = OrderedDict()
        self._waiting: OrderedDict[Place, Label] = OrderedDict()

    def of(self, place: Place) -> float | None:
        """The verdict, None if there is none."""
        return self._verdicts.get(place)

    def remember(self, place: Place, p_yes: float) -> float:
        """Remember a verdict; return the lowest that was given on the two."""
        lowest = min(p_yes, self._verdicts.pop(place, 1.0))
        self._verdicts[place] = lowest
        if len(self._verdicts) > _REMEMBERED:
            self._verdicts.popitem(last=False)
        return lowest

    def wait(self, place: Place, missed: Label) -> None:
        """Keep the label of a miss until there is a verdict."""
        self._waiting[place] = missed
        if len(self._waiting) > _WAITING:
            self._waiting.popitem(last=False)

    def waiting(self, place: Place) -> Label | None:
        """Give back the label that has waited for this verdict; None if none has."""
        return self._waiting.pop(place, None)

    def state(self) -> list[list[Any]]:
        """As JSON has it, but for labels that wait."""
        return [[exact.hex(), entry_id, p] for (exact, entry_id), p in self._verdicts.items()]


def verdicts_of(state: Sequence[Sequence[Any]]) -> list[tuple[Place, float]]:
    """The verdicts that `RecentVerdicts.state` gave, to be remembered again."""
    return [((bytes.fromhex(exact), int(entry_id)), float(p)) for exact, entry_id, p in state]
