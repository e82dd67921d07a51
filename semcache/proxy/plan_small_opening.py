"""Opening the small model of plans: its price, its backend and its certificates, as the settings ask for it.

Invariant: without `plans.small.model` nothing of it is opened; settings that cannot work are a ConfigError that names
the key and the remedy; a model server of its own never sees the client's credentials; certificates of another model or
another promise are not restored.
"""

from __future__ import annotations

import logging
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from semcache.agents.multiplex.models import PricedModel
from semcache.agents.small_planner import SmallPlanner, SmallTerms
from semcache.cache.components import Components
from semcache.cache.response_cache import ResponseCache
from semcache.config.settings import Settings
from semcache.errors import ConfigError
from semcache.proxy.background import BackgroundWork
from semcache.proxy.near_hit_calls import NearHitEnvironment, NearHitModels, WithoutClientHeaders
from semcache.proxy.plan_small import SmallPlanService
from semcache.proxy.process_parts import open_own_upstream
from semcache.runtime.guarded_calls import surviving
from semcache.storage.accounting import planned
from semcache.types import Lookup, Usage

if TYPE_CHECKING:
    from semcache.protocols import Backend

_NAME = "plans-small"
_GRACE = 5.0
_log = logging.getLogger(__name__)


class OpenSmallPlans:
    """The small model of one proxy process with its background work."""

    def __init__(
        self, service: SmallPlanService, state: SmallPlanState, background: BackgroundWork, own: Backend | None
    ) -> None:
        self.service, self.background, self._state, self._own = service, background, state, own

    async def close(self) -> None:
        """End the background work and save the certificates."""
        await self.background.close(_GRACE)
        with surviving("saving what the small model of plans is certified for"):
            await self._state.save()
        if self._own is not None:
            await self._own.close()


class SmallPlanState:
    """The certificates in the store. Of several workers the one that has compared most is what a start takes up."""

    def __init__(self, planner: SmallPlanner, model: str, components: Components) -> None:
        self._planner, self._components, self._store = planner, components, components.store
        judge = getattr(components.judge, "name", "")
        self._promise = {"model": model, "target": planner.terms.target, "judge": judge}

    async def restore(self) -> None:
        """Take up the certificates that the store holds. Raises StoreError."""
        saved = await self._store.learned(_NAME)
        if saved is None:
            return
        try:
            kept = msgspec.json.decode(saved[1])
            if kept["promise"] == self._promise:
                self._planner.restore(kept["state"])
        except (msgspec.MsgspecError, ValueError, TypeError, LookupError, AttributeError):
            _log.warning("what the small model of plans was certified for cannot be read: comparing anew")

    async def save(self) -> None:
        """Save the certificates. Raises StoreError."""
        saved, now = await self._store.learned(_NAME), int(1000 * self._components.clock())
        made = self._planner.comparisons
        if saved is not None:
            try:
                kept = msgspec.json.decode(saved[1])
                if kept["promise"] == self._promise and kept["comparisons"] > made:
                    return
            except (msgspec.MsgspecError, TypeError, LookupError):
                pass  # it is written anew
        content = {"promise": self._promise, "comparisons": made, "state": self._planner.state()}
        await self._store.learn(_NAME, max(now, saved[0] + 1 if saved is not None else 0), msgspec.json.encode(content))

    async def sweep(self, now: float) -> None:  # noqa: ARG002
        """Save, as expired entries are swept. Raises StoreError."""
        await self.save()


async def open_small_plans(
    cache: ResponseCache, components: Components, settings: Settings, upstream: Backend
) -> OpenSmallPlans | None:
    """Return the small model of plans that the settings ask for, None where they name none.

    Raises ConfigError or StoreError.
    """
    chosen = settings.plans.small
    if chosen.model is None:
        return None
    if not cache.prices.knows(chosen.model):
        raise ConfigError(
            f"plans.small.model: no price of {chosen.model!r} is known: add it to the pack's `models`, such as "
            f"`{chosen.model}: {{prompt: 0.15, completion: 0.60}}`"
        )
    model = PricedModel(chosen.model, *cache.prices.of(chosen.model))
    own = open_own_upstream(chosen, settings, lambda: cache.salt)

    def spent(lookup: Lookup, usage: Usage, paid: float) -> None:
        row = cache.outcome(lookup, 200, 0.0)
        cache.note(lookup, row, logged=replace(planned(row, cache.prices, 0, spent=usage, paid=paid), count=0))

    planner = SmallPlanner(SmallTerms(chosen.target, cache.pack.confidence, rate=chosen.rate))
    background = BackgroundWork(concurrency=settings.background.concurrency, waiting=settings.background.waiting)
    service = SmallPlanService(
        planner,
        model,
        NearHitModels(upstream if own is None else WithoutClientHeaders(own), upstream, components.judge),
        NearHitEnvironment(cache.salt, cache.clock, components.rng, spent=spent),
        background,
        patience=chosen.timeout,
    )
    state = SmallPlanState(planner, chosen.model, components)
    try:
        await state.restore()
    except BaseException:
        if own is not None:
            await own.close()
        raise
    cache.attach(sweep=state.sweep, standing=("plans", service.standing))
    return OpenSmallPlans(service, state, background, own)
