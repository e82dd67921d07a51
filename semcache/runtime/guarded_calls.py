"""Calls into the parts that can fail: each has a time limit and a breaker, and every failure is counted.

Knows the names of the parts and nothing of what they do. Invariant: a call ends within `patience` seconds, with a
result or with CacheUnavailable; while a breaker is open it ends at once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

from semcache.errors import CacheUnavailable, IntegrityError
from semcache.runtime.breaker import Breaker
from semcache.runtime.telemetry import Meter

PARTS = ("store", "index", "embedder")
SURVIVED = (CacheUnavailable, TimeoutError, OSError, RuntimeError, ValueError)
T = TypeVar("T")


class GuardedCalls:
    """Breakers by part. `patience` is seconds."""

    def __init__(self, meter: Meter, *, patience: float = 2.0) -> None:
        self._meter = meter
        self._patience = patience
        self._breakers = {part: Breaker() for part in PARTS}

    async def guard(self, part: str, work: Coroutine[Any, Any, T]) -> T:
        """Await a call into a part, unless it has just failed. Raises CacheUnavailable."""
        breaker = self._breakers[part]
        if not breaker.closed(time.monotonic()):
            work.close()
            raise CacheUnavailable(f"{part} is left alone after: {breaker.error}")
        try:
            async with asyncio.timeout(self._patience):
                result = await work
        except IntegrityError:
            # One damaged entry says nothing about the next.
            self._meter.faults.labels(part).inc()
            raise
        except SURVIVED as error:
            self._meter.faults.labels(part).inc()
            breaker.failed(time.monotonic(), error)
            raise error if isinstance(error, CacheUnavailable) else CacheUnavailable(f"{part}: {error!r}") from error
        breaker.succeeded()
        return result

    def named(self) -> dict[str, str]:
        """The last error of every part whose breaker is open."""
        return {part: breaker.error for part, breaker in self._breakers.items() if breaker.error is not None}
