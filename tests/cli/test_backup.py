"""A whole store as one file and back, through the real program."""

from __future__ import annotations

import json
import sqlite3
import stat
import subprocess
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path

import pytest

from semcache.storage.stores import open_store
from semcache.storage.stores.schema import HEAD
from semcache.storage.stores.sqlite_copy import copy_store

Run = Callable[..., "subprocess.CompletedProcess[str]"]
Fill = Callable[..., Awaitable[list[str]]]
PROMPTS = {"How do I reverse a list in Python?": "Use reversed().", "What is a monad?": "A box with rules."}
TABLES = ("entries", "vectors", "api_keys", "learned", "labels", "actions", "events", "meta", "sqlite_sequence")


def rows(file: Path) -> dict[str, list[tuple[object, ...]]]:
    with closing(sqlite3.connect(file)) as connection:
        return {name: sorted(connection.execute(f"SELECT * FROM {name}"), key=repr) for name in TABLES}


def change(file: Path, sql: str, *args: object) -> None:
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute(sql, args)


async def test_what_is_restored_is_what_was_backed_up(tmp_path: Path, run: Run, fill: Fill) -> None:
    await fill(PROMPTS)
    assert run("keys", "create", "--tenant", "acme").returncode == 0
    store = open_store(str(tmp_path / "data" / "semcache.db"))
    await store.open()
    await store.learn("strategy", 7, b"all that was learned")
    await store.close()

    done = run("backup", "b.db")
    assert done.returncode == 0, done.stderr
    assert "2 entries, 1 API key, 0 labels" in done.stderr
    assert stat.S_IMODE((tmp_path / "b.db").stat().st_mode) == 0o600
    done = run("restore", "b.db", "--data", "again")
    assert done.returncode == 0, done.stderr

    before = rows(tmp_path / "data" / "semcache.db")
    assert rows(tmp_path / "again" / "semcache.db") == before
    assert ("strategy", 7, b"all that was learned") in before["learned"]
    assert stat.S_IMODE((tmp_path / "again").stat().st_mode) == 0o700
    assert not list(tmp_path.rglob(".*-*"))


async def test_a_backup_has_what_an_open_store_holds_only_in_its_log(tmp_path: Path, run: Run, fill: Fill) -> None:
    await fill(PROMPTS)
    file = tmp_path / "data" / "semcache.db"
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("PRAGMA wal_autocheckpoint=0")
        writer.execute("INSERT INTO learned VALUES ('late', 1, x'00')")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("INSERT INTO learned VALUES ('unfinished', 1, x'00')")
        assert Path(f"{file}-wal").stat().st_size > 0
        done = run("backup", "b.db")
        writer.execute("ROLLBACK")
    assert done.returncode == 0, done.stderr
    names = {row[0] for row in rows(tmp_path / "b.db")["learned"]}
    assert "late" in names
    assert "unfinished" not in names


async def test_nothing_deleted_is_in_a_backup(tmp_path: Path, run: Run, fill: Fill) -> None:
    await fill({f"Tell me about the wonderful marmot {number}": "A rodent." for number in range(30)})
    assert run("purge", "--all", "--forever", "--yes").returncode == 0
    assert run("backup", "b.db").returncode == 0
    assert b"marmot" not in (tmp_path / "b.db").read_bytes()


async def test_nothing_is_overwritten(tmp_path: Path, run: Run, fill: Fill) -> None:
    await fill(PROMPTS)
    (tmp_path / "b.db").write_text("mine")
    done = run("backup", "b.db")
    assert done.returncode == 1
    assert "b.db would be overwritten" in done.stderr
    assert (tmp_path / "b.db").read_text() == "mine"
    assert run("backup", "c.db").returncode == 0
    done = run("restore", "c.db")
    assert done.returncode == 1
    assert "semcache.db would be overwritten" in done.stderr
    # SQLite would play the log of another database into the restored one.
    (tmp_path / "fresh").mkdir()
    (tmp_path / "fresh" / "semcache.db-wal").write_bytes(b"of another")
    done = run("restore", "c.db", "--data", "fresh")
    assert done.returncode == 1
    assert "semcache.db-wal would be overwritten" in done.stderr
    assert not (tmp_path / "fresh" / "semcache.db").exists()


