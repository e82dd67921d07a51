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

from semcache.storage.stores import open_store, schema, tables
from semcache.storage.stores.database import parse_url
from tests.fixtures_pg import postgres_url  # noqa: F401
from tests.storage.stores.values import entry, vector


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def connection(request, tmp_path: Path) -> Iterator[sa.Connection]:
    if request.param == "sqlite":
        engine = sa.create_engine(f"sqlite:///{tmp_path}/a.db")
    else:
        engine = sa.create_engine(parse_url(request.getfixturevalue("postgres_url")))
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def test_the_newest_migration_is_the_head_the_program_knows():
    script = ScriptDirectory(str(schema.MIGRATIONS))
    assert script.get_heads() == [schema.HEAD]
    revisions = [revision.revision for revision in script.walk_revisions()]
    assert all(re.fullmatch(r"\d{4}", revision) for revision in revisions)
    assert revisions == sorted(revisions, reverse=True)


def test_migrating_gives_the_tables_the_program_expects(connection: sa.Connection):
    schema.upgrade(connection)
    assert schema.revision(connection) == schema.HEAD
    context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
    assert compare_metadata(context, tables.METADATA) == []


def described(file: Path) -> dict[str, set[str]]:
    """Every table's and index's definition, as a set of its clauses: their order in the text means nothing."""
    with closing(sqlite3.connect(file)) as raw:
        rows = raw.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL")
        return {name: set(re.split(r",\s*|\n", re.sub(r"[ \t]+", " ", sql))) for name, sql in rows}


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


async def test_an_older_database_is_migrated_at_open(tmp_path: Path):
    path = tmp_path / "old.db"
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("CREATE TABLE semcache_version (version_num VARCHAR(32) NOT NULL)")
    for _ in range(2):
        store = open_store(str(path))
        await store.open()
        await store.put(entry(1), vector(1))
        assert len(store.salt) == 32
        await store.close()


@pytest.mark.postgres
async def test_an_older_postgres_database_is_migrated_by_one_of_several_workers(postgres_url: str):  # noqa: F811
    import asyncio

    engine = sa.create_engine(parse_url(postgres_url))
    with engine.begin() as connection:
        tables.version.create(connection)
    engine.dispose()
    stores = [open_store(postgres_url) for _ in range(3)]
    await asyncio.gather(*(store.open() for store in stores))
    assert len({store.salt for store in stores}) == 1
    await asyncio.gather(*(store.close() for store in stores))
