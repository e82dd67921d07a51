"""Conformance of `ChangeFeed`: changes of entries in the order of their sequence numbers, from every worker."""

from __future__ import annotations

import asyncio

from semcache.storage.stores import open_store
from tests.conformance.stores import every, kinds, lasting
from tests.storage.stores.values import NOW, entry, vector
from tests.waiting import soon


@every
async def test_the_feed_pages_and_its_head_is_the_newest_change(store):
    assert await store.head() == 0
    for n in (1, 2, 3):
        await store.put(entry(n), None)
    seen = await store.changes(0)
    assert [change.seq for change in seen] == sorted({change.seq for change in seen})
    assert await store.head() == seen[-1].seq
    assert await store.changes(0, limit=2) == seen[:2]
    assert await store.changes(seen[1].seq) == seen[2:]
    assert await store.changes(seen[-1].seq) == []


@every
async def test_trimming_changes_keeps_the_head(store):
    for n in (1, 2, 3):
        await store.put(entry(n, created=NOW + n), None)
    head = await store.head()
    assert await store.trim_changes(keep_rows=2) == 1
    assert await kinds(store) == [("put", 2), ("put", 3)]
    assert await store.trim_changes(keep_rows=0) == 1
    assert await store.head() == head


@every
async def test_wait_returns_at_once_for_a_change_not_read_yet_and_soon_for_one_to_come(store):
    await store.changes(0)
    await soon(store.wait(0.05))
    await store.put(entry(1), None)
    await soon(store.wait(60))
    seen = await store.changes(0)
    waiting = asyncio.create_task(store.wait(60))
    await asyncio.sleep(0.3)
    assert not waiting.done()
    await store.put(entry(2), None)
    await soon(waiting)
    assert [change.entry_id for change in await store.changes(seen[-1].seq)] == [2]


@every
async def test_what_people_said_is_announced_every_time(store):
    await store.put(entry(1), None)
    head = await store.head()
    await store.said(1, correct=False, now=NOW)
    await store.said(1, correct=True, now=NOW)
    await store.said(1, correct=True, now=NOW)
    await store.said(99, correct=False, now=NOW)
    assert await kinds(store, head) == [("wrong", 1), ("right", 1), ("right", 1)]
    assert await store.get([1]) == [entry(1)]


@lasting
async def test_a_worker_hears_of_another_workers_write(url):
    ours, theirs = open_store(url), open_store(url)
    await ours.open()
    await theirs.open()
    try:
        assert ours.salt == theirs.salt
        assert await ours.changes(0) == []
        waiting = asyncio.create_task(ours.wait(60))
        await asyncio.sleep(0.3)
        assert not waiting.done()
        await theirs.put(entry(1), vector(1))
        await soon(waiting)
        assert [change.entry_id for change in await ours.changes(0)] == [1]
        assert await ours.get([1]) == [entry(1)]
    finally:
        await ours.close()
        await theirs.close()
