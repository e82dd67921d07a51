"""A generation of a proxy process: everything that serves requests under one policy pack and one table of prices.

A reload opens a second one beside the first, of the same store, embedder and process parts, and requests that come
after it go there. Invariant: a generation that was opened whole serves until the last request that entered it has been
answered, and is closed then; one that cannot be opened leaves nothing behind.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from contextlib import AsyncExitStack, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from semcache.agents.library import AsyncSemanticCache
from semcache.cache.components import Components
from semcache.cache.prompt_sample import note_serving
from semcache.config.settings import Settings
from semcache.errors import ConfigError, StoreError
from semcache.models.verifiers import lends_key
from semcache.proxy.administration import Administration
from semcache.proxy.audits_and_revalidation import FollowUpCalls
from semcache.proxy.auth import user_of
from semcache.proxy.background import BackgroundWork
from semcache.proxy.completion_route import CompletionRoute
from semcache.proxy.embedding_route import EmbeddingsRoute
from semcache.proxy.fault_log import log_fault
from semcache.proxy.forward import Forwarder
from semcache.proxy.hit_replay import HitReplayer
from semcache.proxy.passthrough import Passthrough
from semcache.proxy.process_parts import ProcessParts
from semcache.proxy.route_context import CallerTrust, RouteContext
from semcache.proxy.shared_account import account_of
from semcache.proxy.target_relaxation import LoadCountingBackend, relax_under_load
from semcache.proxy.ui.page_entrance import PageEntrance
from semcache.runtime.task_set import end
from semcache.types import Selector
from semcache.upstream.coalescing import Flights

if TYPE_CHECKING:
    from semcache.proxy.near_hit_opening import OpenNearHits
    from semcache.proxy.plan_service import PlanService
    from semcache.proxy.plan_small_opening import OpenSmallPlans

_LONGEST = 900.0  # seconds that a request of an earlier generation may still take
_PAGE = 5.0  # seconds that a reply of the administration may
_log = logging.getLogger(__name__)


class Generation:
    """The routes of a cache of opened `components`. `open` makes it ready to serve."""

    context: RouteContext

    def __init__(self, process: ProcessParts, settings: Settings, components: Components) -> None:
        self.settings, self.components = settings, components
        self.cache = AsyncSemanticCache(components)
        self.plans: PlanService | None = None
        self.near: OpenNearHits | None = None
        self.small_plans: OpenSmallPlans | None = None
        self._process = process
        self._follow_ups: FollowUpCalls | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._inside: set[asyncio.Task[Any]] = set()
        self._looking: set[asyncio.Task[Any]] = set()

    async def open(self) -> None:
        """Open what serves, or close everything again and raise SemcacheError."""
        try:
            await self._open()
        except BaseException:
            await self.close()
            raise

    async def _open(self) -> None:
        cache, process, settings = self.cache, self._process, self.settings
        self.plans = await self._open_plans()
        self.near = await self._open_near()
        for category in cache.lacking_verifiers():
            _log.warning("category %s wants a verifier, and verifier.kind sets up none: its doubts miss", category)
        chosen = settings.background
        self._follow_ups = FollowUpCalls(
            cache,
            process.backend,
            BackgroundWork(concurrency=chosen.concurrency, waiting=chosen.waiting),
            audit_rate=chosen.audit_rate,
            timeout=chosen.timeout,
        )
        auth = settings.auth
        self.context = RouteContext(
            cache=cache,
            backend=process.backend,
            intake=process.intake,
            trust=CallerTrust(
                auth.trust_user_header, auth.trust_user_field, auth.expose_scores, lends_key=lends_key(settings)
            ),
            account=account_of(settings, process.auth),
            replayer=HitReplayer(cache, worker=secrets.token_hex(3)),
            forwarder=Forwarder(cache, process.backend, Flights(), process.limiter.charge),
            follow_ups=self._follow_ups,
            limiter=process.limiter,
            tracing=process.tracing,
            plans=self.plans,
            near=self.near.service if self.near is not None else None,
            leases=process.leases,
        )
        self.completions = CompletionRoute(self.context)
        self.embeddings = EmbeddingsRoute(self.context)
        self.passthrough = Passthrough(
            process.backend, process.intake, process.limiter, self.context.account, self._forget
        )
        # Making it takes tenths of a second, which requests of an earlier generation need not wait for.
        self.administration = await asyncio.to_thread(self._administration)
        self._tasks.append(asyncio.create_task(asyncio.to_thread(cache.prices.load), name="semcache-prices"))
        with suppress(StoreError):  # for commands beside the proxy alone
            await note_serving(self.components.store, cache.pack, now=process.clock())
        if isinstance(process.backend, LoadCountingBackend) and cache.relax is not None:
            easing = relax_under_load(process.backend, settings.upstream.busy_at or 1, cache.relax)
            self._tasks.append(asyncio.create_task(easing, name="semcache-easing"))

    def enter(self, *, looking: bool = False) -> asyncio.Task[Any]:
        """Begin a request in this task; `looking`: one of the administration, which may be cut off."""
        task = asyncio.current_task()
        assert task is not None
        (self._looking if looking else self._inside).add(task)
        return task

    def leave(self, task: asyncio.Task[Any]) -> None:
        """End a request."""
        self._inside.discard(task)
        self._looking.discard(task)

    async def retire(self) -> None:
        """Close, once the requests that entered have been answered. Requests of the admin page are cancelled soon."""
        try:
            if self._looking:
                await asyncio.wait(set(self._looking), timeout=_PAGE)
            for task in self._looking:
                task.cancel()
            if self._inside:
                await asyncio.wait(set(self._inside), timeout=_LONGEST)
        finally:
            # Also where the server stops meanwhile: what was learned and noted is written.
            await self.close()

    async def close(self) -> None:
        """Close everything that belongs to this generation alone."""
        await end(*self._tasks)
        async with AsyncExitStack() as closing:
            # The last first; one that fails keeps none of the others open.
            closing.push_async_callback(self.cache.close)
            for part in (self.near, self.small_plans, self.plans, self._follow_ups):
                if part is not None:
                    closing.push_async_callback(part.close)

    async def _forget(self, tenant: str, tag: str) -> None:
        try:
            await self.cache.invalidate(Selector(tenant=tenant, tag=tag))
        except Exception:
            log_fault(self.cache, "store")

    def _administration(self) -> Administration:
        process, public = self._process, self.settings.auth.public_metrics
        page = PageEntrance(self.cache, process.auth, process.intake, process.visitors, self.plans, self.settings)
        return Administration(
            self.cache, process.auth, process.intake, self.plans, public=public, reload=process.reload, page=page
        )

    async def _open_plans(self) -> PlanService | None:
        chosen, cache = self.settings.plans, self.cache
        if chosen.mode == "off":
            if chosen.small.model is not None:
                raise ConfigError("plans.small needs plans: set plans.mode to answer, or leave plans.small out")
            return None
        from semcache.agents.plan_terms import PlanTerms
        from semcache.proxy.plan_service import PlanService
        from semcache.proxy.plan_small_opening import open_small_plans

        self.small_plans = await open_small_plans(cache, self.components, self.settings, self._process.backend)
        small = self.small_plans.service if self.small_plans is not None else None
        terms = PlanTerms(target=chosen.target, life=chosen.life, small_seconds=chosen.small.timeout)
        plans = await cache.open_plans(terms, planner=small.planner if small is not None else None)
        salt, rule, mode = cache.salt, chosen.rule, chosen.mode
        service = PlanService(
            plans, salt=salt, clock=self._process.clock, rule=rule, mode=mode, others=cache.shared, small=small
        )
        if cache.pack.share == "user":
            auth = self.settings.auth
            service.user_of = partial(user_of, trust_header=auth.trust_user_header, trust_body=auth.trust_user_field)
        return service

    async def _open_near(self) -> OpenNearHits | None:
        if self.cache.pack.near is None:
            return None
        from semcache.proxy.near_hit_opening import open_near_hits

        return await open_near_hits(self.cache, self.components, self.settings, self._process.backend)
