"""Sealing the rows of a store anew, after its keys were rotated.

Knows the sealed columns of entries, their wordings, plans and records of decisions; results of tools, which can be had
again, are let go. Invariant: may be broken off at any moment and called again; a row is sealed with one key as a whole,
and one that does not open is left as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import sqlalchemy as sa

from semcache.storage.stores import rows
from semcache.storage.stores.database import Database
from semcache.storage.stores.decision_rows import DECISION_FIELD
from semcache.storage.stores.seal import Seal
from semcache.storage.stores.tables import decisions, entries, plans, tool_results, wordings
from semcache.types import Scope

_NAMES = ("id", "tenant", "user_id", "namespace", "seal_key", *rows.SEALED)
_COLUMNS = [*[entries.c[name] for name in _NAMES], rows.DIGEST]
_RENEW = sa.update(entries).where(entries.c.id == sa.bindparam("entry"))
_RENEW_WORDING = sa.update(wordings).where(wordings.c.entry_id == sa.bindparam("entry"))
_DECISION = [decisions.c[name] for name in ("id", "tenant", "user_id", "namespace", "seal_key", "body")]
_RENEW_DECISION = sa.update(decisions).where(decisions.c.id == sa.bindparam("entry"))
_PLAN = [plans.c[name] for name in ("id", "tenant", "seal_key", "body")]
_RENEW_PLAN = sa.update(plans).where(plans.c.id == sa.bindparam("entry"))


class _Batch(NamedTuple):
    """How many rows of a batch were sealed anew, and the id that the next batch begins behind; None after the last."""

    sealed: int
    after: int | None


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
    done = await _rewrite(database, sa.select(*_COLUMNS).where(stale), _RENEW, batch, rows.resealed, readable)
    stale = sa.or_(decisions.c.seal_key.is_(None), decisions.c.seal_key != seal.current)
    await _rewrite(database, sa.select(*_DECISION).where(stale), _RENEW_DECISION, batch, _decision, readable)
    stale = sa.or_(tool_results.c.seal_key.is_(None), tool_results.c.seal_key != seal.current)
    dropped = sa.delete(tool_results).where(stale)
    await database.write(lambda connection: connection.execute(dropped))
    # A plan changes in place: only under the lock of the feed is what was read still what there is.
    stale = sa.and_(plans.c.body != b"", sa.or_(plans.c.seal_key.is_(None), plans.c.seal_key != seal.current))
    return done + await _rewrite(
        database, sa.select(*_PLAN).where(stale), _RENEW_PLAN, batch, _plan, readable, feed=True
    )


async def _rewrite(
    database: Database,
    stale: sa.Select[Any],
    renew: sa.Update,
    batch: int,
    read: Callable[[Any, Any], Any],
    readable: Callable[[Sequence[Any], Callable[[Any, Any], Any]], list[Any]],
    *,
    feed: bool = False,
) -> int:
    id_ = stale.selected_columns["id"]
    done = 0
    after: int | None = -1

    def work(connection: sa.Connection) -> _Batch:
        found = connection.execute(stale.where(id_ > after).order_by(id_).limit(batch)).all()
        fresh = readable(found, read)
        digests = [{"entry": one["entry"], "digest": one.pop(rows.WORDING)} for one in fresh if rows.WORDING in one]
        if digests:
            connection.execute(_RENEW_WORDING.values(digest=sa.bindparam("digest")), digests)
        if fresh:
            values: dict[str, Any] = {name: sa.bindparam(name) for name in fresh[0] if name != "entry"}
            connection.execute(renew.values(values), fresh)
        return _Batch(len(fresh), found[-1].id if len(found) == batch else None)

    while after is not None:
        sealed, after = await database.write(work, feed=feed)
        done += sealed
    return done


def _decision(row: Any, seal: Seal) -> dict[str, Any]:
    user = None if row.user_id is None else rows.unplain(row.user_id)
    return _body(row, seal, Scope(rows.unplain(row.tenant), user, rows.unplain(row.namespace)), DECISION_FIELD)


def _plan(row: Any, seal: Seal) -> dict[str, Any]:
    return _body(row, seal, Scope(rows.unplain(row.tenant)), "plan")


def _body(row: Any, seal: Seal, scope: Scope, field: str) -> dict[str, Any]:
    """The body of a row, opened with its key if it has one, and sealed with the current."""
    body = row.body
    if row.seal_key is not None:
        body = rows.opened(body, seal, row.seal_key, entry_id=row.id, scope=scope, field=field)
    return {
        "entry": row.id,
        "seal_key": seal.current,
        "body": seal.seal(body, entry_id=row.id, scope=scope, field=field),
    }
