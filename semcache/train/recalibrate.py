"""The decision prior of a new embedder, from labelled pairs that it was not trained on.

A new embedder scores on a scale of its own, so a prior learned from the old one's scores misleads. Knows pairs and
their vectors; `semcache.train.prior` knows priors. Invariant: equal pairs and vectors give an equal prior, and the
chosen prior predicts pairs that it was not learned from at least as well as the shipped one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semcache.matching import features, guards, neighbourhood
from semcache.matching.strategies.certified.belief import Belief
from semcache.matching.strategies.certified.belief_prior import BeliefPrior
from semcache.matching.strategies.certified.calibration import Calibration
from semcache.matching.strategies.certified.priors import shipped
from semcache.matching.strategies.certified.strategy import FLOOR
from semcache.train import prior, splits
from semcache.train.pairs import Pair
from semcache.train.repeats import repeat
from semcache.train.text_identity import caseless
from semcache.types import Candidate, Card

if TYPE_CHECKING:
    from semcache.types import Matrix, Vector

PROFILES = ("any", "service", "questions")
LEAST = 100  # labelled candidates below which nothing can be said
EITHER = 10  # candidates of either label in each half: without wrong ones, whatever is near would seem right
_MOST = 6000  # pairs that are read
_POOL = 200  # other prompts in the cache before which a crowded candidate stands
_NEIGHBOURS = 8
_QUANTILES = 200
_APART = 7919
_NEARNESS = features.NAMES.index("nearness")

Row = tuple[tuple[float, ...], bool]  # features, whether the candidate is right
Groups = Mapping[str, tuple[Sequence[tuple[float, ...]], Sequence[bool]]]


class Recalibration(NamedTuple):
    """`priors` by profile as `BeliefPrior.read` takes them, empty where there were too few pairs.

    `told` says what was seen: the mean log loss (nats a candidate) of the shipped prior and of one learned anew, and
    which was chosen.
    """

    priors: dict[str, dict[str, Any]]
    told: dict[str, Any]


def recalibrate(pairs: Sequence[Pair], encode: Callable[[Sequence[str]], Matrix], *, seed: int) -> Recalibration:
    """The priors of the embedder behind `encode`, which gives unit rows. The shipped one is kept unless beaten.

    Half of the components teach and half judge, in turn; what wins is then learned from all of them. A prior that is
    learned anew serves every profile: the pairs are of this one kind of traffic.
    """
    chosen = random.Random(seed).sample(list(pairs), min(_MOST, len(pairs)))
    # Not the caller's seed: of a check part that it has chosen by that one, the halves would be none and all.
    halves = splits.split(chosen, check=0.0, test=0.5, seed=seed + _APART)
    one, two = candidates(halves.train, encode, seed=seed), candidates(halves.test, encode, seed=seed)
    everything = {name: (rows[0] + two[name][0], rows[1] + two[name][1]) for name, rows in one.items()}
    count = sum(len(labels) for _, labels in everything.values())
    told: dict[str, Any] = {"candidates": count}
    if count < LEAST or min(_rarer_label(one), _rarer_label(two)) < EITHER:
        note = (
            f"too few candidates to learn from: {LEAST} are needed, {EITHER} of either label in each half; pairs of "
            "different answers count where a cache would take one for the other"
        )
        return Recalibration({}, told | {"chosen": "shipped", "note": note})
    known = shipped("any")
    losses = {"shipped": 0.5 * (_loss(known, one) + _loss(known, two))}
    learned = [BeliefPrior.read(prior.fit(half)) for half in (one, two)]
    losses["learned"] = 0.5 * (_loss(learned[0], two) + _loss(learned[1], one))
    best = min(losses, key=losses.__getitem__)
    told |= {"log_loss": {name: round(value, 4) for name, value in losses.items()}, "chosen": best}
    if best == "shipped":
        return Recalibration({}, told)
    made = prior.fit(everything)
    made["risks"] = _risks(BeliefPrior.read(made), everything)
    return Recalibration(dict.fromkeys(PROFILES, made), told)


def _rarer_label(groups: Groups) -> int:
    """The number of candidates of the label that has fewer."""
    labels = [same for _, some in groups.values() for same in some]
    return min(sum(labels), len(labels) - sum(labels))


def candidates(
    pairs: Sequence[Pair], encode: Callable[[Sequence[str]], Matrix], *, seed: int
) -> dict[str, tuple[list[tuple[float, ...]], list[bool]]]:
    """Features and labels of candidates as lookups meet them, in groups.

    "alone": a labelled pair with nothing else in the cache; "crowded": among other prompts; "repeats": a prompt against
    another writing of itself. Only what a pair says is labelled, and what a guard vetoes is left out, as in the cache.
    """
    rng = random.Random(seed)
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.one, pair.two)))
    again = {text: repeat(text, rng) for text in rng.sample(texts, min(len(texts), len(pairs)))}
    every = [*texts, *dict.fromkeys(again.values())]
    vector = dict(zip(every, encode(every), strict=True)) if every else {}
    classes = splits.numbered(pairs)
    groups: dict[str, list[Row]] = {"alone": [], "crowded": [], "repeats": []}
    for pair in pairs:
        alone = _candidate(pair.one, pair.two, 1, vector)
        groups["alone"] += _row(pair.two, alone, [alone], same=pair.same)
        pool = [
            pair.one,
            *[text for text in rng.sample(texts, min(_POOL, len(texts))) if text not in (pair.one, pair.two)],
        ]
        found = [_candidate(text, pair.two, 1 + classes[caseless(text)], vector) for text in pool]
        near = sorted(found, key=lambda candidate: -candidate.score)[:_NEIGHBOURS]
        groups["crowded"] += _row(pair.two, found[0], near, same=pair.same) if found[0] in near else []
    for text, other in again.items():
        if other != text:
            known = _candidate(text, other, 1, vector)
            groups["repeats"] += _row(other, known, [known], same=True)
    return {name: ([values for values, _ in rows], [same for _, same in rows]) for name, rows in groups.items()}


def _candidate(cached: str, asked: str, answer: int, vector: Mapping[str, Vector]) -> Candidate:
    score = max(-1.0, min(1.0, float(vector[cached] @ vector[asked])))
    return Candidate(Card(answer, b"", b"", "", cached, 0.0, 1.0, answer), score)


def _row(asked: str, judged: Candidate, near: Sequence[Candidate], *, same: bool) -> list[Row]:
    """The row of the candidate `judged` among those found, best first; none if no lookup would judge it."""
    if judged.score < FLOOR:
        return []
    surveyed = neighbourhood.surveyed(asked, near, lambda one, two: guards.conflicts(one, two, guards.GUARDS))
    found = surveyed.candidates[near.index(judged)]
    conflicts = surveyed.objections(found)
    if any(conflict.veto for conflict in conflicts):
        return []
    return [(features.of(asked, replace(found, conflicts=conflicts)), same)]


def _loss(known: BeliefPrior, groups: Groups) -> float:
    """Mean negative log-likelihood (nats), every group having the same say."""
    belief, calibration = Belief(known), Calibration(known.calibration)
    means = []
    for values, labels in groups.values():
        if labels:
            p = np.array([_probability(belief, calibration, one) for one in values])
            likely = np.where(np.array(labels), p, 1.0 - p)
            means.append(float(-np.log(np.maximum(likely, 1e-9)).mean()))
    return float(np.mean(means))


def _probability(belief: Belief, calibration: Calibration, values: tuple[float, ...]) -> float:
    return calibration.corrected(belief.log_odds(values, 0), values[_NEARNESS])


def _risks(known: BeliefPrior, groups: Groups) -> list[float]:
    """Quantiles of 1 - P(correct), every group having the same say."""
    belief, calibration = Belief(known), Calibration(known.calibration)
    grid = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    risks = [
        np.quantile([1.0 - calibration.corrected(belief.log_odds(one, 0), one[_NEARNESS]) for one in values], grid)
        for values, _ in groups.values()
        if values
    ]
    return [round(float(value), 6) for value in np.quantile(np.concatenate(risks), grid)]
