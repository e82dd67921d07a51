"""WebSockets of an upstream: opening one with the terms of its connection, and the messages in both directions.

Works on `websockets`, which is imported when the first one is opened. Knows frames and close codes, nothing of what
a message says. Invariant: no redirect is followed, no environment's proxy used, and no more than a few messages of
bounded size are held; whoever does not read holds the other end up.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Any, cast

from semcache.errors import UpgradeRefused, UpstreamError, UpstreamTimeout
from semcache.protocols import Backend, Outbound, WebSocket, WebSocketBackend, WebSocketTerms

if TYPE_CHECKING:
    from websockets.asyncio.client import ClientConnection

_PING = 20.0  # seconds between two signs of life, which also keep the way through a network open
_CLOSING = 5.0
_WAITING = 2  # frames that have come and not been taken
_UNSPOKEN = frozenset([1005, 1006])  # no code was given, or no close frame seen
_LARGEST = 1 << 20  # bytes of the body of a refusal
_OWN = frozenset(
    b"sec-websocket-key sec-websocket-version sec-websocket-extensions sec-websocket-protocol sec-websocket-accept"
    b" content-length content-type upgrade connection host".decode().split()
)


async def connect(backend: Backend, outbound: Outbound, terms: WebSocketTerms) -> WebSocket:
    """Open a WebSocket through a backend. Raises UpstreamError, of which UpgradeRefused holds a status."""
    opening = getattr(backend, "connect", None)
    if opening is None:
        said = b'{"error":{"message":"this upstream has no WebSockets","type":"invalid_request_error","code":null}}'
        raise UpgradeRefused(501, [("content-type", "application/json")], said)
    return await cast("WebSocketBackend", backend).connect(outbound, terms)


async def open_web_socket(
    url: str,
    headers: Sequence[tuple[str, str]],
    terms: WebSocketTerms,
    *,
    timeout: float,
    proxy: str | None = None,
    unix_socket: str | None = None,
) -> WebSocket:
    """Open a WebSocket of a `ws:` or `wss:` URL; with `unix_socket`, at the path of one.

    Raises UpgradeRefused, UpstreamTimeout and UpstreamError.
    """
    from websockets.asyncio.client import connect as opening
    from websockets.exceptions import InvalidHandshake, InvalidStatus, InvalidURI

    class Direct(opening):
        """A connection that stays where it was sent."""

        def process_redirect(self, exc: Exception) -> Exception | str:
            return exc

    try:
        connection = await Direct(
            url,
            additional_headers=[(name, value) for name, value in headers if name.lower() not in _OWN],
            user_agent_header=None,
            subprotocols=cast("Any", list(terms.subprotocols)) or None,
            compression=None,
            **({"proxy": proxy} if unix_socket is None else {"unix": True, "path": unix_socket, "proxy": None}),
            open_timeout=timeout,
            ping_interval=_PING,
            # The answer to a ping lies behind what the client has not taken yet.
            ping_timeout=None,
            close_timeout=_CLOSING,
            max_size=terms.max_size,
            max_queue=_WAITING,
        )
    except InvalidStatus as error:
        reply = error.response
        pairs = [(name.lower(), value) for name, value in reply.headers.raw_items()]
        raise UpgradeRefused(reply.status_code, pairs, bytes(reply.body or b"")[:_LARGEST]) from error
    except TimeoutError as error:
        raise UpstreamTimeout(f"{_shown(url)} took more than {timeout:g} s to open a WebSocket") from error
    except (OSError, InvalidHandshake, InvalidURI, ValueError, EOFError) as error:
        raise UpstreamError(f"{_shown(url)} opens no WebSocket: {error or type(error).__name__}") from error
    return _Connected(connection)


class _Connected:
    """A WebSocket that is open."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self.subprotocol = connection.subprotocol
        reply = connection.response
        pairs = reply.headers.raw_items() if reply is not None else ()
        self.headers = [(name.lower(), value) for name, value in pairs if name.lower() not in _OWN]

    async def messages(self) -> AsyncIterator[str | bytes]:
        from websockets.exceptions import ConnectionClosed

        try:
            while True:
                yield await self._connection.recv()
        except ConnectionClosed:
            return

    async def send(self, message: str | bytes) -> bool:
        from websockets.exceptions import ConnectionClosed

        try:
            await self._connection.send(message)
        except ConnectionClosed:
            return False
        return True

    @property
    def closed(self) -> tuple[int | None, str]:
        protocol = self._connection.protocol
        # What came of the other end, or else why this end could not go on, such as a message past the limit.
        found = protocol.close_rcvd or protocol.close_sent
        if found is None:
            return None, ""
        return (1000 if found.code in _UNSPOKEN else found.code), found.reason

    async def close(self, code: int, reason: str) -> None:
        from websockets.exceptions import ProtocolError

        try:
            await self._connection.close(code, reason)
        except ProtocolError:
            await self._connection.close(1001)


def _shown(url: str) -> str:
    return url.partition("?")[0]
