"""Opening near hits: models, backends, examples and replays, as the policy pack asks for them.

Invariant: without `near` in the pack nothing of them is opened or imported; a pack that cannot work is a ConfigError
that names its file, the key and the remedy; a model server of its own never sees the client's credentials, and is
divided by tenant as the upstream is.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING

from semcache.agents.multiplex.models import PricedModel
from semcache.agents.nearhits import NearHits
from semcache.agents.nearhits import NearSettings as Terms
from semcache.cache.components import Components
from semcache.cache.response_cache import ResponseCache
from semcache.config.packs import Pack
from semcache.config.settings import Settings
from semcache.errors import ConfigError
from semcache.proxy.background import BackgroundWork
from semcache.proxy.near_hit_calls import NearHitEnvironment, NearHitModels, WithoutClientHeaders
from semcache.proxy.near_hit_replays import ExampleReplays
from semcache.proxy.near_hit_service import NearHitService
from semcache.proxy.near_hit_state import NearHitState
from semcache.proxy.process_parts import open_own_upstream
from semcache.proxy.target_relaxation import LoadCountingBackend
from semcache.runtime.guarded_calls import surviving
from semcache.runtime.task_set import end
from semcache.storage.accounting import substituted
from semcache.storage.indexes.flat import FlatIndex
from semcache.storage.prices import Prices
from semcache.types import Lookup, Usage

if TYPE_CHECKING:
    from semcache.protocols import Backend

_GRACE = 5.0
_log = logging.getLogger(__name__)


class OpenNearHits:
    """The near hits of one proxy process with their background tasks."""

    def __init__(
        self,
        service: NearHitService,
        memory: NearHitState,
        replays: ExampleReplays,
        background: BackgroundWork,
        own: Backend | None,
    ) -> None:
        self.service, self._memory, self._background, self._own = service, memory, background, own
        self._filling = asyncio.create_task(self._fill(), name="semcache-near")
        self._replaying = asyncio.create_task(replays.run(), name="semcache-near-replays")

    async def filled(self) -> None:
        """Wait until the examples of the store are known."""
        await self._filling

    async def close(self) -> None:
        """End the background tasks and save the learned state."""
        await end(self._filling, self._replaying)
        await self._background.close(_GRACE)
        with surviving("saving what near hits have learned"):
            await self._memory.save()
        if self._own is not None:
            await self._own.close()

    async def _fill(self) -> None:
        try:
            await self._memory.fill()
        except Exception:
            _log.warning("the examples of the store could not be read: near hits start without", exc_info=True)


async def open_near_hits(
    cache: ResponseCache, components: Components, settings: Settings, upstream: Backend
) -> OpenNearHits | None:
    """Return the near hits that the pack asks for, None where it asks for none.

    `components` are those of the `cache`. Raises ConfigError or StoreError.
    """
    said = cache.pack.near
    if said is None:
        return None
    chosen = settings.background
    terms = terms_of(cache.pack, cache.prices)
    own = open_own_upstream(settings.near, settings, lambda: cache.salt)

    def alive(entry_id: int) -> bool:
        card = cache.registry.get(entry_id)
        return card is not None and card.expires > cache.clock()

    def entry_id(lookup: Lookup) -> int | None:
        card = cache.registry.exact(lookup.key.exact) if lookup.key is not None else None
        return card.id if card is not None and card.text == lookup.request.text else None

    def spent(lookup: Lookup, usage: Usage, paid: float) -> None:
        row = cache.outcome(lookup, 200, 0.0)
        cache.note(lookup, row, logged=replace(substituted(row, usage, paid, 0.0), count=0))

    def load() -> float:
        busy_at = settings.upstream.busy_at
        return upstream.load(busy_at) if busy_at is not None and isinstance(upstream, LoadCountingBackend) else 0.0

    background = BackgroundWork(concurrency=chosen.concurrency, waiting=chosen.waiting)
    near = NearHits(terms, FlatIndex, alive=alive)
    environment = NearHitEnvironment(cache.salt, cache.clock, components.rng, entry_id, spent, load)
    replays = ExampleReplays(
        near,
        WithoutClientHeaders(upstream),
        components.judge,
        environment,
        rate=said.replays,
        patience=settings.upstream.timeout,
    )
    service = NearHitService(
        near,
        NearHitModels(upstream if own is None else WithoutClientHeaders(own), upstream, components.judge),
        environment,
        background,
        patience=settings.near.timeout,
        replays=replays,
    )
    memory = NearHitState(service, replays, components)
    try:
        await memory.restore()
    except BaseException:
        if own is not None:
            await own.close()
        raise
    cache.attach(
        follow=memory.follow if cache.shared else None, sweep=memory.sweep, standing=("near", service.standing)
    )
    return OpenNearHits(service, memory, replays, background, own)


def terms_of(pack: Pack, prices: Prices) -> Terms:
    """Return the settings of near hits that a pack with `near` asks for. Raises ConfigError."""
    near = pack.near
    assert near is not None
    small, large = (
        _model(pack, prices, near.model, "model", 0.5),
        _model(pack, prices, near.instead_of, "instead_of", 0.95),
    )
    if (small.prompt, small.completion) >= (large.prompt, large.completion) or small.completion > large.completion:
        raise ConfigError(
            f"{pack.source}: near.model: {near.model!r} is not cheaper than {near.instead_of!r}: name a cheaper model, "
            "put prices right in `models`, or leave `near` out"
        )
    return Terms(
        small,
        large,
        target=near.target,
        confidence=pack.confidence,
        rate=near.rate,
        examples=near.examples,
        tokens=near.tokens,
        bytes=near.bytes,
        strategy=near.strategy,
    )


def _model(pack: Pack, prices: Prices, name: str, key: str, quality: float) -> PricedModel:
    if not prices.knows(name):
        raise ConfigError(
            f"{pack.source}: near.{key}: no price of {name!r} is known: add it to the pack's `models`, such as "
            f"`{name}: {{prompt: 0.15, completion: 0.60}}`, or to the price list"
        )
    prompt, completion = prices.of(name)
    known = pack.models.get(name)
    if known is None:
        return PricedModel(name, prompt, completion, quality)
    own = quality if known.quality is None else known.quality
    return PricedModel(name, prompt, completion, own, known.first, known.speed)
