"""How far calibrations differ from one hand to the next: random effects of a logistic regression, by EM.

Knows design matrices and outcomes. Invariant: what a hand's few labels leave open is not taken for a difference between
hands (the M-step of Laird and Ware 1982, "Random-effects models for longitudinal data", with Laplace's approximation
of each hand's posterior).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from semcache.train.prior import logistic

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array: TypeAlias = NDArray[np.float64]

_STEPS = 200  # at most
_STILL = 1e-9  # a change of the covariance that is none
_WEIGHT = 2.0  # hands' worth of belief in what is assumed
_ASSUMED = 0.25  # of the variances from which it starts


def between(groups: Sequence[tuple[Array, Array]], mean: Array, variances: Array) -> tuple[Array, Array]:
    """The mean coefficients and their covariance between groups, of shapes (d,) and (d, d).

    Each group is its terms, shape (n, d), and its outcomes, 0 or 1, shape (n,). `mean` and `variances`, shape (d,), are
    those to start from.
    """
    covariance, middle = np.diag(variances), mean.copy()
    assumed = _ASSUMED * covariance
    for _ in range(_STEPS):
        found = [_posterior(*group, middle, covariance) for group in groups]
        middle = np.mean([mode for mode, _ in found], axis=0)
        total = sum(np.outer(mode - middle, mode - middle) + spread for mode, spread in found)
        last, covariance = covariance, (total + _WEIGHT * assumed) / (len(groups) + _WEIGHT)
        if np.abs(covariance - last).max() < _STILL:
            break
    return middle, covariance


def _posterior(x: Array, y: Array, middle: Array, covariance: Array) -> tuple[Array, Array]:
    """The mode and the covariance of a group's coefficients."""
    root = np.linalg.cholesky(covariance)
    mode = root @ logistic(x @ root, y, np.ones(len(y)), np.linalg.solve(root, middle), 1.0)
    p = 1.0 / (1.0 + np.exp(-np.clip(x @ mode, -30.0, 30.0)))
    return mode, np.linalg.inv((x * (p * (1.0 - p))[:, None]).T @ x + np.linalg.inv(covariance))
