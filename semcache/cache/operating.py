"""Operating a cache: cost and savings of requests, the reasons for their outcomes, deletion and undo.

Knows the operators' part of the store and the state of this process; nothing of HTTP or the command line. Invariant: a
tenant sees and undoes only its own actions; every deletion, undo, withdrawal and erasure is logged.
"""

from __future__ import annotations

import asyncio
import secrets
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semcache.cache.prompt_sample import varying_prompts
from semcache.cache.reasons import explained
from semcache.errors import IntegrityError, InvalidArgument, StoreError
from semcache.learning.feedback import ELSEWHERE
from semcache.learning.reports import UNCOUNTED
from semcache.protocols import OperatorStore
from semcache.storage.accounting import usage_rows
from semcache.storage.stores.tool_rows import tool_results_of
from semcache.types import AdminAction, DecisionRecord, Selector, Why, public_id

if TYPE_CHECKING:
    from semcache.cache.components import Components
    from semcache.learning.reports import Withdrawn

BY = ("tenant", "model", "category", "day", "hour")
_SAMPLE = 1000
_WEEK, _MONTH = 7 * 86400.0, 30 * 86400.0
_EVERY = 120.0  # seconds
_FEW = 5
_TEXT = 500  # characters of a neighbour's prompt that are shown


class Operating:
    """The operator's side of a cache."""

    def __init__(self, components: Components) -> None:
        self._parts = components
        # Called with a selector of all that a tenant or a user has, when that was deleted.
        self.forgetters: list[Callable[[Selector], object]] = []
        # Called with a tenant that was erased for good, and the time.
        self.erasers: list[Callable[[str, float], Awaitable[None]]] = []
        self._varying: dict[str | None, tuple[float, list[str]]] = {}  # by tenant, with the time of looking

    async def usage(
        self, by: str, *, since: float, until: float | None = None, tenant: str | None = None
    ) -> list[dict[str, Any]]:
        """Requests, hits and net savings of a time, a row for each of `BY` and one of all. Raises StoreError."""
        await self._parts.event_log.flush()
        return await usage_of(
            self._store, by, since=since, until=self._parts.clock() if until is None else until, tenant=tenant
        )

    async def requests(
        self,
        *,
        tenant: str | None = None,
        outcome: str | None = None,
        why: str | None = None,
        before: float | None = None,
        limit: int = 50,
    ) -> list[dict[str, Any]]:
        """The recorded decisions, newest first, without their neighbours. Raises StoreError."""
        await self._parts.event_log.flush()
        found = await self._store.decisions(tenant=tenant, outcome=outcome, why=why, before=before, limit=limit)
        return [summary(one) for one in found]

    async def request(self, request_id: str, *, tenant: str | None = None) -> dict[str, Any] | None:
        """Why one request was served or not; None for one that is not known (of that tenant). Raises StoreError."""
        await self._parts.event_log.flush()
        found = await request_of(self._store, request_id, tenant=tenant)
        if found is not None and found["why"] == Why.COLD:
            found["varying_prompts"] = await self.varying_prompts(found["tenant"])
        return found

    async def delete(self, where: Selector, *, who: str, forever: bool = False) -> tuple[list[int], str | None]:
        """Delete matching entries; return the ids, and the name to give to `undo`, None if it cannot be undone.

        Raises StoreError.
        """
        await self._parts.event_log.flush()  # what is still to be written is erased as well
        ids, batch = await delete_from(
            self._parts.store,
            where,
            now=self._parts.clock(),
            undo=0.0 if forever else self._parts.undo,
            who=who,
            meanwhile=self._hidden,
        )
        await self._parts.live.hide(*ids)
        for forget in self.forgetters if where.is_owner() else ():
            forget(where)
        if forever and where.tenant is not None and where == Selector(tenant=where.tenant):
            for erase in self.erasers:
                await erase(where.tenant, self._parts.clock())
        return ids, batch

    async def _hidden(self, ids: Sequence[int]) -> None:
        await self._parts.live.hide(*ids)
        if self._parts.shared:
            await others_wrote()

    async def undo(self, batch: str, *, who: str, tenant: str | None = None) -> list[int]:
        """Bring back what was deleted under this name; return the ids. Raises StoreError."""
        ids = await undo_in(self._store, batch, now=self._parts.clock(), who=who, tenant=tenant)
        await self._parts.maintenance.apply_changes()
        return ids

    async def deleted(self, *, tenant: str | None = None) -> list[dict[str, Any]]:
        """The deletions that can be undone, newest first. Raises StoreError."""
        return await deleted_in(self._store, self._parts.clock(), tenant=tenant)

    async def withdraw(self, entry_id: int | None, *, who: str, tenant: str | None = None) -> Withdrawn | None:
        """Take back the reports of a wrong answer; None when there is none (of that tenant). Raises StoreError."""
        done = await self._parts.feedback.withdraw(entry_id, tenant=tenant, who=who)
        if done is not None:
            await self._parts.maintenance.apply_changes()
        return done

    async def actions(self, *, tenant: str | None = None, limit: int = 100) -> list[dict[str, Any]]:
        """The administrators' log, newest first. Raises StoreError."""
        return [action_facts(one) for one in await self._store.actions(tenant=tenant, limit=limit)]

    async def act(self, action: str, *, who: str, tenant: str | None = None, **detail: Any) -> None:
        """Write into the administrators' log. Raises StoreError."""
        await self._store.act(AdminAction(self._parts.clock(), who, action, tenant, detail))

    async def count_reports(self) -> None:
        """Count the reports of wrong answers that were written into the store and are in no server's metrics yet.

        For servers whose metrics are collected. Raises StoreError.
        """
        store = self._parts.store
        if not isinstance(store, OperatorStore):
            return
        for report in await store.take_marked(UNCOUNTED, since=self._parts.clock() - _WEEK):
            self._parts.meter.false_hits.labels(report.detail[UNCOUNTED], "feedback").inc()

    async def unpriced(self) -> list[str]:
        """Models that were called within a month and have no price. Raises StoreError."""
        prices, store = self._parts.prices, self._parts.store
        found = set(prices.unpriced)
        if isinstance(store, OperatorStore):
            found |= set(await store.unpriced(since=self._parts.clock() - _MONTH))
        return sorted(model for model in found if model and not prices.knows(model))

    async def varying_prompts(self, tenant: str | None = None) -> list[str]:
        """The parts in which alone system prompts (of a tenant) differ, in words. Raises StoreError.

        They are sought once in minutes.
        """
        now = self._parts.clock()
        if tenant not in self._varying or now - self._varying[tenant][0] >= _EVERY:
            found = await varying_prompts(self._parts.store, self._parts.pack.ignore_in_system, tenant=tenant)
            recent = {name: one for name, one in self._varying.items() if now - one[0] < _EVERY}
            self._varying = recent | {tenant: (now, [one.told() for one in found[:_FEW]])}
        return self._varying[tenant][1]

    async def models(self, tenant: str) -> dict[str, int]:
        """Entries of a tenant by model, the most first; of a thousand. Raises StoreError."""
        found = await self._parts.store.select(Selector(tenant=tenant), limit=_SAMPLE)
        return dict(Counter(entry.model for entry in found).most_common())

    async def tenants(self) -> dict[str, int]:
        """Entries by tenant, the most first, of a thousand. Raises StoreError."""
        found = await self._parts.store.select(Selector(everything=True), limit=_SAMPLE)
        return dict(Counter(entry.key.scope.tenant for entry in found).most_common())

    async def elsewhere(self, tenant: str, model: str, why: str, *, everybody: bool = True) -> str:
        """Say where there are entries, if none was found under this tenant and model, else "". Raises StoreError.

        Other tenants are named only if `everybody` may know of them.
        """
        models = await self.models(tenant)
        others = [f"{name} ({count})" for name, count in models.items() if name != model][:5]
        if others and why == "cold":
            return f"Asked for the model {model}; this tenant has entries of {', '.join(others)} too."
        if models:
            return ""
        known = ", ".join(list(await self.tenants())[:5]) if everybody else ""
        return f"The tenant {tenant!r} has no entries" + (f"; these have: {known}." if known else ".")

    @property
    def _store(self) -> OperatorStore:
        return operator_store(self._parts.store)


