"""WebSockets under `/v1`, such as those of `/v1/realtime`: tunnelled to the upstream, message by message.

Knows openings, closings and who may open; nothing of what a message says. Invariant: nothing is cached or learned; a
message is taken from one side once the other has taken the one before it; and where one side ends, for whatever
reason, so does the other, with the same code. A tunnel ends with the key that opened it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from urllib.parse import parse_qs, urlencode, urlsplit

from semcache.dialects.answer import openai_error
from semcache.dialects.headers import strip_request_headers
from semcache.errors import RequestRejected, UpgradeRefused, UpstreamError, UpstreamTimeout
from semcache.protocols import Backend, Outbound, WebSocket, WebSocketTerms
from semcache.proxy.asgi import HeaderList, Message, Receive, Scope, Send
from semcache.proxy.auth import Caller, forwardable_headers
from semcache.proxy.client_edges import check_path, raw_path, renamed
from semcache.proxy.intake import Intake
from semcache.proxy.key_limits import KeyLimiter
from semcache.proxy.relay import refusal_headers, reply_headers
from semcache.proxy.shared_account import SharedAccount
from semcache.types import Outcome, Recorded, Why
from semcache.types import Scope as CacheScope
from semcache.upstream.web_socket import connect

ENDPOINT = "realtime"
_BYPASS = (b"cache-status", b"semcache; fwd=bypass; detail=stateful")
_SHOWN_KEY = "openai-insecure-api-key."  # how pages of browsers, which can set no header, show a key
_KEY_EVERY = 1.0  # seconds between two looks at whether the key is still good
_AWAY, _POLICY, _LATER = 1001, 1008, 1013
_NO_CODE = frozenset([1005, 1006])
_GONE = 499
# The older path of Azure's realtime API, which names a deployment.
_AZURE = "/openai/realtime"


class WebSocketRoute:
    """Tunnels the WebSockets of one process. Pages of `origins` may open some from a browser, "*" for all."""

    def __init__(
        self,
        backend: Backend,
        intake: Intake,
        limiter: KeyLimiter,
        account: SharedAccount,
        note: Callable[[Recorded], object],
        *,
        clock: Callable[[], float],
        origins: Collection[str] = (),
    ) -> None:
        self._backend, self._intake, self._limiter = backend, intake, limiter
        self._account, self._note, self._clock = account, note, clock
        self._origins = frozenset(origin.rstrip("/") for origin in origins)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one WebSocket from its opening to its end."""
        await receive()
        started = time.perf_counter()
        scope = _with_shown_key(_renamed(scope))
        try:
            caller = self._admit(scope)
        except RequestRejected as error:
            await _refuse(scope, send, error)
            return
        outbound = _outbound(scope, caller)
        terms = WebSocketTerms(scope["subprotocols"], self._intake.max_body)
        try:
            upstream = await connect(self._backend, outbound, terms)
        except UpgradeRefused as error:
            self._record(scope, caller, error.status, started)
            await _deny(scope, send, error.status, [*reply_headers(error.headers), _BYPASS], error.body)
            return
        except UpstreamError as error:
            status = 504 if isinstance(error, UpstreamTimeout) else 502
            self._record(scope, caller, status, started)
            await _refuse(scope, send, RequestRejected(status, str(error), code="upstream_unavailable"), [_BYPASS])
            return
        code, reason = _AWAY, ""
        try:
            headers = [*reply_headers(upstream.headers), _BYPASS]
            await send({"type": "websocket.accept", "subprotocol": upstream.subprotocol, "headers": headers})
            self._record(scope, caller, 101, started)
            code, reason = await self._tunnel(scope, caller, upstream, receive, send)
        except OSError:
            # A client that has gone can be sent nothing.
            self._record(scope, caller, _GONE, started)
        finally:
            await asyncio.shield(upstream.close(code, reason))

    def _admit(self, scope: Scope) -> Caller:
        """Return who opens it. Raises RequestRejected."""
        if not scope["path"].startswith("/v1/"):
            raise RequestRejected(404, f"there is no WebSocket at {scope['path'][:200]}", code="not_found")
        check_path(scope)
        caller = self._intake.caller(scope)
        self._check_origin(scope)
        self._account.check(scope, caller)
        self._limiter.admit(caller)
        self._limiter.admit_miss(caller)
        return caller

    def _check_origin(self, scope: Scope) -> None:
        """Raise RequestRejected(403) for a page of elsewhere: browsers ask nobody before they open a WebSocket."""
        headers = dict(scope["headers"])
        origin = headers.get(b"origin", b"").decode("latin-1")
        if not origin or "*" in self._origins or origin.rstrip("/") in self._origins:
            return
        if urlsplit(origin).netloc.lower() == headers.get(b"host", b"").decode("latin-1").lower():
            return
        message = f"a page of {origin[:200]!r} may not open a WebSocket here: name it in server.cors_origins"
        raise RequestRejected(403, message, code="forbidden")

    async def _tunnel(
        self, scope: Scope, caller: Caller, upstream: WebSocket, receive: Receive, send: Send
    ) -> tuple[int, str]:
        """Pass messages on until one side ends; return with which code and reason to close the upstream."""
        upward = asyncio.create_task(self._upward(caller, upstream, receive), name="semcache-tunnel-up")
        downward = asyncio.create_task(_downward(upstream, send), name="semcache-tunnel-down")
        watch = asyncio.create_task(self._watch(scope), name="semcache-tunnel-key")
        tasks = (upward, downward, watch)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        if isinstance(ended[0], tuple):
            return ended[0]
        if isinstance(ended[2], RequestRejected):
            await _close(send, _POLICY, "the API key is no longer good")
            return _AWAY, ""
        if isinstance(ended[0], RequestRejected):
            await _close(send, _LATER, ended[0].code)
            return _AWAY, ""
        code, reason = upstream.closed
        if code is not None:
            await _close(send, code, reason)
        # Else the server cuts the connection, as the upstream did.
        return _AWAY, ""

    async def _upward(self, caller: Caller, upstream: WebSocket, receive: Receive) -> tuple[int, str] | None:
        """Pass on what the client sends; return how it closed, None where the upstream has ended."""
        hold = self._intake.hold(caller.tenant)
        try:
            while True:
                message = await receive()
                if message["type"] != "websocket.receive":
                    return _closing(message)
                text = message.get("text")
                await hold.grow(len(text if text is not None else message["bytes"]))
                if not await upstream.send(text if text is not None else message["bytes"]):
                    return None
                hold.release()
        finally:
            hold.release()

    async def _watch(self, scope: Scope) -> None:
        """Wait until its key is known no more. Raises RequestRejected then."""
        while True:
            await asyncio.sleep(_KEY_EVERY)
            self._intake.caller(scope)

    def _record(self, scope: Scope, caller: Caller, status: int, started: float) -> None:
        query = parse_qs(scope["query_string"].decode("latin-1"))
        self._note(
            Recorded(
                request_id="",
                at=self._clock(),
                endpoint=ENDPOINT,
                scope=CacheScope(caller.tenant),
                model=next(iter(query.get("model", ())), "")[:200],
                category="default",
                outcome=Outcome.BYPASS,
                why=Why.STATEFUL,
                status=status,
                stream=True,
                seconds=time.perf_counter() - started,
            )
        )


