"""How often a judge errs, and what that makes of an error rate that it has seen.

Pure; knows counts and nothing of judges. Limits of a share are those of Clopper and Pearson (1934), which hold at any
sample size, or of Wilson (1927), which are narrower and nearly right. The correction of a rate seen through a test
that errs is that of Rogan and Gladen (1978).
Invariant: more noise, or less knowledge of it, never gives a narrower interval.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist

from semcache.errors import InvalidArgument
from semcache.matching.strategies.certified import belief
from semcache.types import evidence
from semcache.types.evidence import Interval

_STEPS = 200
_WORST = 0.9  # of both error rates together


@dataclass(frozen=True, slots=True)
class Noise:
    """A judge's error rates: `harsh` calls right answers wrong (fp), `kind` calls wrong answers right (fn).

    `undecided` is the share of comparisons that it could not tell; they yield no label.
    """

    harsh: Interval
    kind: Interval
    undecided: float = 0.0


def measured(gold: Iterable[tuple[bool | None, bool]], *, confidence: float = 0.95) -> Noise:
    """The error rates of a judge on pairs of (its verdict, the truth): do the answers agree?

    300 pairs or more give useful limits. Raises InvalidArgument for a confidence outside (0, 1).
    """
    harsh = right = kind = wrong = undecided = 0
    for said, truth in gold:
        if said is None:
            undecided += 1
        elif truth:
            right += 1
            harsh += not said
        else:
            wrong += 1
            kind += said
    everything = right + wrong + undecided
    return Noise(
        clopper_pearson(harsh, right, confidence=confidence),
        clopper_pearson(kind, wrong, confidence=confidence),
        undecided / everything if everything else 0.0,
    )


def corrected(seen: Interval, noise: Noise) -> Interval:
    """The error rate behind one that a judge has seen: (seen - fp) / (1 - fp - fn), within [0, 1].

    The limits take the worst of each: the upper one assumes that the judge finds nothing wrong without reason and
    overlooks as much as it may. A judge that may be no better than chance tells nothing: the interval is [0, 1].
    """
    return Interval(
        _share(seen.estimate, noise.harsh.estimate, noise.kind.estimate, hopeless=seen.estimate),
        _share(seen.low, noise.harsh.high, noise.kind.low, hopeless=0.0),
        _share(seen.high, noise.harsh.low, noise.kind.high, hopeless=1.0),
    )


def believed(noise: Noise) -> belief.Noise:
    """What a strategy that learns from this judge should assume: it overlooks as much as it may, and finds nothing
    wrong without reason. A judge that may be no better than chance is taken to be hardly better."""
    kind = min(_WORST, noise.kind.high)
    return belief.Noise(kind=kind, harsh=min(_WORST - kind, noise.harsh.low))


def clopper_pearson(count: int, of: int, *, confidence: float = 0.95) -> Interval:
    """A share and its exact two-sided limits; [0, 1] when nothing was counted."""
    tail = _tail(count, of, confidence)
    if of == 0:
        return Interval(0.0, 0.0, 1.0)
    low = 0.0 if count == 0 else beta_quantile(tail, count, of - count + 1)
    high = 1.0 if count == of else beta_quantile(1.0 - tail, count + 1, of - count)
    return Interval(count / of, low, high)


def wilson(count: int, of: int, *, confidence: float = 0.95) -> Interval:
    """A share and its score limits; [0, 1] when nothing was counted."""
    z = NormalDist().inv_cdf(1.0 - _tail(count, of, confidence))
    return evidence.wilson(count, of, z)


def beta_quantile(p: float, a: float, b: float) -> float:
    """The x at which the Beta(a, b) distribution reaches p, to within 1e-12, by bisection."""
    low, high = 0.0, 1.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        if beta_share(middle, a, b) < p:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def beta_share(x: float, a: float, b: float) -> float:
    """The share of Beta(a, b) below x: the regularised incomplete beta function, by Lentz's continued fraction."""
    if x <= 0.0 or x >= 1.0:
        return float(x >= 1.0)
    if x > (a + 1) / (a + b + 2):
        return 1.0 - beta_share(1.0 - x, b, a)
    logarithm = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    tiny = 1e-300
    c, d = 1.0, 1.0 / (1.0 - (a + b) * x / (a + 1) or tiny)
    value = d
    for n in range(1, _STEPS):
        for term in (
            n * (b - n) * x / ((a + 2 * n - 1) * (a + 2 * n)),
            -(a + n) * (a + b + n) * x / ((a + 2 * n) * (a + 2 * n + 1)),
        ):
            d = 1.0 / (1.0 + term * d or tiny)
            c = 1.0 + term / c or tiny
            step = c * d
            value *= step
        if abs(step - 1.0) < 1e-15:
            break
    return math.exp(logarithm) * value / a


def _tail(count: int, of: int, confidence: float) -> float:
    if not 0.0 < confidence < 1.0:
        raise InvalidArgument(f"confidence={confidence}: it lies between 0 and 1, such as 0.95")
    if not 0 <= count <= of:
        raise InvalidArgument(f"{count} of {of} is no share: count from 0 to the whole")
    return (1.0 - confidence) / 2


def _share(seen: float, harsh: float, kind: float, *, hopeless: float) -> float:
    """One value of the correction; `hopeless` where the judge is no better than chance."""
    informed = 1.0 - harsh - kind
    return hopeless if informed <= 0.0 else min(1.0, max(0.0, (seen - harsh) / informed))
