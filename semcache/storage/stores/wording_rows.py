"""Digests of canonical wordings on a database, beside the entries that they are of.

Knows the tables and the seal, nothing of wordings. Invariant: a digest goes with its entry, and is sealed as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

import sqlalchemy as sa

from semcache.storage.stores import rows
from semcache.storage.stores.database import Database
from semcache.storage.stores.tables import entries, wordings

if TYPE_CHECKING:
    from semcache.storage.stores.seal import Seal

_PAGE = 500
_OWNERS = [entries.c[name] for name in ("id", "tenant", "user_id", "namespace", "seal_key")]


class WordingRows:
    """The part of the SQL store that keeps digests of wordings which were read after their entries were stored."""

    _db: Database
    _seal: Seal | None

    async def reword(self, digests: Mapping[int, bytes]) -> None:
        """Keep the digests of these entries' wordings in place of earlier ones, at most 500 a transaction."""
        ids = list(digests)
        for start in range(0, len(ids), _PAGE):
            page = {entry_id: digests[entry_id] for entry_id in ids[start : start + _PAGE]}
            # In line with all that puts and deletes entries, so that none goes between the reading and the writing.
            await self._db.write(partial(_keep, digests=page, seal=self._seal))


def _keep(connection: sa.Connection, digests: Mapping[int, bytes], seal: Seal | None) -> None:
    owners = connection.execute(sa.select(*_OWNERS).where(entries.c.id.in_(digests))).all()
    kept = [row for owner in owners if (row := rows.later_digest(digests[owner.id], owner, seal)) is not None]
    connection.execute(sa.delete(wordings).where(wordings.c.entry_id.in_(digests)))
    if kept:
        connection.execute(sa.insert(wordings), kept)
