"""The reader of entries: finds the stored entry behind a decision.

Knows the store and the live entries; nothing of decisions or writing. Invariant: what it gives is the entry that was
decided on, and an exact hit equals the request's canonical form byte by byte: digests only propose.
"""

from __future__ import annotations

from semcache.errors import CacheUnavailable, IntegrityError
from semcache.protocols import Entries
from semcache.runtime.guarded_calls import GuardedCalls
from semcache.runtime.telemetry import Meter
from semcache.storage.live_entries import LiveEntries
from semcache.types import CacheKey, Card, Entry, Outcome, Serve


class EntryReader:
    """Reads entries. One instance a cache."""

    def __init__(self, store: Entries, live: LiveEntries, faults: GuardedCalls, meter: Meter) -> None:
        self._store, self._live, self._faults, self._meter = store, live, faults, meter

    async def read(self, served: Serve, key: CacheKey | None) -> Entry | None:
        """The stored entry behind a decision; None if it is gone, is not what it claims to be, or the store is down."""
        card = served.card
        entry = self._live.hot.get(card.id)
        if entry is None:
            try:
                [entry] = await self._faults.guard("store", self._store.get([card.id]))
            except IntegrityError:
                await self._unreadable(card)
                return None
            except CacheUnavailable:
                return None
            if entry is None or entry.key.exact != card.exact:
                await self._unreadable(card)
                return None
            self._live.hot.put(entry)
        if served.how is Outcome.EXACT and (key is None or entry.key.canonical != key.canonical):
            return None
        return entry

    async def _unreadable(self, card: Card) -> None:
        # Hidden and not deleted: with the right key, or a repaired store, it may be readable again.
        self._meter.evictions.labels("unreadable").inc()
        await self._live.hide(card.id)