def operator_store(store: object) -> OperatorStore:
    """The store as operators need it. Raises StoreError for one of a plug-in that keeps nothing for them."""
    if not isinstance(store, OperatorStore):
        raise StoreError(f"a store of kind {type(store).__name__} keeps no decisions, sums by the hour or deletions")
    return store


async def usage_of(
    store: object, by: str, *, since: float, until: float, tenant: str | None = None
) -> list[dict[str, Any]]:
    """The rows of `semcache stats --by`. Raises InvalidArgument or StoreError."""
    if by not in BY:
        raise InvalidArgument(f"by {by!r}: there are {', '.join(BY)}")
    group, since = "hour" if by == "day" else by, max(0.0, since)
    return usage_rows(await operator_store(store).usage(since=since, until=until, by=[group], tenant=tenant), by)


async def request_of(store: object, request_id: str, *, tenant: str | None = None) -> dict[str, Any] | None:
    """Why one request was served or not, with the prompts of its neighbours; None for one that is not known.

    Raises StoreError.
    """
    kept = operator_store(store)
    try:
        found = await kept.decision(request_id)
    except IntegrityError:
        found = None
    if found is None:
        row = await kept.outcome_of(request_id)
        if row is None or tenant not in (None, row["tenant"]):
            return None
        return outcome_facts(row)
    if tenant not in (None, found.scope.tenant):
        return None
    texts: dict[str, str] = {}
    try:
        entries = await store.get(list(found.mentions))  # type: ignore[attr-defined]
        texts = {public_id(entry.id): entry.key.text[:_TEXT] for entry in entries if entry is not None}
    except IntegrityError:
        pass
    neighbours = [
        {**one, "prompt": texts.get(one["id"]), "gone": one["id"] not in texts}
        for one in found.body.get("neighbours", ())
    ]
    return {**summary(found), **found.body, "neighbours": neighbours}


