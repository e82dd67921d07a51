"""A category whose lookups by meaning do not pay is left to exact hits, and found out again when that changes."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from semcache import AsyncSemanticCache
from semcache.config.packs import Category, Pack
from semcache.matching.break_even import Profitability
from semcache.matching.profitability import ProfitabilityMonitor
from semcache.storage.accounting import recorded
from semcache.storage.prices import Prices
from semcache.types import (
    Assembled,
    CacheKey,
    Candidate,
    Card,
    Endpoint,
    Forward,
    Lookup,
    Outcome,
    Request,
    Scope,
    Serve,
    Store,
    Timings,
    Usage,
    Why,
)
from semcache.types.evidence import Label, LabelSource
from tests.components import replace_profitability

PACK = Pack(
    name="test",
    description="",
    share="tenant",
    target=0.01,
    min_margin=0.0,
    categories={"default": Category(name="default"), "dear": Category(name="dear", wrong_cost=5.0)},
)
CARD = Card(7, b"e", b"s", "dear", "a prompt", 0.0, 1e9)
MISS = Forward(Why.BELOW_THRESHOLD, nearest=Candidate(CARD, 0.5))
HIT = Serve(CARD, Outcome.SEMANTIC, 0.9, 0.9)
LOOKUP = Lookup(
    "r",
    Request(Endpoint.CHAT, "gpt-4o", {}, "a prompt", b""),
    CacheKey(Scope(), b"s", b"e", "a prompt", b"c"),
    "dear",
    MISS,
    b"s",
    np.ones(1, np.float32),
    Timings(embed=0.01),
)
ANSWER = Assembled(b"{}", "Lima", complete=True, usage=Usage(100, 100))
AUDIT = Label(0.0, "dear", "default", 7, 7, b"e", 0.9, (), 0.9, True, LabelSource.AUDIT, served=True)


def told(gate: ProfitabilityMonitor, lookup: Lookup, answer: Assembled | None = ANSWER, times: int = 1) -> None:
    for _ in range(times):
        row = recorded(lookup, Prices(), at=0.0, status=200, seconds=0.0, answer=answer)
        gate.note(lookup, row)


def test_a_request_whose_outcome_is_told_again_counts_once() -> None:
    gate = ProfitabilityMonitor(PACK)
    told(gate, LOOKUP, times=3)
    told(gate, replace(LOOKUP, request_id="other", decision=HIT), answer=None)
    standing = gate.standing("dear")
    assert (standing.lookups, standing.hits) == (2, 1)


@pytest.mark.parametrize(
    "changes",
    [
        {"vector": None},
        {"decision": Forward(Why.NO_CACHE, Outcome.BYPASS)},
        {"decision": Forward(Why.UNPROFITABLE)},
        {"decision": Serve(CARD, Outcome.EXACT, 1.0, 1.0)},
    ],
)
def test_what_was_not_looked_up_by_meaning_is_no_evidence(changes: dict[str, object]) -> None:
    gate = ProfitabilityMonitor(PACK)
    told(gate, replace(LOOKUP, **changes))  # type: ignore[arg-type]
    assert gate.standing("dear").lookups == 0


def test_a_category_whose_errors_cost_more_than_its_hits_save_is_closed_but_for_probes() -> None:
    gate, rng = ProfitabilityMonitor(PACK), random.Random(1)
    for number in range(1000):
        decision = HIT if number % 2 else MISS
        told(gate, replace(LOOKUP, request_id=str(number), decision=decision))
        if number % 20 == 1:
            gate.judged(replace(AUDIT, correct=number % 100 != 1))
    assert not gate.open("dear", lambda: 0.5)
    assert gate.open("dear", lambda: 0.0)
    assert 0 < sum(gate.open("dear", rng.random) for _ in range(1000)) < 60
    assert gate.open("default", lambda: 0.5)
    assert gate.balances()["dear"].open is False


def test_what_one_tenant_asks_closes_the_category_for_no_other() -> None:
    gate = ProfitabilityMonitor(PACK)
    scope = replace(LOOKUP.request.scope, tenant="flood")
    for number in range(1000):
        request = replace(LOOKUP.request, scope=scope)
        told(gate, replace(LOOKUP, request=request, request_id=str(number), decision=HIT if number % 2 else MISS))
        if number % 20 == 1:
            gate.judged(replace(AUDIT, tenant="flood", correct=False))
    assert not gate.open("dear", lambda: 0.5, "flood")
    assert gate.open("dear", lambda: 0.5, "honest")


def test_as_long_as_no_cost_is_known_every_category_stays_open() -> None:
    gate = ProfitabilityMonitor(PACK)
    for number in range(1000):
        told(gate, replace(LOOKUP, request_id=str(number)), answer=replace(ANSWER, usage=Usage()))
    assert gate.open("dear", lambda: 0.5)
    assert gate.standing("dear").outlook is Profitability.UNCLEAR


class Closed(ProfitabilityMonitor):
    probes = 1.0

    def open(self, category: str, draw: object, tenant: str = "") -> bool:
        return self.probes == 0.0


@pytest.fixture
async def cache(tmp_path: Path) -> AsyncIterator[AsyncSemanticCache]:
    file = tmp_path / "pack.yaml"
    file.write_text("name: test\ndefaults: {strategy: static, threshold: 0.8, wording: off}\n")
    async with await AsyncSemanticCache.open(str(tmp_path), policies=str(file), embedder="hashing", seed=1) as opened:
        yield opened


async def test_a_closed_category_serves_repeats_and_keeps_what_its_probes_may_find(cache: AsyncSemanticCache) -> None:
    asked, again = "How do I reset the password of the router?", "How do I reset the password of the router please?"
    gate = replace_profitability(cache, Closed(cache.pack))
    found = await cache.lookup(asked)
    assert (found.answer, found.why) == (None, Why.UNPROFITABLE)
    assert isinstance(await cache.record(found, "Hold the button."), Store)
    assert (await cache.lookup(asked)).outcome is Outcome.EXACT
    assert (await cache.lookup(again)).why is Why.UNPROFITABLE
    gate.probes = 0.0
    assert (await cache.lookup(again)).answer == "Hold the button."


async def test_stats_tell_whether_a_category_pays(cache: AsyncSemanticCache) -> None:
    found = await cache.lookup("How do I reset the password of the router?", model="gpt-4o")
    await cache.record(found, "Hold the button.")
    await cache.lookup("How do I reset the password of the router please?", model="gpt-4o")
    balance = cache.components.profitability.standing("default")
    assert (balance.lookups, balance.hits, balance.open) == (2, 1, True)
    row = (await cache.stats())["categories"]["default"]
    assert (row["outlook"], row["break_even"]) == (balance.outlook.value, balance.break_even)
