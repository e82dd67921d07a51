"""Plan templates in a store: their rows, sealed like entries, with a sequence that others can follow.

Knows the table `plans` and nothing of what a template is. Invariant: a row is written as a whole or not at all, and
whoever has read up to a sequence number misses no row by asking for what is after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import sqlalchemy as sa

from semcache.errors import IntegrityError
from semcache.storage.stores import rows
from semcache.storage.stores.plan_sequence import replace_plans
from semcache.storage.stores.tables import plans
from semcache.types import Scope

if TYPE_CHECKING:
    from semcache.protocols import StoreLifecycle
    from semcache.storage.stores.database import Database
    from semcache.storage.stores.seal import Seal


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """A template as bytes; an empty `body` says that it is gone. `seq` is given by the store."""

    id: int
    tenant: str
    body: bytes
    expires: float
    embedder_id: str = ""
    vectors: bytes = b""
    seq: int = 0


class PlanStore(Protocol):
    """Where templates are kept. Raises StoreError."""

    async def put_plans(self, plans: Sequence[StoredPlan]) -> None:
        """Store rows in place of those with the same ids, in one transaction."""
        ...

    async def plans(self, since: int, *, limit: int = 1000) -> list[StoredPlan]:
        """Rows changed after `since`, by ascending `seq`; those that cannot be opened come without a body."""
        ...

    async def sweep_plans(self, now: float) -> int:
        """Delete what expired before `now`, marks of what is gone too, but not the newest row; returns how many."""
        ...

    async def count_plans(self, tenant: str | None = None) -> int:
        """The number of templates (of a tenant), those that cannot be opened included."""
        ...


class SqlPlans:
    """`PlanStore` on a database. `seal` encrypts bodies."""

    def __init__(self, database: Database, seal: Seal | None = None) -> None:
        self._db, self._seal = database, seal

    async def put_plans(self, plans: Sequence[StoredPlan]) -> None:
        """Store rows, sealed, each with the next sequence number."""
        values = [self._row(one) for one in plans]
        if values:
            await self._db.write(lambda connection: replace_plans(connection, values))

    async def plans(self, since: int, *, limit: int = 1000) -> list[StoredPlan]:
        """Rows after `since`; what does not open is passed by like what is gone."""
        found = await self._db.fetch(_AFTER, {"after": since, "bundle": limit}, bulk=True)
        readable: list[StoredPlan] = []
        for row in found:
            try:
                readable.append(self._read(row))
            except IntegrityError:
                readable.append(StoredPlan(row[0], rows.unplain(row[2]), b"", row[3], seq=row[1]))
        return readable

    async def sweep_plans(self, now: float) -> int:
        """Delete expired rows; the mark of a deleted one expires when every worker must have seen it."""
        # The newest row stays: the next sequence number is counted from it.
        newest = sa.select(sa.func.max(plans.c.seq)).scalar_subquery()
        old = sa.delete(plans).where(plans.c.expires < now, plans.c.seq < newest)
        return await self._db.write(lambda connection: connection.execute(old).rowcount)

    async def count_plans(self, tenant: str | None = None) -> int:
        """Count rows that are no marks."""
        wanted = sa.select(sa.func.count()).select_from(plans).where(plans.c.body != b"")
        if tenant is not None:
            wanted = wanted.where(plans.c.tenant == rows.plain(tenant))
        return int((await self._db.fetch(wanted))[0][0])

    def _row(self, one: StoredPlan) -> dict[str, Any]:
        body = one.body
        if self._seal is not None and body:
            body = self._seal.seal(body, entry_id=one.id, scope=Scope(one.tenant), field="plan")
        return {
            "id": one.id,
            "tenant": rows.plain(one.tenant),
            "expires": one.expires,
            "seal_key": self._seal.current if self._seal is not None and one.body else None,
            "embedder_id": rows.plain(one.embedder_id),
            "vectors": one.vectors,
            "body": body,
        }

    def _read(self, row: Any) -> StoredPlan:
        number, seq, tenant, expires, seal_key, embedder_id, vectors, body = row
        tenant = rows.unplain(tenant)
        if seal_key is not None:
            if self._seal is None:
                raise IntegrityError(f"plan {number} is sealed with key {seal_key!r}, and there is no ring of keys")
            body = self._seal.open(body, key_id=seal_key, entry_id=number, scope=Scope(tenant), field="plan")
        return StoredPlan(number, tenant, bytes(body), expires, rows.unplain(embedder_id), bytes(vectors), seq)


class MemoryPlans:
    """`PlanStore` in a dict, for tests and for a cache that may forget."""

    def __init__(self) -> None:
        self._rows: dict[int, StoredPlan] = {}
        self._seq = 0

    async def put_plans(self, plans: Sequence[StoredPlan]) -> None:
        """Keep rows, each with the next sequence number."""
        for one in plans:
            self._seq += 1
            self._rows.pop(one.id, None)
            self._rows[one.id] = replace(one, seq=self._seq)

    async def plans(self, since: int, *, limit: int = 1000) -> list[StoredPlan]:
        """Rows after `since`, by ascending `seq`."""
        return [one for one in self._rows.values() if one.seq > since][:limit]

    async def sweep_plans(self, now: float) -> int:
        """Forget expired rows, marks too."""
        gone = [one.id for one in self._rows.values() if one.expires < now and one.seq < self._seq]
        for number in gone:
            del self._rows[number]
        return len(gone)

    async def count_plans(self, tenant: str | None = None) -> int:
        """Count rows that are no marks."""
        return sum(bool(one.body) and tenant in (None, one.tenant) for one in self._rows.values())


def plans_of(store: StoreLifecycle) -> PlanStore:
    """Where the templates of a cache with this store are kept: in the same database, under the same keys."""
    from semcache.storage.stores.sql import SqlStore

    return SqlPlans(store._db, store._seal) if isinstance(store, SqlStore) else MemoryPlans()


_AFTER = (
    sa.select(*(plans.c[name] for name in (
        "id", "seq", "tenant", "expires", "seal_key", "embedder_id", "vectors", "body",
    )))
    .where(plans.c.seq > sa.bindparam("after", type_=sa.BigInteger))
    .order_by(plans.c.seq)
    .limit(sa.bindparam("bundle", type_=sa.Integer))
)  # fmt: skip
