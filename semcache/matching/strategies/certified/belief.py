"""P(correct) of a candidate: a Bayesian logistic regression on its features, with an effect of its answer.

Each category has a Gaussian belief about the weights that starts from the shipped prior and moves with its own labels,
and each answer an offset that starts from zero: both shrink to their parents, so that a new category and a new answer
begin with what is known of the others. Knows features by their names and nothing of thresholds.
Invariant: the covariance stays symmetric and positive, P(correct) stays inside (0, 1), and equal labels in equal order
give equal beliefs.

One label is one step of Newton's method with the Laplace approximation (Spiegelhalter and Lauritzen 1990, "Sequential
updating of conditional probabilities", section 4); the predictive probability is MacKay's (1992, "The evidence
framework applied to classification networks", section 4.2).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.logistic import sigmoid
from semcache.matching.strategies.certified.belief_prior import TERMS, BeliefPrior, terms
from semcache.matching.strategies.certified.plain_weights import PlainWeights

if TYPE_CHECKING:
    from semcache.matching.strategies.certified.belief_prior import Array

ANSWERS = 20_000  # whose offsets are kept; beyond, the one whose last label is the oldest is forgotten
_FORGOTTEN = math.log(2) / 20_000  # of a label, by each later one: half of it after as many
HOPELESS = -1.0  # log-odds below which nothing is moderated


class Offset(NamedTuple):
    """The amount that an answer adds to the log-odds: mean and variance of a Gaussian belief."""

    mean: float
    variance: float


class Belief:
    """The belief about one category."""

    def __init__(self, prior: BeliefPrior, *, noise: LabelNoise = FAITHFUL) -> None:
        self._prior = prior
        self._noise = noise
        self.mean = prior.mean.copy()
        self.covariance = np.diag(prior.deviation**2)
        self.answers: dict[int, Offset] = {}
        self._weights: PlainWeights | None = None  # of the mean, since the last label

    def log_odds(self, values: tuple[float, ...], answer: int) -> float:
        """Log-odds of being correct, for a candidate with these features and of this answer class.

        Those that are hopeless by the mean of the belief alone are not moderated by its spread, which would cost more
        than it tells.
        """
        offset = self._offset(answer)
        mean = self._plain().log_odds(values, offset.mean)
        if mean < HOPELESS:
            return mean
        x = self._standard(values)
        spread = float(x @ self.covariance @ x) + offset.variance
        return mean / math.sqrt(1.0 + math.pi * spread / 8.0)

    def contributions(self, values: tuple[float, ...], answer: int) -> dict[str, float]:
        """The mean log-odds by their source; each feature has one half of an interaction."""
        plain = self._plain()
        return {"base": plain.bias, "answer": self._offset(answer).mean} | plain.contributions(values)

    def at_best(
        self, around: Sequence[tuple[float, ...]], answers: Sequence[int], longest: int, *, asked: bool = False
    ) -> Array:
        """Log-odds that no candidate with these surroundings can exceed, however alike the texts are; shape (n,).

        Each of `around` holds the features of `features.AROUND`; the texts have up to `longest` characters, and the
        local verifier may be `asked`. Log-odds below 0 are bounded as far as they are not moderated.
        """
        best = self._plain().at_best(around, longest, asked=asked)
        if self.answers:
            best += [self._offset(answer).mean for answer in answers]
        return best

    def learn(self, values: tuple[float, ...], answer: int, *, correct: bool) -> None:
        """Move by one label."""
        x = self._standard(values)
        offset = self._offset(answer)
        direction = self.covariance @ x
        mean = float(self.mean @ x) + offset.mean
        slope, bend = self._gradient(mean, correct=correct)
        total = float(x @ direction) + offset.variance
        shrink = bend / (1.0 + bend * total)
        step = slope / (1.0 + bend * total)
        self.mean += direction * step
        self._weights = None
        self.covariance -= np.outer(direction, direction) * shrink
        # Old labels count less and less: the variances grow back to those of the prior.
        lost = np.maximum(0.0, self._prior.deviation**2 - self.covariance.diagonal())
        self.covariance += np.diag(_FORGOTTEN * lost)
        self.answers.pop(answer, None)
        variance = offset.variance
        self.answers[answer] = Offset(offset.mean + variance * step, variance * (1.0 - variance * shrink))
        if len(self.answers) > ANSWERS:
            del self.answers[next(iter(self.answers))]

    def _offset(self, answer: int) -> Offset:
        return self.answers.get(answer) or Offset(0.0, self._prior.answers)

    def _plain(self) -> PlainWeights:
        if self._weights is None:
            self._weights = PlainWeights.of(self.mean, self._prior)
        return self._weights

    def _standard(self, values: tuple[float, ...]) -> Array:
        return (terms(values) - self._prior.center) / self._prior.scale

    def _gradient(self, mean: float, *, correct: bool) -> tuple[float, float]:
        """First derivative and negative expected second derivative of the log-likelihood at log-odds `mean`."""
        p = sigmoid(mean)
        reach, said = self._noise.reach, self._noise.said_correct(p)
        slope = reach * p * (1.0 - p) / (said * (1.0 - said))
        return slope * (float(correct) - said), max(1e-6, slope * reach * p * (1.0 - p))

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "terms": list(TERMS),
            "center": self._prior.center.tolist(),
            "scale": self._prior.scale.tolist(),
            "mean": self.mean.tolist(),
            "covariance": self.covariance.tolist(),
            "answers": {str(answer): list(offset) for answer, offset in self.answers.items()},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave, in the units of this prior: it predicts what it did under the prior of then.

        A state that names no units is in those of this prior. Raises ValueError for that of another version.
        """
        if state.get("terms") != list(TERMS):
            raise ValueError("these beliefs are about other features: learn anew from the label log")
        units = self._prior.units(
            np.array(state.get("center", self._prior.center), dtype=np.float64),
            np.array(state.get("scale", self._prior.scale), dtype=np.float64),
        )
        self.mean = np.array(state["mean"], dtype=np.float64) @ units
        self._weights = None
        self.covariance = units.T @ np.array(state["covariance"], dtype=np.float64) @ units
        self.answers = {
            int(answer): Offset(float(mean), float(variance)) for answer, (mean, variance) in state["answers"].items()
        }
