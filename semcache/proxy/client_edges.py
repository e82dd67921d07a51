"""The edges of HTTP clients: other spellings of our paths, browsers (CORS), HEAD, requests without a host.

Knows paths and headers; nothing of what is answered. Invariant: whatever a client calls an endpoint by, the routes see
one name for it, and every reply, refusals included, can be read by a page of an allowed origin.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TypeAlias

from semcache.dialects.answer import openai_error
from semcache.dialects.body import encode
from semcache.proxy.asgi import HeaderList, Message, Receive, Scope, Send, respond
from semcache.proxy.intake import DEPLOYMENT

App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

# What people call the API whose client adds no /v1, or one too many.
_ALIASES = {
    f"{prefix}/{name}": f"/v1/{name}"
    for prefix in ("", "/v1/v1", "/openai/v1", "/api/v1")
    for name in ("chat/completions", "completions", "embeddings", "responses", "messages", "models")
}
_PREFIXES = ("/v1/v1/", "/openai/v1/", "/api/v1/")
_DEPLOYMENT = re.compile(r"/openai/deployments/([^/]+)/(chat/completions|completions|embeddings)/?")
_GEMINI = re.compile(r"/v1(?:beta|alpha)\w*/")
_READ_ONLY = ("/livez", "/readyz", "/healthz", "/metrics", "/openapi.json", "/docs")
_ANSWERED = ("/v1/", "/semcache", *_READ_ONLY)
_EXPOSED = (
    "cache-status, age, x-request-id, request-id, retry-after, x-semcache-id, x-semcache-score, "
    "x-semcache-p-correct, x-semcache-category, x-semcache-run"
)
_KEY = b"sk-sc-"
_NOT_FOUND = b'{"detail":"Not Found"}'
_HINT = (
    "this is a semcache server, which speaks the API of OpenAI and Anthropic under /v1: base_url is http://HOST:PORT/v1"
)


class ClientEdges:
    """Stands before the routes. `origins` may use the API from a browser, "*" for all; `cached` paths are POSTed to."""

    def __init__(self, app: App, *, origins: Collection[str] = (), cached: Collection[str] = ()) -> None:
        self._app = app
        self._origins = frozenset(origin.rstrip("/") for origin in origins)
        self._cached = frozenset(cached)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        headers = dict(scope["headers"])
        if self._is_plain(scope, headers):
            await self._app(scope, receive, send)
            return
        if scope.get("http_version") == "1.1" and b"host" not in headers:
            await _refuse(send, 400, openai_error(400, "an HTTP/1.1 request needs a Host header", code="no_host"))
            return
        scope = renamed(scope, self._cached)
        path: str = scope["path"]
        origin = headers.get(b"origin")
        if origin is not None and self._origins and path.startswith("/v1/"):
            allowed = self._allowed(origin.decode("latin-1"))
            if scope["method"] == "OPTIONS" and b"access-control-request-method" in headers:
                await _answer_preflight(send, allowed, headers)
                return
            send = _with_cors(send, allowed)
        if scope["method"] == "HEAD" and path.startswith(_READ_ONLY):
            scope = {**scope, "method": "GET"}
        if (deployment := _DEPLOYMENT.fullmatch(path)) is not None:
            scope = _deployed(scope, *deployment.groups())
        elif not path.startswith(_ANSWERED):
            if _is_foreign(path):
                await _refuse(send, 404, _unknown(path))
                return
            send = _Hinting(send, path).send
        await self._app(scope, receive, send)

    def _is_plain(self, scope: Scope, headers: Mapping[bytes, bytes]) -> bool:
        """Return True for what nearly every request is like: nothing here concerns it."""
        return (
            scope["path"] in self._cached
            and scope["method"] == "POST"
            and scope.get("http_version") == "1.1"
            and b"host" in headers
            and b"origin" not in headers
            and b"api-key" not in headers
        )

    def _allowed(self, origin: str) -> str | None:
        """Return what is told the browser of who may read the reply, None for nobody."""
        if "*" in self._origins:
            return "*"
        return origin if origin.rstrip("/") in self._origins else None


class _Hinting:
    """Says what is served where a framework only says that something is not."""

    def __init__(self, send: Send, path: str) -> None:
        self._send, self._path = send, path
        self._start: Message | None = None

    async def send(self, message: Message) -> None:
        """Pass a message on; the plain refusal of an unknown path is put in other words."""
        if message["type"] == "http.response.start" and message["status"] == 404:
            self._start = message
            return
        start, self._start = self._start, None
        if start is not None and message.get("body") == _NOT_FOUND:
            await _refuse(self._send, 404, _unknown(self._path))
            return
        if start is not None:
            await self._send(start)
        await self._send(message)


def _is_foreign(path: str) -> bool:
    return path.startswith("/api/") or _GEMINI.match(path) is not None


def renamed(scope: Scope, cached: Collection[str]) -> Scope:
    """Return the scope with the one name of its path, and with one of our keys where we look for it."""
    path: str = scope["path"]
    name = path.rstrip("/") if path.rstrip("/") in cached or path.rstrip("/") in _ALIASES else path
    name = _ALIASES.get(name, name)
    if name == path:
        name = next(("/v1/" + path.removeprefix(prefix) for prefix in _PREFIXES if path.startswith(prefix)), path)
    ours = [(header, value) for header, value in scope["headers"] if header == b"api-key" and value.startswith(_KEY)]
    if name == path and not ours:
        return scope
    changed = dict(scope)
    if name != path:
        changed |= {"path": name, "raw_path": name.encode()}
    if ours:
        left = [pair for pair in scope["headers"] if pair not in ours]
        changed["headers"] = [*left, (b"x-semcache-key", ours[0][1])]
    return changed


def _deployed(scope: Scope, model: str, name: str) -> Scope:
    """Return the scope of a request to an Azure deployment: the intake writes the model's name into its body."""
    path = f"/v1/{name}"
    return {**scope, "path": path, "raw_path": path.encode(), "query_string": b"", DEPLOYMENT: model}


