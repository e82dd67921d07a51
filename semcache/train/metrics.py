"""Ranking metrics of labelled pairs: how well scores tell pairs of the same answer from others.

Pure but for scikit-learn (the `train` extra). Scores are cosine similarities, higher is closer; "served" means a score
at or above a threshold. Invariant: every figure depends on the order of the scores alone, and ties never help.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from semcache.errors import InvalidArgument

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

CURVE = 100


@dataclass(frozen=True, slots=True)
class Quality:
    """Figures over labelled pairs, all but `threshold` in [0, 1].

    Precision, recall, F1 and F0.5 are those at `threshold`, the score at which F1 is best (hindsight); F0.5 weighs
    precision more and is the best over all thresholds. `recall_95` and `recall_99` are the greatest recalls at a
    precision of at least 0.95 and 0.99, 0 where it is never reached. `curve` holds (cache-hit ratio, precision) where
    the hit ratio is the share of all pairs that would be served.
    """

    pairs: int
    same: int
    threshold: float
    precision: float
    recall: float
    f1: float
    f05: float
    average_precision: float
    roc_auc: float
    recall_95: float
    recall_99: float
    curve: tuple[tuple[float, float], ...] = ()


def measure(scores: Array, same: NDArray[np.bool_]) -> Quality:
    """The figures of `scores` against the labels `same`, both of shape (n,). Raises InvalidArgument for one class."""
    library = import_module("sklearn.metrics")
    if not 0 < int(same.sum()) < len(same):
        raise InvalidArgument(f"{len(same)} pairs of one class cannot be measured: give pairs of both")
    precision, recall, thresholds = library.precision_recall_curve(same, scores)
    precision, recall = precision[:-1], recall[:-1]  # the last point serves nothing
    f1, f05 = _f(precision, recall, 1.0), _f(precision, recall, 0.5)
    best = int(np.argmax(f1))
    hits = 1.0 - np.searchsorted(np.sort(scores), thresholds) / len(scores)
    chosen = np.unique(np.linspace(0, len(hits) - 1, CURVE).round().astype(int))[::-1]
    return Quality(
        pairs=len(same),
        same=int(same.sum()),
        threshold=float(thresholds[best]),
        precision=float(precision[best]),
        recall=float(recall[best]),
        f1=float(f1[best]),
        f05=float(f05.max()),
        average_precision=float(library.average_precision_score(same, scores)),
        roc_auc=float(library.roc_auc_score(same, scores)),
        recall_95=float(recall[precision >= 0.95].max(initial=0.0)),
        recall_99=float(recall[precision >= 0.99].max(initial=0.0)),
        curve=tuple((round(float(hits[at]), 4), round(float(precision[at]), 4)) for at in chosen),
    )


def interval(scores: Array, same: NDArray[np.bool_], *, seed: int, draws: int = 200) -> tuple[float, float]:
    """The two-sided 95% interval of average precision under resampling of pairs (percentile bootstrap)."""
    library = import_module("sklearn.metrics")
    rng = np.random.default_rng(seed)
    drawn = []
    for _ in range(draws):
        rows = rng.integers(0, len(same), len(same))
        if 0 < int(same[rows].sum()) < len(same):
            drawn.append(float(library.average_precision_score(same[rows], scores[rows])))
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


def _f(precision: Array, recall: Array, beta: float) -> Array:
    weighted: Array = (1 + beta**2) * precision * recall / np.maximum(beta**2 * precision + recall, 1e-12)
    return weighted
