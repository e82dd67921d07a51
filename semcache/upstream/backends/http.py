"""A backend behind HTTP: any service that speaks the OpenAI or Anthropic API.

Knows connections, time limits and where a credential goes; nothing of what a body says. It works on httpcore2's
connection pool rather than on httpx2's client: a proxy must not follow redirects, keep cookies (they would cross
tenants) or add headers of its own, and httpx2's requests and responses would be a quarter of what a call costs.
Invariant: a reply holds its connection until `close`, and no longer.

Time limits are separate: to connect, to wait for a free connection, between two pieces of a reply, and between two of a
stream that has begun. A stream that keeps sending has no limit in all.
"""

from __future__ import annotations

import asyncio
import os
import ssl
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Sequence
from functools import lru_cache
from typing import NamedTuple, cast

import httpcore2
import httpx2

from semcache.dialects import request_path
from semcache.dialects.hop_headers import HOP_BY_HOP, end_to_end
from semcache.errors import ConfigError, UpstreamError, UpstreamTimeout
from semcache.protocols import Outbound, Reply, WebSocket, WebSocketTerms
from semcache.runtime.unix_address import UNIX, http_root, unix_path
from semcache.upstream.backends.connection import DEFAULTS, Connection
from semcache.upstream.backends.decoding import Damaged, decoded, encodings, undecodable
from semcache.upstream.backends.outage_log import OutageLog
from semcache.upstream.web_socket import open_web_socket

_NOT_FORWARDED = HOP_BY_HOP | {"host", "content-length", "accept-encoding", "expect"}
_WITH_BODY = {"POST", "PUT", "PATCH", "QUERY"}
_CREDENTIALS = ("authorization", "x-api-key", "api-key")
# Shorter than the 5 s after which uvicorn, vLLM and node close an idle connection: a request never races that close.
_KEEPALIVE_SECONDS = 4.0
_ENDPOINTS = ("/chat/completions", "/completions", "/embeddings", "/responses", "/messages", "/models")
_EVENTS = "text/event-stream"
_TLS = (
    ("CERTIFICATE_VERIFY_FAILED", "name a file with the certificate of its authority in SSL_CERT_FILE"),
    ("[SSL", "does it speak TLS at this port, or is its URL http://?"),
)
_FAILURES = (
    httpcore2.TimeoutException,
    httpcore2.NetworkError,
    httpcore2.ProtocolError,
    httpcore2.ProxyError,
    httpcore2.UnsupportedProtocol,
    httpx2.HTTPError,
)