async def _downward(upstream: WebSocket, send: Send) -> None:
    """Pass on what the upstream sends, until it ends."""
    async for message in upstream.messages():
        kind = "text" if isinstance(message, str) else "bytes"
        try:
            await send({"type": "websocket.send", kind: message})
        except OSError:
            # The client has gone, of which the other direction hears.
            await asyncio.get_running_loop().create_future()


def _closing(message: Message) -> tuple[int, str]:
    code = message.get("code")
    if code is None or code in _NO_CODE:
        # It said why without a code, or went away without a word.
        return (1000 if "reason" in message else _AWAY), ""
    return code, message.get("reason") or ""


async def _close(send: Send, code: int, reason: str) -> None:
    with suppress(OSError):
        await send({"type": "websocket.close", "code": code, "reason": reason})


def _outbound(scope: Scope, caller: Caller) -> Outbound:
    headers = strip_request_headers(forwardable_headers(scope["headers"], caller))
    return Outbound("GET", raw_path(scope), headers, b"", scope["query_string"].decode("latin-1"), caller.tenant)


def _renamed(scope: Scope) -> Scope:
    """Return the scope with the one name of its path."""
    if scope["path"] == _AZURE:
        query = {name: values[-1] for name, values in parse_qs(scope["query_string"].decode("latin-1")).items()}
        query.pop("api-version", None)
        model = query.pop("deployment", None)
        query |= {"model": query.get("model", model)} if model is not None else {}
        scope = {
            **scope,
            "path": "/v1/realtime",
            "raw_path": b"/v1/realtime",
            "query_string": urlencode(query).encode(),
        }
    elif scope["path"] == "/realtime":
        scope = {**scope, "path": "/v1/realtime", "raw_path": b"/v1/realtime"}
    return {**renamed(scope, ()), "method": "GET"}


def _with_shown_key(scope: Scope) -> Scope:
    """Return the scope with a key that stands among the subprotocols where other clients show theirs."""
    offered: list[str] = scope.get("subprotocols") or []
    shown = next((one for one in offered if one.startswith(_SHOWN_KEY)), None)
    headers = scope["headers"]
    offered = [one for one in offered if not one.startswith(_SHOWN_KEY)]
    if shown is None or any(name == b"authorization" for name, _ in headers):
        return {**scope, "subprotocols": offered}
    key = (b"authorization", b"Bearer " + shown.removeprefix(_SHOWN_KEY).encode("latin-1", "replace"))
    return {**scope, "subprotocols": offered, "headers": [*headers, key]}


async def _refuse(scope: Scope, send: Send, error: RequestRejected, headers: HeaderList | None = None) -> None:
    body = openai_error(error.status, error.message, code=error.code, param=error.param)
    await _deny(scope, send, error.status, refusal_headers(error, headers or []), body)


async def _deny(scope: Scope, send: Send, status: int, headers: HeaderList, body: bytes) -> None:
    """Answer an opening with a status, where the server can, or else close."""
    with suppress(OSError):
        if "websocket.http.response" not in (scope.get("extensions") or {}):
            await send({"type": "websocket.close", "code": _POLICY, "reason": str(status)})
            return
        await send({"type": "websocket.http.response.start", "status": status, "headers": headers})
        await send({"type": "websocket.http.response.body", "body": body})
