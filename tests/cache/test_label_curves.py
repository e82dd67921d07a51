"""Curves say what the labels do, each audit standing for the hits it was drawn from."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from semcache.cache.label_curves import Outlook, Sample, outlooks, reliability, risk_coverage, samples
from semcache.types.evidence import Label, LabelSource
from tests.storage.stores.values import label


def outlook(found: list[Sample], target: float) -> Outlook:
    [one] = outlooks(found, [target])
    return one


def judged(
    number: int, p: float, *, correct: bool, source: LabelSource = LabelSource.MISS, chance: float = 1.0
) -> Label:
    exact = number.to_bytes(32, "big")
    return replace(label(number), p_correct=p, correct=correct, source=source, chance=chance, exact=exact)


def test_only_samples_count_and_of_a_request_its_best_neighbour() -> None:
    known = [
        judged(1, 0.2, correct=False),
        replace(judged(1, 0.7, correct=True), at=judged(1, 0.2, correct=False).at),
        judged(2, 0.9, correct=False, source=LabelSource.FEEDBACK),
        judged(3, 0.9, correct=False, source=LabelSource.VERDICT),
        judged(4, 0.9, correct=True, source=LabelSource.AUDIT, chance=0.1),
    ]
    assert [(one.p_correct, one.correct, one.weight) for one in samples(known)] == [(0.9, True, 10.0), (0.7, True, 1.0)]


def test_an_audit_counts_for_the_hits_it_stands_for() -> None:
    found = samples(
        [judged(1, 0.99, correct=False, source=LabelSource.AUDIT, chance=0.1)]
        + [judged(number, 0.99, correct=True) for number in range(2, 12)]
    )
    [one] = [single for single in reliability(found) if single.samples == len(found)] or [None]
    whole = outlook(found, 0.2)
    assert whole.served == 1.0
    assert whole.error.estimate == pytest.approx(0.5), "10 wrong hits by 10 right requests"
    assert one is None or one.right.estimate == pytest.approx(0.5)


def test_beliefs_that_are_true_lie_on_the_diagonal() -> None:
    rng = random.Random(1)
    draws = [rng.random() for _ in range(20_000)]
    found = samples([judged(number, p, correct=rng.random() < p) for number, p in enumerate(draws)])
    for one in reliability(found):
        assert one.right.low <= one.predicted + 0.02
        assert one.right.high >= one.predicted - 0.02
    coverage, seen, said = zip(*risk_coverage(found), strict=True)
    assert coverage[-1] == pytest.approx(1.0)
    assert list(coverage) == sorted(coverage)
    assert max(abs(one - other) for one, other in zip(seen[5:], said[5:], strict=True)) < 0.03


def test_a_looser_target_serves_more_and_a_stricter_one_less() -> None:
    rng = random.Random(2)
    draws = [rng.random() ** 0.3 for _ in range(5000)]
    found = samples([judged(number, p, correct=rng.random() < p) for number, p in enumerate(draws)])
    served = [outlook(found, target).served for target in (0.001, 0.01, 0.05, 0.2)]
    assert served == sorted(served)
    assert served[0] < served[-1]
    at = outlook(found, 0.05)
    assert at.error.low <= 0.05 <= at.error.high + 0.02
    assert outlook([], 0.05).served == 0.0
    assert outlook(samples([judged(1, 0.1, correct=False)]), 0.05).served == 0.0, "nothing is likely enough"
