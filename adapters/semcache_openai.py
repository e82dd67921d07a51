"""The cache inside the `openai` client, without a proxy.

    from openai import OpenAI
    from semcache import SemanticCache
    from semcache_openai import cached

    with SemanticCache.open(".semcache", judge="verifier") as cache, cached(OpenAI(), cache, tenant="acme") as client:
        client.chat.completions.create(model="gpt-x", messages=[{"role": "user", "content": "What is a heap?"}])

`cached` gives back a client of the same type that differs in its transport alone: a hit is a response that never went
over the wire. So everything that the SDK makes of a response works on hits too: `stream=True`, `.stream()`, `.parse()`,
`with_raw_response` (`cache-status` and `x-semcache-id` are among the headers), pagination, typed events. Cached are
`POST .../chat/completions`, `.../completions` and `.../responses`, the latter only where the request says
`store=False`, unless `stored_responses` is set: a stored response is state at the provider. Of `POST .../embeddings`
every input is cached on its own. Headers and the `cache`
object (`extra_body`) of the proxy are understood.
Invariant: a request whose answer the cache does not serve gets what the wrapped client's own transport brings, byte for
byte after decoding; a stream is kept only when its terminal event has come.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import msgspec
from openai import AsyncOpenAI, OpenAI

from semcache import AsyncSemanticCache, SemanticCache
from semcache.cache.found import Found
from semcache.dialects import body_of, dialects, unbound
from semcache.dialects.headers import cache_status, controls_from, forwarded_as
from semcache.errors import CacheUnavailable, InvalidArgument, RequestRejected
from semcache.protocols import Assembler, Dialect
from semcache.types import Endpoint, Entry, Outcome, Request
from semcache_failopen import FailOpen
from semcache_openai_embeddings import EmbeddingBatch, identity_at, is_embeddings, read_batch

C = TypeVar("C", bound=OpenAI | AsyncOpenAI)

if TYPE_CHECKING:
    import httpx2

_PATHS = {"/chat/completions": Endpoint.CHAT, "/responses": Endpoint.RESPONSES, "/completions": Endpoint.COMPLETIONS}
_ALIKE = ("auth", "headers", "params", "cookies", "timeout", "follow_redirects", "max_redirects")
_ENCODED = frozenset({"content-encoding", "content-length", "transfer-encoding"})


def cached(
    client: C,
    cache: SemanticCache | AsyncSemanticCache,
    *,
    tenant: str = "default",
    user: str | None = None,
    namespace: str = "",
    category: str | None = None,
    stored_responses: bool = False,
) -> C:
    """Return a copy of `client` that asks the cache first; closing it closes `client`, and leaves the cache open.

    An `AsyncSemanticCache` serves an `AsyncOpenAI` in the cache's own loop. `user` is the caller where a request names
    none by `safety_identifier` or `user`. Raises InvalidArgument for an unknown category.
    """
    inner = client._client
    http = _library_of(inner)
    scoped = FailOpen(cache, tenant=tenant, user=user, namespace=namespace, category=category)
    door = _CacheExchange(http, scoped, stored_responses)
    alike: dict[str, Any] = {name: getattr(inner, name) for name in _ALIKE}
    if isinstance(inner, http.AsyncClient):
        transport = _kind_of(_AsyncCachingTransport, http.AsyncBaseTransport)(inner, door)
        sender = http.AsyncClient(transport=transport, trust_env=False, **alike)
    else:
        transport = _kind_of(_CachingTransport, http.BaseTransport)(inner, door)
        sender = http.Client(transport=transport, trust_env=False, **alike)
    same: Any = client.copy  # its return type is that of either client
    return cast(C, same(http_client=sender))


def _library_of(inner: object) -> Any:
    """Return the library that a client sends through: httpx2 of openai 3, httpx of openai 1 and 2."""
    for name in ("httpx2", "httpx"):
        library = sys.modules.get(name)
        if library is not None and isinstance(inner, library.Client | library.AsyncClient):
            return library
    kind = f"{type(inner).__module__}.{type(inner).__name__}"
    raise InvalidArgument(
        f"this client sends through {kind}: give it a client of httpx2, or of httpx with openai 1 or 2"
    )


@lru_cache
def _kind_of(ours: type, *theirs: type) -> type[Any]:
    """Return our class as one of the library's."""
    return type(ours.__name__, (ours, *theirs), {})


