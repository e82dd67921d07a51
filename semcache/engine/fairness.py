"""Fair scheduling among tenants: of those not in debt, the request with the longest cached prefix comes next.

Deficit longest prefix match (Cao et al. 2025, "Locality-aware Fair Scheduling in LLM Serving", algorithm 1): a tenant
pays for every prompt token that has to be computed and every token generated; while it is in debt others come first,
and when all that wait are in debt each gets a quantum. Knows tenants, tokens and numbers, nothing of requests' content
or of time. Invariant: work-conserving (a request is chosen whenever one waits); between tenants that both wait, the
service received differs by at most a quantum and two largest requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from semcache.runtime.token_deficits import TokenDeficits

_GENERATED = 2.0  # tokens of a prompt that a generated one costs
_DEBTORS = 1000


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """A waiting prompt: its tenant, its order of arrival, and how many tokens of it are cached.

    One that is `overdue` was passed over too often by others with more in the cache. `begun` is how many prompts of
    the same request went before it.
    """

    tenant: str
    order: int
    cached: int
    overdue: bool = False
    begun: int = 0


class TenantDeficits(TokenDeficits[str]):
    """The tokens that each tenant may still spend; a generated token costs two tokens of a prompt."""

    def pay(self, tenant: str, *, prompt: int = 0, generated: int = 0) -> None:
        """Charge a tenant for tokens computed."""
        self.charge(tenant, prompt + _GENERATED * generated)

    def rank(self, waiting: Sequence[WaitingRequest]) -> list[WaitingRequest]:
        """Order all that wait, best first; raises the deficits of their tenants when all of them are in debt."""
        allowed = self.allowed(one.tenant for one in waiting)

        def rank(one: WaitingRequest) -> tuple[bool, bool, int, int, int]:
            cached = 0 if one.overdue else -one.cached
            return one.tenant not in allowed, not one.overdue, one.begun, cached, one.order

        return sorted(waiting, key=rank)

    def forget(self, present: Iterable[str]) -> None:
        """Drop tenants that are neither present nor in debt, and absent debtors but for the `_DEBTORS` charged last.

        So tenants that come once cost no memory.
        """
        keep = set(present)
        absent = [name for name in self._left if name not in keep]
        debtors = [name for name in absent if self._left[name] < 0]
        for tenant in set(absent).difference(debtors[-_DEBTORS:]):
            del self._left[tenant]
