"""The embeddings route: every input is cached on its own, and the backend is asked for those that are missing.

Knows the embeddings wire format; nothing of search. Invariant: the reply has one item per input, in the order asked,
and the backend is asked for no input that was served, nor for one that another request is asking for and then gets.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial

from semcache.dialects import embeddings
from semcache.dialects.embeddings import EmbeddingsRequest
from semcache.dialects.headers import cache_status, controls_from, forwarded_as, strip_request_headers
from semcache.errors import RequestRejected, UpstreamError, UpstreamTimeout
from semcache.protocols import Outbound
from semcache.proxy import hit_replay
from semcache.proxy.asgi import (
    CLIENT_GONE,
    ClientGone,
    Disconnected,
    HeaderList,
    Receive,
    Scope,
    Send,
    decode_headers,
    respond,
    until_disconnect,
)
from semcache.proxy.auth import Caller, forwardable_headers
from semcache.proxy.embedding_coalescing import (
    EmbeddingsCall,
    EmbeddingsCalls,
    EmbeddingsResult,
    InputName,
    ItemInFlight,
)
from semcache.proxy.fault_log import log_fault
from semcache.proxy.forward import allows_sharing
from semcache.proxy.origin import check_json
from semcache.proxy.relay import id_header, id_of, identity_of, refusal_headers, reply_headers
from semcache.proxy.route_context import RouteContext
from semcache.runtime.slow_reading import LARGE
from semcache.types import Assembled, Endpoint, Entry, Forward, Lookup, Outcome, Serve, Usage, Why

_ID = id_header(Endpoint.EMBEDDINGS)
_BETWEEN = 4  # inputs that are looked up before others are served


class EmbeddingsRoute:
    """The endpoint `/v1/embeddings`."""

    def __init__(self, context: RouteContext) -> None:
        self._context = context
        self._cache = context.cache
        self._calls = EmbeddingsCalls()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        started, intake = time.perf_counter(), self._context.intake
        try:
            caller = intake.caller(scope)
        except RequestRejected as error:
            await _reject(send, error, self._context.replayer.request_id())
            return
        hold = intake.hold(caller.tenant)
        try:
            self._context.limiter.admit(caller)
            check_json(scope["headers"])
            body = await intake.body(scope, receive, hold)
            if len(body) < LARGE:
                batch = await self._looked_up(self._read(body, scope, caller), scope, caller, started)
            else:
                async with intake.turns.turn(caller.tenant):
                    asked = await asyncio.to_thread(self._read, body, scope, caller)
                    batch = await self._looked_up(asked, scope, caller, started)
            await self._answer(batch, receive, send)
        except ClientGone:
            return
        except RequestRejected as error:
            request_id = self._context.replayer.request_id()
            await _reject(send, error, request_id)
            self._context.record_refused(request_id, Endpoint.EMBEDDINGS, caller, error.status, started)
        finally:
            hold.release()

    async def _looked_up(self, asked: EmbeddingsRequest, scope: Scope, caller: Caller, started: float) -> _Batch:
        lookups = []
        for index in range(len(asked.inputs)):
            lookups.append(await self._consult(asked, index, caller))
            if index % _BETWEEN == _BETWEEN - 1:
                await asyncio.sleep(0)
        held = await self._entries_of(lookups)
        return _Batch(self._context, self._calls, _LookedUp(scope, caller, asked, lookups, held, started))

    @staticmethod
    async def _answer(batch: _Batch, receive: Receive, send: Send) -> None:
        try:
            async with until_disconnect(receive):
                await batch.answer(send)
        except Disconnected:
            batch.leave()

    def _read(self, body: bytes, scope: Scope, caller: Caller) -> EmbeddingsRequest:
        asked = embeddings.read(body)
        return replace(
            asked,
            identity=identity_of(asked.identity, scope),
            controls=controls_from(decode_headers(scope), asked.controls),
            user=self._context.user_of(asked.user, scope["headers"], caller),
        )

    async def _consult(self, asked: EmbeddingsRequest, index: int, caller: Caller) -> Lookup:
        request = embeddings.request_for(asked, index)
        scope = self._context.scope_of(caller, asked.user, asked.controls)
        lookup = await self._context.consult(replace(request, scope=scope, controls=asked.controls))
        if isinstance(lookup.decision, Serve) and lookup.decision.stale:
            # One call asks for many inputs: what has run out is asked for with the rest, not on its own afterwards.
            return replace(lookup, decision=Forward(Why.EXPIRED))
        return lookup

    async def _entries_of(self, lookups: list[Lookup]) -> list[Entry | None]:
        try:
            held = [
                await self._cache.entry(lookup.decision, lookup.key) if isinstance(lookup.decision, Serve) else None
                for lookup in lookups
            ]
            # Proves that every item can be read before anything is asked for on the strength of it.
            embeddings.merge([entry.body for entry in held if entry is not None], "", Usage())
        except Exception:
            log_fault(self._cache, "replay")
            return [None] * len(lookups)
        return held


@dataclass(frozen=True, slots=True)
class _LookedUp:
    """A request after its look-ups; `held` are the entries that serve its inputs, None for those that miss."""

    scope: Scope
    caller: Caller
    asked: EmbeddingsRequest
    lookups: Sequence[Lookup]
    held: Sequence[Entry | None]
    started: float


class _Batch:
    """One request for several inputs on its way to a reply."""

    def __init__(self, context: RouteContext, calls: EmbeddingsCalls, looked: _LookedUp) -> None:
        self._context, self._cache, self._calls = context, context.cache, calls
        self._scope, self._caller, self._asked = looked.scope, looked.caller, looked.asked
        self._lookups, self._held, self._started = looked.lookups, looked.held, looked.started
        self._missing = [index for index, entry in enumerate(looked.held) if entry is None]
        # The one under whose id the whole request is recorded.
        self._first = looked.lookups[self._missing[0] if self._missing else 0]
        self._begun: list[EmbeddingsCall] = []

    async def answer(self, send: Send) -> None:
        """Replay, refuse or ask for what is missing."""
        if not self._missing:
            await self._replay(send)
        elif self._asked.controls.only_if_cached:
            refusal = RequestRejected(504, "not every input is in the cache", code="not_cached")
            await _reject(send, refusal, self._first.request_id)
            self.record(504, Usage())
        else:
            self._context.limiter.admit_miss(self._caller)
            await self._forward(send)

    async def _replay(self, send: Send) -> None:
        entries = [entry for entry in self._held if entry is not None]
        used = Usage(sum(entry.usage.prompt_tokens for entry in entries))
        payload = embeddings.merge([entry.body for entry in entries], self._asked.model, used)
        now = self._cache.clock()
        status = cache_status(
            hit=True,
            ttl=max(0, int(min(entry.expires for entry in entries) - now)),
            fwd=None,
            fwd_status=None,
            stored=False,
            collapsed=False,
            detail=Why.EXACT.value,
        )
        headers = [
            (b"content-type", b"application/json"),
            (b"cache-control", b"private, no-store"),
            (b"cache-status", status.encode()),
            (b"age", str(max(0, int(now - min(entry.created for entry in entries)))).encode()),
            (_ID, self._first.request_id.encode()),
        ]
        if self._context.sees_scores(self._caller) and len(self._lookups) == 1:
            headers += hit_replay.debug_headers(self._lookups[0])
        await respond(send, 200, headers, payload)
        self.record(200, Usage())

    async def _forward(self, send: Send) -> None:
        asked: list[EmbeddingsResult] = []
        found: dict[int, bytes] = {}
        spared: list[Usage] = []
        with ExitStack() as waiting:
            joined = self._join(waiting)
            newest = own = [index for index in self._missing if index not in joined]
            try:
                if own:
                    asked.append(await self._ask(own, found, waiting))
                if all(result.items is not None for result in asked):
                    spared = await self._collect(joined, found)
                    left = [index for index in joined if index not in found]
                    if left:
                        newest = left
                        asked.append(await self._ask(left, found, waiting))
                if asked and _is_unreadable(asked[-1]) and len(newest) < len(self._lookups):
                    # Nobody can tell which vectors these are: with the others they would be too few.
                    spared = []
                    asked.append(await self._ask_for_all(waiting))
            except UpstreamError as error:
                status = 504 if isinstance(error, UpstreamTimeout) else 502
                refusal = RequestRejected(status, str(error), code="upstream_unavailable")
                told = self._cache_status(None, stored=False)
                await _reject(send, refusal, self._first.request_id, [(b"cache-status", told.encode())])
                self.record(status, _total_usage(asked), spared=spared)
                return
        await self._answered(send, asked, found, spared)

    def _join(self, waiting: ExitStack) -> Mapping[int, ItemInFlight]:
        """Return the missing inputs that other requests ask for."""
        joined = {}
        for index in self._missing:
            name = _name(self._lookups[index])
            found = self._calls.in_flight(name) if name is not None else None
            if found is not None:
                waiting.enter_context(found.call)
                joined[index] = found
        return joined

    async def _ask(self, positions: Sequence[int], found: dict[int, bytes], waiting: ExitStack) -> EmbeddingsResult:
        """Ask for these inputs in a call that others may join, and put the items into `found`. Raises UpstreamError."""
        names = [_name(self._lookups[index]) for index in positions]
        call = waiting.enter_context(self._calls.begin(self._call(positions), names))
        self._begun.append(call)
        result = await call.result()
        found.update(zip(positions, result.items or (), strict=False))
        return result

    async def _ask_for_all(self, waiting: ExitStack) -> EmbeddingsResult:
        """Ask for all inputs, in a call that nobody joins and of which nothing is kept. Raises UpstreamError."""
        everything = range(len(self._lookups))
        call = waiting.enter_context(self._calls.begin(self._call(everything, keep=False), []))
        self._begun.append(call)
        return await call.result()

    async def _call(self, positions: Sequence[int], *, keep: bool = True) -> EmbeddingsResult:
        query = self._scope["query_string"].decode("latin-1")
        headers = strip_request_headers(forwardable_headers(self._scope["headers"], self._caller))
        raw = embeddings.subset(self._asked, positions)
        reply = await self._context.backend.send(
            Outbound("POST", self._scope["path"], headers, raw, query, self._caller.tenant)
        )
        try:
            body = b"".join([chunk async for chunk in reply.chunks()])
        finally:
            await reply.close()
        fresh = embeddings.split(body, len(positions)) if reply.status == 200 else None
        usage = embeddings.usage_of(body) if reply.status == 200 else Usage()
        if fresh is None:
            return EmbeddingsResult(reply.status, reply.headers, body, usage=usage)
        shares = embeddings.shares(self._asked, positions, usage)
        stored = keep and await self._store(positions, fresh, shares)
        return EmbeddingsResult(reply.status, reply.headers, body, fresh, shares, usage, stored)

    @staticmethod
    async def _collect(joined: Mapping[int, ItemInFlight], found: dict[int, bytes]) -> list[Usage]:
        """Put the items of other requests' calls into `found`, but for failed ones, and return the tokens of each."""
        spared = []
        for index, item in joined.items():
            # Whoever made a call that breaks reports it; here it is asked again.
            with suppress(Exception):
                result = await item.call.result()
                if result.items is not None:
                    found[index] = result.items[item.place]
                    spared.append(result.shares[item.place])
        return spared

    async def _answered(
        self, send: Send, asked: Sequence[EmbeddingsResult], found: Mapping[int, bytes], spared: Sequence[Usage]
    ) -> None:
        usage = _total_usage(asked)
        stored = bool(asked) and all(result.stored for result in asked)
        status, headers, payload = 200, [(b"content-type", b"application/json")], b""
        if asked:
            status, headers, payload = asked[-1].status, reply_headers(asked[-1].headers), asked[-1].body
        name = id_of(asked[-1].headers) if asked else ""
        if not name:
            headers = [*headers, (_ID, self._first.request_id.encode())]
        whole = len(asked) == 1 and len(asked[0].items or ()) == len(self._lookups)
        if not whole and all(result.items is not None for result in asked):
            items = [entry.body if entry is not None else found[index] for index, entry in enumerate(self._held)]
            held = sum(entry.usage.prompt_tokens for entry in self._held if entry is not None)
            whole_usage = Usage(usage.prompt_tokens + held + sum(one.prompt_tokens for one in spared))
            payload = embeddings.merge(items, self._asked.model, whole_usage)
        told = self._cache_status(status, stored=stored, collapsed=bool(spared))
        await respond(send, status, [*headers, (b"cache-status", told.encode())], payload)
        self.record(status, usage, spared=spared, collapsed=not asked, upstream_id=name)

    async def _store(self, positions: Sequence[int], fresh: Sequence[bytes], shares: Sequence[Usage]) -> bool:
        answers = [
            (self._lookups[index], Assembled(item, "", complete=True, usage=share))
            for index, item, share in zip(positions, fresh, shares, strict=True)
        ]
        try:
            return await self._cache.admit_all(answers)
        except Exception:
            log_fault(self._cache, "cache")
            return False

    def _cache_status(self, status: int | None, *, stored: bool, collapsed: bool = False) -> str:
        decision = self._first.decision
        why = decision.why if isinstance(decision, Forward) else Why.FAULT
        outcome = Outcome(decision.outcome.value) if isinstance(decision, Forward) else Outcome.MISS
        return cache_status(
            hit=False,
            ttl=None,
            fwd="partial" if len(self._missing) < len(self._lookups) else forwarded_as(why, outcome),
            fwd_status=status if status not in (None, 200) else None,
            stored=stored,
            collapsed=collapsed,
            detail=why.value,
        )

    def record(
        self,
        status: int,
        usage: Usage,
        *,
        spared: Sequence[Usage] = (),
        collapsed: bool = False,
        upstream_id: str = "",
    ) -> None:
        """Record one outcome for the whole request: a hit only when every input was.

        `usage` are the tokens of its own calls, `spared` those of the calls of others that it joined; `collapsed` says
        that it made no call of its own, `upstream_id` is the upstream's name for its last one.
        """
        first = self._recorded()
        answer = Assembled(b"", "", complete=True, usage=usage)
        seconds = time.perf_counter() - self._started
        row = self._cache.outcome(first, status, seconds, answer=answer, collapsed=collapsed, upstream_id=upstream_id)
        held = [entry.usage for entry in self._held if entry is not None]
        saved = Usage(sum(one.prompt_tokens for one in (*held, *spared)))
        saved_cost = self._cache.prices.cost(row.model, saved)
        logged = replace(row, endpoint=Endpoint.EMBEDDINGS.value, saved=saved, saved_cost=saved_cost)
        self._context.note(first, row, logged=logged)

    def leave(self) -> None:
        """Record that the client has gone. Its own calls are charged to it as they end, if others still wait."""
        self.record(CLIENT_GONE, Usage())
        for call in self._begun:
            call.when_done(partial(self._charge, call))

    def _charge(self, call: EmbeddingsCall) -> None:
        result = call.landed
        if result is not None and result.usage.prompt_tokens:
            first, answer = self._recorded(), Assembled(b"", "", complete=True, usage=result.usage)
            row = self._cache.outcome(first, result.status, 0.0, answer=answer)
            self._context.note_late(first, replace(row, endpoint=Endpoint.EMBEDDINGS.value))

    def _recorded(self) -> Lookup:
        """Return the look-up under which the whole request is recorded."""
        first = self._first
        if isinstance(first.decision, Serve) and self._missing:
            return replace(first, decision=Forward(Why.FAULT, Outcome.MISS))
        return first


def _is_unreadable(result: EmbeddingsResult) -> bool:
    return result.status == 200 and result.items is None


def _total_usage(asked: Sequence[EmbeddingsResult]) -> Usage:
    return Usage(sum(result.usage.prompt_tokens for result in asked))


def _name(lookup: Lookup) -> InputName | None:
    """Return the name under which requests share a call for an input; None for those that may not."""
    return (lookup.key.exact, lookup.category) if lookup.key is not None and allows_sharing(lookup) else None


async def _reject(send: Send, error: RequestRejected, request_id: str, headers: HeaderList | None = None) -> None:
    body = embeddings.error(error.status, error.message, code=error.code, param=error.param)
    own = [(_ID, request_id.encode()), *(headers or [])]
    await respond(send, error.status, refusal_headers(error, own), body)
