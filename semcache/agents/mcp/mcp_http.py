"""The relay over HTTP: sessions of MCP's streamable HTTP transport, each with a connection to the server of its own.

Knows ASGI and the transport of the package `mcp`. The credentials of a client are handed to a server by URL, and are
part of what tells its results apart. Invariant: a session is used with the credentials that opened it alone, and ends
when its client ends it, when nothing was asked for half an hour, or with the process.
"""

from __future__ import annotations

import logging
import uuid
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

from semcache.agents.mcp.call_relay import SessionIdentity
from semcache.agents.mcp.mcp_server import McpServer
from semcache.agents.mcp.mcp_sessions import relayed
from semcache.agents.tools.shared_results import SharedToolResults

_log = logging.getLogger(__name__)
PATH = "/mcp"
_IDLE = 1800.0
_MOST = 1000  # sessions at once
_CREDENTIALS = frozenset(["authorization", "cookie", "x-api-key", "api-key", "x-auth-token"])
_Message: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[_Message]]
_Send: TypeAlias = Callable[[_Message], Awaitable[None]]


class McpHttp:
    """The ASGI application of one relay."""

    def __init__(self, server: McpServer, results: SharedToolResults, tenant: str) -> None:
        self._server, self._results, self._tenant = server, results, tenant
        self._sessions: dict[str, tuple[Any, str]] = {}
        self._group: Any = None

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        """ASGI."""
        if scope["type"] == "lifespan":
            await self._lifespan(receive, send)
        elif scope["type"] == "http":
            await self._http(scope, receive, send)

    async def _lifespan(self, receive: _Receive, send: _Send) -> None:
        import anyio

        await receive()
        async with anyio.create_task_group() as self._group:
            await send({"type": "lifespan.startup.complete"})
            await receive()
            self._group.cancel_scope.cancel()
        await send({"type": "lifespan.shutdown.complete"})

    async def _http(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        if scope["path"].rstrip("/") != PATH:
            await _refuse(send, 404, f"there is no {scope['path']} here; MCP is at {PATH}")
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        own = tuple(sorted((name, value) for name, value in headers.items() if name in _CREDENTIALS))
        user, named = self._server.user(*own), headers.get("mcp-session-id")
        if named is None:
            if scope["method"] != "POST":
                # An image of a web page names neither page nor session.
                await _refuse(send, 400, "a session begins with a POST of `initialize`")
                return
            if len(self._sessions) >= _MOST:
                await _refuse(send, 503, f"{_MOST} sessions are open: end some of them")
                return
            await self._opened(own, user, scope, receive, send)
            return
        transport, owner = self._sessions.get(named, (None, ""))
        if transport is None or owner != user:
            await _refuse(send, 404, "there is no such session: begin a new one")
            return
        await transport.handle_request(scope, receive, send)
        if transport.is_terminated:
            self._sessions.pop(named, None)

    async def _opened(
        self, own: tuple[tuple[str, str], ...], user: str, scope: _Message, receive: _Receive, send: _Send
    ) -> None:
        """Open a session, and let it answer the request that opens it; one that is refused leaves nothing."""
        from mcp.server.streamable_http import StreamableHTTPServerTransport

        number = uuid.uuid4().hex
        transport = StreamableHTTPServerTransport(mcp_session_id=number, idle_timeout=_IDLE)
        status = [0]

        async def watched(message: _Message) -> None:
            if message["type"] == "http.response.start":
                status[0] = message["status"]
            await send(message)

        self._sessions[number] = transport, user
        try:
            await self._group.start(self._serve, number, transport, own, user)
            await transport.handle_request(scope, receive, watched)
        except Exception:
            _log.warning("a session could not be opened", exc_info=True)
            if not status[0]:
                await _refuse(send, 502, "the MCP server could not be reached")
        finally:
            if not 0 < status[0] < 400:
                await self._end(number, transport)

    async def _serve(
        self, number: str, transport: Any, own: tuple[tuple[str, str], ...], user: str, *, task_status: Any
    ) -> None:
        forwarded = own if self._server.url else ()
        try:
            async with self._server.opened(*forwarded) as behind, transport.connect() as before:
                task_status.started()
                with transport.idle_scope:
                    await relayed(before, behind, self._results, SessionIdentity(self._tenant, user))
        except Exception:
            _log.warning("a session of MCP has failed", exc_info=True)
        finally:
            await self._end(number, transport)

    async def _end(self, number: str, transport: Any) -> None:
        import anyio

        self._sessions.pop(number, None)
        if not transport.is_terminated:
            with anyio.CancelScope(shield=True):
                await transport.terminate()


async def _refuse(send: _Send, status: int, said: str) -> None:
    import msgspec

    body = msgspec.json.encode({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": said}})
    head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})
