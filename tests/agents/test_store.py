"""A store keeps templates as they are, in the order of their changes, and sealed if it seals."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from semcache.errors import ConfigError
from semcache.storage.stores.database import Database, parse_url
from semcache.storage.stores.plan_rows import MemoryPlans, SqlPlans, StoredPlan
from semcache.storage.stores.seal import Seal
from semcache.storage.stores.sql import SqlStore
from tests.agents.worlds import TOOLS, cancelling, opened

PLAN = StoredPlan(7, "ac\x00me", b'{"a": 1}', 50.0, "embedder", b"\x01\x02")


@pytest.fixture(params=["memory", "sqlite", "sealed"])
async def store(request, tmp_path: Path):
    if request.param == "memory":
        yield MemoryPlans()
        return
    database = Database(parse_url(str(tmp_path / "a.db")))
    seal = Seal([("k1", b"k" * 32)]) if request.param == "sealed" else None
    whole = SqlStore(database, seal)
    await whole.open()
    yield SqlPlans(database, seal)
    await whole.close()


async def test_rows_come_back_as_they_were_by_the_order_of_their_changes(store) -> None:
    other = StoredPlan(8, "b", b"{}", 60.0)
    await store.put_plans([PLAN, other])
    first, second = await store.plans(0)
    assert (first.id, first.tenant, first.body, first.vectors) == (7, "ac\x00me", b'{"a": 1}', b"\x01\x02")
    assert first.seq < second.seq
    await store.put_plans([StoredPlan(7, "b", b"{ }", 50.0)])
    changed = await store.plans(second.seq)
    assert [(one.id, one.body) for one in changed] == [(7, b"{ }")]
    assert await store.plans(changed[-1].seq) == []
    assert len(await store.plans(0, limit=1)) == 1


async def test_a_sweep_takes_what_expired_and_leaves_the_marks_that_others_have_yet_to_see(store) -> None:
    gone, newest = StoredPlan(8, "b", b"", 500.0), StoredPlan(9, "b", b"{}", 900.0)
    await store.put_plans([PLAN, gone, newest])
    assert await store.sweep_plans(60.0) == 1
    assert [one.id for one in await store.plans(0)] == [8, 9]
    assert await store.sweep_plans(600.0) == 1
    assert [one.id for one in await store.plans(0)] == [9]


async def test_a_store_of_sealed_plans_alone_is_not_opened_without_a_key(tmp_path: Path) -> None:
    url = parse_url(str(tmp_path / "a.db"))
    whole = SqlStore(Database(url), seal := Seal([("k1", b"k" * 32)]))
    await whole.open()
    await SqlPlans(whole._db, seal).put_plans([PLAN])
    await whole.close()
    with pytest.raises(ConfigError, match="SEAL_KEYS"):
        await SqlStore(Database(url)).open()


async def test_who_follows_misses_nothing_after_a_sweep(store) -> None:
    await store.put_plans([PLAN, StoredPlan(8, "b", b"", 500.0)])
    read = (await store.plans(0))[-1].seq
    await store.sweep_plans(60.0)
    await store.put_plans([StoredPlan(9, "b", b"{}", 500.0)])
    assert [one.id for one in await store.plans(read)] == [9]


async def test_a_sealed_body_is_not_on_disk_and_opens_with_its_key_alone(tmp_path: Path) -> None:
    database = Database(parse_url(str(tmp_path / "a.db")))
    whole = SqlStore(database, seal := Seal([("k1", b"k" * 32)]))
    await whole.open()
    await SqlPlans(database, seal).put_plans([PLAN])
    stranger = SqlPlans(database, Seal([("k1", b"x" * 32)]))
    assert [(one.id, one.body) for one in await stranger.plans(0)] == [(7, b"")]
    await whole.close()
    with closing(sqlite3.connect(tmp_path / "a.db")) as raw:
        [(body,)] = raw.execute("SELECT body FROM plans")
    assert b'"a"' not in body


async def test_templates_that_do_not_open_hide_none_of_those_after_them(tmp_path: Path) -> None:
    database = Database(parse_url(str(tmp_path / "a.db")))
    whole = SqlStore(database, Seal([("k1", b"k" * 32)]))
    await whole.open()
    lost = SqlPlans(database, Seal([("k1", b"k" * 32)]))
    await lost.put_plans([StoredPlan(number, "b", b"{}", 500.0) for number in range(1, 1003)])
    kept = SqlPlans(database, Seal([("k2", b"x" * 32)]))
    plans = opened(kept)
    await plans.record(cancelling("ann_lee_1", "OBUT9V"), tools=TOOLS)
    fresh = opened(SqlPlans(database, Seal([("k2", b"x" * 32)])))
    await fresh.library.refresh()
    assert len(fresh.library.templates()) == 1
    assert await fresh.library.refresh() == 0
    await whole.close()
