"""The reply to one request after its look-up: a replay, a plan, a shared call, a cheaper model's answer, or a forward.

Knows the cache's decision and the parts that can answer; no SQL, no index and no dialect's fields. Invariant: exactly
one reply is sent, exactly one outcome is recorded, and no fault of the cache reaches the client.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from semcache.cache.reasons import explained
from semcache.dialects import body_of, unbound
from semcache.dialects.headers import cache_status, forwarded_as, strip_request_headers
from semcache.errors import RateLimited, RequestRejected, UpstreamError, UpstreamTimeout
from semcache.protocols import Dialect, Outbound
from semcache.proxy import hit_replay
from semcache.proxy.asgi import (
    CLIENT_GONE,
    BrokenOff,
    Disconnected,
    HeaderList,
    Receive,
    Scope,
    Send,
    respond,
    until_disconnect,
)
from semcache.proxy.audits_and_revalidation import ServedHit
from semcache.proxy.auth import Caller, forwardable_headers
from semcache.proxy.fault_log import log_fault
from semcache.proxy.forward import reply_mode, serves_paraphrases
from semcache.proxy.hedged_forward import HedgedForward
from semcache.proxy.plan_turn import PlanTurn
from semcache.proxy.relay import (
    broken_stream,
    ends_an_event,
    id_header,
    id_of,
    refusal_headers,
    reply_headers,
    stopped_stream,
    without_stream,
)
from semcache.proxy.route_context import RouteContext
from semcache.storage.accounting import planned, substituted
from semcache.types import Assembled, Entry, Forward, Lookup, Outcome, Serve, Why

if TYPE_CHECKING:
    from semcache.agents.nearhits import NearChoice
    from semcache.cache.judged_lookup import Hedge
    from semcache.upstream.coalescing import Flight


class _Relayed(NamedTuple):
    """A flight that is passed on to the client since `opened`, in seconds of `time.perf_counter`."""

    flight: Flight
    opened: float
    collapsed: bool


class Exchange:
    """One request on its way to a reply."""

    _turn: PlanTurn

    def __init__(
        self,
        context: RouteContext,
        dialect: Dialect,
        scope: Scope,
        body: bytes,
        caller: Caller,
        started: float,
        epoch: int,
    ) -> None:
        self._context = context
        self._cache = context.cache
        self._dialect = dialect
        self._scope = scope
        self._body = body
        self._caller = caller
        self._started = started
        self._epoch = epoch
        self._relayed: _Relayed | None = None
        self._started_flight: Flight | None = None  # whose answer is charged to this request

    async def answer(self, lookup: Lookup, receive: Receive, send: Send) -> None:
        """Replay, serve a plan, refuse, join another request's call, have a cheaper model answer, or forward."""
        self._turn = PlanTurn(self._cache, self._context.plans, self._dialect, lookup, self._scope["headers"])
        if isinstance(lookup.decision, Serve):
            if await self._replay(lookup, lookup.decision, send):
                return
            # It went, or could not be read, after it was chosen.
            lookup = replace(lookup, decision=Forward(Why.FAULT))
        if await self._answer_from_plan(lookup, send):
            return
        if lookup.request.controls.only_if_cached:
            await self._refuse(lookup, _not_cached(lookup), send)
            return
        try:
            self._context.limiter.admit_miss(self._caller)
        except RateLimited as error:
            await self._refuse(replace(lookup, decision=Forward(Why.LIMITED, Outcome.BYPASS)), error, send)
            return
        await self._answer_miss(lookup, receive, send)

    async def _refuse(self, lookup: Lookup, error: RequestRejected, send: Send) -> None:
        """Refuse a request that was looked up."""
        await reject(self._dialect, error, send, [*self._own_id(lookup), *self._debug(lookup)])
        self._record(lookup, error.status)

    async def _answer_miss(self, lookup: Lookup, receive: Receive, send: Send) -> None:
        """Reply with a model's answer, for as long as the client is there to read it."""
        try:
            with self._turn.under_way():
                async with until_disconnect(receive):
                    if not await self._join_flight(lookup, send):
                        await self._ask(lookup, send)
        except Disconnected:
            # Clients of streams go as soon as they have read the last event: that is no reply they did not wait for.
            if self._relayed is None or self._relayed.flight.whole is None:
                self._record(lookup, CLIENT_GONE)
                if self._started_flight is not None:
                    self._context.forwarder.leave(self._started_flight, lookup)
            else:
                await self._turn.learn(self._relayed.flight.whole)
                self._note_relayed(lookup, self._relayed, self._relayed.flight.whole)

    async def _answer_from_plan(self, lookup: Lookup, send: Send) -> bool:
        """Reply with the next step of a plan; False where there is none."""
        served = await self._turn.reply(self._outbound, spends=self._context.limiter.may_spend(self._caller))
        if served is None:
            return False
        await self._turn.learn(served.answer)
        await respond(send, 200, [*served.headers, *self._own_id(lookup), *self._debug(lookup)], served.payload)
        row = self._cache.outcome(lookup, 200, time.perf_counter() - self._started)
        self._context.note(
            lookup,
            row,
            logged=planned(
                row, self._cache.prices, served.saved, spent=served.spent, paid=served.paid, instead=served.instead
            ),
        )
        return True

    async def _answer_near(self, choice: NearChoice | None, lookup: Lookup, send: Send) -> bool:
        """Reply with a cheaper model's answer; False where the model that was named is to be asked."""
        near = self._context.near
        if near is None or choice is None:
            return False
        try:
            served = await near.serve(choice, self._dialect, lookup, self._outbound)
        except Exception:
            log_fault(self._cache, "near")
            return False
        if served is None:
            return False
        await respond(send, 200, [*served.headers, *self._own_id(lookup), *self._debug(lookup)], served.payload)
        row = self._cache.outcome(lookup, 200, time.perf_counter() - self._started)
        self._context.note(lookup, row, logged=substituted(row, served.usage, served.paid, served.instead))
        return True

    async def _replay(self, lookup: Lookup, served: Serve, send: Send, *, spared: bool = True) -> bool:
        """Reply with a cached answer; False where it is gone. A call that goes on all the same was not `spared`."""
        try:
            entry = await self._cache.entry(served, lookup.key)
            if entry is None:
                return False
            template = self._cache.outcome(lookup, 200, 0.0, entry=entry)
            replay = self._context.replayer.render(self._dialect, lookup, served, entry, template)
        except Exception:
            log_fault(self._cache, "replay")
            return False
        replay.fixed.extend([*self._turn.run_header, *self._debug(lookup)])
        await self._turn.learn(entry)
        await self._context.replayer.send(replay, send, lookup.request_id)
        row, seconds = template, time.perf_counter() - self._started
        if not spared or self._follow_up(lookup, served, entry):
            # The call was not spared, only put off.
            row = self._cache.outcome(lookup, 200, 0.0)
        self._context.note(lookup, template, logged=replace(row, seconds=seconds))
        if hit_replay.is_memorable(lookup) and self._turn.run is None:
            self._context.replayer.remember(self._scope, self._body, replay, self._epoch)
        return True

    def _follow_up(self, lookup: Lookup, served: Serve, entry: Entry) -> bool:
        follow_ups = self._context.follow_ups
        if not follow_ups.wanted(lookup, served):
            return False
        try:
            outbound = self._outbound(without_stream(lookup.request.raw))
            return follow_ups.take(ServedHit(lookup, served, entry, self._dialect, outbound))
        except Exception:
            log_fault(self._cache, "background")
            return False

    async def _join_flight(self, lookup: Lookup, send: Send) -> bool:
        """Share the call of a request in flight; False when there is none, or its answer cannot be used."""
        flight = await self._context.forwarder.join(lookup)
        if flight is None:
            return False
        same = lookup.key is not None and flight.card.exact == lookup.key.exact
        with flight:
            if same and flight.mode == reply_mode(lookup):
                return await self._relay_shared(lookup, flight, send)
            answer = await flight.finished()
        if answer is None or not answer.complete or flight.status != 200:
            return False
        if not same and not serves_paraphrases(lookup, flight, answer):
            return False
        return await self._answer_from_flight(lookup, answer, send, same=same)

    async def _relay_shared(self, lookup: Lookup, flight: Flight, send: Send) -> bool:
        try:
            await flight.opened()
        except UpstreamError:
            return False
        if flight.status != 200:
            return False
        if not lookup.request.stream:
            answer = await flight.finished()
            if answer is None or not (answer.complete or answer.text or answer.usage.completion_tokens):
                # Some backends tell of a fault with status 200.
                return False
        await self._relay(lookup, flight, send, collapsed=True)
        return True

    async def _answer_from_flight(self, lookup: Lookup, answer: Assembled, send: Send, *, same: bool) -> bool:
        body = answer.body if same else unbound(self._dialect, answer.body)
        payload, kind = body_of(self._dialect, body, lookup.request), b"application/json"
        if lookup.request.stream:
            try:
                payload = b"".join(self._dialect.stream(body, lookup.request.replay))
            except Exception:
                log_fault(self._cache, "replay")
                return False
            kind = hit_replay.EVENT_STREAM
        own = self._headers(lookup, 200, stored=False, collapsed=True)
        headers = [(b"content-type", kind), *self._own_id(lookup), *own]
        await self._turn.learn(answer)
        await respond(send, 200, headers, payload)
        self._record(lookup, 200, answer=answer, collapsed=True)
        return True

    async def _ask(self, lookup: Lookup, send: Send) -> None:
        """Ask the backend, or wait for another worker that asks it the same now and reply with its answer."""
        leases, key = self._context.leases, lookup.key
        if leases is None or key is None or not self._context.forwarder.joinable(lookup):
            await self._forward(lookup, send)
            return
        with leases.lease(key.exact) as lease:
            # A stream would have to wait for the end of the other's.
            if not lease.mine and not lookup.request.stream:
                # Whoever else waits waits no longer, whatever came of the other's call.
                await lease.turn()
                again = await self._cache.relook(lookup)
                if isinstance(again.decision, Serve) and await self._replay(again, again.decision, send):
                    return
                if await self._join_flight(lookup, send):
                    return
            await self._forward(lookup, send)

    async def _forward(self, lookup: Lookup, send: Send) -> None:
        near = self._context.near if self._cache.may_share(lookup) else None
        choice = near.choose(lookup) if near is not None else None
        if await self._answer_near(choice, lookup, send):
            return
        outbound = self._outbound(await self._turn.body_to_forward())
        flight = self._started_flight = self._context.forwarder.start(lookup, self._dialect, outbound)
        with flight:
            hedge = self._cache.hedge(lookup)
            if hedge is not None and await self._overtaken(hedge, flight, send):
                return
            try:
                await flight.opened()
            except UpstreamError as error:
                status = 504 if isinstance(error, UpstreamTimeout) else 502
                refusal = RequestRejected(status, str(error), code="upstream_unavailable")
                head = [*self._own_id(lookup), *self._headers(lookup, None, stored=False)]
                await reject(self._dialect, refusal, send, head)
                self._record(lookup, status)
                return
            await self._relay(lookup, flight, send, collapsed=False)
        if flight.status == 200 and flight.answer is not None:
            self._turn.large_answered(flight.answer)
        if near is not None and choice is not None and flight.status == 200 and flight.answer is not None:
            near.large_answered(choice, self._dialect, lookup, self._outbound, flight.answer)

    async def _overtaken(self, hedge: Hedge, flight: Flight, send: Send) -> bool:
        """Reply with a cached answer if a language model says yes before the upstream says anything."""
        hedged = HedgedForward(self._cache, hedge)
        settled = await hedged.first(flight)
        if settled is None or not isinstance(settled.decision, Serve):
            return False
        served = settled.decision
        spared = not (served.audit or flight.landed or flight.subscribers > 1)
        if served.audit:
            hedged.keep(settled, flight)
        elif spared:
            settled = hedged.called_off(settled)
        if not await self._replay(settled, replace(served, audit=False), send, spared=spared):
            return False
        # It may go on, for the audit or for whoever has joined it, even during the replay.
        self._context.forwarder.leave(flight, settled)
        return True

    async def _relay(self, lookup: Lookup, flight: Flight, send: Send, *, collapsed: bool) -> None:
        self._relayed = relayed = _Relayed(flight, time.perf_counter(), collapsed)
        own = self._headers(lookup, flight.status, stored=flight.stored and not collapsed, collapsed=collapsed)
        named = [] if id_of(flight.headers) else self._own_id(lookup)
        headers = [*reply_headers(flight.headers, shared=collapsed, sized=True), *named, *own]
        await send({"type": "http.response.start", "status": flight.status, "headers": headers})
        end = b""
        try:
            async for chunk in flight.chunks():
                end = (end + chunk)[-4:]
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except UpstreamError as error:
            came = None if collapsed else flight.whole or flight.part
            self._record(lookup, flight.status, answer=came, stored=Why.INCOMPLETE.value, collapsed=collapsed)
            await self._end_early(lookup, flight, end, broken_stream(self._dialect, str(error)), send)
            # Ending without the last message makes the server cut the connection, as the backend did.
            raise BrokenOff(str(error)) from error
        except asyncio.CancelledError:
            # By a server that stops, or for a client that has gone and gets nothing of this.
            await self._end_early(lookup, flight, end, stopped_stream(self._dialect), send)
            raise
        await self._turn.learn(flight.answer if flight.answer is not None and flight.answer.complete else None)
        await send({"type": "http.response.body", "body": b""})
        # The event loop writes out what was sent before it comes to this.
        asyncio.get_running_loop().call_soon(self._note_relayed, lookup, relayed, flight.answer)

    @staticmethod
    async def _end_early(lookup: Lookup, flight: Flight, end: bytes, told: bytes, send: Send) -> None:
        """Send the event that tells of it, in a stream that is not whole nor, by its `end`, within an event."""
        if lookup.request.stream and flight.status == 200 and flight.whole is None and ends_an_event(end):
            await send({"type": "http.response.body", "body": told, "more_body": True})

    def _note_relayed(self, lookup: Lookup, relayed: _Relayed, answer: Assembled | None) -> None:
        flight, collapsed = relayed.flight, relayed.collapsed
        self._record(
            lookup,
            flight.status,
            answer=answer,
            stored=None if collapsed else flight.result,
            upstream=0.0 if collapsed else relayed.opened - flight.started,
            collapsed=collapsed,
            upstream_id=id_of(flight.headers),
        )

    def _outbound(self, raw: bytes) -> Outbound:
        headers = strip_request_headers(forwardable_headers(self._scope["headers"], self._caller))
        query = self._scope["query_string"].decode("latin-1")
        return Outbound("POST", self._scope["path"], headers, raw, query, self._caller.tenant)

    def _headers(self, lookup: Lookup, fwd_status: int | None, *, stored: bool, collapsed: bool = False) -> HeaderList:
        decision = lookup.decision
        assert isinstance(decision, Forward)
        status = cache_status(
            hit=False,
            ttl=None,
            fwd=forwarded_as(decision.why, Outcome(decision.outcome.value)),
            fwd_status=fwd_status if fwd_status not in (None, 200) else None,
            stored=stored,
            collapsed=collapsed,
            detail=decision.why.value,
        )
        return [(b"cache-status", status.encode()), *self._turn.run_header, *self._debug(lookup)]

    @staticmethod
    def _own_id(lookup: Lookup) -> HeaderList:
        """Return the id header of a reply to which the upstream gave none."""
        return [(id_header(lookup.request.endpoint), lookup.request_id.encode())]

    def _debug(self, lookup: Lookup) -> HeaderList:
        return hit_replay.debug_headers(lookup) if self._context.sees_scores(self._caller) else []

    def _record(self, lookup: Lookup, status: int, **facts: Any) -> None:
        seconds = time.perf_counter() - self._started
        self._context.note(lookup, self._cache.outcome(lookup, status, seconds, **facts))


def _not_cached(lookup: Lookup) -> RequestRejected:
    """The refusal of a miss that must not be forwarded."""
    why = lookup.decision.why if isinstance(lookup.decision, Forward) else Why.NO_VERDICT
    said = f"not in the cache, and the request said only-if-cached; {why.value}: {explained(why)[0]}"
    return RequestRejected(504, said, code="not_cached")


async def reject(
    dialect: Dialect, error: RequestRejected, send: Send, headers: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    """Send a refusal in the dialect of the client."""
    body = dialect.error(error.status, error.message, code=error.code, param=error.param)
    await respond(send, error.status, refusal_headers(error, headers), body)
