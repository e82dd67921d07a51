"""The helpfulness of an example to a small model with a request: predicted, and learned from earlier uses.

Similarity alone tells little of it (IC-Cache, section 3). Pure. Invariant: a prediction is made of what was learned
before it alone; before anything was learned, the more similar example is the more helpful one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.agents.multiplex.ridge import Ridge
from semcache.agents.nearhits.example import NearExample
from semcache.matching.features import NAMES, of
from semcache.types import Candidate, Card

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_TEXTUAL = [NAMES.index(name) for name in ("overlap", "missing", "surplus", "reordered", "asks_else", "figures")]
_STRENGTH = 50.0  # examples after which what was learned counts as much as similarity


class Helpfulness:
    """The gain of showing one example, as a share of quality."""

    def __init__(self) -> None:
        self._learned = Ridge(len(_TEXTUAL) + 6, noise=0.1)

    def predict(self, request: str, example: NearExample, score: float, now: float) -> float:
        """The expected gain, about in [-1, 1]; `score` is the cosine similarity of both prompts."""
        trust = self._learned.seen / (self._learned.seen + _STRENGTH)
        mean, _ = self._learned.predict(_numbers(request, example, score, now))
        return trust * mean + (1.0 - trust) * max(0.0, score) * example.quality

    def learn(self, request: str, example: NearExample, score: float, now: float, gain: float) -> None:
        """Take what came of a use: the quality with it less the quality that was expected without."""
        self._learned.learn(_numbers(request, example, score, now), gain)

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return self._learned.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for that of another version."""
        self._learned.restore(state)


def _numbers(request: str, example: NearExample, score: float, now: float) -> Array:
    card = Card(example.id, b"", b"", "", example.prompt, 0.0, math.inf)
    compared = of(request, Candidate(card, score, around=(0.0,) * 8))
    return np.array(
        [
            *[compared[place] for place in _TEXTUAL],
            score,
            score * score,
            example.quality,
            math.log1p(example.utility(now)),
            example.utility(now) / (1.0 + example.uses),
            math.log1p(len(example.answer)),
        ]
    )