class _CacheableRequest(NamedTuple):
    """A request that the cache understands."""

    dialect: Dialect
    request: Request


class _CacheExchange:
    """The parts of an exchange that need no I/O."""

    def __init__(self, http: Any, cache: FailOpen, stored_responses: bool) -> None:
        self.http = http
        self.cache = cache
        self._stored_responses = stored_responses

    def read(self, sent: httpx2.Request) -> _CacheableRequest | None:
        """Return the request as the cache sees it, None when it is not for the cache. Raises RequestRejected."""
        dialect = _dialect(sent)
        if sent.method != "POST" or dialect is None or not isinstance(sent.stream, self.http.ByteStream):
            return None
        try:
            request = dialect.read(sent.content)
        except RequestRejected as error:
            if (error.param or "").startswith("cache"):
                raise
            return None
        if request.replay.get("store") and not self._stored_responses:
            return None
        controls = controls_from(sent.headers.multi_items(), request.controls)
        controls = replace(controls, category=controls.category or self.cache.category)
        scope, asker = self.cache.scope(request.user, controls.namespace), self.cache.asker(request.user)
        identity = identity_at(sent, _suffix(sent.url.path), request.identity)
        asked = replace(request, identity=identity, controls=controls, scope=scope, asker=asker)
        return _CacheableRequest(dialect, asked)

    def reply(self, asked: _CacheableRequest, found: Found | None, serve: bool) -> httpx2.Response | None:
        """Return the response of a hit, or the refusal of a request that wants hits alone; None: ask the provider."""
        dialect, request = asked
        if serve and found is not None and found.entry is not None:
            try:
                return self._replay(asked, found, found.entry)
            except CacheUnavailable as error:
                self.cache.failed("replaying", error)
        if not request.controls.only_if_cached:
            return None
        reason = "" if found is None else f"; {found.why.value}: {found.reason}"
        said = f"not in the cache, and the request said only-if-cached{reason}"
        return self.refused(dialect, RequestRejected(504, said, code="not_cached"))

    def _replay(self, asked: _CacheableRequest, found: Found, entry: Entry) -> httpx2.Response:
        dialect, request = asked
        body = entry.body if found.outcome is Outcome.EXACT else unbound(dialect, entry.body)
        if request.stream:
            body, kind = b"".join(dialect.stream(body, request.replay)), "text/event-stream"
        else:
            body, kind = body_of(dialect, body, request), "application/json"
        headers = {
            "content-type": kind,
            "cache-status": f"semcache; hit; detail={found.why.value}",
            "x-request-id": found.lookup.request_id,
            "x-semcache-id": found.entry_id or "",
        }
        return self.response(200, headers, body)

    def refused(self, dialect: Dialect | None, error: RequestRejected) -> httpx2.Response:
        """Return a refusal in the dialect of the request, of which the SDK makes an `APIStatusError`."""
        dialect = dialect or dialects()[Endpoint.CHAT]
        body = dialect.error(error.status, error.message, code=error.code, param=error.param)
        headers = {"content-type": "application/json", "x-should-retry": "false"}
        return self.response(error.status, headers, body)

    def response(self, status: int, headers: Any, content: bytes | None = None, **more: Any) -> httpx2.Response:
        """Return a response of the client's own library, httpx or httpx2."""
        made: httpx2.Response = self.http.Response(status, headers=headers, content=content, **more)
        return made

    def is_embeddings(self, sent: httpx2.Request) -> bool:
        """Return True for a request for embeddings that can be read here."""
        return sent.method == "POST" and is_embeddings(sent.url.path) and isinstance(sent.stream, self.http.ByteStream)

    def embedded(self, batch: EmbeddingBatch) -> httpx2.Response | None:
        """Return the answer to inputs of which none is missing, or a refusal; None: ask for what is."""
        if batch.missing:
            if not batch.only_if_cached:
                return None
            said = "not every input is in the cache, and the request said only-if-cached"
            return self.refused(None, RequestRejected(504, said, code="not_cached"))
        hit = "hit" if not batch.asked else "fwd=partial" if batch.served else "fwd=miss"
        headers = {"content-type": "application/json", "cache-status": f"semcache; {hit}"}
        return self.response(200, headers, batch.reply())

    def unread(self, reply: httpx2.Response, body: bytes) -> httpx2.Response:
        """Return a reply whose body was read, as it came."""
        headers = [pair for pair in reply.headers.multi_items() if pair[0] not in _ENCODED]
        return self.response(reply.status_code, headers, body)

    def with_body(self, sent: httpx2.Request, body: bytes) -> httpx2.Request:
        """Return a request with another body, without what was meant for the cache."""
        dropped = {name for name in sent.headers if name.startswith("x-semcache-")} | {"content-length"}
        headers = [pair for pair in sent.headers.multi_items() if pair[0] not in dropped]
        made: httpx2.Request = self.http.Request(
            sent.method, sent.url, headers=headers, content=body, extensions=sent.extensions
        )
        return made

    def outbound(self, sent: httpx2.Request, request: Request) -> httpx2.Request:
        """Return the request without the fields that were meant for the cache."""
        ours = [name for name in sent.headers if name.startswith("x-semcache-")]
        if request.raw == sent.content and not ours:
            return sent
        return self.with_body(sent, request.raw)


