"""Whether a category pays, and how far load stretches its target."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from semcache.matching.break_even import Economics, LookupCosts, Profitability, Relaxation, break_even
from semcache.types.evidence import wilson

LOOKUP, LLM = 0.001, 0.01


def traffic(economics: Economics, rate: float, requests: int, rng: random.Random) -> int:
    """Send requests of which this share would hit; return how many were looked up."""
    looked_up = 0
    for _ in range(requests):
        if economics.open("a", rng.random()):
            looked_up += 1
            economics.looked_up("a", hit=rng.random() < rate, llm=LLM, lookup=LOOKUP)
    return looked_up


def test_break_even_is_the_price_of_looking_over_what_a_hit_saves() -> None:
    # 30 ms of lookup against 180 ms that a hit saves: the published 15 to 20% for fast models.
    assert break_even(LookupCosts(lookup=30, llm=200, fetch=20)) == pytest.approx(30 / 180)
    dear = break_even(LookupCosts(lookup=1, llm=10, verify=2, wrong=50), grey=0.1, audit=0.02, error=0.1)
    assert dear == pytest.approx((1 + 0.2 + 0.2) / (10 - 5))


def test_where_a_hit_saves_nothing_no_hit_rate_pays() -> None:
    assert break_even(LookupCosts(lookup=1, llm=10, wrong=1000), error=0.01) == math.inf
    assert break_even(LookupCosts(lookup=1, llm=1, fetch=1)) == math.inf


@given(st.integers(0, 50), st.integers(0, 50))
def test_the_interval_holds_the_share_and_stays_within_reason(hits: int, misses: int) -> None:
    interval = wilson(hits, hits + misses)
    assert 0.0 <= interval.low <= interval.high <= 1.0
    if hits + misses:
        assert interval.low - 1e-9 <= hits / (hits + misses) <= interval.high + 1e-9
    assert interval.high > 0.0


def test_wilson_against_published_values() -> None:
    # Newcombe, Statistics in Medicine 17 (1998), table I: 81 of 263, 15 of 148, 0 of 20, 1 of 29.
    for hits, trials, low, high in [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
    ]:
        interval = wilson(hits, trials)
        assert (round(interval.low, 4), round(interval.high, 4)) == (low, high)


def test_a_category_that_cannot_pay_is_closed_but_tried_now_and_then() -> None:
    economics, rng = Economics(), random.Random(1)
    traffic(economics, 0.02, 2000, rng)
    assert not economics.standing("a").open
    looked_up = traffic(economics, 0.02, 5000, rng)
    assert 50 < looked_up < 200


def test_it_opens_again_when_traffic_has_become_worth_it() -> None:
    economics, rng = Economics(), random.Random(2)
    traffic(economics, 0.0, 1000, rng)
    assert not economics.standing("a").open
    traffic(economics, 0.5, 15_000, rng)
    balance = economics.standing("a")
    assert balance.open
    assert balance.outlook is Profitability.PAYS
    assert balance.hit_rate.low > balance.break_even == pytest.approx(0.1)


def test_nothing_is_closed_on_little_evidence() -> None:
    economics = Economics()
    for _ in range(199):
        economics.looked_up("a", hit=False, llm=LLM, lookup=LLM)
    assert economics.standing("a").open
    assert economics.standing("a").outlook is Profitability.UNCLEAR
    assert economics.standing("never seen").open


def test_a_category_that_pays_stays_open_for_good() -> None:
    economics, rng = Economics(), random.Random(3)
    assert traffic(economics, 0.2, 60_000, rng) == 60_000
    assert economics.standing("a").lookups == 60_000


def test_without_a_price_of_the_model_nothing_is_closed() -> None:
    """A model that the price list does not know costs 0: that says nothing of what a hit saves."""
    economics = Economics()
    for _ in range(1000):
        economics.looked_up("a", hit=False, llm=0.0, lookup=LOOKUP)
    assert economics.standing("a").open


def test_audits_verifications_and_errors_raise_what_is_needed() -> None:
    plain, priced = Economics(), Economics(wrong_cost={"a": 0.02})
    for step in range(400):
        plain.looked_up("a", hit=step % 2 == 0, llm=LLM, lookup=LOOKUP)
        priced.looked_up("a", hit=step % 2 == 0, llm=LLM, lookup=LOOKUP, verify=0.0005 if step % 4 == 0 else None)
    for step in range(20):
        priced.audited("a", correct=step != 0, llm=LLM)
    expected = (LOOKUP + 0.25 * 0.0005 + 0.05 * LLM) / (LLM - 0.05 * 0.02)
    assert priced.standing("a").break_even == pytest.approx(expected)
    assert plain.standing("a").break_even == pytest.approx(0.1)
    spent = 400 * LOOKUP + 100 * 0.0005 + 20 * LLM + 0.02
    assert priced.standing("a").saved == pytest.approx(200 * LLM - spent)


def overloaded(relaxation: Relaxation, load: float, seconds: int, start: int = 0) -> None:
    for second in range(start, start + seconds):
        relaxation.observe(float(second), queue=load * 100, queue_max=100)


def test_load_stretches_the_target_and_calm_returns_it() -> None:
    relaxation = Relaxation()
    overloaded(relaxation, 0.5, 60)
    assert relaxation.target(0.01, 0.03, 0.05) == 0.01
    overloaded(relaxation, 2.0, 120, 60)
    assert relaxation.target(0.01, 0.03, 0.05) == pytest.approx(0.03)
    overloaded(relaxation, 0.1, 120, 180)
    assert relaxation.target(0.01, 0.03, 0.05) == 0.01


def test_it_does_not_flicker_between_the_two_marks() -> None:
    relaxation = Relaxation(low=0.6, start=0.8, high=1.0)
    overloaded(relaxation, 0.7, 200)
    assert relaxation.share == 0.0
    overloaded(relaxation, 0.9, 200, 200)
    assert relaxation.share == pytest.approx(0.75, abs=0.01)
    overloaded(relaxation, 0.7, 200, 400)
    assert relaxation.share == pytest.approx(0.25, abs=0.01)
    overloaded(relaxation, 0.5, 200, 600)
    assert relaxation.share == 0.0


def test_latency_alone_is_load_too() -> None:
    relaxation = Relaxation()
    relaxation.observe(0.0, queue=0, queue_max=100, p95=4.0, slo=2.0)
    assert relaxation.share == 1.0


def test_a_clock_that_goes_back_does_no_harm() -> None:
    relaxation = Relaxation()
    relaxation.observe(100.0, queue=50, queue_max=100)
    relaxation.observe(50.0, queue=500, queue_max=100)
    assert relaxation.load == 0.5
    relaxation.observe(110.0, queue=0, queue_max=100)
    assert relaxation.load == pytest.approx(0.25)


@example(loads=[(0.0, 100.0)], target=0.026218356501729843, limit=0.092903, certified=0.125)  # rounded upwards
@given(
    st.lists(st.tuples(st.floats(0, 100), st.floats(0, 300)), max_size=30),
    st.floats(0.001, 0.1),
    st.none() | st.floats(0.001, 0.2),
    st.none() | st.floats(0.0, 0.2),
)
def test_a_target_never_leaves_what_was_allowed(
    loads: list[tuple[float, float]], target: float, limit: float | None, certified: float | None
) -> None:
    relaxation = Relaxation()
    for at, queue in loads:
        relaxation.observe(at, queue=queue, queue_max=100)
        stretched = relaxation.target(target, limit, certified)
        assert target <= stretched <= max(target, limit or 0.0)
        assert stretched <= max(target, certified or 0.0)


def test_marks_in_the_wrong_order_are_refused() -> None:
    with pytest.raises(ValueError, match=r"start 0\.2"):
        Relaxation(low=0.5, start=0.2)
