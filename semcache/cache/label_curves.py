"""Curves from labels: reliability, risk against coverage, and the requests that another target would serve.

Pure. Labels are weighted by the inverse of the chance with which they were drawn (Horvitz and Thompson, JASA 47, 1952),
so that audits of a tenth of the hits stand for all of them. Invariant: only random samples are counted; reports of
people and verdicts of language models are not.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from semcache.matching.strategies.certified.error_budget import HIGHEST
from semcache.types.evidence import Interval, Label, LabelSource, wilson

_BINS = 10
_POINTS = 100
_SAMPLES = frozenset([LabelSource.AUDIT, LabelSource.MISS])
_LEAST_CHANCE = 1e-3


@dataclass(frozen=True, slots=True)
class Sample:
    """One judged request: P(correct) of its best neighbour, if it was right, and how many requests it stands for."""

    p_correct: float
    correct: bool
    weight: float


@dataclass(frozen=True, slots=True)
class ReliabilityBin:
    """Samples of about the same P(correct), and the share of them that was right."""

    predicted: float
    right: Interval
    samples: int


@dataclass(frozen=True, slots=True)
class Outlook:
    """The outcome that a target would have had: shares of the judged requests, and the error per hit."""

    target: float
    risk: float
    served: float
    error: Interval
    hits: float
    wrong: float


def samples(labels: Iterable[Label]) -> list[Sample]:
    """The best neighbour of each judged request, most probable first."""
    best: dict[tuple[bytes, float], Label] = {}
    for label in labels:
        if label.source in _SAMPLES:
            place = (label.exact, label.at)
            known = best.get(place)
            if known is None or label.p_correct > known.p_correct:
                best[place] = label
    found = [Sample(one.p_correct, one.correct, 1.0 / max(_LEAST_CHANCE, one.chance or 1.0)) for one in best.values()]
    return sorted(found, key=lambda one: -one.p_correct)


def reliability(found: Sequence[Sample]) -> list[ReliabilityBin]:
    """Samples in bins of equal size: the predicted probability and the share that was right."""
    size = max(1, math.ceil(len(found) / _BINS))
    bins = []
    for start in range(0, len(found), size):
        group = found[start : start + size]
        weight = sum(one.weight for one in group)
        predicted = sum(one.weight * one.p_correct for one in group) / weight
        right = sum(one.weight for one in group if one.correct) / weight
        several = _effective(group)
        bins.append(ReliabilityBin(predicted, wilson(right * several, several), len(group)))
    return bins[::-1]


def risk_coverage(found: Sequence[Sample]) -> list[tuple[float, float, float]]:
    """Coverage, the error among the covered samples, and the predicted error, beginning with the surest sample."""
    whole = sum(one.weight for one in found)
    weight = wrong = risk = 0.0
    curve: list[tuple[float, float, float]] = []
    every = max(1, len(found) // _POINTS)
    for number, one in enumerate(found, 1):
        weight += one.weight
        wrong += one.weight * (not one.correct)
        risk += one.weight * (1.0 - one.p_correct)
        if number % every == 0 or number == len(found):
            curve.append((weight / whole, wrong / weight, risk / weight))
    return curve


def outlooks(found: Sequence[Sample], targets: Sequence[float]) -> list[Outlook]:
    """Return for each target the outlook if the mean risk of served answers may reach the target.

    The strategy pools risk in the same way; the surest samples are served first.
    """
    if not found:
        return [Outlook(target, 0.0, 0.0, Interval(0.0, 0.0, 1.0), 0.0, 0.0) for target in targets]
    doubts = np.array([1.0 - one.p_correct for one in found])
    weights = np.array([one.weight for one in found])
    wrong = np.cumsum(weights * [not one.correct for one in found])
    hits, squares = np.cumsum(weights), np.cumsum(weights**2)
    # Doubts ascend, and so does their mean.
    means = (np.cumsum(weights * doubts) / hits)[: int(np.searchsorted(doubts, HIGHEST, side="right"))]
    ways = []
    for target in targets:
        last = int(np.searchsorted(means, target, side="right")) - 1
        if last < 0:
            ways.append(Outlook(target, 0.0, 0.0, Interval(0.0, 0.0, 1.0), 0.0, 0.0))
            continue
        of, several = float(hits[last]), float(hits[last] ** 2 / squares[last])
        error = wilson(several * float(wrong[last]) / of, several)
        ways.append(Outlook(target, float(doubts[last]), of / float(hits[-1]), error, of, float(wrong[last])))
    return ways


def _effective(group: Sequence[Sample]) -> float:
    """As many equal samples as say as much as these unequal ones (Kish, Survey Sampling, 1965)."""
    weight = sum(one.weight for one in group)
    return weight * weight / sum(one.weight * one.weight for one in group) if group else 0.0
