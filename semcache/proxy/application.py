"""The ASGI application of a proxy process: its routes, and the start and stop of everything behind them.

Routes that answer from the cache are plain ASGI, the rest goes through FastAPI. Invariant: requests are answered only
between a start that succeeded and a shutdown that has begun; a setting that cannot work stops the start with a
ConfigError.
"""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import secrets
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from semcache import __version__
from semcache.agents.library import AsyncSemanticCache
from semcache.cache.components import Components
from semcache.cache.opening import open_from
from semcache.config.settings import Settings, check_exposure, find_file, is_loopback
from semcache.dialects import dialects
from semcache.errors import ConfigError, SemcacheError
from semcache.learning.judges import asks
from semcache.models.verifiers import backend_for, lends_key
from semcache.protocols import Backend, Dialect
from semcache.proxy.administration import Administration
from semcache.proxy.asgi import BrokenOff, Receive, Scope, Send
from semcache.proxy.audits_and_revalidation import FollowUpCalls
from semcache.proxy.auth import Authenticator
from semcache.proxy.background import BackgroundWork
from semcache.proxy.client_edges import ClientEdges
from semcache.proxy.completion_route import CompletionRoute
from semcache.proxy.embedding_route import EmbeddingsRoute
from semcache.proxy.fault_log import log_fault
from semcache.proxy.forward import Forwarder
from semcache.proxy.hit_replay import HitReplayer
from semcache.proxy.http_connection import ConnectionLimits
from semcache.proxy.intake import BytesInFlight, Intake
from semcache.proxy.key_counts import KeyCounts
from semcache.proxy.key_limits import KeyLimiter, KeyLimits
from semcache.proxy.leases import Leases
from semcache.proxy.origin import TrustedHosts
from semcache.proxy.passthrough import Passthrough
from semcache.proxy.route_context import RequestLimits, RouteContext
from semcache.proxy.target_relaxation import LoadCountingBackend, relax_under_load
from semcache.runtime.descriptors import room as descriptors
from semcache.types import ApiKey
from semcache.upstream.backends import open_backend
from semcache.upstream.backends.connection import Connection
from semcache.upstream.coalescing import Flights
from semcache.upstream.routing.attempt import Routed
from semcache.upstream.routing.replica import Address
from semcache.upstream.routing.router import RoutingTerms

if TYPE_CHECKING:
    from semcache.proxy.near_hit_opening import OpenNearHits
    from semcache.proxy.plan_service import PlanService
    from semcache.proxy.plan_small_opening import OpenSmallPlans

_REFRESH_KEYS = 1.0
_EMBEDDINGS = "/v1/embeddings"
_FLIGHTS = "flights.lock"
_COUNTS = "limits.counts"
_log = logging.getLogger(__name__)


def create() -> Proxy:
    """Return the application of one worker process, from environment and settings file."""
    from prometheus_client import disable_created_metrics

    # Each counter would be told twice, the second time with a time that nobody asks for.
    disable_created_metrics()  # type: ignore[no-untyped-call]
    env = dict(os.environ)
    return Proxy(Settings.load({}, env, find_file(env, Path.cwd())), sink=_stdout)


