"""Inspection of a cache for its page in the browser: time saved, live outcomes, evidence, labels, doubts.

Knows the operators' part of the store, the strategy and the label log. Invariant: only `review` and
`serve_exactly_only` change anything, and both are written to the administrators' log; a tenant sees only its own data.
"""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from semcache.cache.entry_search import EntrySearch
from semcache.cache.label_curves import Sample, samples
from semcache.cache.operating import operator_store
from semcache.learning.reports import REPORT
from semcache.types import AdminAction, DecisionRecord, Outcome, Rejection, parse_id, public_id
from semcache.types.evidence import CertificateEvidence, Label, LabelSource

if TYPE_CHECKING:
    from semcache.cache.components import Components
    from semcache.protocols import OperatorStore

_RECENT = 500  # decisions
_DOUBTED = 400  # decisions that doubts are looked for in
_NEWEST = 20_000  # labels that curves are drawn from
_HITS = frozenset([Outcome.EXACT.value, Outcome.SEMANTIC.value, Outcome.PLAN.value])
_SAID = 5000  # labels that are looked through
_LEAST, _MOST = 0.02, 0.999  # P(correct) of what is in doubt
REVIEW, EXACT_ONLY = "review", "exact-only"


@dataclass(frozen=True, slots=True)
class TimeSaved:
    """Seconds that hits spared, by the mean of the misses of the same model; `unknown` hits have none to compare."""

    seconds: float
    hits: int
    unknown: int


@dataclass(frozen=True, slots=True)
class OpenDoubt:
    """An uncertain neighbour of a request. `distance` is its distance from the limit in log-odds.

    `said` is the verdict of a comparison or a language model, None without one.
    """

    record: DecisionRecord
    neighbour: Mapping[str, Any]
    distance: float
    said: bool | None = None


