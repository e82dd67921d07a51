"""Everything a cache is made of, and how it keeps up: with other workers, with time, with what is learned.

Knows the parts by their Protocols and not where they come from. Invariant: what another worker has made durable is
applied once, in the order of the change feed; `close` leaves nothing running and a snapshot that matches the store.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from semcache.config.packs import Pack
from semcache.errors import IndexFault
from semcache.learning.learner import Learner
from semcache.matching.profitability import Gate
from semcache.matching.verification import Verifiers
from semcache.protocols import Backend, Categorizer, Embedder, EntryStore, Freshness, Judge, Threshold
from semcache.runtime.guarded_calls import SURVIVED
from semcache.runtime.telemetry import Meter
from semcache.storage.accounting import Prices
from semcache.storage.entry_registry import Catalogue
from semcache.storage.event_log import Journal
from semcache.storage.hot_entries import Answers
from semcache.storage.indexes.owner import IndexOwner
from semcache.types import Card, Change, ChangeKind, Controls, Rejection, Selector

SWEEP_EVERY = 60.0
GRACE = 3600.0
_KEEP_EVENTS = 1_000_000
_KEEP_CHANGES = 1_000_000
_PATIENCE = 1.0


@dataclass
class Parts:
    """Everything a cache is made of."""

    store: EntryStore
    embedder: Embedder
    index: IndexOwner
    pack: Pack
    categories: Categorizer
    threshold: Threshold
    freshness: Freshness
    catalogue: Catalogue
    answers: Answers
    journal: Journal
    meter: Meter
    prices: Prices
    judge: Judge
    clock: Callable[[], float]
    rng: random.Random
    new_id: Callable[[], int]
    snapshot: Path | None = None
    shared: bool = False  # other workers serve from the same store
    seen: int = 0
    verifiers: Verifiers = field(default_factory=lambda: Verifiers({}))
    backends: tuple[Backend, ...] = ()  # closed with the rest
    following: list[Callable[[], Awaitable[object]]] = field(default_factory=list)  # what else follows the store
    sweeping: list[Callable[[float], Awaitable[object]]] = field(default_factory=list)  # and what else it drops
    tasks: list[asyncio.Task[None]] = field(default_factory=list)
    learner: Learner = field(init=False)
    economics: Gate = field(init=False)
    _hearing: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)

    def __post_init__(self) -> None:
        self.learner = Learner(self)
        self.economics = Gate(self.pack)

    async def hide(self, *ids: int) -> None:
        """Make entries unfindable in this process."""
        for entry_id in ids:
            self.catalogue.remove(entry_id)
            self.answers.remove(entry_id)
        with suppress(*SURVIVED):
            await self.index.remove(*ids)

    def list(self, card: Card) -> list[int]:
        """Make a card of the store known; the ids that it displaced have to leave the index."""
        displaced = [gone.id for gone in self.catalogue.add(card)]
        for entry_id in displaced:
            self.answers.remove(entry_id)
        return displaced

    def share(self, entry_id: int, answer: int) -> None:
        """Put an entry into an answer class, in this process."""
        card = self.catalogue.get(entry_id)
        if card is not None and card.answer_class != answer:
            self.catalogue.regroup(entry_id, answer)

    async def catch_up(self) -> None:
        """Apply what other workers wrote since the last call, and learn what they learned. Raises StoreError."""
        await self.hear()
        await self.learner.log.fold()
        for follow in self.following:
            await follow()

    async def hear(self) -> None:
        """Apply what other workers wrote since the last call. Raises StoreError."""
        async with self._hearing:
            while changes := await self.store.changes(self.seen):
                await self._apply(changes)
                self.seen = changes[-1].seq

    async def close(self) -> None:
        """Stop following, write a snapshot and close every part."""
        for task in self.tasks:
            task.cancel()
        for task in self.tasks:
            with suppress(asyncio.CancelledError):
                await task
        await self.learner.close()
        await self.journal.close()
        if self.snapshot is not None:
            # Without a folder, or room in it, the next start reads the store alone.
            with suppress(IndexFault, OSError), _alone(self.snapshot) as alone:
                if alone:
                    await self.index.snapshot(self.snapshot, embedder_id=self.embedder.id, head=self.seen)
        await self.verifiers.close()
        for backend in self.backends:
            await backend.close()
        await self.index.close()
        await self.embedder.close()
        await self.store.close()

    async def _apply(self, changes: Sequence[Change]) -> None:
        gone = {change.entry_id for change in changes if change.kind is ChangeKind.DELETE}
        await self.hide(*gone)
        self.catalogue.reject(
            Rejection(change.entry_id, change.exact) for change in changes if change.kind is ChangeKind.REJECT
        )
        for change in changes:
            if change.kind in (ChangeKind.RIGHT, ChangeKind.WRONG):
                await self.learner.feedback(change.entry_id, correct=change.kind is ChangeKind.RIGHT)
        put = [change.entry_id for change in changes if change.kind is ChangeKind.PUT]
        unknown = [entry_id for entry_id in put if entry_id not in gone and self.catalogue.get(entry_id) is None]
        alias = {change.entry_id for change in changes if change.kind is ChangeKind.ALIAS} - {*gone, *unknown}
        if not unknown and not alias:
            return
        displaced: list[int] = []
        batch = await self.store.vectors_of([*unknown, *alias], self.embedder.id)
        for card, vector in zip(batch.cards, batch.matrix, strict=True):
            if card.id in alias:
                self.share(card.id, card.answer_class)
                continue
            displaced += self.list(card)
            await self.index.add(card.shelf, card.id, vector)
        with_vector = {card.id for card in batch.cards}
        rest = tuple([entry_id for entry_id in unknown if entry_id not in with_vector])
        # Not `get`: one entry that cannot be opened here would hold up everything that comes after it.
        for entry in await self.store.select(Selector(ids=rest), limit=len(rest)):
            displaced += self.list(entry.card())
        await self.index.remove(*displaced)

    async def follow(self) -> None:
        """Keep up with other workers until cancelled; a store that is down is asked again."""
        while True:
            try:
                await self.store.wait(_PATIENCE)
                await self.catch_up()
            except SURVIVED:
                self.meter.faults.labels("store").inc()
                await asyncio.sleep(_PATIENCE)

    def lapsed(self, card: Card, now: float) -> bool:
        """Whether an entry may not even be served while it is asked anew."""
        return card.staleness(now, self.pack.of(card.category).revalidate) == "expired"

    @property
    def grace(self) -> float:
        """Seconds: the longest time after its expiry in which an entry may still be served."""
        return max(category.revalidate for category in self.pack.categories.values())

    async def sweep(self) -> None:
        """Drop expired entries now and then until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_EVERY)
            now = self.clock()
            expired = [card.id for card in self.catalogue.expired(now) if self.lapsed(card, now)]
            await self.hide(*expired)
            self.meter.evictions.labels("expired").inc(len(expired))
            with suppress(*SURVIVED):
                await self.store.sweep(now, max(GRACE, self.grace))
                await self.store.trim_events(keep_rows=_KEEP_EVENTS)
                await self.store.trim_changes(keep_rows=_KEEP_CHANGES)
                await self.learner.log.trim()
            for sweep in self.sweeping:
                with suppress(*SURVIVED):
                    await sweep(now)
            with suppress(*SURVIVED):
                await self.gauge()

    async def gauge(self) -> None:
        """Refresh the gauges."""
        for category, count in self.catalogue.counts().items():
            self.meter.entries.labels(category).set(count)
        for category in self.pack.categories:
            self.meter.threshold.labels(category).set(self.threshold.floor(category, Controls()))
        self.meter.index_bytes.set(await self.index.bytes_used())


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Whether this process alone may write to `folder` while the block runs; other workers may be closing too."""
    import fcntl

    with folder.with_suffix(".lock").open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
