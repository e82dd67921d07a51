"""A store that takes more of its disk than it may gives up spare rows first, and then what is worth least."""

from __future__ import annotations

import asyncio
import logging
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from semcache.agents.library import AsyncSemanticCache
from semcache.cache import disk_bound
from semcache.cache.opening import open_components
from semcache.cache.opening_choices import Opening
from semcache.types import Entry, Selector
from tests.waiting import until

START = 1_800_000_000.0
PACK = """
name: two
defaults: {eviction: lru, semantic: false, ttl: 30d}
categories:
  small: {quota: 200, rules: {patterns: ["^small"]}}
"""


async def opened(folder: Path, most: int | None) -> AsyncSemanticCache:
    (folder / "pack.yaml").write_text(PACK)
    opening = Opening(
        data=str(folder / "data"), policies=str(folder / "pack.yaml"), embedder="hashing", max_bytes=most,
        clock=lambda: START,
    )  # fmt: skip
    return AsyncSemanticCache(await open_components(opening))


async def fill(cache: AsyncSemanticCache, count: int, kind: str = "large", size: int = 3000) -> None:
    for number in range(count):
        await cache.record(await cache.lookup(f"{kind} question {number}", model="m"), f"{number} ".ljust(size, "."))
    await cache.components.writer.settle()


async def used(cache: AsyncSemanticCache) -> int:
    found: dict[str, Any] = (await cache.stats())["disk"]
    return int(found["bytes"])


async def kept(cache: AsyncSemanticCache) -> list[Entry]:
    return await cache.components.store.select(Selector(everything=True), limit=10_000)


def evicted(cache: AsyncSemanticCache) -> float:
    return cache.meter.registry.get_sample_value("semcache_evictions_total", {"reason": "disk"}) or 0.0


async def test_a_store_is_held_to_its_bound_and_what_was_asked_of_late_stays(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "semcache")
    async with await opened(tmp_path, None) as cache:
        await fill(cache, 300)
        most = int(await used(cache) * 0.8)
        await cache.components.disk.keep(START)
        assert len(await kept(cache)) == 300, "without a bound nothing goes"
    async with await opened(tmp_path, most) as cache:
        first = await cache.lookup("large question 0", model="m")
        assert first.entry_id is not None
        for entry in await kept(cache):
            if entry.key.text.endswith(("7", "8", "9")):
                await cache.lookup(entry.key.text, model="m")
        await cache.components.disk.keep(START)
        left = await kept(cache)
        assert await used(cache) <= most
        assert 0 < evicted(cache) == 300 - len(left) < 150
        assert len(cache.registry) == len(left)
        recent = {f"large question {number}" for number in range(300) if number % 10 in (7, 8, 9)}
        assert recent <= {entry.key.text for entry in left}
        assert "more than store.max_bytes" in caplog.text
        assert "worth least were given up" in caplog.text
        gauge = cache.meter.registry.get_sample_value("semcache_store_bytes")
        assert gauge is not None
        assert 0 < gauge <= most
        before, caplog_lines = evicted(cache), len(caplog.records)
        await cache.components.disk.keep(START + 60.0)
        assert (evicted(cache), len(caplog.records)) == (before, caplog_lines), "within the bound nothing goes"


async def test_the_category_that_is_fullest_for_its_quota_gives_up_first(tmp_path: Path) -> None:
    async with await opened(tmp_path, None) as cache:
        await fill(cache, 150, "small")
        await fill(cache, 150)
        most = int(await used(cache) * 0.9)
    async with await opened(tmp_path, most) as cache:
        await cache.components.disk.keep(START)
        counts = await cache.components.store.counts()
        assert counts["default"] == 150
        assert counts["small"] < 150


async def test_rows_of_the_log_and_copies_for_an_undo_go_before_entries(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk_bound, "KEEP_ROWS", 10)
    async with await opened(tmp_path, None) as cache:
        await fill(cache, 200)
        whole = await used(cache)
        await cache.operating.delete(Selector(model="m"), who="test")
        await fill(cache, 50)
        assert len(await cache.operating.deleted()) == 1
    async with await opened(tmp_path, int(whole * 0.6)) as cache:
        await cache.components.disk.keep(START)
        assert len(await kept(cache)) == 50
        assert evicted(cache) == 0
        assert await cache.operating.deleted() == []
        assert await used(cache) <= whole * 0.6
        assert (await cache.stats())["total"]["requests"] == 250, "sums stay"
    with closing(sqlite3.connect(tmp_path / "data" / "semcache.db")) as connection:
        assert connection.execute("SELECT count(*) FROM events").fetchone()[0] <= 10


async def test_a_store_that_is_full_of_something_else_keeps_its_entries(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with await opened(tmp_path, 1 << 20) as cache:
        await fill(cache, 20)
        await cache.components.store.learn("other", 0, b"x" * (2 << 20))
        await cache.components.disk.keep(START)
        left = len(await kept(cache))
        assert 15 <= left < 20, "a few were tried"
        assert f"giving up {20 - left} entries did not suffice" in caplog.text
        await cache.components.disk.keep(START + 60.0)
        assert len(await kept(cache)) == left


async def test_two_workers_that_make_room_at_once_count_each_entry_once(tmp_path: Path) -> None:
    async with await opened(tmp_path, None) as cache:
        await fill(cache, 200)
        most = int(await used(cache) * 0.7)
    async with await opened(tmp_path, most) as one, await opened(tmp_path, most) as two:
        await asyncio.gather(one.components.disk.keep(START), two.components.disk.keep(START))
        await one.catch_up()
        await two.catch_up()
        left = len(await kept(one))
        assert left > 60
        assert evicted(one) + evicted(two) == 200 - left
        assert len(one.registry) == len(two.registry) == left


async def test_a_bound_is_kept_without_being_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(disk_bound, "_EVERY", 0.01)
    async with await opened(tmp_path, None) as cache:
        await fill(cache, 100)
        most = int(await used(cache) * 0.8)
    async with await opened(tmp_path, most) as cache:
        await until(lambda: len(cache.registry) < 100)


async def test_a_store_in_memory_has_no_size(tmp_path: Path) -> None:
    (tmp_path / "pack.yaml").write_text(PACK)
    opening = Opening(data="memory://", policies=str(tmp_path / "pack.yaml"), embedder="hashing")
    async with AsyncSemanticCache(await open_components(opening)) as cache:
        await cache.components.disk.keep(START)
        assert "disk" not in await cache.stats()


@pytest.mark.parametrize(
    ("count", "said"), [(0, "0 B"), (1023, "1023 B"), (1 << 20, "1 MiB"), (3 << 29, "1.5 GiB"), (5 << 42, "20 TiB")]
)
def test_bytes_are_said_for_people(count: int, said: str) -> None:
    assert disk_bound.size(count) == said
