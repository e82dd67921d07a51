"""The threshold of a category, calibrated on labels: what it takes to serve, and how live labels move it."""

from __future__ import annotations

import json
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.config.packs import Category, Pack
from semcache.matching import features
from semcache.matching.strategies.per_category import PerCategoryThreshold, calibrated
from semcache.types import Candidate, Card, Conflict, Controls
from semcache.types.evidence import Label, LabelSource

PACK = Pack(
    name="p",
    description="",
    share="tenant",
    target=0.05,
    min_margin=0.0,
    categories={
        "default": Category(name="default"),
        "requests": Category(name="requests", contract="request"),
        "strict": Category(name="strict", target=0.001),
    },
)
CARD = Card(7, b"e", b"s", "default", "cached prompt", created=0.0, expires=math.inf)
ANYONE = Controls()
bins = st.dictionaries(
    st.integers(-200, 200), st.lists(st.integers(0, 50), min_size=2, max_size=2).filter(any), max_size=40
)


def label(
    score: float,
    correct: bool,
    *,
    category: str = "default",
    source: LabelSource = LabelSource.MISS,
    chance: float = 1.0,
    margin: float = 0.1,
) -> Label:
    found = tuple([margin if name == "margin" else 0.0 for name in features.NAMES])
    served = source is not LabelSource.MISS
    return Label(0.0, category, "t", 7, 7, b"", score, found, 0.5, correct, source, served, chance)


def traffic(seed: int, n: int, category: str = "default") -> list[Label]:
    """Labels whose P(correct) rises from nothing at 0.6 to certainty at 0.9."""
    rng = random.Random(seed)
    scores = [rng.uniform(0.5, 1.0) for _ in range(n)]
    return [label(score, rng.random() < (score - 0.6) / 0.3, category=category) for score in scores]


def serves(threshold: PerCategoryThreshold, score: float, category: str = "default") -> bool:
    return threshold.judge(Candidate(CARD, score), category, controls=ANYONE, draw=0.5).serve


def test_without_labels_nothing_is_served() -> None:
    threshold = PerCategoryThreshold(PACK)
    assert not serves(threshold, 1.0)
    assert "too few labels" in threshold.standing("default").note


def test_calibrated_it_keeps_the_target_on_new_traffic_of_the_same_kind() -> None:
    threshold = PerCategoryThreshold.fit(PACK, traffic(1, 3000))
    served = [one for one in traffic(2, 3000) if serves(threshold, one.score)]
    assert len(served) > 300
    assert sum(not one.correct for one in served) / len(served) <= 0.05 + 0.02


def test_each_category_has_its_own_threshold_and_target() -> None:
    threshold = PerCategoryThreshold.fit(PACK, traffic(1, 1000) + traffic(1, 1000, "strict"))
    assert threshold.standing("strict").score > threshold.standing("default").score
    assert serves(threshold, 0.97)
    assert not serves(threshold, 0.97, "requests")


def test_a_share_of_all_requests_allows_more_than_a_share_of_hits() -> None:
    threshold = PerCategoryThreshold.fit(PACK, traffic(1, 1000) + traffic(1, 1000, "requests"))
    assert threshold.standing("requests").score < threshold.standing("default").score


def test_one_perfect_label_is_not_enough() -> None:
    """At 5% it takes nineteen: the next one may be wrong, and would then be one of twenty."""
    few = PerCategoryThreshold.fit(PACK, [label(0.9, True)] * 18)
    assert not serves(few, 0.95)
    few.observe(label(0.9, True))
    assert serves(few, 0.95)


def test_audits_that_fail_raise_the_threshold() -> None:
    threshold = PerCategoryThreshold.fit(PACK, traffic(1, 1000))
    before = threshold.standing("default").score
    for _ in range(10):
        threshold.observe(label(before + 0.01, False, source=LabelSource.AUDIT, chance=0.02))
    assert threshold.standing("default").score > before
    assert (threshold.standing("default").audits, threshold.standing("default").wrong) == (10, 10)


def test_labels_of_neighbours_behind_another_answer_do_not_count() -> None:
    assert not serves(PerCategoryThreshold.fit(PACK, [label(0.9, True, margin=-0.1)] * 100), 0.95)


def test_a_caller_may_only_make_it_stricter() -> None:
    threshold = PerCategoryThreshold.fit(PACK, traffic(1, 1000))
    edge = Candidate(CARD, threshold.standing("default").score)
    assert threshold.judge(edge, "default", controls=ANYONE, draw=0.5).serve
    assert not threshold.judge(edge, "default", controls=Controls(max_error=0.001), draw=0.5).serve
    assert not threshold.judge(edge, "default", controls=Controls(min_score=0.99), draw=0.5).serve
    assert threshold.judge(edge, "default", controls=Controls(min_score=-1.0, max_error=0.9), draw=0.5).serve


@given(bins, st.floats(0.001, 0.5), st.sampled_from(["hit", "request"]))
def test_what_it_serves_meets_the_target_on_the_labels_and_the_curve_rises(
    counts: dict[int, list[float]], target: float, contract: str
) -> None:
    curve = calibrated(counts, target, contract, 1.0)
    assert list(curve.levels) == sorted(curve.levels)
    assert all(0.0 <= level <= 1.0 for level in curve.levels)
    served = [weights for place, weights in counts.items() if place / 200 >= curve.threshold]
    wrong, total = sum(weights[0] for weights in served), sum(map(sum, served))
    of = total if contract == "hit" else sum(map(sum, counts.values()))
    assert not served or wrong + 1 <= target * (of + 1) + 1e-9


def test_a_restored_state_goes_on_alike_and_a_foreign_one_is_refused() -> None:
    one, two = PerCategoryThreshold.fit(PACK, traffic(1, 500)), PerCategoryThreshold(PACK)
    two.restore(json.loads(json.dumps(one.state())))
    for each in traffic(3, 50):
        one.observe(each)
        two.observe(each)
    assert one.standing("default") == two.standing("default")
    assert one.state() == two.state()
    with pytest.raises(ValueError, match="per-category"):
        two.restore({"default": {"bins": "many"}})


def test_what_a_guard_vetoes_is_not_served_however_near_it_is() -> None:
    threshold = PerCategoryThreshold.fit(PACK, traffic(1, 1000))
    vetoed = Candidate(CARD, 1.0, (Conflict("numbers", "3 against 4"),))
    assert not threshold.judge(vetoed, "default", controls=ANYONE, draw=0.5).serve
    doubted = Candidate(CARD, 1.0, (Conflict("numbers", "3 against some", veto=False),))
    assert threshold.judge(doubted, "default", controls=ANYONE, draw=0.5).serve
