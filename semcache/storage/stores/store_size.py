"""The size of a store on its disk, and what can be dropped of it before any entry is.

Knows pragmas of SQLite and catalogues of PostgreSQL. Invariant: pages that are free again do not count, for what is
written next goes there; of what is free beyond that, no step gives back so much that requests would wait for it.
"""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import sqlalchemy as sa

from semcache.storage.stores.database import Database
from semcache.storage.stores.database_faults import wrapped
from semcache.storage.stores.tables import METADATA, deleted

_INCREMENTAL = 2
_SPARE, _SHARE = 16 << 20, 8  # bytes that stay free for what comes next: these, or one in so many that are used
_STEP, _STEPS, _PAUSE = 256, 200, 0.02  # pages at once, how often in one call, and seconds in between


class StoreSize:
    """The part of the SQL store that measures it."""

    _db: Database

    async def bytes_used(self) -> int:
        """Bytes of the pages that hold something; of PostgreSQL the size of tables and indexes."""
        if self._db.sqlite:
            pages, free, size = await self._file_pages()
            return (pages - free) * size
        names = sa.func.to_regclass(sa.func.unnest(sa.literal(list(METADATA.tables), sa.ARRAY(sa.String))))
        tables = sa.select(names.label("name")).subquery()
        whole = sa.select(sa.func.sum(sa.func.pg_total_relation_size(tables.c.name)))
        return int((await self._db.fetch(whole))[0][0] or 0)

    async def give_back(self) -> int:
        """Give some of the pages that are free back to the disk, but for spare ones; returns how many bytes went.

        A SQLite file that was made before files could shrink stays as large as it is, and so does a PostgreSQL.
        """
        if not self._db.sqlite or int(await self._db.pragma("auto_vacuum")) != _INCREMENTAL:
            return 0
        given = 0
        for step in range(_STEPS):
            pages, free, size = await self._file_pages()
            spare = max(_SPARE, (pages - free) * size // _SHARE) // size
            if free - spare < _STEP:
                break
            if step:
                await asyncio.sleep(_PAUSE)
            with wrapped(self._db.name):
                await asyncio.to_thread(_shrink, self._db.name)
            given += _STEP * size
        return given

    async def _file_pages(self) -> tuple[int, int, int]:
        """How many pages the file has, how many of them are free, and the bytes of one."""
        pages, free, size = [int(await self._db.pragma(name)) for name in ("page_count", "freelist_count", "page_size")]
        return pages, free, size

    async def forget_deleted(self) -> int:
        """Drop the copies of deleted entries that could be brought back; returns how many."""
        return await self._db.write(lambda connection: connection.execute(sa.delete(deleted)).rowcount, feed=False)


def _shrink(file: str) -> None:
    # One that is not made where the file is gone.
    address = f"{Path(file).absolute().as_uri()}?mode=rw"
    with closing(sqlite3.connect(address, uri=True, isolation_level=None, timeout=1.0)) as connection:
        # As a script: as a statement the module would run it for one page alone.
        connection.executescript(f"PRAGMA incremental_vacuum({_STEP})")
