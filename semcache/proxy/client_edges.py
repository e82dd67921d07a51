"""The edges of HTTP clients: other spellings of our paths, browsers (CORS), HEAD, requests without a host.

Knows paths and headers; nothing of what is answered. Invariant: whatever a client calls an endpoint by, the routes see
one name for it, and every reply, refusals included, can be read by a page of an allowed origin.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import TypeAlias
from urllib.parse import quote

from semcache.dialects import request_path
from semcache.dialects.answer import openai_error
from semcache.dialects.body import encode
from semcache.errors import RequestRejected
from semcache.proxy.asgi import HeaderList, Message, Receive, Scope, Send, respond
from semcache.proxy.intake import DEPLOYMENT
from semcache.proxy.relay import refusal_headers

App: TypeAlias = Callable[[Scope, Receive, Send], Awaitable[None]]

# What people call the API whose client adds no /v1, or one too many.
_ALIASES = {
    f"{prefix}/{name}": f"/v1/{name}"
    for prefix in ("", "/v1/v1", "/openai/v1", "/api/v1")
    for name in ("chat/completions", "completions", "embeddings", "responses", "messages", "models")
}
_PREFIXES = ("/v1/v1/", "/openai/v1/", "/api/v1/")
# A base URL that ends with a slash, and a client that adds another one.
_DOUBLED = re.compile(r"/{2,}")
_LEADING = re.compile(r"/+(?:(?:v1|openai|api)/+)+")
_DEPLOYMENT = re.compile(
    r"/openai/deployments/([^/]+)/(chat/completions|completions|embeddings|audio/[a-z]+|images/[a-z]+)/?"
)
# Azure's API of everything that is not of one deployment; under /openai/v1 it is OpenAI's own.
_AZURE = re.compile(r"/openai/(?!v1(?:/|\Z)|deployments/)")
_GEMINI = re.compile(r"/v1(?:beta|alpha)\w*/")
_READ_ONLY = ("/livez", "/readyz", "/healthz", "/metrics", "/openapi.json", "/docs")
_OURS = ("/semcache", *_READ_ONLY)
_EXPOSED = (
    "cache-status, age, x-request-id, request-id, retry-after, x-semcache-id, x-semcache-score, "
    "x-semcache-p-correct, x-semcache-category, x-semcache-run"
)
_KEY = b"sk-sc-"
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
        try:
            check_path(scope)
        except RequestRejected as error:
            body = openai_error(error.status, error.message, code=error.code)
            await respond(send, error.status, refusal_headers(error), body)
            return
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
        elif _is_foreign(path):
            await _refuse(send, 404, not_found(path))
            return
        await self._app(scope, receive, send)

    def _is_plain(self, scope: Scope, headers: Mapping[bytes, bytes]) -> bool:
        """Return True for what nearly every request is like: nothing here concerns it."""
        return (
            scope["path"] in self._cached
            and scope["method"] == "POST"
            and not scope["query_string"]
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


def _is_foreign(path: str) -> bool:
    return path.startswith("/api/") or _GEMINI.match(path) is not None


def check_path(scope: Scope) -> None:
    """Raise RequestRejected for a path under /v1 that no upstream is sent: 400, or 414 for one that is too long."""
    if not scope["path"].startswith("/v1/"):
        return
    raw = raw_path(scope)
    if len(raw) + len(scope["query_string"]) > request_path.LONGEST:
        said = f"the path and its query are longer than {request_path.LONGEST} characters"
        raise RequestRejected(414, said, code="path_too_long")
    if (fault := request_path.fault(raw)) is not None:
        raise RequestRejected(400, f"the path {raw[:200]!r} is not passed on: {fault}", code="bad_path")


def raw_path(scope: Scope) -> str:
    """Return the path of a request as it was sent, percent-encoded."""
    return scope["raw_path"].decode("latin-1") if scope.get("raw_path") else quote(scope["path"])


def renamed(scope: Scope, cached: Collection[str]) -> Scope:
    """Return the scope with the one name of its path, and with one of our keys where we look for it."""
    path: str = scope["path"]
    single = _DOUBLED.sub("/", path).rstrip("/")
    if single in cached or single in _ALIASES or single.startswith(_OURS):
        name = _ALIASES.get(single, single)
        raw = quote(name)
    else:
        name, raw = _unprefixed(path), _unprefixed(raw_path(scope))
        if _AZURE.match(name) and _AZURE.match(raw):
            name, raw = (f"/v1/{one.removeprefix('/openai/')}" for one in (name, raw))
            # Which version of Azure's API is meant says nothing to another service, and its newest takes none.
            query = [part for part in scope["query_string"].split(b"&") if not part.startswith(b"api-version=")]
            scope = {**scope, "query_string": b"&".join(query)}
    ours = [(header, value) for header, value in scope["headers"] if header == b"api-key" and value.startswith(_KEY)]
    if name == path and not ours:
        return scope
    changed = dict(scope)
    if name != path:
        changed |= {"path": name, "raw_path": raw.encode("latin-1")}
    if ours:
        left = [pair for pair in scope["headers"] if pair not in ours]
        changed["headers"] = [*left, (b"x-semcache-key", ours[0][1])]
    return changed


def _unprefixed(path: str) -> str:
    """Return a path that is passed on, or named without /v1, with one /v1 before it."""
    doubled = _LEADING.match(path)
    if doubled is not None:
        path = _DOUBLED.sub("/", doubled[0]) + path[doubled.end() :]
    return next(("/v1/" + path.removeprefix(prefix) for prefix in _PREFIXES if path.startswith(prefix)), path)


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


def not_found(path: str) -> bytes:
    """Return the error of a path that is not served, in the shape of the API that it belongs to."""
    if _GEMINI.match(path):
        said = f"Gemini's own API is not served here: {_HINT}"
        return encode({"error": {"code": 404, "message": said, "status": "NOT_FOUND"}})
    if path.startswith("/api/"):
        return encode({"error": f"Ollama's own API is not served here: {_HINT}, which Ollama speaks as well"})
    return openai_error(404, f"there is nothing at {path[:200]}: {_HINT}", code="not_found")
