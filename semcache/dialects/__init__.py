"""The wire formats: a client's body becomes a `Request`, a backend's answer a body to replay.

Knows bytes, JSON and server-sent events; no sockets, no storage, no decision.
Invariant: one module speaks one dialect and exports it as `DIALECT`; the bytes that are forwarded are the client's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from semcache.types import Endpoint

if TYPE_CHECKING:
    from semcache.protocols import Dialect
    from semcache.types import Request

__all__ = ["body_of", "by_path", "dialects", "unbound"]


@cache
def dialects() -> Mapping[Endpoint, Dialect]:
    """Every dialect that answers one request with one answer; embeddings, cached per input, are not among them."""
    from semcache.dialects import chat, completions, messages, responses

    known: tuple[Dialect, ...] = (chat.DIALECT, completions.DIALECT, responses.DIALECT, messages.DIALECT)
    return MappingProxyType({dialect.endpoint: dialect for dialect in known})


@cache
def _paths() -> Mapping[str, Dialect]:
    return {dialect.path: dialect for dialect in dialects().values()}


def by_path(path: str) -> Dialect | None:
    """The dialect of a request path such as "/v1/chat/completions", None when the path is passed through."""
    return _paths().get(path)


def body_of(dialect: Dialect, body: bytes, request: Request) -> bytes:
    """Return a stored answer as the reply to this request; some dialects repeat parts of the request in it."""
    restated = getattr(dialect, "restated", None)
    return body if restated is None else restated(body, request.replay)


def unbound(dialect: Dialect, body: bytes) -> bytes:
    """Return an answer as the reply to other words than those it was made for.

    Signed reasoning is left out: providers take it back behind the very words it was created for, and refuse it, with
    the whole next turn, behind others.
    """
    unsigned = getattr(dialect, "unsigned", None)
    return body if unsigned is None else unsigned(body)
