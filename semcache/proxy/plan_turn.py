"""One turn of an agent's run: its run, the plan that answers it or is hinted in it, and the learning from its answer.

Knows requests and replies, nothing of templates. Invariant: whatever goes wrong with plans, the request goes on as if
there were none, and the fault is counted.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TYPE_CHECKING

from semcache.cache.response_cache import ResponseCache
from semcache.proxy.fault_log import log_fault
from semcache.proxy.plan_headers import RUN, WHY

if TYPE_CHECKING:
    from semcache.protocols import Dialect, Outbound
    from semcache.proxy.asgi import HeaderList
    from semcache.proxy.plan_service import PlanReply, PlanService, Unplanned
    from semcache.proxy.plan_small import SmallCalls
    from semcache.types import Assembled, Entry, Lookup

_PATIENCE = 2.0  # seconds in which a plan must be found


class PlanTurn:
    """A turn of an agent's run. `run` is its id, None where there are no plans or they do not apply.

    `headers` are those of the request.
    """

    def __init__(
        self,
        cache: ResponseCache,
        plans: PlanService | None,
        dialect: Dialect,
        lookup: Lookup,
        headers: HeaderList,
    ) -> None:
        self._cache, self._plans, self._dialect, self._headers = cache, plans, dialect, headers
        self._lookup, self._request, self._request_id = lookup, lookup.request, lookup.request_id
        self.run: str | None = None
        self._unplanned: Unplanned | None = None
        self._calls: SmallCalls | None = None
        try:
            self.run = None if plans is None else plans.run(lookup, headers)
        except Exception:
            log_fault(cache, "plans")

    @property
    def run_header(self) -> HeaderList:
        """The headers that tell the client the id of its run, and why no plan answered where one was looked up."""
        own = [(RUN, self.run.encode())] if self.run is not None else []
        if self._unplanned is not None:
            found = self._unplanned.found
            why = f"{found.why}; {found.detail}" if found.detail else found.why
            own.append((WHY, why.encode("ascii", "replace").replace(b"\n", b" ")))
            own += [(b"x-semcache-plan", found.plan_id.encode())] if found.plan_id else []
        return own

    def under_way(self) -> AbstractContextManager[None]:
        """While the block runs, an outcome of this run waits for the turn in it."""
        return self._plans.under_way(self.run) if self._plans is not None and self.run is not None else nullcontext()

    async def reply(self, outbound: Callable[[bytes], Outbound], *, spends: bool = True) -> PlanReply | None:
        """Return the next step of a plan as the reply, None where there is none, or none is to be served.

        `outbound` makes a call of a body, for the small model, which is asked where the request `spends`.
        """
        plans = self._plans
        if plans is None or self.run is None or plans.mode != "answer":
            return None
        patience = _PATIENCE
        if plans.small is not None and spends:
            from semcache.proxy.plan_small import SmallCalls

            price = partial(self._cache.prices.cost, self._request.model)
            self._calls = SmallCalls(self._lookup, outbound, self._dialect, price)
            patience += plans.small.patience
        try:
            async with asyncio.timeout(patience):
                given = (self._dialect, self._request, self._headers, self._request_id)
                served = await (plans.serve(*given) if self._calls is None else plans.serve(*given, self._calls))
        except Exception:
            log_fault(self._cache, "plans")
            return None
        from semcache.proxy.plan_service import Unplanned

        if isinstance(served, Unplanned):
            self._unplanned = served
            return None
        return served

    def large_answered(self, answer: Assembled) -> None:
        """Compare the small model with the answer of the model that the request names, in the background."""
        plans, unplanned, calls = self._plans, self._unplanned, self._calls
        if plans is None or plans.small is None or unplanned is None or calls is None or not answer.complete:
            return
        if unplanned.given is None:
            return
        try:
            plans.small.large_answered(plans.plans, unplanned.found, unplanned.given, calls.anew(), answer)
        except Exception:
            log_fault(self._cache, "plans")

    async def body_to_forward(self) -> bytes:
        """Return the body to forward: the client's bytes, or those with a plan that may help."""
        plans = self._plans
        if plans is None or self.run is None or plans.mode != "hint":
            return self._request.raw
        try:
            async with asyncio.timeout(_PATIENCE):
                return await plans.with_hint(self._request, self._headers) or self._request.raw
        except Exception:
            log_fault(self._cache, "plans")
            return self._request.raw

    async def learn(self, answer: Assembled | Entry | None) -> None:
        """Learn from a complete answer, also where the client leaves at its end."""
        if self._plans is None or self.run is None or answer is None:
            return
        tokens = answer.usage.completion_tokens
        passing = partial(self._plans.learn, self._request, self._headers, answer.body, tokens)
        self._plans.run_in_background(passing, failed=partial(log_fault, self._cache, "plans"))
        # The run is to be known before the client knows that the answer has ended.
        await asyncio.sleep(0)
