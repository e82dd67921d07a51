"""Decisions, actions and deleted entries of the store in memory, and its sums by the hour.

Knows the entries, their vectors, rejections and events that the store holds. Invariant: it behaves as `deleted_rows`
and `decision_rows`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from semcache.storage.stores.memory_learning import MemoryLearning
from semcache.types import (
    ALL_OTHERS,
    AdminAction,
    ChangeKind,
    DecisionRecord,
    Deletion,
    Entry,
    Recorded,
    Rejection,
    Scope,
    Selector,
)
from semcache.types.evidence import Label

if TYPE_CHECKING:
    from semcache.types import Vector

_YEAR = 366 * 86400.0
SUMS = (
    "requests", "saved_prompt_tokens", "saved_completion_tokens", "saved_cost", "spent_cost", "seconds",
    "spent_prompt_tokens", "spent_completion_tokens", "overhead_cost", "calls",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Aside:
    """A deleted entry."""

    at: float
    until: float
    entry: Entry
    vector: Vector | None
    rejections: tuple[Rejection, ...]
    unshelved: bool = False


class MemoryOperating(MemoryLearning):
    """`OperatorStore` in dicts."""

    _by_exact: dict[bytes, int]
    _vectors: dict[int, Vector]
    _rejections: dict[Rejection, None]
    _events: list[Recorded]

    def __init__(self) -> None:
        super().__init__()
        self._decisions: dict[str, DecisionRecord] = {}
        self._actions: list[AdminAction] = []
        self._aside: dict[tuple[str, int], _Aside] = {}
        self._events_gone = 0  # outcomes that were trimmed: an outcome's id is its place among all

    async def usage(
        self, *, since: float, until: float, by: Sequence[str], tenant: str | None = None
    ) -> list[Mapping[str, Any]]:
        """Counts and sums of whole hours, by some of hour, tenant, model and category, and by outcome."""
        first, last = -(-since // 3600.0), -(-until // 3600.0)
        names = [name for name in ("hour", "tenant", "model", "category", "outcome") if name in by or name == "outcome"]
        groups: dict[tuple[Any, ...], dict[str, float]] = {}
        for event in self._events:
            if not first <= event.at / 3600.0 < last or tenant not in (None, event.scope.tenant):
                continue
            place = {
                "hour": int(event.at // 3600.0),
                "tenant": event.scope.tenant,
                "model": event.model,
                "category": event.category,
                "outcome": event.outcome.value,
            }
            group = groups.setdefault(tuple(place[name] for name in names), dict.fromkeys(SUMS, 0))
            for name, value in sums_of(event).items():
                group[name] += value
        return [{**dict(zip(names, place, strict=True)), **sums} for place, sums in groups.items()]

    async def unpriced(self, *, since: float) -> list[str]:
        """Models that were called since then and cost nothing, as far as is known."""
        paid: dict[str, float] = {}
        for event in self._events:
            if event.at >= since and sums_of(event)["calls"]:
                paid[event.model] = paid.get(event.model, 0.0) + event.spent_cost
        return sorted(model for model, cost in paid.items() if cost == 0.0)

    async def outcomes_after(
        self, after: int | None, *, tenant: str | None = None, limit: int = 200
    ) -> list[dict[str, Any]]:
        """Requests in the event log after the one with this id, oldest first; with None the newest ones."""
        first = 0 if after is None else max(0, after - self._events_gone)
        mine = [
            (number, one)
            for number, one in enumerate(self._events[first:], self._events_gone + first + 1)
            if one.count and tenant in (None, one.scope.tenant)
        ]
        return [_shown(number, one) for number, one in (mine[-limit:] if after is None else mine[:limit])]

    async def labels_about(self, ids: Sequence[int], *, tenant: str | None = None, limit: int = 200) -> list[Label]:
        """The newest labels about these entries, newest first."""
        wanted = frozenset(ids)
        mine = (one for one in reversed(self._labels) if one.entry_id in wanted and tenant in (None, one.tenant))
        return list(islice(mine, limit))

    async def keep_decisions(self, kept: Sequence[DecisionRecord], *, most: int) -> None:
        """Keep decisions, and no more than the newest `most` of all."""
        self._decisions |= {one.request_id: one for one in kept}
        for one in sorted(self._decisions.values(), key=lambda one: one.at)[: max(0, len(self._decisions) - most)]:
            del self._decisions[one.request_id]

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
        """Decisions, newest first."""
        found = [
            one
            for one in self._decisions.values()
            if tenant in (None, one.scope.tenant)
            and outcome in (None, one.outcome)
            and why in (None, one.why)
            and category in (None, one.category)
            and (before is None or one.at < before)
        ]
        return sorted(found, key=lambda one: -one.at)[:limit]

    async def decision(self, request_id: str) -> DecisionRecord | None:
        """The decision on one request, by its own id or the upstream's."""
        same = (one for one in self._decisions.values() if request_id and one.upstream_id == request_id)
        return self._decisions.get(request_id) or next(same, None)

    async def outcome_of(self, request_id: str) -> Mapping[str, Any] | None:
        """The outcome of one request, as the event log has it."""
        found = next((one for one in reversed(self._events) if one.request_id == request_id and one.count), None)
        if found is None:
            return None
        return {
            "request_id": found.request_id,
            "at": found.at,
            "endpoint": found.endpoint,
            "tenant": found.scope.tenant,
            "model": found.model,
            "category": found.category,
            "outcome": found.outcome.value,
            "why": found.why.value,
            "status": found.status,
            "entry_id": found.entry_id,
            "score": found.score,
            "p_correct": found.p_correct,
            "stored": found.stored,
        }

    async def set_aside(self, where: Selector, *, batch: str, now: float, until: float) -> list[int]:
        """Delete what matches and keep it aside; return the ids."""
        await self.ping()
        ids = self._matching(where)
        for entry_id in ids:
            refused = tuple(one for one in self._rejections if one.entry_id == entry_id)
            entry, vector = self._entries[entry_id], self._vectors.get(entry_id)
            self._aside[batch, entry_id] = _Aside(now, until, entry, vector, refused)
            self._drop(entry_id, now)
        return ids

    async def bring_back(self, batch: str, *, now: float, tenant: str | None = None) -> list[int]:
        """Put back what was set aside (of that tenant) and lives still; return the ids."""
        await self.ping()
        back = []
        for (name, entry_id), one in list(self._aside.items()):
            if name != batch or one.until <= now or tenant not in (None, one.entry.key.scope.tenant):
                continue
            del self._aside[name, entry_id]
            if one.unshelved:
                back += self._shelve_again(one, now)
                continue
            if one.entry.expires <= now or one.entry.key.exact in self._by_exact or entry_id in self._entries:
                continue
            self._entries[entry_id] = one.entry
            self._by_exact[one.entry.key.exact] = entry_id
            if one.vector is not None:
                self._vectors[entry_id] = one.vector
            back.append(entry_id)
            self._announce(ChangeKind.PUT, entry_id, now)
            await self.reject(one.rejections, now=now)
        return back

    async def unshelve(self, entry_id: int, *, batch: str, now: float, until: float) -> bool:
        """Take vector and partition from an entry, and from what replaces it; `bring_back` gives them back."""
        await self.ping()
        entry = self._entries.get(entry_id)
        if entry is None or not entry.partition:
            return False
        refused = tuple(one for one in self._rejections if one.entry_id == entry_id)
        vector = self._vectors.pop(entry_id, None)
        self._aside[batch, entry_id] = _Aside(now, until, entry, vector, refused, unshelved=True)
        self._entries[entry_id] = replace(entry, partition=b"", embedder_id="")
        self._rejections[Rejection(entry_id, ALL_OTHERS)] = None
        self._announce_anew(entry_id, now)
        return True

    def _shelve_again(self, one: _Aside, now: float) -> list[int]:
        entry = self._entries.get(self._by_exact.get(one.entry.key.exact, -1))
        if entry is None or entry.partition:
            return []
        self._entries[entry.id] = replace(entry, partition=one.entry.partition, embedder_id=one.entry.embedder_id)
        if one.vector is not None:
            self._vectors[entry.id] = one.vector
        self._rejections.pop(Rejection(entry.id, ALL_OTHERS), None)
        self._announce_anew(entry.id, now)
        return [entry.id]

    def _announce_anew(self, entry_id: int, now: float) -> None:
        """Have whoever knows the entry forget it and read it again."""
        self._announce(ChangeKind.DELETE, entry_id, now)
        self._announce(ChangeKind.PUT, entry_id, now)
        for one in self._rejections:
            if one.entry_id == entry_id:
                self._announce(ChangeKind.REJECT, entry_id, now, one.exact)

    async def set_aside_since(self, now: float, *, tenant: str | None = None) -> list[Deletion]:
        """The deletions that can be undone at this time, newest first."""
        found: dict[str, Deletion] = {}
        for (batch, _), one in self._aside.items():
            of = one.entry.key.scope.tenant
            if one.until <= now or tenant not in (None, of):
                continue
            known = found.get(batch) or Deletion(batch, one.at, one.until, 0)
            found[batch] = replace(known, count=known.count + 1, tenants=tuple(sorted({*known.tenants, of})))
        return sorted(found.values(), key=lambda one: -one.at)

    async def erase(self, where: Selector, *, now: float) -> None:  # noqa: ARG002
        """Forget decisions and deleted entries of what a selector names; of a whole tenant, events and labels too."""
        part = where.is_part()
        gone = {place for place, one in self._aside.items() if not where.is_empty() and matches(one.entry, where)}
        ids = {*(where.ids or ()), *(entry_id for _, entry_id in gone)} if part else set()
        self._decisions = {
            name: one
            for name, one in self._decisions.items()
            if not (_is_named(one, where) or (_is_within(one.scope, where) and ids & set(one.mentions)))
        }
        self._aside = {place: one for place, one in self._aside.items() if place not in gone}
        if where.user is not None and not part:
            self._forget_user(where)
        if where.tenant is not None and where == Selector(tenant=where.tenant):
            self._forget_events(where.tenant)
            self._labels = [label for label in self._labels if label.tenant != where.tenant]
            self._actions = [one for one in self._actions if one.tenant != where.tenant]

    def _forget_user(self, where: Selector) -> None:
        """Forget whose the events and actions of a user were; what they cost stays on record."""
        self._events = [
            replace(one, scope=replace(one.scope, user=None), exact=b"") if _is_within(one.scope, where) else one
            for one in self._events
        ]
        for action in self._actions:
            said = action.detail.get("where")
            if isinstance(said, dict) and said.get("user") == where.user:
                said["user"] = "(erased)"

    async def unreject(self, entry_id: int, exacts: Sequence[bytes], *, now: float) -> None:
        """Take back rejections of an entry and announce it."""
        await self.ping()
        for exact in exacts:
            self._rejections.pop(Rejection(entry_id, exact), None)
            self._announce(ChangeKind.ALLOW, entry_id, now, exact)

    async def act(self, action: AdminAction) -> None:
        """Append to the administrators' log."""
        await self.ping()
        self._actions.append(action)

    async def actions(self, *, tenant: str | None = None, limit: int = 100) -> list[AdminAction]:
        """The newest actions first (of that tenant)."""
        return [one for one in reversed(self._actions) if tenant in (None, one.tenant)][:limit]

    async def take_marked(self, mark: str, *, since: float) -> list[AdminAction]:
        """The actions since then whose detail has this key, oldest first, as they were; the key is taken out."""
        await self.ping()
        marked = [action for action in self._actions if action.at >= since and mark in action.detail]
        for action in marked:
            left = {name: value for name, value in action.detail.items() if name != mark}
            self._actions[self._actions.index(action)] = replace(action, detail=left)
        return marked

    async def sweep_operating(self, now: float) -> None:
        """Drop decisions and deleted entries whose time is over, and actions of more than a year ago."""
        self._decisions = {name: one for name, one in self._decisions.items() if one.expires > now}
        self._aside = {place: one for place, one in self._aside.items() if one.until > now}
        self._actions = [one for one in self._actions if one.at >= now - _YEAR]

    async def reject(self, rejections: Sequence[Rejection], *, now: float) -> None:
        """Remember and announce what is new among `rejections`."""
        raise NotImplementedError

    def _forget_mentions(self, entry_id: int) -> None:
        self._decisions = {name: one for name, one in self._decisions.items() if entry_id not in one.mentions}

    def _matching(self, where: Selector) -> list[int]:
        raise NotImplementedError

    def _drop(self, entry_id: int, at: float) -> None:
        raise NotImplementedError

    def _forget_events(self, tenant: str) -> None:
        raise NotImplementedError

    def _announce(self, kind: ChangeKind, entry_id: int, at: float, exact: bytes = b"") -> None:
        raise NotImplementedError


