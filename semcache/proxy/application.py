"""The ASGI application of a proxy process: its routes, and the start and stop of everything behind them.

Routes that answer from the cache are plain ASGI, the rest goes through FastAPI. Invariant: requests are answered only
between a start that succeeded and a shutdown that has begun; a setting that cannot work stops the start with a
ConfigError.
"""

from __future__ import annotations

import asyncio
import logging
import os
import platform
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from semcache import __version__
from semcache.agents.library import AsyncSemanticCache
from semcache.cache.common_parts import CommonParts
from semcache.cache.components import Components
from semcache.cache.opening_from_settings import open_from
from semcache.config.settings import Settings, check_exposure
from semcache.dialects import dialects
from semcache.errors import SemcacheError, StoreError
from semcache.learning.judges import asks
from semcache.models.verifiers import backend_for
from semcache.protocols import Backend, Dialect
from semcache.proxy import reload_requests
from semcache.proxy.asgi import BrokenOff, Receive, Scope, Send, with_status_noted
from semcache.proxy.client_edges import ClientEdges
from semcache.proxy.configuration_digest import configuration_digest
from semcache.proxy.connection_limits import ConnectionLimits
from semcache.proxy.fault_log import log_fault
from semcache.proxy.generation import Generation
from semcache.proxy.key_limits import KeyLimits
from semcache.proxy.process_parts import open_process_parts, open_upstream
from semcache.proxy.reload_requests import ReloadingWorker, ReloadReports
from semcache.proxy.reloading import Loaded, differences, is_new, not_reloaded, read_files, reloaded, write_action
from semcache.proxy.route_context import RouteContext
from semcache.proxy.shared_account import account_of
from semcache.proxy.target_relaxation import LoadCountingBackend
from semcache.proxy.tracing import App, Tracing, open_tracing
from semcache.proxy.web_socket_route import WebSocketRoute
from semcache.runtime import garbage_collection, reload_signal
from semcache.runtime.descriptors import within
from semcache.runtime.guarded_calls import SURVIVED
from semcache.runtime.task_set import end
from semcache.types import ApiKey, Endpoint, Recorded
from semcache.upstream.routing.attempt import Routed

_REFRESH, _LONGEST_REFRESH = 1.0, 10.0  # seconds
_EMBEDDINGS = "/v1/embeddings"
_log = logging.getLogger(__name__)


