"""How long answers live in a running cache: what is learned from asking again, and what is served beyond its time."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from semcache import AsyncSemanticCache
from semcache.learning import label_log
from semcache.matching import strategies
from semcache.retention.freshness import LearnedFreshness
from semcache.types import Outcome, Serve, Why
from semcache.types.evidence import Comparison, LabelSource
from tests.clock import Clock
from tests.learned import Pupil

DAY = 86_400.0
PACK = """
name: test
defaults:
  wording: off
  threshold: 0.8
  audit: 0.0
  ttl: 30d
"""
STALE = PACK + "  revalidate: 1h\n"
ASKED = "How do I reset the password of the router?"
AGAIN = "How do I reset the password of the router please?"


class Unhurried:
    """A judge that is not instant."""

    name = "unhurried"
    instant = False

    async def agree(self, comparison: Comparison) -> bool | None:
        return comparison.cached[:4] == comparison.fresh[:4]


class Quiet(Pupil):
    """A strategy that audits nothing."""

    def judge(self, *args: Any, **more: Any) -> Any:
        return replace(super().judge(*args, **more), audit=0.0)


@pytest.fixture(autouse=True)
def pupils(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategies, "STRATEGIES", dict.fromkeys(("static", "certified"), Quiet))


@asynccontextmanager
async def opened(folder: Path, clock: Clock, pack: str = PACK, judge: Any = "exact") -> AsyncIterator[Any]:
    file = folder / "pack.yaml"
    file.write_text(pack)
    cache = await AsyncSemanticCache.open(
        str(folder / "data"), policies=str(file), judge=judge, embedder="hashing", seed=1, clock=clock
    )
    async with cache:
        yield cache


async def asked(cache: AsyncSemanticCache, answer: str, prompt: str = ASKED) -> None:
    """Ask past the cache, and keep what is answered."""
    found = await cache.lookup(prompt, cache={"no-cache": True})
    assert found.answer is None
    await cache.record(found, answer)
    await cache.settle()


def observed(cache: AsyncSemanticCache) -> tuple[float, float]:
    """How many answers were asked for again, and how many differed, fading a little."""
    freshness = cache.components.freshness
    assert isinstance(freshness, LearnedFreshness)
    rows = freshness.outlook("default")
    return round(sum(row.observations for row in rows)), round(sum(row.differing for row in rows))


@pytest.mark.parametrize("judge", ["exact", Unhurried()])
async def test_answers_that_change_shorten_the_lives_of_others(tmp_path: Path, judge: Any) -> None:
    clock = Clock()
    async with opened(tmp_path, clock, judge=judge) as cache:
        for number in range(6):
            await asked(cache, f"{number:04d} is the code.")
            clock.now += 7 * DAY
        assert observed(cache) == (5, 5)
        assert all(label.source is not LabelSource.REASKED for label in taught(cache))
        await asked(cache, "Lima", "What is the capital of Peru?")
        [entry] = [card for card in cache.registry._by_id.values() if card.text.endswith("Peru?")]
        assert entry.expires - entry.created < 15 * DAY


async def test_answers_that_stay_keep_their_class_and_their_lives(tmp_path: Path) -> None:
    clock = Clock()
    async with opened(tmp_path, clock) as cache:
        await asked(cache, "Hold the button.")
        digest = (await cache.lookup(ASKED)).lookup.key.exact
        first = cache.registry.exact(digest)
        clock.now += 7 * DAY
        await asked(cache, "Hold the button.")
        second = cache.registry.exact(digest)
        assert observed(cache) == (1, 0)
        assert first.id != second.id
        assert second.answer_class == first.id
        assert await cache.components.store.rejections() == []


async def test_the_life_of_an_answer_that_ran_out_teaches_as_well(tmp_path: Path) -> None:
    clock = Clock()
    async with opened(tmp_path, clock) as cache:
        await asked(cache, "Hold the button.")
        clock.now += 31 * DAY
        found = await cache.lookup(ASKED)
        assert (found.answer, found.why) == (None, Why.EXPIRED)
        await cache.record(found, "Unplug it.")
        await cache.settle()
        assert observed(cache) == (1, 1)


async def test_two_workers_learn_lives_alike_and_a_restart_forgets_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_log, "SAVE_EVERY", 2)
    clock = Clock()
    async with opened(tmp_path, clock) as one, opened(tmp_path, clock) as two:
        for number in range(3):
            for cache in (one, two):
                await asked(cache, f"Answer {number}")
                await one.catch_up()
                await two.catch_up()
                clock.now += DAY
        states = [cache.components.freshness.state() for cache in (one, two)]
        assert states[0] == states[1] != {}
        assert observed(one) == (5, 2)
    async with opened(tmp_path, clock) as again:
        assert again.components.freshness.state() == states[0]


async def test_a_state_of_lives_that_cannot_be_taken_up_is_learned_anew(tmp_path: Path) -> None:
    clock = Clock()
    async with opened(tmp_path, clock) as cache:
        for answer in ("One.", "Two."):
            await asked(cache, answer)
            clock.now += DAY
        state = cache.components.freshness.state()
        await cache.components.store.learn("freshness", 10**6, b'{"promises":{},"state":{"version":0}}')
    async with opened(tmp_path, clock) as again:
        assert again.components.freshness.state() == state


async def test_the_embedding_of_a_text_about_today_lives_as_long_as_any(tmp_path: Path) -> None:
    from semcache.types import Assembled, Endpoint, Lookup, Request, Store

    clock = Clock()
    async with opened(tmp_path, clock) as cache:
        text = "How many days until the olympics?"
        request = Request(Endpoint.EMBEDDINGS, "m", {"input": text}, text, b"")
        lookup: Lookup = await cache.consult(request, "r")
        admitted = cache.admission(lookup, Assembled(b"{}", "", complete=True))
        assert admitted == Store(30 * DAY)


@pytest.mark.parametrize("prompt", [ASKED, AGAIN])
async def test_a_stale_answer_is_served_until_its_grace_is_over(tmp_path: Path, prompt: str) -> None:
    clock = Clock()
    async with opened(tmp_path, clock, STALE) as cache:
        await asked(cache, "Hold the button.")
        [card] = cache.registry._by_id.values()
    # The grace holds across a restart.
    clock.now = card.expires
    async with opened(tmp_path, clock, STALE) as cache:
        stale = (await cache.lookup(prompt)).lookup.decision
        assert isinstance(stale, Serve)
        assert stale.stale
        assert (stale.how is Outcome.EXACT) == (prompt == ASKED)
        assert (await cache.lookup(prompt, cache={"max-age": 60})).why is Why.MAX_AGE
        clock.now += 3600
        assert (await cache.lookup(prompt)).why is Why.EXPIRED


def taught(cache: AsyncSemanticCache) -> list[Any]:
    made = cache.components.strategy
    assert isinstance(made, strategies.ByCategory)
    return [label for one in made._made.values() for label in one.labels]  # type: ignore[attr-defined]
