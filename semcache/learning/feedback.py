"""Feedback: what a person's report of a right or a wrong answer changes.

Knows the store, the live entries and the learner; nothing of how requests are served. Invariant: after a report of a
wrong answer the entry is never served again to a request that it was served to, and what was said is learned,
whichever worker served it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from semcache.learning.learner import Learner
from semcache.protocols import ChangeFeed, Entries, OutcomeLog, Rejections
from semcache.runtime.telemetry import Meter
from semcache.storage.event_log import EVERY, EventLog
from semcache.storage.live_entries import LiveEntries
from semcache.types import Entry, Rejection, Selector

ELSEWHERE = 2 * EVERY  # seconds after which another worker's outcomes are in the store, if that works


class FeedbackStore(Entries, Rejections, ChangeFeed, OutcomeLog, Protocol):
    """The part of a store that reports change."""


class Feedback:
    """Takes reports in. `shared`: other workers serve from the same store; `later` runs work that nobody waits for."""

    def __init__(
        self,
        store: FeedbackStore,
        live: LiveEntries,
        event_log: EventLog,
        learner: Learner,
        meter: Meter,
        *,
        clock: Callable[[], float],
        later: Callable[[Coroutine[Any, Any, None]], object],
        shared: bool,
    ) -> None:
        self._store = store
        self._live = live
        self._event_log = event_log
        self._learner = learner
        self._meter = meter
        self._clock = clock
        self._later = later
        self._shared = shared

    async def report(self, entry_id: int | None, *, correct: bool, tenant: str | None) -> bool:
        """Take in what was said of an entry; False when there is no such entry (of that tenant). Raises StoreError."""
        # The store, not the registry: another worker may have kept it a moment ago.
        [entry] = [None] if entry_id is None else await self._store.get([entry_id])
        if entry is None or (tenant is not None and entry.key.scope.tenant != tenant):
            return False
        if not correct:
            self._meter.false_hits.labels(entry.category, "feedback").inc()
            await self._event_log.flush()
            if self._shared:
                await self._refuse(entry)
                self._later(self._reject_later(entry))
            else:
                await self._reject(entry)
        if not await self._learner.feedback(entry.id, correct=correct):
            # Another worker may have served it, and knows what there is to learn from.
            await self._store.said(entry.id, correct=correct, now=self._clock())
        return True

    async def _refuse(self, entry: Entry) -> None:
        """Reject the entry for the requests that it is known to have been served to by now."""
        served = [Rejection(entry.id, digest) for digest in await self._store.served_keys(entry.id)]
        await self._store.reject(served, now=self._clock())
        self._live.registry.reject(served)

    async def _reject_later(self, entry: Entry) -> None:
        """Reject the entry once other workers have written down to whom they served it."""
        await asyncio.sleep(ELSEWHERE)
        await self._reject(entry)

    async def _reject(self, entry: Entry) -> None:
        rejections = await reject_wrong(self._store, entry, now=self._clock())
        self._live.registry.reject(rejections)
        if not rejections:
            await self._live.hide(entry.id)


async def reject_wrong(store: FeedbackStore, entry: Entry, *, now: float) -> list[Rejection]:
    """Reject the entry for every request that it was served to, its own among them; return the rejections.

    One that was only ever replayed to its own request is deleted, and nothing is returned. Raises StoreError.
    """
    served = await store.served_keys(entry.id)
    if not set(served) - {entry.key.exact}:
        await store.delete(Selector(ids=(entry.id,)), now=now)
        return []
    rejections = [Rejection(entry.id, digest) for digest in served]
    await store.reject(rejections, now=now)
    return rejections