class HttpBackend:
    """Send requests to the service at `base_url`.

    `base_url` is the scheme and host alone, to which the client's path is appended, or what the OpenAI SDK calls by
    that name, which stands for the path's leading `/v1`: `http://host:8000`, `http://host:8000/v1`,
    `https://openrouter.ai/api/v1`; or `unix:` and the path of a socket. `transport` replaces the connections, a proxy
    included. Raises ConfigError for a URL it cannot use.
    """

    def __init__(
        self,
        base_url: str,
        connection: Connection = DEFAULTS,
        *,
        transport: httpx2.AsyncBaseTransport | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        root, self._socket = http_root(base_url) if unix_path(base_url) is not None else (base_url, None)
        self._base, self._origin, self._replaces_v1 = _located(root)
        self._name = self._origin if self._socket is None else UNIX + self._socket
        self._outages = OutageLog(self._name, clock) if connection.watched else None
        keys = connection.api_key, connection.fallback_key
        self._api_key, self._fallback_key = (key.strip() or None if key else None for key in keys)
        self._azure = httpx2.URL(root).host.endswith(".azure.com")
        self._set = {name.lower(): value for name, value in (connection.headers or {}).items()}
        timeout = connection.timeout
        self._limits = {"connect": connection.connect_timeout, "read": timeout, "write": timeout, "pool": timeout}
        self._silence = connection.stream_timeout
        self._proxy = connection.proxy
        self._host = httpx2.URL(self._origin).netloc.decode()
        self._url = lru_cache(maxsize=64)(self._parse)
        self._pool: httpcore2.AsyncConnectionPool | _Transport
        if transport is None and (connection.proxy is None or self._socket is not None):
            self._pool = httpcore2.AsyncConnectionPool(
                uds=self._socket,
                ssl_context=_trust() if self._origin.startswith("https:") else None,
                max_connections=connection.max_connections,
                max_keepalive_connections=connection.max_connections,
                keepalive_expiry=_KEEPALIVE_SECONDS,
            )
        else:
            limits = httpx2.Limits(
                max_connections=connection.max_connections,
                max_keepalive_connections=connection.max_connections,
                keepalive_expiry=_KEEPALIVE_SECONDS,
            )
            try:
                through = transport or httpx2.AsyncHTTPTransport(limits=limits, proxy=connection.proxy)
            except (httpx2.InvalidURL, ValueError, ImportError) as error:
                # Not quoted: it may hold a password.
                raise ConfigError(
                    f"upstream.proxy cannot be used ({type(error).__name__}): write http://HOST:PORT or "
                    "https://HOST:PORT, with USER:PASSWORD@ before the host where it asks for them"
                ) from error
            self._pool = _Transport(through, self._origin)

    async def send(self, outbound: Outbound) -> Reply:
        """Return as soon as status and headers are there. Raises UpstreamError or UpstreamTimeout."""
        try:
            request = httpcore2.Request(
                outbound.method.upper(),
                self._url(outbound.path, outbound.query),
                headers=self._headers(outbound),
                content=outbound.body,
                extensions={"timeout": self._limits},
            )
        except (httpx2.InvalidURL, ValueError, TypeError) as error:
            raise UpstreamError(f"{outbound.method} {outbound.path!r} cannot be sent: {error}") from error
        sent = self._outages.begin() if self._outages is not None else 0.0
        try:
            response = await self._pool.handle_async_request(request)
        except _FAILURES as error:
            explained = self._explain(error)
            clients = isinstance(error, (httpcore2.LocalProtocolError, httpx2.LocalProtocolError))
            if self._outages is not None and not clients:
                self._outages.failed(explained)
            raise explained from error
        if self._outages is not None:
            self._outages.answered(sent)
        reply = _HttpReply(self, response)
        if reply.undecodable and outbound.method.upper() != "HEAD" and reply.status not in (204, 304):
            await reply.close()
            said = f"{self._name} answers in {reply.undecodable!r}, though it was asked for no encoding"
            raise UpstreamError(f"{said}: have it, or the proxy in front of it, honour accept-encoding: identity")
        return reply

    async def connect(self, outbound: Outbound, terms: WebSocketTerms) -> WebSocket:
        """Open a WebSocket. Raises UpgradeRefused, UpstreamTimeout and UpstreamError."""
        try:
            url = self._url(outbound.path, outbound.query)
            headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in self._headers(outbound)]
        except (httpx2.InvalidURL, ValueError, TypeError) as error:
            raise UpstreamError(f"{outbound.path!r} cannot be opened: {error}") from error
        address = self._origin.replace("http", "ws", 1) + url.target.decode("ascii")
        seconds = self._limits["connect"]
        return await open_web_socket(
            address, headers, terms, timeout=seconds, proxy=self._proxy, unix_socket=self._socket
        )

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.aclose()

    def _parse(self, path: str, query: str) -> httpcore2.URL:
        if (fault := request_path.fault(path)) is not None:
            raise ValueError(fault)
        if self._replaces_v1 and (path == "/v1" or path.startswith("/v1/")):
            path = path[3:]
        url = httpx2.URL(f"{self._base}{path}?{query}" if query else self._base + path)
        return httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path)

    def _headers(self, outbound: Outbound) -> list[tuple[bytes, bytes]]:
        sent = end_to_end(((name.lower(), value) for name, value in outbound.headers), drop=_NOT_FORWARDED)
        shown = [name for name, _ in sent if name in _CREDENTIALS]
        key = self._api_key or (None if shown else self._fallback_key)
        if key:
            sent = [pair for pair in sent if pair[0] not in _CREDENTIALS]
            sent.append(self._credential(key, outbound.path, shown))
        if self._set:
            sent = [pair for pair in sent if pair[0] not in self._set] + list(self._set.items())
        # Bytes that are relayed, assembled and stored are read as they are: no compression to undo.
        sent.append(("accept-encoding", "identity"))
        if outbound.body or outbound.method.upper() in _WITH_BODY:
            sent.append(("content-length", str(len(outbound.body))))
        if "host" not in self._set:
            sent.insert(0, ("host", self._host))
        return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in sent]

    def _credential(self, key: str, path: str, shown: Sequence[str]) -> tuple[str, str]:
        """Where this service looks for a key: Anthropic's and Azure's APIs have headers of their own."""
        if self._azure or "api-key" in shown:
            return "api-key", key
        if path.startswith("/v1/messages") or "x-api-key" in shown:
            return "x-api-key", key
        return "authorization", f"Bearer {key}"

    def _explain(self, error: Exception) -> UpstreamError:
        detail = str(error) or type(error).__name__
        match error:
            case httpcore2.ConnectTimeout() | httpx2.ConnectTimeout():
                return UpstreamTimeout(f"{self._name} took more than {self._limits['connect']:g} s to connect")
            case httpcore2.PoolTimeout() | httpx2.PoolTimeout():
                return UpstreamTimeout(f"no connection to {self._name} became free in {self._limits['pool']:g} s")
            case httpcore2.TimeoutException() | httpx2.TimeoutException():
                return UpstreamTimeout(f"{self._name} was silent for more than {self._limits['read']:g} s")
            case TimeoutError():
                return UpstreamTimeout(
                    f"{self._name} was silent in the midst of a stream for more than {self._silence:g} s"
                )
            case httpcore2.ConnectError() | httpx2.ConnectError():
                remedy = next((one for sign, one in _TLS if sign in detail), "is it running, and the URL right?")
                return UpstreamError(f"cannot connect to {self._name}: {detail}; {remedy}")
            case httpcore2.LocalProtocolError() | httpx2.LocalProtocolError():
                # What it says quotes our own headers, and they hold keys.
                return UpstreamError(f"the request cannot be sent to {self._name} as it is: a header is not valid")
        return UpstreamError(f"{self._name} broke off: {detail}")


