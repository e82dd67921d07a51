"""Sealing the rows of a store anew, after its keys were rotated.

Knows the sealed columns. Invariant: may be broken off at any moment and called again; a row is sealed with one key as a
whole, and one that does not open is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa

from semcache.store import rows
from semcache.store.engine import Database
from semcache.store.seal import Seal
from semcache.store.tables import entries

_COLUMNS = [entries.c[name] for name in ("id", "tenant", "user_id", "namespace", "seal_key", *rows.SEALED)]
_RENEW = sa.update(entries).where(entries.c.id == sa.bindparam("entry"))


async def reseal(
    database: Database,
    seal: Seal,
    batch: int,
    readable: Callable[[Sequence[Any], Callable[[Any, Any], Any]], list[Any]],
) -> int:
    """Seal every row that is not sealed with the current key, one transaction a batch; returns how many.

    `readable` reads rows, and leaves out those that do not open. Raises StoreError.
    """
    stale = sa.or_(entries.c.seal_key.is_(None), entries.c.seal_key != seal.current)
    done, after, more = 0, -1, True

    def work(connection: sa.Connection) -> tuple[int, int, bool]:
        page = sa.select(*_COLUMNS).where(stale, entries.c.id > after).order_by(entries.c.id).limit(batch)
        found = connection.execute(page).all()
        fresh = readable(found, rows.resealed)
        if fresh:
            values: dict[str, Any] = {name: sa.bindparam(name) for name in fresh[0] if name != "entry"}
            connection.execute(_RENEW.values(values), fresh)
        return len(fresh), (found[-1].id if found else after), len(found) == batch

    while more:
        count, after, more = await database.write(work, feed=False)
        done += count
    return done