class _CachingTransport:
    """A transport of httpx that answers from the cache, or through the wrapped client."""

    def __init__(self, inner: httpx2.Client, door: _CacheExchange) -> None:
        self._inner, self._door = inner, door

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request."""
        try:
            if self._door.is_embeddings(request):
                return self._embed(request)
            asked = self._door.read(request)
            if asked is None:
                return self._send(request)
            found, serve = self._door.cache.find(asked.request)
        except RequestRejected as error:
            return self._door.refused(_dialect(request), error)
        reply = self._door.reply(asked, found, serve)
        if reply is not None:
            return reply
        reply = self._send(self._door.outbound(request, asked.request))
        if found is None or reply.status_code != 200:
            return reply
        headers = _headers(reply, found)
        if _is_stream(reply):
            http = self._door.http
            kind = _kind_of(_RecordedStream, http.SyncByteStream, http.AsyncByteStream)
            relay = kind(reply, asked.dialect.assembler(), found, self._door.cache)
            return self._door.response(200, headers, stream=relay, extensions=reply.extensions)
        body = reply.read()
        self._door.cache.keep(found, _decoded(body))
        return self._door.response(200, headers, body)

    def _embed(self, request: httpx2.Request) -> httpx2.Response:
        door = self._door
        batch = read_batch(request, door.cache)
        if batch is None:
            return self._send(request)
        for one in batch.requests:
            batch.took(*door.cache.find(one))
        reply = door.embedded(batch)
        if reply is not None:
            return reply
        sent = self._send(door.with_body(request, batch.body()))
        if sent.status_code != 200:
            return sent
        body = sent.read()
        kept = batch.learn(body)
        if kept is None and batch.served:
            # With the vectors that are cached these may be too few.
            return self._send(door.with_body(request, batch.whole))
        for found, answer in kept or ():
            door.cache.keep_answer(found, answer)
        return door.embedded(batch) if kept is not None else door.unread(sent, body)  # type: ignore[return-value]

    def close(self) -> None:
        """Close the wrapped client."""
        self._inner.close()

    def _send(self, request: httpx2.Request) -> httpx2.Response:
        return self._inner.send(request, stream=True, auth=None, follow_redirects=False)


class _AsyncCachingTransport:
    """The same transport for `AsyncOpenAI`."""

    def __init__(self, inner: httpx2.AsyncClient, door: _CacheExchange) -> None:
        self._inner, self._door = inner, door

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send one request."""
        try:
            if self._door.is_embeddings(request):
                return await self._embed(request)
            asked = self._door.read(request)
            if asked is None:
                return await self._send(request)
            found, serve = await self._door.cache.afind(asked.request)
        except RequestRejected as error:
            return self._door.refused(_dialect(request), error)
        reply = self._door.reply(asked, found, serve)
        if reply is not None:
            return reply
        reply = await self._send(self._door.outbound(request, asked.request))
        if found is None or reply.status_code != 200:
            return reply
        headers = _headers(reply, found)
        if _is_stream(reply):
            http = self._door.http
            kind = _kind_of(_RecordedStream, http.SyncByteStream, http.AsyncByteStream)
            relay = kind(reply, asked.dialect.assembler(), found, self._door.cache)
            return self._door.response(200, headers, stream=relay, extensions=reply.extensions)
        body = await reply.aread()
        await self._door.cache.akeep(found, _decoded(body))
        return self._door.response(200, headers, body)

    async def _embed(self, request: httpx2.Request) -> httpx2.Response:
        door = self._door
        batch = read_batch(request, door.cache)
        if batch is None:
            return await self._send(request)
        for one in batch.requests:
            batch.took(*await door.cache.afind(one))
        reply = door.embedded(batch)
        if reply is not None:
            return reply
        sent = await self._send(door.with_body(request, batch.body()))
        if sent.status_code != 200:
            return sent
        body = await sent.aread()
        kept = batch.learn(body)
        if kept is None and batch.served:
            # With the vectors that are cached these may be too few.
            return await self._send(door.with_body(request, batch.whole))
        for found, answer in kept or ():
            await door.cache.akeep_answer(found, answer)
        return door.embedded(batch) if kept is not None else door.unread(sent, body)  # type: ignore[return-value]

    async def aclose(self) -> None:
        """Close the wrapped client."""
        await self._inner.aclose()

    async def _send(self, request: httpx2.Request) -> httpx2.Response:
        return await self._inner.send(request, stream=True, auth=None, follow_redirects=False)


