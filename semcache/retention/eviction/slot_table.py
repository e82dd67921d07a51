"""A table from ids to slots: about ten bytes an id, where a dict of numbers takes eighty.

Knows no column but that of the ids. Invariant: an id that was put and not taken is found, and nothing else is.
"""

from __future__ import annotations

from array import array

import numpy as np

_SMALLEST = 64
_BITS = (1 << 64) - 1
_SPREAD = 0x9E3779B97F4A7C15  # 2^64 / golden ratio (Knuth, The Art of Computer Programming 3, section 6.4)
_NONE = -1


class Slots:
    """A hash table with linear probing (Knuth, section 6.4, algorithms L and R), at most two thirds full.

    `ids` is the column of signed 64-bit ids by slot; it is the owner's, and read to tell ids apart.
    """

    __slots__ = ("_cells", "_count", "_ids", "_shift")

    def __init__(self, ids: array[int]) -> None:
        self._ids = ids
        self._count = 0
        self._shift = 64 - _SMALLEST.bit_length() + 1
        self._cells = array("i", [_NONE]) * _SMALLEST

    def put(self, id: int, slot: int) -> None:
        """Note that an id is in a slot; it must be in none, and in the column already."""
        if 3 * (self._count + 1) > 2 * len(self._cells):
            self._grow()
        self._cells[self._cell(id)] = slot
        self._count += 1

    def find(self, id: int) -> int | None:
        """The slot of an id, None when it is in none."""
        # `_cell` once more: every hit comes here, and a call costs as much as the search.
        cells, ids, last = self._cells, self._ids, len(self._cells) - 1
        at = (id * _SPREAD & _BITS) >> self._shift
        while (slot := cells[at]) != _NONE:
            if ids[slot] == id:
                return slot
            at = (at + 1) & last
        return None

    def take(self, id: int) -> int:
        """Forget an id and return its slot. Raises KeyError when it is in none."""
        cells, last = self._cells, len(self._cells) - 1
        hole = self._cell(id)
        slot = cells[hole]
        if slot == _NONE:
            raise KeyError(id)
        at = hole
        while cells[at := (at + 1) & last] != _NONE:
            # What may stand in the hole as well as where it is moves there, so that no search ends too early.
            home = self._home(self._ids[cells[at]])
            if (at - home) & last >= (at - hole) & last:
                cells[hole], hole = cells[at], at
        cells[hole] = _NONE
        self._count -= 1
        return slot

    def __contains__(self, id: object) -> bool:
        return isinstance(id, int) and self.find(id) is not None

    def __len__(self) -> int:
        return self._count

    def _home(self, id: int) -> int:
        return (id * _SPREAD & _BITS) >> self._shift

    def _cell(self, id: int) -> int:
        """Where an id is, or the empty cell where it would be put."""
        cells, ids, last = self._cells, self._ids, len(self._cells) - 1
        at = (id * _SPREAD & _BITS) >> self._shift
        while (slot := cells[at]) != _NONE and ids[slot] != id:
            at = (at + 1) & last
        return at

    def _grow(self) -> None:
        """Twice as many cells; all ids at once, since one after the other would hold requests up."""
        held = np.frombuffer(self._cells, np.int32)
        slots = held[held != _NONE]
        self._shift -= 1
        cells = np.full(2 * len(held), _NONE, np.int32)
        ids = np.frombuffer(self._ids, np.int64)[slots].astype(np.uint64)
        at = (ids * np.uint64(_SPREAD) >> np.uint64(self._shift)).astype(np.int64)
        while len(slots):
            free = cells[at] == _NONE
            cells[at[free]] = slots[free]
            # Of several that wanted the same cell one has got it.
            left = cells[at] != slots
            slots, at = slots[left], (at[left] + 1) & (len(cells) - 1)
        self._cells = array("i", cells.tobytes())
