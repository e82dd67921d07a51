"""The thread of a SQLite connection, with callers that fail, leave or take their loop with them."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from semcache.errors import StoreError
from semcache.storage.stores import open_store
from semcache.storage.stores.sqlite_thread import SqliteThread
from semcache.types import Timings
from tests.storage.stores.values import entry, event, vector
from tests.waiting import PATIENCE, soon


def connecting(path: Path) -> Callable[[], sqlite3.Connection]:
    return partial(sqlite3.connect, path, isolation_level=None, timeout=0.2)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with closing(sqlite3.connect(tmp_path / "lane.db")) as made:
        made.execute("CREATE TABLE t (n INTEGER PRIMARY KEY)")
    return tmp_path / "lane.db"


def numbers(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as reader:
        return [n for (n,) in reader.execute("SELECT n FROM t ORDER BY n")]


INSERT = "INSERT INTO t VALUES (:n)"


async def test_a_script_is_kept_whole_or_not_at_all(path: Path) -> None:
    lane = SqliteThread(connecting(path))
    await lane.open()
    await lane.play([(INSERT, {"n": 1}), (INSERT, [{"n": 2}, {"n": 3}])])
    for bad in ({"n": 1}, [{"n": 5}, {"n": 1}]):
        with pytest.raises(sqlite3.IntegrityError):
            await lane.play([(INSERT, {"n": 4}), (INSERT, bad)])
    await lane.play([(INSERT, {"n": 6})])
    await lane.close()
    assert numbers(path) == [1, 2, 3, 6]


async def test_a_script_that_waited_in_vain_for_a_lock_leaves_the_connection_usable(path: Path) -> None:
    lane = SqliteThread(connecting(path))
    await lane.open()
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            await lane.play([(INSERT, {"n": 1})])
        other.execute("ROLLBACK")
    await lane.play([(INSERT, {"n": 2})])
    await lane.close()
    assert numbers(path) == [2]


def test_a_loop_that_ends_first_takes_neither_the_script_nor_the_thread_with_it(path: Path) -> None:
    lane = SqliteThread(partial(sqlite3.connect, path, isolation_level=None, timeout=PATIENCE))

    async def leave() -> None:
        await lane.open()
        script = asyncio.ensure_future(lane.play([(INSERT, {"n": 1})]))
        await asyncio.sleep(0.1)
        assert not script.done()

    async def come_back() -> None:
        await lane.play([(INSERT, {"n": 2})])
        await lane.close()

    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        asyncio.run(leave())
        other.execute("ROLLBACK")
    asyncio.run(soon(come_back()))
    assert numbers(path) == [1, 2]


async def test_closing_finishes_what_was_asked_for_and_ends_the_thread(path: Path) -> None:
    before = set(threading.enumerate())
    lane = SqliteThread(connecting(path))
    await lane.open()
    (thread,) = set(threading.enumerate()) - before
    asked = [asyncio.create_task(lane.play([(INSERT, {"n": n})])) for n in range(5)]
    await asyncio.sleep(0)
    await lane.close()
    assert await asyncio.gather(*asked) == [None] * 5
    await asyncio.to_thread(thread.join, PATIENCE)
    assert not thread.is_alive()
    assert numbers(path) == [0, 1, 2, 3, 4]


async def test_a_lane_that_cannot_be_opened_can_be_closed(tmp_path: Path) -> None:
    lane = SqliteThread(connecting(tmp_path / "nowhere" / "lane.db"))
    with pytest.raises(sqlite3.OperationalError):
        await lane.open()
    await lane.close()


async def test_a_write_is_finished_though_its_caller_is_cancelled(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "semcache.db"))
    await store.open()
    with closing(sqlite3.connect(tmp_path / "semcache.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        writes = [
            asyncio.create_task(store.put(entry(1), vector(1))),
            asyncio.create_task(store.put(entry(2), vector(2))),
            asyncio.create_task(store.record([event(1)])),
        ]
        await asyncio.sleep(0.05)
        for write in writes:
            write.cancel()
        assert all(isinstance(e, asyncio.CancelledError) for e in await asyncio.gather(*writes, return_exceptions=True))
        other.execute("ROLLBACK")
    await store.put(entry(3), None)
    await store.record([event(3)])
    assert [found and found.id for found in await store.get([1, 2, 3])] == [1, 2, 3]
    assert [row["requests"] for row in await store.tally()] == [2]
    await store.close()


async def test_of_events_that_do_not_fit_none_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "semcache.db"
    store = open_store(str(path))
    await store.open()
    with pytest.raises(StoreError, match="constraint"):
        await store.record([event(1), event(2, seconds=float("nan"))])
    assert await store.tally() == []
    await store.record([event(1, timings=Timings(key=0.5, upstream=2.0), request_id="a\0b", stream=True)])
    await store.close()
    with closing(sqlite3.connect(path)) as reader:
        ((timings, request_id, stream),) = reader.execute("SELECT timings, request_id, stream FROM events")
    assert json.loads(timings) == {"key": 0.5, "embed": 0, "search": 0, "guard": 0, "store": 0, "upstream": 2.0}
    assert (request_id, stream) == ("a\x1b0000b", 1)
