"""Feedback: applies a person's report of a right or a wrong answer, and withdraws reports.

Knows the store, the live entries and the learner; nothing of how requests are served. Invariant: after a report of a
wrong answer, the entry is never served again to a request that it was served to, and the report is learned, whichever
worker served the entry, where one request alone can be meant. Withdrawing a report restores what it took, but takes
back no audit.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from semcache.learning.key_reports import KeyReports, Reporter
from semcache.learning.learner import Learner
from semcache.learning.reports import (
    NOT_BEGUN,
    ReportingStore,
    ReportSoFar,
    Withdrawn,
    is_about_one_request,
    reject_wrong,
    withdraw,
)
from semcache.protocols import OutcomeLog
from semcache.runtime.telemetry import Meter
from semcache.storage.event_log import EVERY, EventLog
from semcache.storage.live_entries import LiveEntries
from semcache.types import Entry, Rejection

ELSEWHERE = 2 * EVERY  # seconds after which another worker's outcomes are in the store, if that works


class FeedbackStore(ReportingStore, OutcomeLog, Protocol):
    """The part of a store that reports change."""


class Feedback:
    """Applies reports.

    `later` runs background work if other workers serve from the same store, else it is None. `undo` is how many seconds
    a deletion can be undone.
    """

    def __init__(
        self,
        store: FeedbackStore,
        live: LiveEntries,
        event_log: EventLog,
        learner: Learner,
        meter: Meter,
        *,
        clock: Callable[[], float],
        later: Callable[[Coroutine[Any, Any, None]], object] | None,
        undo: float = 86400.0,
    ) -> None:
        self._store = store
        self._live = live
        self._event_log = event_log
        self._learner = learner
        self._meter = meter
        self._clock = clock
        self._later = later
        self._undo = undo
        self._keys = KeyReports()

    async def report(
        self,
        entry_id: int | None,
        *,
        correct: bool,
        tenant: str | None,
        who: str = "",
        reporter: Reporter | None = None,
    ) -> bool:
        """Apply a report about an entry; False if there is no such entry (of that tenant).

        `who` is named in the administrators' log. `reporter` is a key whose reports alone must not change what the
        others of its tenant are served. Raises RateLimited for too many of its reports, and StoreError.
        """
        # The store, not the registry: another worker may have kept it a moment ago.
        [entry] = [None] if entry_id is None else await self._store.get([entry_id])
        if entry is None or (tenant is not None and entry.key.scope.tenant != tenant):
            return False
        if reporter is not None and not correct:
            self._keys.admit(reporter, self._clock())
        await self._event_log.flush()
        is_clear = await is_about_one_request(self._store, entry)
        if not correct:
            self._meter.false_hits.labels(entry.category, "feedback").inc()
            if self._later is not None:
                self._later(self._reject_later(entry, who, await self._refuse(entry, who)))
            else:
                await self._reject(entry, who)
        if not is_clear:
            return True
        where = entry.key.scope.tenant, entry.category
        if reporter is not None and not self._keys.teaches(reporter, *where, correct=correct):
            return True
        if not await self._learner.served.feedback(entry.id, correct=correct):
            # Another worker may have served it, and knows what there is to learn from.
            await self._store.said(entry.id, correct=correct, now=self._clock())
        return True

    async def withdraw(self, entry_id: int | None, *, tenant: str | None, who: str = "") -> Withdrawn | None:
        """Take back the reports of a wrong answer about an entry; None when there is none (of that tenant).

        Raises StoreError.
        """
        if entry_id is None:
            return None
        done = await withdraw(self._store, entry_id, now=self._clock(), tenant=tenant, who=who)
        if done is not None:
            self._live.registry.allow([*(Rejection(entry_id, exact) for exact in done.allowed), *done.alike])
            await self._learner.log.fold()
        return done

    async def _refuse(self, entry: Entry, who: str) -> ReportSoFar:
        """Reject the entry for the requests that it is known to have been served to so far."""
        served = await self._store.served_keys(entry.id)
        if set(served) - {entry.key.exact}:
            await self._reject(entry, who)
            return ReportSoFar(served, written=True)
        known = {one.exact for one in await self._store.rejections(entry.id)}
        rejections = [Rejection(entry.id, digest) for digest in served]
        await self._store.reject(rejections, now=self._clock())
        self._live.registry.reject(rejections)
        return ReportSoFar([digest for digest in served if digest not in known])

    async def _reject_later(self, entry: Entry, who: str, before: ReportSoFar) -> None:
        """Reject the entry once other workers have written down to whom they served it."""
        await asyncio.sleep(ELSEWHERE)
        await self._reject(entry, who, before)

    async def _reject(self, entry: Entry, who: str, before: ReportSoFar = NOT_BEGUN) -> None:
        rejections = await reject_wrong(self._store, entry, now=self._clock(), undo=self._undo, who=who, before=before)
        self._live.registry.reject(rejections)
        if all(one.entry_id != entry.id for one in rejections):
            await self._live.hide(entry.id)
