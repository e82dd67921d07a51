"""Hits that nobody audited: what labels of others make of the errors that are expected of them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest

from semcache.matching import features
from semcache.matching.label_noise import FAITHFUL
from semcache.matching.strategies.certified import CertifiedThreshold
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
        threshold.note("support", verdict.p_correct, served=True, audited=audited, candidate=SAID)


@pytest.mark.parametrize(("correct", "sign", "count"), [(True, -1, 150), (False, 1, 8)])
def test_labels_of_others_tell_what_the_hits_of_before_were_worth(*, correct: bool, sign: int, count: int) -> None:
    threshold = CertifiedThreshold(PACK)
    served(threshold, 20)
    budget = threshold._of("support").control.budget
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
    budget = threshold._of("support").control.budget
    before = budget.spent
    for _ in range(8):
        threshold.observe(label(SAID, correct=False, source=LabelSource.MISS))
    assert budget.spent == before


def test_all_that_was_revised_adds_up_to_what_is_expected_now() -> None:
    hits, about, rng = UnauditedHits(), CalibratedBelief(shipped("any"), FAITHFUL), random.Random(5)
    odds = [rng.uniform(1.0, 5.0) for _ in range(40)]
    for one in odds:
        hits.add(about, one, SAID.features, about.corrected(one, SAID.features))
    then = sum(1.0 - about.corrected(one, SAID.features) for one in odds)
    revised = 0.0
    for _ in range(24):
        about.calibration.add(3.0, 2.0, correct=rng.random() < 0.5)
        revised += hits.revised(0.0)
    now = sum(1.0 - about.corrected(one, SAID.features) for one in odds)
    assert now > then + 1.0
    assert then + revised == pytest.approx(now)


def test_judging_other_candidates_between_a_hit_and_its_end_changes_nothing() -> None:
    others = [candidate(0.5 + place / 400, entry=place + 2) for place in range(100)]

    def spent(beside: Sequence[Candidate]) -> float:
        """The errors that are booked once labels have shown the hits to be worse, with so much judged meanwhile."""
        threshold = CertifiedThreshold(PACK)
        for _ in range(20):
            verdict = threshold.judge(SAID, "support", controls=ANY, draw=0.5)
            for one in beside:
                threshold.judge(one, "support", controls=ANY, draw=1.0)
            threshold.note("support", verdict.p_correct, served=True, audited=False, candidate=SAID)
        before = threshold._of("support").control.budget.spent
        for _ in range(8):
            threshold.observe(label(SAID, correct=False, source=LabelSource.MISS))
        assert threshold._of("support").control.budget.spent > 3 * before
        return threshold._of("support").control.budget.spent

    assert spent(others) == spent([])


def test_a_hit_that_another_category_believes_less_of_stays_as_it_was_booked() -> None:
    foreign = replace(SAID, card=replace(SAID.card, category="default"))

    def more(p_correct: float) -> float:
        threshold = CertifiedThreshold(PACK)
        for _ in range(20):
            threshold.note("support", p_correct, served=True, audited=False, candidate=foreign)
        budget = threshold._of("support").control.budget
        before = budget.spent
        for _ in range(8):
            threshold.observe(label(SAID, correct=False, source=LabelSource.MISS))
        return budget.spent - before

    own = CertifiedThreshold(PACK).judge(SAID, "support", controls=ANY, draw=0.5).p_correct
    assert more(own) > 0.02
    assert more(own - 0.05) == 0.0


def test_a_candidate_that_is_judged_and_not_served_counts_for_nothing() -> None:
    threshold = CertifiedThreshold(PACK)

    def spent(*others: Candidate) -> float:
        for one in others:
            threshold.judge(one, "support", controls=ANY, draw=0.5)
        threshold.note("support", None, served=False, audited=False)
        for _ in range(8):
            threshold.observe(label(SAID, correct=False, source=LabelSource.MISS))
        return threshold._of("support").control.budget.spent

    assert spent(SAID, NEAR) == 0.0
