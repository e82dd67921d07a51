"""Errors of drivers leave a store as StoreErrors; a mistake in the program does not."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa

from semcache.errors import StoreError
from semcache.storage.stores import open_store
from semcache.storage.stores.database import Database, parse_url
from semcache.storage.stores.database_faults import wrapped
from semcache.types import ApiKey, Change, ChangeKind, Rejection, Selector
from tests.fixtures_pg import postgres_url  # noqa: F401
from tests.storage.stores.values import NOW, digest, entry, label, owed

PLACES = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
HUGE = 2**63  # one more than a database can hold
BROKEN = "\ud800"  # half a character, which UTF-8 has no bytes for


@pytest.fixture(params=PLACES)
def url(request, tmp_path: Path) -> str:
    return request.getfixturevalue("postgres_url") if request.param == "postgres" else str(tmp_path / "semcache.db")


@pytest.mark.parametrize(
    "call",
    [
        lambda store: store.get([HUGE]),
        lambda store: store.put(entry(HUGE), None),
        lambda store: store.put_all([(entry(1, cost=object()), None)]),
        lambda store: store.alias(1, HUGE, now=NOW),
        lambda store: store.reject([Rejection(HUGE, digest("x"))], now=NOW),
        lambda store: store.select(Selector(everything=True), after=HUGE),
        lambda store: store.labels(HUGE),
        lambda store: store.learn("threshold", HUGE, b""),
        lambda store: store.finish([HUGE]),
        lambda store: store.served_keys(HUGE),
        lambda store: store.revoke_key(BROKEN, now=NOW),
        lambda store: store.add_key(ApiKey(BROKEN, digest("k"), "acme", "n", NOW)),
    ],
    ids=range(12),
)
async def test_a_value_that_no_database_can_hold_is_a_store_error_and_the_store_goes_on(url: str, call):
    store = open_store(url)
    await store.open()
    try:
        with pytest.raises(StoreError):
            await call(store)
        await store.put(entry(2), None)
        assert await store.get([2]) == [entry(2)]
    finally:
        await store.close()


@pytest.mark.parametrize("mistake", [ValueError("shape"), RuntimeError("reentered"), TypeError("no int")], ids=repr)
async def test_a_mistake_in_what_is_run_on_the_database_is_no_store_error(url: str, mistake: Exception):
    database = Database(parse_url(url))
    await database.open()

    def work(_: sa.Connection) -> None:
        raise mistake

    try:
        for run in (database.write, database.look):
            with pytest.raises(type(mistake)) as raised:
                await run(work)
            assert raised.value is mistake
    finally:
        await database.close()


@pytest.mark.parametrize("damage", ["features = x'00'", "source = 'hearsay'", "category = x'00'"])
async def test_a_label_that_cannot_be_read_holds_up_no_other(tmp_path: Path, damage: str, caplog):
    path = tmp_path / "semcache.db"
    store = open_store(str(path))
    await store.open()
    for n in range(1, 7):
        await store.put(entry(n), None)
    await store.label([label(n) for n in range(1, 7)])
    await store.enqueue([owed(n, 6) for n in range(1, 6)])
    with closing(sqlite3.connect(path)) as raw, raw:
        for table, number in (("labels", "seq"), ("judgements", "id")):
            raw.execute(f"UPDATE {table} SET {damage} WHERE {number} IN (2, 3, 6)")
    for _ in range(2):
        assert [one.seq for one in await store.labels(0)] == [1, 4, 5]
        assert [one.seq for one in await store.labels(1, limit=1)] == [4]
        assert await store.labels(5) == []
        assert [one.seq for one in await store.labels_about(range(1, 7))] == [5, 4, 1]
    assert [one.id for one in await store.claim(1, now=NOW, lease=9)] == [1]
    assert [one.id for one in await store.claim(2, now=NOW, lease=9)] == [4, 5]
    assert await store.claim(9, now=NOW, lease=9) == []
    assert store._db.skipped.count == 5
    assert [one.args[2] for one in caplog.records if "left out" in one.message] == ["labels", "judgements"]
    await store.close()


@pytest.mark.parametrize(
    ("damage", "entry_id"), [("kind = 'moved'", 1), ("exact = 'text'", 1), ("entry_id = x'00'", 0), ("kind = x'00'", 1)]
)
async def test_a_change_that_cannot_be_read_is_an_unknown_one(tmp_path: Path, damage: str, entry_id: int):
    path = tmp_path / "semcache.db"
    store = open_store(str(path))
    await store.open()
    for n in (1, 2):
        await store.put(entry(n), None)
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute(f"UPDATE changes SET {damage} WHERE seq = 1")
    found = await store.changes(0)
    assert found == [Change(1, ChangeKind.UNKNOWN, entry_id), Change(2, ChangeKind.PUT, 2)]
    await store.close()


def test_a_damaged_file_is_replaced_without_its_log():
    # SQLite plays a log that is left behind into the backup, and then that file is damaged too.
    with (
        pytest.raises(StoreError, match=r"restore a backup, without the FILE-wal and FILE-shm"),
        wrapped("semcache.db"),
    ):
        raise sqlite3.DatabaseError("database disk image is malformed")
