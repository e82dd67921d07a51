"""The price of predicted loss, in savings, that keeps the loss over all requests within what is allowed.

The choice is a fractional knapsack over the requests of late: those that save the most for what they lose are taken
until the allowed loss is used up (Dantzig 1957), which is the best that any rule on these figures can do. Pure.
Invariant: over the window that the price was made from, the corrected predictions of what is taken add up to at most
the budget; nothing is taken before there are enough requests to tell.
"""

from __future__ import annotations

import math
from collections import deque

_FEW = 50
_EVERY = 10
_DOUBT = 50.0  # comparisons that count against a correction


class LossBudget:
    """The budget of lost quality. `target` is quality per request, `window` the requests of late that count."""

    def __init__(self, target: float, window: int = 1000) -> None:
        self.target = target
        self._options: deque[tuple[float, float]] = deque(maxlen=window)
        self._price = -math.inf
        self._fresh = 0
        self._told, self._off = 0.0, 0.0

    @property
    def price(self) -> float:
        """The highest predicted loss per US dollar saved that is taken."""
        return self._price

    @property
    def optimism(self) -> float:
        """By how much what was taken lost more than predicted; added to the predictions to come."""
        return max(0.0, self._off / (self._told + _DOUBT))

    def see(self, gap: float, saving: float) -> None:
        """Note a request: the loss that is predicted of another model's answer, and the saving in US dollars."""
        self._options.append((gap, saving))
        self._fresh += 1
        if self._fresh >= _EVERY or self._price == -math.inf:
            self._fresh = 0
            self._price = self._made()

    def allows(self, gap: float, saving: float) -> bool:
        """Return True to take it."""
        return saving > 0.0 and (gap + self.optimism) / saving <= self._price

    def compared(self, predicted: float, lost: float) -> None:
        """Learn from a comparison of what was taken: `lost` is the reference's quality less that of the answer."""
        self._told += 1.0
        self._off += lost - predicted

    def _made(self) -> float:
        if len(self._options) < _FEW:
            return -math.inf
        allowed = self.target * len(self._options)
        offers: dict[float, float] = {}
        for gap, saving in self._options:
            if saving > 0.0:
                # Equal offers are taken together or not at all: the price cannot tell them apart.
                ratio = (gap + self.optimism) / saving
                offers[ratio] = offers.get(ratio, 0.0) + gap + self.optimism
        price, total = -math.inf, 0.0
        for ratio in sorted(offers):
            total += offers[ratio]
            if total > allowed:
                break
            price = ratio
        return price
