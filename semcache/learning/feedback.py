"""What it means that a served answer was right or wrong.

Knows the store and who learns, nothing of how requests are served. Invariant: after a complaint the entry is never
served again to a request that it was served to, and what was said is learned, whichever worker served it.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from semcache.protocols import EntryStore
from semcache.storage.event_log import EVERY
from semcache.types import Entry, Rejection, Selector

if TYPE_CHECKING:
    from semcache.cache.maintenance import Parts

ELSEWHERE = 2 * EVERY  # seconds after which another worker's outcomes are in the store, if that works


async def heard(parts: Parts, entry_id: int | None, *, correct: bool, tenant: str | None) -> bool:
    """Take in what was said of an entry; False when there is no such entry (of that tenant). Raises StoreError."""
    # The store, not the catalogue: another worker may have kept it a moment ago.
    [entry] = [None] if entry_id is None else await parts.store.get([entry_id])
    if entry is None or (tenant is not None and entry.key.scope.tenant != tenant):
        return False
    if not correct:
        await parts.journal.flush()
        if parts.shared:
            # Whichever worker served it writes down to whom before long.
            await asyncio.sleep(ELSEWHERE)
        parts.meter.false_hits.labels(entry.category, "feedback").inc()
        rejections = await wrong(parts.store, entry, now=parts.clock())
        parts.catalogue.reject(rejections)
        if not rejections:
            await parts.hide(entry.id)
    if not await parts.learner.feedback(entry.id, correct=correct):
        # Another worker may have served it, and knows what there is to learn from.
        await parts.store.said(entry.id, correct=correct, now=parts.clock())
    return True


async def wrong(store: EntryStore, entry: Entry, *, now: float) -> list[Rejection]:
    """Reject the entry for every request that it was served to, its own among them; return the rejections.

    One that was only ever replayed to its own request is deleted, and nothing is returned. Raises StoreError.
    """
    served = await store.served_keys(entry.id)
    rejections = [Rejection(entry.id, digest) for digest in served]
    if set(served) - {entry.key.exact}:
        await store.reject(rejections, now=now)
    else:
        await store.delete(Selector(ids=(entry.id,)), now=now)
        return []
    return rejections
