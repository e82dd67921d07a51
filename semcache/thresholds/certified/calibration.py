"""What the log-odds of a belief are worth, as far as labels have shown.

Knows predicted log-odds and outcomes, nothing of features. Invariant: corrected probabilities never fall with the
predicted log-odds, and the covariance stays symmetric and positive.

Corrected log-odds are linear in the predicted ones, with a bend where answers begin to be sure (Platt 1999, with a
hinge), and the coefficients have a Gaussian belief that starts from "worth what they say". Most labels are of requests
that were not served; what they show below the limit tells how far predictions beyond it can be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

BEND = 2.0  # log-odds
START = (0.0, 1.0, 0.0)
_DEVIATIONS = np.diag(np.array([0.25, 0.02, 0.1]))
_FADE = 1e-4  # of the way back to the first covariance, a label
_FLATTEST = 0.3
_LIKELIEST = 30.0  # log-odds beyond which probabilities are 0 and 1 to any use


class Calibration:
    """The correction of one category. `start` are the coefficients of 1, the log-odds, and their excess over `BEND`."""

    def __init__(self, start: Sequence[float] = START) -> None:
        self.mean = np.array(start, dtype=np.float64)
        self.covariance = _DEVIATIONS.copy()

    def add(self, predicted: float, *, correct: bool) -> None:
        """Take a label in whose log-odds had been predicted; one step of Newton's method, as in `belief`."""
        x = basis(predicted)
        direction = self.covariance @ x
        p = sigmoid(float(self.mean @ x))
        bend = max(1e-6, p * (1.0 - p))
        total = 1.0 + bend * float(x @ direction)
        self.mean += direction * ((float(correct) - p) / total)
        self.mean[1] = max(_FLATTEST, self.mean[1])
        self.mean[2] = max(_FLATTEST - self.mean[1], self.mean[2])
        self.covariance -= np.outer(direction, direction) * (bend / total)
        self.covariance += _FADE * np.maximum(0.0, _DEVIATIONS - self.covariance) * np.eye(len(x))

    def corrected(self, predicted: float, deviate: float) -> float:
        """P(correct) of these log-odds, lowered by `deviate` standard deviations of the correction."""
        x = basis(predicted)
        return sigmoid(float(self.mean @ x) - deviate * math.sqrt(float(x @ self.covariance @ x)))

    def needed(self, p_correct: float) -> float:
        """The least log-odds that, corrected, are worth this probability, inside (0, 1)."""
        start, slope, excess = self.mean.tolist()
        below = (math.log(p_correct / (1.0 - p_correct)) - start) / slope
        return float(below if below <= BEND else BEND + (below - BEND) * slope / (slope + excess))


def basis(predicted: float) -> NDArray[np.float64]:
    """What the coefficients multiply."""
    return np.array([1.0, predicted, max(0.0, predicted - BEND)])


def sigmoid(value: float) -> float:
    """The logistic function, safe at both ends."""
    return 1.0 / (1.0 + math.exp(-max(-_LIKELIEST, min(_LIKELIEST, value))))
