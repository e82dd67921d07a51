"""The quality of a language model as a judge: a discrete belief about how much less its yes is worth than stated.

A verdict is the probability of yes that a model gives. Its grade shifts the log-odds of an answer by an amount that is
stated for a large model; a yes of this model shifts them by an offset more. `OFFSETS` are the offsets that are
considered, and every `ByOffset` holds one number for each of them. The prior gives 40% to models that are much worse
than stated, some of which say yes to anything. The model may change at any label (a fixed share, Herbster and Warmuth
1998), so that many right verdicts do not outweigh the few recent wrong ones of a model that has become worse.
Pure. Invariant: weights are positive and add up to 1.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

YES, NO = 0.8, 0.2  # P(yes) from which a verdict is a yes, and up to which it is a no
BEST = 0.99  # the best verdict there is

ByOffset: TypeAlias = list[float]


class _Grade(NamedTuple):
    """A grade of verdicts: the P(yes) below which they have it, and ln P(verdict | right) / P(verdict | wrong)."""

    below: float
    shift: float


class _Quality(NamedTuple):
    """A quality of models: its `offset`, its share in the prior, and in that of a model of which nobody thinks ill."""

    offset: float
    prior: float
    hopeful: float


# Stated for a large model: it says yes to 97 of 100 right neighbours, and to 2.4 in 1,000 wrong ones, 1.6 where it is
# sure. Offsets, and the labels that weigh them, bring it to its worth.
_PLAIN_YES = _Grade(0.95, 6.0)
_GRADES = (
    _Grade(0.05, -4.5),
    _Grade(NO, -3.5),
    _Grade(0.5, -1.0),
    _Grade(YES, 0.5),
    _PLAIN_YES,
    _Grade(math.inf, 6.4),
)
_QUALITIES = (
    _Quality(1.0, prior=0.15, hopeful=0.3),
    _Quality(0.0, prior=0.3, hopeful=0.5),
    _Quality(-1.0, prior=0.15, hopeful=0.1),
    _Quality(-2.0, prior=0.1, hopeful=0.05),
    _Quality(-3.0, prior=0.12, hopeful=0.03),
    _Quality(-4.0, prior=0.06, hopeful=0.01),
    _Quality(-5.0, prior=0.06, hopeful=0.005),
    _Quality(-6.0, prior=0.06, hopeful=0.005),
)
OFFSETS = tuple([one.offset for one in _QUALITIES])
HOPEFUL: ByOffset = [one.hopeful for one in _QUALITIES]  # weights for the first few hits
_BELOW = tuple([one.below for one in _GRADES])
_LOG_PRIOR: ByOffset = [math.log(one.prior) for one in _QUALITIES]
_TRUE = 0.97  # share of the right neighbours to which a model says yes
_SHARE = 0.75  # of the belief's log-odds, which reads the same two texts
_FURTHEST = 5.0  # of the belief's log-odds that are looked at
_CHANGES = 0.005  # chance that a model has changed since the last label


def shifted(odds: float, verdict: float) -> float:
    """The log-odds after this verdict of a model of offset 0, if the belief's own were `odds`."""
    return _GRADES[bisect_right(_BELOW, verdict)].shift + _SHARE * max(-_FURTHEST, min(_FURTHEST, odds))


def after_plain_yes() -> float:
    """The log-odds after a plain yes of a model of offset 0, if they were even before."""
    return _PLAIN_YES.shift


def p_yes(offset: float, p_wrong: float) -> float:
    """P(yes) of a model of this offset about a neighbour whose answer is wrong with this probability."""
    fooled = _TRUE / (_TRUE + math.exp(min(50.0, _PLAIN_YES.shift + offset)))
    return p_wrong * fooled + (1.0 - p_wrong) * _TRUE


def nothing_shown() -> ByOffset:
    """The log-likelihoods before the first observation."""
    return [0.0] * len(OFFSETS)


def added(logs: ByOffset, more: ByOffset) -> ByOffset:
    """The log-likelihoods of two observations together."""
    return [one + other for one, other in zip(logs, more, strict=True)]


def posterior(shown: Sequence[tuple[float, ByOffset]]) -> ByOffset:
    """The weights of the offsets after these log-likelihoods, each counted by the factor before it."""
    return _normed([prior + sum([part * row[at] for part, row in shown]) for at, prior in enumerate(_LOG_PRIOR)])


def forgiving(logs: ByOffset) -> ByOffset:
    """These log-likelihoods, discounted for the chance that the model has changed since."""
    weights = _normed(added(_LOG_PRIOR, logs))
    return [
        math.log((1.0 - _CHANGES) * weight / math.exp(prior) + _CHANGES)
        for weight, prior in zip(weights, _LOG_PRIOR, strict=True)
    ]


def _normed(logs: ByOffset) -> ByOffset:
    highest = max(logs)
    raw = [math.exp(log - highest) for log in logs]
    total = sum(raw)
    return [one / total for one in raw]
