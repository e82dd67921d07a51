"""Conformance of `OutcomeLog`: one row for every outcome."""

from __future__ import annotations

from semcache.types import Outcome, Why
from tests.conformance.stores import every
from tests.storage.stores.values import NOW, digest, event


@every
async def test_served_keys_are_the_distinct_hits_newest_first(store):
    a, b, c = digest("a"), digest("b"), digest("c")
    await store.record([event(1, exact=a, at=NOW), event(1, exact=b, at=NOW + 1), event(2, exact=c, at=NOW + 2)])
    await store.record([event(1, exact=a, at=NOW + 3), event(1, Outcome.EXACT, exact=c), event(1, exact=b"")])
    assert await store.served_keys(1) == [a, b, c]
    assert await store.served_keys(3) == []


@every
async def test_served_keys_stop_at_a_thousand(store):
    keys = [digest(str(number)) for number in range(1_010)]
    await store.record([event(1, exact=key, at=NOW + number) for number, key in enumerate(keys)])
    assert await store.served_keys(1) == keys[:9:-1]


@every
async def test_the_tally_adds_up_and_survives_trimming(store):
    await store.record([])
    await store.record(
        [event(1), event(1, count=3, at=NOW - 10), event(None, Outcome.MISS, why=Why.COLD, stored="quota")]
    )
    await store.record([event(1, category="code\x00")])
    common = {
        "saved_prompt_tokens": 1,
        "saved_completion_tokens": 2,
        "saved_cost": 0.5,
        "spent_cost": 0.25,
        "seconds": 2.0,
        "spent_prompt_tokens": 3,
        "spent_completion_tokens": 4,
        "overhead_cost": 0.0,
        "calls": 1,
    }
    twice = {name: value * 2 for name, value in common.items()}
    expected = [
        {"category": "code\x00", "outcome": "semantic", "requests": 1} | common,
        {"category": "default", "outcome": "miss", "requests": 1} | common,
        {"category": "default", "outcome": "semantic", "requests": 4} | twice,
    ]

    async def tally():
        return sorted(await store.tally(), key=lambda row: (row["category"], row["outcome"]))

    key = [(row["category"], row["outcome"]) for row in expected]
    assert key == sorted(key)
    assert await tally() == expected
    assert await store.trim_events(before=NOW) == 1
    assert await store.trim_events(keep_rows=2) == 1
    assert await tally() == expected
    assert await store.trim_events(keep_rows=0) == 2
    assert await store.trim_events(keep_rows=0) == 0
    assert await store.trim_events() == 0
    assert await tally() == expected
    assert await store.served_keys(1) == []
