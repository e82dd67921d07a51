"""An HTTP connection of a client, within limits: the size of its head, the pace of its bytes, and who reads them.

Extends uvicorn's connection, and knows nothing of what is asked. Invariant: whoever sends a head or a body slower than
the limits, or takes nothing of a reply for that long, is cut off; a field after the body is no header; a client of
HTTP/1.0 gets no chunks; a request that offers another protocol than WebSocket is answered as if it did not; who is
answered while it still sends can read the answer; past the number of connections that the process can hold, a new one
is closed at once.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from contextlib import suppress
from functools import partial
from typing import Any, cast
from weakref import WeakKeyDictionary

from httptools import HttpRequestParser
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from semcache.proxy.connection_limits import ConnectionLimits

_SWEEP = 1.0  # seconds between two looks at all connections
_FRAMING = 2  # bytes of chunk sizes, and of trailers, that a byte of a body may cost
_TCP_INFO: int | None = getattr(socket, "TCP_INFO", None) if sys.platform == "linux" else None
_ACKNOWLEDGED = slice(120, 128)  # where `struct tcp_info` has the bytes that the other side has acknowledged
_AGAIN = 60.0  # seconds
_full: WeakKeyDictionary[ServerState, float] = WeakKeyDictionary()  # when it was last said that there are too many
_log = logging.getLogger(__name__)
_swept: WeakKeyDictionary[ServerState, asyncio.TimerHandle] = WeakKeyDictionary()


class HttpConnection(HttpToolsProtocol):
    """One connection. The limits are those of the application, which has them as `connection_limits`."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection up, or close it where there are too many."""
        self.limits = _limits(self.app)
        self._refusal: tuple[int, str] | None = None
        self._in_head, self._in_body = True, False
        self._begun = self._declined = self._lingers = False
        self._data = b""
        self._head = self._fields = self._body = self._framing = 0
        self._since = self.loop.time()
        self._progress, self._progress_at = -1, 0.0
        super().connection_made(transport)
        if self.limits.connections is not None and len(self.connections) > self.limits.connections:
            transport.abort()
            self._say_full(self.limits.connections)
        elif self.server_state not in _swept:
            _swept[self.server_state] = self.loop.call_later(_SWEEP, _sweep, self.server_state, self.loop)

    def _say_full(self, most: int) -> None:
        """Warn that connections are closed, once a minute: a client sees no more than that it has none."""
        last, now = _full.get(self.server_state), self.loop.time()
        if last is None or now - last >= _AGAIN:
            _full[self.server_state] = now
            _log.warning(
                "%d client connections are open, the most that this worker takes; further ones are closed at once: "
                "raise the limit of descriptors (LimitNOFILE, ulimit -n), server.max_connections or server.workers",
                most,
            )

    def data_received(self, data: bytes) -> None:
        """Read what the client sends, as far as it is within the limits."""
        if not self._in_head and not self._in_body:
            # Blank lines before a request begin none, and may not keep a connection open.
            self._in_head, self._since, self._head = True, self.loop.time(), 0
        self._begun = False
        self._data = data
        before = self._body
        super().data_received(data)
        if self.parser is None or self.transport.is_closing() or self not in self.connections:
            return
        if self._in_head:
            self._head += len(data)
            if self._head > self.limits.head:
                self._refuse(431, "The request head is too large.")
        elif self._in_body and not self._begun:
            self._framing += len(data) - (self._body - before)
            if self._framing > self.limits.head + _FRAMING * self._body:
                self._refuse(400, "The request body has too much around it.")
            elif self._body > self.limits.body and self.cycle is not None and self.cycle.response_complete:
                # It has been answered, and goes on.
                self.transport.close()

    def handle_websocket_upgrade(self) -> None:
        """Go on as a WebSocket."""
        from semcache.proxy.web_socket_connection import WebSocketConnection

        self.ws_protocol_class = cast("Any", partial(WebSocketConnection, limits=self.limits))
        super().handle_websocket_upgrade()

    def _should_upgrade(self) -> bool:
        return self._get_upgrade() == b"websocket"

    def _unsupported_upgrade_warning(self) -> None:
        """Read a request anew without its offer of another protocol: the parser takes its body for that protocol.

        Java's HTTP client offers HTTP/2 like this with the first request of every connection.
        """
        offer = sys.exc_info()[1]
        if not self._declined or offer is None:
            return
        self._declined = False
        version = self.parser.get_http_version().encode("ascii")
        head = [b"%s %s HTTP/%s\r\n" % (self.scope["method"].encode("ascii"), self.url, version)]
        head += [b"%s: %s\r\n" % pair for pair in self.headers if pair[0] != b"upgrade"]
        self.parser = HttpRequestParser(self)
        self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
        self.data_received(b"".join([*head, b"\r\n", self._data[offer.args[0] :]]))

    def on_message_begin(self) -> None:
        """Begin to read a head."""
        super().on_message_begin()
        self._in_head, self._in_body, self._begun = True, False, True
        self._since = self.loop.time()
        self._head = self._fields = self._body = self._framing = 0

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a field of the head; one after the body is dropped."""
        if self._in_body:
            return
        self._fields += len(name) + len(value) + 4
        if self._fields > self.limits.head or len(self.headers) >= self.limits.fields:
            self._refusal = 431, "The request head is too large."
            raise ValueError("the head is too large")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Begin the request, and to read its body."""
        if len(self.url) > self.limits.head:
            self._refusal = 414, "The request target is too long."
            raise ValueError("the target is too long")
        method = self.parser.get_method()
        if self.parser.should_upgrade() and method != b"CONNECT" and not self._should_upgrade():
            self._declined = True
            self.scope["method"] = method.decode("ascii")
            return
        super().on_headers_complete()
        if self.scope["http_version"] == "1.0" and self.cycle is not None and self.cycle.scope is self.scope:
            _end_with_connection(self.cycle)
        if self.cycle is not None and self.cycle.scope is self.scope and not self.cycle.keep_alive:
            self._linger_after(self.cycle)
        self._in_head, self._in_body = False, True
        self._since = self.loop.time()

    def on_body(self, body: bytes) -> None:
        """Take bytes of the body."""
        self._body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the body."""
        self._in_body = False
        if self._lingers:
            self.transport.close()
        elif not self._declined:
            super().on_message_complete()

    def on_response_complete(self) -> None:
        """End a reply; behind one that lingers nothing follows."""
        if self._lingers and self.transport.can_write_eof():
            self.transport.write_eof()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what could not be read, and close; behind a reply that has begun, or is to come first, only close."""
        status, said = self._refusal or (400, msg)
        cycle = self.cycle
        if cycle is not None and not cycle.response_complete and (cycle.response_started or self.pipeline):
            self.transport.close()
            return
        self.transport.write(
            b"%scontent-type: text/plain; charset=utf-8\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s"
            % (STATUS_LINE[status], len(said), said.encode("ascii"))
        )
        self.transport.close()

    def overdue(self, now: float) -> bool:
        """Return True if this connection is to be cut off."""
        limits = self.limits
        if self.transport.is_closing() and not self.transport.get_write_buffer_size():
            return False
        waiting = self.transport.get_write_buffer_size()
        taken = self._taken(waiting) if waiting else -1
        if taken < 0 or taken != self._progress:
            self._progress, self._progress_at = taken, now
        elif now - self._progress_at > limits.reply_seconds:
            return True
        if self._in_head:
            return now - self._since > limits.head_seconds
        if self._in_body:
            if self.flow.read_paused:
                # It is we who do not read.
                self._since = max(self._since, now - self._body / limits.pace)
                return False
            return now - self._since > limits.body_seconds + self._body / limits.pace
        return False

    def _taken(self, waiting: int) -> int:
        """A number that changes whenever the client has taken something of a reply."""
        # The kernel asks for more of a reply once a third of its megabytes is free: what waits here may not change
        # for minutes, though a client reads all the time.
        if _TCP_INFO is not None and (connected := self.transport.get_extra_info("socket")) is not None:
            with suppress(OSError):
                told: bytes = connected.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, _ACKNOWLEDGED.stop)
                if len(told) == _ACKNOWLEDGED.stop:
                    return int.from_bytes(told[_ACKNOWLEDGED], sys.byteorder)
        return waiting

    def _linger_after(self, cycle: RequestResponseCycle) -> None:
        """Read what is left of a body before the connection is closed behind its reply.

        Closed with bytes unread, it would be reset, and a client that still sends would lose the reply.
        """
        sending = cycle.send

        async def send(message: ASGISendEvent) -> None:
            if message["type"] == "http.response.body" and not message.get("more_body", False) and cycle.more_body:
                cycle.keep_alive = self._lingers = True
            await sending(message)

        cycle.send = send  # type: ignore[method-assign]

    def _refuse(self, status: int, said: str) -> None:
        self._refusal = status, said
        self.send_400_response(said)


