"""How uncertain an answer may be so that the average of those served keeps the target.

A request whose answer is surely right leaves budget for one that is less sure: the limit on 1 - P(correct) is set so
that its average over recent requests, not each single one, meets the target (the Neyman-Pearson form of the serving
rule). Knows the risks of recent requests, nothing of features.
Invariant: at the limit, the expected error of what would be served, with a margin for chance, is at most the target.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from typing import Literal

import numpy as np

Contract = Literal["hit", "request"]

WINDOW = 1000  # requests
_ENOUGH = 60  # requests with a candidate: fewer say little about the average
_EVERY = 16  # requests and labels between two settings of the limit
HIGHEST = 0.35  # of all limits
_STRIDE = 73  # prime, so that every place is visited


class Budget:
    """The limit of one category. `risks` stand for requests that were not seen yet, and leave as others come."""

    def __init__(
        self, target: float, contract: Contract, *, risks: Iterable[float] = (), deviate: float = 1.645
    ) -> None:
        self._target, self._contract, self._deviate = target, contract, deviate
        given = tuple(risks)
        # They come sorted: a stride lets small and large ones leave alike.
        mixed = [given[place * _STRIDE % len(given)] for place in range(len(given))]
        self._risks: deque[float] = deque(mixed, maxlen=WINDOW)
        self._strange = len(self._risks)
        self._since = 0
        self._limit: float | None = None
        self.served = 0
        self.seen = 0

    def note(self, risk: float | None, *, served: bool) -> None:
        """Take notice of a request whose best candidate has this risk; None without a candidate."""
        self.seen += 1
        self.served += served
        if self._strange:
            self._strange -= 1
            self._risks.popleft()
        self._risks.append(1.0 if risk is None else risk)
        self.changed()

    def per_hit(self) -> float:
        """The error per hit that the target allows, which is more than the target where it counts all requests."""
        if self._contract == "hit":
            return self._target
        return min(0.9, self._target * (self.seen + 1) / (self.served + 1))

    def changed(self) -> None:
        """A request was noted or a label learned from: after some of these the limit is set anew."""
        self._since += 1
        if self._since >= _EVERY:
            self._limit = None

    def limit(self) -> float:
        """The highest risk that may be served."""
        if self._limit is None:
            self._since = 0
            self._limit = self._set()
        return self._limit

    def allowance(self) -> float:
        """The target less a margin, so that chance alone rarely takes the errors counted so far beyond it."""
        counted = self.served if self._contract == "hit" else self.seen
        errors = self._target * max(float(counted), 20.0 / self._target)
        root = (math.sqrt(self._deviate**2 + 4.0 * errors) - self._deviate) / 2.0
        return self._target * root * root / errors

    def hopeless(self) -> bool:
        """Whether none of many recent requests could be served within the target."""
        return len(self._risks) == WINDOW and min(self._risks) > self.limit()

    def _set(self) -> float:
        allowed = self.allowance()
        risks = np.sort(np.array([risk for risk in self._risks if risk <= HIGHEST]))
        if len(self._risks) < _ENOUGH or not len(risks):
            return min(HIGHEST, allowed)
        expected = np.cumsum(risks)
        expected /= np.arange(1, len(risks) + 1) if self._contract == "hit" else len(self._risks)
        # Equal risks are served or refused together.
        expected = expected[np.searchsorted(risks, risks, side="right") - 1]
        fitting = int(np.searchsorted(expected, allowed, side="right"))
        pooled = float(risks[fitting - 1]) if fitting else 0.0
        return max(pooled, min(HIGHEST, allowed))
