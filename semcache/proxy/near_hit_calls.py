"""Calls of a model for a complete answer, made beside the client's own, and the values that near hits are made of.

Knows backends and dialects, not who asks or why. Invariant: a call gives one complete reply of status 200, read and
closed within the time that was given; no header of a client goes where `without_client_headers` was applied.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from semcache.errors import UpstreamError
from semcache.protocols import Outbound
from semcache.proxy.relay import is_stream
from semcache.proxy.reply_body import LONGEST, ReplyAhead

if TYPE_CHECKING:
    from semcache.protocols import Backend, Dialect, Judge, Reply
    from semcache.types import Assembled, Lookup, Usage

_PASSED_ON = frozenset(["content-type", "accept", "anthropic-version"])


@dataclass(frozen=True, slots=True)
class NearHitModels:
    """The backends of the small and of the large model, and the judge that compares their answers."""

    small: Backend
    large: Backend
    judge: Judge


@dataclass(frozen=True, slots=True)
class NearHitEnvironment:
    """The proxy in which near hits run.

    `entry_id` is the entry that the answer to a request has become, None where it was not kept. `spent` is told of
    every call whose answer is served to nobody, with its price in US dollars. `load` is that of the large model: 1 is
    full. `clock` tells the time of day, `monotonic` that of pauses and of quiet, which nobody sets; both in seconds.
    """

    salt: bytes
    clock: Callable[[], float]
    rng: random.Random
    entry_id: Callable[[Lookup], int | None] = lambda _: None
    spent: Callable[[Lookup, Usage, float], object] = lambda *_: None
    load: Callable[[], float] = lambda: 0.0
    monotonic: Callable[[], float] = time.monotonic


class NoAnswer(UpstreamError):
    """The backend replied, and the reply is no complete answer."""


class WithoutClientHeaders:
    """A backend that is not the upstream of the request: no header or query of the client's goes there."""

    def __init__(self, inner: Backend) -> None:
        self._inner = inner

    async def send(self, outbound: Outbound) -> Reply:
        """Ask without the client's headers and query. Raises UpstreamError."""
        return await self._inner.send(without_client_headers(outbound))

    async def close(self) -> None:
        """Close the backend."""
        await self._inner.close()


def without_client_headers(outbound: Outbound) -> Outbound:
    """Return the call without the client's credentials, or anything else of its headers and query."""
    headers = [(name, value) for name, value in outbound.headers if name.lower() in _PASSED_ON]
    return replace(outbound, headers=headers, query="")


async def complete_answer(backend: Backend, dialect: Dialect, outbound: Outbound, patience: float) -> Assembled:
    """Return the answer to a call that asks for no stream, within `patience` seconds.

    Raises TimeoutError, NoAnswer for another status than 200, and UpstreamError.
    """
    async with asyncio.timeout(patience):
        reply = await backend.send(outbound)
        try:
            body = await ReplyAhead(reply).read(LONGEST)
        finally:
            await reply.close()
    if reply.status != 200 or is_stream(reply) or body is None:
        raise NoAnswer(f"status {reply.status}" if body is not None else f"more than {LONGEST} bytes")
    return dialect.parse(body)


def is_text(answer: Assembled) -> bool:
    """Return True if an answer is a complete text and nothing else: one that may be served, shown or compared."""
    return answer.complete and not answer.refusal and not answer.tool_calls and bool(answer.text.strip())
