"""Background tasks that nobody waits for, until the end; and work that ends, whoever is cancelled meanwhile.

Invariant: a task is kept until it is done, whatever it raises is logged and counted, and `settle` returns when none is
left.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, TypeVar

from semcache.runtime.guarded_calls import SURVIVED
from semcache.runtime.telemetry import Meter

T = TypeVar("T")
_log = logging.getLogger(__name__)


async def completed(work: Coroutine[Any, Any, T]) -> T:
    """The result of work that a store would end anyway: who is cancelled is so after it, and knows what was done."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()
        raise


async def end(*tasks: asyncio.Task[Any] | None) -> None:
    """Cancel tasks and wait for their ends. What one of them failed by is logged: whoever closes goes on closing."""
    running = [task for task in tasks if task is not None]
    for task in running:
        task.cancel()
    for result in await asyncio.gather(*running, return_exceptions=True):
        if isinstance(result, Exception):
            _log.error("background work failed", exc_info=result)


class TaskSet:
    """Tasks whose failures count as faults of `part`."""

    def __init__(self, meter: Meter, part: str) -> None:
        self._meter = meter
        self._part = part
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run a coroutine in the running event loop."""
        task = asyncio.create_task(self._run(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def settle(self) -> None:
        """Wait until every task is done, those that start meanwhile too."""
        while self._tasks:
            await asyncio.wait(set(self._tasks))

    async def _run(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except SURVIVED:
            self._meter.faults.labels(self._part).inc()
        except Exception:
            _log.exception("background work failed")
            self._meter.faults.labels(self._part).inc()
