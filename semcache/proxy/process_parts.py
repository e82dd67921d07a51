"""The parts of a proxy process that outlive every reload: its backend, its callers, and the limits on them.

Invariant: a caller, a limit or a byte in flight is counted in one place, whichever generation answers.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from semcache.cache.components import Components
from semcache.config.sections import NearSection, SmallPlanSection
from semcache.config.settings import Settings, is_local
from semcache.protocols import Backend
from semcache.proxy.auth import Authenticator
from semcache.proxy.intake import BytesInFlight, Intake
from semcache.proxy.key_counts import KeyCounts
from semcache.proxy.key_limits import KeyLimiter, KeyLimits
from semcache.proxy.leases import Leases
from semcache.proxy.origin import TrustedHosts
from semcache.proxy.tracing import Tracing
from semcache.proxy.ui.visitors import Visitors
from semcache.types import ApiKey
from semcache.upstream.backends import open_backend
from semcache.upstream.backends.connection import Connection
from semcache.upstream.routing.attempt import Routed
from semcache.upstream.routing.replica import Address
from semcache.upstream.routing.router import RoutingTerms

_FLIGHTS = "flights.lock"
_COUNTS = "limits.counts"


@dataclass(frozen=True, slots=True)
class ProcessParts:
    """The parts of a process that outlive its generations. `reload` asks for the next one, in somebody's name."""

    backend: Backend
    auth: Authenticator
    intake: Intake
    limiter: KeyLimiter
    leases: Leases | None
    visitors: Visitors
    clock: Callable[[], float]
    tracing: Tracing | None
    reload: Callable[[str, float], Awaitable[dict[str, Any]]]

    def close(self) -> None:
        """Release the files that workers share."""
        if self.leases is not None:
            self.leases.close()
        self.limiter.close()


def open_process_parts(
    settings: Settings,
    components: Components,
    keys: Sequence[ApiKey],
    backend: Backend,
    clock: Callable[[], float],
    tracing: Tracing | None,
    reload: Callable[[str, float], Awaitable[dict[str, Any]]],
) -> ProcessParts:
    """Return the parts of a process whose first cache has been opened."""
    server, bounds = settings.server, settings.limits
    auth = Authenticator(
        keys,
        components.store.salt,
        settings.auth.required,
        admin_token=server.admin_token.get_secret_value() if server.admin_token else None,
        loopback=is_local(server.host),
        clock=clock,
    )
    limiter = KeyLimiter(
        KeyCounts(settings.data / _COUNTS),
        components.meter,
        usual=KeyLimits(bounds.requests, bounds.tokens, bounds.dollars),
        hits=bounds.hits,
        clock=clock,
    )
    limiter.replace(keys)
    budget = BytesInFlight(server.max_in_flight, server.max_tenant_in_flight)
    return ProcessParts(
        backend=backend,
        auth=auth,
        intake=Intake(auth, TrustedHosts(server.allowed_hosts), budget, server.max_body),
        limiter=limiter,
        leases=Leases(settings.data / _FLIGHTS) if server.workers > 1 else None,
        visitors=Visitors(auth, components.store.salt, clock, components.store),
        clock=clock,
        tracing=tracing,
        reload=reload,
    )


def open_upstream(settings: Settings, note: Callable[[Routed], None], secret: Callable[[], bytes]) -> Backend:
    """Return the backend of the settings; `note` is told of routed calls, `secret` gives the store's salt."""
    upstream, fallback = settings.upstream, settings.fallback_key
    connection = Connection(
        api_key=upstream.api_key.get_secret_value() if upstream.api_key else None,
        fallback_key=fallback.get_secret_value() if fallback else None,
        timeout=upstream.timeout,
        connect_timeout=upstream.connect_timeout,
        stream_timeout=upstream.stream_timeout,
        proxy=upstream.proxy.get_secret_value() if upstream.proxy else None,
        watched=True,
    )
    return open_backend(
        upstream.url,
        connection,
        anthropic_url=upstream.anthropic_url,
        replicas=[Address(**one.model_dump()) for one in upstream.replicas],
        routing=RoutingTerms(**settings.routing.model_dump()),
        secret=secret,
        note=note,
        salt=upstream.cache_salt,
    )


def open_own_upstream(
    of: NearSection | SmallPlanSection, settings: Settings, secret: Callable[[], bytes]
) -> Backend | None:
    """Return the backend that a section of the settings names for its own model; None where that is the upstream's."""
    if of.url is None:
        return None
    key = of.api_key.get_secret_value() if of.api_key else None
    return open_backend(
        of.url, Connection(key, timeout=of.timeout, watched=True), secret=secret, salt=settings.upstream.cache_salt
    )
