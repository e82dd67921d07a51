"""Numbers of many ids in columns: some fifty bytes an id, where objects and a heap would take ten times as many.

Invariant: a slot holds one id or is free, and free slots have the value infinity.
"""

from __future__ import annotations

import math
from array import array
from typing import Any, NamedTuple

import numpy as np

from semcache.retention.eviction.slot_table import Slots

_BITS = (1 << 64) - 1


class Rated(NamedTuple):
    """An id's key (64 bits), weight, cost saved by a use, and life in Unix seconds."""

    key: int
    weight: float
    cost: float
    created: float
    expires: float


class Table:
    """Ids with what each is rated by, and a value: a level, and how far the value lies above it.

    The least value is found by looking at all of them: 50 us for 100,000, and only an eviction asks.
    Times are kept from the first one on, to within a second for half a year and to within ten for five.
    """

    __slots__ = (
        "_above",
        "_costs",
        "_created",
        "_expires",
        "_free",
        "_ids",
        "_keys",
        "_slots",
        "_start",
        "_values",
        "_weights",
    )

    def __init__(self) -> None:
        self._values = array("d")
        self._above = array("f")
        self._ids = array("q")
        self._keys = array("Q")
        self._costs = array("f")
        self._created = array("f")
        self._expires = array("f")
        # By slot, of what weighs something else than 1.
        self._weights: dict[int, float] = {}
        self._start: float | None = None
        self._free: list[int] = []
        self._slots = Slots(self._ids)

    def add(self, id: int, rated: Rated, level: float, above: float) -> None:
        """Take an id in."""
        if self._start is None:
            self._start = rated.created
        created, expires = rated.created - self._start, rated.expires - self._start
        row = (0.0, 0.0, id, rated.key & _BITS, rated.cost, created, expires)
        columns = self._columns()
        if self._free:
            slot = self._free.pop()
            for column, cell in zip(columns, row, strict=True):
                column[slot] = cell
        else:
            slot = len(self._ids)
            for column, cell in zip(columns, row, strict=True):
                column.append(cell)
        if rated.weight != 1.0:
            self._weights[slot] = rated.weight
        self._slots.put(id, slot)
        self.set(slot, level, above)

    def slot(self, id: int) -> int:
        """Where an id is, until it is dropped. Raises KeyError for an unknown one."""
        slot = self._slots.find(id)
        if slot is None:
            raise KeyError(id)
        return slot

    def rated(self, slot: int) -> Rated:
        """The columns by which the id of a slot is rated."""
        start = self._start or 0.0
        created, expires = start + self._created[slot], start + self._expires[slot]
        return Rated(self._keys[slot], self._weights.get(slot, 1.0), self._costs[slot], created, expires)

    def level(self, slot: int) -> float:
        """The level of a slot."""
        return self._values[slot] - self._above[slot]

    def set(self, slot: int, level: float, above: float | None = None) -> None:
        """Give a slot a level, and what its value exceeds that by unless that is as it was."""
        if above is not None:
            self._above[slot] = above
        # As it was rounded, so that the level comes out again.
        self._values[slot] = level + self._above[slot]

    def drop(self, id: int) -> None:
        """Drop an id. Raises KeyError for an unknown one."""
        slot = self._slots.take(id)
        self._values[slot] = math.inf
        self._weights.pop(slot, None)
        self._free.append(slot)

    def lowest(self) -> int:
        """The id of the least value. At least one id must be here."""
        return self._ids[int(np.frombuffer(self._values).argmin())]

    def __contains__(self, id: object) -> bool:
        return id in self._slots

    def __len__(self) -> int:
        return len(self._slots)

    def _columns(self) -> tuple[array[Any], ...]:
        return self._values, self._above, self._ids, self._keys, self._costs, self._created, self._expires
