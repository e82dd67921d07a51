"""One attempt at one replica: the load that a request adds while it is under way, and its statistics at the end.

Knows one prompt and one replica. Invariant: what was added to the replica's load is taken off exactly once, however the
attempt ends; `start` returns only when the first bytes of the answer are there, so until then nothing was shown to
anyone.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import httpcore2
import httpx2

from semcache.errors import UpstreamError
from semcache.protocols import Outbound, Reply
from semcache.upstream.routing.choice import RoutingReason
from semcache.upstream.routing.prompts import RoutedPrompt
from semcache.upstream.routing.replica import Replica
from semcache.upstream.routing.usage import UsageReader

Result = Literal["ok", "refused", "unreachable", "broke-off", "abandoned"]
_OK = 200
# Statuses by which a server says that it is not the one to ask now and has done nothing; by the others, that it has
# failed, or the one behind it (from 520 on in Cloudflare's words).
_NOT_DONE = frozenset({429, 503, 529})
_FAILED = frozenset({500, 502, 504, *range(520, 528)})
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_NEVER_REACHED = (httpcore2.ConnectError, httpcore2.ConnectTimeout, httpx2.ConnectError, httpx2.ConnectTimeout)
_TELLING = 256  # tokens: fewer missing ones say nothing about the rest
_SENT_SECONDS = 120.0  # how long blocks that were sent for are believed in without a first token


@dataclass(frozen=True, slots=True)
class Routed:
    """The result of an attempt.

    `predicted` and `reported` are tokens of the prompt held by the replica: as believed when it was chosen, and as it
    said, None where it did not say. `retries` counts the request's attempts before this one.
    """

    replica: str
    why: RoutingReason
    result: Result
    prompt_tokens: int
    predicted: int
    reported: int | None
    completion_tokens: int = 0
    retries: int = 0


class Attempt:
    """A request's try at one replica, and the reply where it succeeds.

    `came` is called once, when the first token came or never will, and `over` once, at its end.
    """

    def __init__(
        self,
        replica: Replica,
        prompt: RoutedPrompt,
        why: RoutingReason,
        now: float,
        *,
        retries: int,
        clock: Callable[[], float],
        came: Callable[[Attempt], object],
        over: Callable[[Attempt], object],
    ) -> None:
        self.replica, self.prompt, self.why, self.retries = replica, prompt, why, retries
        self.chain = replica.chain(prompt)
        self.tokens = prompt.tokens()
        self.matched = min(float(self.tokens), replica.matched(prompt, now))
        self.fresh = round(self.tokens - self.matched)
        self._confirmed = min(float(self.tokens), replica.matched(prompt, now, confirmed=True))
        self.first = asyncio.Event()
        self.reached = True
        self.usage = UsageReader()
        self.result: Result = "abandoned"
        self.status = 0
        self.headers: Sequence[tuple[str, str]] = ()
        self._clock, self._came, self._over = clock, came, over
        self._reply: Reply | None = None
        self._chunks: AsyncIterator[bytes] | None = None
        self._head = b""
        self._ended = False
        self.unseen = self.chain.keys[replica.tree.match(self.chain.keys, now).blocks :]
        replica.queued(prompt.tenant, self.fresh)
        replica.running += 1
        replica.placed(now, self.fresh)
        if prompt.known:
            replica.sent(self.chain, now + _SENT_SECONDS)

    @property
    def failed(self) -> bool:
        """True if the reply says that the server has failed, or the one behind it."""
        return self.status in _FAILED

    @property
    def busy(self) -> bool:
        """True if the server says by its reply that it has done nothing of this request."""
        return self.status in _NOT_DONE

    async def start(self, outbound: Outbound) -> bool:
        """Ask; False when the replica says to ask elsewhere (the reply can be used all the same).

        Raises UpstreamError or UpstreamTimeout, after which the attempt has ended.
        """
        try:
            async with self.replica.liveness.awaiting(outbound.headers):
                self._reply = await self.replica.send(self.prompt, outbound)
                self.replica.liveness.heard()
                self.status, self.headers = self._reply.status, self._reply.headers
                self._chunks = self._reply.chunks()
                while not self._head and (chunk := await anext(self._chunks, None)) is not None:
                    self._head = chunk
        except BaseException as error:
            if isinstance(error, UpstreamError):
                self.reached = not isinstance(error.__cause__, _NEVER_REACHED)
                self.result = "broke-off" if self.reached else "unreachable"
            await self.close()
            raise
        if self.status != _OK:
            self.result = "refused"
        self._arrived()
        # An upload or a batch may have had its effect in a server that failed.
        repeatable = self.prompt.known or outbound.method in _SAFE
        return not (self.busy or (self.failed and repeatable))

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body from its first byte. Raises UpstreamError when the replica breaks off."""
        assert self._chunks is not None
        try:
            if self._head:
                self.usage.feed(self._head)
                yield self._head
            async for chunk in self._chunks:
                self.replica.liveness.heard()
                self.usage.feed(chunk)
                yield chunk
        except UpstreamError:
            self.result = "broke-off"
            raise
        if self.status == _OK:
            self.result = "ok"
        self._end()

    async def close(self) -> None:
        """End the attempt; what the client did not read is given up."""
        try:
            if self._reply is not None:
                await self._reply.close()
        finally:
            self._end()

    def routed(self) -> Routed:
        """The result of the attempt."""
        counted = self.usage.prompt
        scale = counted / self.tokens if counted and self.tokens and self.prompt.ids is None else 1.0
        return Routed(
            self.replica.name,
            self.why,
            self.result,
            round(self.tokens * scale),
            round(self.matched * scale),
            self.usage.cached,
            self.usage.completion or 0,
            self.retries,
        )

    def _arrived(self) -> None:
        """The first bytes came: with them, the prompt's KV is there."""
        if self.status == _OK and self.prompt.known:
            self.replica.computed(self.chain, self._clock())
        self._landed()

    def _landed(self) -> None:
        if not self.first.is_set():
            self.replica.queued(self.prompt.tenant, -self.fresh)
            self.first.set()
            self._came(self)

    def _end(self) -> None:
        if self._ended:
            return
        self._ended = True
        self.replica.running -= 1
        if not self.first.is_set() or self.status != _OK:
            self.replica.tree.forget(self.unseen)
        self._landed()
        self._learn()
        self._over(self)

    def _learn(self) -> None:
        """A server that reports less than was believed has lost the rest: evicted, or restarted."""
        reported, total = self.usage.cached, self.usage.prompt
        if reported is None or not total or self.result != "ok":
            return
        self.replica.reports = self.replica.reports or reported > 0
        believed = self._confirmed / max(1, self.tokens) * total
        if self.replica.reports and believed >= _TELLING and reported < 0.5 * believed:
            self.replica.disappointed(self.chain)
