"""Exchanging the embedder of a store: new vectors are gathered beside the old ones, and exchanged in one transaction.

Knows the tables `vectors` and `reembedded`, no embedder. Invariant: until `switch` commits, everything that reads
vectors finds those of before; after it, those of before lie aside, so that switching back needs no embedding. Ids,
answers, rejections and labels are not touched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import sqlalchemy as sa

from semcache.storage.stores import rows
from semcache.storage.stores.database import Database
from semcache.storage.stores.tables import entries, reembedded, vectors
from semcache.types import Entry

if TYPE_CHECKING:
    from semcache.types import Matrix

_NEW = sa.bindparam("embedder", type_=sa.String)
_AFTER = sa.bindparam("after", type_=sa.BigInteger)
_NOW = sa.bindparam("now", type_=sa.Double)
_BUNDLE = sa.bindparam("bundle", type_=sa.Integer)
_ASIDE = sa.exists().where(reembedded.c.entry_id == vectors.c.entry_id, reembedded.c.embedder_id == _NEW)
_OWED = (vectors.c.embedder_id != _NEW, ~_ASIDE, entries.c.expires > _NOW)

_PAGE = (
    sa.select(*rows.ENTRY)
    .join_from(vectors, entries, vectors.c.entry_id == entries.c.id)
    .where(*_OWED, entries.c.id > _AFTER)
    .order_by(entries.c.id)
    .limit(_BUNDLE)
)
_COUNT = sa.select(sa.func.count()).select_from(vectors.join(entries, vectors.c.entry_id == entries.c.id)).where(*_OWED)
_ADD = sa.insert(reembedded).from_select(
    ["entry_id", "embedder_id", "shelf", "dim", "data"],
    sa.select(
        entries.c.id,
        _NEW,
        sa.bindparam("place", type_=sa.LargeBinary),
        sa.bindparam("size", type_=sa.Integer),
        sa.bindparam("content", type_=sa.LargeBinary),
    ).where(
        entries.c.id == sa.bindparam("entry", type_=sa.BigInteger),
        ~sa.exists().where(
            reembedded.c.entry_id == sa.bindparam("entry", type_=sa.BigInteger), reembedded.c.embedder_id == _NEW
        ),
    ),
)


class Reembedding:
    """The part of the SQL store that moves entries to another embedder."""

    _db: Database
    _readable: Callable[[Sequence[Any], Callable[[Any, Any], Any]], list[Any]]

    async def owed(self, embedder_id: str, *, now: float) -> int:
        """Unexpired entries with a vector, none of it of this embedder."""
        found = await self._db.fetch(_COUNT, {"embedder": rows.plain(embedder_id), "now": now}, bulk=True)
        return int(found[0][0])

    async def owing(self, embedder_id: str, *, now: float, after: int, limit: int) -> tuple[list[Entry], int | None]:
        """A page of the entries that `owed` counts, by ascending id greater than `after`, and where the next begins.

        One that cannot be opened is left out and counted; None when there is no next page.
        """
        page = {"embedder": rows.plain(embedder_id), "now": now, "after": after, "bundle": limit}
        found = await self._db.fetch(_PAGE, page, bulk=True)
        return self._readable(found, rows.entry), found[-1][0] if len(found) == limit else None

    async def reembed(self, embedder_id: str, ids: Sequence[int], partitions: Sequence[bytes], matrix: Matrix) -> None:
        """Put vectors, shape (len(ids), dim), beside those of these entries; what is gone or done is left out."""
        data = np.ascontiguousarray(matrix, "<f4")
        common = {"embedder": rows.plain(embedder_id), "size": data.shape[1]}
        added = [
            common | {"entry": entry_id, "place": partition, "content": row.tobytes()}
            for entry_id, partition, row in zip(ids, partitions, data, strict=True)
        ]
        if added:
            await self._db.script([(_ADD, added)], feed=False)

    async def switch(self, embedder_id: str) -> int:
        """Exchange the vectors of every entry that has one of this embedder aside; returns how many."""
        name = rows.plain(embedder_id)
        return await self._db.write(lambda connection: _exchange(connection, name), feed=False)

    async def forget_aside(self) -> int:
        """Delete the vectors that lie aside; returns how many."""
        return await self._db.write(lambda connection: connection.execute(sa.delete(reembedded)).rowcount, feed=False)


def _exchange(connection: sa.Connection, name: str) -> int:
    fresh = sa.select(reembedded.c.entry_id).where(reembedded.c.embedder_id == name)
    kept = sa.select(
        vectors.c.entry_id, vectors.c.embedder_id, entries.c.shelf, vectors.c.dim, vectors.c.data
    ).join_from(vectors, entries, vectors.c.entry_id == entries.c.id)
    columns = ["entry_id", "embedder_id", "shelf", "dim", "data"]
    connection.execute(
        sa.insert(reembedded).from_select(
            columns, kept.where(vectors.c.entry_id.in_(fresh), vectors.c.embedder_id != name)
        )
    )
    connection.execute(sa.delete(vectors).where(vectors.c.entry_id.in_(fresh)))
    mine = sa.select(reembedded.c.shelf).where(reembedded.c.entry_id == entries.c.id, reembedded.c.embedder_id == name)
    connection.execute(
        sa.update(entries).where(entries.c.id.in_(fresh)).values(shelf=mine.scalar_subquery(), embedder_id=name)
    )
    source = sa.select(reembedded.c.entry_id, reembedded.c.embedder_id, reembedded.c.dim, reembedded.c.data)
    moved = connection.execute(
        sa.insert(vectors).from_select(
            ["entry_id", "embedder_id", "dim", "data"], source.where(reembedded.c.embedder_id == name)
        )
    ).rowcount
    connection.execute(sa.delete(reembedded).where(reembedded.c.embedder_id == name))
    return int(moved)
