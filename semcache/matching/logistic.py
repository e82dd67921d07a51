"""Probabilities and their log-odds, both finite at the ends. Pure. Invariant: both functions are monotonic."""

from __future__ import annotations

import math

LIKELIEST = 30.0  # log-odds beyond which probabilities are 0 and 1 to any use
_LEAST = 1e-9  # probability


def sigmoid(value: float) -> float:
    """The logistic function of log-odds, in (0, 1)."""
    return 1.0 / (1.0 + math.exp(-max(-LIKELIEST, min(LIKELIEST, value))))


def log_odds(p: float) -> float:
    """The log-odds of a probability, finite for any in [0, 1]."""
    return math.log(max(p, _LEAST)) - math.log(max(1.0 - p, _LEAST))
