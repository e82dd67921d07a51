"""The library's caches: a response cache with plan templates and tool results attached, with and without an event loop.

Knows which components of a cache its agents share. Invariant: plans and tools cost nothing until they are first used.
"""

from __future__ import annotations

import asyncio
import os
from functools import cached_property
from typing import TYPE_CHECKING, Unpack

from semcache.cache.asynchronous import AsyncCache
from semcache.cache.synchronous import BlockingCache
from semcache.errors import InvalidArgument

if TYPE_CHECKING:
    from semcache.agents.adapt import SmallModel
    from semcache.agents.plan_opening import BlockingPlans, PlansOnUse
    from semcache.agents.plan_terms import PlanTerms
    from semcache.agents.plans import Plans
    from semcache.agents.small_planner import SmallPlanner
    from semcache.agents.tools import ToolResults
    from semcache.cache.components import Components
    from semcache.cache.opening_choices import CacheOptions
    from semcache.types import Selector


class AsyncSemanticCache(AsyncCache):
    """A semantic cache in an event loop. Open it with `await AsyncSemanticCache.open(...)`, close it with `close`."""

    def __init__(self, components: Components) -> None:
        if isinstance(components, (str, os.PathLike)):
            raise InvalidArgument("a cache is opened by `await AsyncSemanticCache.open(folder)`, not by its class")
        super().__init__(components)
        self._plans: Plans | None = None
        self._opening = asyncio.Lock()

    async def open_plans(
        self,
        terms: PlanTerms | None = None,
        *,
        small: SmallModel | None = None,
        planner: SmallPlanner | None = None,
    ) -> Plans:
        """Open the plan templates of agents, those in the store included, and keep up with other workers.

        `small` is a small model that fills in what neither a task nor a result says; with a `planner` only once that
        has certified it, by comparison with the runs that are recorded. Those that are open already are given back.
        Raises StoreError.
        """
        from semcache.agents.plan_opening import expired_templates, open_plans

        async with self._opening:
            if self._plans is None:
                plans = await open_plans(self.components, small=small, terms=terms, planner=planner)
                self.attach(follow=plans.library.refresh, sweep=expired_templates(plans.library))
                self.operating.erasers.append(plans.library.erase)
                self._plans = plans
            return self._plans

    @property
    def plans(self) -> Plans | PlansOnUse:
        """The plan templates of agents: `lookup`, `record`, `outcome`; opened when one of these is first awaited."""
        from semcache.agents.plan_opening import PlansOnUse

        return self._plans or PlansOnUse(self.open_plans)

    @cached_property
    def tools(self) -> ToolResults:
        """The results of tools that the pack's `tools`, or their own schemas, declare: `run`, `lookup`, `record`.

        They lie in the memory of this process alone. Raises ConfigError.
        """
        from semcache.agents.tools.results import ToolResults
        from semcache.agents.tools.rules import ToolRules

        parts = self.components
        results = ToolResults(
            ToolRules.read(parts.pack.tools),
            salt=parts.store.salt,
            clock=parts.clock,
            note=parts.meter.tool_looked_up,
        )

        def forget(where: Selector) -> None:
            results.purge(tenant=where.tenant, user=where.user)

        self.operating.forgetters.append(forget)
        return results


class SemanticCache(BlockingCache[AsyncSemanticCache]):
    """A semantic cache. Open it with `SemanticCache.open(...)`, as a context manager or with `close`."""

    @classmethod
    def open(cls, data: str | os.PathLike[str], **options: Unpack[CacheOptions]) -> SemanticCache:
        """Open the cache in folder `data`, or in the store of that URL. Every option may be left out.

        `policies` names a pack, its YAML file or a folder of such files. `target` is the error per hit to keep, in
        (0, 1) (default: the pack's). `judge` compares cached answers with fresh ones: "exact", "normalised",
        "verifier" (by embedding, and in doubt by your own `verifier`), "llm" (asks `judge_model` at `judge_backend`),
        or your own judge. `verifier` also decides uncertain candidates while a caller waits, in categories whose pack
        says so; the default is the local model, "model". `seed` makes every random choice reproducible. `embedder` is
        an embedder, which the cache closes, or its name. A request waits `timeout` seconds at most for the store, the
        index or the embedder, and is then a miss. `clock` gives Unix time.

        Raises ConfigError, or StoreError for a database that cannot be opened.
        """
        return cls(AsyncSemanticCache.open(data, **options))

    def open_plans(
        self,
        terms: PlanTerms | None = None,
        *,
        small: SmallModel | None = None,
        planner: SmallPlanner | None = None,
    ) -> BlockingPlans:
        """Open the plan templates of agents with these terms; see `AsyncSemanticCache.open_plans`."""
        from semcache.agents.plan_opening import BlockingPlans

        return BlockingPlans(self.run(self.inner.open_plans(terms, small=small, planner=planner)), self.run)

    @property
    def plans(self) -> BlockingPlans:
        """The plan templates of agents: `lookup`, `record`, `outcome`. Raises InvalidArgument after `close`."""
        from semcache.agents.plan_opening import BlockingPlans

        return BlockingPlans(self.inner.plans, self.run)

    @property
    def tools(self) -> ToolResults:
        """The results of tools; see `AsyncSemanticCache.tools`. Raises InvalidArgument after `close`."""
        cache = self.inner

        async def opened() -> ToolResults:
            return cache.tools

        # In the loop, so that two threads do not open them twice.
        return self.run(opened())
