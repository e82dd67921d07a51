"""The routes of liveness, readiness and metrics.

Invariant: `/livez` says that the process runs, `/readyz` that requests are answered (faults of the cache are named, and
do not make it unready: it forwards); neither needs a key, neither names an entry.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request, Response

from semcache.cache.response_cache import ResponseCache
from semcache.proxy.process_metrics import WorkerProcessCollector
from semcache.runtime import descriptors
from semcache.runtime.guarded_calls import surviving
from semcache.runtime.metric_files import FOLDER

_PATIENCE = 2.0
_PRICED_EVERY = 600.0  # seconds between two questions to the store of which models have no price
_FULL = 0.9  # of the file descriptors, from which connections may soon be refused


def health_routes(cache: ResponseCache, *, tells: Callable[[], bool]) -> APIRouter:
    """Return the routes `/livez`, `/readyz`, `/healthz` and `/metrics`.

    `tells` says if anybody may know how many entries there are and which models were asked for, which tenants do.
    """
    router = APIRouter(tags=["health"])
    unpriced: list[str] = []
    asked = -_PRICED_EVERY

    @router.get("/livez")
    async def livez() -> dict[str, str]:
        """The process runs."""
        return {"status": "ok"}

    @router.get("/readyz")
    @router.get("/healthz", include_in_schema=False)
    async def readyz() -> dict[str, Any]:
        """Requests are answered; what is broken is named."""
        nonlocal unpriced, asked
        failed: dict[str, str] = {}
        try:
            async with asyncio.timeout(_PATIENCE):
                await cache.ping()
        except Exception as error:
            failed["store"] = f"{type(error).__name__}: {error}"
        if cache.event_log.fault is not None:
            # A store that is full may still take the little that a ping writes.
            with surviving("writing outcomes"), suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(cache.event_log.flush()), _PATIENCE)
            if cache.event_log.fault is not None:
                failed.setdefault("store", cache.event_log.fault)
        faults = failed | cache.faults()
        if "store" not in faults and time.monotonic() - asked >= _PRICED_EVERY:
            asked = time.monotonic()
            # Other workers have been asked for models too, and so was this one before it was started anew.
            with surviving("asking for models without a price"):
                async with asyncio.timeout(_PATIENCE):
                    unpriced = await cache.operating.unpriced()
        most, now = descriptors.raise_limit(), descriptors.used()
        if now is not None and now >= _FULL * most:
            faults["descriptors"] = f"{now} of {most} file descriptors are in use: raise the limit or add workers"
        found: dict[str, Any] = {"status": "degraded" if faults else "ok", "faults": faults}
        if tells():
            found["unpriced_models"] = sorted({*unpriced, *cache.prices.unpriced})
            found["entries"] = len(cache.registry)
        found |= {"configuration": cache.meter.configuration, "embedder": cache.embedder_id}
        return found | {"policies": cache.pack.name}

    @router.get("/metrics", response_class=Response)
    async def metrics(request: Request) -> Response:
        """Prometheus metrics, in the format of OpenMetrics if asked for; of all workers when there are several."""
        from prometheus_client import CollectorRegistry, multiprocess
        from prometheus_client.exposition import choose_encoder

        await cache.event_log.flush()
        with surviving("refreshing the gauges"):
            await cache.gauge()
        with surviving("counting reports of the command line"):
            await cache.operating.count_reports()
        registry = cache.meter.registry
        folder = os.environ.get(FOLDER)
        if folder is not None:
            registry = CollectorRegistry()
            multiprocess.MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
            registry.register(WorkerProcessCollector(Path(folder)))
        encode, kind = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(registry), media_type=kind)

    return router
