"""Relaxation of error targets while the backend is overloaded, so that fewer requests have to wait for it.

Knows how many calls are under way and which were refused; how far a target may be relaxed is the strategy's decision.
Invariant: what a client receives of a call is untouched, and once the backend has caught up, every target is what the
policy says.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence

from semcache.matching.break_even import Relaxation
from semcache.protocols import Backend, Outbound, Reply, WebSocket, WebSocketTerms
from semcache.upstream.web_socket import connect

_REFUSED = frozenset([429, 503, 529])
_EVERY = 1.0  # seconds


class LoadCountingBackend:
    """A `protocols.Backend` that counts the calls of another that are under way, and notes refusals."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.running = 0
        self.refused = False

    async def send(self, outbound: Outbound) -> Reply:
        """Send a call through the other backend. Raises UpstreamError."""
        self.running += 1
        try:
            reply = await self._backend.send(outbound)
        except BaseException:
            self.running -= 1
            raise
        self.refused = self.refused or reply.status in _REFUSED
        return _CountedReply(reply, self._ended)

    async def connect(self, outbound: Outbound, terms: WebSocketTerms) -> WebSocket:
        """Open a WebSocket through the other backend; it counts as no call. Raises UpstreamError."""
        return await connect(self._backend, outbound, terms)

    def load(self, busy_at: int) -> float:
        """Return the share of `busy_at` calls, at least 1, that is under way; above 1 where there are more."""
        return self.running / busy_at

    async def close(self) -> None:
        """Close the other backend."""
        await self._backend.close()

    def _ended(self) -> None:
        self.running -= 1


class _CountedReply:
    """A reply that reports its end, once."""

    def __init__(self, reply: Reply, ended: Callable[[], None]) -> None:
        self._reply = reply
        self._ended: Callable[[], None] | None = ended
        self.status = reply.status
        self.headers: Sequence[tuple[str, str]] = reply.headers

    def chunks(self) -> AsyncIterator[bytes]:
        return self._reply.chunks()

    async def close(self) -> None:
        ended, self._ended = self._ended, None
        if ended is not None:
            ended()
        await self._reply.close()


async def relax_under_load(
    watched: LoadCountingBackend,
    busy_at: int,
    relax: Callable[[float], None],
    *,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Tell `relax` every second what share of the way targets are to be relaxed. Ends when cancelled.

    `busy_at` calls at once, or a refused one, are a full load.
    """
    relaxation = Relaxation()
    while True:
        await asyncio.sleep(_EVERY)
        refused, watched.refused = watched.refused, False
        queue = max(watched.running, busy_at if refused else 0)
        relaxation.observe(clock(), queue=queue, queue_max=busy_at)
        relax(relaxation.share)
