"""The examples of one process, found by similarity within a partition and kept as far as they are worth their bytes.

Knows vectors and values, nothing of models. Invariant: what is held is at most `limit` bytes, and a search never leaves
its partition, nor finds what is gone.

The choice of what to drop is a 0/1 knapsack (IC-Cache, section 5): value is the utility of an example, weight its
bytes. It is solved greedily by value per byte, which loses less than the most valuable example that was left out
(Martello and Toth 1990, "Knapsack problems", section 2.4); room for a tenth is made at once, so that it is not solved
for every example.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from semcache.agents.nearhits.example import DECAY, NearExample

if TYPE_CHECKING:
    from semcache.protocols import VectorIndex
    from semcache.types import Vector

_LEAVE = 0.9
_HOUR = 3600.0
_NEWCOMER = 1.0  # offloads that an example is taken to be worth before it was ever used


class ExamplePool:
    """Examples by partition. `index` makes an index of vectors of a dimension, `limit` is in bytes.

    `alive` says whether what an example was made of is still there: what is not is forgotten when it is found.
    """

    def __init__(
        self,
        index: Callable[[int], VectorIndex],
        limit: int = 256 << 20,
        *,
        alive: Callable[[int], bool] = lambda _id: True,
    ) -> None:
        self._make, self._limit, self._alive = index, limit, alive
        self._indexes: dict[bytes, VectorIndex] = {}
        self._held: dict[int, NearExample] = {}
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._held)

    def __iter__(self) -> Iterator[NearExample]:
        return iter(list(self._held.values()))

    def get(self, id: int) -> NearExample | None:
        """The example of that id, None when it is gone."""
        return self._held.get(id)

    def search(self, partition: bytes, vector: Vector, k: int) -> list[tuple[NearExample, float]]:
        """The k nearest examples of a partition with their cosine similarity, nearest first."""
        while (index := self._indexes.get(partition)) is not None:
            found = index.search(vector, k)
            gone = [one.entry_id for one in found if not self._alive(one.entry_id)]
            if not gone:
                return [(self._held[one.entry_id], one.score) for one in found]
            for number in gone:
                self.remove(number)
        return []

    def put(self, example: NearExample, now: float) -> list[int]:
        """Hold an example, or the new state of one; returns the ids that went for it, its own where it is too large."""
        if example.size > self._limit:
            self.remove(example.id)
            return [example.id]
        old = self._held.get(example.id)
        if old is None or old.vector is not example.vector or old.partition != example.partition:
            self.remove(example.id)
            index = self._indexes.setdefault(example.partition, self._make(len(example.vector)))
            index.add(example.id, example.vector)
        else:
            self.bytes -= old.size
        self._held[example.id] = example
        self.bytes += example.size
        return self._shrink(now) if self.bytes > self._limit else []

    def remove(self, id: int) -> None:
        """Forget an example; unknown ids are ignored."""
        old = self._held.pop(id, None)
        if old is None:
            return
        self.bytes -= old.size
        index = self._indexes[old.partition]
        index.remove(id)
        if not len(index):
            del self._indexes[old.partition]

    def prune(self) -> int:
        """Forget the examples of what is gone; returns how many."""
        gone = [number for number in self._held if not self._alive(number)]
        for number in gone:
            self.remove(number)
        return len(gone)

    def worth(self, example: NearExample, now: float) -> float:
        """The worth of an example: its utility, and before its first use that of a newcomer."""
        if example.uses:
            return example.utility(now)
        return _NEWCOMER * float(DECAY ** (max(0.0, now - example.created) / _HOUR))

    def _shrink(self, now: float) -> list[int]:
        order = sorted(
            self._held.values(), key=lambda one: (self.worth(one, now) / one.size, one.created), reverse=True
        )
        room, gone = self._limit * _LEAVE, []
        for one in order:
            if one.size <= room:
                room -= one.size
            else:
                gone.append(one.id)
        for number in gone:
            self.remove(number)
        return gone
