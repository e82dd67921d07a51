"""An entry that an operator took from meaning: it answers its own request alone, whatever happens to the process."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from semcache import AsyncSemanticCache
from semcache.cache.inspection import Inspection
from semcache.cache.operating import undo_in
from semcache.types import public_id
from tests.clock import Clock

OWN, NEAR = "How do I reset my password?", "What is the way to reset a forgotten password?"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pack(tmp_path: Path) -> str:
    path = tmp_path / "pack.yaml"
    path.write_text("{name: p, defaults: {strategy: static, threshold: 0.6, wording: off, guards: [], audit: 0.0}}")
    return str(path)


async def opened(folder: Path, pack: str, clock: Clock) -> AsyncSemanticCache:
    return await AsyncSemanticCache.open(str(folder / "cache"), policies=pack, seed=1, clock=clock)


async def marked(cache: AsyncSemanticCache) -> str | None:
    """Have the only entry served exactly only; return the name to undo it by."""
    [card] = cache.registry.cards()
    return await Inspection(cache.components).serve_exactly_only(public_id(card.id), who="me")


async def test_it_is_not_found_by_meaning_through_an_index_of_before(tmp_path: Path, pack: str, clock: Clock) -> None:
    async with await opened(tmp_path, pack, clock) as cache:
        await cache.record(await cache.lookup(OWN), "X")
        assert (await cache.lookup(NEAR)).answer == "X"
    index, before = tmp_path / "cache" / "index", tmp_path / "before"
    shutil.copytree(index, before)
    async with await opened(tmp_path, pack, clock) as cache:
        assert await marked(cache)
    # As a process that was killed leaves it.
    shutil.rmtree(index)
    before.rename(index)
    async with await opened(tmp_path, pack, clock) as cache:
        assert (await cache.lookup(NEAR)).answer is None
        assert (await cache.lookup(OWN)).answer == "X"
        assert sum((await cache.components.live.index.partitions()).values()) == 0


async def test_who_reads_all_entries_anew_loses_the_vector_too(tmp_path: Path, pack: str, clock: Clock) -> None:
    async with await opened(tmp_path, pack, clock) as one, await opened(tmp_path, pack, clock) as other:
        await one.record(await one.lookup(OWN), "X")
        await other.catch_up()
        assert (await other.lookup(NEAR)).answer == "X"
        batch = await marked(one)
        assert batch is not None
        for answer in (None, "X"):
            maintenance = other.components.maintenance
            async with maintenance._applying:  # beside what it does by itself, as the feed has it
                await maintenance._read_anew("as asked")
            assert (await other.lookup(NEAR)).answer == answer
            assert (await other.lookup(OWN)).answer == "X"
            await undo_in(one.components.store, batch, now=clock(), who="me")


async def test_an_answer_that_renews_it_is_served_exactly_only_too(tmp_path: Path, pack: str, clock: Clock) -> None:
    async with await opened(tmp_path, pack, clock) as cache:
        await cache.record(await cache.lookup(OWN), "X")
        batch = await marked(cache)
        assert batch is not None
        clock.now += 30 * 86400.0
        await cache.record(await cache.lookup(OWN), "Y")
        for _ in range(2):
            assert (await cache.lookup(NEAR)).answer is None
            assert (await cache.lookup(OWN)).answer == "Y"
            await cache.catch_up()
    async with await opened(tmp_path, pack, clock) as cache:
        assert (await cache.lookup(NEAR)).answer is None
        assert (await cache.lookup(OWN)).answer == "Y"
