"""The hot routes: one request from its bytes to its reply.

Reads the dialect, asks the cache, and replays, follows or forwards. Knows no SQL, no index and no dialect's fields.
Invariant: exactly one reply is sent for a request, exactly one outcome is recorded of each whose caller is known, and
no fault of the cache reaches the client.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from semcache.cache import AsyncSemanticCache
from semcache.errors import RequestRejected, UpstreamError, UpstreamTimeout
from semcache.flight import Flight, Flights
from semcache.ledger import planned, substituted
from semcache.protocols import Backend, Dialect, Outbound
from semcache.proxy import hits
from semcache.proxy.asgi import Disconnected, HeaderList, Receive, Scope, Send, decoded, respond, until_disconnect
from semcache.proxy.auth import Authenticator, Caller, forwarded, user_of
from semcache.proxy.faults import survived
from semcache.proxy.followup import FollowUps, Hit
from semcache.proxy.forward import Forwarder, exact_only, joinable, mode
from semcache.proxy.leases import Leases
from semcache.proxy.limits import ClientGone, read_body
from semcache.proxy.plan_turn import PlanTurn
from semcache.proxy.relay import id_header, identity_of, refused, relayed, unstreamed
from semcache.types import (
    Assembled,
    Controls,
    Endpoint,
    Entry,
    Forward,
    Lookup,
    Outcome,
    Recorded,
    Request,
    Serve,
    Why,
)
from semcache.types import Scope as CacheScope
from semcache.wire.headers import cache_status, controls_from, forwarded_as, strip_request_headers

if TYPE_CHECKING:
    from semcache.agents.nearhits import NearChoice
    from semcache.proxy.nearby import Nearby
    from semcache.proxy.plans import PlanSurface

CLIENT_GONE = 499


@dataclass(frozen=True, slots=True)
class Limits:
    """What a proxy accepts: the size of a body in bytes, and whose word it takes for the user."""

    max_body: int = 20 << 20
    trust_user_header: bool = False
    expose_scores: bool = False


class Routes:
    """Serves the cacheable endpoints. One instance a process."""

    def __init__(
        self,
        cache: AsyncSemanticCache,
        backend: Backend,
        auth: Authenticator,
        *,
        limits: Limits,
        worker: str,
        followups: FollowUps,
        plans: PlanSurface | None = None,
        near: Nearby | None = None,
        leases: Leases | None = None,
    ) -> None:
        self.cache = cache
        self.auth = auth
        self.limits = limits
        self.followups = followups
        self.plans = plans
        self.near = near
        self.leases = leases
        self.replays = hits.Replays(cache, worker=worker)
        self.forwarder = Forwarder(cache, backend, Flights())

    async def __call__(self, dialect: Dialect, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of this dialect."""
        started = time.perf_counter()
        caller: Caller | None = None
        try:
            body = await read_body(scope, receive, self.limits.max_body)
            known = self.replays.find(scope, body)
            if known is not None:
                await self._again(known, send, started)
                return
            caller, epoch = self.auth.identify(scope["headers"]), self.replays.epoch
            request = self._read(dialect, body, scope, caller)
            lookup = await self.consult(request)
        except ClientGone:
            return
        except RequestRejected as error:
            await reject(dialect, error, send)
            if caller is not None:
                self.note_unreadable(dialect.endpoint, caller, error.status, started)
            return
        exchange = Exchange(self, dialect, scope, body, caller, started, epoch)
        await exchange.answer(lookup, receive, send)

    async def consult(self, request: Request) -> Lookup:
        """Ask the cache; whatever goes wrong in it is a reason to forward. Raises RequestRejected."""
        request_id = self.replays.request_id()
        try:
            lookup = await self.cache.consult(request, request_id, paraphrases=not exact_only(request))
        except RequestRejected:
            raise
        except Exception:
            survived(self.cache, "cache")
            return Lookup(request_id, request, None, "default", Forward(Why.FAULT))
        return await self.cache.verified(lookup)

    def note_unreadable(self, endpoint: Endpoint, caller: Caller, status: int, started: float) -> None:
        """Record a request of a known caller that was refused before it could be looked up."""
        self.cache.journal.note(
            Recorded(
                request_id=self.replays.request_id(),
                at=self.cache.parts.clock(),
                endpoint=endpoint.value,
                scope=CacheScope(caller.tenant),
                model="",
                category="default",
                outcome=Outcome.BYPASS,
                why=Why.UNREADABLE,
                status=status,
                seconds=time.perf_counter() - started,
            )
        )

    async def _again(self, known: hits.Replay, send: Send, started: float) -> None:
        await self.replays.send(known, send, self.replays.request_id())
        self.cache.journal.repeat(known.template, self.cache.parts.clock(), time.perf_counter() - started)

    def _read(self, dialect: Dialect, body: bytes, scope: Scope, caller: Caller) -> Request:
        headers: HeaderList = scope["headers"]
        request = dialect.read(body)
        controls = controls_from(decoded(scope), request.controls)
        user = user_of(request.user, headers, caller, trust_header=self.limits.trust_user_header)
        identity: Mapping[str, Any] = identity_of(request.identity, scope)
        who = self.scope_of(caller, user, controls)
        return replace(request, identity=identity, controls=controls, scope=who, user=user)

    def scope_of(self, caller: Caller, user: str | None, controls: Controls) -> CacheScope:
        """Who shares answers with this caller."""
        private = self.cache.pack.share == "user"
        return CacheScope(caller.tenant, user if private else None, controls.namespace or "")

    def sees_scores(self, caller: Caller) -> bool:
        """Whether a caller is told ids, scores and probabilities."""
        return caller.trusted or self.limits.expose_scores


