"""Headers relayed between client and backend, and the parts of a request that may change its answer.

Pure. Invariant: a reply never repeats the headers of the server in front of it, nor carries those that only this cache
may set.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from semcache.dialects import sse
from semcache.dialects.headers import cache_status, strip_reply_headers
from semcache.dialects.vary_headers import beside_body
from semcache.errors import RateLimited, RequestRejected
from semcache.protocols import Dialect, Reply
from semcache.proxy.asgi import HeaderList, Scope, encode_headers
from semcache.types import Endpoint, Request

# The server that speaks to the client dates and names its replies itself.
_SERVERS_OWN = frozenset({"date", "server"})
# Cookies, accounts and what is left of their limits belong to the one client whose call it was.
_NOT_SHARED = frozenset(
    {"set-cookie", "set-cookie2", "openai-organization", "openai-project", "anthropic-organization-id"}
)
_NOT_SHARED_KINDS = ("x-ratelimit-", "anthropic-ratelimit-", "ratelimit-", "x-ms-ratelimit-")
LENGTH = "content-length"
BROKE_OFF = "upstream_broke_off"
_STOPPING = "the server is stopping and could wait no longer for the rest of this answer: ask again"
_PATIENCE = 60.0  # seconds; no SDK waits longer before it tries again
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def reply_headers(headers: Sequence[tuple[str, str]], *, shared: bool = False, sized: bool = False) -> HeaderList:
    """Return the backend's headers that go to a client; `shared` when another client's call brought them.

    `sized`: with the length of the body, where the backend told it and the body goes on as it came.
    """
    left = [(name, value) for name, value in strip_reply_headers(headers) if name.lower() not in _SERVERS_OWN]
    if shared:
        left = [(name, value) for name, value in left if not _is_of_one_client(name.lower())]
    return encode_headers([*left, *(pair for pair in headers if sized and pair[0].lower() == LENGTH)])


def _is_of_one_client(name: str) -> bool:
    return name in _NOT_SHARED or name == "ratelimit" or name.startswith(_NOT_SHARED_KINDS)


def id_of(headers: Sequence[tuple[str, str]]) -> str:
    """Return the id that a backend gave a request, "" for none."""
    return next((value for name, value in headers if name.lower() in ("x-request-id", "request-id")), "")


def id_header(endpoint: Endpoint) -> bytes:
    """Return the header in which the SDKs of this dialect look for the id of a request."""
    return b"request-id" if endpoint is Endpoint.MESSAGES else b"x-request-id"


def refusal_headers(error: RequestRejected, headers: Sequence[tuple[bytes, bytes]] = ()) -> HeaderList:
    """Return the headers of a refusal of our own; `Cache-Status` is among them once."""
    head = [(b"content-type", b"application/json"), *headers]
    if all(name != b"cache-status" for name, _ in headers):
        status = cache_status(
            hit=False, ttl=None, fwd=None, fwd_status=None, stored=False, collapsed=False, detail=error.code
        )
        head.append((b"cache-status", status.encode()))
    if isinstance(error, RateLimited):
        head.append((b"retry-after", str(math.ceil(error.after)).encode()))
    if error.code == "not_cached" or (isinstance(error, RateLimited) and error.after > _PATIENCE):
        # SDKs would try again within seconds.
        head.append((b"x-should-retry", b"false"))
    return head


def identity_of(identity: Mapping[str, Any], scope: Scope) -> Mapping[str, Any]:
    """Return the request's identity with the query string and the headers by which an upstream's answer may differ."""
    return beside_body(identity, query=scope["query_string"], headers=scope["headers"])


def is_kept_upstream(request: Request) -> bool:
    """Return True if the upstream keeps this answer under its id: a paraphrase must then get an id of its own."""
    return request.replay.get("store") is True


def without_stream(raw: bytes) -> bytes:
    """Return the request body with its stream turned off, every other byte of its values as it was."""
    fields = _fields(raw)
    # APIs refuse options of a stream that is not asked for.
    fields.pop("stream_options", None)
    if "stream" in fields:
        fields["stream"] = msgspec.Raw(b"false")
    return msgspec.json.encode(fields)


def broken_stream(dialect: Dialect, message: str) -> bytes:
    """Return the event that tells the client of a stream why it breaks off, as the SDKs of its dialect raise it."""
    return _last_event(dialect, 502, message, BROKE_OFF)


def stopped_stream(dialect: Dialect) -> bytes:
    """Return the event that tells the client of a stream that this server stops before its end."""
    return _last_event(dialect, 503, _STOPPING, "server_stopping")


def _last_event(dialect: Dialect, status: int, message: str, code: str) -> bytes:
    body = dialect.error(status, message, code=code)
    if dialect.endpoint is Endpoint.RESPONSES:
        told = {"type": "error", "code": code, "message": message, "param": None}
        body = msgspec.json.encode(told | msgspec.json.decode(body))
    return sse.event(body, "error" if dialect.endpoint in (Endpoint.RESPONSES, Endpoint.MESSAGES) else None)


def ends_an_event(end: bytes) -> bool:
    """Return True if another event may follow the last bytes of a stream, or if it has none yet."""
    return not end or end.endswith((b"\n\n", b"\r\n\r\n", b"\r\r"))


def is_stream(reply: Reply) -> bool:
    """Return True if a backend answers with events."""
    kind = next((value for name, value in reply.headers if name == "content-type"), "")
    return kind.partition(";")[0].strip().lower() == "text/event-stream"