def _end_with_connection(cycle: RequestResponseCycle) -> None:
    """Have a reply of unknown length end where the connection does: uvicorn would send chunks, which HTTP/1.0 lacks."""
    sending, unknown = cycle.send, False

    async def send(message: ASGISendEvent) -> None:
        nonlocal unknown
        if message["type"] == "http.response.start":
            unknown = all(name.lower() != b"content-length" for name, _ in message.get("headers", ()))
            if unknown:
                cycle.chunked_encoding = False
        elif message["type"] == "http.response.body" and unknown:
            cycle.expected_content_length = len(message.get("body", b""))
        await sending(message)

    cycle.send = send  # type: ignore[method-assign]


def _limits(app: Any) -> ConnectionLimits:
    """Return the limits of an application, whatever the server has put around it."""
    while app is not None:
        if (found := getattr(app, "connection_limits", None)) is not None:
            return cast("ConnectionLimits", found)
        app = getattr(app, "app", None)
    return ConnectionLimits()


def _sweep(state: ServerState, loop: asyncio.AbstractEventLoop) -> None:
    """Cut off every connection that is overdue, and look again while there are any."""
    now = loop.time()
    for one in list(state.connections):
        connection = cast("Any", one)
        overdue = getattr(connection, "overdue", None)
        if overdue is not None and overdue(now):
            connection.transport.abort()
    if state.connections:
        _swept[state] = loop.call_later(_SWEEP, _sweep, state, loop)
    else:
        _swept.pop(state, None)