async def others_wrote(_ids: Sequence[int] = ()) -> None:
    """Wait until other workers have written what they know of requests so far, if they work."""
    await asyncio.sleep(ELSEWHERE)


async def delete_from(
    store: Any,
    where: Selector,
    *,
    now: float,
    undo: float,
    who: str,
    meanwhile: Callable[[Sequence[int]], Awaitable[None]] = others_wrote,
) -> tuple[list[int], str | None]:
    """Delete what matches, so that it can be undone for so many seconds, 0 for erasing it. Raises StoreError.

    What others write about it `meanwhile`, which is given the ids, is erased as well. Results of tools go with a tenant
    or a user, and no undo brings them back.
    """
    keeps = isinstance(store, OperatorStore)
    batch: str | None = None
    results = 0
    if where.is_owner():
        results = await tool_results_of(store).purge(tenant=where.tenant, user=where.user)
    if keeps and undo > 0.0:
        batch = secrets.token_hex(4)
        ids = await store.set_aside(where, batch=batch, now=now, until=now + undo)
    else:
        ids = await store.delete(where, now=now)
        if keeps:
            await _erase(store, where, ids, now)
            await meanwhile(ids)
            await _erase(store, where, ids, now)
    if keeps:
        detail = {"count": len(ids), "undo": batch, "where": _where(where, ids, erased=batch is None)}
        detail |= {"tool_results": results} if results else {}
        await store.act(AdminAction(now, who, "purge" if batch else "erase", where.tenant, detail))
    return ids, batch if ids else None


async def _erase(store: OperatorStore, where: Selector, ids: Sequence[int], now: float) -> None:
    """Forget what was recorded of deleted entries and of what a selector names. Raises StoreError."""
    await store.erase(where, now=now)
    for start in range(0, len(ids), 500):
        await store.erase(Selector(ids=tuple(ids[start : start + 500])), now=now)


async def undo_in(store: object, batch: str, *, now: float, who: str, tenant: str | None = None) -> list[int]:
    """Bring back what was deleted under this name. Raises StoreError."""
    kept = operator_store(store)
    ids = await kept.bring_back(batch, now=now, tenant=tenant)
    if ids:
        await kept.act(AdminAction(now, who, "undo", tenant, {"undo": batch, "count": len(ids)}))
    return ids


async def deleted_in(store: object, now: float, *, tenant: str | None = None) -> list[dict[str, Any]]:
    """The deletions that can be undone, as JSON has it. Raises StoreError."""
    return [
        {"undo": one.batch, "at": one.at, "until": one.until, "count": one.count, "tenants": list(one.tenants)}
        for one in await operator_store(store).set_aside_since(now, tenant=tenant)
    ]


def summary(one: DecisionRecord) -> dict[str, Any]:
    """A decision in one row."""
    return {
        "id": one.request_id,
        "upstream_id": one.upstream_id or None,
        "at": one.at,
        "tenant": one.scope.tenant,
        "model": one.model,
        "outcome": one.outcome,
        "why": one.why,
        "meaning": explained(Why(one.why))[0],
        "category_name": one.category,
        "entry_id": None if one.entry_id is None else public_id(one.entry_id),
        "prompt": one.body.get("prompt", ""),
    }


def outcome_facts(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the event log, for a request without a recorded decision."""
    meaning, remedy = explained(Why(row["why"]))
    entry_id = row["entry_id"]
    names = ("at", "tenant", "model", "outcome", "why", "status", "stored", "score", "p_correct", "endpoint")
    return {
        "id": row["request_id"],
        **{name: row[name] for name in names},
        "category_name": row["category"],
        "entry_id": None if entry_id is None else public_id(entry_id),
        "meaning": meaning,
        "remedy": remedy,
        "neighbours": [],
        "sampled": False,
    }


def action_facts(one: AdminAction) -> dict[str, Any]:
    """An action as JSON has it."""
    return {"at": one.at, "who": one.who, "action": one.action, "tenant": one.tenant, **dict(one.detail)}


def _where(where: Selector, ids: list[int], *, erased: bool) -> dict[str, Any]:
    """A selector for the log: the names of its fields, and only a few ids."""
    shown = replace(where, ids=None)
    said = {name: getattr(shown, name) for name in Selector.__slots__ if getattr(shown, name) not in (None, False)}
    if erased and where.user is not None:
        said["user"] = "(erased)"
    return said | ({"ids": [public_id(one) for one in ids[:20]]} if where.ids is not None else {})
