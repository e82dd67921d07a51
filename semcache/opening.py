"""Opening a cache: which parts there are, how they are read from a store, and how they follow other workers.

The composition root below the skins; decides nothing about requests.
Invariant: when `open_parts` returns, every entry that was durable and unexpired can be found; `close` leaves nothing
running and a snapshot that matches the store.
"""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from semcache import categorize
from semcache.answers import Answers
from semcache.catalogue import Catalogue
from semcache.embed import open_embedder
from semcache.errors import ConfigError, IndexFault
from semcache.eviction import Quota
from semcache.eviction.lru import Lru
from semcache.faults import SURVIVED
from semcache.freshness import FixedFreshness
from semcache.index import snapshot
from semcache.index.owner import IndexOwner
from semcache.index.shelf import Shelf
from semcache.journal import Journal
from semcache.judge import open_judge
from semcache.ledger import Prices
from semcache.policy import Pack, load
from semcache.protocols import Categorizer, Embedder, EntryStore, Freshness, Judge, Threshold
from semcache.store import open_store
from semcache.store.seal import Seal
from semcache.telemetry import Meter
from semcache.thresholds import ByCategory
from semcache.types import Card, Change, ChangeKind, Controls, Rejection

if TYPE_CHECKING:
    from semcache.config import Settings

SWEEP_EVERY = 60.0
_GRACE = 3600.0
_KEEP_EVENTS = 1_000_000
_KEEP_CHANGES = 1_000_000
_PATIENCE = 1.0
_FEW = 2000


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
    seen: int = 0
    tasks: list[asyncio.Task[None]] = field(default_factory=list)

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

    async def catch_up(self) -> None:
        """Apply what other workers wrote since the last call. Raises StoreError."""
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
        await self.journal.close()
        if self.snapshot is not None:
            with suppress(IndexFault), _alone(self.snapshot) as alone:
                if alone:
                    await self.index.snapshot(self.snapshot, embedder_id=self.embedder.id, head=self.seen)
        await self.index.close()
        await self.embedder.close()
        await self.store.close()

    async def _apply(self, changes: Sequence[Change]) -> None:
        gone = {change.entry_id for change in changes if change.kind is ChangeKind.DELETE}
        await self.hide(*gone)
        self.catalogue.reject(
            Rejection(change.entry_id, change.exact) for change in changes if change.kind is ChangeKind.REJECT
        )
        put = [change.entry_id for change in changes if change.kind is ChangeKind.PUT]
        unknown = [entry_id for entry_id in put if entry_id not in gone and self.catalogue.get(entry_id) is None]
        if not unknown:
            return
        displaced: list[int] = []
        batch = await self.store.vectors_of(unknown, self.embedder.id)
        for card, vector in zip(batch.cards, batch.matrix, strict=True):
            displaced += self.list(card)
            await self.index.add(card.shelf, card.id, vector)
        with_vector = {card.id for card in batch.cards}
        for entry in await self.store.get([entry_id for entry_id in unknown if entry_id not in with_vector]):
            if entry is not None:
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

    async def sweep(self) -> None:
        """Drop expired entries now and then until cancelled."""
        while True:
            await asyncio.sleep(SWEEP_EVERY)
            now = self.clock()
            expired = [card.id for card in self.catalogue.expired(now)]
            await self.hide(*expired)
            self.meter.evictions.labels("expired").inc(len(expired))
            with suppress(*SURVIVED):
                await self.store.sweep(now, _GRACE)
                await self.store.trim_events(keep_rows=_KEEP_EVENTS)
                await self.store.trim_changes(keep_rows=_KEEP_CHANGES)
            with suppress(*SURVIVED):
                await self.gauge()

    async def gauge(self) -> None:
        """Refresh the gauges."""
        for category, count in self.catalogue.counts().items():
            self.meter.entries.labels(category).set(count)
        for category in self.pack.categories:
            self.meter.threshold.labels(category).set(self.threshold.floor(category, Controls()))
        self.meter.index_bytes.set(await self.index.bytes_used())