class _Transport:
    """A transport of httpx2 in the place of a connection pool."""

    def __init__(self, transport: httpx2.AsyncBaseTransport, origin: str) -> None:
        self._transport = transport
        self._origin = origin

    async def handle_async_request(self, request: httpcore2.Request) -> httpcore2.Response:
        body = cast("AsyncIterable[bytes]", request.stream)
        response = await self._transport.handle_async_request(
            httpx2.Request(
                request.method.decode(),
                self._origin + request.url.target.decode(),
                headers=request.headers,
                content=b"".join([piece async for piece in body]) or None,
                extensions=request.extensions,
            )
        )
        return httpcore2.Response(
            response.status_code, headers=response.headers.raw, content=cast("AsyncIterable[bytes]", response.stream)
        )

    async def aclose(self) -> None:
        await self._transport.aclose()


class _HttpReply:
    def __init__(self, backend: HttpBackend, response: httpcore2.Response) -> None:
        self._backend, self._response = backend, response
        self._closed = False
        # Beyond 599 there is nothing that HTTP has a name for, and servers cannot send it on.
        self.status = response.status if 100 <= response.status <= 599 else 502
        pairs = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in response.headers]
        self._encodings = encodings([value for name, value in pairs if name == "content-encoding"])
        self._streams = any(name == "content-type" and value.startswith(_EVENTS) for name, value in pairs)
        self.undecodable = ", ".join(undecodable(self._encodings)) if self._encodings else ""
        self.headers: Sequence[tuple[str, str]] = [*end_to_end(pairs), *self._length(pairs)]

    def _length(self, pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        """The length of the body, where it was told and is still so once the body is decoded."""
        told = [value.strip() for name, value in pairs if name == "content-length"]
        chunked = any(name == "transfer-encoding" for name, _ in pairs)
        if self._encodings or chunked or self.status in (204, 304) or len(told) != 1:
            return []
        return [("content-length", told[0])] if told[0].isascii() and told[0].isdigit() else []

    async def chunks(self) -> AsyncIterator[bytes]:
        body = cast("AsyncIterable[bytes]", self._response.stream)
        silence = self._backend._silence
        if silence is not None and self._streams:
            body = _unbroken(body, silence)
        try:
            async for chunk in decoded(body, self._encodings) if self._encodings else body:
                yield chunk
            await self.close()
        except (*_FAILURES, Damaged, TimeoutError) as error:
            raise self._backend._explain(error) from error

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            # Shielded: a caller that is being cancelled would otherwise leave its connection in the pool for ever.
            await asyncio.shield(self._response.aclose())


async def _unbroken(body: AsyncIterable[bytes], silence: float) -> AsyncIterator[bytes]:
    """Pass on a body, whose first piece has any time and every later one `silence` seconds. Raises TimeoutError."""
    pieces, limit = aiter(body), None
    while True:
        try:
            async with asyncio.timeout(limit):
                piece = await anext(pieces)
        except StopAsyncIteration:
            return
        yield piece
        limit = silence


def _trust() -> ssl.SSLContext:
    """The certificates that are trusted. Raises ConfigError for a file that the environment names in vain."""
    try:
        return httpx2.create_ssl_context()
    except OSError as error:
        named = {name: os.environ[name] for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if name in os.environ}
        raise ConfigError(f"the trusted certificates cannot be read: {named or error}: correct the path") from error


class _Located(NamedTuple):
    """The URL to append paths to, its origin for messages, and whether it stands for the leading /v1."""

    base: str
    origin: str
    replaces_v1: bool


def _located(base_url: str) -> _Located:
    try:
        url = httpx2.URL(base_url.strip())
    except httpx2.InvalidURL as error:
        raise ConfigError(f"upstream {base_url!r} is no URL: {error}") from error
    if url.scheme not in {"http", "https"} or not url.host:
        raise ConfigError(
            f"upstream {base_url!r} needs a scheme and a host, such as http://127.0.0.1:8000 or https://api.openai.com/v1"
        )
    if url.query or url.fragment:
        raise ConfigError(f"upstream {base_url!r} must end with its path: remove what follows `?` or `#`")
    if url.userinfo:
        raise ConfigError("upstream must not hold a user name or password: use upstream.api_key")
    called = next((name for name in _ENDPOINTS if url.path.rstrip("/").endswith(name)), None)
    if called is not None:
        raise ConfigError(
            f"upstream {base_url!r} is the address of one endpoint: leave {called} out, which the client's path adds"
        )
    host = f"[{url.host}]" if ":" in url.host else url.host
    origin = f"{url.scheme}://{host}" + (f":{url.port}" if url.port else "")
    path = url.path.rstrip("/")
    return _Located(origin + path, origin, replaces_v1=bool(path))
