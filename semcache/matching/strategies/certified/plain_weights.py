"""The mean weights of a belief for terms that are not standardised, and the log-odds that they give.

Knows nothing of how sure the weights are. Invariant: no candidate has more log-odds than the bound on its surroundings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from semcache.matching import features
from semcache.matching.strategies.certified.belief_prior import (
    BENDS,
    BENT,
    BIAS,
    FEATURES,
    FIRST,
    PRODUCTS,
    SECOND,
    BeliefPrior,
    bent,
    products,
)
from semcache.matching.text_features import AGAIN

if TYPE_CHECKING:
    from semcache.matching.strategies.certified.belief_prior import Array

# The features in two parts, of which the first is known before the texts are compared.
_AROUND, _TEXTS = slice(len(features.AROUND)), slice(len(features.AROUND), None)
_OF_TEXTS = features.NAMES[_TEXTS]
_NEARNESS, _VERDICT = features.NAMES.index("nearness"), features.NAMES.index("word")
_AGAIN = -math.log(1.0 - AGAIN) - 1e-9  # nearness below which no text counts as typed again
_HIGHEST = np.array([{"length": 3.0, "word": 0.0}.get(name, 1.0) for name in _OF_TEXTS])
# Places among the features of texts, of those whose highest value depends on the candidate.
_COUNTED = [_OF_TEXTS.index(name) for name in ("missing", "surplus", "misspelt")]
_VERBATIM, _ASKED = _OF_TEXTS.index("verbatim"), _OF_TEXTS.index("asked")
_VERDICTS = np.array([-features.LOUDEST, *BENDS, features.LOUDEST])  # between these, what a verdict adds is linear
_BENDINGS = np.maximum(0.0, _VERDICTS[:, None] - np.array(BENDS))


@dataclass(frozen=True, slots=True)
class PlainWeights:
    """The weights of the bias, the features (`own`), the interactions (`crossed`) and a verdict's bends (`bent`).

    The interactions also as matrices: of the features around with each other (`inner`) and with those of texts
    (`outer`).
    """

    bias: float
    own: Array
    crossed: Array
    bent: Array
    inner: Array
    outer: Array

    @classmethod
    def of(cls, mean: Array, prior: BeliefPrior) -> PlainWeights:
        """The weights of which the standardised ones are `mean`."""
        weights = mean / prior.scale
        square = np.zeros((len(features.AROUND), len(features.NAMES)))
        np.add.at(square, (FIRST, SECOND), weights[PRODUCTS])
        return cls(
            bias=float(weights[BIAS] - weights @ prior.center),
            own=weights[FEATURES],
            crossed=weights[PRODUCTS],
            bent=weights[BENT],
            inner=square[:, _AROUND],
            outer=square[:, _TEXTS],
        )

    def log_odds(self, values: tuple[float, ...], offset: float) -> float:
        """The log-odds of a candidate with these features, whose answer adds `offset`."""
        given = np.array(values)
        odds = self.bias + float(self.own @ given) + float(self.crossed @ products(given)) + offset
        if values[_VERDICT] > BENDS[0]:
            odds += float(self.bent @ bent(values[_VERDICT]))
        return odds

    def contributions(self, values: tuple[float, ...]) -> dict[str, float]:
        """The log-odds that each feature adds; each has one half of an interaction."""
        given = np.array(values)
        parts = self.own * given
        parts[_VERDICT] += float(self.bent @ bent(values[_VERDICT]))
        crossed = 0.5 * self.crossed * given[FIRST] * given[SECOND]
        np.add.at(parts, FIRST, crossed)
        np.add.at(parts, SECOND, crossed)
        return {name: float(value) for name, value in zip(features.NAMES, parts, strict=True) if value}

    def at_best(self, around: Sequence[tuple[float, ...]], longest: int, *, asked: bool) -> Array:
        """Log-odds that no candidate with these surroundings exceeds, however alike the texts are; shape (n,).

        Each of `around` holds the features of `features.AROUND`; the texts have up to `longest` characters, and the
        local verifier may be `asked`.
        """
        given = np.array(around)
        highest = _HIGHEST.copy()
        highest[_COUNTED] = math.log1p(longest / 2 + 1)
        if not asked:
            highest[_ASKED] = 0.0
        best: Array = self.bias + given @ self.own[_AROUND] + ((given @ self.inner) * given).sum(axis=1)
        gains = np.maximum(self.own[_TEXTS] + given @ self.outer, 0.0)
        gains[given[:, _NEARNESS] < _AGAIN, _VERBATIM] = 0.0
        best += gains @ highest
        if asked:
            best += float((self.own[_VERDICT] * _VERDICTS + _BENDINGS @ self.bent).max())
        return best
