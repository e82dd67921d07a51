"""Migrations and the tables in code are the same schema, however a store came by it."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from semcache.errors import StoreError
from semcache.storage.stores import open_store, schema, tables
from semcache.storage.stores.database import parse_url
from tests.fixtures_pg import postgres_url  # noqa: F401
from tests.storage.stores.old_schemas import STEPS, engine_of, made_at
from tests.storage.stores.values import NOW, digest, entry, event, label, owed, vector


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request, tmp_path: Path) -> str:
    return request.getfixturevalue("postgres_url") if request.param == "postgres" else f"sqlite:///{tmp_path}/a.db"


@pytest.fixture
def connection(url: str) -> Iterator[sa.Connection]:
    engine = engine_of(url)
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def test_the_program_knows_the_first_and_the_newest_migration():
    script = ScriptDirectory(str(schema.MIGRATIONS))
    assert script.get_heads() == [schema.HEAD]
    assert script.get_bases() == [schema.OLDEST]
    revisions = [revision.revision for revision in script.walk_revisions()]
    assert all(re.fullmatch(r"\d{4}", revision) for revision in revisions)
    assert revisions == sorted(revisions, reverse=True)


def test_migrating_gives_the_tables_the_program_expects(connection: sa.Connection):
    schema.upgrade(connection)
    assert schema.revision(connection) == schema.HEAD
    context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
    assert compare_metadata(context, tables.METADATA) == []


async def test_a_store_of_the_last_schema_before_the_first_release_keeps_everything_and_learns(url: str):
    made_at(url, STEPS[-1])
    store = open_store(url)
    await store.open()
    assert store.salt == b"s" * 32
    assert await store.get([1]) == [entry(1, tags=("t",))]
    assert [one.entry_id for one in await store.rejections()] == [1]
    await store.put(entry(2), vector(2))
    await store.alias(2, 1, now=NOW)
    await store.label([label(1)])
    await store.enqueue([owed(2, 1)])
    await store.record([event(1, exact=digest("y"))])
    assert [card.answer_class for card in (await store.vectors_of([1, 2], "mini")).cards] == [1, 1]
    assert len(await store.claim(9, now=NOW, lease=1)) == 1
    assert await store.trim_events(keep_rows=0) == 1
    assert [row["calls"] for row in await store.tally()] == [1]
    await store.close()
    engine = engine_of(url)
    with engine.begin() as connection:
        assert schema.revision(connection) == schema.HEAD
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        assert compare_metadata(context, tables.METADATA) == []
    engine.dispose()


async def test_entries_of_the_schema_before_wordings_are_read_and_given_digests(url: str):
    made_at(url, STEPS[-1])
    engine = engine_of(url)
    with engine.begin() as connection:
        schema.upgrade(connection, "0011")
        assert schema.revision(connection) == "0011"
        assert not sa.inspect(connection).has_table("wordings")
    engine.dispose()
    for before, after in ((b"", b"one"), (b"one", b"two")):
        store = open_store(url)
        await store.open()
        assert await store.get([1]) == [entry(1, tags=("t",), wording=before)]
        await store.reword({1: after})
        await store.close()


@pytest.mark.parametrize("revision", STEPS[:-1])
async def test_a_store_of_an_older_schema_is_refused_with_what_to_do_and_left_alone(url: str, revision: str):
    made_at(url, revision)
    store = open_store(url)
    with pytest.raises(StoreError, match=rf"schema {revision}.*semcache export .*semcache import"):
        await store.open()
    engine = engine_of(url)
    with engine.begin() as connection:
        assert schema.revision(connection) == revision
        assert connection.exec_driver_sql("SELECT COUNT(*) FROM entries").scalar() == 1
        assert sa.inspect(connection).has_table("reembedded") == (revision >= "0004")
    engine.dispose()


def described(file: Path) -> dict[str, set[str]]:
    """Every table's and index's definition, as a set of its clauses: their order in the text means nothing."""
    with closing(sqlite3.connect(file)) as raw:
        rows = raw.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        clauses = {name: re.split(r",\s*|\n", re.sub(r"[ \t]+", " ", sql)) for name, sql in rows}
        # A column that was added later stands before the bracket that ends the table.
        return {name: {one.strip(" )") for one in found} - {""} for name, found in clauses.items()}


async def test_a_fresh_sqlite_store_and_a_migrated_one_are_defined_alike(tmp_path: Path):
    fresh, migrated = tmp_path / "fresh.db", tmp_path / "migrated.db"
    store = open_store(str(fresh))
    await store.open()
    await store.close()
    engine = sa.create_engine(f"sqlite:///{migrated}")
    with engine.begin() as connection:
        schema.upgrade(connection)
    engine.dispose()
    assert described(fresh) == described(migrated)


async def test_an_unfinished_database_is_migrated_at_open(tmp_path: Path):
    path = tmp_path / "unfinished.db"
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("CREATE TABLE semcache_version (version_num VARCHAR(32) NOT NULL)")
    for _ in range(2):
        store = open_store(str(path))
        await store.open()
        await store.put(entry(1), vector(1))
        assert len(store.salt) == 32
        await store.close()


@pytest.mark.postgres
async def test_an_unfinished_postgres_database_is_migrated_by_one_of_several_workers(postgres_url: str):  # noqa: F811
    import asyncio

    engine = sa.create_engine(parse_url(postgres_url))
    with engine.begin() as connection:
        tables.version.create(connection)
    engine.dispose()
    stores = [open_store(postgres_url) for _ in range(3)]
    await asyncio.gather(*(store.open() for store in stores))
    assert len({store.salt for store in stores}) == 1
    await asyncio.gather(*(store.close() for store in stores))
