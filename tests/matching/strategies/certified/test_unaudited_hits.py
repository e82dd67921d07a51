"""Hits that nobody audited: what labels of others make of the errors that are expected of them."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from semcache.matching import features
from semcache.matching.label_noise import FAITHFUL
from semcache.matching.strategies.certified import CertifiedThreshold, unaudited_hits
from semcache.matching.strategies.certified.calibrated_belief import CalibratedBelief
from semcache.matching.strategies.certified.priors import shipped
from semcache.matching.strategies.certified.unaudited_hits import UnauditedHits
from semcache.types import Candidate
from semcache.types.evidence import LabelSource
from tests.matching.strategies.certified.cases import ANY, PACK, candidate, label

NEAR = candidate(0.93, "How could I change the password that I have?")
SAID = replace(NEAR, features=features.with_verdict(NEAR.features, 0.985))


def served(threshold: CertifiedThreshold, count: int, *, audited: bool = False) -> None:
    """Serve it so often, as far as the threshold knows."""
    for _ in range(count):
        verdict = threshold.judge(SAID, "support", controls=ANY, draw=0.5)
        threshold.note("support", verdict.p_correct, served=True, audited=audited)


@pytest.mark.parametrize(("correct", "sign", "count"), [(True, -1, 150), (False, 1, 8)])
def test_labels_of_others_tell_what_the_hits_of_before_were_worth(*, correct: bool, sign: int, count: int) -> None:
    threshold = CertifiedThreshold(PACK)
    served(threshold, 20)
    budget = threshold._of("support").budget
    before, limit = budget.spent, budget.limit()
    for _ in range(count):
        threshold.observe(label(SAID, correct=correct, source=LabelSource.MISS))
    assert sign * (budget.spent - before) > 0.02
    if not correct:
        assert budget.spent > 3 * before
        assert budget.limit() < limit


def test_what_an_audit_has_settled_is_not_looked_at_again() -> None:
    threshold = CertifiedThreshold(PACK)
    served(threshold, 20, audited=True)
    budget = threshold._of("support").budget
    before = budget.spent
    for _ in range(8):
        threshold.observe(label(SAID, correct=False, source=LabelSource.MISS))
    assert budget.spent == before


def test_all_that_was_revised_adds_up_to_what_is_expected_now() -> None:
    hits, about, rng = UnauditedHits(), CalibratedBelief(shipped("any"), FAITHFUL), random.Random(5)
    odds = [rng.uniform(1.0, 5.0) for _ in range(40)]
    for one in odds:
        p = about.corrected(one, SAID.features)
        hits.believed(p, about, one, SAID.features)
        hits.add(p)
    then = sum(1.0 - about.corrected(one, SAID.features) for one in odds)
    revised = 0.0
    for _ in range(24):
        about.calibration.add(3.0, 2.0, correct=rng.random() < 0.5)
        revised += hits.revised(0.0)
    now = sum(1.0 - about.corrected(one, SAID.features) for one in odds)
    assert now > then + 1.0
    assert then + revised == pytest.approx(now)


def test_a_hit_that_was_judged_otherwise_and_one_that_is_too_old_stay_as_they_were_booked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unaudited_hits, "PENDING", 2)
    about, values = CalibratedBelief(shipped("any"), FAITHFUL), SAID.features

    def more(count: int) -> float:
        """What wrong labels make of hits on the first candidate after so many others were judged."""
        about.calibration, hits = CalibratedBelief(shipped("any"), FAITHFUL).calibration, UnauditedHits()
        for place in range(count + 1):
            odds = 4.0 + place
            hits.believed(about.corrected(odds, values), about, odds, values)
        hits.add(about.corrected(4.0, values))
        for _ in range(4):
            about.calibration.add(4.0, 2.0, correct=False)
        return sum(hits.revised(0.0) for _ in range(4))

    assert more(0) == pytest.approx(more(1)) != 0.0
    assert more(2) == 0.0


def test_a_candidate_that_is_judged_and_not_served_counts_for_nothing() -> None:
    threshold = CertifiedThreshold(PACK)

    def spent(*others: Candidate) -> float:
        for one in others:
            threshold.judge(one, "support", controls=ANY, draw=0.5)
        threshold.note("support", None, served=False, audited=False)
        for _ in range(8):
            threshold.observe(label(SAID, correct=False, source=LabelSource.MISS))
        return threshold._of("support").budget.spent

    assert spent(SAID, NEAR) == 0.0
