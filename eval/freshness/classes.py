"""How well kinds are recognised: variants of the model, their scores, and shares of whole sets.

Knows no lives. Invariant: no variant is scored on a set that it was trained on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from eval.embedded import embedded
from eval.freshness.sets import Row, Timeline
from semcache.request.prompt_volatility import KINDS
from semcache.retention.freshness import Volatility, VolatilityModel, is_relative
from semcache.train import volatility as recipe

if TYPE_CHECKING:
    from semcache.types import Matrix, Vector


def variants(situated: Sequence[Timeline], news: Sequence[str]) -> dict[str, VolatilityModel]:
    """The shipped model, and the same recipe with one or both of the dated sets added to the written prompts."""
    own = recipe.own_prompts()
    dated = [(line.question, line.kind) for line in situated if line.kind is not None]
    quiz = [(text, Volatility.FAST) for text in news]
    shipped = VolatilityModel.shipped()

    def trained(more: list[recipe.Labelled], weight: float = 1.0) -> VolatilityModel:
        prompts = own + more
        vectors = embedded([text for text, _ in prompts]).astype(np.float64)
        importance = [1.0] * len(own) + [weight] * len(more)
        return VolatilityModel(recipe.weights(prompts, vectors, shipped.embedder_id, importance=importance))

    return {
        "shipped": shipped,
        "+ SituatedQA": trained(dated),
        "+ RealTimeQA": trained(quiz, 0.3),
    }


def predict(model: VolatilityModel, texts: Sequence[str], vectors: Matrix | None) -> tuple[list[Volatility], Any]:
    """Kinds and probabilities; without vectors the cues alone decide."""
    each: Sequence[Vector | None] = [None] * len(texts) if vectors is None else list(vectors)
    pairs = list(zip(texts, each, strict=True))
    return [model.kind(*pair) for pair in pairs], np.array([model.probabilities(*pair) for pair in pairs])


def scores(truth: Sequence[Volatility], kinds: Sequence[Volatility], chance: Any, seed: int = 0) -> Row:
    """Accuracy and macro F1 with 95% bootstrap intervals, areas under the two curves, and the confusion matrix."""
    t, p = (np.array([KINDS.index(one) for one in each]) for each in (truth, kinds))

    def both(pick: Any) -> tuple[float, float]:
        matrix = np.zeros((3, 3))
        np.add.at(matrix, (t[pick], p[pick]), 1)
        f1 = 2 * matrix.diagonal() / np.maximum(1, matrix.sum(0) + matrix.sum(1))
        return matrix.trace() / matrix.sum(), float(f1.mean())

    rng = np.random.default_rng(seed)
    draws = np.array([both(rng.integers(0, len(t), len(t))) for _ in range(1000)])
    accuracy, f1 = both(np.arange(len(t)))
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    confusion = [[int(((t == i) & (p == j)).sum()) for j in range(3)] for i in range(3)]
    return {
        "accuracy": [accuracy, low[0], high[0]],
        "f1": [f1, low[1], high[1]],
        "auc_changes": _auc(1 - chance[:, 0], t > 0),
        "auc_fast": _auc(chance[:, 2], t == 2),
        "confusion": confusion,
    }


def _auc(score: Any, positive: Any) -> float:
    """The probability that a positive scores above a negative; ties count half."""
    above = score[positive][:, None] - score[~positive][None, :]
    return float(((above > 0) + 0.5 * (above == 0)).mean())


def shares(texts: Sequence[str], kinds: Sequence[Volatility]) -> list[float]:
    """Shares bound to the moment, fast, slow; the rest never changes."""
    found = [Volatility.RELATIVE if is_relative(text) else kind for text, kind in zip(texts, kinds, strict=True)]
    return [found.count(kind) / len(found) for kind in (Volatility.RELATIVE, Volatility.FAST, Volatility.SLOW)]
