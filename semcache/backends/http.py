"""A backend behind HTTP: any service that speaks the OpenAI or Anthropic API.

Knows connections, time limits and where a credential goes; nothing of what a body says. It works on httpx2's transport
rather than its client, because a proxy must not follow redirects, keep cookies (they would cross tenants) or add
headers of its own.
Invariant: a reply holds its connection until `close`, and no longer.

Time limits are separate: to connect, to wait for a free connection, and between two pieces of a reply. A stream that
keeps sending has no limit in all.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

import httpx2

from semcache.backends.headers import HOP_BY_HOP, end_to_end
from semcache.errors import ConfigError, UpstreamError, UpstreamTimeout
from semcache.protocols import Outbound, Reply

_NOT_FORWARDED = HOP_BY_HOP | {"host", "content-length", "accept-encoding", "expect"}
_CREDENTIALS = ("authorization", "x-api-key", "api-key")
# Shorter than the 5 s after which uvicorn, vLLM and node close an idle connection: a request never races that close.
_KEEPALIVE_SECONDS = 4.0


class HttpBackend:
    """Send requests to the service at `base_url`.

    `base_url` is the scheme and host alone, to which the client's path is appended, or what the OpenAI SDK calls by
    that name, which stands for the path's leading `/v1`: `http://host:8000`, `http://host:8000/v1`,
    `https://openrouter.ai/api/v1`. `timeout` and `connect_timeout` are seconds.

    `api_key` replaces the client's credentials; without it they are passed on, and `fallback_key` fills in for a client
    that sends none. `headers` are set on every request. Raises ConfigError for a URL it cannot use.
    """

    def __init__(
        self,
        base_url: str,
        *,
        api_key: str | None = None,
        fallback_key: str | None = None,
        timeout: float = 600.0,
        connect_timeout: float = 10.0,
        max_connections: int = 1000,
        headers: Mapping[str, str] | None = None,
        proxy: str | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
    ) -> None:
        self._base, self._origin, self._replaces_v1 = _locate(base_url)
        self._api_key, self._fallback_key = (key.strip() or None if key else None for key in (api_key, fallback_key))
        self._azure = httpx2.URL(base_url).host.endswith(".azure.com")
        self._set = {name.lower(): value for name, value in (headers or {}).items()}
        self._limits = {"connect": connect_timeout, "read": timeout, "write": timeout, "pool": timeout}
        self._transport = transport or httpx2.AsyncHTTPTransport(
            limits=httpx2.Limits(
                max_connections=max_connections,
                max_keepalive_connections=max_connections,
                keepalive_expiry=_KEEPALIVE_SECONDS,
            ),
            proxy=proxy,
        )

    async def send(self, outbound: Outbound) -> Reply:
        """Return as soon as status and headers are there. Raises UpstreamError or UpstreamTimeout."""
        try:
            request = httpx2.Request(
                outbound.method,
                self._url(outbound),
                headers=self._headers(outbound),
                content=outbound.body or None,
                extensions={"timeout": self._limits},
            )
        except (httpx2.InvalidURL, ValueError) as error:
            raise UpstreamError(f"{outbound.method} {outbound.path!r} cannot be sent: {error}") from error
        try:
            response = await self._transport.handle_async_request(request)
        except httpx2.HTTPError as error:
            raise self._explain(error) from error
        response.request = request
        return _HttpReply(self, response)

    async def close(self) -> None:
        """Close every connection."""
        await self._transport.aclose()

    def _url(self, outbound: Outbound) -> str:
        path = outbound.path
        segments = path.lower().replace("%2e", ".").split("/")
        # The service would resolve them, and a client reach what lies beside the API, with the operator's key.
        if not path.startswith("/") or "." in segments or ".." in segments:
            raise ValueError("the path must start with a slash and have no . or .. segments")
        if self._replaces_v1 and (path == "/v1" or path.startswith("/v1/")):
            path = path[3:]
        return f"{self._base}{path}?{outbound.query}" if outbound.query else self._base + path

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
        return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in sent]

    def _credential(self, key: str, path: str, shown: Sequence[str]) -> tuple[str, str]:
        """Where this service looks for a key: Anthropic's and Azure's APIs have headers of their own."""
        if self._azure or "api-key" in shown:
            return "api-key", key
        if path.startswith("/v1/messages") or "x-api-key" in shown:
            return "x-api-key", key
        return "authorization", f"Bearer {key}"

    def _explain(self, error: httpx2.HTTPError) -> UpstreamError:
        detail = str(error) or type(error).__name__
        match error:
            case httpx2.ConnectTimeout():
                return UpstreamTimeout(f"{self._origin} took more than {self._limits['connect']:g} s to connect")
            case httpx2.PoolTimeout():
                return UpstreamTimeout(f"no connection to {self._origin} became free in {self._limits['pool']:g} s")
            case httpx2.TimeoutException():
                return UpstreamTimeout(f"{self._origin} was silent for more than {self._limits['read']:g} s")
            case httpx2.ConnectError():
                return UpstreamError(f"cannot connect to {self._origin}: {detail}; is it running, and the URL right?")
        return UpstreamError(f"{self._origin} broke off: {detail}")


class _HttpReply:
    def __init__(self, backend: HttpBackend, response: httpx2.Response) -> None:
        self._backend, self._response = backend, response
        self.status = response.status_code
        self.headers: Sequence[tuple[str, str]] = end_to_end(
            (name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in response.headers.raw
        )

    async def chunks(self) -> AsyncIterator[bytes]:
        try:
            async for chunk in self._response.aiter_bytes():
                yield chunk
        except httpx2.HTTPError as error:
            raise self._backend._explain(error) from error

    async def close(self) -> None:
        # Shielded: a caller that is being cancelled would otherwise leave its connection in the pool for ever.
        await asyncio.shield(self._response.aclose())


def _locate(base_url: str) -> tuple[str, str, bool]:
    """The URL to append paths to, its origin for messages, and whether it stands for the leading /v1."""
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
    host = f"[{url.host}]" if ":" in url.host else url.host
    origin = f"{url.scheme}://{host}" + (f":{url.port}" if url.port else "")
    path = url.path.rstrip("/")
    return origin + path, origin, bool(path)
