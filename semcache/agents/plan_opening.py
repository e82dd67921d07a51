"""Plan templates of a cache: the parts that they share with it, and the same calls for code without an event loop.

Knows where a cache keeps its parts. Invariant: templates lie in the cache's own store, under its salt and its keys.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from semcache.agents.adapt import Small
from semcache.agents.plan_library import Library
from semcache.agents.plans import CATEGORY, FoundPlan, NearMatching, Plans, Terms
from semcache.matching import guards
from semcache.storage.indexes.flat import FlatIndex
from semcache.storage.stores.plan_rows import plans_of

if TYPE_CHECKING:
    from semcache.cache.maintenance import Parts
    from semcache.types.evidence import Label


async def open_plans(
    parts: Parts,
    *,
    small: Small | None = None,
    terms: Terms | None = None,
    note: Callable[[str], None] = lambda _why: None,
    teach: Callable[[Label], object] | None = None,
) -> Plans:
    """The plan templates of a cache with these parts, those in its store included; `teach` takes labels to its log.

    Raises StoreError.
    """
    salt = parts.store.salt
    library = Library(plans_of(parts.store), salt=salt, embedder=parts.embedder, index=FlatIndex)
    await library.refresh()
    return Plans(
        library,
        salt=salt,
        new_id=parts.new_id,
        clock=parts.clock,
        terms=terms or Terms(),
        small=small,
        near=NearMatching(
            parts.threshold,
            partial(guards.conflicts, names=parts.pack.of(CATEGORY).guards),
            parts.rng.random,
            teach,
        ),
        note=note,
    )


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
