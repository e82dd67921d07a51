"""Online ridge regression with a standard deviation for each prediction.

Moments are kept, not examples: features are standardised by what was seen of them, so their scales mean nothing, and a
feature that never varied has no weight. Pure. Invariant: equal examples in equal order give equal predictions, and
without examples every prediction is the prior.

The estimate is that of Bayesian linear regression with a Gaussian prior on standardised weights (Bishop 2006, "Pattern
recognition and machine learning", section 3.3); the intercept's prior counts as `strength` examples.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_KEEP = 0.5 ** (1.0 / 20_000.0)  # of what is known, at each example
_FARTHEST = 4.0  # deviations beyond which a feature is taken to lie there
_STALE = 0.02  # share of new examples from which the weights are solved for anew


class Ridge:
    """A linear model of `size` features."""

    def __init__(
        self,
        size: int,
        *,
        prior: float = 0.0,
        strength: float = 20.0,
        penalty: float = 100.0,
        noise: float = 0.25,
    ) -> None:
        self._size, self._prior, self._strength, self._penalty, self._noise = size, prior, strength, penalty, noise
        self._inner: Array = np.zeros((size + 2, size + 2))  # of (1, x, y) with itself
        self._solved: tuple[Array, Array, Array, Array, float, float] | None = None
        self._fresh = 0

    @property
    def seen(self) -> float:
        """The number of examples that it remembers."""
        return float(self._inner[0, 0])

    def learn(self, x: Array, y: float) -> None:
        """Take one example. Raises ValueError for another number of features or what is not finite."""
        row = np.concatenate(([1.0], x, [y]))
        if row.shape != (self._size + 2,) or not np.isfinite(row).all():
            raise ValueError(f"an example has {self._size} finite features and a finite outcome")
        self._inner *= _KEEP
        self._inner += np.outer(row, row)
        self._fresh += 1
        if self._fresh > _STALE * self.seen:
            self._solved, self._fresh = None, 0

    def predict(self, x: Array) -> tuple[float, float]:
        """The expected outcome and the standard deviation of that expectation."""
        if self._solved is None:
            self._solved = self._solve()
        center, scale, weights, inverse, intercept, variance = self._solved
        z = np.clip((x - center) * scale, -_FARTHEST, _FARTHEST)
        spread = variance * (1.0 / (self.seen + self._strength) + float(z @ inverse @ z))
        return intercept + float(z @ weights), math.sqrt(max(0.0, spread))

    def _solve(self) -> tuple[Array, Array, Array, Array, float, float]:
        count, size = self.seen, self._size
        sums, outcomes = self._inner[0, 1:-1], float(self._inner[0, -1])
        center = sums / max(count, 1.0)
        moved = self._inner[1:-1, 1:-1] - count * np.outer(center, center)
        deviation = np.sqrt(np.maximum(moved.diagonal(), 0.0) / max(count, 1.0))
        scale = np.where(deviation > 1e-6, 1.0 / np.maximum(deviation, 1e-6), 0.0)
        inner = moved * np.outer(scale, scale) + self._penalty * np.eye(size)
        inverse = np.linalg.inv(inner)
        toward = (self._inner[1:-1, -1] - center * outcomes) * scale
        weights = inverse @ toward
        intercept = (self._strength * self._prior + outcomes) / (self._strength + count)
        mean = outcomes / max(count, 1.0)
        left = float(self._inner[-1, -1]) - count * mean**2 - float(weights @ toward)
        variance = (self._strength * self._noise + max(0.0, left)) / (self._strength + count)
        return center, scale, weights, inverse, intercept, variance

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"size": self._size, "inner": self._inner.tolist()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for that of another number of features."""
        inner = np.array(state["inner"], dtype=np.float64)
        if inner.shape != self._inner.shape:
            raise ValueError(f"a model of {state['size']} features, not {self._size}: learn anew")
        self._inner, self._solved = inner, None
