"""The published boundary of each entry: what it serves, and with what probability."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.config.packs import Category, Pack
from semcache.matching import features
from semcache.matching.strategies.vcache import FEWEST, Boundary, VCacheThreshold, exploring, fit, predicted
from semcache.types import Candidate, Card, Conflict, Controls, Why
from semcache.types.evidence import Label, LabelSource

PACK = Pack(
    name="p",
    description="",
    share="tenant",
    target=0.01,
    min_margin=0.0,
    categories={"default": Category(name="default"), "loose": Category(name="loose", target=0.05)},
)
CARD = Card(7, b"e", b"s", "default", "cached prompt", created=0.0, expires=math.inf)
ANYONE = Controls()
counts = st.tuples(st.integers(-1000, 1000), st.integers(0, 30), st.integers(0, 30)).filter(lambda one: one[1] + one[2])


def traits(margin: float) -> tuple[float, ...]:
    return tuple([margin if name == "margin" else 0.0 for name in features.NAMES])


def label(score: float, correct: bool, *, entry: int = 7, margin: float = 0.1) -> Label:
    found = traits(margin)
    return Label(0.0, "default", "t", entry, entry, b"", score, found, 0.5, correct, LabelSource.MISS, served=False)


def taught(labels: list[tuple[float, bool]], **switches: bool) -> VCacheThreshold:
    threshold = VCacheThreshold(PACK, **switches)
    for score, correct in labels:
        threshold.observe(label(score, correct))
    return threshold


def chance(threshold: VCacheThreshold, score: float, category: str = "default", controls: Controls = ANYONE) -> float:
    """The share of draws at which this score is served."""
    low, high = 0.0, 1.0
    candidate = Candidate(CARD, score, features=traits(0.1))
    for _ in range(40):
        middle = (low + high) / 2
        served = threshold.judge(candidate, category, controls=controls, draw=middle).serve
        low, high = (low, middle) if served else (middle, high)
    return 1.0 - high


def test_an_entry_needs_four_labels_beside_the_two_it_starts_with() -> None:
    labels = [(0.95, True)] * (FEWEST - 2)
    assert chance(taught(labels[:-1]), 0.99) == pytest.approx(0.0, abs=1e-9)
    assert chance(taught(labels), 0.99) > 0.1


def test_only_the_nearest_is_judged_and_only_its_labels_count() -> None:
    threshold = taught([(0.95, True)] * 10)
    behind = Candidate(CARD, 0.99, features=traits(-0.01))
    verdict = threshold.judge(behind, "default", controls=ANYONE, draw=0.999999)
    assert (verdict.serve, verdict.p_correct, verdict.why) == (False, 0.0, Why.UNCERTAIN)
    stranger = VCacheThreshold(PACK)
    for _ in range(10):
        stranger.observe(label(0.95, True, margin=-0.01))
    assert stranger.state() == {}


def test_labels_of_one_entry_say_nothing_of_another() -> None:
    threshold = taught([(0.95, True)] * 20)
    other = Candidate(replace(CARD, id=8), 1.0)
    assert not threshold.judge(other, "default", controls=ANYONE, draw=0.999999).serve


def test_a_published_grid_serves_half_at_most_at_one_percent() -> None:
    """Its second level of confidence is 0.0204, and the first needs a boundary far below the score."""
    right = [(score / 100, True) for score in range(88, 96)]
    published, spaced = chance(taught(right), 0.93), chance(taught(right, log_grid=True), 0.93)
    assert published == pytest.approx(0.01 / (1 - (1 - 0.020409)), rel=0.02)
    assert spaced > 1.5 * published


def test_an_entry_that_is_always_wrong_is_still_served_at_the_rate_of_the_target() -> None:
    """The weakness that pooling the budget removes: the error of a known wrong entry is spent in full."""
    wrong = taught([(score / 100, False) for score in range(80, 100)])
    assert chance(wrong, 0.9) == pytest.approx(0.01, abs=0.005)
    assert chance(wrong, 0.9, "loose") == pytest.approx(0.05, abs=0.02)


def test_integrating_the_boundary_serves_more_than_bounding_it() -> None:
    mixed = [(score / 100, score > 80 or score % 4 == 0) for score in range(60, 100)]
    assert chance(taught(mixed, predictive=True), 0.98) > chance(taught(mixed), 0.98)


def test_a_caller_may_ask_for_fewer_errors_and_not_for_more() -> None:
    threshold = taught([(0.95, True)] * 6)
    usual = chance(threshold, 0.9)
    assert chance(threshold, 0.9, controls=Controls(max_error=0.001)) < usual
    assert chance(threshold, 0.9, controls=Controls(max_error=0.5)) == usual
    assert chance(threshold, 0.9, controls=Controls(min_score=0.91)) == pytest.approx(0.0, abs=1e-9)


def test_the_rule_spends_exactly_the_target_on_a_known_probability() -> None:
    explore = exploring(0.9, 0.02)
    assert (1 - explore) * (1 - 0.9) == pytest.approx(0.02)
    assert exploring(0.999, 0.01) < 0
    assert exploring(1.0, 0.01) == -math.inf


def test_an_overlapping_boundary_is_the_one_that_maximises_the_likelihood() -> None:
    """Checked against the score equations: observed and expected right answers agree in number and in mean score."""
    observed = [(700, 3, 1), (800, 2, 2), (900, 1, 5), (950, 1, 8)]
    found = fit(observed)
    rows = [(0, 1, 0), (1000, 0, 1), *observed]
    expected = [
        (wrong + right) / (1 + math.exp(-found.slope * (score / 1000 - found.at))) for score, wrong, right in rows
    ]
    assert sum(expected) == pytest.approx(sum(row[2] for row in rows), abs=1e-5)
    moments = [
        sum(score * n for (score, *_), n in zip(rows, values, strict=True))
        for values in (expected, [r[2] for r in rows])
    ]
    assert moments[0] == pytest.approx(moments[1], rel=1e-5)
    assert 0.0 < found.variance < 0.05


def test_separable_labels_put_the_boundary_in_the_gap() -> None:
    found = fit([(600, 3, 0), (900, 0, 5)])
    assert 0.6 < found.at < 0.9
    assert found.variance == pytest.approx(0.0194)
    assert fit([(600, 3, 0), (900, 0, 90)]).variance == 0.0153


@given(st.lists(counts, max_size=12, unique_by=lambda one: one[0]))
def test_any_labels_give_a_curve_that_rises(observed: list[tuple[int, int, int]]) -> None:
    found = fit(observed)
    assert 0.0 <= found.at <= 1.0
    assert found.slope > 0
    assert found.variance >= 0
    assert 0.0 <= predicted(found, 0.5) <= predicted(found, 0.9) + 1e-12 <= 1.0 + 1e-12


def test_prediction_is_the_plain_curve_where_the_boundary_is_known() -> None:
    assert predicted(Boundary(0.8, 20.0, 0.0), 0.9) == pytest.approx(1 / (1 + math.exp(-2)))


def test_its_memory_is_bounded_and_loses_the_entry_unlabelled_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semcache.matching.strategies.vcache.ENTRIES", 3)
    threshold = VCacheThreshold(PACK)
    for entry in (1, 2, 3, 1, 4):
        threshold.observe(label(0.9, True, entry=entry))
    assert [entry for entry, _ in threshold.state()["entries"]] == [3, 1, 4]


def test_a_restored_state_replaces_what_was_learned_and_a_foreign_one_is_refused() -> None:
    threshold = taught([(0.95, True)] * 9)
    saved = json.loads(json.dumps(threshold.state()))
    fresh = taught([(0.95, False)] * 9)
    before = chance(fresh, 0.97)
    fresh.restore(saved)
    assert chance(fresh, 0.97) == chance(threshold, 0.97) != before
    with pytest.raises(ValueError, match="vcache"):
        fresh.restore({"entries": [["seven", [[1]]]]})
    assert chance(fresh, 0.97) == chance(threshold, 0.97)


def test_what_a_guard_vetoes_is_not_served_however_right_the_entry_was() -> None:
    threshold = taught([(0.95, True)] * 20)
    vetoed = Candidate(CARD, 1.0, (Conflict("numbers", "3 against 4"),), traits(0.1))
    verdict = threshold.judge(vetoed, "default", controls=ANYONE, draw=0.999999)
    assert (verdict.serve, verdict.why) == (False, Why.GUARD)
    doubted = replace(vetoed, conflicts=(Conflict("numbers", "3 against some", veto=False),))
    assert threshold.judge(doubted, "default", controls=ANYONE, draw=0.999999).serve
