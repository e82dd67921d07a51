"""The SQL store under faults, odd values and foreign databases."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
import traceback
from contextlib import asynccontextmanager, closing
from pathlib import Path

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semcache.errors import ConfigError, IntegrityError, StoreError
from semcache.storage.stores import open_store
from semcache.storage.stores.database import FEED_LOCK, Database, parse_url
from semcache.storage.stores.sql import SqlStore
from semcache.types import ApiKey, CacheKey, Endpoint, Entry, Scope, Selector, Usage
from tests.fixtures_pg import postgres_url, server  # noqa: F401
from tests.storage.stores.values import NOW, entry, event, vector
from tests.waiting import PATIENCE, soon


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "semcache.db"


@asynccontextmanager
async def opened(url: str | Path, busy: float = 0.2):
    store = SqlStore(Database(parse_url(str(url)), busy=busy))
    await store.open()
    try:
        yield store
    finally:
        await store.close()


words = st.text(st.characters(codec=None, exclude_categories=()), max_size=20)
number = st.floats(allow_nan=False, width=64)
count = st.integers(0, 2**62)
scopes = st.builds(Scope, words, st.none() | words, words)
entries = st.builds(
    Entry,
    id=count,
    key=st.builds(CacheKey, scopes, st.binary(max_size=32), st.binary(max_size=32), words, st.binary(max_size=99)),
    endpoint=st.sampled_from(Endpoint),
    model=words,
    category=words,
    partition=st.binary(max_size=16),
    embedder_id=words,
    body=st.binary(max_size=99) | st.just(b"{}" * 1_000_000),
    created=number,
    expires=st.just(float("inf")) | number,
    usage=st.builds(Usage, count, count),
    cost=number,
    latency=number,
    tags=st.lists(words, max_size=3).map(tuple),
    source=words,
)


async def round_trip(url: str, made: Entry) -> None:
    async with opened(url) as store:
        await store.put(made, vector(1))
        assert await store.get([made.id]) == [made]
        scope = made.key.scope
        where = Selector(
            tenant=scope.tenant,
            user=scope.user,
            namespace=scope.namespace,
            category=made.category,
            model=made.model,
            source=made.source,
            tag=made.tags[0] if made.tags else None,
        )
        assert await store.select(where, after=-1) == [made]
        expected = [made.card()] if made.expires > NOW else []
        assert [c async for b in store.vectors(made.embedder_id, now=NOW) for c in b.cards] == expected
        assert await store.counts() == {made.category: 1}
        assert await store.delete(where, now=NOW) == [made.id]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=entries)
def test_any_entry_survives_sqlite(path: Path, made: Entry):
    asyncio.run(round_trip(str(path), made))


@pytest.mark.slow
@pytest.mark.postgres
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(made=entries)
def test_any_entry_survives_postgres(postgres_url: str, made: Entry):  # noqa: F811
    asyncio.run(round_trip(postgres_url, made))


async def test_a_locked_database_fails_the_write_leaves_reads_alone_and_heals(path: Path):
    async with opened(path) as store:
        await store.put(entry(1), vector(1))
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            writes = (store.put(entry(2), None), store.ping(), store.record([event(1)]), store.sweep(NOW + 999))
            for write in writes:
                with pytest.raises(StoreError, match="another process holds its lock"):
                    await write
            assert await store.get([1]) == [entry(1)]
            other.execute("ROLLBACK")
        await store.put(entry(2), None)
        await store.ping()
        assert await store.counts() == {"default": 2}


async def test_reads_are_answered_while_a_write_waits(path: Path):
    async with opened(path, busy=PATIENCE) as store:
        await store.put(entry(1), vector(1))
        with closing(sqlite3.connect(path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            writing = asyncio.create_task(store.put(entry(2), None))
            await asyncio.sleep(0.05)
            assert await soon(store.get([1])) == [entry(1)]
            assert len(await soon(store.select(Selector(everything=True)))) == 1
            assert not writing.done()
            other.execute("COMMIT")
        await writing


async def test_a_burst_of_writes_waits_for_one_turn_of_the_loop_and_each_stands_for_itself(path: Path):
    async with opened(path) as store:
        database = store._db
        thread = database._threads[2]
        play, handed = thread.play, []

        async def playing(script):
            handed.append(len(database._scripts))
            await play(script)

        thread.play = playing
        broken = entry(7, created=None)
        async with database._writing:
            puts = [asyncio.create_task(store.put(entry(n) if n != 7 else broken, None)) for n in range(1, 20)]
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        ends = await asyncio.gather(*puts, return_exceptions=True)
        assert handed == [0] * 19
        assert [n for n, end in enumerate(ends, 1) if end is not None] == [7]
        assert len(await store.select(Selector(everything=True))) == 18


async def test_a_full_disk_fails_the_write_whole_and_heals(path: Path):
    async with opened(path) as store:
        await store.put(entry(1), vector(1))
        thread = store._db._threads[2]
        [(pages,)] = await thread.fetch("PRAGMA page_count")
        await thread.fetch(f"PRAGMA max_page_count={pages + 3}")
        head = await store.head()
        with pytest.raises(StoreError, match="disk is full"):
            await store.put(entry(2, body=b"x" * 500_000), vector(2))
        assert await store.head() == head
        assert await store.get([1, 2]) == [entry(1), None]
        await thread.fetch("PRAGMA max_page_count=1000000")
        await store.put(entry(2, body=b"x" * 500_000), vector(2))
        assert len(await store.changes(0)) == 2


async def test_a_read_only_database_is_said_to_be_so_and_is_still_read(path: Path):
    async with opened(path) as store:
        await store.put(entry(1), None)
        thread = store._db._threads[2]
        await thread.fetch("PRAGMA query_only=ON")
        with pytest.raises(StoreError, match="read-only; give this user write access"):
            await store.put(entry(2), None)
        assert await store.get([1]) == [entry(1)]
        await thread.fetch("PRAGMA query_only=OFF")
        await store.put(entry(2), None)


async def test_no_error_tells_a_prompt(path: Path):
    async with opened(path) as store:
        await store.add_key(ApiKey("k", b"d", "t", "a secret name", NOW))
        with pytest.raises(StoreError) as caught:
            await store.add_key(ApiKey("k", b"e", "t", "a secret name", NOW))
        with pytest.raises(StoreError) as again:
            await store.put(entry(1, "a secret question", cost=float("nan")), None)
    for error in (caught, again):
        assert "secret" not in "".join(traceback.format_exception(error.value, limit=0))


async def test_a_store_may_be_closed_while_it_is_busy_and_opened_on_another_loop(path: Path):
    store = open_store(str(path))

    async def use(first: int) -> list[int]:
        await store.open()
        writes = [asyncio.create_task(store.put(entry(first + n), vector(n))) for n in range(20)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await store.close()
        assert await asyncio.gather(*writes, return_exceptions=True) == [None] * 20
        await store.open()
        found = [e.id for e in await store.get(range(first, first + 20)) if e]
        await store.close()
        return found

    for first in (0, 100):
        assert await asyncio.to_thread(lambda first=first: asyncio.run(use(first))) == list(range(first, first + 20))


async def test_a_replacement_that_fails_leaves_the_old_answer(path: Path):
    async with opened(path) as store:
        await store.put(entry(1, "same"), vector(1))
        with pytest.raises(StoreError, match="constraint"):
            await store.put(entry(2, "same", cost=float("nan")), vector(2))
        assert [found and found.id for found in await store.get([1, 2])] == [1, None]
        assert len(await store.changes(0)) == 1
        with pytest.raises(StoreError):
            await store.put(entry(2**63, "other"), None)


@pytest.mark.parametrize(
    "content", [b"no database at all, but long enough to look like one" * 40, b"SQLite format 3\0junk" * 300]
)
async def test_a_damaged_file_is_named_and_left_untouched(path: Path, content: bytes):
    path.write_bytes(content)
    with pytest.raises(StoreError, match="damaged") as caught:
        async with opened(path):
            pass
    assert str(path) in str(caught.value)
    assert "restore a backup" in str(caught.value)
    assert path.read_bytes() == content


async def test_a_file_damaged_in_the_middle_fails_reads_and_writes_as_store_errors(path: Path):
    async with opened(path) as store:
        for n in range(200):
            await store.put(entry(n, body=b"x" * 500), vector(n))
    data = bytearray(path.read_bytes())
    for start in range(4096 * 2, len(data), 4096):
        data[start : start + 2048] = b"\xff" * 2048
    path.write_bytes(data)
    with pytest.raises(StoreError, match="damaged"):
        async with opened(path) as store:
            await store.get(range(200))


async def test_an_entry_no_store_wrote_is_an_integrity_error(path: Path):
    async with opened(path) as store:
        await store.put(entry(1), vector(1))
        await store.put(entry(2), vector(2))
        with closing(sqlite3.connect(path)) as raw, raw:
            raw.execute("UPDATE entries SET text = x'ff', endpoint = 'fax' WHERE id = 1")
            raw.execute("INSERT INTO vectors SELECT 3, embedder_id, dim, x'00' FROM vectors WHERE entry_id = 2")
            columns = [row[1] for row in raw.execute("PRAGMA table_info(entries)")][2:]
            raw.execute(f"INSERT INTO entries SELECT 3, x'03', {', '.join(columns)} FROM entries WHERE id = 2")
        with pytest.raises(IntegrityError, match="damaged"):
            await store.get([1])
        assert [card.id async for batch in store.vectors("mini", now=NOW) for card in batch.cards] == [2]
        assert store.unreadable == 2


async def test_a_database_from_a_newer_program_is_refused_untouched(path: Path):
    async with opened(path):
        pass
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("UPDATE semcache_version SET version_num = '9999'")
    with pytest.raises(StoreError, match="9999, newer than this program"):
        async with opened(path):
            pass
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT version_num FROM semcache_version").fetchall() == [("9999",)]


async def test_tables_of_someone_else_are_not_touched(path: Path):
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("CREATE TABLE events (mine)")
    with pytest.raises(StoreError, match="already has tables named events"):
        async with opened(path):
            pass
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT name FROM sqlite_master").fetchall() == [("events",)]


async def test_the_file_and_its_folder_are_made_and_private(tmp_path: Path):
    path = tmp_path / "new" / "folder" / "semcache.db"
    async with opened(path) as store:
        await store.put(entry(1), None)
        assert {file.stat().st_mode & 0o777 for file in path.parent.iterdir()} == {0o600}


async def test_a_path_that_cannot_be_made_is_a_store_error(tmp_path: Path):
    (tmp_path / "file").touch()
    with pytest.raises(StoreError, match=r"file.*name another one \(`--data`\)"):
        async with opened(tmp_path / "file" / "semcache.db"):
            pass


async def test_an_open_that_failed_can_be_tried_again(path: Path):
    path.write_bytes(b"junk" * 1000)
    store = open_store(str(path))
    with pytest.raises(StoreError):
        await store.open()
    path.unlink()
    await store.open()
    await store.put(entry(1), None)
    await store.close()


async def test_sqlite_writes_ahead_and_loses_nothing_to_a_killed_process(path: Path):
    async with opened(path) as store:
        assert await store._db.pragma("journal_mode") == "wal"
        assert await store._db.pragma("synchronous") == 1
        assert await store._db.pragma("foreign_keys") == 1


async def test_rows_of_a_deleted_entry_go_with_it(path: Path):
    async with opened(path) as store:
        await store.put(entry(1, tags=("a", "b")), vector(1))
        await store.delete(Selector(tag="a"), now=NOW)
    with closing(sqlite3.connect(path)) as raw:
        for table in ("vectors", "entry_tags"):
            assert raw.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,)


async def test_vectors_are_little_endian_float32(path: Path):
    async with opened(path) as store:
        await store.put(entry(1), vector(1).astype("f8")[::1])
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT dim, data FROM vectors").fetchone() == (8, vector(1).astype("<f4").tobytes())


@pytest.mark.parametrize(
    "where",
    ["tenant = 'a'", "category = 'a'", "model = 'a'", "source = 'a'", "namespace = 'a'", "user_id = 'a'", "created < 1",
     "expires < 1", "exact = x'00'", "seal_key = 'a'"],
)  # fmt: skip
async def test_what_selects_and_deletes_filter_on_is_indexed(path: Path, where: str):
    async with opened(path):
        pass
    with closing(sqlite3.connect(path)) as raw:
        [*_, plan] = raw.execute(f"EXPLAIN QUERY PLAN SELECT id FROM entries WHERE {where}").fetchone()
    assert plan.startswith("SEARCH entries USING")


@pytest.mark.parametrize(
    ("url", "driver"),
    [
        ("postgres://u:p@h/db", "postgresql+psycopg"),
        ("postgresql://u:p@h:5/db?sslmode=require", "postgresql+psycopg"),
        ("postgresql+psycopg://u:p@h/db", "postgresql+psycopg"),
        ("sqlite:///some.db", "sqlite+aiosqlite"),
        ("some.db", "sqlite+aiosqlite"),
    ],
)
def test_urls_as_people_write_them(url: str, driver: str):
    assert parse_url(url).drivername == driver
    assert "p@" not in Database(parse_url(url)).name


@pytest.mark.parametrize(
    "url", ["mysql://h/db", "sqlite://", "sqlite:///:memory:", "postgres://h:port/db", ".", "memory://x"]
)
def test_urls_that_name_no_store(url: str):
    with pytest.raises(ConfigError):
        open_store(url)


async def test_a_server_that_is_not_there_is_a_store_error_without_the_password():
    store = open_store("postgresql://ann:hunter2@127.0.0.1:1/db")
    with pytest.raises(StoreError, match="cannot be reached") as caught:
        await store.open()
    assert "hunter2" not in str(caught.value)


def test_naming_the_store_room_imports_no_database_driver():
    code = (
        "import sys, semcache.storage.stores; print({'sqlalchemy', 'aiosqlite', 'alembic', 'numpy'} & set(sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout == "set()\n"


async def test_opening_a_current_store_does_not_import_alembic(path: Path):
    code = (
        "import asyncio, sys; from semcache.storage.stores import open_store; s = open_store(sys.argv[1])\n"
        "async def main():\n    await s.open(); await s.close()\n"
        "asyncio.run(main()); print('alembic' in sys.modules)"
    )
    for _ in range(2):
        ran = subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True)
        assert ran.stdout == "False\n"


@pytest.mark.postgres
async def test_a_postgres_lock_held_for_too_long_fails_the_write_and_heals(postgres_url: str):  # noqa: F811
    async with opened(postgres_url) as store:
        await store.put(entry(1), vector(1))
        with psycopg.connect(server(), autocommit=True) as other:
            other.execute("SELECT pg_advisory_lock(%s)", (FEED_LOCK,))
            for write in (store.put(entry(2), None), store.delete(Selector(ids=(1,)), now=NOW)):
                with pytest.raises(StoreError, match="another process holds its lock"):
                    await write
            assert await store.get([1, 2]) == [entry(1), None]
        await store.put(entry(2), None)
        assert await store.counts() == {"default": 2}


@pytest.mark.postgres
async def test_a_write_that_postgres_refuses_leaves_nothing_behind(postgres_url: str):  # noqa: F811
    async with opened(postgres_url) as store:
        await store.put(entry(1, "same"), vector(1))
        for bad in (entry(2**63, "same"), entry(2, "same", model="m" * 1_000_000, category="c" * 1_000_000)):
            with pytest.raises(StoreError):
                await store.put_all([(entry(3), vector(3)), (bad, None)])
        assert [found and found.id for found in await store.get([1, 2, 3])] == [1, None, None]
        await store.put(entry(4, "same"), vector(4))
        assert [change.entry_id for change in await store.changes(0)] == [1, 1, 4]


@pytest.mark.postgres
async def test_a_postgres_database_that_is_not_there_is_named(postgres_url: str):  # noqa: F811
    with pytest.raises(StoreError, match="does not exist"):
        async with opened(server().replace("/postgres?", "/nowhere?")):
            pass
