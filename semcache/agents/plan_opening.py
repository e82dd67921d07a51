"""Plan templates of a cache: the parts that they share with it, and the same calls for code without an event loop.

Knows where a cache keeps its parts. Invariant: templates lie in the cache's own store, under its salt and its keys.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from semcache.agents.adapt import SmallModel
from semcache.agents.found_plan import FoundPlan
from semcache.agents.plan_library import PlanLibrary
from semcache.agents.plan_terms import CATEGORY, NearMatching, PlanTerms
from semcache.agents.plans import Plans
from semcache.agents.small_planner import SmallPlanner
from semcache.cache.maintenance import GRACE
from semcache.matching import guards
from semcache.storage.indexes.flat import FlatIndex
from semcache.storage.stores.plan_rows import plans_of

if TYPE_CHECKING:
    from semcache.cache.components import Components


async def open_plans(
    components: Components,
    *,
    small: SmallModel | None = None,
    terms: PlanTerms | None = None,
    planner: SmallPlanner | None = None,
) -> Plans:
    """Return the plan templates of a cache, those in its store included; what is learned of them joins its label log.

    Raises StoreError.
    """
    store, meter = components.store, components.meter
    library = PlanLibrary(plans_of(store), salt=store.salt, embedder=components.embedder, index=FlatIndex)
    await library.refresh()
    plans = Plans(
        library,
        salt=store.salt,
        new_id=components.new_id,
        clock=components.clock,
        terms=terms or PlanTerms(),
        small=small,
        near=NearMatching(
            components.strategy,
            partial(guards.conflicts, names=components.pack.of(CATEGORY).guards),
            components.rng.random,
            components.learner.log.add,
        ),
        note=meter.plan_looked_up,
    )
    plans.planner = planner
    return plans


def expired_templates(library: PlanLibrary) -> Callable[[float], Awaitable[None]]:
    """Return a sweep that forgets templates that expired a while ago; it raises StoreError."""

    async def sweep(now: float) -> None:
        await library.sweep(now, grace=GRACE)

    return sweep


class PlansOnUse:
    """The plans of a cache, opened by `open` when they are first used: until then they cost nothing."""

    def __init__(self, open: Callable[[], Awaitable[Plans]]) -> None:
        self._open = open

    async def lookup(self, task: str | Sequence[Mapping[str, Any]], **given: Any) -> FoundPlan:
        """The plan for a task; see `Plans.lookup`."""
        return await (await self._open()).lookup(task, **given)

    async def record(self, messages: Sequence[Mapping[str, Any]], **given: Any) -> str | None:
        """Learn from a finished run; see `Plans.record`."""
        return await (await self._open()).record(messages, **given)

    async def outcome(self, found: FoundPlan | str, *, success: bool, tenant: str | None = None) -> bool:
        """Say whether a served plan led to success; see `Plans.outcome`."""
        return await (await self._open()).outcome(found, success=success, tenant=tenant)


class BlockingPlans:
    """`Plans` for code without an event loop; `run` waits for a coroutine, as `SemanticCache.run` does."""

    def __init__(self, plans: Plans | PlansOnUse, run: Callable[[Coroutine[Any, Any, Any]], Any]) -> None:
        self.inner, self._run = plans, run

    def lookup(self, task: str | Sequence[Mapping[str, Any]], **given: Any) -> FoundPlan:
        """The plan for a task; see `Plans.lookup`."""
        found: FoundPlan = self._run(self.inner.lookup(task, **given))
        return found

    def record(self, messages: Sequence[Mapping[str, Any]], **given: Any) -> str | None:
        """Learn from a finished run; see `Plans.record`."""
        plan_id: str | None = self._run(self.inner.record(messages, **given))
        return plan_id

    def outcome(self, found: FoundPlan | str, *, success: bool, tenant: str | None = None) -> bool:
        """Say whether a served plan led to success; see `Plans.outcome`."""
        return bool(self._run(self.inner.outcome(found, success=success, tenant=tenant)))
