"""Every token is paid for once, and only the requests that did not pay have saved anything."""

from __future__ import annotations

import pytest

from semcache import ledger, policy
from semcache.thresholds import StaticThreshold
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

PRICES = ledger.Prices({"m*": (1.0, 2.0)})
KEY = CacheKey(Scope(), b"sig", b"exact", "hi", b"c")
REQUEST = Request(Endpoint.CHAT, "m1", {}, "hi", b"{}")
CARD = Card(5, b"exact", b"", "default", "hi", 0.0, 9.0)
ENTRY = Entry(5, KEY, Endpoint.CHAT, "m1", "default", b"", "", b"{}", 0.0, 9.0, Usage(10, 20))
ANSWER = Assembled(b"{}", "hi", complete=True, usage=Usage(100, 200))


def row(decision: Serve | Forward, **facts: object) -> ledger.Recorded:
    lookup = Lookup("r", REQUEST, KEY, "default", decision)
    return ledger.recorded(lookup, PRICES, at=1.0, status=200, seconds=0.1, **facts)  # type: ignore[arg-type]


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
    prices = ledger.Prices({"gpt-4o-mini*": (1.0, 1.0), "gpt-4o*": (2.0, 2.0)})
    assert prices.of("openai/gpt-4o-mini-2024") == (1.0, 1.0)
    assert prices.of("gpt-4o") == (2.0, 2.0)
    assert prices.of("local") == (0.0, 0.0)


def test_statistics_count_hits_over_what_was_looked_up() -> None:
    pack = policy.load("default")
    sums = {
        "saved_prompt_tokens": 1,
        "saved_completion_tokens": 2,
        "saved_cost": 0.5,
        "spent_cost": 0.25,
        "seconds": 1.0,
    }
    tally = [
        {"category": "support", "outcome": Outcome.EXACT, "requests": 2, **sums},
        {"category": "support", "outcome": Outcome.MISS, "requests": 2, **sums},
        {"category": "gone", "outcome": Outcome.BYPASS, "requests": 6, **sums},
    ]
    stats = ledger.statistics(pack, tally, {"support": 7}, StaticThreshold(pack))
    assert stats["total"]["requests"] == 10
    assert stats["total"]["hit_rate"] == 0.5
    assert stats["total"]["bypassed"] == 6
    assert (
        stats["categories"]["support"] | {"entries": 7, "exact": 2, "misses": 2, "saved_tokens": 6}
        == stats["categories"]["support"]
    )
    assert stats["categories"]["gone"]["hit_rate"] is None
