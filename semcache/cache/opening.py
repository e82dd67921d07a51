"""Opening a cache: which parts there are, and how they are filled from a store.

The composition root below the skins; decides nothing about requests.
Invariant: when `open_parts` returns, every entry that was durable and unexpired can be found, and every label that was
durable is learned from; when it raises, nothing stays open.
"""

from __future__ import annotations

import asyncio
import random
import secrets
from collections.abc import Callable
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from semcache.cache.maintenance import Parts
from semcache.config.packs import Pack, load
from semcache.errors import ConfigError, IndexFault
from semcache.learning.judges import asks, open_judge
from semcache.matching.strategies import ByCategory
from semcache.matching.strategies.certified.belief import FAITHFUL, Noise
from semcache.matching.strategies.certified.priors import read_priors
from semcache.models.embedders import open_embedder
from semcache.models.installed import prior_of, spec_of
from semcache.models.verifiers import backend_for, given
from semcache.protocols import Backend, Categorizer, Embedder, EntryStore, Judge, Verifier
from semcache.request import categorize
from semcache.retention.eviction import POLICIES, shared_capacity
from semcache.retention.freshness import LearnedFreshness
from semcache.runtime.telemetry import Meter
from semcache.storage.accounting import Prices
from semcache.storage.entry_registry import Catalogue
from semcache.storage.event_log import Journal
from semcache.storage.hot_entries import Answers
from semcache.storage.indexes import snapshot
from semcache.storage.indexes.owner import IndexOwner
from semcache.storage.indexes.partitions import Shelf
from semcache.storage.stores import open_store
from semcache.storage.stores.seal import Seal

if TYPE_CHECKING:
    from semcache.config.settings import Settings

__all__ = ["Parts", "open_from", "open_parts", "read_prices"]

_FEW = 2000


async def open_parts(
    data: str,
    *,
    policies: str,
    judge: str | Judge,
    embedder: str,
    clock: Callable[[], float],
    seed: int | None = None,
    target: float | None = None,
    verifier: Verifier | Literal["model", "off"] = "off",
    judge_backend: Backend | None = None,
    judge_model: str | None = None,
    hot_bytes: int = 256 << 20,
    seal_keys: str | None = None,
    prices: Path | None = None,
    sink: Callable[[bytes], object] | None = None,
    noise: Noise = FAITHFUL,
    shared: bool = False,
) -> Parts:
    """Open every part. `data` is a folder or a store URL. Raises ConfigError, StoreError or EmbedError.

    `judge` is one, or the name of one; "llm" asks `judge_model` behind `judge_backend`. `verifier` ("model": the local
    one) is asked about what is too uncertain to be served without, in categories whose pack says `verify`. `noise` is
    how often the judge errs. `shared` says that other workers serve from the same store.
    """
    pack = load(policies)
    if target is not None:
        pack = pack.with_target(target)
    folder = None if "://" in data else Path(data)
    url = data if folder is None else str(folder / "semcache.db")
    seal = Seal.parse(seal_keys) if seal_keys else None
    store = open_store(url, seal=seal)
    table = (read_prices(prices) if prices is not None else Prices()).naming(pack.models)
    spec = spec_of(embedder, folder)
    priors = read_priors(prior_of(spec))
    async with AsyncExitStack() as opened:
        model = open_embedder(spec)
        opened.push_async_callback(model.close)
        referee = (
            open_judge(
                judge,
                embedder=model,
                verifier=None if isinstance(verifier, str) else verifier,
                backend=judge_backend,
                model=judge_model,
            )
            if isinstance(judge, str)
            else judge
        )
        opened.push_async_callback(store.close)
        await store.open()
        categories = await _categories(pack, model)
        meter = Meter()
        verifiers = given(verifier, pack, folder, meter=meter)
        opened.push_async_callback(verifiers.close)
        shelf = await _shelf(None if folder is None else folder / "index", model, store)
        held = shelf.ids()
        index = IndexOwner(shelf)
        opened.push_async_callback(index.close)
        parts = Parts(
            store=store,
            embedder=model,
            index=index,
            pack=pack,
            categories=categories,
            threshold=ByCategory(pack, noise=noise, priors=priors),
            freshness=LearnedFreshness(pack, embedder_id=model.id),
            catalogue=Catalogue(shared_capacity.quotas(pack, lambda category: POLICIES[pack.of(category).eviction]())),
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
            shared=shared,
            verifiers=verifiers,
        )
        await _fill(parts, held)
        await parts.learner.log.restore(lambda: ByCategory(pack, noise=noise, priors=priors))
        await parts.gauge()
        opened.pop_all()
    parts.journal.start()
    parts.learner.start()
    parts.tasks = [asyncio.create_task(parts.follow()), asyncio.create_task(parts.sweep())]
    return parts


async def open_from(
    settings: Settings,
    *,
    clock: Callable[[], float],
    sink: Callable[[bytes], object] | None = None,
    judge_backend: Backend | None = None,
) -> Parts:
    """Open every part as the settings say. Raises SemcacheError.

    The judge "llm" asks `judge_backend`, or without one a backend of its own; a judge of a plug-in is given the same.
    """
    keys = settings.store.seal_keys
    own: Backend | None = None
    if asks(settings.cache.judge) and judge_backend is None:
        own = judge_backend = backend_for(settings, settings.judge, None, timeout=settings.judge.timeout)
    try:
        parts = await open_parts(
            settings.store_url if settings.store.url else str(settings.data),
            policies=settings.policies,
            judge=settings.cache.judge,
            embedder=spec_of(settings.embedder, settings.data),
            clock=clock,
            seed=settings.cache.seed,
            target=settings.cache.target,
            hot_bytes=settings.cache.hot_bytes,
            seal_keys=keys.get_secret_value() if keys else None,
            prices=settings.prices,
            sink=sink,
            judge_backend=judge_backend,
            judge_model=settings.judge.model,
            noise=Noise(settings.judge.false_yes, settings.judge.false_no),
            shared=settings.server.workers > 1 or settings.store_url.startswith("postgresql"),
        )
    except BaseException:
        if own is not None:
            await own.close()
        raise
    if own is not None:
        parts.backends = (own,)
    return parts


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


async def _fill(parts: Parts, held: set[int]) -> None:
    """Load the cards of every entry and the vectors that are not `held` yet."""
    now = parts.clock()
    parts.seen = await parts.store.head()
    displaced: list[int] = []
    async for batch in parts.store.vectors(parts.embedder.id, now=now - parts.grace):
        rows: dict[bytes, list[int]] = {}
        for row, card in enumerate(batch.cards):
            if parts.lapsed(card, now):
                continue
            displaced += parts.list(card)
            if card.id not in held:
                rows.setdefault(card.shelf, []).append(row)
        for partition, numbers in rows.items():
            ids = [batch.cards[row].id for row in numbers]
            await parts.index.bulk_add(partition, ids, batch.matrix[numbers])
    async for cards in parts.store.cards(parts.embedder.id, now=now - parts.grace):
        for card in cards:
            if not parts.lapsed(card, now):
                displaced += parts.list(card)
    stale = [entry_id for entry_id in held if parts.catalogue.get(entry_id) is None]
    await parts.index.remove(*displaced, *stale)
    parts.catalogue.reject(await parts.store.rejections())
