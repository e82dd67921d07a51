"""Single-flight: one upstream call that several concurrent requests share.

Knows nothing of HTTP or dialects: a flight publishes bytes, and anyone may read them from the start. Who may follow
whom is the caller's rule, given as text, partition and vector.
Invariant: every subscriber sees the same bytes in the same order; the work is cancelled when the last one leaves before
it has landed, and never before.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Sequence
from heapq import nlargest
from typing import TYPE_CHECKING, Any, Protocol

from semcache.types import Assembled, Card, Lookup

if TYPE_CHECKING:
    from semcache.types import Vector


HELD = 64 << 20  # bytes of a body that are held for whoever joins; of a longer one, only what is not taken yet
AHEAD = 1 << 20  # bytes that may have come from the upstream and been taken by nobody
NEAREST = 4  # flights that are asked about; the right one is hardly ever beyond, and each takes milliseconds


class BodyFilter(Protocol):
    """Changes the bytes of a body on their way to subscribers."""

    def feed(self, chunk: bytes) -> bytes:
        """Return what may be sent on."""
        ...

    def close(self) -> bytes:
        """Return the rest."""
        ...


class Flight:
    """A call in the air.

    `card` stands for the entry that it may become; subscribers of the same `mode` can be sent the same bytes; `result`
    is "stored", or the reason why the answer was not kept; `started` is when the call was made, in monotonic seconds;
    `settled` is how the request was served by another answer while it was in the air, which this one is to judge;
    `owed` is the request that started it, once it has gone and others follow: what the answer costs is still its own;
    `filter`, if any, changes what is published; `whole` is the answer of a stream whose last event has been published,
    though the connection may still be open; `part` is what came of the answer of a stream that broke off or was given
    up, with the tokens it is charged with; `abandoned` flights are being cancelled, and `long` ones have said
    more than is held: neither can be joined any more.
    """

    def __init__(self, card: Card, vector: Vector | None, mode: object) -> None:
        self.card = card
        self.vector = vector
        self.mode = mode
        self.started = 0.0
        self.status = 0
        self.headers: Sequence[tuple[str, str]] = ()
        self.stored = False
        self.result: str | None = None
        self.answer: Assembled | None = None
        self.whole: Assembled | None = None
        self.part: Assembled | None = None
        self.settled: Lookup | None = None
        self.owed: Lookup | None = None
        self.error: Exception | None = None
        self.landed = False
        self.abandoned = False
        self.subscribers = 0
        self.filter: BodyFilter | None = None
        self.long = False
        self._opened = False
        self._chunks: list[bytes] = []
        self._published = self._taken = self._whole = 0
        self._waiters: set[asyncio.Future[None]] = set()
        self._task: asyncio.Task[None] | None = None

    def begin(self, work: Coroutine[Any, Any, None]) -> None:
        """Run the work that opens, publishes and lands."""
        self._task = asyncio.create_task(work, name="semcache-flight")

    def open(self, status: int, headers: Sequence[tuple[str, str]], *, stored: bool) -> None:
        """Publish status and headers. `stored` says that the answer is, or is about to be, kept."""
        self.status, self.headers, self.stored = status, headers, stored
        self._opened = True
        self._wake()

    def publish(self, chunk: bytes) -> None:
        """Publish bytes of the body, as far as the filter lets them through."""
        if self.filter is not None:
            chunk = self.filter.feed(chunk)
        if chunk:
            self._chunks.append(chunk)
            self._published += len(chunk)
            self.long = self.long or self._published > HELD
            self._wake()

    async def room(self) -> None:
        """Wait until somebody has taken so much of the body that more of it may come.

        The quickest subscriber sets the pace, and one that waits for the whole waits for nobody.
        """
        while self._published - self._taken > AHEAD and self.subscribers and not self._whole:
            await self._changed()

    def end(self) -> None:
        """Publish what the filter still holds: the body is over, or broken off."""
        ended, self.filter = self.filter, None
        if ended is not None:
            self.publish(ended.close())

    def land(self, *, answer: Assembled | None = None, error: Exception | None = None) -> None:
        """End the flight, with the answer if it is whole, or with what broke it."""
        self.answer, self.error, self.landed = answer, error, True
        self._wake()

    async def opened(self) -> None:
        """Wait for status and headers. Raises what broke the flight before it had any."""
        while not self._opened:
            if self.landed:
                raise self.error or RuntimeError("a flight landed without opening")
            await self._changed()

    async def begun(self) -> None:
        """Wait for the first byte of the body, or for the end."""
        while not self._chunks and not self.landed:
            await self._changed()

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body from its first byte. Raises what broke it off, after the bytes that came before."""
        position = taken = dropped = 0
        while True:
            while position < len(self._chunks):
                position += 1
                yield self._chunks[position - 1]
                taken += len(self._chunks[position - 1])
                if self.long and self.subscribers == 1:
                    # Nobody else is here to read it, and nobody can come.
                    self._chunks[dropped:position] = [b""] * (position - dropped)
                    dropped = position
                if taken > self._taken:
                    self._taken = taken
                    if self._published > AHEAD:
                        self._wake()
            if self.landed:
                if self.error is not None:
                    raise self.error
                return
            await self._changed()

    async def finished(self) -> Assembled | None:
        """Wait for the end; the whole answer, or None when the flight broke, was not an answer or is too long."""
        self._whole += 1
        self._wake()
        try:
            while not self.landed and not self.long:
                await self._changed()
        finally:
            self._whole -= 1
        return self.answer

    def __enter__(self) -> Flight:
        self.subscribers += 1
        return self

    def __exit__(self, *exc: object) -> None:
        self.subscribers -= 1
        if self.subscribers == 0 and not self.landed and self._task is not None:
            self.abandoned = True
            self._task.cancel()

    def _wake(self) -> None:
        waiters, self._waiters = self._waiters, set()
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def _changed(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.add(waiter)
        try:
            await waiter
        finally:
            self._waiters.discard(waiter)


class Flights:
    """The flights in the air that may be joined."""

    def __init__(self) -> None:
        self._by_exact: dict[bytes, Flight] = {}

    def same(self, exact: bytes) -> Flight | None:
        """The flight of an identical request."""
        flight = self._by_exact.get(exact)
        return flight if flight is not None and _may_be_joined(flight) else None

    async def like(
        self, partition: bytes, vector: Vector, accept: Callable[[Card, float], Awaitable[bool]]
    ) -> Flight | None:
        """The nearest flight of the same partition that `accept` takes; scores are cosine similarities.

        Only the nearest few are asked about: of prompts made from one template, all that are in the air are near, and
        each new one would be compared with every other. One that has landed meanwhile will do, one that was given up
        will not.
        """
        scored = [
            (float(flight.vector @ vector), flight)
            for flight in self._by_exact.values()
            if flight.vector is not None and flight.card.partition == partition and _may_be_joined(flight)
        ]
        for score, flight in nlargest(NEAREST, scored, key=lambda pair: pair[0]):
            if await accept(flight.card, score) and _may_be_joined(flight):
                return flight
        return None

    def take_off(self, flight: Flight) -> None:
        """Let other requests join a flight."""
        self._by_exact[flight.card.exact] = flight

    def remove(self, flight: Flight) -> None:
        """Let no other request join; unknown flights are ignored."""
        if self._by_exact.get(flight.card.exact) is flight:
            del self._by_exact[flight.card.exact]

    def __len__(self) -> int:
        return len(self._by_exact)


def _may_be_joined(flight: Flight) -> bool:
    return not flight.abandoned and not flight.long
