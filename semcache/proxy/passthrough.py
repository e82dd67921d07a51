"""Passthrough of everything under `/v1` that is not cached, in both directions as it is.

Knows of dialects only how they refuse. Invariant: bytes are not looked at, and of a reply no more than one chunk is
held in memory; an answer that was deleted upstream is not replayed after the reply that says so.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from semcache.cache.kept_answers import deleted_tag
from semcache.dialects import messages
from semcache.dialects.answer import openai_error
from semcache.dialects.headers import cache_status, strip_request_headers
from semcache.errors import RequestRejected, UpstreamError, UpstreamTimeout
from semcache.protocols import Backend, Outbound
from semcache.proxy.asgi import (
    BrokenOff,
    ClientGone,
    Disconnected,
    HeaderList,
    Receive,
    Scope,
    Send,
    respond,
    until_disconnect,
)
from semcache.proxy.auth import Caller, forwardable_headers
from semcache.proxy.client_edges import raw_path
from semcache.proxy.intake import Intake
from semcache.proxy.key_limits import KeyLimiter
from semcache.proxy.relay import refusal_headers, reply_headers
from semcache.proxy.shared_account import SharedAccount

_ASKING = frozenset({"POST", "PUT", "PATCH"})  # the others look at what there is, and cost nothing
_OK, _REDIRECTED = 200, 300


class Passthrough:
    """The endpoints that are not cached. `forget` deletes the entries of a tenant that have a tag, and never fails."""

    def __init__(
        self,
        backend: Backend,
        intake: Intake,
        limiter: KeyLimiter,
        account: SharedAccount,
        forget: Callable[[str, str], Awaitable[None]],
    ) -> None:
        self._backend, self._account, self._forget = backend, account, forget
        self._intake, self._limiter = intake, limiter

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Relay one request."""
        try:
            caller = self._intake.caller(scope)
            _refuse_upgrade(scope)
            self._account.check(scope, caller)
        except RequestRejected as error:
            await _reject(scope, send, error)
            return
        hold = self._intake.hold(caller.tenant)
        try:
            if scope["method"] in _ASKING:
                self._limiter.admit(caller)
                self._limiter.admit_miss(caller)
            body = await self._intake.body(scope, receive, hold)
            await self._pass(scope, receive, send, caller, body)
        except ClientGone:
            return
        except RequestRejected as error:
            await _reject(scope, send, error)
        finally:
            hold.release()

    async def _pass(self, scope: Scope, receive: Receive, send: Send, caller: Caller, body: bytes) -> None:
        query = scope["query_string"].decode("latin-1")
        headers = strip_request_headers(forwardable_headers(scope["headers"], caller))
        try:
            async with until_disconnect(receive):
                outbound = Outbound(scope["method"], raw_path(scope), headers, body, query, caller.tenant)
                await self._relay(scope, outbound, send)
        except Disconnected:
            return

    async def _relay(self, scope: Scope, outbound: Outbound, send: Send) -> None:
        try:
            reply = await self._backend.send(outbound)
        except UpstreamError as error:
            status = 504 if isinstance(error, UpstreamTimeout) else 502
            refusal = RequestRejected(status, str(error), code="upstream_unavailable")
            await _reject(scope, send, refusal, [_bypass(_OK)])
            return
        try:
            tag = deleted_tag(outbound.method, outbound.path)
            if tag is not None and _OK <= reply.status < _REDIRECTED:
                await self._forget(outbound.tenant, tag)
            headers = [*reply_headers(reply.headers, sized=True), _bypass(reply.status)]
            await send({"type": "http.response.start", "status": reply.status, "headers": headers})
            async for chunk in reply.chunks():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})
        except UpstreamError as error:
            raise BrokenOff(str(error)) from error
        finally:
            await reply.close()


def _bypass(status: int) -> tuple[bytes, bytes]:
    told = None if status == _OK else status
    said = cache_status(hit=False, ttl=None, fwd="bypass", fwd_status=told, stored=False, collapsed=False, detail=None)
    return b"cache-status", said.encode()


def _refuse_upgrade(scope: Scope) -> None:
    """Raise RequestRejected(400) for half of a WebSocket's opening, whose answer would be none."""
    for name, value in scope["headers"]:
        if name == b"upgrade" and value.strip().lower() == b"websocket":
            said = "'Upgrade: websocket' came without 'Connection: upgrade': a proxy in front of this one drops it"
            raise RequestRejected(400, said, code="websocket_incomplete")


async def _reject(scope: Scope, send: Send, error: RequestRejected, headers: HeaderList | None = None) -> None:
    """Send a refusal in the dialect of the vendor whose API the path belongs to."""
    write = messages.DIALECT.error if scope["path"].startswith(messages.DIALECT.path) else openai_error
    body = write(error.status, error.message, code=error.code, param=error.param)
    await respond(send, error.status, refusal_headers(error, headers or []), body)