class Inspection:
    """The read-only side of a cache's page, and its two changes."""

    def __init__(self, components: Components) -> None:
        self._parts = components
        self.entries = EntrySearch(components)

    async def time_saved(self, *, since: float, tenant: str | None = None) -> TimeSaved:
        """Time that hits spared since then. Raises StoreError."""
        now = self._parts.clock()
        groups = await self._store.usage(since=since, until=now, by=["model"], tenant=tenant)
        seconds, hits, unknown = 0.0, 0, 0
        for model in {group["model"] for group in groups}:
            mine = [group for group in groups if group["model"] == model]
            missed = [group for group in mine if group["outcome"] == Outcome.MISS.value and group["requests"]]
            served = [group for group in mine if group["outcome"] in _HITS]
            count = sum(group["requests"] for group in served)
            if not missed:
                unknown += count
                continue
            mean = sum(group["seconds"] for group in missed) / sum(group["requests"] for group in missed)
            seconds += count * mean - sum(group["seconds"] for group in served)
            hits += count
        return TimeSaved(seconds, int(hits), int(unknown))

    async def sums(self, *, since: float, category: str) -> list[Mapping[str, Any]]:
        """Sums of a category by hour and outcome. Raises StoreError."""
        groups = await self._store.usage(since=since, until=self._parts.clock(), by=["hour", "category"])
        return [group for group in groups if group["category"] == category]

    async def reasons(self, *, tenant: str | None = None) -> dict[str, int]:
        """Why the newest recorded requests missed, the most frequent reason first. Raises StoreError."""
        found = await self._store.decisions(tenant=tenant, outcome=Outcome.MISS.value, limit=_RECENT)
        counts: dict[str, int] = {}
        for one in found:
            counts[one.why] = counts.get(one.why, 0) + 1
        return dict(sorted(counts.items(), key=lambda pair: -pair[1]))

    async def outcomes(self, after: int | None, *, tenant: str | None = None, limit: int = 200) -> list[dict[str, Any]]:
        """Outcomes of any worker after one of them, oldest first; with None the newest few. Raises StoreError."""
        return await self._store.outcomes_after(after, tenant=tenant, limit=limit)

    def evidence(self, category: str) -> CertificateEvidence | None:
        """The wealth behind a category's certificate; None for a strategy that has none."""
        told = getattr(self._parts.strategy, "evidence", None)
        found: CertificateEvidence | None = told(category) if told is not None else None
        return found

    async def samples(self, category: str) -> list[Sample]:
        """The newest judged requests of a category. Raises StoreError."""
        labels: list[Label] = []
        seq = max(0, self._parts.learner.log.seq - _NEWEST)
        while batch := await self._parts.store.labels(seq, limit=250):
            labels += [label for label in batch if label.category == category]
            seq = batch[-1].seq
            await asyncio.sleep(0)
        return await asyncio.to_thread(samples, labels)

    async def labels_about(self, ids: Sequence[int], *, tenant: str | None = None, most: int = 200) -> list[Label]:
        """The labels of audits, comparisons and people about these entries, newest first. Raises StoreError."""
        return await self._store.labels_about(ids, tenant=tenant, limit=most) if ids else []

    async def recent(self, category: str) -> list[DecisionRecord]:
        """The newest decisions of a category. Raises StoreError."""
        return await self._store.decisions(category=category, limit=_RECENT)

    async def doubts(self, *, tenant: str | None = None, limit: int = 50) -> list[OpenDoubt]:
        """Neighbours of recent requests that a person's verdict would teach most about, first. Raises StoreError."""
        await self._parts.event_log.flush()
        found: list[OpenDoubt] = []
        for record in await self._store.decisions(tenant=tenant, limit=_DOUBTED):
            limit_of = (record.body.get("category") or {}).get("limit")
            for neighbour in record.body.get("neighbours", ())[:1]:
                p = neighbour.get("p_correct")
                if p is None or not _LEAST < p < _MOST or not neighbour.get("features") or not record.body.get("exact"):
                    continue
                line = min(_MOST, max(_LEAST, limit_of or 0.5))
                found.append(OpenDoubt(record, neighbour, abs(_logit(p) - _logit(line))))
        ids = [number for one in found if (number := parse_id(one.neighbour["id"])) is not None]
        said: dict[tuple[str, str], Label] = {}
        for label in await self.labels_about(list(dict.fromkeys(ids)), most=_SAID):
            place = (public_id(label.entry_id), label.exact.hex())
            if label.source is LabelSource.UNDECIDED:
                continue
            if label.source is LabelSource.FEEDBACK or place not in said:
                said[place] = label
        kept: dict[tuple[str, str], OpenDoubt] = {}
        for one in sorted(found, key=lambda each: each.distance):
            place = (one.neighbour["id"], str(one.record.body["exact"]))
            known = said.get(place)
            if known is None or known.source is not LabelSource.FEEDBACK:
                kept.setdefault(place, one if known is None else replace(one, said=known.correct))
        # What nobody has judged comes before what only a machine has.
        return sorted(kept.values(), key=lambda one: (one.said is not None, one.distance))[:limit]

    async def review(
        self, request_id: str, entry_id: str, *, correct: bool, who: str, tenant: str | None = None
    ) -> bool:
        """Learn a person's verdict on a neighbour and a request; False if there are no such two (of that tenant).

        An entry that is wrong is never served to that request, until the report is withdrawn. Raises StoreError.
        """
        record = await self._store.decision(request_id)
        number = parse_id(entry_id)
        if record is None or number is None or tenant not in (None, record.scope.tenant):
            return False
        neighbour = next((one for one in record.body.get("neighbours", ()) if one["id"] == entry_id), None)
        [entry] = await self._parts.store.get([number])
        if neighbour is None or entry is None or not neighbour.get("features") or not record.body.get("exact"):
            return False
        now, exact = self._parts.clock(), bytes.fromhex(record.body["exact"])
        label = Label(
            at=now,
            category=record.category,
            tenant=record.scope.tenant,
            entry_id=number,
            answer=entry.card().answer_class,
            exact=exact,
            score=neighbour["score"],
            features=tuple(neighbour["features"]),
            p_correct=neighbour["p_correct"],
            correct=correct,
            source=LabelSource.FEEDBACK,
            served=record.entry_id == number,
            chance=0.0,
        )
        await self._parts.learner.log.append([label])
        self._parts.meter.labelled(label)
        detail: dict[str, Any] = {"id": entry_id, "request": request_id, "correct": correct}
        if not correct:
            if label.served:
                self._parts.meter.false_hits.labels(label.category, label.source.value).inc()
            rejection = Rejection(number, exact)
            await self._parts.store.reject([rejection], now=now)
            self._parts.live.registry.reject([rejection])
            detail["rejected"] = [exact.hex()]
        await self._store.act(AdminAction(now, who, REVIEW if correct else REPORT, record.scope.tenant, detail))
        return True

    async def serve_exactly_only(self, entry_id: str, *, who: str, tenant: str | None = None) -> str | None:
        """Never serve an entry by meaning or wording again, only to its own request.

        Return the name to give to `undo`; None if there is no such entry (of that tenant), or nothing changes. Raises
        StoreError.
        """
        number = parse_id(entry_id)
        [entry] = [None] if number is None else await self._parts.store.get([number])
        if entry is None or not entry.partition or tenant not in (None, entry.key.scope.tenant):
            return None
        now, batch = self._parts.clock(), f"exact-{secrets.token_hex(4)}"
        if not await self._store.unshelve(entry.id, batch=batch, now=now, until=now + max(60.0, self._parts.undo)):
            return None
        await self._parts.live.hide(entry.id)
        await self._parts.maintenance.apply_changes()
        detail = {"id": public_id(entry.id), "undo": batch}
        await self._store.act(AdminAction(now, who, EXACT_ONLY, entry.key.scope.tenant, detail))
        return batch

    @property
    def _store(self) -> OperatorStore:
        return operator_store(self._parts.store)


def _logit(p: float) -> float:
    return math.log(p / (1.0 - p))
