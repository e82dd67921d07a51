"""The hot routes: one request from its bytes to the cache's decision, which an `Exchange` then turns into the reply.

Reads the dialect and asks the cache. Knows no SQL, no index and no dialect's fields. Invariant: an outcome is recorded
of every request whose caller is known, and no fault of the cache reaches the client.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from semcache.cache.asynchronous import AsyncSemanticCache
from semcache.dialects.headers import controls_from
from semcache.errors import RequestRejected
from semcache.protocols import Backend, Dialect
from semcache.proxy import hits
from semcache.proxy.asgi import HeaderList, Receive, Scope, Send, decoded
from semcache.proxy.auth import Authenticator, Caller, user_of
from semcache.proxy.body_limit import ClientGone, read_body
from semcache.proxy.exchange import Exchange, reject
from semcache.proxy.fault_log import survived
from semcache.proxy.followup import FollowUps
from semcache.proxy.forward import Forwarder, exact_only
from semcache.proxy.leases import Leases
from semcache.proxy.relay import identity_of
from semcache.types import Controls, Endpoint, Forward, Lookup, Outcome, Recorded, Request, Why
from semcache.types import Scope as CacheScope
from semcache.upstream.coalescing import Flights

if TYPE_CHECKING:
    from semcache.proxy.nearby import Nearby
    from semcache.proxy.plan_service import PlanSurface


@dataclass(frozen=True, slots=True)
class Limits:
    """What a proxy accepts: the size of a body in bytes, and whose word it takes for the user."""

    max_body: int = 20 << 20
    trust_user_header: bool = False
    expose_scores: bool = False


class Routes:
    """Serves the cacheable endpoints. One instance a process."""

    def __init__(
        self,
        cache: AsyncSemanticCache,
        backend: Backend,
        auth: Authenticator,
        *,
        limits: Limits,
        worker: str,
        followups: FollowUps,
        plans: PlanSurface | None = None,
        near: Nearby | None = None,
        leases: Leases | None = None,
    ) -> None:
        self.cache = cache
        self.auth = auth
        self.limits = limits
        self.followups = followups
        self.plans = plans
        self.near = near
        self.leases = leases
        self.replays = hits.Replays(cache, worker=worker)
        self.forwarder = Forwarder(cache, backend, Flights())

    async def __call__(self, dialect: Dialect, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of this dialect."""
        started = time.perf_counter()
        caller: Caller | None = None
        try:
            body = await read_body(scope, receive, self.limits.max_body)
            known = self.replays.find(scope, body)
            if known is not None:
                await self._again(known, send, started)
                return
            caller, epoch = self.auth.identify(scope["headers"]), self.replays.epoch
            request = self._read(dialect, body, scope, caller)
            lookup = await self.consult(request)
        except ClientGone:
            return
        except RequestRejected as error:
            await reject(dialect, error, send)
            if caller is not None:
                self.note_unreadable(dialect.endpoint, caller, error.status, started)
            return
        exchange = Exchange(self, dialect, scope, body, caller, started, epoch)
        await exchange.answer(lookup, receive, send)

    async def consult(self, request: Request) -> Lookup:
        """Ask the cache; whatever goes wrong in it is a reason to forward. Raises RequestRejected."""
        request_id = self.replays.request_id()
        try:
            lookup = await self.cache.consult(request, request_id, paraphrases=not exact_only(request))
        except RequestRejected:
            raise
        except Exception:
            survived(self.cache, "cache")
            return Lookup(request_id, request, None, "default", Forward(Why.FAULT))
        return await self.cache.verified(lookup)

    def note_unreadable(self, endpoint: Endpoint, caller: Caller, status: int, started: float) -> None:
        """Record a request of a known caller that was refused before it could be looked up."""
        self.cache.journal.note(
            Recorded(
                request_id=self.replays.request_id(),
                at=self.cache.parts.clock(),
                endpoint=endpoint.value,
                scope=CacheScope(caller.tenant),
                model="",
                category="default",
                outcome=Outcome.BYPASS,
                why=Why.UNREADABLE,
                status=status,
                seconds=time.perf_counter() - started,
            )
        )

    async def _again(self, known: hits.Replay, send: Send, started: float) -> None:
        await self.replays.send(known, send, self.replays.request_id())
        self.cache.journal.repeat(known.template, self.cache.parts.clock(), time.perf_counter() - started)

    def _read(self, dialect: Dialect, body: bytes, scope: Scope, caller: Caller) -> Request:
        headers: HeaderList = scope["headers"]
        request = dialect.read(body)
        controls = controls_from(decoded(scope), request.controls)
        user = user_of(request.user, headers, caller, trust_header=self.limits.trust_user_header)
        identity: Mapping[str, Any] = identity_of(request.identity, scope)
        who = self.scope_of(caller, user, controls)
        return replace(request, identity=identity, controls=controls, scope=who, user=user)

    def scope_of(self, caller: Caller, user: str | None, controls: Controls) -> CacheScope:
        """Who shares answers with this caller."""
        private = self.cache.pack.share == "user"
        return CacheScope(caller.tenant, user if private else None, controls.namespace or "")

    def sees_scores(self, caller: Caller) -> bool:
        """Whether a caller is told ids, scores and probabilities."""
        return caller.trusted or self.limits.expose_scores
