"""Every error this package raises.

    SemcacheError
    ├ ConfigError            settings or policy pack: at start, with file, line and key
    ├ InvalidArgument        a caller of the library passed a value it must mend
    ├ CacheUnavailable       the cache cannot do its part: callers forward to the backend ("fail open")
    │  ├ StoreError          the database is locked, full, gone or newer than this program
    │  ├ IndexFault          a vector index failed or a snapshot is damaged
    │  ├ EmbedError          the embedder failed or returned something that is no unit vector
    │  ├ KeptLater           the store is slow: what it was given is kept, and nobody waits for it
    │  └ IntegrityError      an entry cannot be decrypted or is not what its key says
    ├ UpstreamError          the backend could not be reached, or broke off
    │  ├ UpstreamTimeout     it did not answer in time
    │  └ UpgradeRefused      it opened no WebSocket, and answered instead
    └ RequestRejected        a 4xx of our own, rendered in the client's dialect
       └ RateLimited         the limits of an API key are used up; it says when to come again

A cache fault is never shown to a client; a configuration fault is never survived.
"""

from __future__ import annotations

from collections.abc import Sequence


class SemcacheError(Exception):
    """Root of everything this package raises on purpose."""


class ConfigError(SemcacheError):
    """Bad settings or a bad policy pack; the message names file, line and key, and says how to mend it."""


class InvalidArgument(SemcacheError, ValueError):
    """A value given to the library that cannot be used; the message names it and says what is accepted."""


class CacheUnavailable(SemcacheError):
    """The cache cannot answer; forward instead."""


class StoreError(CacheUnavailable):
    """The entry store failed."""


class IndexFault(CacheUnavailable):
    """A vector index failed, or its snapshot is damaged."""


class EmbedError(CacheUnavailable):
    """The embedder failed, or returned vectors that are not finite unit vectors of its dimension."""


class KeptLater(CacheUnavailable):
    """A write is late and goes on; if it fails in the end, that is counted as a fault of its part."""


class IntegrityError(CacheUnavailable):
    """A stored entry cannot be decrypted, or is not the entry its key names."""


class UpstreamError(SemcacheError):
    """The backend could not be reached or broke off before it had answered."""


class UpstreamTimeout(UpstreamError):
    """The backend did not answer within the configured time."""


class UpgradeRefused(UpstreamError):
    """The backend opened no WebSocket, and said so with a status, headers (names in lower case) and a body."""

    def __init__(self, status: int, headers: Sequence[tuple[str, str]], body: bytes) -> None:
        super().__init__(f"no WebSocket was opened: status {status}")
        self.status, self.headers, self.body = status, headers, body


class RequestRejected(SemcacheError):
    """A request that is refused before it reaches cache or backend; each dialect renders it in its own shape."""

    def __init__(self, status: int, message: str, *, code: str, param: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
        self.param = param


class RateLimited(RequestRejected):
    """A request beyond the limits of its API key, which may be repeated `after` so many seconds."""

    def __init__(self, message: str, *, limit: str, code: str, after: float) -> None:
        super().__init__(429, message, code=code)
        self.limit = limit
        self.after = after
