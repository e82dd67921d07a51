"""Results of tools in a store that processes share, and the versions of what tools read.

Knows the tables `tool_results` and `tool_versions`, nothing of tools. Invariant: after `change` no version is what it
was for any of the names; a result is returned as it was put, sealed like an entry, and never at or after its end of
life.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import sqlalchemy as sa

from semcache.errors import IntegrityError
from semcache.storage.stores import rows
from semcache.storage.stores.tables import tool_results, tool_versions
from semcache.types import Scope

if TYPE_CHECKING:
    from semcache.protocols import StoreLifecycle
    from semcache.storage.stores.database import Database
    from semcache.storage.stores.seal import Seal


@dataclass(frozen=True, slots=True)
class ToolResultRow:
    """A result as JSON; times are Unix seconds. `user` is set where it is that user's alone."""

    key: bytes
    tenant: str
    tool: str
    body: bytes
    created: float
    expires: float
    user: str | None = None


@dataclass(frozen=True, slots=True)
class ResourceVersion:
    """The version of a resource; before `pending`, in Unix seconds, somebody may be about to change it."""

    version: bytes = b""
    pending: float = 0.0


class ToolResultStore(Protocol):
    """Where results are kept. Raises StoreError."""

    async def get(self, key: bytes, now: float) -> ToolResultRow | None:
        """The result under a key, None where there is none that still holds and can be opened."""

    async def put(self, row: ToolResultRow) -> None:
        """Keep a result in the place of the one before."""

    async def versions(self, scope: str, names: Sequence[str]) -> Mapping[str, ResourceVersion]:
        """The versions of resources; those that never changed are left out."""

    async def change(self, scope: str, names: Iterable[str], made: ResourceVersion, now: float) -> None:
        """Give resources a new version."""

    async def settle(self, scope: str, names: Iterable[str], made: ResourceVersion, begun: bytes, now: float) -> None:
        """Give resources a new version after a change; what another began to change since stays pending."""

    async def sweep(self, now: float, *, unchanged: float) -> int:
        """Delete what has expired, and versions that are older than `unchanged`; returns how many results."""

    async def purge(self, *, tenant: str | None = None, tool: str | None = None, user: str | None = None) -> int:
        """Forget the results of a tenant, of a tool, those that are a user's alone, or all; returns how many."""

    async def count(self, *, tenant: str | None = None, user: str | None = None, shared: bool = False) -> int:
        """The number of results of a tenant, of those that are a user's alone, or of those that are nobody's alone."""


class SqlToolResults:
    """`ToolResultStore` on a database. `seal` encrypts bodies."""

    def __init__(self, database: Database, seal: Seal | None = None) -> None:
        self._db, self._seal = database, seal

    async def get(self, key: bytes, now: float) -> ToolResultRow | None:
        """Read one row; what does not open is as if it were not there."""
        found = await self._db.fetch(_GET, {"wanted": key})
        if not found:
            return None
        tenant, tool, created, expires, seal_key, body, user = found[0]
        tenant = rows.unplain(tenant)
        if expires <= now:
            return None
        if seal_key is not None:
            if self._seal is None:
                return None
            try:
                body = self._seal.open(
                    bytes(body), key_id=seal_key, entry_id=_number(key), scope=Scope(tenant), field="tool"
                )
            except IntegrityError:
                return None
        owner = None if user is None else rows.unplain(user)
        return ToolResultRow(key, tenant, rows.unplain(tool), bytes(body), created, expires, owner)

    async def put(self, row: ToolResultRow) -> None:
        """Write one row."""
        body, seal = row.body, self._seal
        if seal is not None:
            body = seal.seal(body, entry_id=_number(row.key), scope=Scope(row.tenant), field="tool")
        values = {
            "key": row.key, "tenant": rows.plain(row.tenant), "tool": rows.plain(row.tool), "created": row.created,
            "expires": row.expires, "seal_key": seal.current if seal is not None else None, "body": body,
            "user_id": None if row.user is None else rows.plain(row.user),
        }  # fmt: skip

        def work(connection: sa.Connection) -> None:
            connection.execute(sa.delete(tool_results).where(tool_results.c.key == row.key))
            connection.execute(sa.insert(tool_results), values)

        await self._db.write(work, feed=False)

    async def versions(self, scope: str, names: Sequence[str]) -> Mapping[str, ResourceVersion]:
        """Read the rows of these names."""
        if not names:
            return {}
        plain = {rows.plain(name): name for name in names}
        statement = sa.select(*(tool_versions.c[one] for one in ("resource", "version", "pending"))).where(
            tool_versions.c.scope == sa.bindparam("whose", type_=sa.String),
            sa.or_(*(tool_versions.c.resource == sa.bindparam(f"n{at}", type_=sa.String) for at in range(len(plain)))),
        )
        params = {"whose": rows.plain(scope)} | {f"n{at}": name for at, name in enumerate(plain)}
        found = await self._db.fetch(statement, params)
        return {plain[name]: ResourceVersion(bytes(version), pending) for name, version, pending in found}

    async def change(self, scope: str, names: Iterable[str], made: ResourceVersion, now: float) -> None:
        """Write the rows of these names."""
        await self._write(scope, names, made, now, None)

    async def settle(self, scope: str, names: Iterable[str], made: ResourceVersion, begun: bytes, now: float) -> None:
        """Write the rows, and leave pending those whose version is no longer `begun`."""
        await self._write(scope, names, made, now, begun)

    async def sweep(self, now: float, *, unchanged: float) -> int:
        """Delete rows of both tables."""

        def work(connection: sa.Connection) -> int:
            connection.execute(sa.delete(tool_versions).where(tool_versions.c.changed < unchanged))
            return connection.execute(sa.delete(tool_results).where(tool_results.c.expires <= now)).rowcount

        return await self._db.write(work, feed=False)

    async def purge(self, *, tenant: str | None = None, tool: str | None = None, user: str | None = None) -> int:
        """Delete rows."""
        wanted = sa.delete(tool_results).where(*_whose({"tenant": tenant, "tool": tool, "user_id": user}))
        return await self._db.write(lambda connection: connection.execute(wanted).rowcount, feed=False)

    async def count(self, *, tenant: str | None = None, user: str | None = None, shared: bool = False) -> int:
        """Count rows."""
        wanted = sa.select(sa.func.count()).where(*_whose({"tenant": tenant, "user_id": user}))
        if shared:
            wanted = wanted.where(tool_results.c.user_id.is_(None))
        wanted = wanted.select_from(tool_results)
        return int((await self._db.fetch(wanted))[0][0])

    async def _write(
        self, scope: str, names: Iterable[str], made: ResourceVersion, now: float, begun: bytes | None
    ) -> None:
        whose, wanted = rows.plain(scope), [rows.plain(name) for name in names]

        def work(connection: sa.Connection) -> None:
            for name in wanted:
                row = sa.and_(tool_versions.c.scope == whose, tool_versions.c.resource == name)
                old = connection.execute(sa.select(tool_versions.c.version, tool_versions.c.pending).where(row)).first()
                pending = made.pending
                if begun is not None and old is not None and bytes(old[0]) != begun:
                    pending = max(pending, old[1])
                values = {"version": made.version, "pending": pending, "changed": now}
                if old is None:
                    connection.execute(sa.insert(tool_versions), {"scope": whose, "resource": name, **values})
                else:
                    connection.execute(sa.update(tool_versions).where(row).values(**values))

        await self._db.write(work, feed=False)


