"""Calibration of a verifier's logits to probabilities, on labelled pairs that it was not trained on.

Platt scaling: P(same) = 1 / (1 + exp(-(slope * logit + intercept))), fitted by maximum likelihood with Platt's smoothed
targets (Platt 1999, section 2.2; Newton's method as in Lin, Lin and Weng 2007). Probabilities stay within the range
that the data can support: `most` is the best lower 95% bound (Clopper and Pearson 1934) of the share of right pairs
among those ranked highest, however many of them, and `least` the same from below.

Pure. Invariant: order is kept, `slope` is positive, and `least` <= P <= `most`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from semcache.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_FEWEST = 20  # pairs at either end that say anything
_RIDGE = 1e-3
_RISK = 0.05
_BINS = 10


@dataclass(frozen=True, slots=True)
class LogitScale:
    """From logits to P(same); see the module."""

    slope: float = 1.0
    intercept: float = 0.0
    least: float = 0.0
    most: float = 1.0

    def of(self, logits: NDArray[np.float32]) -> NDArray[np.float64]:
        """P(same) of each logit."""
        odds = np.clip(self.slope * logits.astype(np.float64) + self.intercept, -30.0, 30.0)
        return np.clip(1.0 / (1.0 + np.exp(-odds)), self.least, self.most)


def fit(logits: NDArray[np.float32], same: Sequence[bool]) -> LogitScale:
    """The scale that these labels support. Raises InvalidArgument for one class, or logits that mislead."""
    y = np.asarray(same, dtype=bool)
    right, wrong = int(y.sum()), int((~y).sum())
    if not right or not wrong:
        raise InvalidArgument("calibration needs pairs of both classes")
    x = np.stack([logits.astype(np.float64), np.ones(len(y))], axis=1)
    targets = np.where(y, (right + 1.0) / (right + 2.0), 1.0 / (wrong + 2.0))
    w = _logistic(x, targets)
    if w[0] <= 0.0:
        raise InvalidArgument(
            "the verifier ranks pairs of different answers above pairs of the same one: train it longer"
        )
    ranked = y[np.argsort(-logits, kind="stable")]
    return LogitScale(
        round(float(w[0]), 4),
        round(float(w[1]), 4),
        round(1.0 - _certain(~ranked[::-1]), 5),
        round(_certain(ranked), 5),
    )


def _logistic(x: Floats, targets: Floats) -> Floats:
    """Weights (k,) of the columns of `x` (n, k), by Newton's method with a ridge."""
    w = np.zeros(x.shape[1])
    w[0] = 1.0
    for _ in range(100):
        p = 1.0 / (1.0 + np.exp(-np.clip(x @ w, -30.0, 30.0)))
        gradient = x.T @ (targets - p) - _RIDGE * w
        bend = (x * (p * (1.0 - p))[:, None]).T @ x + _RIDGE * np.eye(len(w))
        step = np.linalg.solve(bend, gradient)
        w += step * min(1.0, 2.0 / max(1e-12, float(np.abs(step).max())))
        if np.abs(step).max() < 1e-9:
            break
    return w


def _certain(ranked: NDArray[np.bool_]) -> float:
    """The highest bound for the share of hits among the first of `ranked`, over about 40 lengths."""
    lengths = np.unique(np.geomspace(min(_FEWEST, len(ranked)), len(ranked), 40).astype(int))
    hits = np.cumsum(ranked)
    return max(lower_bound(int(hits[length - 1]), int(length)) for length in lengths)


def lower_bound(right: int, of: int) -> float:
    """The least share that `right` successes of `of` are compatible with, one-sided (Clopper and Pearson 1934)."""
    if right == 0:
        return 0.0
    low, high = 0.0, right / of
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _tail(right, of, middle) < _RISK else (low, middle)
    return low


def _tail(right: int, of: int, p: float) -> float:
    """P(at least `right` successes of `of`), summed over the few failures that are left."""
    if p <= 0.0:
        return 0.0
    failures = np.arange(of - right + 1)
    steps = np.log(np.maximum(of - failures[:-1], 1)) - np.log(failures[:-1] + 1.0)
    choose = np.concatenate([[0.0], np.cumsum(steps)])
    return float(np.exp(choose + failures * np.log1p(-p) + (of - failures) * np.log(p)).sum())


def expected_error(p: NDArray[np.float64], same: Sequence[bool]) -> float:
    """Expected calibration error over ten bins of equal width (Naeini et al. 2015)."""
    y = np.asarray(same, dtype=np.float64)
    place = np.minimum((p * _BINS).astype(int), _BINS - 1)
    gaps = [
        abs(float(y[place == one].mean() - p[place == one].mean())) * int((place == one).sum())
        for one in set(place.tolist())
    ]
    return sum(gaps) / len(y)
