"""Numbers of many ids in columns: some fifty bytes an id, where objects and a heap would take ten times as many.

Invariant: a slot holds one id or is free, and free slots have the value infinity.
"""

from __future__ import annotations

import math
from array import array
from typing import Any, NamedTuple

import numpy as np

_BITS = (1 << 64) - 1


class Rated(NamedTuple):
    """An id's key (64 bits), weight, cost saved by a use, and life in Unix seconds."""

    key: int
    weight: float
    cost: float
    created: float
    expires: float


class Table:
    """Slots with an id, what it is rated by, a level and a value.

    The least value is found by looking at all of them: 50 us for 100,000, and only an eviction asks.
    """

    __slots__ = ("_costs", "_created", "_expires", "_free", "_ids", "_keys", "_weights", "levels", "values")

    def __init__(self) -> None:
        self.values = array("d")
        self.levels = array("d")
        self._ids = array("q")
        self._keys = array("Q")
        self._weights = array("d")
        self._costs = array("f")
        self._created = array("d")
        self._expires = array("d")
        self._free: list[int] = []

    def add(self, id: int, rated: Rated, level: float, value: float) -> int:
        """Fill a slot and return its number."""
        row = (value, level, id, rated.key & _BITS, rated.weight, rated.cost, rated.created, rated.expires)
        columns = self._columns()
        if not self._free:
            for column, cell in zip(columns, row, strict=True):
                column.append(cell)
            return len(self.values) - 1
        slot = self._free.pop()
        for column, cell in zip(columns, row, strict=True):
            column[slot] = cell
        return slot

    def rated(self, slot: int) -> Rated:
        """What a slot is rated by."""
        return Rated(self._keys[slot], self._weights[slot], self._costs[slot], self._created[slot], self._expires[slot])

    def drop(self, slot: int) -> None:
        """Free a slot."""
        self.values[slot] = math.inf
        self._free.append(slot)

    def lowest(self) -> int:
        """The id of the least value. At least one slot must be filled."""
        return self._ids[int(np.frombuffer(self.values).argmin())]

    def _columns(self) -> tuple[array[Any], ...]:
        return (
            self.values,
            self.levels,
            self._ids,
            self._keys,
            self._weights,
            self._costs,
            self._created,
            self._expires,
        )
