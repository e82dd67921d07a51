"""Reading of a streamed answer while it is relayed: where it ends, what it said and what it cost.

Knows no dialect beyond its Protocol. Invariant: an assembler is finished once, and a stream whose reading failed costs
what its events tell.
"""

from __future__ import annotations

from semcache.dialects.choices import asks_for_one
from semcache.protocols import Assembler
from semcache.proxy.reply_body import LONGEST
from semcache.proxy.stream_cost import EventCount, with_cost
from semcache.types import Assembled, Request

UNREADABLE = Assembled(b"", "", complete=False)


class StreamReading:
    """One stream. `answer` is what came of it, once it is finished."""

    def __init__(self, assembler: Assembler, request: Request) -> None:
        self.answer: Assembled | None = None
        self._assembler, self._request = assembler, request
        self._count, self._bytes = EventCount(), 0

    def feed(self, chunk: bytes) -> int | None:
        """Take bytes; return the offset in the stream at which its terminal event starts, once that has come."""
        self._count.feed(chunk)
        self._bytes += len(chunk)
        if self.answer is not None:
            return None
        if self._bytes > LONGEST:
            self.answer = self._charged(UNREADABLE)
            return None
        self._assembler.feed(chunk)
        return self._assembler.terminal

    @property
    def ended(self) -> bool:
        """True once the terminal event came."""
        return self._assembler.terminal is not None

    def finish(self, *, closed: bool = False) -> Assembled:
        """Return what has come, with the tokens that it is charged with. Raises whatever the assembler does.

        `closed`: the body ended of itself.
        """
        if self.answer is None:
            self.answer = self._charged(UNREADABLE)
            self.answer = self._charged(self._assembler.finish(closed=closed and asks_for_one(self._request)))
        return self.answer

    def _charged(self, answer: Assembled) -> Assembled:
        return with_cost(answer, self._request, self._count.events, ended=self.ended)
