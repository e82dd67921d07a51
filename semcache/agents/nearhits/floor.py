"""The least helpfulness at which an example is shown: several thresholds are tried, and the one that pays best is used.

Draws are arguments. Pure. Invariant: every threshold goes on being tried, and until one is known to pay better the
middle one is used.
"""

from __future__ import annotations

LADDER = (0.0, 0.05, 0.1, 0.2, 0.35)
_TRIED = 0.1
_TOKEN_PRICE = 0.02  # quality, a thousand tokens
_DOUBT = 20.0
_KEEP = 0.995


class HelpfulnessFloor:
    """The threshold of one kind of traffic. What pays is quality less a price for each token shown."""

    def __init__(self) -> None:
        self._sums = [(0.0, 0.0)] * len(LADDER)

    def choose(self, draw: float) -> float:
        """The threshold for a request; `draw` is uniform in [0, 1)."""
        if draw < _TRIED:
            return LADDER[int(draw / _TRIED * len(LADDER))]
        return LADDER[max(range(len(LADDER)), key=lambda at: (self._mean(at), -abs(at - len(LADDER) // 2)))]

    def learn(self, floor: float, quality: float, tokens: int) -> None:
        """Take what came of a request with that threshold; one that is none of the ladder is ignored."""
        if floor in LADDER:
            at = LADDER.index(floor)
            count, total = self._sums[at]
            self._sums[at] = count * _KEEP + 1.0, total * _KEEP + quality - _TOKEN_PRICE * tokens / 1000.0

    def _mean(self, at: int) -> float:
        count, total = self._sums[at]
        tried = sum(number for number, _ in self._sums)
        overall = sum(each for _, each in self._sums) / tried if tried else 0.0
        return (_DOUBT * overall + total) / (_DOUBT + count)
