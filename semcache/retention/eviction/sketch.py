"""A count-min sketch behind a doorkeeper: how often something was asked lately, in little memory, with ageing.

Pure and deterministic. Invariant: between two halvings an estimate is never below the true count, up to `MOST`.
"""

from __future__ import annotations

MOST = 15
_ROWS = 4
_SPAN = 10
_MASK = (1 << 64) - 1


class Sketch:
    """Counts of at most `MOST` for any number of keys (Einziger, Friedman, Manes, "TinyLFU", ACM TOS 2017, section 3).

    The first occurrence of a key is a pair of bits in the doorkeeper, further ones are counted. After ten times as
    many events as there are entries all counts are halved and the doorkeeper is emptied, so that old fame fades.
    """

    __slots__ = ("_counts", "_door", "_events", "_mask")

    def __init__(self, entries: int = 256) -> None:
        width = 1 << max(8, (entries - 1).bit_length())
        self._mask = width - 1
        self._counts = [bytearray(width) for _ in range(_ROWS)]
        self._door = bytearray(width)
        self._events = 0

    def fit(self, entries: int) -> None:
        """Grow to this many entries. A table beside its copy gives the same estimates at twice the width."""
        while entries > self._mask + 1:
            self._counts = [row * 2 for row in self._counts]
            self._door = self._door * 2
            self._mask = self._mask * 2 + 1

    def add(self, key: int) -> None:
        """Count an occurrence."""
        first, step = spread(key)
        self._events += 1
        if self._events > _SPAN * (self._mask + 1):
            self._halve()
        # The doorkeeper is a Bloom filter of eight bits a slot; two of them are set.
        low, high = 1 << (step & 7), 1 << (step >> 3 & 7)
        one, two = first & self._mask, step >> 8 & self._mask
        if not (self._door[one] & low and self._door[two] & high):
            self._door[one] |= low
            self._door[two] |= high
            return
        slots = [(first + row * step) & self._mask for row in range(_ROWS)]
        least = min([counts[slot] for counts, slot in zip(self._counts, slots, strict=True)])
        if least < MOST - 1:
            for counts, slot in zip(self._counts, slots, strict=True):
                # Only the smallest counters grow, which errs less.
                if counts[slot] == least:
                    counts[slot] = least + 1

    def estimate(self, key: int) -> int:
        """Recent occurrences, from 0 to `MOST`."""
        first, step = spread(key)
        low, high = 1 << (step & 7), 1 << (step >> 3 & 7)
        known = self._door[first & self._mask] & low and self._door[step >> 8 & self._mask] & high
        least = min([counts[(first + row * step) & self._mask] for row, counts in enumerate(self._counts)])
        return least + bool(known)

    def _halve(self) -> None:
        self._counts = [row.translate(_HALVES) for row in self._counts]
        self._door = bytearray(len(self._door))
        self._events //= 2


_HALVES = bytes([count // 2 for count in range(256)])


def spread(key: int) -> tuple[int, int]:
    """Two independent hashes of a key, the second odd (splitmix64, Steele et al. 2014)."""
    mixed = (key + 0x9E3779B97F4A7C15) & _MASK
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _MASK
    mixed ^= mixed >> 31
    return mixed & 0xFFFFFFFF, mixed >> 32 | 1
