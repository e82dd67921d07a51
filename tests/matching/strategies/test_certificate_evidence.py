"""The evidence behind a certificate says how many audits are still needed, and keeps its word."""

from __future__ import annotations

import math

import pytest

from semcache.matching.strategies.certified.certificate import Certificate


@pytest.mark.parametrize(("target", "wrong"), [(0.05, ()), (0.01, ()), (0.05, (3, 40))])
def test_after_as_many_right_audits_as_it_says_the_target_is_certified(target: float, wrong: tuple[int, ...]) -> None:
    certificate = Certificate(0.05)
    for number in range(50):
        certificate.take(target, wrong=number in wrong)
    needed = certificate.evidence(target).needed
    assert needed > 0
    for _ in range(needed - 1):
        certificate.take(target, wrong=False)
    assert not certificate.certified
    assert certificate.evidence(target).needed == 1
    certificate.take(target, wrong=False)
    assert certificate.certified
    assert certificate.evidence(target).needed == 0


def test_the_ladder_is_told_as_it_stands() -> None:
    certificate = Certificate(0.05)
    fresh = certificate.evidence(0.01)
    assert fresh.log_target == pytest.approx(0.0)
    assert fresh.log_enough == pytest.approx(math.log(20.0))
    for _ in range(100):
        certificate.take(0.01, wrong=False)
    rungs = certificate.evidence(0.01).ladder
    assert [rung.level for rung in rungs if rung.passed] == [
        level for level in (0.5, 0.2, 0.1, 0.05) if level >= (certificate.level or 1)
    ]
    assert all(rung.log_wealth >= fresh.log_enough for rung in rungs if rung.passed)