def sums_of(event: Recorded) -> dict[str, float]:
    """The sums that one event adds to."""
    return {
        "requests": event.count,
        "saved_prompt_tokens": event.saved.prompt_tokens,
        "saved_completion_tokens": event.saved.completion_tokens,
        "saved_cost": event.saved_cost,
        "spent_cost": event.spent_cost,
        "seconds": event.seconds,
        "spent_prompt_tokens": event.spent.prompt_tokens,
        "spent_completion_tokens": event.spent.completion_tokens,
        "overhead_cost": event.overhead,
        "calls": int(event.spent.prompt_tokens + event.spent.completion_tokens > 0),
    }


def _shown(number: int, event: Recorded) -> dict[str, Any]:
    """An outcome as the event log's rows have it."""
    return {
        "id": number,
        "request_id": event.request_id,
        "at": event.at,
        "endpoint": event.endpoint,
        "tenant": event.scope.tenant,
        "model": event.model,
        "category": event.category,
        "outcome": event.outcome.value,
        "why": event.why.value,
        "status": event.status,
        "entry_id": event.entry_id,
        "score": event.score,
        "p_correct": event.p_correct,
        "requests": event.count,
        "saved_cost": event.saved_cost,
        "spent_cost": event.spent_cost,
        "seconds": event.seconds,
    }


