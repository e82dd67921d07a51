"""Equal wordings through the library: what is served without an embedding, to whom, and what is learned from it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from semcache import AsyncSemanticCache
from semcache.errors import EmbedError
from semcache.request.wording import canonical
from semcache.storage.wording_index import WordingIndex
from semcache.types import Card, Outcome, Selector, Serve, Why

KEPT, ASKED = "How do I cancel my subscription?", "how do i cancel my  subscription"


class Clock:
    def __init__(self) -> None:
        self.now = 1_700_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def cache(tmp_path: Path, clock: Clock) -> AsyncIterator[AsyncSemanticCache]:
    async with await AsyncSemanticCache.open(str(tmp_path), seed=1, clock=clock) as opened:
        yield opened


async def keep(cache: AsyncSemanticCache, prompt: Any = KEPT, answer: str = "Press Cancel.", **params: Any) -> None:
    await cache.record(await cache.lookup(prompt, **params), answer)


async def test_an_equal_wording_is_served_and_says_so(cache: AsyncSemanticCache) -> None:
    await keep(cache)
    found = await cache.lookup(ASKED)
    assert (found.answer, found.outcome, found.why, found.score) == (
        "Press Cancel.",
        Outcome.SEMANTIC,
        Why.WORDING,
        1.0,
    )
    assert found.p_correct is not None
    assert 0.99 < found.p_correct < 1.0


async def test_nothing_is_embedded_for_it(cache: AsyncSemanticCache, monkeypatch: pytest.MonkeyPatch) -> None:
    await keep(cache)

    async def broken(texts: Any) -> Any:
        raise EmbedError("down")

    monkeypatch.setattr(cache.components.embedder, "embed", broken)
    assert (await cache.lookup(ASKED)).answer == "Press Cancel."
    assert (await cache.lookup("What does it cost to cancel?")).why is Why.FAULT


@pytest.mark.parametrize(
    "other", [{"tenant": "b"}, {"namespace": "n"}, {"model": "other"}, {"temperature": 0.5}, {"max_tokens": 3}]
)
async def test_another_scope_or_signature_shares_nothing(cache: AsyncSemanticCache, other: dict[str, Any]) -> None:
    await keep(cache)
    assert (await cache.lookup(ASKED, **other)).answer is None


async def test_a_guards_veto_of_the_originals_is_heeded(
    cache: AsyncSemanticCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    await keep(cache)
    from semcache.cache import wording_lookup
    from semcache.types import Conflict

    monkeypatch.setattr(wording_lookup.accounted, "conflicts", lambda *_: (Conflict("form", "a/b"),))
    assert (await cache.lookup(ASKED)).why is not Why.WORDING


async def test_a_pack_may_switch_it_off(tmp_path: Path) -> None:
    pack = tmp_path / "pack.yaml"
    pack.write_text("name: plain\ndefaults: {wording: off}\ncategories: {default: {}}\n")
    async with await AsyncSemanticCache.open(str(tmp_path), policies=str(pack), embedder="hashing") as cache:
        await keep(cache)
        assert (await cache.lookup(ASKED)).why is not Why.WORDING


async def test_it_is_found_after_a_restart_and_no_more_once_deleted(tmp_path: Path, clock: Clock) -> None:
    async with await AsyncSemanticCache.open(str(tmp_path), seed=1, clock=clock) as cache:
        await keep(cache)
    async with await AsyncSemanticCache.open(str(tmp_path), seed=1, clock=clock) as cache:
        await cache.catch_up()
        assert (await cache.lookup(ASKED)).why is Why.WORDING
        await cache.invalidate(Selector(everything=True))
        assert (await cache.lookup(ASKED)).answer is None


async def test_other_workers_entries_are_found(tmp_path: Path, clock: Clock) -> None:
    async with (
        await AsyncSemanticCache.open(str(tmp_path), clock=clock) as one,
        await AsyncSemanticCache.open(str(tmp_path), clock=clock) as two,
    ):
        await keep(one)
        await two.catch_up()
        assert (await two.lookup(ASKED)).why is Why.WORDING


async def test_an_answer_dies_on_time_for_equal_wordings_too(cache: AsyncSemanticCache, clock: Clock) -> None:
    await keep(cache)
    clock.now += 10 * 365 * 86400.0
    assert (await cache.lookup(ASKED)).answer is None


async def test_a_wrong_answer_is_never_served_again_to_that_wording(cache: AsyncSemanticCache) -> None:
    await keep(cache)
    served = await cache.lookup(ASKED)
    assert await cache.feedback(served.entry_id, correct=False)
    assert (await cache.lookup(ASKED)).answer is None
    assert (await cache.lookup(KEPT)).answer == "Press Cancel."


async def test_an_audit_is_learned_by_its_kind_alone(cache: AsyncSemanticCache) -> None:
    before = _audits(cache)
    audited = 0
    for number in range(60):
        prompt = f"How do I change the colour of wall number {number}?"
        await keep(cache, prompt, f"Paint wall {number}.")
        found = await cache.lookup(prompt.lower())
        assert found.why is Why.WORDING
        if found.audit:
            audited += 1
            await cache.record(found, f"Paint wall {number}.")
    await cache.settle()
    strata = [one for strata in (await cache.stats())["wording"].values() for one in strata]
    assert audited > 0
    assert sum(one.audits for one in strata) == audited
    assert _audits(cache) == before


async def test_a_fresh_answer_from_an_audit_can_be_found_by_meaning(cache: AsyncSemanticCache) -> None:
    await keep(cache)
    served = await cache.lookup(ASKED)
    assert isinstance(served.lookup.decision, Serve)
    await cache.record(served, "Press Cancel twice.")
    card = cache.registry.exact(served.lookup.key.exact)
    assert card is not None
    assert card.shelf != b""


def _audits(cache: AsyncSemanticCache) -> int:
    return sum(cache.components.strategy.standing(name).audits for name in cache.pack.categories)


async def test_requests_are_let_through_while_the_wordings_of_stored_entries_are_read(tmp_path: Path) -> None:
    async with await AsyncSemanticCache.open(str(tmp_path), seed=1) as one:
        for number in range(120):
            await keep(one, f"How do I reset the {number}th of all our office printers?")
    async with await AsyncSemanticCache.open(str(tmp_path), seed=1) as two:
        live, done = two.components.live, asyncio.Event()
        left = [live.read_wordings(0)]

        async def others() -> None:
            while not done.is_set():
                left.append(live.read_wordings(0))
                await asyncio.sleep(0)

        waiting = asyncio.create_task(others())
        await two.catch_up()
        done.set()
        await waiting
        assert left[0] > 60
        assert max(before - after for before, after in pairwise([*left, live.read_wordings(0)])) < 60
        assert live.read_wordings(0) == 0
        found = await two.lookup("how do i reset the 7th of all our office printers")
        assert found.why is Why.WORDING


def test_at_least_one_wording_is_read_and_no_more_than_asked_for() -> None:
    index = WordingIndex()
    for number in range(5):
        index.add_later(Card(number, b"", b"p" * 16, "", "How do I cancel my order?" * 4, 0.0, 1e12))
    assert index.work(1, lambda _: True) == 4
    assert index.work(10_000, lambda _: True) == 0
    assert sorted(index.find([b"p" * 16], canonical("How do I cancel my order?" * 4).text)) == [0, 1, 2, 3, 4]
