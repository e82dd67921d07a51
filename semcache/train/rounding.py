"""Rounding weights to a grid so that what a layer gives changes least.

Nearest values forget what a short training taught: it moves each weight by less than half a step, and where it went on
from weights that lay on the grid already, every one of them goes back to where it was. Here the error of each weight
is made up for by those that come after it, as the layer's own inputs weigh them (GPTQ: Frantar et al. 2022, sections
3.2 and 3.3). Pure. Invariant: rounding a result again, to nearest values and with the same levels, changes nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]

_DAMP = 0.01  # of the mean square of an input, added to each: what the inputs leave open is to stay small
_BLOCK = 128  # inputs whose errors are passed on together


def rounded(weight: NDArray[np.float32], gram: Array, levels: int) -> NDArray[np.float32]:
    """The weights of a linear layer, (out, in), on a grid of 2 `levels` + 1 values a row, symmetric about zero.

    `gram` (in, in) is the sum of x x^T over the layer's inputs x, of which some thousands say enough. A row's largest
    weight stays what it is, at an end of its grid.
    """
    left = weight.astype(np.float64)
    peak = np.abs(left).max(axis=1, keepdims=True)
    step = np.where(peak == 0.0, 1.0, peak / levels)
    ends = np.abs(left) >= peak
    passed = _passed_on(gram)
    found = np.empty_like(left)
    for start in range(0, left.shape[1], _BLOCK):
        stop = min(start + _BLOCK, left.shape[1])
        errors = np.empty((left.shape[0], stop - start))
        for at in range(start, stop):
            code = np.clip(np.rint(left[:, at : at + 1] / step), -levels, levels)
            code = np.where(ends[:, at : at + 1], np.sign(weight[:, at : at + 1]) * levels, code)
            found[:, at : at + 1] = code * step
            errors[:, at - start] = (left[:, at] - found[:, at]) / passed[at, at]
            left[:, at + 1 : stop] -= errors[:, at - start, None] * passed[at, at + 1 : stop]
        left[:, stop:] -= errors @ passed[start:stop, stop:]
    return found.astype(np.float32)


def _passed_on(gram: Array) -> Array:
    """The upper Cholesky factor of the inverse Gram matrix: how the errors of weights are passed on to later ones."""
    damped = gram + np.eye(len(gram)) * max(_DAMP * float(np.trace(gram)) / len(gram), np.finfo(np.float64).tiny)
    inverse = np.linalg.inv(damped)
    return np.linalg.cholesky((inverse + inverse.T) / 2.0).T.astype(np.float64)
