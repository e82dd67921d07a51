"""Differential privacy of a client: its update is clipped, and noise is added to the sum.

Each client clips what it sends to length `clip` and adds its share of the noise before masking, so that the server only
sees the noisy sum (distributed noise, Kairouz et al. 2021, "The distributed discrete Gaussian mechanism", section 1).
Over rounds, Gaussian mechanisms compose into one: `rounds` of noise multiplier `noise` are mu-Gaussian differential
privacy with mu = sqrt(rounds) / noise (Dong, Roth, Su 2022, corollary 3.3), and mu gives (epsilon, delta) exactly
(there, corollary 2.13; Balle and Wang 2018, theorem 8). Neighbours are: a client's data, and none in their place.

Pure; randomness is an argument. Invariant: what `private` returns minus its noise has length `clip` at most, whatever
went in, rounding to `masking.STEP` included. Not modelled: that noise is drawn in floating point and rounded to that
step, and that clients who tell the server their noise take their share of it away from the others.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from semcache.errors import InvalidArgument
from semcache.train.federate.masking import STEP

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Exact = NDArray[np.float64]

_MOST = 1e6  # an epsilon that says nothing


def private(change: Exact, *, clip: float, noise: float, clients: int, rng: np.random.Generator) -> Exact:
    """`change`, at most `clip` long, plus a `clients`-th of the variance (noise * clip)**2 in every number."""
    reach = clip - math.sqrt(len(change)) * STEP / 2
    if reach <= 0 or not np.all(np.isfinite(change)):
        raise InvalidArgument(f"clip {clip:g} is below what rounding does to {len(change)} numbers, or they diverged")
    length = float(np.linalg.norm(change))
    clipped = change * min(1.0, reach / length) if length > 0 else change
    return clipped + rng.normal(scale=noise * clip / math.sqrt(clients), size=len(change))


def epsilon(noise: float, rounds: int, delta: float) -> float:
    """The least epsilon for this `delta` after so many rounds, infinite without noise.

    Raises InvalidArgument for a delta that is not between 0 and 1.
    """
    if not 0 < delta < 1:
        raise InvalidArgument(f"delta {delta} must be between 0 and 1; below one over the number of clients means much")
    if noise <= 0:
        return math.inf
    mu = math.sqrt(rounds) / noise
    low, high = 0.0, 1.0
    while _delta(high, mu) > delta:
        low, high = high, 2 * high
        if high > _MOST:
            return math.inf
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if _delta(middle, mu) > delta else (low, middle)
    return high


def _delta(epsilon_: float, mu: float) -> float:
    """Dong, Roth, Su 2022, corollary 2.13."""
    far = _log_normal(-epsilon_ / mu - mu / 2)
    return math.exp(_log_normal(-epsilon_ / mu + mu / 2)) - math.exp(min(epsilon_ + far, 0.0))


def _log_normal(x: float) -> float:
    """The logarithm of the standard normal distribution function, also far out (Abramowitz and Stegun 26.2.12)."""
    if x > -30:
        return math.log(math.erfc(-x / math.sqrt(2)) / 2)
    return -x * x / 2 - math.log(-x * math.sqrt(2 * math.pi)) + math.log1p(-1 / (x * x))
