"""Forwarding to the backend: one call for identical and paraphrased misses, relayed to all of them, and stored.

Knows no dialect beyond its Protocol. Invariant: the client receives what the backend sent, in order and cut off where
the backend broke off; the end of an answer that is said to be stored is relayed only once it is durable.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import TypeVar

from semcache.cache.response_cache import ResponseCache
from semcache.dialects.body import with_usage
from semcache.dialects.headers import APPROXIMATE
from semcache.errors import UpstreamError
from semcache.protocols import Backend, Dialect, Outbound, Reply
from semcache.proxy.fault_log import log_fault
from semcache.proxy.recent_models import RecentModels
from semcache.proxy.relay import LENGTH, is_kept_upstream, is_stream
from semcache.proxy.reply_body import LONGEST, ReplyAhead, pieces
from semcache.proxy.stream_reading import UNREADABLE, StreamReading
from semcache.proxy.stream_usage import UsageRemover, is_unasked
from semcache.retention.admission import admission
from semcache.types import Assembled, Card, Lookup, Recorded, Serve, Store, Usage, Why
from semcache.upstream.coalescing import Flight, Flights

_NEVER = float("inf")
_OK = 200
_REFUSED = frozenset({400, 422})
_REFUSAL = 1 << 20  # bytes of a refusal that are searched for its reason
_MUCH = 2 << 10  # bytes; one stream at a time reads more than `_MUCH` in a turn of the event loop
_ENDLESS = (
    "a stream of model %r is not kept: it ended without a last event (data: [DONE]), and without a finish_reason that "
    "means a whole answer; have the upstream, or the proxy in front of it, send one"
)
_log = logging.getLogger(__name__)
T = TypeVar("T")


class Forwarder:
    """The calls in flight of one process. `charge` is told of what was spent for clients that did not wait."""

    def __init__(
        self, cache: ResponseCache, backend: Backend, flights: Flights, charge: Callable[[Recorded], object]
    ) -> None:
        self._cache = cache
        self._backend = backend
        self._flights = flights
        self._charge = charge
        self._lane = asyncio.Lock()
        self._refusals, self._endless = RecentModels(cache.clock), RecentModels(cache.clock)

    def joinable(self, lookup: Lookup) -> bool:
        """Return True if this request's answer may be shared with requests that run beside it."""
        return allows_sharing(lookup) and self._cache.may_share(lookup)

    async def join(self, lookup: Lookup) -> Flight | None:
        """Return the call in flight whose answer this request would be served, were it stored already."""
        if not self.joinable(lookup):
            return None
        same = self._same(lookup)
        if same is not None or lookup.vector is None or is_kept_upstream(lookup.request):
            return same
        like = await self._flights.like(
            lookup.partition, lookup.vector, lambda card, score: self._cache.acceptable(lookup, card, score)
        )
        # Meanwhile an identical request may have been sent.
        return like or self._same(lookup)

    def _same(self, lookup: Lookup) -> Flight | None:
        assert lookup.key is not None
        same = self._flights.same(lookup.key.exact)
        return same if same is not None and same.card.category == lookup.category else None

    def start(self, lookup: Lookup, dialect: Dialect, outbound: Outbound) -> Flight:
        """Ask the backend; others may join if the answer may be shared."""
        key = lookup.key
        card = Card(
            id=0,
            exact=key.exact if key else b"",
            partition=lookup.partition,
            category=lookup.category,
            text=lookup.request.text,
            created=self._cache.clock(),
            expires=_NEVER,
        )
        flight = Flight(card, lookup.vector, reply_mode(lookup))
        if self.joinable(lookup):
            self._flights.take_off(flight)
        flight.begin(self._call(flight, lookup, dialect, outbound))
        return flight

    async def _call(self, flight: Flight, lookup: Lookup, dialect: Dialect, outbound: Outbound) -> None:
        started = time.perf_counter()
        flight.started = started
        try:
            reply = await self._send(replace(outbound, draft=lambda: self._cache.guess(lookup)), lookup)
            try:
                answer = await self._relay(flight, lookup, dialect, reply, started)
            finally:
                flight.end()
                await reply.close()
        except UpstreamError as error:
            flight.land(error=error)
        except BaseException as error:
            flight.land(error=UpstreamError(f"the call was given up: {error!r}"))
            if flight.whole is None and flight.part is not None and flight.part.usage != Usage():
                self._note_left(flight, lookup, flight.part)
                flight.part = None
            raise
        else:
            flight.land(answer=answer)
        finally:
            self._flights.remove(flight)
            if flight.owed is not None:
                self._note_owed(flight, flight.owed)

    def leave(self, flight: Flight, lookup: Lookup) -> None:
        """Let go of a call that this request started and that may go on: its answer is charged to it all the same."""
        if flight.landed:
            self._note_owed(flight, lookup)
        else:
            flight.owed = lookup

    async def _send(self, outbound: Outbound, lookup: Lookup) -> Reply:
        """Send a request; a stream is asked for its usage, unless that was refused for its model of late."""
        if not is_unasked(lookup) or lookup.request in self._refusals:
            return await self._backend.send(outbound)
        reply = await self._backend.send(replace(outbound, body=with_usage(outbound.body)))
        if reply.status not in _REFUSED:
            return reply
        refusal = ReplyAhead(reply)
        try:
            said = await refusal.read(_REFUSAL) or b""
        except BaseException:
            await refusal.close()
            raise
        if b"stream_options" not in said and b"include_usage" not in said:
            return refusal
        await refusal.close()
        plain = await self._backend.send(outbound)
        # A refusal for another reason may repeat the request, with what was added to it.
        if plain.status == _OK:
            self._refusals.add(lookup.request)
        return plain

    def _note_owed(self, flight: Flight, lookup: Lookup) -> None:
        """Record the tokens of an answer that came when the request it was asked for had gone."""
        answer = flight.answer or flight.whole or flight.part
        if answer is not None:
            self._note_left(flight, lookup, answer, stored=flight.result)

    def _note_left(self, flight: Flight, lookup: Lookup, answer: Assembled, stored: str | None = None) -> None:
        """Record the tokens of what nobody waits for."""
        row = self._cache.outcome(lookup, flight.status, 0.0, answer=answer, stored=stored)
        self._charge(row)
        self._cache.note(lookup, replace(row, count=0))

    async def _relay(
        self, flight: Flight, lookup: Lookup, dialect: Dialect, reply: Reply, started: float
    ) -> Assembled | None:
        if reply.status != 200:
            flight.result = Why.STATUS.value
            await self._relay_unread(flight, reply)
            return None
        exact = not _is_approximate(reply.headers)
        if not exact:
            flight.result = Why.NO_STORE.value
        streams = is_stream(reply)
        if not streams:
            reply = ahead = ReplyAhead(reply)
            # Some servers send events under the content type of JSON or of text, or under none.
            streams = lookup.request.stream and await ahead.begins_as_events()
        if streams:
            return await self._relay_stream(flight, lookup, dialect, reply, started, exact=exact)
        body = await ahead.read(LONGEST)
        if body is None:
            flight.result = Why.TOO_LARGE.value
            await self._relay_unread(flight, reply)
            return None
        answer = self._parse_safely(lambda: dialect.parse(body)) or UNREADABLE
        stored = exact and await self._admit(flight, lookup, answer, started)
        flight.open(reply.status, [*_unsized(reply), (LENGTH, str(len(body)))], stored=stored)
        flight.publish(body)
        return answer

    async def _relay_unread(self, flight: Flight, reply: Reply) -> None:
        flight.open(reply.status, reply.headers, stored=False)
        async for chunk in reply.chunks():
            flight.publish(chunk)
            await flight.room()

    async def _relay_stream(
        self, flight: Flight, lookup: Lookup, dialect: Dialect, reply: Reply, started: float, *, exact: bool
    ) -> Assembled:
        # What was not asked for is taken out of a stream, which is shorter then.
        flight.open(reply.status, _unsized(reply), stored=exact and self._will_store(lookup))
        if is_unasked(lookup):
            flight.filter = UsageRemover()
        reading = StreamReading(dialect.assembler(), lookup.request)
        try:
            return await self._relay_events(flight, lookup, reading, reply, started, exact=exact)
        except BaseException:
            flight.part = self._finished(reading)
            raise

    async def _relay_events(
        self, flight: Flight, lookup: Lookup, reading: StreamReading, reply: Reply, started: float, *, exact: bool
    ) -> Assembled:
        fed = 0
        async for chunk in pieces(reply):
            async with self._lane if len(chunk) > _MUCH else nullcontext():
                terminal = self._parse_safely(lambda: reading.feed(chunk))  # noqa: B023
                if len(chunk) > _MUCH:
                    await asyncio.sleep(0)
            if terminal is None:
                flight.publish(chunk)
            else:
                cut = max(0, terminal - fed)
                flight.publish(chunk[:cut])
                answer = self._finished(reading)
                if exact:
                    await self._admit(flight, lookup, answer, started)
                flight.publish(chunk[cut:])
                flight.whole = answer
                self._note_end(lookup, answer, ended=True)
            fed += len(chunk)
            await flight.room()
        if reading.answer is not None:
            flight.result = flight.result or Why.TOO_LARGE.value
            return reading.answer
        # The last event may lack the blank line that ends it.
        answer = self._finished(reading, closed=True)
        self._note_end(lookup, answer, ended=reading.ended)
        if not answer.complete:
            flight.result = Why.INCOMPLETE.value
        elif exact:
            await self._admit(flight, lookup, answer, started)
        return answer

    def _finished(self, reading: StreamReading, *, closed: bool = False) -> Assembled:
        return self._parse_safely(lambda: reading.finish(closed=closed)) or reading.answer or UNREADABLE

    def _note_end(self, lookup: Lookup, answer: Assembled, *, ended: bool) -> None:
        """Take notice of how a stream ended: of a model whose streams have no end, none is said to be stored."""
        if ended or answer.complete:
            self._endless.discard(lookup.request)
        elif answer.text:
            if lookup.request not in self._endless:
                _log.warning(_ENDLESS, lookup.request.model)
            self._endless.add(lookup.request)

    def _parse_safely(self, read: Callable[[], T]) -> T | None:
        """Read an answer that is being relayed; a fault in reading must not cost the client the answer."""
        try:
            return read()
        except Exception:
            log_fault(self._cache, "dialect")
            return None

    async def _admit(self, flight: Flight, lookup: Lookup, answer: Assembled, started: float) -> bool:
        settled = flight.settled
        try:
            if settled is not None and isinstance(settled.decision, Serve):
                decision = await self._cache.judge_served(settled, settled.decision, answer)
            else:
                decision = await self._cache.admit(lookup, answer, latency=time.perf_counter() - started)
        except Exception:
            log_fault(self._cache, "cache")
            flight.result = Why.FAULT.value
            return False
        flight.result = decision.label
        return isinstance(decision, Store)

    def _will_store(self, lookup: Lookup) -> bool:
        """Return True if a stream that ends well, and says something, will be kept: said before its first byte."""
        controls = lookup.request.controls
        ttl = min(self._cache.pack.of(lookup.category).ttl, controls.ttl if controls.ttl is not None else _NEVER)
        storing = lookup.key is not None and not controls.no_store and ttl > 0 and lookup.request not in self._endless
        return storing and "store" not in self._cache.faults()


def reply_mode(lookup: Lookup) -> tuple[bool, str]:
    """Return the mode of a request: requests of the same mode can be sent the same bytes."""
    return lookup.request.stream, repr(sorted(lookup.request.replay.items()))


def allows_sharing(lookup: Lookup) -> bool:
    """Return True if a request has a key, and its caller neither refuses what is cached nor forbids keeping it."""
    controls = lookup.request.controls
    return lookup.key is not None and not controls.no_cache and not controls.no_store


def serves_paraphrases(lookup: Lookup, flight: Flight, answer: Assembled) -> bool:
    """Return True if this answer to another request would be kept for paraphrases such as this one."""
    admitted = admission(lookup.request, answer, flight.status, ttl=_NEVER)
    return isinstance(admitted, Store) and admitted.semantic and not _is_approximate(flight.headers)


def _is_approximate(headers: Sequence[tuple[str, str]]) -> bool:
    return any(name.lower() == APPROXIMATE for name, _ in headers)


def _unsized(reply: Reply) -> list[tuple[str, str]]:
    return [pair for pair in reply.headers if pair[0].lower() != LENGTH]