class Proxy:
    """The application of one process. `backend` and `clock` replace the real ones in tests.

    `again` reads the settings anew, for a reload. `loaded` are files that need not be read at the start, and
    `hand_back` takes those that a reload has read.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        backend: Backend | None = None,
        clock: Callable[[], float] = time.time,
        sink: Callable[[bytes], object] | None = None,
        again: Callable[[], Settings] | None = None,
        loaded: Loaded | None = None,
        hand_back: Callable[[Loaded], object] | None = None,
    ) -> None:
        self.settings = settings
        server = settings.server
        self.connection_limits = ConnectionLimits(
            head=server.max_header,
            head_seconds=server.header_timeout,
            body_seconds=server.body_timeout,
            reply_seconds=server.write_timeout,
            body=server.max_body,
            unread=server.max_in_flight,
            connections=within(server.max_connections),
        )
        self.generation: Generation
        self._given_backend = backend
        self._clock = clock
        self._sink = sink
        self._dialects: dict[str, Dialect] = {dialect.path: dialect for dialect in dialects().values()}
        self._edges = ClientEdges(
            self._http,
            origins=settings.server.cors_origins,
            cached=(*self._dialects, _EMBEDDINGS),
        )
        self._app: App = self._edges
        self._tracing: Tracing | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._judge_backend: Backend | None = None
        self._given_again = again
        self._given_loaded = loaded
        self._hand_back = hand_back or (lambda _: None)
        self._retiring: set[asyncio.Task[None]] = set()
        self._signalled: set[asyncio.Task[None]] = set()
        self._reloading = asyncio.Lock()
        self._asked = 0
        alone = server.workers == 1
        parent = f"{platform.node()}/{os.getpid() if alone else os.getppid()}"
        self._reports = ReloadReports(ReloadingWorker(parent, server.workers, os.getpid()))

    @property
    def cache(self) -> AsyncSemanticCache:
        """The cache that answers now."""
        return self.generation.cache

    @property
    def context(self) -> RouteContext:
        """The parts that the routes of now share."""
        return self.generation.context

    async def start(self) -> None:
        """Open everything that requests need. Raises SemcacheError."""
        from prometheus_client import ProcessCollector

        settings = self.settings
        self._backend = self._given_backend or open_upstream(settings, self._count_routed, lambda: self.cache.salt)
        self._tracing = open_tracing(settings.traces)
        if self._tracing is not None:
            self._backend, self._app = self._tracing.backend(self._backend), self._tracing.app(self._edges)
        if settings.upstream.busy_at is not None:
            self._backend = LoadCountingBackend(self._backend)
        try:
            if asks(settings.cache.judge):
                judge = settings.judge
                self._judge_backend = backend_for(settings, judge, self._backend, timeout=judge.timeout)
            self._loaded = self._given_loaded or read_files(settings)
            components = await self._components(self._loaded)
        except BaseException:
            await self._close_backends()
            raise
        meter, store = components.meter, components.store
        ProcessCollector(registry=meter.registry)
        meter.build.labels(__version__, components.embedder.id).set(1)
        meter.configured(configuration_digest(self._loaded, components.embedder.id))
        try:
            keys = await store.keys()
            check_exposure(settings, bool(keys))
            number = self._loaded.number
            self._asked = await reload_requests.last_request(store) if number is None else number
            await self._reports.take_place(store, self._asked)
            self._process = open_process_parts(
                settings, components, keys, self._backend, self._clock, self._tracing, self.reload
            )
            self._web_sockets = WebSocketRoute(
                self._backend,
                self._process.intake,
                self._process.limiter,
                account_of(settings, self._process.auth),
                self._note,
                clock=self._clock,
                origins=settings.server.cors_origins,
            )
            await self._process.visitors.meet()
            self.generation = Generation(self._process, settings, components)
        except BaseException:
            await components.closing.aclose()
            await self._close_backends()
            raise
        try:
            await self.generation.open()
        except BaseException:
            await self._close_process()
            raise
        _tune_garbage_collector()
        self._tasks = [asyncio.create_task(self._follow_store(keys), name="semcache-keys")]
        if self._given_again is not None:
            self._reload_on_signal()

    async def stop(self) -> None:
        """Close everything that was opened."""
        await end(*self._tasks, *self._signalled, *self._retiring)
        await self.generation.close()
        await self._close_process()

    async def reload(self, who: str, wait: float = reload_requests.WAIT) -> dict[str, Any]:
        """Read packs, prices, limits and keys anew, and have every other worker do so; return what has changed.

        The result names the workers that have reloaded within `wait` seconds, and those that refused.
        Raises ConfigError for a mistake in any of them, which changes nothing, and StoreError.
        """
        store = self.generation.components.store
        async with self._reloading:
            try:
                result = await self._reload()
            except SemcacheError as error:
                await write_action(store, who, {"error": str(error)})
                raise
            self._asked = number = await reload_requests.request_reload(store, who)
            self._hand_back(replace(self._loaded, number=number))
            await self._reports.write(store, number, result)
        reloaded(who, result)
        await write_action(store, who, result)
        return await reload_requests.reported(store, number, wait) or {**result, "workers": [], "late": 0}

    async def _reload(self) -> dict[str, Any]:
        settings = self._given_again() if self._given_again is not None else self.settings
        loaded = await asyncio.to_thread(read_files, settings)
        result = differences(self._loaded, loaded)
        settings = self.settings.with_hot(settings)
        loaded, old = replace(loaded, settings=settings), self._loaded
        if is_new(old, loaded):
            components = await self._components(loaded, self.generation.components.common)
            generation = Generation(self._process, settings, components)
            await generation.open()
            retired, self.generation = self.generation, generation
            self._retire(retired)
        bounds = settings.limits
        self.settings, self._loaded = settings, loaded
        self.cache.meter.configured(configuration_digest(loaded, self.cache.embedder_id))
        async with self._process.auth.reading:
            keys = await self.cache.api_keys()
            self._process.limiter.bound(KeyLimits(bounds.requests, bounds.tokens, bounds.dollars), hits=bounds.hits)
            self._take(keys)
        return result

    def _reload_on_signal(self) -> None:
        loop = asyncio.get_running_loop()

        async def reload() -> None:
            try:
                reload_requests.log_workers(await self.reload("SIGHUP"))
            except Exception as error:
                not_reloaded(error)

        def begin() -> None:
            task = asyncio.create_task(reload(), name="semcache-reload")
            self._signalled.add(task)
            task.add_done_callback(self._signalled.discard)

        # Windows has no such signal, and a loop in another thread hears of none.
        with suppress(AttributeError, NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(signal.SIGHUP, begin)
            reload_signal.release()

    def _retire(self, generation: Generation) -> None:
        task = asyncio.create_task(generation.retire(), name="semcache-retire")
        self._retiring.add(task)
        task.add_done_callback(self._retiring.discard)

    async def _components(self, loaded: Loaded, common: CommonParts | None = None) -> Components:
        return await open_from(
            loaded.settings,
            (loaded.pack, loaded.prices),
            clock=self._clock,
            sink=self._sink,
            judge_backend=self._judge_backend,
            upstream=self._backend,
            common=common,
        )

    def _count_routed(self, routed: Routed) -> None:
        self.cache.meter.routed(
            routed.replica,
            routed.why,
            routed.result,
            prompt=routed.prompt_tokens,
            predicted=routed.predicted,
            reported=routed.reported,
        )

    async def _close_process(self) -> None:
        self._process.close()
        await self._close_backends()

    async def _close_backends(self) -> None:
        if self._tracing is not None:
            await self._tracing.close()
        await self._backend.close()
        if self._judge_backend is not None and self._judge_backend is not self._backend:
            await self._judge_backend.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection event."""
        if scope["type"] == "http":
            await self._app(scope, receive, send)
        elif scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        else:
            await self._web_sockets(scope, receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        path: str = scope["path"]
        serving = self.generation
        looking = not path.startswith("/v1/")
        task = serving.enter(looking=looking)
        try:
            if scope["method"] == "POST" and (dialect := self._dialects.get(path)) is not None:
                await serving.completions(dialect, scope, receive, self._counted(dialect.endpoint, send))
            elif scope["method"] == "POST" and path == _EMBEDDINGS:
                await serving.embeddings(scope, receive, self._counted(Endpoint.EMBEDDINGS, send))
            elif looking:
                await serving.administration(scope, receive, send)
            else:
                await serving.passthrough(scope, receive, self._counted("other", send))
        except BrokenOff:
            # Returning without the last body message makes the server cut the connection, as the backend did.
            return
        finally:
            serving.leave(task)

    def _counted(self, endpoint: str, send: Send) -> Send:
        return with_status_noted(send, partial(self.cache.meter.replied, endpoint))

    def _note(self, row: Recorded) -> None:
        self.cache.event_log.note(row)

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

    async def _follow_store(self, known: list[ApiKey]) -> None:
        """Take over keys that changed, and reload when another worker has or a command asks for it.

        A store that is away is asked as seldom as requests ask it, and said to be away where they are.
        """
        pause = _REFRESH
        while True:
            await asyncio.sleep(pause)
            guard = self.generation.components.faults.guard
            try:
                async with self._process.auth.reading:
                    keys = await guard("store", self.cache.api_keys())
                    if keys != known:
                        known = keys
                        self._take(keys)
                await guard("store", self._process.visitors.meet())
                await self._follow_reloads()
                pause = _REFRESH
            except SURVIVED:
                pause = min(2.0 * pause, _LONGEST_REFRESH)
            except Exception:
                log_fault(self.cache, "store")
                pause = min(2.0 * pause, _LONGEST_REFRESH)

    def _take(self, keys: list[ApiKey]) -> None:
        self._process.auth.replace(keys)
        self._process.limiter.replace(keys)
        self.context.replayer.clear()

    async def _follow_reloads(self) -> None:
        store, faults = self.generation.components.store, self.generation.components.faults
        number = await faults.guard("store", reload_requests.last_request(store))
        if number == self._asked:
            await self._reports.look(store)
            return
        async with self._reloading:
            if number == self._asked:
                return
            try:
                result = await self._reload()
            except StoreError as error:
                # No answer: it is tried again.
                _log.warning("not reloaded yet, for the store failed: %s", error)
                raise
            except Exception as error:
                result = {"error": not_reloaded(error)}
                await write_action(store, f"worker {os.getpid()}", result)
            else:
                self._hand_back(replace(self._loaded, number=number))
                who = await faults.guard("store", reload_requests.last_requester(store))
                reloaded(f"{who}, by worker {os.getpid()}", result)
            self._asked = number
        await self._reports.write(store, number, result)


def _tune_garbage_collector() -> None:
    """Keep the garbage collector from walking over every entry of the cache in the middle of a request."""
    garbage_collection.settle()
    # A thread that reads a long request gives way to the event loop this soon.
    sys.setswitchinterval(0.001)
