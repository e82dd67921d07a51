"""The quality lost when another model answers instead of the reference: predicted, and learned from comparisons.

Of a request count its own signals, its category and the comparisons of its neighbours; once there is an answer, that
counts too. Knows texts and vectors, no prices. Pure. Invariant: a prediction is made of what was learned before it
alone.

The gap is E[quality of the reference - quality of the model | what is known], a linear model of the difference itself
and not of two qualities, whose errors would add up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.agents.multiplex import signals
from semcache.agents.multiplex.ridge import Ridge
from semcache.agents.multiplex.signals import RoutingRequest

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semcache.types import Matrix, Vector

    Array = NDArray[np.float64]

_STRENGTH = 10.0  # comparisons that the prior of a category or a neighbourhood is worth
_NEAREST = 16
_REMEMBERED = 4096
_SHARP = 12.0  # how fast a neighbour's say falls with its distance: exp(-12 * (1 - cosine))


@dataclass(frozen=True, slots=True)
class Estimate:
    """The expected loss of quality in [-1, 1], and the standard deviation of that expectation."""

    mean: float
    deviation: float


class QualityGap:
    """The gap between one model and the reference. `prior` is what it is taken to be before the first comparison."""

    def __init__(self, prior: float) -> None:
        self._prior = prior
        self._before = Ridge(len(signals.REQUEST) + 3, prior=prior)
        self._after = Ridge(len(signals.REQUEST) + 3 + len(signals.ANSWER), prior=prior)
        self._categories: dict[str, tuple[float, float]] = {}
        self._vectors: Matrix | None = None
        self._gaps = np.zeros(_REMEMBERED)
        self._held = self._place = 0

    @property
    def seen(self) -> float:
        """Comparisons that were learned from."""
        return self._before.seen

    def before(self, asked: RoutingRequest) -> Estimate:
        """The gap, as far as the request tells."""
        return Estimate(*self._before.predict(self._request(asked)))

    def after(self, asked: RoutingRequest, answer: str, relevance: float = 0.0) -> Estimate:
        """The gap, with this answer of the model at hand."""
        return Estimate(*self._after.predict(self._both(asked, answer, relevance)))

    def learn(self, asked: RoutingRequest, answer: str | None, gap: float, relevance: float = 0.0) -> None:
        """Take one comparison: `gap` is the reference's quality less the model's. Raises ValueError beyond [-1, 1]."""
        if not -1.0 <= gap <= 1.0:
            raise ValueError(f"a gap lies between -1 and 1, not at {gap}: qualities lie in [0, 1]")
        if answer is not None:
            self._after.learn(self._both(asked, answer, relevance), gap)
        self._before.learn(self._request(asked), gap)
        count, total = self._categories.get(asked.category, (0.0, 0.0))
        self._categories[asked.category] = count + 1.0, total + gap
        if asked.vector is not None:
            self._remember(asked.vector, gap)

    def _request(self, asked: RoutingRequest) -> Array:
        count, total = self._categories.get(asked.category, (0.0, 0.0))
        of_category = (_STRENGTH * self._prior + total) / (_STRENGTH + count)
        near, weight = self._neighbours(asked.vector)
        of_near = (_STRENGTH / 10.0 * of_category + near) / (_STRENGTH / 10.0 + weight)
        return np.concatenate((signals.of_request(asked.text), [of_category, of_near, weight]))

    def _both(self, asked: RoutingRequest, answer: str, relevance: float) -> Array:
        return np.concatenate((self._request(asked), signals.of_answer(asked.text, answer, relevance)))

    def _neighbours(self, vector: Vector | None) -> tuple[float, float]:
        if vector is None or self._vectors is None or not self._held:
            return 0.0, 0.0
        scores = self._vectors[: self._held] @ vector
        nearest = np.argpartition(-scores, _NEAREST)[:_NEAREST] if self._held > _NEAREST else np.arange(self._held)
        weights = np.exp(-_SHARP * (1.0 - scores[nearest].astype(np.float64)))
        return float(weights @ self._gaps[nearest]), float(weights.sum())

    def _remember(self, vector: Vector, gap: float) -> None:
        if self._vectors is None:
            self._vectors = np.zeros((_REMEMBERED, len(vector)), np.float32)
        self._vectors[self._place] = vector
        self._gaps[self._place] = gap
        self._place = (self._place + 1) % _REMEMBERED
        self._held = min(_REMEMBERED, self._held + 1)

    def state(self) -> dict[str, Any]:
        """As JSON has it; neighbours are learned anew."""
        return {"before": self._before.state(), "after": self._after.state(), "categories": self._categories}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for that of another version."""
        self._before.restore(state["before"])
        self._after.restore(state["after"])
        self._categories = {name: (float(count), float(total)) for name, (count, total) in state["categories"].items()}
