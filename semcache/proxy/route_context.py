"""The context of the routes of one generation of a proxy process: their parts, and look-ups on behalf of a caller.

Knows no dialect's fields and sends nothing. Invariant: whatever goes wrong in the cache is a reason to forward, never
an error of the request.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from semcache.cache.response_cache import ResponseCache
from semcache.errors import RequestRejected
from semcache.protocols import Backend
from semcache.proxy.audits_and_revalidation import FollowUpCalls
from semcache.proxy.auth import Caller, RawHeaders, user_of
from semcache.proxy.fault_log import log_fault
from semcache.proxy.forward import Forwarder
from semcache.proxy.hit_replay import HitReplayer
from semcache.proxy.intake import Intake
from semcache.proxy.key_limits import KeyLimiter
from semcache.proxy.leases import Leases
from semcache.proxy.relay import is_kept_upstream
from semcache.proxy.shared_account import SharedAccount
from semcache.proxy.tracing import Tracing
from semcache.types import Controls, Endpoint, Forward, Lookup, Outcome, Recorded, Request, Why
from semcache.types import Scope as CacheScope

if TYPE_CHECKING:
    from semcache.proxy.near_hit_service import NearHitService
    from semcache.proxy.plan_service import PlanService

_REFUSED = {413: Why.TOO_LARGE, 429: Why.LIMITED, 503: Why.LIMITED}  # why, by the status of a refusal


@dataclass(frozen=True, slots=True)
class CallerTrust:
    """The trust in callers: who may name users and see scores, and whose key is lent.

    Where it `lends_key`, a language model is asked about a request with the credentials of its caller.
    """

    trust_user_header: bool = False
    trust_user_field: bool = False
    expose_scores: bool = False
    lends_key: bool = False


@dataclass(frozen=True, slots=True)
class RouteContext:
    """The parts of one generation of a proxy process that every route uses; None for those that settings leave out."""

    cache: ResponseCache
    backend: Backend
    intake: Intake
    trust: CallerTrust
    account: SharedAccount
    replayer: HitReplayer
    forwarder: Forwarder
    follow_ups: FollowUpCalls
    limiter: KeyLimiter
    plans: PlanService | None = None
    near: NearHitService | None = None
    leases: Leases | None = None
    tracing: Tracing | None = None

    async def consult(self, request: Request) -> Lookup:
        """Ask the cache; whatever goes wrong in it is a reason to forward. Raises RequestRejected."""
        request_id = self.replayer.request_id()
        try:
            lookup = await self.cache.consult(request, request_id, paraphrases=not is_kept_upstream(request))
        except RequestRejected:
            raise
        except Exception:
            log_fault(self.cache, "cache")
            return Lookup(request_id, request, None, "default", Forward(Why.FAULT))
        return await self.cache.verified(lookup, waits=False)

    def note(self, lookup: Lookup, row: Recorded, *, logged: Recorded | None = None) -> None:
        """Take notice of an outcome, in the cache and in what the caller's key has used."""
        self.limiter.charge(row if logged is None else logged)
        self.cache.note(lookup, row, logged=logged)
        if self.tracing is not None:
            self.tracing.note(lookup, row if logged is None else logged)

    def note_late(self, lookup: Lookup, row: Recorded) -> None:
        """Take notice of what a request cost that has been recorded already."""
        self.limiter.charge(row)
        self.cache.note(lookup, replace(row, count=0))

    def record_refused(self, request_id: str, endpoint: Endpoint, caller: Caller, status: int, started: float) -> None:
        """Record a request of a known caller that was refused before it could be looked up."""
        self.cache.event_log.note(
            Recorded(
                request_id=request_id,
                at=self.cache.clock(),
                endpoint=endpoint.value,
                scope=CacheScope(caller.tenant),
                model="",
                category="default",
                outcome=Outcome.BYPASS,
                why=_REFUSED.get(status, Why.UNREADABLE),
                status=status,
                seconds=time.perf_counter() - started,
            )
        )

    def user_of(self, named: str | None, headers: RawHeaders, caller: Caller) -> str | None:
        """Return the user of a request, whom its body calls `named`."""
        trust = self.trust
        return user_of(named, headers, caller, trust_header=trust.trust_user_header, trust_body=trust.trust_user_field)

    def scope_of(self, caller: Caller, user: str | None, controls: Controls) -> CacheScope:
        """Return the scope of a request: the callers with whom it shares answers."""
        private = self.cache.pack.share == "user"
        return CacheScope(caller.tenant, user if private else None, controls.namespace or "")

    def sees_scores(self, caller: Caller) -> bool:
        """Return True if a caller is told ids, scores and probabilities."""
        return caller.trusted or self.trust.expose_scores
