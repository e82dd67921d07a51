"""Maintenance: applies the changes of other workers, removes expired entries, and refreshes the gauges.

Knows the store's change feed, the live entries and the learner; decides nothing about requests. Invariant: each durable
change of another worker is applied once, in the order of the change feed; where the feed does not go on from the change
that was applied last, all entries are read anew, and so is what a change that cannot be read may be about.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Protocol

from semcache.config.packs import Pack
from semcache.learning.learner import Learner
from semcache.protocols import (
    ChangeFeed,
    Entries,
    KeyExpiryStore,
    OperatorStore,
    OutcomeLog,
    Rejections,
    Threshold,
    Vectors,
    WordingStore,
)
from semcache.runtime.guarded_calls import surviving
from semcache.runtime.task_set import end
from semcache.runtime.telemetry import Meter
from semcache.storage.live_entries import LiveEntries
from semcache.types import Card, Change, ChangeKind, Controls, Rejection, Selector

SWEEP_EVERY = 60.0
GRACE = 3600.0
_KEEP_EVENTS = 1_000_000
_KEEP_CHANGES = 1_000_000
_NOTED = 30 * 86400.0  # seconds in which a server notes that a key has expired, if none ran at that time
_PATIENCE = 1.0
_KEPT_TOGETHER = 500  # wordings that the store is given at once
_log = logging.getLogger(__name__)
_AT_ONCE = 1_000  # characters whose wordings are read without letting requests through


class Anew(Protocol):
    """Reads every entry of the store, and the vectors that are not `held` in its partition.

    It gives the change that they are up to.
    """

    async def __call__(self, *, held: Mapping[int, bytes], now: float) -> Change | None:
        """Raises StoreError."""
        ...


class MaintainedStore(Entries, Vectors, Rejections, ChangeFeed, OutcomeLog, Protocol):
    """The part of a store that maintenance reads and trims."""


class Maintenance:
    """Keeps one process up with the store and with time."""

    def __init__(
        self,
        store: MaintainedStore,
        live: LiveEntries,
        learner: Learner,
        strategy: Threshold,
        pack: Pack,
        meter: Meter,
        *,
        embedder_id: str,
        clock: Callable[[], float],
    ) -> None:
        self._last: Change | None = None
        self._anew: Anew | None = None
        self._store = store
        self._live = live
        self._learner = learner
        self._strategy = strategy
        self._pack = pack
        self._meter = meter
        self._embedder_id = embedder_id
        self._clock = clock
        self._followers: list[Callable[[], Awaitable[object]]] = []
        self._sweepers: list[Callable[[float], Awaitable[object]]] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._applying = asyncio.Lock()

    @property
    def seen(self) -> int:
        """The number of the last change that was applied."""
        return 0 if self._last is None else self._last.seq

    def begin(self, last: Change | None, anew: Anew) -> None:
        """Take the entries to be those up to the change `last`; `anew` reads all of them again."""
        self._last, self._anew = last, anew

    def start(self) -> None:
        """Begin following and sweeping in the running event loop."""
        self._tasks = [
            asyncio.create_task(self._follow(), name="semcache-follow"),
            asyncio.create_task(self._sweep_for_ever(), name="semcache-sweep"),
            asyncio.create_task(self._read_wordings(), name="semcache-wordings"),
        ]

    async def close(self) -> None:
        """Stop following and sweeping."""
        await end(*self._tasks)

    def attach(
        self,
        *,
        follow: Callable[[], Awaitable[object]] | None = None,
        sweep: Callable[[float], Awaitable[object]] | None = None,
    ) -> None:
        """Register a callback that has to `follow` the store, or to `sweep` what has expired by a Unix time."""
        if follow is not None:
            self._followers.append(follow)
        if sweep is not None:
            self._sweepers.append(sweep)

    async def catch_up(self) -> None:
        """Apply what other workers wrote since the last call, and learn what they learned. Raises StoreError."""
        await self.apply_changes()
        left = 1
        while left:
            left = await self._read_some_wordings()
            await asyncio.sleep(0.0)
        await self._learner.log.fold()
        for follow in self._followers:
            await follow()

    async def apply_changes(self) -> None:
        """Apply the changes of the feed since the last call. Raises StoreError."""
        async with self._applying:
            while True:
                # With the one that was applied last, which is another one, or gone, where the feed does not go on.
                changes = await self._store.changes(max(0, self.seen - 1))
                if self._last is not None:
                    if not changes or changes[0] != self._last:
                        await self._read_anew(
                            f"the store does not go on from change {self.seen}: it is the copy of a failover or a "
                            "backup, or too far ahead"
                        )
                        return
                    del changes[0]
                if not changes:
                    return
                if any(one.kind is ChangeKind.UNKNOWN and one.entry_id == 0 for one in changes):
                    await self._read_anew("a change of the store cannot be read")
                    return
                await self._apply(changes)
                self._last = changes[-1]

    async def _read_anew(self, why: str) -> None:
        """Have what the store holds now, whatever has changed."""
        _log.warning("%s; its entries are read anew", why)
        assert self._anew is not None
        held = {card.id: card.partition for card in self._live.registry.cards() if card.partition}
        self._last = await self._anew(held=held, now=self._clock())

    async def sweep(self) -> None:
        """Drop what has expired, and trim logs. Never raises for a store that is down."""
        now = self._clock()
        expired = [card.id for card in self._live.registry.expired(now) if lapsed(card, self._pack, now)]
        await self._live.hide(*expired)
        self._meter.evictions.labels("expired").inc(len(expired))
        with surviving("sweeping the store"):
            await self._store.sweep(now, max(GRACE, grace(self._pack)))
            await self._store.trim_events(keep_rows=_KEEP_EVENTS)
            await self._store.trim_changes(keep_rows=_KEEP_CHANGES)
            await self._learner.log.trim()
            if isinstance(self._store, OperatorStore):
                await self._store.sweep_operating(now)
            if isinstance(self._store, KeyExpiryStore):
                await self._store.note_expired(since=now - _NOTED, now=now)
        for sweep in self._sweepers:
            with surviving("sweeping"):
                await sweep(now)
        with surviving("refreshing the gauges"):
            await self.gauge()

    async def gauge(self) -> None:
        """Refresh the gauges, and have every category of the pack among the counters."""
        for category, count in self._live.registry.counts().items():
            self._meter.entries.labels(category).set(count)
        for category in self._pack.categories:
            self._meter.expect(category)
            self._meter.threshold.labels(category).set(self._strategy.floor(category, Controls()))
            self._meter.stand(category, self._strategy.standing(category))
        self._meter.index_bytes.set(await self._live.index.bytes_used())

    async def _apply(self, changes: Sequence[Change]) -> None:
        placed = {one.entry_id: one.kind for one in changes if one.kind in (ChangeKind.PUT, ChangeKind.DELETE)}
        gone = {entry_id for entry_id, kind in placed.items() if kind is ChangeKind.DELETE}
        unread = {one.entry_id for one in changes if one.kind is ChangeKind.UNKNOWN}
        await self._live.hide(*(one.entry_id for one in changes if one.kind is ChangeKind.DELETE), *unread)
        for entry_id in unread:
            self._live.registry.reject(await self._store.rejections(entry_id))
        for change in changes:
            await self._apply_verdict(change)
        put = [one.entry_id for one in changes if one.kind in (ChangeKind.PUT, ChangeKind.UNKNOWN)]
        unknown = [one for one in dict.fromkeys(put) if one not in gone and self._live.wants(one)]
        alias = {one.entry_id for one in changes if one.kind is ChangeKind.ALIAS} - {*gone, *unknown}
        if unknown or alias:
            await self._take_in(unknown, alias)

    async def _apply_verdict(self, change: Change) -> None:
        """Apply a change that says for whom an entry is right or wrong; ignore others."""
        match change.kind:
            case ChangeKind.REJECT:
                self._live.registry.reject([Rejection(change.entry_id, change.exact)])
            case ChangeKind.ALLOW:
                self._live.registry.allow([Rejection(change.entry_id, change.exact)])
            case ChangeKind.RIGHT | ChangeKind.WRONG as verdict:
                right = verdict is ChangeKind.RIGHT
                await self._learner.served.feedback(change.entry_id, correct=right, change=change.seq)

    async def _take_in(self, unknown: Sequence[int], alias: set[int]) -> None:
        """Make entries findable that others stored, and put others into the answer classes that the store names.

        An entry that is evicted or deleted here while the store is read stays away.
        """
        displaced: list[int] = []
        with self._live.hidden_meanwhile() as hidden:
            batch = await self._store.vectors_of([*unknown, *alias], self._embedder_id)
            for card, vector in zip(batch.cards, batch.matrix, strict=True):
                if card.id in alias:
                    self._live.share(card.id, card.answer_class)
                elif card.id not in hidden and self._live.wants(card.id):
                    displaced += self._live.add_stored(card)
                    await self._live.index.add(card.partition, card.id, vector)
            with_vector = {card.id for card in batch.cards}
            rest = tuple([entry_id for entry_id in unknown if entry_id not in with_vector])
            # Not `get`: one entry that cannot be opened here would hold up everything that comes after it.
            for entry in await self._store.select(Selector(ids=rest), limit=len(rest)):
                if entry.id not in hidden and self._live.wants(entry.id):
                    displaced += self._live.add_stored(entry.card())
        await self._live.index.remove(*displaced)

    async def _follow(self) -> None:
        """Keep up with other workers until cancelled; a store that is down is asked again."""
        while True:
            with surviving("following other workers", self._meter.faults.labels("store")):
                await self._store.wait(_PATIENCE)
                await self.catch_up()
                continue
            await asyncio.sleep(_PATIENCE)

    async def _read_wordings(self) -> None:
        """Read the wordings of stored entries, a few at a time, until cancelled."""
        while True:
            left = await self._read_some_wordings()
            await asyncio.sleep(0.0 if left else _PATIENCE)

    async def _read_some_wordings(self) -> int:
        """Read a few wordings, and put many that were read into the store; return how many still wait."""
        left = self._live.read_wordings(_AT_ONCE)
        read = self._live.wordings.take_read(least=_KEPT_TOGETHER if left else 1)
        if read and isinstance(self._store, WordingStore):
            with surviving("keeping wordings", self._meter.faults.labels("store")):
                await self._store.reword(read)
        return left

    async def _sweep_for_ever(self) -> None:
        while True:
            await asyncio.sleep(SWEEP_EVERY)
            await self.sweep()


def lapsed(card: Card, pack: Pack, now: float) -> bool:
    """Return True if an entry may not even be served while it is asked anew."""
    return card.staleness(now, pack.of(card.category).revalidate) == "expired"


def grace(pack: Pack) -> float:
    """Return the longest time after its expiry, in seconds, in which an entry of this pack may still be served."""
    return max(category.revalidate for category in pack.categories.values())
