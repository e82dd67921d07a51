"""Ids ordered by a value that changes: a heap in which outdated places are left behind and skipped.

Invariant: `lowest` names the id with the smallest value, of equal ones the one that has had it longest.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush


class Ranking:
    """Ids with a value each."""

    __slots__ = ("_heap", "_places", "_ticks")

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, int]] = []
        self._places: dict[int, tuple[float, int, int]] = {}
        self._ticks = 0

    def put(self, id: int, value: float) -> None:
        """Set the value of an id."""
        self._ticks += 1
        place = value, self._ticks, id
        self._places[id] = place
        heappush(self._heap, place)
        if len(self._heap) > 64 + 4 * len(self._places):
            self._heap = list(self._places.values())
            heapify(self._heap)

    def value(self, id: int) -> float:
        """The value of an id. Raises KeyError for one without."""
        return self._places[id][0]

    def drop(self, id: int) -> None:
        """Forget an id. Raises KeyError for one without a value."""
        del self._places[id]

    def lowest(self) -> int | None:
        """The id with the smallest value, None when there is none."""
        heap = self._heap
        while heap and self._places.get(heap[0][2]) is not heap[0]:
            heappop(heap)
        return heap[0][2] if heap else None

    def __contains__(self, id: object) -> bool:
        return id in self._places

    def __len__(self) -> int:
        return len(self._places)
