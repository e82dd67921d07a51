"""Usage of streams: always asked for, and taken out of the stream for clients that did not ask.

Knows the events of OpenAI chat and text completions. Invariant: a client that did not ask for usage gets no event more
than without this cache, and no byte of any other event is changed but for an empty `usage`.
"""

from __future__ import annotations

import re

from semcache.dialects.answer import load
from semcache.types import Endpoint, Lookup

_ASKABLE = frozenset({Endpoint.CHAT, Endpoint.COMPLETIONS})
_BLANK = re.compile(rb"(?:\r?\n){2}|\r\r")
_LONGEST = 4  # bytes of a blank line and the end of the line before it
# Inside a string of JSON the quotes would be escaped.
_EMPTY = re.compile(rb',\s*"usage"\s*:\s*null')
_MOST = 1 << 20


def is_unasked(lookup: Lookup) -> bool:
    """Return True for a stream whose client did not ask for usage, which its endpoint could tell."""
    request = lookup.request
    return request.stream and request.endpoint in _ASKABLE and request.replay.get("include_usage") is not True


class UsageRemover:
    """Takes the usage out of a stream. Bytes come out as soon as an event is whole."""

    def __init__(self) -> None:
        self._held = bytearray()

    def feed(self, chunk: bytes) -> bytes:
        """Return what of the stream so far may be sent and was not."""
        # Only what is new is searched: an event of a megabyte comes in hundreds of pieces.
        searched = max(0, len(self._held) - _LONGEST + 1)
        self._held += chunk
        out = []
        start = 0
        for end in [blank.end() for blank in _BLANK.finditer(self._held, searched)]:
            out.append(_without(bytes(self._held[start:end])))
            start = end
        del self._held[:start]
        if len(self._held) > _MOST:
            out.append(self.close())
        return b"".join(out)

    def close(self) -> bytes:
        """Return the rest, which no blank line has ended."""
        rest = bytes(self._held)
        self._held.clear()
        return rest


def _without(event: bytes) -> bytes:
    if b'"usage"' not in event:
        return event
    data = b"".join(line[5:] for line in event.splitlines() if line.startswith(b"data:"))
    payload = load(data)
    if payload is not None and payload.get("choices") == [] and payload.get("usage") is not None:
        return b""
    return _EMPTY.sub(b"", event)
