"""Results known in hindsight: every static threshold at once, the exact tier alone, and the oracle.

Computes what `semcache.simulate` gives with a static strategy and no guards, one product of matrices for all
thresholds. Knows no strategy. Invariant: the oracle hits whenever the same answer was given before in the category.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from eval.decisions.contenders import Insertion
from semcache.simulate import Arrival

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semcache.types import Matrix

THRESHOLDS = tuple(round(0.6 + 0.01 * step, 3) for step in range(30)) + tuple(
    round(0.9 + 0.005 * step, 3) for step in range(20)
)
SHOWN = (0.8, 0.85, 0.9, 0.92, 0.95, 0.97, 0.99)


@dataclass(frozen=True, slots=True)
class Counts:
    """Of one stream: arrivals, hits by identity and by meaning, and wrong ones among the latter."""

    requests: int
    exact: int
    semantic: int
    wrong: int


def oracle(arrivals: Sequence[Arrival]) -> float:
    """The share of arrivals whose answer was given before."""
    known: set[tuple[str, str]] = set()
    hits = 0
    for one in arrivals:
        hits += (one.category, one.answer) in known
        known.add((one.category, one.answer))
    return hits / len(arrivals)


def exact(arrivals: Sequence[Arrival]) -> float:
    """The share of arrivals whose very text came before."""
    return 1.0 - len({(one.category, one.text) for one in arrivals}) / len(arrivals)


def static(
    arrivals: Sequence[Arrival], vectors: Matrix, insertion: Insertion, thresholds: Sequence[float] = THRESHOLDS
) -> list[Counts]:
    """The result of each static threshold, the exact tier in front of it."""
    n, levels = len(arrivals), np.array(thresholds, np.float32)
    answers, texts = _numbers([one.answer for one in arrivals]), _numbers([one.text for one in arrivals])
    categories = _numbers([one.category for one in arrivals])
    kept = np.zeros((len(levels), n), bool)
    held = np.zeros((len(levels), int(texts.max()) + 1), bool)
    exact, semantic, wrong = (np.zeros(len(levels), np.int64) for _ in range(3))
    rows = np.arange(len(levels))
    for now in range(n):
        repeated = held[:, texts[now]]
        exact += repeated
        scores = np.where(categories[:now] == categories[now], vectors[:now] @ vectors[now], -2.0)
        nearest = np.full(len(levels), -1)
        best = np.full(len(levels), -2.0)
        if now:
            masked = np.where(kept[:, :now], scores, np.float32(-2.0))
            nearest = masked.argmax(axis=1)
            best = masked[rows, nearest]
        right = (best > -2.0) & (answers[nearest] == answers[now])
        serves = ~repeated & (best >= levels)
        semantic += serves
        wrong += serves & ~right
        keeps = ~repeated & ~serves
        if insertion == "when-wrong":
            keeps &= ~right
        kept[:, now] = keeps
        held[:, texts[now]] |= keeps
    return [Counts(n, *map(int, one)) for one in zip(exact, semantic, wrong, strict=True)]


def _numbers(names: Sequence[str]) -> NDArray[np.int64]:
    number: dict[str, int] = {}
    return np.array([number.setdefault(name, len(number)) for name in names], np.int64)
