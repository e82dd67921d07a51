"""The limits of a client's connection: how much it may send at once, how slowly, and how long it may not read.

Invariant: every limit has a default that no SDK meets.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Limits of one connection: bytes of a head, its fields, and seconds.

    `head_seconds` is for a whole head. A body has `body_seconds`, and one more for every `pace` bytes; `reply_seconds`
    is how long a client may take nothing of a reply that waits for it. `connections` is how many there may be at once,
    `unread` the bytes of their WebSockets' messages that are not whole.
    """

    head: int = 64 << 10
    fields: int = 200
    head_seconds: float = 20.0
    body_seconds: float = 30.0
    pace: int = 16 << 10
    reply_seconds: float = 60.0
    body: int = 20 << 20
    connections: int | None = None
    unread: int = 256 << 20
