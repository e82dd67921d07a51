"""Audits: how many there are, how they are spread, and that an error brings more of them."""

from __future__ import annotations

import json
import random

import msgspec
import pytest

from semcache.config.packs import Pack
from semcache.matching.strategies.certified import CertifiedThreshold
from semcache.matching.strategies.certified.audit_rate import AuditRate
from semcache.matching.strategies.certified.drift import SUSPICION
from semcache.types.evidence import LabelSource, State
from tests.matching.strategies.certified.cases import ANY, PACK, SURE, UNSURE, label


def test_audits_thin_out_as_evidence_grows() -> None:
    first = CertifiedThreshold(PACK).standing("support").audit_rate
    standing = audited(PACK, right=800).standing("support")
    assert standing.state is State.CERTIFIED
    assert 0.0 < standing.audit_rate < first
    assert standing.error is not None
    assert standing.error.high < 0.05


def test_audits_are_spread_evenly_and_as_many_as_the_rate_says() -> None:
    threshold, rng = CertifiedThreshold(PACK), random.Random(8)
    gaps, gap = [], 0
    while len(gaps) < 300:
        # A category of its own for each gap: the rate itself stays as it starts.
        category = f"new {len(gaps)}"
        audited = rng.random() < threshold.judge(SURE, category, controls=ANY, draw=0.5).audit
        threshold.note(category, 0.999, served=True, audited=audited)
        gap += 1
        if audited:
            gaps.append(gap)
            gap = 0
    assert max(gaps) <= 2 / PACK.of("support").audit
    assert sum(gaps) / len(gaps) == pytest.approx(1 / PACK.of("support").audit, rel=0.1)


def test_the_longer_no_hit_was_audited_the_likelier_the_next_one_is_and_then_it_begins_anew() -> None:
    threshold = CertifiedThreshold(PACK)
    chances = []
    for audited_at in (False, False, False, True, False):
        chances.append(threshold.judge(SURE, "support", controls=ANY, draw=0.5).audit)
        threshold.note("support", 0.999, served=True, audited=audited_at)
    assert chances == sorted(chances[:4]) + chances[4:]
    assert chances[4] == chances[0] < chances[3]


def test_while_labels_contradict_what_is_believed_what_is_still_served_is_audited_densely() -> None:
    threshold = audited(PACK, right=800)
    known = threshold._of("support")
    known.beliefs.with_verifier.drift.logs = [SUSPICION] * len(known.beliefs.with_verifier.drift.logs)
    assert threshold.standing("support").audit_rate == 5 * PACK.of("support").audit


def test_an_error_calls_for_audits_of_what_is_served_next_until_two_show_none() -> None:
    threshold = audited(PACK, right=800)
    quiet = threshold.standing("support").audit_rate
    assert quiet < PACK.of("support").audit
    threshold.observe(label(SURE, correct=False))
    rates = [threshold.standing("support").audit_rate]
    for _ in range(2):
        threshold.observe(label(SURE, correct=True))
        rates.append(threshold.standing("support").audit_rate)
    dense = 5 * PACK.of("support").audit
    assert rates == [dense, dense, pytest.approx(quiet, rel=0.1)]


def test_answers_that_all_turn_wrong_are_stopped_within_a_few_hits() -> None:
    def wrongly_served(seed: int) -> int:
        threshold, rng, wrong = audited(PACK, right=400), random.Random(seed), 0
        while wrong < 200:
            verdict = threshold.judge(SURE, "support", controls=ANY, draw=0.5)
            if not verdict.serve:
                break
            drawn = rng.random() < verdict.audit
            threshold.note("support", verdict.p_correct, served=True, audited=drawn)
            wrong += 1
            if drawn:
                threshold.observe(label(SURE, correct=False))
        return wrong

    assert sum(wrongly_served(seed) for seed in range(40)) / 40 < 0.7 * 0.05 * 400


def test_a_neighbour_that_nobody_would_have_served_calls_for_no_audit() -> None:
    threshold = audited(PACK, right=800)
    before = threshold.standing("support").audit_rate
    threshold.observe(label(UNSURE, correct=False, source=LabelSource.MISS))
    assert threshold.standing("support").audit_rate == before


def test_audits_thin_out_and_are_called_for_over_a_restart_too() -> None:
    before, quiet, after = audited(PACK, right=800), CertifiedThreshold(PACK), CertifiedThreshold(PACK)
    quiet.restore(json.loads(json.dumps(before.state())))
    assert quiet.standing("support").audit_rate < PACK.of("support").audit
    before.observe(label(SURE, correct=False))
    after.restore(json.loads(json.dumps(before.state())))
    assert after.standing("support").audit_rate == before.standing("support").audit_rate > PACK.of("support").audit


def test_however_long_nothing_was_wrong_a_tenth_of_the_audits_goes_on() -> None:
    assert AuditRate().rate(0.1, 1e9, doubted=False) == pytest.approx(0.01)


def test_an_error_that_left_nothing_in_doubt_calls_for_audits_over_a_restart_as_well() -> None:
    before, after = (CertifiedThreshold(PACK)._of("support") for _ in range(2))
    before.control._audits.take(wrong=True)
    after.restore(json.loads(json.dumps(before.state())))
    assert not after.beliefs.without_verifier.drift.suspects
    assert after.audit_rate(PACK.of("support")) == 5 * PACK.of("support").audit


def test_a_pack_that_wants_no_audits_gets_none_even_after_an_error() -> None:
    categories = {name: msgspec.structs.replace(one, audit=0.0) for name, one in PACK.categories.items()}
    threshold = audited(msgspec.structs.replace(PACK, categories=categories), right=10)
    threshold.observe(label(SURE, correct=False))
    assert threshold.standing("support").audit_rate == 0.0
    assert threshold.judge(SURE, "support", controls=ANY, draw=0.5).audit == 0.0


def audited(pack: Pack, right: int) -> CertifiedThreshold:
    """A strategy that has served so many right answers and learned from as many audits."""
    threshold = CertifiedThreshold(pack)
    for _ in range(right):
        threshold.note("support", 0.999, served=True, audited=True)
        threshold.observe(label(SURE, correct=True))
    return threshold