async def test_a_file_that_comes_meanwhile_is_not_overwritten(
    tmp_path: Path, fill: Fill, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fill(PROMPTS)
    target = tmp_path / "b.db"

    def fsync(_: int) -> None:
        target.write_text("another's")

    monkeypatch.setattr("semcache.storage.stores.sqlite_copy.os.fsync", fsync)
    with pytest.raises(Exception, match="would be overwritten"):
        copy_store(tmp_path / "data" / "semcache.db", target)
    assert target.read_text() == "another's"


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        (f"UPDATE semcache_version SET version_num = '{int(HEAD) + 1:04}'", "newer than this program's"),
        ("UPDATE semcache_version SET version_num = '0004'", "the oldest that can be upgraded"),
        ("DELETE FROM meta", "the salt of its digests is missing"),
        ("INSERT INTO vectors VALUES (99, 'e', 1, x'00000000')", "vectors refers to a row that is gone"),
        ("DROP TABLE semcache_version", "is no store of semcache"),
    ],
    ids=["newer", "too-old", "without-salt", "broken-reference", "no-store"],
)
async def test_a_backup_that_is_not_sound_is_refused(tmp_path: Path, run: Run, fill: Fill, sql: str, said: str) -> None:
    await fill(PROMPTS)
    assert run("backup", "b.db").returncode == 0
    change(tmp_path / "b.db", sql)
    done = run("restore", "b.db", "--data", "again")
    assert done.returncode == 1
    assert said in done.stderr
    assert not list((tmp_path / "again").iterdir())


async def test_a_damaged_file_is_refused(tmp_path: Path, run: Run, fill: Fill) -> None:
    await fill(PROMPTS)
    assert run("backup", "b.db").returncode == 0
    whole = (tmp_path / "b.db").read_bytes()
    for name, content in (("short.db", whole[: len(whole) // 2]), ("other.db", b"no database at all" * 100)):
        (tmp_path / name).write_bytes(content)
        done = run("restore", name, "--data", "again")
        assert done.returncode == 1, done.stderr
        assert "damaged" in done.stderr
        assert not (tmp_path / "again" / "semcache.db").exists()


async def test_a_backup_of_before_an_upgrade_is_upgraded_when_it_is_opened(
    tmp_path: Path, run: Run, fill: Fill
) -> None:
    await fill(PROMPTS)
    assert run("backup", "b.db").returncode == 0
    for table, column in (("judgements", "model"), ("api_keys", "expires"), ("tool_results", "user_id")):
        change(tmp_path / "b.db", f"ALTER TABLE {table} DROP COLUMN {column}")
    change(tmp_path / "b.db", "UPDATE semcache_version SET version_num = '0014'")
    done = run("restore", "b.db", "--data", "again", "--json")
    assert json.loads(done.stdout)["schema"] == "0014"
    assert run("keys", "list", "--data", "again").returncode == 0
    with closing(sqlite3.connect(tmp_path / "again" / "semcache.db")) as connection:
        assert connection.execute("SELECT version_num FROM semcache_version").fetchone() == (HEAD,)


async def test_keys_that_are_missing_are_named(tmp_path: Path, run: Run) -> None:
    ring = {"SEMCACHE_STORE__SEAL_KEYS": f"k7:{'A' * 43}="}
    (tmp_path / "log.jsonl").write_text(
        json.dumps({"model": "m", "messages": [{"role": "user", "content": "What is a monad?"}], "response": "A box"})
    )
    assert run("import", "log.jsonl", env=ring).returncode == 0
    assert "warning" not in run("backup", "b.db", env=ring).stderr
    done = run("restore", "b.db", "--data", "again")
    assert done.returncode == 0
    assert "encrypted with k7, which store.seal_keys does not name" in done.stderr


async def test_models_beside_the_database_are_named(tmp_path: Path, run: Run, fill: Fill) -> None:
    await fill(PROMPTS)
    assert "not in it" not in run("backup", "b.db").stderr
    (tmp_path / "data" / "verifier").mkdir()
    assert (
        f"not in it, because they are no part of the database: {tmp_path / 'data' / 'verifier'}"
        in run("backup", "c.db").stderr
    )


def test_other_stores_have_their_own_tools(run: Run) -> None:
    postgres = {"SEMCACHE_STORE__URL": "postgresql://user:secret@db.internal/cache"}
    for command, tool in (("backup", "pg_dump"), ("restore", "pg_restore")):
        done = run(command, "b.db", env=postgres)
        assert done.returncode == 2
        assert tool in done.stderr
        assert "secret" not in done.stderr
    assert run("backup", "b.db", env={"SEMCACHE_STORE__URL": "memory://"}).returncode == 2
    done = run("backup", "b.db")
    assert done.returncode == 1
    assert "there is no cache in" in done.stderr
