"""The time to live that a request gets."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.config.packs import Category, Pack, load
from semcache.retention.freshness import FixedFreshness, LearnedFreshness, Volatility
from semcache.types import Controls, Endpoint, Request

DAY = 86400.0
STAYS, SLOW, FAST = "Who wrote Moby Dick?", "Who is the president of Portugal?", "How many followers does Rihanna have?"
LIVE = "What is the weather in Oslo right now?"


def pack(**fields: Any) -> Pack:
    category = Category(name="default", **fields)
    return msgspec.structs.replace(load("default"), categories={"default": category})


def request(text: str, ttl: float | None = None) -> Request:
    return Request(Endpoint.CHAT, "gpt-x", {}, text, b"", controls=Controls(ttl=ttl))


def test_at_first_what_changes_slowly_or_never_lives_as_long_as_the_pack_says() -> None:
    fresh = LearnedFreshness(pack(ttl=7 * DAY))
    assert fresh.ttl(request(STAYS), "default") == 7 * DAY
    assert fresh.ttl(request(SLOW), "default") == pytest.approx(7 * DAY)


def test_what_changes_fast_lives_shorter_and_what_is_bound_to_the_moment_not_at_all() -> None:
    fresh = LearnedFreshness(pack(ttl=7 * DAY))
    assert 0 < fresh.ttl(request(FAST), "default") < 2 * DAY
    assert fresh.ttl(request(LIVE), "default") == 0


def test_a_live_category_keeps_them_as_long_as_its_pack_says() -> None:
    fresh = LearnedFreshness(pack(ttl=300.0, live=True))
    assert fresh.ttl(request(LIVE), "default") == pytest.approx(300.0)
    assert fresh.ttl(request(FAST), "default") == pytest.approx(300.0)


def test_changes_shorten_and_nothing_lengthens_beyond_the_pack() -> None:
    fresh = LearnedFreshness(pack(ttl=7 * DAY))
    for _ in range(30):
        fresh.observe("default", 7 * DAY, True)
    assert fresh.ttl(request(SLOW), "default") < DAY
    calm = LearnedFreshness(pack(ttl=7 * DAY))
    for _ in range(500):
        calm.observe("default", 365 * DAY, False, Volatility.FAST)
    assert calm.ttl(request(FAST), "default") <= 7 * DAY
    assert calm.ttl(request(FAST), "default") > 6 * DAY


def test_the_learned_life_keeps_the_stale_share_when_answers_change_twice_a_month() -> None:
    rng, truth = random.Random(0), 15 * DAY
    fresh = LearnedFreshness(pack(ttl=7 * DAY, stale=0.05))
    for _ in range(400):
        age = fresh.ttl(request(SLOW), "default") * rng.uniform(1.0, 2.5)
        fresh.observe("default", age, rng.random() < 1 - 2.718281828 ** (-age / truth))
    ttl = fresh.ttl(request(SLOW), "default")
    assert 1 - 2.718281828 ** (-ttl / truth) < 0.06
    assert ttl > 0.2 * 0.05 * truth  # careful, not useless


def test_a_stated_rate_of_change_comes_before_one_derived_from_the_ttl() -> None:
    often = LearnedFreshness(pack(ttl=7 * DAY, change_every=10 * DAY))
    seldom = LearnedFreshness(pack(ttl=7 * DAY, change_every=10_000 * DAY))
    assert often.ttl(request(SLOW), "default") < 0.2 * DAY
    assert seldom.ttl(request(SLOW), "default") == 7 * DAY


def test_a_category_that_does_not_learn_has_the_ttl_of_the_pack() -> None:
    fixed = LearnedFreshness(pack(ttl=7 * DAY, learn_ttl=False))
    for _ in range(50):
        fixed.observe("default", DAY, True, Volatility.FAST)
    assert fixed.ttl(request(FAST), "default") == 7 * DAY
    assert {row.ttl for row in fixed.outlook("default")} == {7 * DAY}


@pytest.mark.parametrize("kind", [FixedFreshness, LearnedFreshness])
def test_a_caller_only_shortens(kind: Any) -> None:
    fresh = kind(pack(ttl=7 * DAY))
    assert fresh.ttl(request(STAYS, 60.0), "default") == 60.0
    assert fresh.ttl(request(STAYS, 70 * DAY), "default") == 7 * DAY
    assert fresh.ttl(request(STAYS, 0.0), "default") == 0.0


def test_fixed_lives_learn_nothing() -> None:
    fresh = FixedFreshness(pack(ttl=7 * DAY))
    fresh.observe("default", DAY, True, Volatility.FAST)
    assert fresh.state() == {}
    fresh.restore({})
    assert fresh.ttl(request(FAST), "default") == 7 * DAY


def test_a_category_of_no_life_stores_nothing() -> None:
    fresh = LearnedFreshness(pack(ttl=0.0))
    assert fresh.ttl(request(STAYS), "default") == 0.0
    assert fresh.outlook("default") == []


def test_an_unknown_category_is_the_default_one_but_learns_for_itself() -> None:
    fresh = LearnedFreshness(pack(ttl=7 * DAY))
    for _ in range(30):
        fresh.observe("elsewhere", 7 * DAY, True)
    assert fresh.ttl(request(SLOW), "elsewhere") < DAY
    assert fresh.ttl(request(SLOW), "default") == pytest.approx(7 * DAY)


def test_a_second_worker_that_folds_the_same_observations_agrees() -> None:
    rng = random.Random(5)
    rows = [(rng.uniform(60, 9 * DAY), rng.random() < 0.2, rng.choice(list(Volatility))) for _ in range(200)]
    one, two = LearnedFreshness(pack()), LearnedFreshness(pack())
    for row in rows[:120]:
        one.observe("default", *row)
    two.restore(one.state())
    for row in rows[120:]:
        one.observe("default", *row)
        two.observe("default", *row)
    assert one.outlook("default") == two.outlook("default")


def test_operators_see_what_was_observed() -> None:
    fresh = LearnedFreshness(pack(ttl=7 * DAY))
    fresh.observe("default", DAY, True, Volatility.FAST)
    fresh.observe("default", DAY, False, Volatility.FAST)
    rows = {row.kind: row for row in fresh.outlook("default")}
    assert rows[Volatility.FAST].observations == pytest.approx(2, rel=0.01)
    assert rows[Volatility.FAST].differing == pytest.approx(1, rel=0.01)
    assert rows[Volatility.RELATIVE].ttl == 0
    assert rows[Volatility.NEVER].ttl == 7 * DAY


@given(
    st.lists(st.tuples(st.floats(0, 1e9), st.booleans(), st.sampled_from(list(Volatility))), max_size=30),
    st.sampled_from([STAYS, SLOW, FAST, LIVE]),
    st.none() | st.floats(0, 1e9),
    st.booleans(),
)
@settings(max_examples=60, deadline=None)
def test_no_life_exceeds_what_pack_and_caller_allow(
    rows: list[tuple[float, bool, Volatility]],
    text: str,
    asked: float | None,
    live: bool,
) -> None:
    fresh = LearnedFreshness(pack(ttl=7 * DAY, live=live))
    for row in rows:
        fresh.observe("default", *row)
    ttl = fresh.ttl(request(text, asked), "default")
    assert 0 <= ttl <= min(7 * DAY, 7 * DAY if asked is None else asked)
