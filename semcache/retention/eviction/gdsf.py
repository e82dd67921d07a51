"""GreedyDual-Size-Frequency: uses times cost by weight, above a clock that rises with every victim.

Invariant: the clock never falls, and no id was put below it.
"""

from __future__ import annotations

from semcache.retention.eviction.ranking import Ranking
from semcache.retention.eviction.worth import PLAIN, Worth


class Gdsf:
    """`protocols.Eviction` after Cherkasova, HP Labs HPL-98-69R1 (1998): H = clock + uses * cost / weight."""

    __slots__ = ("_clock", "_density", "_ranking", "_uses", "_victim")

    def __init__(self) -> None:
        self._ranking = Ranking()
        self._density: dict[int, float] = {}
        self._uses: dict[int, int] = {}
        self._clock = 0.0
        self._victim: int | None = None

    def insert(self, id: int, weight: float, worth: Worth = PLAIN) -> None:
        """Take an id in."""
        self._density[id] = worth.cost / weight if weight > 0 else worth.cost
        self._uses[id] = 0
        self.touch(id)

    def touch(self, id: int) -> None:
        """Note a use of an id that is tracked."""
        self._uses[id] += 1
        self._ranking.put(id, self._clock + self._uses[id] * self._density[id])

    def forget(self, id: int) -> None:
        """Drop a tracked id that is gone."""
        if id == self._victim:
            self._clock = max(self._clock, self._ranking.value(id))
        self._ranking.drop(id)
        del self._density[id], self._uses[id]

    def __contains__(self, id: object) -> bool:
        return id in self._uses

    def __len__(self) -> int:
        return len(self._uses)

    def victim(self) -> int | None:
        """The id to give up next, None without any."""
        self._victim = self._ranking.lowest()
        return self._victim
