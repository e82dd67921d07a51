"""Bursts of writes to PostgreSQL: few commits for many answers, and each stands or falls for itself."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager

import psycopg
import pytest

from semcache.errors import StoreError
from semcache.storage.stores.database import FEED_LOCK, Database, parse_url
from semcache.storage.stores.sql import SqlStore
from semcache.types import Selector
from tests.fixtures_pg import postgres_url, server  # noqa: F401
from tests.storage.stores.values import entry, event


@asynccontextmanager
async def opened(url: str):
    store = SqlStore(Database(parse_url(url), busy=0.2))
    await store.open()
    try:
        yield store
    finally:
        await store.close()


async def _burst(store, made):
    """Put entries that all come while the writer is busy, and return how each ended."""
    async with store._db._writing:
        puts = [asyncio.create_task(store.put(one, None)) for one in made]
        events = asyncio.create_task(store.record([event()]))
        await asyncio.sleep(0.05)
    ends = await asyncio.gather(*puts, return_exceptions=True)
    await events
    return ends


@pytest.mark.postgres
async def test_a_burst_of_writes_shares_commits_of_postgres(postgres_url: str):  # noqa: F811
    async with opened(postgres_url) as store:
        with psycopg.connect(postgres_url, autocommit=True) as other:
            commits = "SELECT count(DISTINCT xmin::text) FROM entries"
            assert await _burst(store, [entry(n) for n in range(1, 61)]) == [None] * 60
            assert other.execute("SELECT count(*) FROM entries").fetchone() == (60,)
            assert other.execute(commits).fetchone() == (1,), "sixty commits wait for the disk sixty times"
        assert [change.entry_id for change in await store.changes(0)] == list(range(1, 61))


@pytest.mark.postgres
@pytest.mark.parametrize("odd", [{"created": None}, {"cost": "dear"}])
async def test_a_row_that_postgres_refuses_is_the_fault_of_no_other_in_the_burst(postgres_url: str, odd):  # noqa: F811
    async with opened(postgres_url) as store:
        broken = entry(7, **odd)
        ends = await _burst(store, [entry(n) if n != 7 else broken for n in range(1, 20)])
        assert [n for n, end in enumerate(ends, 1) if end is not None] == [7]
        assert isinstance(ends[6], StoreError)
        assert len(await store.select(Selector(everything=True))) == 18


@pytest.mark.postgres
async def test_a_burst_that_waits_for_a_lock_in_vain_waits_once_and_events_do_not(postgres_url: str, monkeypatch):  # noqa: F811
    async with opened(postgres_url) as store:
        with psycopg.connect(server(), autocommit=True) as other:
            other.execute("SELECT pg_advisory_lock(%s)", (FEED_LOCK,))
            tried, pipeline = [], store._db._pipeline

            async def counted(bound, feed):
                tried.append(feed)
                return await pipeline(bound, feed)

            monkeypatch.setattr(store._db, "_pipeline", counted)
            ends = await _burst(store, [entry(n) for n in range(1, 20)])
        assert all(isinstance(end, StoreError) and "lock" in str(end) for end in ends)
        assert tried == [False, True], "nineteen waits one after another would hold up everybody"
        assert await store.select(Selector(everything=True)) == []
        assert (await store.tally())[0]["requests"] == 1
