"""Calibration of a belief's log-odds, by what labels have shown.

Knows predicted log-odds, how near the candidates were, and outcomes; nothing of other features. Invariant: corrected
probabilities never fall with the predicted log-odds, and the covariance stays symmetric and positive.

Corrected log-odds are linear in the predicted ones, with a bend where answers begin to be sure (Platt 1999, with a
hinge), and in the nearness of the candidate, whose worth differs most between kinds of traffic. This takes some dozens
of labels, where the belief itself would need hundreds. The coefficients have a Gaussian belief that starts at no
correction. Most labels are of requests that were not served; what they show below the limit tells how far predictions
beyond it can be trusted. Caution depends on how much labels surprise (Brier's score), not on their number: a hundred
questions that were known to differ show nothing about predictions for near ones.

Plain Python is faster than numpy for four coefficients: a correction costs a few microseconds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.logistic import sigmoid

Terms: TypeAlias = tuple[float, float, float, float]  # what the coefficients multiply, in the order of these


class Coefficients(NamedTuple):
    """A number for each term: 1, the log-odds, their excess over `BEND`, and the nearness."""

    intercept: float
    slope: float
    excess: float
    near: float


_SLOPE, _EXCESS, _NEARNESS = (Coefficients._fields.index(name) for name in ("slope", "excess", "near"))
_TERMS = range(len(Coefficients._fields))
BEND = 2.0  # log-odds
START = Coefficients(intercept=0.0, slope=1.0, excess=0.0, near=0.0)
_NEAR, _NEAREST = 1.5, 4.0  # -ln(1 - score) from which nearness counts, and up to which: scores of 0.78 and 0.98
_FAR = 1.0  # the same where likeness tells: a score of 0.63
VARIANCES = Coefficients(intercept=0.5, slope=0.04, excess=0.2, near=0.4)
COLD, WARM = 0.3, 10.0  # log-odds of caution before the first label, and the surprise that allows for one more
_ANY = 1e3  # log-odds: as much as the spread says
_FADE = 1e-4  # of the way back to the first covariance, a label
_FLATTEST = 0.3
_LEAST_NEAR = -0.5  # log-odds a unit of nearness
# Log-odds up to which likeness cannot speak for what a belief denies, and from which it speaks in full.
_DENIED, _OPEN = -1.0, 0.0


class Calibration:
    """The correction of one category.

    `start` are the coefficients in their order (missing ones are those of `START`), and `variances` are their
    uncertainty. `noise` is that of the labels. Nearness is -ln(1 - score), as among the features.
    `cold` is the caution in log-odds before the first label; `warm` is the surprise that allows for one more: each
    label counts four times its squared error, which is 1 for an even prediction, and 1 at most. With `likeness`, the
    coefficient of nearness is never negative, and supports no candidate that the belief denies.
    """

    def __init__(
        self,
        start: Sequence[float] = START,
        noise: LabelNoise = FAITHFUL,
        *,
        variances: Coefficients = VARIANCES,
        cold: float = COLD,
        warm: float = WARM,
        likeness: bool = False,
    ) -> None:
        self._noise, self._warm, self._variances, self._likeness = noise, warm, variances, likeness
        self.mean = [*map(float, start), *START[len(start) :]]
        self.covariance = self._unsure()
        self._cautious = cold

    def add(self, predicted: float, nearness: float, *, correct: bool) -> None:
        """Learn from a label whose log-odds had been predicted; one step of Newton's method, as in `belief`."""
        x = self._terms(predicted, nearness)
        direction = [_dot(row, x) for row in self.covariance]
        p = sigmoid(_dot(self.mean, x))
        said = self._noise.said_correct(p)
        surprise = float(correct) - said
        self._cautious += min(1.0, 4.0 * surprise**2) / self._warm
        reach = self._noise.reach
        slope = reach * p * (1.0 - p) / max(1e-12, said * (1.0 - said))
        bend = max(1e-6, slope * reach * p * (1.0 - p))
        total = 1.0 + bend * _dot(direction, x)
        step, shrink = slope * surprise / total, bend / total
        for i in _TERMS:
            self.mean[i] += direction[i] * step
            for j in _TERMS:
                self.covariance[i][j] -= direction[i] * direction[j] * shrink
            self.covariance[i][i] += _FADE * max(0.0, self._variances[i] - self.covariance[i][i])
        self._keep_rising()

    def _keep_rising(self) -> None:
        """Hold the coefficients within what lets corrected probabilities rise with the predicted ones."""
        mean = self.mean
        mean[_SLOPE] = max(_FLATTEST, mean[_SLOPE])
        mean[_EXCESS] = max(_FLATTEST - mean[_SLOPE], mean[_EXCESS])
        mean[_NEARNESS] = max(0.0 if self._likeness else _LEAST_NEAR, mean[_NEARNESS])

    def doubt(self) -> None:
        """Forget how sure the coefficients are, but not their values: the traffic has changed."""
        self.covariance, self._cautious = self._unsure(), _ANY

    def corrected(self, predicted: float, nearness: float, deviate: float = 0.0) -> float:
        """P(correct) of these log-odds, lowered by `deviate` standard deviations of the correction.

        What shipped is calibrated, so that before the first label it is lowered by little, unless it was doubted.
        """
        x = self._terms(predicted, nearness)
        middle = _dot(self.mean, x)
        if deviate == 0.0:
            return sigmoid(middle)
        return sigmoid(middle - min(self._cautious, deviate * math.sqrt(self._spread(x))))

    def expected(self, predicted: float, nearness: float) -> float:
        """P(correct) of these log-odds over all that the coefficients may be (MacKay 1992, section 4.2)."""
        x = self._terms(predicted, nearness)
        return sigmoid(_dot(self.mean, x) / math.sqrt(1.0 + math.pi * self._spread(x) / 8.0))

    def at_most(self, predicted: float) -> float:
        """The highest P(correct) of these log-odds, however near the candidate is."""
        return self.corrected(predicted, _NEAREST if self.mean[_NEARNESS] > 0.0 else 0.0)

    def state(self) -> list[Any]:
        """As JSON has it: coefficients, their covariance, and the caution that labels allow."""
        return [self.mean, self.covariance, self._cautious]

    def restore(self, state: Sequence[Any]) -> None:
        """Take up what `state` gave. Raises ValueError for that of another version."""
        mean, covariance, cautious = state
        if len(mean) != len(START):
            raise ValueError(f"a calibration of {len(mean)} coefficients, not {len(START)}: learn anew from the labels")
        self.mean = [float(one) for one in mean]
        self.covariance = [[float(one) for one in row] for row in covariance]
        self._cautious = float(cautious)

    def _terms(self, predicted: float, nearness: float) -> Terms:
        if not self._likeness:
            return basis(predicted, nearness)
        one, odds, excess, near = basis(predicted, nearness, _FAR)
        return one, odds, excess, near * min(1.0, max(0.0, (predicted - _DENIED) / (_OPEN - _DENIED)))

    def _spread(self, x: Terms) -> float:
        return max(0.0, _dot([_dot(row, x) for row in self.covariance], x))

    def _unsure(self) -> list[list[float]]:
        """The covariance before the first label."""
        return [[self._variances[i] if i == j else 0.0 for j in _TERMS] for i in _TERMS]


def basis(predicted: float, nearness: float, counted: float = _NEAR) -> Terms:
    """The terms that the coefficients multiply; nearness is `counted` from there."""
    return 1.0, predicted, max(0.0, predicted - BEND), min(_NEAREST, max(counted, nearness)) - counted


def _dot(one: Sequence[float], two: Sequence[float]) -> float:
    return one[0] * two[0] + one[1] * two[1] + one[2] * two[2] + one[3] * two[3]
