"""Two samples of times compared: Kolmogorov-Smirnov, Holm's correction, and the smallest difference that shows.

Pure. The p-value is the asymptotic one with Stephens' correction (Stephens 1970, "Use of the Kolmogorov-Smirnov,
Cramer-von Mises and related statistics without extensive tables"), good from some 20 a side. Invariant: nothing is
rejected that its own p-value alone would not reject.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_TERMS = 100
_HALVINGS = 60


@dataclass(frozen=True, slots=True)
class Compared:
    """The greatest distance of two distribution functions, and the probability of one so great were they equal."""

    distance: float
    p: float

    @property
    def told_right(self) -> float:
        """The share of single times that the best threshold puts on the right side."""
        return 0.5 + self.distance / 2.0


def compare(one: Sequence[float], two: Sequence[float]) -> Compared:
    """Compare two samples."""
    first, second = np.sort(np.asarray(one)), np.sort(np.asarray(two))
    values = np.concatenate([first, second])
    below = np.searchsorted(first, values, side="right") / len(first)
    below -= np.searchsorted(second, values, side="right") / len(second)
    distance = float(np.abs(below).max())
    return Compared(distance, _p(distance, len(first), len(second)))


def rejected(p_values: Sequence[float], level: float) -> list[bool]:
    """Return, by Holm's procedure, which hypotheses are rejected where the family may err with probability `level`."""
    found = [False] * len(p_values)
    for done, place in enumerate(sorted(range(len(p_values)), key=lambda at: p_values[at])):
        if p_values[place] > level / (len(p_values) - done):
            break
        found[place] = True
    return found


def smallest_distance(size: int, level: float) -> float:
    """Return the smallest distance of two samples of this size that is rejected at this level."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if _p(middle, size, size) <= level else (middle, high)
    return high


def smallest_shift(one: Sequence[float], two: Sequence[float], level: float) -> float:
    """Return by how much less time the first sample would have had to take for the test to reject at this level.

    That is a difference which all its times have alike, beside the noise that was measured; 0 where it rejects anyway.
    """
    first, second = np.asarray(one), np.asarray(two)
    low, high = 0.0, float(max(first.max(), second.max()) - min(first.min(), second.min())) + 1e-9
    if compare(list(first), list(second)).p <= level:
        return 0.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if compare(list(first - middle), list(second)).p <= level else (middle, high)
    return high


def _p(distance: float, one: int, two: int) -> float:
    root = math.sqrt(one * two / (one + two))
    x = (root + 0.12 + 0.11 / root) * distance
    if x < 0.2:
        return 1.0
    total = math.fsum((1.0 if k % 2 else -1.0) * math.exp(-2.0 * (k * x) ** 2) for k in range(1, _TERMS))
    return min(1.0, max(0.0, 2.0 * total))
