"""A forward hedged by a language model's verdict: whichever comes first, that or the upstream's first token, is used.

Knows flights and look-ups, and sends nothing. Invariant: a call is called off only after a yes that serves, and never
one that was drawn for an audit before the verdict was asked for; a verdict that comes late is had all the same.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

from semcache.types import Lookup, Serve

if TYPE_CHECKING:
    from semcache.cache.judged_lookup import Hedge
    from semcache.cache.response_cache import ResponseCache
    from semcache.upstream.coalescing import Flight


class HedgedForward:
    """The verdict on one request that is being forwarded. Begins to ask when it is made."""

    def __init__(self, cache: ResponseCache, hedge: Hedge) -> None:
        self._cache, self._hedge = cache, hedge
        self._started = time.perf_counter()
        self._late = False
        self._asking = asyncio.create_task(hedge.decided(lambda: self._late), name="semcache-hedge")

    async def first(self, flight: Flight) -> Lookup | None:
        """The lookup as the verdict decided it, if that serves and came before the flight's first byte; else None."""
        begun = asyncio.create_task(flight.begun())
        try:
            await asyncio.wait([self._asking, begun], return_when=asyncio.FIRST_COMPLETED)
        finally:
            begun.cancel()
            if not self._asking.done():
                # It is remembered when it comes, as one that is asked for after a forward, and is no hit.
                self._late = True
                self._cache.components.background.start(_ended(self._asking))
        if not self._asking.done() or self._asking.exception() is not None:
            return None
        settled = self._asking.result()
        return settled if settled is not None and isinstance(settled.decision, Serve) else None

    def called_off(self, settled: Lookup) -> Lookup:
        """The lookup with what the call has cost that is left and thereby ended."""
        return self._hedge.called_off(settled, time.perf_counter() - self._started)

    def keep(self, settled: Lookup, flight: Flight) -> None:
        """Let a call that was drawn for an audit go on; its answer judges what was served."""
        flight.settled = settled
        staying = ExitStack()
        staying.enter_context(flight)
        self._cache.components.background.start(_landed(flight, staying))


async def _landed(flight: Flight, staying: ExitStack) -> None:
    with staying:
        await flight.finished()


async def _ended(asking: asyncio.Task[Lookup | None]) -> None:
    await asyncio.wait([asking])
