"""Writing: decides on storing an answer, and writes it to the store and then to the index.

Knows nothing of how requests arrive. Invariant: an answer can be found only after it is durable, and an entry that a
quota evicts leaves the index at once and the store soon after.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING, Protocol

from semcache.cache.kept_answers import kept_tags
from semcache.config.packs import Pack
from semcache.errors import CacheUnavailable, IntegrityError, KeptLater
from semcache.learning.learner import Learner
from semcache.protocols import Entries, Freshness, Rejections
from semcache.retention.admission import admission
from semcache.retention.freshness.fixed import shortened
from semcache.runtime.guarded_calls import GuardedCalls
from semcache.runtime.task_set import TaskSet
from semcache.runtime.telemetry import Meter
from semcache.storage.live_entries import LiveEntries
from semcache.storage.prices import Prices
from semcache.types import (
    ALL_OTHERS,
    Admission,
    Assembled,
    Card,
    Discard,
    Endpoint,
    Entry,
    Forward,
    Lookup,
    Rejection,
    Selector,
    Store,
    Why,
)

if TYPE_CHECKING:
    from semcache.types import Vector


_BETWEEN = 8  # entries that are shown before others are served
_PENDING = 64 << 20  # bytes of answers that may wait for a slow store


class WrittenStore(Entries, Rejections, Protocol):
    """The part of a store that answers are written to."""


class EntryMaker:
    """Makes entries of answers that the policy admits."""

    def __init__(
        self,
        pack: Pack,
        freshness: Freshness,
        prices: Prices,
        *,
        embedder_id: str,
        clock: Callable[[], float],
        new_id: Callable[[], int],
        askers: Callable[[Lookup, str], tuple[int, ...]] = lambda _lookup, _source: (),
        wording: Callable[[str], bytes] = lambda _text: b"",
    ) -> None:
        self.clock = clock
        self._pack = pack
        self._freshness = freshness
        self._prices = prices
        self._embedder_id = embedder_id
        self.new_id = new_id
        self._askers = askers
        self._wording = wording

    def admission(self, lookup: Lookup, answer: Assembled, status: int) -> Admission:
        """Return the decision whether this answer may be stored, and for how long."""
        if lookup.key is None:
            return Discard(lookup.decision.why if isinstance(lookup.decision, Forward) else Why.NO_STORE)
        if lookup.request.endpoint is Endpoint.EMBEDDINGS:
            # What a text says may change, its embedding does not.
            ttl = shortened(self._pack.of(lookup.category).ttl, lookup.request)
        else:
            ttl = self._freshness.ttl(lookup.request, lookup.category, lookup.vector)
        if answer.until is not None:
            ttl = min(ttl, answer.until - self.clock())
        return admission(lookup.request, answer, status, ttl=ttl)

    def entry(
        self, lookup: Lookup, answer: Assembled, admitted: Store, *, latency: float = 0.0, source: str = "traffic"
    ) -> tuple[Entry, Vector | None]:
        """Return the entry that an admitted answer becomes, and its vector unless it is for the exact tier alone."""
        assert lookup.key is not None
        request, now = lookup.request, self.clock()
        vector = lookup.vector if admitted.semantic else None
        entry = Entry(
            id=self.new_id(),
            key=lookup.key,
            endpoint=request.endpoint,
            model=request.model,
            category=lookup.category,
            partition=lookup.partition if vector is not None else b"",
            embedder_id=self._embedder_id if vector is not None else "",
            body=answer.body,
            created=now,
            expires=now + admitted.ttl,
            usage=answer.usage,
            cost=self._prices.cost(request.model, answer.usage),
            latency=latency,
            tags=(*request.controls.tags, *kept_tags(request, answer)),
            source=source,
            askers=self._askers(lookup, source),
            wording=b"" if vector is None or not lookup.partition else self._wording(lookup.key.text),
        )
        return entry, vector


class EntryWriter:
    """Stores entries. `worth` is the US dollars that a hit on an entry saves."""

    def __init__(
        self,
        store: WrittenStore,
        live: LiveEntries,
        maker: EntryMaker,
        learner: Learner,
        faults: GuardedCalls,
        meter: Meter,
        worth: Callable[[Entry], float] = attrgetter("cost"),
    ) -> None:
        self.maker = maker
        self._store = store
        self._live = live
        self._learner = learner
        self._faults = faults
        self._meter = meter
        self._worth = worth
        self._deletions = TaskSet(meter, "store")
        self._pending = 0  # bytes
        self._costs: dict[str, tuple[int, float]] = {}  # answers kept by category, and US dollars they spare

    async def keep(self, entries: Sequence[tuple[Entry, Vector | None]]) -> None:
        """Store entries in one transaction and make them findable.

        Raises CacheUnavailable, after which none is stored; or KeptLater, with a store that is only slow, by which all
        are found once they are durable. Up to 64 MiB of answers that wait for such a store are held in memory; more are
        discarded.
        """
        size = sum([entry.size + (0 if vector is None else vector.nbytes) for entry, vector in entries])
        if self._pending and self._pending + size > _PENDING:
            raise CacheUnavailable(f"{self._pending} bytes of answers wait for the store already")
        await self._faults.unhurried("store", self._kept(entries, size))

    async def _kept(self, entries: Sequence[tuple[Entry, Vector | None]], size: int) -> None:
        self._pending += size
        try:
            await self._put(entries)
        finally:
            self._pending -= size

    async def _put(self, entries: Sequence[tuple[Entry, Vector | None]]) -> None:
        # What is deleted between here and where it would be shown, by whichever worker, stays away.
        with self._live.hidden_meanwhile([entry.id for entry, _ in entries]) as hidden:
            await self._store.put_all(entries)
            # Known before it is shown: it must not be served to those who rejected what it replaces.
            rejections = await self._rejections(entries)
            self._live.registry.reject(rejections)
            exactly = {one.entry_id for one in rejections if one.exact == ALL_OTHERS}
            await self._show_all([_placed(*one, exactly) for one in entries], hidden)

    async def _show_all(self, placed: Sequence[tuple[Entry, Vector | None]], hidden: Collection[int]) -> None:
        for count, (entry, vector) in enumerate(placed, 1):
            if entry.id in hidden:
                continue
            self._live.hot.put(entry)
            await self._show(entry.card(), vector, self._cost(entry))
            if count % _BETWEEN == 0:
                await asyncio.sleep(0)

    async def store_answer(
        self, lookup: Lookup, answer: Assembled, admitted: Store, *, latency: float = 0.0, source: str = "traffic"
    ) -> Entry | Discard:
        """Store an answer as an entry, and return it, or why it is not kept, or not yet.

        The answer that it replaces is compared with it, so that lives are learned.
        """
        fresh, vector = self.maker.entry(lookup, answer, admitted, latency=latency, source=source)
        old = await self._old(fresh)
        try:
            await self.keep([(fresh, vector)])
        except KeptLater:
            return Discard(Why.KEPT_LATER)
        except CacheUnavailable:
            return Discard(Why.FAULT)
        if old is not None:
            self._learner.reasked(lookup, old, fresh)
        return fresh

    async def settle(self) -> None:
        """Wait until the store has written what was stored and deleted what was evicted."""
        await self._faults.settle()
        await self._deletions.settle()

    async def _old(self, fresh: Entry) -> Entry | None:
        """The entry that a fresh one is about to replace, as far as it can still be read."""
        card = self._live.registry.exact(fresh.key.exact)
        entry = None if card is None else self._live.hot.get(card.id)
        if card is not None and entry is None:
            with suppress(CacheUnavailable, IntegrityError):
                [entry] = await self._faults.guard("store", self._store.get([card.id]))
        return entry

    async def _rejections(self, entries: Sequence[tuple[Entry, Vector | None]]) -> list[Rejection]:
        """The rejections that the store has handed on to entries from those that they replaced.

        Entries without a partition answer their own request alone, so that nobody else has to be refused.
        """
        ids = {entry.id for entry, _ in entries if entry.partition}
        if len(ids) == 1:
            return await self._store.rejections(*ids)
        return [one for one in await self._store.rejections() if one.entry_id in ids] if ids else []

    def _cost(self, entry: Entry) -> float:
        """The worth of an answer in units of its category's mean; 1 where unknown, as of what was kept before."""
        worth = self._worth(entry)
        if not worth > 0:
            return 1.0
        count, total = self._costs.get(entry.category, (0, 0.0))
        count, total = self._costs[entry.category] = count + 1, total + worth
        return worth * count / total

    async def _show(self, card: Card, vector: Vector | None, cost: float) -> None:
        displaced = self._live.add(card, cost=cost)
        if displaced:
            await self._live.hide(*[gone.id for gone in displaced])
            # Entries of the same request were replaced in the store already.
            evicted = tuple(gone.id for gone in displaced if gone.exact != card.exact or gone.id == card.id)
            if evicted:
                self._meter.evictions.labels("quota").inc(len(evicted))
                self._live.give_up(evicted)
                self._deletions.start(self._delete(evicted))
        if vector is not None and self._live.registry.get(card.id) is card:
            try:
                await self._faults.guard("index", self._live.index.add(card.partition, card.id, vector))
            except CacheUnavailable:
                # The exact tier finds it; the semantic tier will after a restart.
                return

    async def _delete(self, ids: tuple[int, ...]) -> None:
        await self._store.delete(Selector(ids=ids), now=self.maker.clock())


def _placed(entry: Entry, vector: Vector | None, exactly: set[int]) -> tuple[Entry, Vector | None]:
    """Return an entry and its vector as the store has them: without one, if it is served `exactly` only."""
    return (replace(entry, partition=b"", embedder_id=""), None) if entry.id in exactly else (entry, vector)
