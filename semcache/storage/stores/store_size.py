"""The size of a store on its disk, and what can be dropped of it before any entry is.

Knows pragmas of SQLite and catalogues of PostgreSQL. Invariant: pages that are free again do not count, for what is
written next goes there.
"""

from __future__ import annotations

import sqlalchemy as sa

from semcache.storage.stores.database import Database
from semcache.storage.stores.tables import METADATA, deleted


class StoreSize:
    """The part of the SQL store that measures it."""

    _db: Database

    async def bytes_used(self) -> int:
        """Bytes of the pages that hold something; of PostgreSQL the size of tables and indexes."""
        if self._db.sqlite:
            pages, free, size = [
                int(await self._db.pragma(name)) for name in ("page_count", "freelist_count", "page_size")
            ]
            return (pages - free) * size
        names = sa.func.to_regclass(sa.func.unnest(sa.literal(list(METADATA.tables), sa.ARRAY(sa.String))))
        tables = sa.select(names.label("name")).subquery()
        whole = sa.select(sa.func.sum(sa.func.pg_total_relation_size(tables.c.name)))
        return int((await self._db.fetch(whole))[0][0] or 0)

    async def forget_deleted(self) -> int:
        """Drop the copies of deleted entries that could be brought back; returns how many."""
        return await self._db.write(lambda connection: connection.execute(sa.delete(deleted)).rowcount, feed=False)