class MemoryToolResults:
    """`ToolResultStore` in dicts, for a cache that may forget."""

    def __init__(self) -> None:
        self._rows: dict[bytes, ToolResultRow] = {}
        self._versions: dict[tuple[str, str], tuple[ResourceVersion, float]] = {}

    async def get(self, key: bytes, now: float) -> ToolResultRow | None:
        """Look one up."""
        found = self._rows.get(key)
        return found if found is not None and found.expires > now else None

    async def put(self, row: ToolResultRow) -> None:
        """Keep one."""
        self._rows[row.key] = row

    async def versions(self, scope: str, names: Sequence[str]) -> Mapping[str, ResourceVersion]:
        """Look them up."""
        return {name: self._versions[scope, name][0] for name in names if (scope, name) in self._versions}

    async def change(self, scope: str, names: Iterable[str], made: ResourceVersion, now: float) -> None:
        """Note new versions."""
        for name in names:
            self._versions[scope, name] = made, now

    async def settle(self, scope: str, names: Iterable[str], made: ResourceVersion, begun: bytes, now: float) -> None:
        """Note new versions, and leave pending what another began to change."""
        for name in names:
            old = self._versions.get((scope, name), (made, now))[0]
            pending = made.pending if old.version == begun else max(made.pending, old.pending)
            self._versions[scope, name] = ResourceVersion(made.version, pending), now

    async def sweep(self, now: float, *, unchanged: float) -> int:
        """Forget what is over."""
        gone = [key for key, one in self._rows.items() if one.expires <= now]
        for key in gone:
            del self._rows[key]
        self._versions = {name: one for name, one in self._versions.items() if one[1] >= unchanged}
        return len(gone)

    async def purge(self, *, tenant: str | None = None, tool: str | None = None, user: str | None = None) -> int:
        """Forget results."""
        gone = [
            key
            for key, one in self._rows.items()
            if tenant in (None, one.tenant) and tool in (None, one.tool) and user in (None, one.user)
        ]
        for key in gone:
            del self._rows[key]
        return len(gone)

    async def count(self, *, tenant: str | None = None, user: str | None = None, shared: bool = False) -> int:
        """Count results."""
        mine = [one for one in self._rows.values() if tenant in (None, one.tenant) and user in (None, one.user)]
        return sum(one.user is None for one in mine) if shared else len(mine)


def tool_results_of(store: StoreLifecycle) -> ToolResultStore:
    """Where the tool results of a cache with this store are kept: in the same database, under the same keys."""
    from semcache.storage.stores.sql import SqlStore

    return SqlToolResults(store._db, store._seal) if isinstance(store, SqlStore) else MemoryToolResults()


_GET = sa.select(
    *(tool_results.c[name] for name in ("tenant", "tool", "created", "expires", "seal_key", "body", "user_id"))
).where(tool_results.c.key == sa.bindparam("wanted", type_=sa.LargeBinary))


def _whose(named: Mapping[str, str | None]) -> list[sa.ColumnElement[bool]]:
    """The conditions of columns that are to have these values."""
    return [tool_results.c[name] == rows.plain(value) for name, value in named.items() if value is not None]


def _number(key: bytes) -> int:
    """A number of a key, to which its sealed body is bound."""
    return int.from_bytes(key[:7], "big")
