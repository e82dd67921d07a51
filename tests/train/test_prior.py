"""The prior of P(correct): what the local verifier was asked about has one of its own."""

from __future__ import annotations

import random

import pytest

from semcache.matching import features
from semcache.matching.label_noise import FAITHFUL
from semcache.matching.strategies.certified.belief_prior import BeliefPrior
from semcache.matching.strategies.certified.calibrated_belief import CalibratedBelief
from semcache.train.prior import fit
from semcache.types import Candidate, Card

QUERY = "how do i reset my password"
CACHED = Card(1, b"", b"", "support", "How can I reset a password?", 0.0, 1.0)

Rows = tuple[list[tuple[float, ...]], list[bool]]


def rows(*, asked: bool, count: int = 400, seed: int = 1) -> Rows:
    """Candidates whose score says nothing, and of which the verifier, if asked, tells the right ones."""
    rng = random.Random(seed)
    values, labels = [], []
    for _ in range(count):
        right = rng.random() < 0.5
        one = features.of(QUERY, Candidate(CACHED, rng.uniform(0.7, 0.98)))
        values.append(
            features.with_verdict(one, rng.uniform(0.6, 1) if right else rng.uniform(0, 0.4)) if asked else one
        )
        labels.append(right)
    return values, labels


def test_what_was_asked_about_is_learned_apart() -> None:
    prior = BeliefPrior.read(fit({"found": rows(asked=False), "asked": rows(asked=True)}))
    assert prior.with_verifier is not None
    with_verifier, without_verifier = (CalibratedBelief(one, FAITHFUL) for one in (prior.with_verifier, prior))
    one = features.of(QUERY, Candidate(CACHED, 0.9))
    assert with_verifier.probability(features.with_verdict(one, 0.98), 1) > 0.9
    assert with_verifier.probability(features.with_verdict(one, 0.02), 1) < 0.1
    assert without_verifier.probability(one, 1) == pytest.approx(0.5, abs=0.1)


def test_what_was_not_asked_about_is_learned_as_if_the_other_were_not_there() -> None:
    alone = fit({"found": rows(asked=False)})
    both = fit({"found": rows(asked=False), "asked": rows(asked=True)})
    assert "told" not in alone
    assert {name: value for name, value in both.items() if name != "told"} == alone


def test_a_group_of_both_kinds_counts_in_both() -> None:
    (found, right), (asked, also) = rows(asked=False), rows(asked=True)
    mixed = fit({"mixed": (found + asked, right + also)})
    apart = fit({"mixed": (found, right)})
    assert mixed["terms"] == apart["terms"]
    assert mixed["told"]["terms"] == fit({"mixed": (asked, also)})["terms"]


def test_without_labels_there_is_no_prior() -> None:
    with pytest.raises(ValueError, match="no labels"):
        fit({"none": ([], [])})
