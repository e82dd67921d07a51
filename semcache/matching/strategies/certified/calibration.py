"""Calibration of a belief's log-odds, as far as labels have shown.

Knows predicted log-odds and outcomes, nothing of features. Invariant: corrected probabilities never fall with the
predicted log-odds, and the covariance stays symmetric and positive.

Corrected log-odds are linear in the predicted ones, with a bend where answers begin to be sure (Platt 1999, with a
hinge), and the coefficients have a Gaussian belief that starts from "worth what they say". Most labels are of requests
that were not served; what they show below the limit tells how far predictions beyond it can be trusted.

Three coefficients are too few for numpy to pay: a correction costs two microseconds in plain Python.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

BEND = 2.0  # log-odds
START = (0.0, 1.0, 0.0)
_VARIANCES = (0.25, 0.02, 0.1)
_FADE = 1e-4  # of the way back to the first covariance, a label
_FLATTEST = 0.3
_LIKELIEST = 30.0  # log-odds beyond which probabilities are 0 and 1 to any use


class Calibration:
    """The correction of one category.

    `start` are the coefficients of 1, the log-odds, and their excess over `BEND`. `kind` and `harsh` are the
    probabilities with which a label calls a wrong answer correct, and a correct one wrong.
    """

    def __init__(self, start: Sequence[float] = START, *, kind: float = 0.0, harsh: float = 0.0) -> None:
        self._kind, self._reach = kind, 1.0 - kind - harsh
        self.mean = [float(one) for one in start]
        self.covariance = [[_VARIANCES[i] if i == j else 0.0 for j in range(3)] for i in range(3)]

    def add(self, predicted: float, *, correct: bool) -> None:
        """Take a label in whose log-odds had been predicted; one step of Newton's method, as in `belief`."""
        x = (1.0, predicted, max(0.0, predicted - BEND))
        direction = [_dot(row, x) for row in self.covariance]
        p = sigmoid(_dot(self.mean, x))
        said = self._kind + self._reach * p
        slope = self._reach * p * (1.0 - p) / max(1e-12, said * (1.0 - said))
        bend = max(1e-6, slope * self._reach * p * (1.0 - p))
        total = 1.0 + bend * _dot(direction, x)
        step, shrink = slope * (float(correct) - said) / total, bend / total
        for i in range(3):
            self.mean[i] += direction[i] * step
            for j in range(3):
                self.covariance[i][j] -= direction[i] * direction[j] * shrink
            self.covariance[i][i] += _FADE * max(0.0, _VARIANCES[i] - self.covariance[i][i])
        self.mean[1] = max(_FLATTEST, self.mean[1])
        self.mean[2] = max(_FLATTEST - self.mean[1], self.mean[2])

    def doubt(self) -> None:
        """Forget how sure the coefficients are, not what they are: what they were learned from has changed."""
        self.covariance = Calibration().covariance

    def corrected(self, predicted: float, deviate: float = 0.0) -> float:
        """P(correct) of these log-odds, lowered by `deviate` standard deviations of the correction."""
        excess = max(0.0, predicted - BEND)
        middle = self.mean[0] + self.mean[1] * predicted + self.mean[2] * excess
        if deviate == 0.0:
            return sigmoid(middle)
        (a, b, c), (_, d, e), (_, _, f) = self.covariance
        spread = a + d * predicted**2 + f * excess**2 + 2.0 * (b * predicted + c * excess + e * predicted * excess)
        return sigmoid(middle - deviate * math.sqrt(max(0.0, spread)))

    def needed(self, p_correct: float) -> float:
        """The least log-odds that, corrected, are worth this probability, inside (0, 1)."""
        start, slope, excess = self.mean
        below = (math.log(p_correct / (1.0 - p_correct)) - start) / slope
        return below if below <= BEND else BEND + (below - BEND) * slope / (slope + excess)

    def state(self) -> list[Any]:
        """As JSON has it."""
        return [self.mean, self.covariance]

    def restore(self, state: Sequence[Any]) -> None:
        """Take up what `state` gave."""
        mean, covariance = state
        self.mean = [float(one) for one in mean]
        self.covariance = [[float(one) for one in row] for row in covariance]


def basis(predicted: float) -> tuple[float, float, float]:
    """The terms that the coefficients multiply."""
    return 1.0, predicted, max(0.0, predicted - BEND)


def sigmoid(value: float) -> float:
    """The logistic function, safe at both ends."""
    return 1.0 / (1.0 + math.exp(-max(-_LIKELIEST, min(_LIKELIEST, value))))


def _dot(one: Sequence[float], two: Sequence[float]) -> float:
    return one[0] * two[0] + one[1] * two[1] + one[2] * two[2]