def _is_within(scope: Scope, where: Selector) -> bool:
    """Return True for a scope of which a selector names all or a part."""
    wanted = ((where.tenant, scope.tenant), (where.user, scope.user), (where.namespace, scope.namespace))
    return not where.is_empty() and all(named in (None, own) for named, own in wanted)


def _is_named(one: DecisionRecord, where: Selector) -> bool:
    """Return True for a decision that a selector names by what is known of decisions."""
    return (
        where.of_decisions()
        and _is_within(one.scope, where)
        and where.category in (None, one.category)
        and where.model in (None, one.model)
        and (where.older_than is None or one.at < where.older_than)
    )


def matches(entry: Entry, where: Selector) -> bool:
    """Return True if an entry meets every field of a selector that is set; an empty selector is the caller's case."""
    scope = entry.key.scope
    pairs = (
        (where.tenant, scope.tenant),
        (where.user, scope.user),
        (where.namespace, scope.namespace),
        (where.category, entry.category),
        (where.model, entry.model),
        (where.source, entry.source),
    )
    return (
        all(wanted is None or wanted == value for wanted, value in pairs)
        and (where.ids is None or entry.id in where.ids)
        and (where.tag is None or where.tag in entry.tags)
        and (where.older_than is None or entry.created < where.older_than)
    )
