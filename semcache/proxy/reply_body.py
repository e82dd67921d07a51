"""Bodies of replies, read ahead as far as a decision needs, and within bounds.

Knows bytes only. Invariant: what was read ahead comes again, in order, before the rest.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Sequence

from semcache.protocols import Reply

_BOM = b"\xef\xbb\xbf"
_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
_PIECE = 8 << 10  # bytes
LONGEST = 64 << 20  # bytes of an answer that are read before any of it is sent on; none so long is kept


class ReplyAhead:
    """A reply whose body is read ahead."""

    def __init__(self, reply: Reply) -> None:
        self.status: int = reply.status
        self.headers: Sequence[tuple[str, str]] = reply.headers
        self._reply = reply
        self._chunks = reply.chunks()
        self._ahead: deque[bytes] = deque()

    async def read(self, most: int) -> bytes | None:
        """Read the whole body; None where it is longer than so many bytes, beyond which nothing more is read."""
        size = sum(map(len, self._ahead))
        while size <= most:
            chunk = await anext(self._chunks, None)
            if chunk is None:
                return b"".join(self._ahead)
            self._ahead.append(chunk)
            size += len(chunk)
        return None

    async def begins_as_events(self) -> bool:
        """Read ahead until it is clear whether the body is a stream of events, whatever its headers say."""
        head = b""
        while (found := _are_events(head)) is None:
            chunk = await anext(self._chunks, None)
            if chunk is None:
                return False
            self._ahead.append(chunk)
            head += chunk
        return found

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body from its first byte. Raises UpstreamError when the backend breaks off."""
        while self._ahead:
            yield self._ahead.popleft()
        async for chunk in self._chunks:
            yield chunk

    async def close(self) -> None:
        """Give the connection back, whether or not the body was read to its end."""
        await self._reply.close()


async def pieces(reply: Reply) -> AsyncIterator[bytes]:
    """The body in pieces that are read in a millisecond."""
    async for chunk in reply.chunks():
        if len(chunk) <= _PIECE:
            yield chunk
            continue
        for start in range(0, len(chunk), _PIECE):
            yield chunk[start : start + _PIECE]


def _are_events(head: bytes) -> bool | None:
    """Return whether a body that begins like this is a stream of events, None if more of it has to be read."""
    text = head.removeprefix(_BOM).lstrip(b"\r\n")
    if any(text.startswith(field) for field in _FIELDS):
        return True
    if _BOM.startswith(head) or any(field.startswith(text) for field in _FIELDS):
        return None
    return False
