"""Backends: sending a request to something that answers it.

Knows only the values of `types`. Invariant: a reply is handed out before its body was read, and is closed by whoever
took it.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Outbound:
    """A request to a backend: what the client sent, less what was addressed to the cache.

    `path` starts with a slash and is percent-encoded as it stood on the wire ("/v1/chat/completions"). `tenant` says
    whose request it is, for backends that keep tenants apart; it is not sent. `draft` gives a guess at the answer, ""
    for none, to backends that verify guesses: what they answer is the same, only sooner.
    """

    method: str
    path: str
    headers: Sequence[tuple[str, str]]
    body: bytes
    query: str = ""
    tenant: str = ""
    draft: Callable[[], Awaitable[str]] | None = field(default=None, compare=False)


class Reply(Protocol):
    """A backend's answer whose body has not been read yet. `close` must always be called."""

    @property
    def status(self) -> int:
        """The status code of HTTP."""
        ...

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        """End-to-end headers, names in lower case; hop-by-hop and encoding headers are removed.

        A `content-length`, which may be there, is that of the body as `chunks` gives it.
        """
        ...

    def chunks(self) -> AsyncIterator[bytes]:
        """The decoded body as it arrives. Raises UpstreamError when the backend breaks off."""
        ...

    async def close(self) -> None:
        """Give the connection back, whether or not the body was read to its end."""
        ...


class Backend(Protocol):
    """Something that answers requests."""

    async def send(self, outbound: Outbound) -> Reply:
        """Return as soon as status and headers are there. Raises UpstreamError or UpstreamTimeout."""
        ...

    async def close(self) -> None:
        """Close every connection."""
        ...


@dataclass(frozen=True, slots=True)
class WebSocketTerms:
    """The terms of a WebSocket: the subprotocols that its client speaks, and the bytes of its longest message."""

    subprotocols: Sequence[str]
    max_size: int


class WebSocket(Protocol):
    """A WebSocket of a backend. `close` must always be called."""

    @property
    def subprotocol(self) -> str | None:
        """The subprotocol that the backend has chosen."""
        ...

    @property
    def headers(self) -> Sequence[tuple[str, str]]:
        """The headers of its opening, names in lower case, without those of the WebSocket itself."""
        ...

    @property
    def closed(self) -> tuple[int | None, str]:
        """The code and reason with which it ended; no code where it broke off, or is open."""
        ...

    def messages(self) -> AsyncIterator[str | bytes]:
        """The messages as they come, text or bytes, until it ends."""
        ...

    async def send(self, message: str | bytes) -> bool:
        """Send a message, once there is room for it; False where it has ended."""
        ...

    async def close(self, code: int, reason: str) -> None:
        """Close it, if it is open, with this code and reason."""
        ...


class WebSocketBackend(Backend, Protocol):
    """A backend that opens WebSockets too."""

    async def connect(self, outbound: Outbound, terms: WebSocketTerms) -> WebSocket:
        """Return as soon as it is open. Raises UpstreamError, of which UpgradeRefused holds a status."""
        ...