class _RecordedStream:
    """A stream on its way to the caller, kept when its terminal event passes; one that is left early is forgotten."""

    def __init__(self, reply: httpx2.Response, assembler: Assembler, found: Found, cache: FailOpen) -> None:
        self._reply, self._assembler, self._found, self._cache = reply, assembler, found, cache
        self._ended = False

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._reply.iter_bytes():
            self._cache.keep(self._found, self._taken(chunk))
            yield chunk

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._reply.aiter_bytes():
            await self._cache.akeep(self._found, self._taken(chunk))
            yield chunk

    def close(self) -> None:
        self._reply.close()

    async def aclose(self) -> None:
        await self._reply.aclose()

    def _taken(self, chunk: bytes) -> Mapping[str, Any]:
        """Return the complete answer with the chunk that ends it, {} with any other chunk."""
        if self._ended:
            return {}
        self._assembler.feed(chunk)
        if self._assembler.terminal is None:
            return {}
        self._ended = True
        answer = self._assembler.finish()
        return _decoded(answer.body) if answer.complete else {}


def _dialect(sent: httpx2.Request) -> Dialect | None:
    suffix = _suffix(sent.url.path)
    return dialects()[_PATHS[suffix]] if suffix else None


def _suffix(path: str) -> str:
    """Return the part of a path that names a cached endpoint, "" for none."""
    return next((suffix for suffix in _PATHS if path.endswith(suffix)), "")


def _headers(reply: httpx2.Response, found: Found) -> list[tuple[str, str]]:
    status = cache_status(
        hit=False,
        ttl=None,
        fwd=forwarded_as(found.why, found.outcome),
        fwd_status=None,
        stored=False,
        collapsed=False,
        detail=found.why.value,
    )
    kept = [pair for pair in reply.headers.multi_items() if pair[0] not in _ENCODED]
    return [*kept, ("cache-status", status)]


def _is_stream(reply: httpx2.Response) -> bool:
    kind: str = reply.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower() == "text/event-stream"


def _decoded(body: bytes) -> Mapping[str, Any]:
    """Return a body as the library takes it; one that is no object is no answer, and is not kept."""
    try:
        value = msgspec.json.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}
