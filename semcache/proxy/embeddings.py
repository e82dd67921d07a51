"""The embeddings route: every input is cached on its own, and only those not known are asked for.

Knows the embeddings wire format; nothing of search. Invariant: the reply has one item per input, in the order asked,
and the backend is asked for no input that was served.
"""

from __future__ import annotations

import time
from dataclasses import replace

from semcache.errors import RequestRejected, UpstreamError, UpstreamTimeout
from semcache.protocols import Backend, Outbound, Reply
from semcache.proxy.asgi import Disconnected, HeaderList, Receive, Scope, Send, encoded, respond, until_disconnect
from semcache.proxy.auth import Caller, forwarded
from semcache.proxy.limits import ClientGone, read_body
from semcache.proxy.routes import CLIENT_GONE, Routes
from semcache.types import Assembled, Endpoint, Entry, Forward, Lookup, Outcome, Serve, Usage, Why
from semcache.wire import embeddings
from semcache.wire.embeddings import EmbeddingsRequest
from semcache.wire.headers import cache_status, controls_from, strip_request_headers


class EmbeddingsRoute:
    """Serves `/v1/embeddings`."""

    def __init__(self, routes: Routes, backend: Backend) -> None:
        self._routes = routes
        self._cache = routes.cache
        self._backend = backend

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        started = time.perf_counter()
        try:
            body = await read_body(scope, receive, self._routes.limits.max_body)
            caller = self._routes.auth.identify(scope["headers"])
            asked = embeddings.read(body)
            texts = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]
            asked = replace(asked, controls=controls_from(texts, asked.controls))
            lookups = [await self._consult(asked, index, caller) for index in range(len(asked.inputs))]
        except ClientGone:
            return
        except RequestRejected as error:
            await _reject(send, error)
            return
        held = [await self._held(lookup) for lookup in lookups]
        try:
            async with until_disconnect(receive):
                await self._answer(scope, send, asked, lookups, held, caller, started)
        except Disconnected:
            self._note(lookups, held, CLIENT_GONE, started, Usage())

    async def _consult(self, asked: EmbeddingsRequest, index: int, caller: Caller) -> Lookup:
        request = embeddings.request_for(asked, index)
        scope = self._routes.scope_of(caller, asked.user, asked.controls)
        request = replace(request, scope=scope, controls=asked.controls)
        return await self._cache.consult(request, self._routes.replays.request_id())

    async def _held(self, lookup: Lookup) -> Entry | None:
        if not isinstance(lookup.decision, Serve):
            return None
        return await self._cache.entry(lookup.decision, lookup.key)

    async def _answer(
        self,
        scope: Scope,
        send: Send,
        asked: EmbeddingsRequest,
        lookups: list[Lookup],
        held: list[Entry | None],
        caller: Caller,
        started: float,
    ) -> None:
        missing = [index for index, entry in enumerate(held) if entry is None]
        if not missing:
            items = [entry.body for entry in held if entry is not None]
            payload = embeddings.merge(items, asked.model, Usage())
            ttl = min(int(entry.expires - self._cache.parts.clock()) for entry in held if entry is not None)
            status = cache_status(
                hit=True, ttl=ttl, fwd=None, fwd_status=None, stored=False, collapsed=False, detail="exact"
            )
            await _send(send, 200, payload, [], status)
            self._note(lookups, held, 200, started, Usage())
            return
        if asked.controls.only_if_cached:
            await _reject(send, RequestRejected(504, "not every input is in the cache", code="not_cached"))
            return
        raw = asked.raw if len(missing) == len(lookups) else embeddings.subset(asked, missing)
        query = scope["query_string"].decode("latin-1")
        headers = strip_request_headers(forwarded(scope["headers"], caller))
        outbound = Outbound("POST", scope["path"], headers, raw, query)
        try:
            reply = await self._backend.send(outbound)
            try:
                body = b"".join([chunk async for chunk in reply.chunks()])
            finally:
                await reply.close()
        except UpstreamError as error:
            status_code = 504 if isinstance(error, UpstreamTimeout) else 502
            await _reject(send, RequestRejected(status_code, str(error), code="upstream_unavailable"))
            self._note(lookups, held, status_code, started, Usage())
            return
        await self._merge(send, asked, lookups, held, missing, reply, body, started)

    async def _merge(
        self,
        send: Send,
        asked: EmbeddingsRequest,
        lookups: list[Lookup],
        held: list[Entry | None],
        missing: list[int],
        reply: Reply,
        body: bytes,
        started: float,
    ) -> None:
        fresh = embeddings.split(body, len(missing)) if reply.status == 200 else None
        usage = embeddings.usage_of(body) if fresh is not None else Usage()
        stored = False
        if fresh is not None:
            answers = [
                Assembled(item, "", complete=True, usage=share)
                for item, share in zip(fresh, embeddings.shares(asked, missing, usage), strict=True)
            ]
            stored = await self._cache.admit_all([(lookups[i], a) for i, a in zip(missing, answers, strict=True)])
        payload = body
        if fresh is not None and len(missing) < len(lookups):
            found = dict(zip(missing, fresh, strict=True))
            items = [entry.body if entry is not None else found[index] for index, entry in enumerate(held)]
            payload = embeddings.merge(items, asked.model, usage)
        status = cache_status(
            hit=False,
            ttl=None,
            fwd="partial" if len(missing) < len(lookups) else "miss",
            fwd_status=None if reply.status == 200 else reply.status,
            stored=stored,
            collapsed=False,
            detail=None,
        )
        headers = [pair for pair in encoded(list(reply.headers)) if pair[0] not in (b"content-length", b"content-type")]
        kind = next((value for name, value in reply.headers if name == "content-type"), "application/json")
        await _send(send, reply.status, payload, headers, status, kind)
        self._note(lookups, held, reply.status, started, usage)

    def _note(self, lookups: list[Lookup], held: list[Entry | None], status: int, started: float, usage: Usage) -> None:
        """One row for the whole request: a hit only when every input was."""
        first = next((lookup for lookup, entry in zip(lookups, held, strict=True) if entry is None), lookups[0])
        if isinstance(first.decision, Serve) and any(entry is None for entry in held):
            first = replace(first, decision=Forward(Why.FAULT, Outcome.MISS))
        answer = Assembled(b"", "", complete=True, usage=usage)
        row = self._cache.outcome(first, status, time.perf_counter() - started, answer=answer)
        saved = sum(entry.usage.prompt_tokens for entry in held if entry is not None)
        saved_cost = self._cache.parts.prices.cost(row.model, Usage(saved))
        self._cache.journal.note(
            replace(row, endpoint=Endpoint.EMBEDDINGS.value, saved=Usage(saved), saved_cost=saved_cost)
        )


async def _send(
    send: Send, status: int, payload: bytes, headers: HeaderList, cache: str, kind: str = "application/json"
) -> None:
    own = [(b"content-type", kind.encode()), (b"cache-status", cache.encode())]
    await respond(send, status, [*headers, *own], payload)


async def _reject(send: Send, error: RequestRejected) -> None:
    body = embeddings.error(error.status, error.message, code=error.code, param=error.param)
    await respond(send, error.status, [(b"content-type", b"application/json")], body)
