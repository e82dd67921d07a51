"""Federated averaging of a map and of its threshold: the update of a client, and the model that a sum of updates makes.

McMahan et al. 2017, algorithm 1, with weights and thresholds averaged by samples. Pure. Invariant: `applied` depends on
the sum of updates alone, and an update of weight 0 changes nothing.

    [ weight * change of each parameter | weight' * change of the threshold | weight' | weight | tally ]
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float32]
    Exact = NDArray[np.float64]
    Whole = NDArray[np.int64]

BINS = 400  # of scores from -1 to 1
_MOST, _NEAR = 2.0**31, 1e-3
EXTRA = 3 + 2 * BINS  # what follows the parameters in an update


@dataclass(frozen=True, slots=True)
class FederatedMap:
    """`parameters` as `linear_map` has them, and the cosine at or above which a hit is served."""

    parameters: Array
    threshold: float


@dataclass(frozen=True, slots=True)
class ScoreHistogram:
    """How many pairs of each label score what: `same` and `other`, int64 of shape (BINS,), from -1 to 1."""

    same: Whole
    other: Whole

    def best(self) -> float | None:
        """The edge between two bins with the best F1, of several the middle of the highest; None without a same one."""
        right, wrong = (np.cumsum(side[::-1])[::-1] for side in (self.same, self.other))
        if not right[0]:
            return None
        f1 = 2 * right / (right + wrong + right[0])
        equal = f1 == f1.max()
        high = int(np.flatnonzero(equal)[-1])
        low = high - int(np.argmin(np.append(equal[: high + 1][::-1], False))) + 1
        return (low + high) / BINS - 1

    def f1(self, threshold: float) -> float:
        """At the edge at or above `threshold`; 0 where nothing is the same."""
        edge = math.ceil((threshold + 1) / 2 * BINS - 1e-6)
        right, wrong = int(self.same[edge:].sum()), int(self.other[edge:].sum())
        return 2 * right / max(right + wrong + int(self.same.sum()), 1)


def score_histogram(cosines: Exact, same: NDArray[np.bool_]) -> ScoreHistogram:
    """The pairs of these scores and labels, both of shape (n,)."""
    bins = np.clip(((cosines + 1) / 2 * BINS).astype(np.int64), 0, BINS - 1)
    return ScoreHistogram(*(np.bincount(bins[side], minlength=BINS).astype(np.int64) for side in (same, ~same)))


def empty_histogram() -> ScoreHistogram:
    """The tally of no pair."""
    return ScoreHistogram(np.zeros(BINS, np.int64), np.zeros(BINS, np.int64))


def size(model: FederatedMap) -> int:
    """Numbers in an update."""
    return len(model.parameters) + EXTRA


def update(before: FederatedMap, after: FederatedMap, *, weight: float, sure: float, seen: ScoreHistogram) -> Exact:
    """The update of a client: `weight` of its parameters and `sure` of its threshold, both samples, 0 for none."""
    change = weight * (after.parameters.astype(np.float64) - before.parameters)
    said = np.array([sure * (after.threshold - before.threshold), sure, weight], np.float64)
    return np.concatenate([change, said, seen.same, seen.other])


def applied(before: FederatedMap, total: Exact) -> tuple[FederatedMap, ScoreHistogram]:
    """The model that the sum of updates makes of `before`, and what all clients saw of `before` together."""
    change, extra = total[:-EXTRA], total[-EXTRA:]
    threshold, sure, weight = (float(value) for value in extra[:3])
    parameters = before.parameters + change / weight if weight > 0 else before.parameters
    level = before.threshold + threshold / sure if sure > 0 else before.threshold
    counts = np.maximum(np.rint(extra[3:]), 0).astype(np.int64)
    found = FederatedMap(parameters.astype(np.float32), float(np.clip(level, -1.0, 1.0)))
    return found, ScoreHistogram(counts[:BINS], counts[BINS:])


def is_plausible(total: Exact) -> bool:
    """Return True if this can be a sum of updates: the weights are samples, in all a number that can be counted to."""
    weights = total[-EXTRA + 1 : -EXTRA + 3]
    return bool(np.all((weights >= 0) & (weights < _MOST) & (np.abs(weights - np.rint(weights)) < _NEAR)))


def with_best_threshold(model: FederatedMap, seen: ScoreHistogram) -> FederatedMap:
    """The model with the threshold that is best for all pairs together, where they were counted.

    The mean of the clients' own best thresholds is not best for any of them: each is drawn from few pairs.
    """
    level = seen.best()
    return model if level is None else replace(model, threshold=level)


def encode_model(model: FederatedMap) -> bytes:
    """The model as bytes: float32, little-endian, the threshold last."""
    return np.append(model.parameters, np.float32(model.threshold)).astype("<f4").tobytes()


def decode_model(data: bytes) -> FederatedMap:
    """The model of the bytes that `encode_model` gave."""
    values = np.frombuffer(data, "<f4").astype(np.float32)
    return FederatedMap(values[:-1], float(values[-1]))
