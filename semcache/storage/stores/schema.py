"""The schema: making it, bringing an old one up to date, and refusing one that is too old or newer than the program.

Knows the revisions this program speaks. A fresh database gets the tables directly and is stamped, because importing
alembic is slow; an older one goes through `migrations/`.
Invariant: all of it happens in the caller's one transaction, behind the write lock, so of several workers that open
at once one does the work and a crash leaves nothing half made.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import sqlalchemy as sa

from semcache.errors import StoreError
from semcache.storage.stores import tables

OLDEST = "0005"  # the migrations begin here
HEAD = "0017"
MIGRATIONS = Path(__file__).parent / "migrations"
SALT = 32


def revision(connection: sa.Connection) -> str | None:
    """The revision a database is stamped with, "" when it was never finished, None when it holds no store."""
    if not sa.inspect(connection).has_table(tables.VERSION_TABLE):
        return None
    return connection.execute(sa.select(tables.version.c.version_num)).scalar() or ""


def check(found: str | None, where: str) -> bool:
    """Return True if the schema is the one this program speaks, False if it is to be made or upgraded.

    Raises StoreError for a newer one, and for one of before the first migration.
    """
    if found and found > HEAD:
        raise StoreError(
            f"store {where} has schema {found}, newer than this program's {HEAD}: a newer semcache has opened it; "
            "upgrade this program, or use another store"
        )
    if found and found < OLDEST:
        raise StoreError(
            f"store {where} has schema {found}, and {OLDEST} is the oldest that can be upgraded; nothing was changed: "
            "run `semcache export -o all.jsonl` with the version that wrote it, and `semcache import all.jsonl` with "
            "this one into a new store"
        )
    return found == HEAD


def prepare(connection: sa.Connection, where: str, random: Callable[[int], bytes]) -> None:
    """Bring the schema to HEAD; what another worker did meanwhile is left as it is."""
    found = revision(connection)
    if check(found, where):
        return
    if found is None:
        refuse_foreign(connection, where)
        tables.METADATA.create_all(connection, checkfirst=False)
        connection.execute(sa.insert(tables.version), {"version_num": HEAD})
    else:
        upgrade(connection)
    if connection.execute(sa.select(tables.meta.c.value).where(tables.meta.c.name == "salt")).first() is None:
        connection.execute(sa.insert(tables.meta), {"name": "salt", "value": random(SALT)})


def refuse_foreign(connection: sa.Connection, where: str) -> None:
    """Raise StoreError if a database that has no schema of semcache has tables of its names."""
    clash = set(sa.inspect(connection).get_table_names()) & set(tables.METADATA.tables)
    if clash:
        raise StoreError(
            f"store {where} already has tables named {', '.join(sorted(clash))} that semcache did not make; "
            "use another database, or another schema (search_path)"
        )


def upgrade(connection: sa.Connection, to: str = "head") -> None:
    """Run the migrations that are missing, up to a revision, in the transaction of `connection`."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, to)
