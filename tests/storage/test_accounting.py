"""Every token is paid for once, and only the requests that did not pay have saved anything."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.config import packs
from semcache.matching.break_even import Balance, Profitability
from semcache.matching.strategies import ByCategory, StaticThreshold
from semcache.storage import accounting
from semcache.storage.prices import Prices
from semcache.types import (
    Assembled,
    CacheKey,
    Card,
    Endpoint,
    Entry,
    Forward,
    Lookup,
    Outcome,
    Request,
    Scope,
    Serve,
    Usage,
    Why,
)
from semcache.types.evidence import Interval, Standing, State

PRICES = Prices({"m*": (1.0, 2.0)})
KEY = CacheKey(Scope(), b"sig", b"exact", "hi", b"c")
REQUEST = Request(Endpoint.CHAT, "m1", {}, "hi", b"{}")
CARD = Card(5, b"exact", b"", "default", "hi", 0.0, 9.0)
ENTRY = Entry(5, KEY, Endpoint.CHAT, "m1", "default", b"", "", b"{}", 0.0, 9.0, Usage(10, 20))
ANSWER = Assembled(b"{}", "hi", complete=True, usage=Usage(100, 200))


SUMS = {"saved_prompt_tokens": 1, "saved_completion_tokens": 2, "saved_cost": 0.5, "spent_cost": 0.25, "seconds": 1.0}


class Audited(StaticThreshold):
    """Stands as it is told."""

    def __init__(self, pack: packs.Pack, standing: Standing) -> None:
        super().__init__(pack)
        self._standing = standing

    def standing(self, category: str) -> Standing:
        return self._standing


def row(decision: Serve | Forward, **facts: object) -> accounting.Recorded:
    lookup = Lookup("r", REQUEST, KEY, "default", decision)
    return accounting.recorded(lookup, PRICES, at=1.0, status=200, seconds=0.1, **facts)  # type: ignore[arg-type]


def test_a_hit_saves_what_its_entry_cost_and_spends_nothing() -> None:
    hit = row(Serve(CARD, Outcome.SEMANTIC, 0.95, 0.9), entry=ENTRY)
    assert (hit.saved, hit.spent) == (Usage(10, 20), Usage())
    assert hit.saved_cost == pytest.approx(50e-6)
    assert hit.spent_cost == 0.0
    assert (hit.outcome, hit.why, hit.entry_id) == (Outcome.SEMANTIC, Why.SEMANTIC, 5)


def test_a_miss_spends_and_saves_nothing() -> None:
    miss = row(Forward(Why.COLD), answer=ANSWER, stored="stored")
    assert (miss.saved, miss.spent) == (Usage(), Usage(100, 200))
    assert miss.spent_cost == pytest.approx(500e-6)


def test_a_follower_saves_what_its_leader_pays() -> None:
    follower = row(Forward(Why.COLD), answer=ANSWER, collapsed=True)
    assert (follower.saved, follower.spent) == (Usage(100, 200), Usage())


def test_prices_go_by_the_first_pattern_and_ignore_the_provider() -> None:
    prices = Prices({"gpt-4o-mini*": (1.0, 1.0), "gpt-4o*": (2.0, 2.0)})
    assert prices.of("openai/gpt-4o-mini-2024") == (1.0, 1.0)
    assert prices.of("gpt-4o") == (2.0, 2.0)
    assert prices.of("local") == (0.0, 0.0)


def test_a_price_may_name_the_provider() -> None:
    prices = Prices({"cheap/llama*": (1.0, 1.0), "azure/*": (3.0, 3.0), "llama*": (2.0, 2.0)})
    assert prices.of("cheap/llama-3") == (1.0, 1.0)
    assert prices.of("azure/eu/llama-3") == (3.0, 3.0)
    assert prices.of("dear/llama-3") == prices.of("llama-3") == (2.0, 2.0)


def test_statistics_count_hits_over_what_was_looked_up() -> None:
    pack = packs.load("default")
    tally = [
        {"category": "support", "outcome": Outcome.EXACT, "requests": 2, **SUMS},
        {"category": "support", "outcome": Outcome.MISS, "requests": 2, **SUMS},
        {"category": "gone", "outcome": Outcome.BYPASS, "requests": 6, **SUMS},
    ]
    stats = accounting.statistics(pack, tally, {"support": 7}, StaticThreshold(pack))
    assert stats["total"]["requests"] == 10
    assert stats["total"]["hit_rate"] == 0.5
    assert stats["total"]["bypassed"] == 6
    assert (
        stats["categories"]["support"] | {"entries": 7, "exact": 2, "misses": 2, "saved_tokens": 6}
        == stats["categories"]["support"]
    )
    assert stats["categories"]["gone"]["hit_rate"] is None


def test_whoever_asks_most_is_named_first_and_hours_come_in_their_order() -> None:
    asked = {"quiet": 1, "noisy": 900, "other": 5}
    whole = ("prompt_tokens", "completion_tokens", "calls", "overhead_cost")
    sums = {"category": "support", "model": "m1", "outcome": Outcome.MISS, **SUMS, **dict.fromkeys(whole, 0)}
    groups = [
        {**sums, "tenant": tenant, "requests": count, "hour": hour}
        for hour, (tenant, count) in enumerate(asked.items())
    ]
    assert [one["tenant"] for one in accounting.usage_rows(groups, "tenant")] == ["noisy", "other", "quiet", "total"]
    assert [one["requests"] for one in accounting.usage_rows(groups, "hour")] == [1, 900, 5, 906]


def test_the_error_per_request_counts_the_requests_that_were_not_served() -> None:
    pack = packs.load("default")
    tally = [
        {"category": "support", "outcome": Outcome.SEMANTIC, "requests": 10, **SUMS},
        {"category": "support", "outcome": Outcome.MISS, "requests": 30, **SUMS},
        {"category": "support", "outcome": Outcome.BYPASS, "requests": 1000, **SUMS},
    ]
    standing = Standing(
        "certified", State.CERTIFIED, 0.01, 0.5, 0.03, 0.02, 0.95, 900, 500, 2, 0.01, Interval(0.004, 0.001, 0.012)
    )
    support = accounting.statistics(pack, tally, {}, Audited(pack, standing))["categories"]["support"]
    assert support["error_per_hit"] == {"estimate": 0.004, "low": 0.001, "high": 0.012}
    assert support["error_per_request"] == {"estimate": 0.001, "low": 0.00025, "high": 0.003}
    assert (support["state"], support["certified"], support["audits"], support["wrong"]) == ("certified", 0.02, 500, 2)
    assert (support["target"], support["contract"]) == (0.01, "hit")


def test_audits_without_an_estimate_of_the_strategy_still_show_an_error() -> None:
    pack = packs.load("default")
    standing = Standing("per-category", State.PROVISIONAL, 0.01, 0.9, audits=100, wrong=3)
    stats = accounting.statistics(pack, [], {}, Audited(pack, standing))
    error = stats["categories"]["support"]["error_per_hit"]
    assert error["low"] < error["estimate"] == 0.03 < error["high"]
    # Nothing was asked, so there is no request to err on.
    assert stats["categories"]["support"]["error_per_request"] is None


def test_a_category_that_is_never_served_by_meaning_promises_nothing() -> None:
    pack = packs.load("default")
    stats = accounting.statistics(pack, [], {}, ByCategory(pack))
    live, facts = stats["categories"]["live"], stats["categories"]["facts"]
    assert live["state"] is live["target"] is live["note"] is None
    assert (facts["strategy"], facts["state"], facts["audits"]) == ("certified", "provisional", 0)
    assert "shipped data" in facts["note"]
    assert facts["error_per_hit"] is facts["certified"] is None


def test_each_category_is_held_to_its_own_target() -> None:
    pack = packs.load("default")
    strict = packs.Category(name="strict", target=0.002, contract="request")
    pack = packs.Pack(
        name="p",
        description="",
        share="tenant",
        target=0.05,
        min_margin=0.2,
        categories={"default": pack.of("default"), "strict": strict},
    )
    rows = accounting.statistics(pack, [], {}, StaticThreshold(pack))["categories"]
    assert (rows["strict"]["target"], rows["strict"]["contract"]) == (0.002, "request")
    assert rows["default"]["target"] == 0.05


@pytest.mark.parametrize(("rate", "shown"), [(0.25, 0.25), (float("inf"), None)])
def test_what_a_category_costs_is_shown_and_is_json(rate: float, shown: float | None) -> None:
    pack = packs.load("default")
    balance = Balance(500, 5, Interval(0.01, 0.0, 0.02), rate, -1.0, Profitability.LOSES, open=False)
    rows = accounting.statistics(pack, [], {}, StaticThreshold(pack), {"facts": balance})["categories"]
    assert (rows["facts"]["break_even"], rows["facts"]["outlook"]) == (shown, "loses")
    assert (rows["math"]["break_even"], rows["math"]["outlook"]) == (None, None)


@given(
    wrong=st.integers(0, 200),
    right=st.integers(0, 5000),
    served=st.integers(0, 10**6),
    missed=st.integers(0, 10**6),
)
def test_errors_lie_within_their_intervals_and_no_request_errs_more_than_a_hit(
    wrong: int, right: int, served: int, missed: int
) -> None:
    pack = packs.load("default")
    tally = [
        {"category": "facts", "outcome": outcome, "requests": count, **SUMS}
        for outcome, count in ((Outcome.SEMANTIC, served), (Outcome.MISS, missed))
    ]
    standing = Standing("per-category", State.PROVISIONAL, 0.01, 0.9, audits=wrong + right, wrong=wrong)
    facts = accounting.statistics(pack, tally, {}, Audited(pack, standing))["categories"]["facts"]
    per_hit, per_request = facts["error_per_hit"], facts["error_per_request"]
    assert (per_hit is None) is (wrong + right == 0)
    assert per_request is None or per_hit is not None
    for error in (per_hit, per_request):
        assert error is None or 0.0 <= error["low"] <= error["estimate"] <= error["high"] <= 1.0
    if per_hit is not None and per_request is not None:
        assert all(per_request[name] <= per_hit[name] for name in per_hit)


def test_what_was_paid_in_full_saves_nothing_and_not_less_than_nothing() -> None:
    """Sums of the same costs in another order differ by a rounding, and people would be shown "-0.0000"."""
    missed = {"outcome": Outcome.MISS, "requests": 1, "saved_cost": -1e-12, "spent_cost": 0.000014}
    saved = [row["saved_usd"] for row in accounting.outcomes([missed]).values()]
    assert [str(value) for value in saved] == ["0.0", "0.0"]
