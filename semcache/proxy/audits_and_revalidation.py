"""Calls of the backend after a hit was served: audits of sampled hits, and revalidation of stale ones.

Knows dialects by their Protocol, and nothing of sockets. Invariant: no client waits for these calls, no other request
joins them, and their cost is recorded once. A call that is left undone, because the backend is overloaded or failing or
the audits of the second are used up, is counted; whoever has had more audits than others leaves them half the room.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, TypeAlias

from semcache.cache.response_cache import ResponseCache
from semcache.errors import UpstreamError
from semcache.protocols import Backend, Dialect, Outbound
from semcache.proxy.audit_shares import AuditShares
from semcache.proxy.background import BackgroundWork
from semcache.proxy.fault_log import log_fault
from semcache.proxy.relay import is_stream
from semcache.proxy.reply_body import LONGEST, ReplyAhead
from semcache.runtime.breaker import Breaker
from semcache.types import Assembled, Entry, Lookup, Outcome, Request, Serve

if TYPE_CHECKING:
    from prometheus_client import Counter

_REMEMBERED = 10_000
_GRACE = 3.0
_OVERLOADED = frozenset({429, 500, 502, 503, 504, 529})

FollowUpResult: TypeAlias = Literal[
    "done", "refused", "failed", "skipped-rate", "skipped-full", "skipped-known", "skipped-resting"
]


@dataclass(frozen=True, slots=True)
class ServedHit:
    """A served hit with the call that asks the backend the same."""

    lookup: Lookup
    served: Serve
    entry: Entry
    dialect: Dialect
    outbound: Outbound


Learn: TypeAlias = Callable[[ServedHit, Assembled, float], Awaitable[str | None]]


class FollowUpCalls:
    """Audits and revalidations of one process: at most `audit_rate` audits a second, each call `timeout` seconds."""

    def __init__(
        self,
        cache: ResponseCache,
        backend: Backend,
        background: BackgroundWork,
        *,
        audit_rate: float = 10.0,
        timeout: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.background = background
        self._cache = cache
        self._backend = backend
        self._timeout = timeout
        self._clock = clock
        self._shares = AuditShares(audit_rate, clock())
        self._breaker = Breaker(longest=60.0)
        self._renewed: OrderedDict[int, None] = OrderedDict()

    def wanted(self, lookup: Lookup, served: Serve) -> bool:
        """Return True for a hit that was drawn for an audit, and for one whose answer is stale."""
        allowed = lookup.key is not None and not lookup.request.controls.only_if_cached
        return allowed and (_is_sampled(served) or served.stale)

    def take(self, hit: ServedHit) -> bool:
        """Ask the backend in the background; False if the call is left undone. Never raises and never waits."""
        served, meter = hit.served, self._cache.meter
        if _is_sampled(served):
            exact = hit.lookup.key.exact if hit.lookup.key is not None else b""
            if self._offer((served.card.id, exact), hit, self._judge, meter.audits, self._shares):
                return True
        renewed = served.card.id in self._renewed or hit.lookup.request.controls.no_store
        if not served.stale or renewed:
            return False
        return self._offer(served.card.id, hit, self._renew, meter.revalidations)

    async def close(self) -> None:
        """Let calls under way end soon, and drop the rest."""
        await self.background.close(_GRACE)

    def _offer(
        self, key: Hashable, hit: ServedHit, learn: Learn, counter: Counter, shares: AuditShares | None = None
    ) -> bool:
        refusal = self._refusal(key, hit.lookup.request, shares)
        if refusal is not None:
            counter.labels(hit.lookup.category, refusal).inc()
            return False
        return self.background.offer(key, lambda: self._follow(hit, learn, counter))

    def _refusal(self, key: Hashable, request: Request, shares: AuditShares | None) -> FollowUpResult | None:
        now = self._clock()
        if not self._breaker.closed(now):
            return "skipped-resting"
        tenant, asker = request.scope.tenant, request.asker
        within = shares is None or shares.is_within(tenant, asker, now)
        match self.background.refuses(key, share=1.0 if within else 0.5):
            case "known":
                return "skipped-known"
            case "full":
                return "skipped-full"
        return "skipped-rate" if shares is not None and not shares.take(tenant, asker, now) else None

    async def _follow(self, hit: ServedHit, learn: Learn, counter: Counter) -> None:
        started = time.perf_counter()
        answer, result = await self._ask(hit)
        if answer is None:
            # The hit spared a call after all.
            late = self._cache.outcome(hit.lookup, 200, 0.0, entry=hit.entry)
        else:
            stored = await self._learned(hit, answer, learn, time.perf_counter() - started)
            late = self._cache.outcome(hit.lookup, 200, 0.0, answer=answer, stored=stored)
        self._cache.note(hit.lookup, late, logged=replace(late, count=0))
        counter.labels(hit.lookup.category, result).inc()

    async def _ask(self, hit: ServedHit) -> tuple[Assembled | None, FollowUpResult]:
        try:
            async with asyncio.timeout(self._timeout):
                reply = await self._backend.send(hit.outbound)
                try:
                    body = await ReplyAhead(reply).read(LONGEST)
                finally:
                    await reply.close()
        except (UpstreamError, TimeoutError) as error:
            self._breaker.failed(self._clock(), error)
            return None, "failed"
        if reply.status != 200:
            if reply.status in _OVERLOADED:
                self._breaker.failed(self._clock(), UpstreamError(f"status {reply.status}"))
            return None, "refused"
        self._breaker.succeeded()
        if body is None:
            return None, "refused"
        if not is_stream(reply):
            return hit.dialect.parse(body), "done"
        assembler = hit.dialect.assembler()
        assembler.feed(body)
        return assembler.finish(), "done"

    async def _learned(self, hit: ServedHit, answer: Assembled, learn: Learn, latency: float) -> str | None:
        try:
            return await learn(hit, answer, latency)
        except Exception:
            log_fault(self._cache, "cache")
            return None

    async def _judge(self, hit: ServedHit, answer: Assembled, latency: float) -> str | None:  # noqa: ARG002
        await self._cache.audited(hit.lookup, answer)
        return None

    async def _renew(self, hit: ServedHit, answer: Assembled, latency: float) -> str | None:
        """Keep the fresh answer as a request that reads no cache would: with its vector, in its category."""
        request = hit.lookup.request
        asked = replace(request, controls=replace(request.controls, no_cache=True))
        lookup = await self._cache.consult(asked, hit.lookup.request_id)
        admitted = await self._cache.admit(lookup, answer, latency=latency)
        self._renewed[hit.served.card.id] = None
        if len(self._renewed) > _REMEMBERED:
            self._renewed.popitem(last=False)
        return admitted.label


def _is_sampled(served: Serve) -> bool:
    # An exact hit is right by construction: there is nothing to learn from it.
    return served.audit and served.how is not Outcome.EXACT
