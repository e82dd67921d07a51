"""A WebSocket of a client on the wire, within limits: the pace of its messages, and whether its replies are taken.

Extends uvicorn's connection, and knows nothing of who connects. Invariant: whoever sends a message slower than the
limits, or takes nothing for that long, is cut off; messages that are not whole never take more than the process may
hold.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast
from weakref import WeakKeyDictionary

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState

if TYPE_CHECKING:
    from semcache.proxy.connection_limits import ConnectionLimits

_FRAGMENT = 48  # bytes that a fragment takes beside what is in it
_unread: WeakKeyDictionary[ServerState, int] = WeakKeyDictionary()  # bytes of messages that are not whole, in all


class WebSocketConnection(WebSocketsSansIOProtocol):
    """One WebSocket."""

    def __init__(self, *, limits: ConnectionLimits, server_state: ServerState, **given: Any) -> None:
        super().__init__(server_state=server_state, **given)
        self.limits, self._state = limits, server_state
        # Addresses hold what clients put there, and openings are on record elsewhere.
        self.logger = logging.getLogger(__name__)
        self.logger.setLevel(logging.WARNING)
        self._pending = 0  # bytes of a message that is not whole
        self._counted, self._fragments, self._held = self.frames, 0, 0
        self._since = self.loop.time()
        self._unsent, self._unsent_since = 0, 0.0

    def data_received(self, data: bytes) -> None:
        """Read what the client sends, as far as the process may hold it."""
        begun = self._pending > 0
        super().data_received(data)
        self._count(self._not_whole())
        if self._pending and not begun:
            self._since = self.loop.time()
        if self._pending > self.limits.body + self.limits.head:
            self._refuse(1009, "the message is too long")
        elif self._pending and _unread[self._state] > self.limits.unread:
            self._refuse(1013, "too many messages are on their way")

    def connection_lost(self, exc: Exception | None) -> None:
        """End, and hold nothing any more."""
        self._count(0)
        super().connection_lost(exc)

    async def send(self, message: Any) -> None:
        """Send what the application says."""
        await super().send(message)
        if message["type"] == "websocket.http.response.body" and self.close_sent:
            # Else a refusal is taken for a fault of the application.
            self.handshake_complete = True

    def keepalive_timeout(self) -> None:
        """Cut off a client that gave no sign of life; one that is not read from may have given it."""
        if self.read_paused:
            self.pong_timer = self.pending_ping_payload = None
            self.schedule_ping()
            return
        super().keepalive_timeout()

    def overdue(self, now: float) -> bool:
        """Return True if this connection is to be cut off."""
        waiting = self.transport.get_write_buffer_size()
        if not waiting or waiting < self._unsent or not self._unsent:
            self._unsent, self._unsent_since = waiting, now
        elif now - self._unsent_since > self.limits.reply_seconds:
            return True
        if not self._pending or self.read_paused:
            self._since = now
            return False
        return now - self._since > self.limits.body_seconds + self._pending / self.limits.pace

    def _not_whole(self) -> int:
        if self.frames is not self._counted:
            self._counted, self._fragments, self._held = self.frames, 0, 0
        self._held += sum(len(frame) + _FRAGMENT for frame in self.frames[self._fragments :])
        self._fragments = len(self.frames)
        return self._held + len(cast("Any", self.conn).reader.buffer)

    def _count(self, pending: int) -> None:
        _unread[self._state] = _unread.get(self._state, 0) + pending - self._pending
        self._pending = pending

    def _refuse(self, code: int, reason: str) -> None:
        if self.close_sent or self.transport.is_closing():
            return
        self.conn.fail(code, reason)
        self.handle_parser_exception()