class Exchange:
    """One request on its way to a reply."""

    _turn: PlanTurn

    def __init__(
        self, routes: Routes, dialect: Dialect, scope: Scope, body: bytes, caller: Caller, started: float, epoch: int
    ) -> None:
        self._routes = routes
        self._cache = routes.cache
        self._dialect = dialect
        self._scope = scope
        self._body = body
        self._caller = caller
        self._started = started
        self._epoch = epoch

    async def answer(self, lookup: Lookup, receive: Receive, send: Send) -> None:
        """Replay, serve a plan, refuse, follow, have a cheaper model answer, or forward."""
        self._turn = PlanTurn(self._cache, self._routes.plans, self._dialect, lookup, self._scope["headers"])
        if isinstance(lookup.decision, Serve):
            if await self._replay(lookup, lookup.decision, send):
                return
            lookup = replace(lookup, decision=Forward(Why.FAULT))
        if await self._planned(lookup, send):
            return
        if lookup.request.controls.only_if_cached:
            error = RequestRejected(504, "not in the cache, and the request said only-if-cached", code="not_cached")
            await reject(self._dialect, error, send, [*self._own_id(lookup), *self._debug(lookup)])
            self._note(lookup, 504)
            return
        try:
            with self._turn.under_way():
                async with until_disconnect(receive):
                    if not await self._follow(lookup, send):
                        await self._first(lookup, send)
        except Disconnected:
            self._note(lookup, CLIENT_GONE)

    async def _planned(self, lookup: Lookup, send: Send) -> bool:
        """Reply with the next step of a plan; False where there is none."""
        served = await self._turn.served()
        if served is None:
            return False
        await respond(send, 200, [*served.headers, *self._own_id(lookup), *self._debug(lookup)], served.payload)
        row = self._cache.outcome(lookup, 200, time.perf_counter() - self._started)
        self._cache.journal.note(planned(row, self._cache.parts.prices, served.saved))
        return True

    async def _neared(self, choice: NearChoice | None, lookup: Lookup, send: Send) -> bool:
        """Reply with a cheaper model's answer; False where the model that was named is to be asked."""
        near = self._routes.near
        if near is None or choice is None:
            return False
        try:
            served = await near.serve(choice, self._dialect, lookup, self._outbound)
        except Exception:
            survived(self._cache, "near")
            return False
        if served is None:
            return False
        await respond(send, 200, [*served.headers, *self._own_id(lookup), *self._debug(lookup)], served.payload)
        row = self._cache.outcome(lookup, 200, time.perf_counter() - self._started)
        self._cache.journal.note(substituted(row, served.usage, served.paid, served.instead))
        return True

    async def _replay(self, lookup: Lookup, served: Serve, send: Send) -> bool:
        try:
            entry = await self._cache.entry(served, lookup.key)
            if entry is None:
                return False
            template = self._cache.outcome(lookup, 200, 0.0, entry=entry)
            replay = self._routes.replays.render(self._dialect, lookup, served, entry, template)
        except Exception:
            survived(self._cache, "replay")
            return False
        replay.fixed.extend([*self._turn.named, *self._debug(lookup)])
        await self._turn.learn(entry)
        await self._routes.replays.send(replay, send, lookup.request_id)
        seconds = time.perf_counter() - self._started
        if self._followed_up(lookup, served, entry):
            # The call was not spared, only put off.
            template = self._cache.outcome(lookup, 200, 0.0)
        self._cache.journal.note(replace(template, seconds=seconds))
        if hits.memorable(lookup) and self._turn.run is None:
            self._routes.replays.remember(self._scope, self._body, replay, self._epoch)
        return True

    def _followed_up(self, lookup: Lookup, served: Serve, entry: Entry) -> bool:
        followups = self._routes.followups
        if not followups.wanted(lookup, served):
            return False
        try:
            outbound = self._outbound(unstreamed(lookup.request.raw))
            return followups.take(Hit(lookup, served, entry, self._dialect, outbound))
        except Exception:
            survived(self._cache, "background")
            return False

    async def _follow(self, lookup: Lookup, send: Send) -> bool:
        """Share the call of a request that is being answered now; False when there is none, or it came to nothing."""
        flight = self._routes.forwarder.join(lookup)
        if flight is None:
            return False
        with flight:
            if flight.mode == mode(lookup):
                return await self._tail(lookup, flight, send)
            answer = await flight.finished()
        if answer is None or not answer.complete or flight.status != 200:
            return False
        return await self._from_body(lookup, answer, send)

    async def _tail(self, lookup: Lookup, flight: Flight, send: Send) -> bool:
        try:
            await flight.opened()
        except UpstreamError:
            return False
        if flight.status != 200:
            return False
        await self._relay(lookup, flight, send, collapsed=True)
        return True

    async def _from_body(self, lookup: Lookup, answer: Assembled, send: Send) -> bool:
        payload, kind = answer.body, b"application/json"
        if lookup.request.stream:
            try:
                payload = b"".join(self._dialect.stream(answer.body, lookup.request.replay))
            except Exception:
                survived(self._cache, "replay")
                return False
            kind = hits.EVENT_STREAM
        own = self._headers(lookup, 200, stored=False, collapsed=True)
        headers = [(b"content-type", kind), *self._own_id(lookup), *own]
        await self._turn.learn(answer)
        await respond(send, 200, headers, payload)
        self._note(lookup, 200, answer=answer, collapsed=True)
        return True

    async def _first(self, lookup: Lookup, send: Send) -> None:
        """Ask the backend, unless another worker does so now: then its answer may do."""
        leases, key = self._routes.leases, lookup.key
        if leases is None or key is None or not joinable(lookup):
            await self._forward(lookup, send)
            return
        try:
            # A stream would have to wait for the end of the other's.
            if not leases.take(key.exact) and not lookup.request.stream:
                await leases.wait(key.exact)
                # Whoever else waits waits no longer, whatever came of the other's call.
                leases.give_back(key.exact)
                again = await self._cache.relook(lookup)
                if isinstance(again.decision, Serve) and await self._replay(again, again.decision, send):
                    return
                if await self._follow(lookup, send):
                    return
            await self._forward(lookup, send)
        finally:
            leases.give_back(key.exact)

    async def _forward(self, lookup: Lookup, send: Send) -> None:
        near = self._routes.near
        choice = near.choose(lookup) if near is not None else None
        if await self._neared(choice, lookup, send):
            return
        outbound = self._outbound(await self._turn.forwarded())
        flight = self._routes.forwarder.start(lookup, self._dialect, outbound)
        with flight:
            try:
                await flight.opened()
            except UpstreamError as error:
                status = 504 if isinstance(error, UpstreamTimeout) else 502
                refusal = RequestRejected(status, str(error), code="upstream_unavailable")
                head = [*self._own_id(lookup), *self._headers(lookup, None, stored=False)]
                await reject(self._dialect, refusal, send, head)
                self._note(lookup, status)
                return
            await self._relay(lookup, flight, send, collapsed=False)
        if near is not None and choice is not None and flight.status == 200 and flight.answer is not None:
            near.passed(choice, self._dialect, lookup, self._outbound, flight.answer)

    async def _relay(self, lookup: Lookup, flight: Flight, send: Send, *, collapsed: bool) -> None:
        opened = time.perf_counter()
        own = self._headers(lookup, flight.status, stored=flight.stored and not collapsed, collapsed=collapsed)
        headers = [*relayed(flight.headers, shared=collapsed), *own]
        await send({"type": "http.response.start", "status": flight.status, "headers": headers})
        try:
            async for chunk in flight.chunks():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        except UpstreamError as error:
            self._note(lookup, flight.status, stored=Why.INCOMPLETE.value, collapsed=collapsed)
            # Ending without the last message makes the server cut the connection, as the backend did.
            raise BrokenOff(str(error)) from error
        await self._turn.learn(flight.answer if flight.answer is not None and flight.answer.complete else None)
        await send({"type": "http.response.body", "body": b""})
        note = partial(
            self._note,
            lookup,
            flight.status,
            answer=flight.answer,
            stored=None if collapsed else flight.result,
            upstream=0.0 if collapsed else opened - flight.started,
            collapsed=collapsed,
        )
        # The event loop writes out what was sent before it comes to this.
        asyncio.get_running_loop().call_soon(note)

    def _outbound(self, raw: bytes) -> Outbound:
        headers = strip_request_headers(forwarded(self._scope["headers"], self._caller))
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
        return [(b"cache-status", status.encode()), *self._turn.named, *self._debug(lookup)]

    @staticmethod
    def _own_id(lookup: Lookup) -> HeaderList:
        """The id of a reply that no call of the upstream's gave one."""
        return [(id_header(lookup.request.endpoint), lookup.request_id.encode())]

    def _debug(self, lookup: Lookup) -> HeaderList:
        return hits.debug_headers(lookup) if self._routes.sees_scores(self._caller) else []

    def _note(self, lookup: Lookup, status: int, **facts: Any) -> None:
        seconds = time.perf_counter() - self._started
        self._cache.journal.note(self._cache.outcome(lookup, status, seconds, **facts))


class BrokenOff(Exception):
    """The backend broke off in the middle of an answer that the client was already receiving."""


async def reject(
    dialect: Dialect, error: RequestRejected, send: Send, headers: Sequence[tuple[bytes, bytes]] = ()
) -> None:
    """Send a refusal in the dialect of the client."""
    body = dialect.error(error.status, error.message, code=error.code, param=error.param)
    await respond(send, error.status, refused(error, headers), body)
