"""Decisions and actions on a database: why requests were served or not, and what administrators did.

Knows the tables `decisions`, `mentions` and `actions`, and nothing of what a decision says. Invariant: a decision is
sealed as entries are, there are never more than the caller allows, and it goes with any entry that it mentions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import msgspec
import sqlalchemy as sa

from semcache.errors import IntegrityError
from semcache.storage.stores import learning_rows, outcome_rows, rows
from semcache.storage.stores.database import Database
from semcache.storage.stores.tables import actions, decisions, events, mentions
from semcache.types import AdminAction, DecisionRecord, Scope
from semcache.types.evidence import Label

if TYPE_CHECKING:
    from semcache.storage.stores.seal import Seal

DECISION_FIELD = "decision"  # to which a sealed body is bound
_YEAR = 366 * 86400.0
_ACTION = sa.select(actions.c.at, actions.c.who, actions.c.action, actions.c.tenant, actions.c.detail)


class DecisionRows:
    """The part of the SQL store that operators look back with."""

    _db: Database
    _seal: Seal | None

    async def usage(
        self, *, since: float, until: float, by: Sequence[str], tenant: str | None = None
    ) -> list[Mapping[str, Any]]:
        """Counts and sums of whole hours, by some of `outcome_rows.GROUPS` and always by outcome."""
        return list(await outcome_rows.usage(self._db, since=since, until=until, by=by, tenant=tenant))

    async def unpriced(self, *, since: float) -> list[str]:
        """Models that were called since then and cost nothing, as far as is known."""
        return await outcome_rows.unpriced(self._db, since=since)

    async def outcomes_after(
        self, after: int | None, *, tenant: str | None = None, limit: int = 200
    ) -> list[dict[str, Any]]:
        """Requests in the event log after the row with this id, oldest first; with None the newest ones."""
        return await outcome_rows.outcomes_after(self._db, after, tenant=tenant, limit=limit)

    async def labels_about(self, ids: Sequence[int], *, tenant: str | None = None, limit: int = 200) -> list[Label]:
        """The newest labels about these entries, newest first."""
        return await learning_rows.labels_about(self._db, ids, tenant=tenant, limit=limit)

    async def keep_decisions(self, kept: Sequence[DecisionRecord], *, most: int) -> None:
        """Keep decisions, and no more than the newest `most` of all."""
        if not kept:
            return
        values = [self._decision_row(one) for one in kept]
        links = [
            {"entry_id": entry_id, "decision_id": row["id"]}
            for one, row in zip(kept, values, strict=True)
            for entry_id in dict.fromkeys(one.mentions)
        ]

        def work(connection: sa.Connection) -> None:
            connection.execute(sa.delete(decisions).where(decisions.c.id.in_([row["id"] for row in values])))
            connection.execute(sa.insert(decisions), values)
            if links:
                connection.execute(sa.insert(mentions), links)
            count = connection.execute(sa.select(sa.func.count()).select_from(decisions)).scalar() or 0
            if count > most:
                oldest = sa.select(decisions.c.id).order_by(decisions.c.at).limit(count - most)
                connection.execute(sa.delete(decisions).where(decisions.c.id.in_(oldest)))

        await self._db.write(work, feed=False)

    async def decisions(
        self,
        *,
        tenant: str | None = None,
        outcome: str | None = None,
        why: str | None = None,
        category: str | None = None,
        before: float | None = None,
        limit: int = 50,
    ) -> list[DecisionRecord]:
        """Decisions, newest first; those that cannot be opened are left out."""
        named = {"tenant": tenant, "category": category}
        given = {name: None if value is None else rows.plain(value) for name, value in named.items()}
        given |= {"outcome": outcome, "why": why}
        chosen = sa.select(decisions).where(
            *(decisions.c[name] == value for name, value in given.items() if value is not None)
        )
        if before is not None:
            chosen = chosen.where(decisions.c.at < before)
        found = await self._db.fetch(chosen.order_by(decisions.c.at.desc()).limit(limit), bulk=True)
        readable = []
        for row in found:
            try:
                readable.append(self._decision(row))
            except IntegrityError:
                continue
        return readable

    async def decision(self, request_id: str) -> DecisionRecord | None:
        """The decision on one request, by its own id or the upstream's.

        Raises IntegrityError when it cannot be opened.
        """
        number = number_of(request_id)
        chosen = sa.select(decisions).where(sa.or_(decisions.c.id == number, decisions.c.upstream == number))
        found = await self._db.fetch(chosen.order_by(decisions.c.at.desc()).limit(1))
        return self._decision(found[0]) if found else None

    async def outcome_of(self, request_id: str) -> Mapping[str, Any] | None:
        """The row of the event log of one request."""
        chosen = (
            sa.select(events)
            .where(events.c.request_id == rows.plain(request_id), events.c.requests > 0)
            .order_by(events.c.id.desc())
            .limit(1)
        )

        def read(connection: sa.Connection) -> Mapping[str, Any] | None:
            row = connection.execute(chosen).mappings().first()
            return None if row is None else dict(row)

        found = await self._db.look(read)
        if found is None:
            return None
        return {name: rows.unplain(value) if isinstance(value, str) else value for name, value in found.items()}

    async def act(self, action: AdminAction) -> None:
        """Append to the administrators' log."""
        row = {
            "at": action.at,
            "who": rows.plain(action.who),
            "tenant": None if action.tenant is None else rows.plain(action.tenant),
            "action": action.action,
            "detail": json.dumps(dict(action.detail)),
        }
        await self._db.write(lambda connection: connection.execute(sa.insert(actions), row), feed=False)

    async def actions(self, *, tenant: str | None = None, limit: int = 100) -> list[AdminAction]:
        """The newest actions first (of that tenant)."""
        chosen = _ACTION
        if tenant is not None:
            chosen = chosen.where(actions.c.tenant == rows.plain(tenant))
        found = await self._db.fetch(chosen.order_by(actions.c.id.desc()).limit(limit), bulk=True)
        return [_action(row) for row in found]

    async def take_marked(self, mark: str, *, since: float) -> list[AdminAction]:
        """The actions since then whose detail has this key, oldest first, as they were; the key is taken out."""
        chosen = _ACTION.add_columns(actions.c.id).where(actions.c.at >= since)
        # No text within the detail looks like this: its quotes are escaped.
        chosen = chosen.where(actions.c.detail.contains(f"{json.dumps(mark)}: ", autoescape=True))
        found = await self._db.fetch(chosen.order_by(actions.c.id), bulk=True)
        if not found:
            return []
        marked = [(row[-1], row[-2], _action(row[:-1])) for row in found]

        def take(connection: sa.Connection) -> list[AdminAction]:
            taken = []
            for number, written, action in marked:
                left = {name: value for name, value in action.detail.items() if name != mark}
                # Another worker may have taken it since it was read.
                mine = sa.update(actions).where(actions.c.id == number, actions.c.detail == written)
                if connection.execute(mine.values(detail=json.dumps(left))).rowcount:
                    taken.append(action)
            return taken

        return await self._db.write(take, feed=False)

    def _sweep_decisions(self, connection: sa.Connection, now: float) -> None:
        connection.execute(sa.delete(decisions).where(decisions.c.expires <= now))
        connection.execute(sa.delete(actions).where(actions.c.at < now - _YEAR))

    def _decision_row(self, one: DecisionRecord) -> dict[str, Any]:
        number = number_of(one.request_id)
        whole = {"ids": [one.request_id, one.upstream_id], "mentions": list(one.mentions), "said": one.body}
        body = msgspec.json.encode(whole)
        if self._seal is not None:
            body = self._seal.seal(body, entry_id=number, scope=one.scope, field=DECISION_FIELD)
        return {
            "id": number,
            "at": one.at,
            "expires": one.expires,
            "tenant": rows.plain(one.scope.tenant),
            "user_id": None if one.scope.user is None else rows.plain(one.scope.user),
            "namespace": rows.plain(one.scope.namespace),
            "category": rows.plain(one.category),
            "model": rows.plain(one.model),
            "outcome": one.outcome,
            "why": one.why,
            "entry_id": one.entry_id,
            "upstream": number_of(one.upstream_id) if one.upstream_id else 0,
            "seal_key": self._seal.current if self._seal is not None else None,
            "body": body,
        }

    def _decision(self, row: Sequence[Any]) -> DecisionRecord:
        number, at, expires, tenant, user, namespace, category, model, outcome, why, entry_id, _, seal_key, body = row
        scope = Scope(rows.unplain(tenant), None if user is None else rows.unplain(user), rows.unplain(namespace))
        if seal_key is not None:
            body = rows.opened(body, self._seal, seal_key, entry_id=number, scope=scope, field=DECISION_FIELD)
        try:
            said = msgspec.json.decode(body)
            return DecisionRecord(
                said["ids"][0],
                at,
                expires,
                scope,
                rows.unplain(category),
                rows.unplain(model),
                outcome,
                why,
                entry_id,
                said["said"],
                tuple(said["mentions"]),
                said["ids"][1],
            )
        except (msgspec.MsgspecError, KeyError, TypeError) as error:
            raise IntegrityError(f"the decision {number} is damaged: {error}") from error


def number_of(request_id: str) -> int:
    """The row id of a decision: 63 bits of a digest of the request's id."""
    digest = blake2b(request_id.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> 1


def _action(row: Sequence[Any]) -> AdminAction:
    at, who, action, of, detail = row
    return AdminAction(at, rows.unplain(who), action, None if of is None else rows.unplain(of), json.loads(detail))
