"""What a disk would lose for good if a SQLite file never shrank, and that it shrinks in small steps."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from semcache.storage.stores import open_store, store_size
from semcache.storage.stores.sql import SqlStore
from semcache.storage.stores.sqlite_copy import copy_store

MIB = 1 << 20


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_size, "_PAUSE", 0.0)


async def opened(file: Path) -> SqlStore:
    store = open_store(f"sqlite:///{file}")
    assert isinstance(store, SqlStore)
    await store.open()
    return store


async def fill(store: SqlStore, mib: int) -> None:
    for number in range(mib):
        await store.learn(f"big {number}", 1, os.urandom(MIB))


def size_of(file: Path) -> int:
    """Bytes of the file once everything that was written is in it."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    return file.stat().st_size


def forget(file: Path, keep: int = 0) -> None:
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("DELETE FROM learned WHERE name LIKE 'big %' AND name >= ?", (f"big {keep}",))


async def test_a_file_shrinks_to_what_it_holds_and_some_spare_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_size, "_SPARE", 2 * MIB)
    file = tmp_path / "semcache.db"
    store = await opened(file)
    await fill(store, 8)
    assert await store.give_back() == 0, "nothing is free"
    forget(file)
    before = size_of(file)
    given = await store.give_back()
    after = size_of(file)
    assert before - after == pytest.approx(given, abs=64 * 1024), "and pages of SQLite's own"
    assert 2 * MIB < after < 4 * MIB
    assert await store.give_back() == 0
    await fill(store, 1)
    assert size_of(file) == after, "what stayed free is used"
    await store.close()


async def test_a_call_gives_back_no_more_than_its_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_size, "_SPARE", MIB)
    monkeypatch.setattr(store_size, "_STEPS", 2)
    file = tmp_path / "semcache.db"
    store = await opened(file)
    await fill(store, 6)
    forget(file)
    assert await store.give_back() == 2 * MIB
    assert await store.give_back() == 2 * MIB
    await store.close()


async def test_a_file_of_before_stays_as_it_is_and_its_backup_shrinks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_size, "_SPARE", MIB)
    file, copy = tmp_path / "semcache.db", tmp_path / "copy.db"
    store = await opened(file)
    await store.close()
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for statement in ("PRAGMA journal_mode=DELETE", "PRAGMA auto_vacuum=NONE", "VACUUM"):
            connection.execute(statement).fetchall()
    store = await opened(file)
    await fill(store, 4)
    forget(file)
    assert await store.give_back() == 0
    await store.close()
    copy_store(file, copy)
    store = await opened(copy)
    await fill(store, 4)
    forget(copy)
    assert await store.give_back() > MIB
    await store.close()
