"""The bound on what a store takes on its disk: measured again and again, and kept by giving up what is worth least.

What is free of a file that was larger goes back to the disk, whether or not there is a bound.
Knows the store and the entries of this process, nothing of requests. Invariant: entries go last, in the order in which
the eviction policy of the fullest category would give them up; keys, labels, learned state, sums and the log of
administrators never do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from semcache.protocols import ChangeFeed, Entries, OutcomeLog
from semcache.runtime.guarded_calls import surviving
from semcache.runtime.task_set import end
from semcache.runtime.telemetry import Meter
from semcache.storage.live_entries import LiveEntries
from semcache.types import Selector

KEEP_ROWS = 100_000  # of the logs, when there is no room for more
_ROOM = 0.95  # of the bound, down to which room is made
_AT_ONCE = 500  # entries, before the store is measured again: other workers make room as well
_EVERY = 5.0  # seconds
_HOUR = 3600.0
# A store that is full of something else must not lose its entries for nothing: after a tenth of them, what was freed
# has to be a quarter of what it would be if the store held nothing else, or the rest stays for an hour.
_TRIED, _HELPS = 0.1, 0.25
_log = logging.getLogger(__name__)


@runtime_checkable
class SizedStore(Entries, ChangeFeed, OutcomeLog, Protocol):
    """A store that knows how much of its disk it takes. Raises StoreError."""

    async def bytes_used(self) -> int:
        """Bytes that hold something."""
        ...

    async def forget_deleted(self) -> int:
        """Drop the copies of deleted entries that could be brought back; returns how many."""
        ...

    async def give_back(self) -> int:
        """Give some of what is free back to the disk; returns how many bytes."""
        ...


class DiskBound:
    """Keeps a store within `most` bytes, None for any number; a store that cannot tell its size has none.

    `grace` is for how many seconds the pack lets an entry be served after its end.
    """

    def __init__(
        self,
        store: object,
        live: LiveEntries,
        meter: Meter,
        *,
        most: int | None,
        grace: float,
        clock: Callable[[], float],
    ) -> None:
        self._store = store if isinstance(store, SizedStore) else None
        self._live, self._meter, self._most, self._grace, self._clock = live, meter, most, grace, clock
        self._told, self._rested = -_HOUR, 0.0
        self._keeping = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to measure in the running event loop, where there is a bound."""
        if self._store is not None and self._most is not None:
            self._task = asyncio.create_task(self._keep_for_ever(), name="semcache-disk")

    async def close(self) -> None:
        """Stop measuring."""
        await end(self._task)

    async def standing(self) -> dict[str, Any]:
        """Return bytes, and the bound on them, as `semcache stats` has them; {} if nobody knows. Raises StoreError."""
        return {} if self._store is None else {"disk": {"bytes": await self._store.bytes_used(), "most": self._most}}

    async def keep(self, now: float) -> None:
        """Measure the store, and make room where it takes too much. Raises StoreError."""
        store, most = self._store, self._most
        if store is None:
            return
        async with self._keeping:
            before = used = await store.bytes_used()
            if most is not None and used > most:
                gone = await self._make_room(store, most, now)
                used = await store.bytes_used()
                self._tell(now, before, used, gone)
            self._meter.store_bytes.set(used)
            if (given := await store.give_back()) > 0:
                _log.info("the store gave %.0f MiB back to the disk", given / 2**20)

    async def _keep_for_ever(self) -> None:
        while True:
            await asyncio.sleep(_EVERY)
            with surviving("bounding the store", self._meter.faults.labels("store")):
                await self.keep(self._clock())

    async def _make_room(self, store: SizedStore, most: int, now: float) -> int:
        """Give up what is over, then spare rows of the logs and copies for an undo, then entries; return how many."""
        wanted = _ROOM * most
        if now < self._rested:
            return 0
        await store.sweep(now, self._grace)
        await store.trim_events(keep_rows=KEEP_ROWS)
        await store.trim_changes(keep_rows=KEEP_ROWS)
        if await store.bytes_used() > wanted:
            await store.forget_deleted()
        held, gone, begun = len(self._live.registry), 0, await store.bytes_used()
        while (used := await store.bytes_used()) > wanted:
            if gone >= max(1, _TRIED * held) and (begun - used) / begun < _HELPS * gone / held:
                self._rested = now + _HOUR
                break
            excess = (held - gone) * (used - wanted) / used
            count = min(_AT_ONCE, max(1, int(min(excess, _TRIED * held))))
            ids = tuple(card.id for card in self._live.registry.give_up(count))
            if not ids:
                break
            self._live.give_up(ids)
            await self._live.hide(*ids)
            deleted = await store.delete(Selector(ids=ids), now=now)
            self._meter.evictions.labels("disk").inc(len(deleted))
            gone += len(ids)
        return gone

    def _tell(self, now: float, before: int, used: int, gone: int) -> None:
        if now - self._told < _HOUR:
            return
        self._told = now
        assert self._most is not None
        if used > self._most:
            _log.warning(
                "the store takes %s, more than store.max_bytes (%s), and giving up %d entries did not suffice: "
                "raise it, or see what else it holds",
                size(used),
                size(self._most),
                gone,
            )
        else:
            _log.warning(
                "the store took %s, more than store.max_bytes (%s): %d entries that were worth least were given up; "
                "raise it, or lower the quotas of the pack. This is said once an hour at most",
                size(before),
                size(self._most),
                gone,
            )


def size(count: int) -> str:
    """Return a number of bytes for people."""
    value, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.4g} {unit}"
