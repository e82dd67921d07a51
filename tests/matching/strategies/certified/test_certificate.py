"""The certificate: how rarely it is false, and how soon many errors are found."""

from __future__ import annotations

import json
import random

import pytest

from semcache.matching.strategies.certified.certificate import Certificate, ExcessTest
from semcache.types.evidence import wilson


@pytest.mark.slow
def test_a_false_certificate_is_as_rare_as_stated() -> None:
    rng = random.Random(11)
    false = 0
    for _ in range(300):
        certificate = Certificate(0.05)
        for _ in range(600):
            certificate.take(0.05, wrong=rng.random() < 0.05)
        false += certificate.certified
    assert false / 300 <= 0.05


def test_right_answers_are_certified_step_by_step() -> None:
    certificate = Certificate(0.05)
    levels = []
    for _ in range(400):
        certificate.take(0.01, wrong=False)
        levels.append(certificate.level)
    assert levels[20] is not None
    assert levels[20] > 0.1
    assert levels[-1] == 0.01
    assert certificate.certified


def test_many_errors_are_found_and_few_are_borne() -> None:
    certificate = Certificate(0.05)
    for turn in range(500):
        certificate.take(0.05, wrong=turn % 40 == 0)
    assert not certificate.exceeded
    for turn in range(100):
        certificate.take(0.05, wrong=turn % 4 == 0)
    assert certificate.exceeded


@pytest.mark.slow
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_a_category_on_its_target_is_hardly_ever_taken_for_one_beyond_it(share: float) -> None:
    rng, raised = random.Random(5), 0
    for _ in range(60):
        test = ExcessTest()
        for _ in range(10_000):
            test.take(0.02, wrong=rng.random() < 0.02 * share)
            if test.wealth() >= 20.0:
                raised += 1
                break
    assert raised <= 6, "5% of 60 are 3"


def test_a_change_is_found_however_late_it_comes() -> None:
    rng = random.Random(6)
    for before in (0, 100, 1000):
        test = ExcessTest()
        for _ in range(before):
            test.take(0.02, wrong=rng.random() < 0.005)
        needed = 0
        while test.wealth() < 20.0:
            needed += 1
            test.take(0.02, wrong=rng.random() < 0.3)
        assert needed < 60
        again = ExcessTest()
        again.restore(json.loads(json.dumps(test.state())))
        assert again.wealth() == test.wealth()


def test_wilson_contains_the_share() -> None:
    interval = wilson(1, 100)
    assert interval.low < 0.01 < interval.high < 0.06
