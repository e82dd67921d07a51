"""Deleted entries on a database: set aside until a time, put back, or erased for good.

Knows the rows of entries, their vectors and tags as they are, sealed or not. Invariant: what is put back is byte for
byte what was deleted, and never takes the place of an answer that was kept meanwhile; what is erased leaves nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
import sqlalchemy as sa

from semcache.storage.stores import rows, statements
from semcache.storage.stores.database import Database
from semcache.storage.stores.decision_rows import DecisionRows
from semcache.storage.stores.outcome_rows import trim_matching
from semcache.storage.stores.plan_sequence import erase_plans
from semcache.storage.stores.tables import (
    actions,
    decisions,
    deleted,
    entries,
    events,
    hourly,
    labels,
    mentions,
    reembedded,
    rejections,
    tags,
    tool_results,
    vectors,
    wordings,
)
from semcache.types import ALL_OTHERS, ChangeKind, Deletion, Selector

_PAGE = 500
_BESIDE = (("vectors", vectors), ("wordings", wordings), ("tags", tags), ("rejections", rejections))


class DeletedRows(DecisionRows):
    """The part of the SQL store that undoes and erases."""

    _db: Database
    _announce: Callable[[sa.Connection, Sequence[tuple[ChangeKind, int, bytes]], float], None]
    _delete: Callable[..., list[int]]

    async def set_aside(self, where: Selector, *, batch: str, now: float, until: float) -> list[int]:
        """Delete what matches, at most 500 entries a transaction, and keep it aside; return the ids."""
        if where.is_empty():
            return []
        chosen = sa.select(entries.c.id).where(*statements.matching(where, sqlite=self._db.sqlite))
        ids = [row[0] for row in await self._db.fetch(chosen.order_by(entries.c.id), bulk=True)]
        gone: list[int] = []
        for start in range(0, len(ids), _PAGE):
            page = ids[start : start + _PAGE]

            def work(connection: sa.Connection, page: Sequence[int] = page) -> list[int]:
                kept = _copies(connection, page, batch, now, until)
                if kept:
                    connection.execute(sa.insert(deleted), kept)
                return self._delete(connection, ids=page, now=now)

            gone += await self._db.write(work)
        return gone

    async def bring_back(self, batch: str, *, now: float, tenant: str | None = None) -> list[int]:
        """Put back what was set aside (of that tenant) and lives still; return the ids."""
        chosen = sa.select(deleted).where(deleted.c.batch == batch, deleted.c.until > now)
        if tenant is not None:
            chosen = chosen.where(deleted.c.tenant == rows.plain(tenant))

        def work(connection: sa.Connection) -> list[int]:
            back: list[int] = []
            gone: list[tuple[ChangeKind, int, bytes]] = []
            refused: list[tuple[ChangeKind, int, bytes]] = []
            for row in connection.execute(chosen).mappings().all():
                kept = msgspec.msgpack.decode(row["row"])
                again = kept.get("unshelved", False)
                entry_id = _shelve_again(connection, kept) if again else _put_back(connection, kept, now)
                if entry_id is not None:
                    back.append(entry_id)
                    gone += [(ChangeKind.DELETE, entry_id, b"")] if again else []
                    of = sa.select(rejections.c.exact).where(rejections.c.entry_id == entry_id)
                    refused += [(ChangeKind.REJECT, entry_id, exact) for exact in connection.execute(of).scalars()]
                connection.execute(sa.delete(deleted).where(deleted.c.batch == batch, deleted.c.id == row["id"]))
            news = [(ChangeKind.PUT, entry_id, b"") for entry_id in back]
            self._announce(connection, gone + news + refused, now)
            return back

        return await self._db.write(work)

    async def unshelve(self, entry_id: int, *, batch: str, now: float, until: float) -> bool:
        """Take vector and partition from an entry, and from what replaces it; False where it has none.

        `bring_back` gives them back.
        """

        def work(connection: sa.Connection) -> bool:
            shelved = sa.select(entries.c.id).where(entries.c.id == entry_id, entries.c.shelf != b"")
            if connection.execute(shelved).first() is None:
                return False
            [kept] = _copies(connection, [entry_id], batch, now, until)
            whole = msgspec.msgpack.decode(kept["row"])
            connection.execute(
                sa.insert(deleted), {**kept, "row": msgspec.msgpack.encode({**whole, "unshelved": True})}
            )
            connection.execute(sa.update(entries).where(entries.c.id == entry_id).values(shelf=b"", embedder_id=""))
            for table in (vectors, reembedded):
                connection.execute(sa.delete(table).where(table.c.entry_id == entry_id))
            connection.execute(sa.insert(rejections), {"entry_id": entry_id, "exact": ALL_OTHERS, "at": now})
            # Whoever knows the entry forgets it and reads it again.
            news = [(ChangeKind.DELETE, entry_id, b""), (ChangeKind.PUT, entry_id, b"")]
            news += [(ChangeKind.REJECT, entry_id, one["exact"]) for one in whole.get("rejections", ())]
            news.append((ChangeKind.REJECT, entry_id, ALL_OTHERS))
            self._announce(connection, news, now)
            return True

        return await self._db.write(work)

    async def set_aside_since(self, now: float, *, tenant: str | None = None) -> list[Deletion]:
        """The deletions that can be undone at this time, newest first."""
        columns = (deleted.c.batch, deleted.c.tenant)
        chosen = sa.select(
            *columns, sa.func.min(deleted.c.at), sa.func.min(deleted.c.until), sa.func.count().label("count")
        ).where(deleted.c.until > now)
        if tenant is not None:
            chosen = chosen.where(deleted.c.tenant == rows.plain(tenant))
        batches: dict[str, Deletion] = {}
        for batch, of, at, until, count in await self._db.fetch(chosen.group_by(*columns), bulk=True):
            known = batches.get(batch)
            tenants = tuple(sorted({rows.unplain(of), *(known.tenants if known else ())}))
            batches[batch] = Deletion(batch, at, until, count + (known.count if known else 0), tenants)
        return sorted(batches.values(), key=lambda one: -one.at)

    async def erase(self, where: Selector, *, now: float) -> None:
        """Forget decisions and deleted entries of what a selector names.

        Where it names a tenant and nothing else, events, sums, labels, plans and tool results of that tenant go too;
        where it names all of a user, no event says any longer whose it was.
        """
        named = {"tenant": where.tenant, "user_id": where.user, "namespace": where.namespace}
        scope = {name: rows.plain(value) for name, value in named.items() if value is not None}
        whole = where == Selector(tenant=where.tenant) and where.tenant is not None
        some = where.is_part()

        def work(connection: sa.Connection) -> None:
            if some:
                _erase_some(connection, where, scope)
            elif where.everything or scope:
                for table in (decisions, deleted):
                    connection.execute(
                        sa.delete(table).where(*(table.c[name] == value for name, value in scope.items()))
                    )
            if where.user is not None and not some:
                # What it cost stays on record, whose it was and what was asked does not.
                of_user = [events.c[name] == value for name, value in scope.items()]
                connection.execute(sa.update(events).where(*of_user).values(user_id=None, exact=b""))
                _unname(connection, where.user)
            if whole:
                trim_matching(connection, events.c.tenant == scope["tenant"], hours=False, sqlite=self._db.sqlite)
                for table in (hourly, labels, actions, tool_results):
                    connection.execute(sa.delete(table).where(table.c.tenant == scope["tenant"]))
                erase_plans(connection, scope["tenant"], now)

        await self._db.write(work, feed=whole)

    async def unreject(self, entry_id: int, exacts: Sequence[bytes], *, now: float) -> None:
        """Take back rejections of an entry and announce it."""

        def work(connection: sa.Connection) -> None:
            connection.execute(
                sa.delete(rejections).where(rejections.c.entry_id == entry_id, rejections.c.exact.in_(exacts))
            )
            self._announce(connection, [(ChangeKind.ALLOW, entry_id, exact) for exact in exacts], now)

        await self._db.write(work)

    async def sweep_operating(self, now: float) -> None:
        """Drop decisions, deleted entries and tool results whose time is over, and actions of more than a year ago."""

        def work(connection: sa.Connection) -> None:
            self._sweep_decisions(connection, now)
            connection.execute(sa.delete(deleted).where(deleted.c.until <= now))
            connection.execute(sa.delete(tool_results).where(tool_results.c.expires <= now))

        await self._db.write(work, feed=False)


def _copies(
    connection: sa.Connection, ids: Sequence[int], batch: str, now: float, until: float
) -> list[dict[str, Any]]:
    """The rows of entries as `deleted` keeps them, with vectors, wordings, tags and rejections."""
    extras: dict[int, dict[str, list[Any]]] = {entry_id: {} for entry_id in ids}
    for name, table in _BESIDE:
        for row in connection.execute(sa.select(table).where(table.c.entry_id.in_(ids))).mappings():
            extras[row["entry_id"]].setdefault(name, []).append(dict(row))
    return [
        {
            "batch": batch,
            "id": row["id"],
            "at": now,
            "until": until,
            "tenant": row["tenant"],
            "user_id": row["user_id"],
            "namespace": row["namespace"],
            "seal_key": row["seal_key"],
            "row": msgspec.msgpack.encode({"entry": dict(row), **extras[row["id"]]}),
        }
        for row in connection.execute(sa.select(entries).where(entries.c.id.in_(ids))).mappings()
    ]


def _put_back(connection: sa.Connection, kept: dict[str, Any], now: float) -> int | None:
    """Insert an entry again and return its id; None where it has expired, or its request has another answer by now."""
    row = kept["entry"]
    twin = sa.select(entries.c.id).where(sa.or_(entries.c.exact == row["exact"], entries.c.id == row["id"]))
    if row["expires"] <= now or connection.execute(twin).first() is not None:
        return None
    connection.execute(sa.insert(entries), row)
    for name, table in _BESIDE:
        if kept.get(name):
            connection.execute(sa.insert(table), kept[name])
    return int(row["id"])


def _shelve_again(connection: sa.Connection, kept: dict[str, Any]) -> int | None:
    """Give partition and vector back to an entry, or what replaced it; return its id, None if nothing lacks them."""
    row = kept["entry"]
    same = (entries.c.exact == row["exact"], entries.c.shelf == b"")
    values = {"shelf": row["shelf"], "embedder_id": row["embedder_id"]}
    entry_id = connection.execute(sa.update(entries).where(*same).values(values).returning(entries.c.id)).scalar()
    if entry_id is None:
        return None
    if kept.get("vectors"):
        connection.execute(sa.insert(vectors), [one | {"entry_id": entry_id} for one in kept["vectors"]])
    mark = (rejections.c.entry_id == entry_id, rejections.c.exact == ALL_OTHERS)
    connection.execute(sa.delete(rejections).where(*mark))
    return int(entry_id)


def _erase_some(connection: sa.Connection, where: Selector, scope: Mapping[str, str]) -> None:
    """Forget what a selector names that names more than a scope, and nothing else of that scope."""
    aside = [deleted.c[name] == value for name, value in scope.items()]
    told = [decisions.c[name] == value for name, value in scope.items()]
    if where.ids is not None:
        aside.append(deleted.c.id.in_(where.ids))
    chosen = sa.select(deleted.c.batch, deleted.c.id, deleted.c.row).where(*aside)
    gone = [
        {"of": batch, "entry": entry_id}
        for batch, entry_id, row in connection.execute(chosen)
        if _selected(msgspec.msgpack.decode(row)["entry"], where)
    ]
    if gone:
        one = (deleted.c.batch == sa.bindparam("of"), deleted.c.id == sa.bindparam("entry"))
        connection.execute(sa.delete(deleted).where(*one), gone)
    ids = {*(where.ids or ()), *(one["entry"] for one in gone)}
    about = sa.select(mentions.c.decision_id).where(mentions.c.entry_id.in_(ids))
    connection.execute(sa.delete(decisions).where(*told, decisions.c.id.in_(about)))
    if where.of_decisions():
        told += [decisions.c.category == rows.plain(where.category)] if where.category is not None else []
        told += [decisions.c.model == rows.plain(where.model)] if where.model is not None else []
        told += [decisions.c.at < where.older_than] if where.older_than is not None else []
        connection.execute(sa.delete(decisions).where(*told))


def _selected(row: Mapping[str, Any], where: Selector) -> bool:
    """Return True if the row of an entry meets what a selector names beside its scope and ids."""
    pairs = ((where.category, row["category"]), (where.model, row["model"]), (where.source, row["source"]))
    return (
        all(wanted is None or rows.plain(wanted) == value for wanted, value in pairs)
        and (where.tag is None or where.tag in json.loads(row["tags"]))
        and (where.older_than is None or row["created"] < where.older_than)
    )


def _unname(connection: sa.Connection, user: str) -> None:
    """Take a user's name out of what the log says of earlier actions."""
    for number, detail in connection.execute(sa.select(actions.c.id, actions.c.detail)).all():
        said = json.loads(detail)
        if without_user(said, user):
            connection.execute(sa.update(actions).where(actions.c.id == number).values(detail=json.dumps(said)))


def without_user(detail: dict[str, Any], user: str) -> bool:
    """Take a user's name out of the detail of an action; return True if it was there."""
    where = detail.get("where")
    if not isinstance(where, dict) or where.get("user") != user:
        return False
    where["user"] = "(erased)"
    return True