class Proxy:
    """The application of one process. `backend` and `clock` replace the real ones in tests."""

    def __init__(
        self,
        settings: Settings,
        *,
        backend: Backend | None = None,
        clock: Callable[[], float] = time.time,
        sink: Callable[[bytes], object] | None = None,
    ) -> None:
        self.settings = settings
        server = settings.server
        self.connection_limits = ConnectionLimits(
            head=server.max_header,
            head_seconds=server.header_timeout,
            body_seconds=server.body_timeout,
            reply_seconds=server.write_timeout,
            body=server.max_body,
            connections=_connections_of(server.max_connections),
        )
        self.cache: AsyncSemanticCache
        self._given_backend = backend
        self._clock = clock
        self._sink = sink
        self._dialects: dict[str, Dialect] = {dialect.path: dialect for dialect in dialects().values()}
        self._edges = ClientEdges(
            self._http,
            origins=settings.server.cors_origins,
            cached=(*self._dialects, _EMBEDDINGS),
            max_body=settings.server.max_body,
        )
        self._tasks: list[asyncio.Task[None]] = []
        self._judge_backend: Backend | None = None
        self._follow_ups: FollowUpCalls | None = None
        self._plans: PlanService | None = None
        self._near: OpenNearHits | None = None
        self._small_plans: OpenSmallPlans | None = None
        self._leases: Leases | None = None
        self._limiter: KeyLimiter | None = None

    async def start(self) -> None:
        """Open everything that requests need. Raises SemcacheError."""
        from prometheus_client import ProcessCollector

        settings = self.settings
        self._backend = self._given_backend or _backend(settings, self._count_routed, lambda: self.cache.salt)
        if settings.upstream.busy_at is not None:
            self._backend = LoadCountingBackend(self._backend)
        try:
            if asks(settings.cache.judge):
                judge = settings.judge
                self._judge_backend = backend_for(settings, judge, self._backend, timeout=judge.timeout)
            components = await open_from(
                settings,
                clock=self._clock,
                sink=self._sink,
                judge_backend=self._judge_backend,
                upstream=self._backend,
            )
        except BaseException:
            await self._close_backends()
            raise
        cache = self.cache = AsyncSemanticCache(components)
        ProcessCollector(registry=cache.meter.registry)
        cache.meter.build.labels(__version__, cache.embedder_id).set(1)
        try:
            keys = await cache.api_keys()
            check_exposure(settings, bool(keys))
            self._plans = await self._open_plans(components)
            self._near = await self._open_near(components)
        except SemcacheError:
            await self.stop()
            raise
        for category in cache.lacking_verifiers():
            _log.warning("category %s wants a verifier, and verifier.kind sets up none: its doubts miss", category)
        server, chosen = settings.server, settings.background
        self._follow_ups = FollowUpCalls(
            self.cache,
            self._backend,
            BackgroundWork(concurrency=chosen.concurrency, waiting=chosen.waiting),
            audit_rate=chosen.audit_rate,
            timeout=chosen.timeout,
        )
        self._auth = Authenticator(
            keys,
            cache.salt,
            settings.auth.required,
            admin_token=server.admin_token.get_secret_value() if server.admin_token else None,
            loopback=is_loopback(server.host),
        )
        chosen_auth = settings.auth
        limits = RequestLimits(
            chosen_auth.trust_user_header,
            chosen_auth.trust_user_field,
            chosen_auth.expose_scores,
            lends_key=lends_key(settings),
        )
        budget = BytesInFlight(server.max_in_flight, server.max_tenant_in_flight)
        self._intake = Intake(self._auth, TrustedHosts(server.allowed_hosts), budget, server.max_body)
        bounds = settings.limits
        self._limiter = KeyLimiter(
            KeyCounts(settings.data / _COUNTS),
            cache.meter,
            usual=KeyLimits(bounds.requests, bounds.tokens, bounds.dollars),
            hits=bounds.hits,
            clock=self._clock,
        )
        self._limiter.replace(keys)
        if server.workers > 1:
            self._leases = Leases(settings.data / _FLIGHTS)
        self.context = RouteContext(
            cache=self.cache,
            backend=self._backend,
            intake=self._intake,
            limits=limits,
            replayer=HitReplayer(self.cache, worker=secrets.token_hex(3)),
            forwarder=Forwarder(self.cache, self._backend, Flights(), self._limiter.charge),
            follow_ups=self._follow_ups,
            limiter=self._limiter,
            plans=self._plans,
            near=self._near.service if self._near is not None else None,
            leases=self._leases,
        )
        self._completions = CompletionRoute(self.context)
        self._embeddings = EmbeddingsRoute(self.context)
        self._passthrough = Passthrough(self._backend, self._intake, self._limiter)
        self._administration = Administration(
            self.cache, self._auth, self._intake, self._plans, public=settings.auth.public_metrics
        )
        _tune_garbage_collector()
        self._tasks = [
            asyncio.create_task(self._refresh_keys(keys), name="semcache-keys"),
            asyncio.create_task(asyncio.to_thread(cache.prices.load), name="semcache-prices"),
        ]
        if isinstance(self._backend, LoadCountingBackend) and cache.relax is not None:
            easing = relax_under_load(self._backend, settings.upstream.busy_at or 1, cache.relax)
            self._tasks.append(asyncio.create_task(easing, name="semcache-easing"))

    async def stop(self) -> None:
        """Close everything that was opened."""
        for task in self._tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        if self._follow_ups is not None:
            await self._follow_ups.close()
        if self._plans is not None:
            await self._plans.close()
        if self._small_plans is not None:
            await self._small_plans.close()
        if self._near is not None:
            await self._near.close()
        if self._leases is not None:
            self._leases.close()
        if self._limiter is not None:
            self._limiter.close()
        await self.cache.close()
        await self._close_backends()

    async def _open_plans(self, components: Components) -> PlanService | None:
        chosen = self.settings.plans
        if chosen.mode == "off":
            if chosen.small.model is not None:
                raise ConfigError("plans.small needs plans: set plans.mode to answer, or leave plans.small out")
            return None
        from semcache.agents.plans import PlanTerms
        from semcache.proxy.plan_service import PlanService
        from semcache.proxy.plan_small_opening import open_small_plans

        self._small_plans = await open_small_plans(self.cache, components, self.settings, self._backend)
        small = self._small_plans.service if self._small_plans is not None else None
        terms = PlanTerms(target=chosen.target, life=chosen.life, small_seconds=chosen.small.timeout)
        plans = await self.cache.open_plans(terms, planner=small.planner if small is not None else None)
        salt, rule, mode = self.cache.salt, chosen.rule, chosen.mode
        others = self.cache.shared
        return PlanService(plans, salt=salt, clock=self._clock, rule=rule, mode=mode, others=others, small=small)

    async def _open_near(self, components: Components) -> OpenNearHits | None:
        if self.cache.pack.near is None:
            return None
        from semcache.proxy.near_hit_opening import open_near_hits

        return await open_near_hits(self.cache, components, self.settings, self._backend)

    def _count_routed(self, routed: Routed) -> None:
        self.cache.meter.routed(
            routed.replica,
            routed.why,
            routed.result,
            prompt=routed.prompt_tokens,
            predicted=routed.predicted,
            reported=routed.reported,
        )

    async def _close_backends(self) -> None:
        await self._backend.close()
        if self._judge_backend is not None and self._judge_backend is not self._backend:
            await self._judge_backend.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection event."""
        if scope["type"] == "http":
            await self._edges(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        else:
            await send({"type": "websocket.close", "code": 1003})

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        try:
            if scope["method"] == "POST" and (dialect := self._dialects.get(path)) is not None:
                await self._completions(dialect, scope, receive, send)
            elif scope["method"] == "POST" and path == _EMBEDDINGS:
                await self._embeddings(scope, receive, send)
            elif path.startswith("/v1/"):
                await self._passthrough(scope, receive, send)
            else:
                await self._administration(scope, receive, send)
        except BrokenOff:
            # Returning without the last body message makes the server cut the connection, as the backend did.
            return

    async def _lifespan(self, receive: Receive, send: Send) -> None:
        while True:
            message = await receive()
            if message["type"] == "lifespan.startup":
                try:
                    await self.start()
                except SemcacheError as error:
                    await send({"type": "lifespan.startup.failed", "message": str(error)})
                    return
                await send({"type": "lifespan.startup.complete"})
            elif message["type"] == "lifespan.shutdown":
                await self.stop()
                await send({"type": "lifespan.shutdown.complete"})
                return

    async def _refresh_keys(self, known: list[ApiKey]) -> None:
        while True:
            await asyncio.sleep(_REFRESH_KEYS)
            try:
                keys = await self.cache.api_keys()
            except Exception:
                log_fault(self.cache, "store")
                continue
            if keys != known:
                known = keys
                self._auth.replace(keys)
                self.context.limiter.replace(keys)
                self.context.replayer.clear()


def _connections_of(setting: int | None) -> int:
    """Return how many connections a process may hold: what is set, or what its file descriptors allow."""
    most = descriptors()
    return min(setting, most) if setting is not None else most


def _tune_garbage_collector() -> None:
    """Keep the garbage collector from walking over every entry of the cache in the middle of a request."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)
    # A thread that reads a long request gives way to the event loop this soon.
    sys.setswitchinterval(0.001)


def _backend(settings: Settings, note: Callable[[Routed], None], secret: Callable[[], bytes]) -> Backend:
    upstream, fallback = settings.upstream, settings.fallback_key
    connection = Connection(
        api_key=upstream.api_key.get_secret_value() if upstream.api_key else None,
        fallback_key=fallback.get_secret_value() if fallback else None,
        timeout=upstream.timeout,
        connect_timeout=upstream.connect_timeout,
        proxy=upstream.proxy.get_secret_value() if upstream.proxy else None,
    )
    return open_backend(
        upstream.url,
        connection,
        anthropic_url=upstream.anthropic_url,
        replicas=[Address(**one.model_dump()) for one in upstream.replicas],
        routing=RoutingTerms(**settings.routing.model_dump()),
        secret=secret,
        note=note,
        salt=upstream.cache_salt,
    )


def _stdout(lines: bytes) -> None:
    sys.stdout.buffer.write(lines)
    sys.stdout.buffer.flush()
