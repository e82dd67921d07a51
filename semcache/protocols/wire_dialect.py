"""Dialects: reading and writing the wire format of one endpoint.

Knows only the values of `types`. Invariant: bytes of a backend never raise here, however broken they are: they make the
answer incomplete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from semcache.types import Assembled, Endpoint, Request


class Assembler(Protocol):
    """Reads a stream while it is relayed."""

    def feed(self, chunk: bytes) -> None:
        """Take bytes as they came, cut anywhere. Never raises: what cannot be read makes the answer incomplete."""
        ...

    @property
    def terminal(self) -> int | None:
        """Offset in the bytes fed so far at which the terminal event starts, None until it was seen.

        The terminal event is `data: [DONE]`, `response.completed` or `message_stop`. All before it may be relayed at
        once.
        """
        ...

    def finish(self, *, closed: bool = False) -> Assembled:
        """The answer as its dialect would have returned it without streaming.

        `closed`: the body of a request for one answer ended of itself. Then an answer that said why it ends is complete
        without its terminal event, too.
        """
        ...


class Dialect(Protocol):
    """One wire format. Each module of `semcache.dialects` that speaks one exports an instance named `DIALECT`."""

    @property
    def endpoint(self) -> Endpoint:
        """The family of requests that it reads."""
        ...

    @property
    def path(self) -> str:
        """Path of the endpoint, such as "/v1/chat/completions"."""
        ...

    def read(self, raw: bytes) -> Request:
        """Parse a request body; unknown fields are part of the identity and survive in `raw`.

        Raises RequestRejected(400) for malformed JSON or wrong types of the fields it reads.
        """
        ...

    def assembler(self) -> Assembler:
        """A reader of one streamed answer."""
        ...

    def parse(self, body: bytes) -> Assembled:
        """Read a whole answer that was not streamed. Never raises: an unreadable one is not complete."""
        ...

    def stream(self, body: bytes, replay: Mapping[str, object]) -> Sequence[bytes]:
        """The stored answer as the events of a stream, terminal event included.

        Assembling them gives `body` again, its usage where `replay` asks for it. Raises IntegrityError for a body that
        is no answer of this dialect.
        """
        ...

    def error(self, status: int, message: str, *, code: str, param: str | None = None) -> bytes:
        """An error body in this dialect."""
        ...
