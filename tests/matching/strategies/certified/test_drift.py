"""The alarm for answers that are right less often than believed."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from semcache.matching import features
from semcache.matching.logistic import log_odds, sigmoid
from semcache.matching.strategies.certified import CertifiedThreshold
from semcache.matching.strategies.certified.drift import SUSPICION, DriftAlarm
from semcache.types.evidence import LabelSource, State
from tests.matching.strategies.certified.cases import ANY, PACK, SURE, candidate, label


def test_beliefs_that_hold_give_no_alarm_and_those_that_do_not_give_one_soon() -> None:
    rng, alarms = random.Random(2), 0
    drift = DriftAlarm()
    for _ in range(2000):
        p = rng.uniform(0.5, 0.99)
        alarms += drift.take(p, correct=rng.random() < p)
    assert alarms <= 2
    late = next(turn for turn in range(200) if drift.take(0.95, correct=rng.random() < 0.5))
    assert late < 20


def test_answers_are_doubted_by_the_least_that_labels_make_likely() -> None:
    drift = DriftAlarm()
    assert drift.doubted(0.9) == 0.9
    drift.restore([SUSPICION, 8.0, 8.0])
    assert drift.doubted(0.9) == pytest.approx(sigmoid(log_odds(0.9) - 1.0))
    drift.restore([0.0, 0.0, SUSPICION])
    assert drift.doubted(0.9) == pytest.approx(sigmoid(log_odds(0.9) - 6.0))


def test_a_suspicion_stops_serving_until_a_few_right_answers_allay_it() -> None:
    threshold = CertifiedThreshold(PACK)
    assert threshold.judge(SURE, "support", controls=ANY, draw=0.5).serve
    threshold.observe(label(SURE, correct=False))
    turns = 0
    while not threshold.judge(SURE, "support", controls=ANY, draw=0.5).serve and turns < 60:
        threshold.observe(label(SURE, correct=True, source=LabelSource.MISS))
        turns += 1
    assert 0 < turns < 60
    assert threshold.standing("support").state is not State.CLOSED


def test_answers_that_are_sure_in_spite_of_a_suspicion_are_served() -> None:
    known = CertifiedThreshold(PACK)._of("support")
    heard, unheard = (features.with_verdict(SURE.features, said) for said in (1.0, 0.9))
    beliefs, limit = known.beliefs, known.control.limit()
    beliefs.with_verifier.drift.restore([0.0, SUSPICION, 0.0])
    for values, served in ((heard, True), (unheard, False)):
        assert (1.0 - beliefs.doubted(values, beliefs.probability(values, 1)) <= limit) is served
    assert 1.0 - beliefs.probability(unheard, 1) <= limit, "without the suspicion it is served, too"


def test_where_likeness_is_suspected_the_verifiers_word_still_serves() -> None:
    threshold = CertifiedThreshold(PACK)
    heard = replace(SURE, features=features.with_verdict(SURE.features, 0.99))
    for _ in range(2):
        threshold.observe(label(SURE, correct=False, source=LabelSource.MISS))
    unheard = threshold.judge(SURE, "support", controls=ANY, draw=0.5)
    assert (unheard.serve, unheard.verify) == (False, True)
    assert threshold.judge(heard, "support", controls=ANY, draw=0.5).serve
    assert not threshold._of("support").watched


def test_where_the_verifiers_word_is_suspected_it_is_not_asked_until_right_answers_allay_it() -> None:
    threshold = CertifiedThreshold(PACK)
    known = threshold._of("support")
    heard = replace(SURE, features=features.with_verdict(SURE.features, 0.99))
    known.beliefs.with_verifier.drift.restore([0.5, 1.0, 4.0])
    restored = CertifiedThreshold(PACK)
    restored._of("support").restore(known.state())
    assert restored._of("support").beliefs.with_verifier.drift.suspects, "another process suspects it, too"
    assert not restored._of("support").beliefs.without_verifier.drift.suspects
    assert not threshold.judge(heard, "support", controls=ANY, draw=0.5).serve
    doubtful = candidate(0.8, "How to get a new password")
    assert CertifiedThreshold(PACK).judge(doubtful, "support", controls=ANY, draw=0.5).verify
    assert not threshold.judge(doubtful, "support", controls=ANY, draw=0.5).verify
    turns = 0
    while known.beliefs.with_verifier.drift.suspects and turns < 100:
        threshold.observe(label(SURE, correct=True, source=LabelSource.MISS))
        turns += 1
    assert 0 < turns < 100