async def open_parts(
    data: str,
    *,
    policies: str,
    judge: str,
    embedder: str,
    clock: Callable[[], float],
    seed: int | None = None,
    target: float | None = None,
    hot_bytes: int = 256 << 20,
    seal_keys: str | None = None,
    prices: Path | None = None,
    sink: Callable[[bytes], object] | None = None,
) -> Parts:
    """Open every part. `data` is a folder or a store URL. Raises ConfigError, StoreError or EmbedError."""
    pack = load(policies)
    if target is not None:
        pack = pack.with_target(target)
    folder = None if "://" in data else Path(data)
    url = data if folder is None else str(folder / "semcache.db")
    seal = Seal.parse(seal_keys) if seal_keys else None
    store = open_store(url, seal=seal)
    referee = open_judge(judge)
    table = read_prices(prices) if prices is not None else Prices()
    model = open_embedder(embedder)
    await store.open()
    try:
        categories = await _categories(pack, model)
        meter = Meter()
        shelf = await _shelf(None if folder is None else folder / "index", model, store)
        held = shelf.ids()
        parts = Parts(
            store=store,
            embedder=model,
            index=IndexOwner(shelf),
            pack=pack,
            categories=categories,
            threshold=ByCategory(pack),
            freshness=FixedFreshness(pack),
            catalogue=Catalogue(lambda category: Quota(pack.of(category).quota, Lru())),
            answers=Answers(hot_bytes),
            journal=Journal(store, meter, sink=sink),
            meter=meter,
            prices=table,
            judge=referee,
            clock=clock,
            rng=random.Random(seed),
            # Not from `rng`: two workers of one seed must not make the same ids.
            new_id=lambda: secrets.randbits(63),
            snapshot=None if folder is None else folder / "index",
        )
        await _fill(parts, held)
    except BaseException:
        await model.close()
        await store.close()
        raise
    parts.journal.start()
    parts.tasks = [asyncio.create_task(parts.follow()), asyncio.create_task(parts.sweep())]
    await parts.gauge()
    return parts


async def open_from(
    settings: Settings, *, clock: Callable[[], float], sink: Callable[[bytes], object] | None = None
) -> Parts:
    """Open every part as the settings say. Raises SemcacheError."""
    keys = settings.store.seal_keys
    return await open_parts(
        settings.store_url if settings.store.url else str(settings.data),
        policies=settings.policies,
        judge=settings.cache.judge,
        embedder=settings.embedder,
        clock=clock,
        seed=settings.cache.seed,
        target=settings.cache.target,
        hot_bytes=settings.cache.hot_bytes,
        seal_keys=keys.get_secret_value() if keys else None,
        prices=settings.prices,
        sink=sink,
    )


def read_prices(path: Path) -> Prices:
    """Prices from a YAML mapping of model patterns to [input, output], US dollars per million tokens.

    Raises ConfigError.
    """
    import yaml

    try:
        table = yaml.safe_load(path.read_text(encoding="utf-8"))
        return Prices({str(model): (float(pair[0]), float(pair[1])) for model, pair in table.items()})
    except (OSError, UnicodeDecodeError, yaml.YAMLError, AttributeError, TypeError, ValueError, IndexError) as error:
        raise ConfigError(
            f"{path}: write one `model-pattern: [input, output]` a line, in dollars per million: {error}"
        ) from error


async def _categories(pack: Pack, embedder: Embedder) -> Categorizer:
    texts = categorize.example_texts(pack)
    return categorize.build(pack, await embedder.embed([text for _, text in texts]))


async def _shelf(folder: Path | None, embedder: Embedder, store: EntryStore) -> Shelf:
    """The shelf of the snapshot, which spares building large graphs again, or an empty one.

    A snapshot that lacks many vectors is left alone: adding them to its graphs one by one would take longer than
    starting flat, which answers at once and builds its graphs later.
    """
    if folder is not None:
        with suppress(IndexFault):
            shelf, _ = snapshot.load(folder, embedder_id=embedder.id, dim=embedder.dim)
            stored = (await store.embedders()).get(embedder.id, 0)
            if stored - len(shelf) <= _FEW:
                return shelf
    return Shelf(embedder.dim)


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


async def _fill(parts: Parts, held: set[int]) -> None:
    """Load the cards of every entry and the vectors that are not `held` yet."""
    now = parts.clock()
    parts.seen = await parts.store.head()
    displaced: list[int] = []
    async for batch in parts.store.vectors(parts.embedder.id, now=now):
        rows: dict[bytes, list[int]] = {}
        for row, card in enumerate(batch.cards):
            displaced += parts.list(card)
            if card.id not in held:
                rows.setdefault(card.shelf, []).append(row)
        for partition, numbers in rows.items():
            ids = [batch.cards[row].id for row in numbers]
            await parts.index.bulk_add(partition, ids, batch.matrix[numbers])
    async for cards in parts.store.cards(parts.embedder.id, now=now):
        for card in cards:
            displaced += parts.list(card)
    stale = [entry_id for entry_id in held if parts.catalogue.get(entry_id) is None]
    await parts.index.remove(*displaced, *stale)
    parts.catalogue.reject(await parts.store.rejections())
