"""API keys on a database: made, revoked, limited, given an end, and the note that one has come.

Knows the table `api_keys` and the administrators' log. Invariant: of all processes of a store one notes that a key has
expired, and once.
"""

from __future__ import annotations

import json

import sqlalchemy as sa

from semcache.storage.stores import rows, statements
from semcache.storage.stores.database import Database
from semcache.storage.stores.tables import actions, api_keys
from semcache.types import ApiKey, expiry_action

_LIMITS = ("requests_per_minute", "tokens_per_minute", "dollars_per_day")
_PLAIN = ("id", "digest", "created", "trusted", "admin", "revoked", "read_only", "expires", *_LIMITS)


class KeyRows:
    """The part of the SQL store that keeps API keys."""

    _db: Database

    async def add_key(self, key: ApiKey) -> None:
        """Store a key. Raises StoreError when its id or digest is taken."""
        row = {name: getattr(key, name) for name in _PLAIN}
        row |= {"tenant": rows.plain(key.tenant), "name": rows.plain(key.name)}
        row["user_id"] = None if key.user is None else rows.plain(key.user)
        await self._db.write(lambda connection: connection.execute(sa.insert(api_keys), row), feed=False)

    async def keys(self) -> list[ApiKey]:
        """Every key, revoked and expired ones included, oldest first."""
        return [
            ApiKey(  # type: ignore[call-arg]
                key_id,
                digest,
                rows.unplain(tenant),
                rows.unplain(name),
                created,
                bool(trusted),
                bool(admin),
                revoked,
                None if user is None else rows.unplain(user),
                *limits,
                bool(read_only),
                expires,
            )
            for key_id, digest, tenant, name, created, trusted, admin, revoked, user, *limits, read_only, expires in (
                await self._db.fetch(statements.KEYS)
            )
        ]

    async def revoke_key(self, id: str, *, now: float) -> bool:
        """Revoke a key; False when there is none, or it is revoked already."""
        revoke = sa.update(api_keys).where(api_keys.c.id == id, api_keys.c.revoked.is_(None)).values(revoked=now)
        return await self._db.write(lambda connection: connection.execute(revoke).rowcount > 0, feed=False)

    async def limit_key(self, id: str, *, requests: int | None, tokens: int | None, dollars: float | None) -> bool:
        """Set the limits of a key, None for those of the settings; False when there is no such key."""
        limits = dict(zip(_LIMITS, (requests, tokens, dollars), strict=True))
        change = sa.update(api_keys).where(api_keys.c.id == id).values(**limits)
        return await self._db.write(lambda connection: connection.execute(change).rowcount > 0, feed=False)

    async def expire_key(self, id: str, *, expires: float | None) -> bool:
        """Set the end of a key, None for none; False when there is no such key, or it is revoked."""
        change = sa.update(api_keys).where(api_keys.c.id == id, api_keys.c.revoked.is_(None)).values(expires=expires)
        return await self._db.write(lambda connection: connection.execute(change).rowcount > 0, feed=False)

    async def note_expired(self, *, since: float, now: float) -> None:
        """Write into the administrators' log which keys have expired since then, each once."""
        ended = [key for key in await self.keys() if key.revoked is None and key.expires and since < key.expires <= now]
        if not ended:
            return

        def work(connection: sa.Connection) -> None:
            for key in ended:
                one = expiry_action(key)
                row = {"at": one.at, "who": one.who, "action": one.action, "detail": json.dumps(one.detail)}
                noted = sa.select(actions.c.id).where(*(actions.c[name] == value for name, value in row.items()))
                if connection.execute(noted).first() is None:
                    connection.execute(sa.insert(actions), row | {"tenant": rows.plain(key.tenant)})

        # Under the lock of the feed, because other workers look at the same time.
        await self._db.write(work)