async def _answer_preflight(send: Send, allowed: str | None, headers: dict[bytes, bytes]) -> None:
    found: HeaderList = [(b"vary", b"origin, access-control-request-headers")]
    if allowed is not None:
        asked = headers.get(b"access-control-request-headers", b"")
        found += [
            (b"access-control-allow-origin", allowed.encode("latin-1")),
            (b"access-control-allow-methods", b"GET, POST, PUT, PATCH, DELETE, OPTIONS"),
            (b"access-control-max-age", b"600"),
        ]
        found += [(b"access-control-allow-headers", asked)] if asked else []
    await send({"type": "http.response.start", "status": 204 if allowed is not None else 403, "headers": found})
    await send({"type": "http.response.body", "body": b""})


def _with_cors(send: Send, allowed: str | None) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            left = [pair for pair in message["headers"] if not pair[0].lower().startswith(b"access-control-")]
            left.append((b"vary", b"origin"))
            if allowed is not None:
                left.append((b"access-control-allow-origin", allowed.encode("latin-1")))
                left.append((b"access-control-expose-headers", _EXPOSED.encode()))
            message = {**message, "headers": left}
        await send(message)

    return sending


async def _refuse(send: Send, status: int, body: bytes) -> None:
    await respond(send, status, [(b"content-type", b"application/json")], body)


def _unknown(path: str) -> bytes:
    """The error of a path that is not served, in the shape of the API that it belongs to."""
    if _GEMINI.match(path):
        said = f"Gemini's own API is not served here: {_HINT}"
        return encode({"error": {"code": 404, "message": said, "status": "NOT_FOUND"}})
    if path.startswith("/api/"):
        return encode({"error": f"Ollama's own API is not served here: {_HINT}, which Ollama speaks as well"})
    return openai_error(404, f"there is nothing at {path[:200]}: {_HINT}", code="not_found")
