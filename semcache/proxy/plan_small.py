"""The small model of plans behind the proxy: it fills open slots, says last words, and is compared with the large one.

Knows requests, dialects and backends; `SmallPlanner` says what the model may do. Invariant: whatever it does not do
well and in time goes to the model that the request names; comparisons keep nobody waiting, and no fault here reaches a
client.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from semcache.agents.nearhits import placed
from semcache.agents.run import PlanReason
from semcache.agents.small_planner import SmallPlanner, SmallWork
from semcache.errors import SemcacheError, UpstreamError
from semcache.proxy import plan_dialects
from semcache.proxy.background import BackgroundWork
from semcache.proxy.near_hit_calls import NearHitEnvironment, NearHitModels, complete_answer, is_text
from semcache.proxy.relay import without_stream
from semcache.runtime.breaker import Breaker
from semcache.types import Endpoint, Lookup, Usage
from semcache.types.evidence import Comparison

if TYPE_CHECKING:
    from semcache.agents.adapt import SmallModel
    from semcache.agents.found_plan import FoundPlan
    from semcache.agents.multiplex.models import PricedModel
    from semcache.agents.plans import Plans
    from semcache.protocols import Backend, Dialect, Outbound
    from semcache.types import Assembled

_log = logging.getLogger(__name__)
_NOTHING = Usage()
_TOKENS = 1024  # of the values of a plan's open slots
_SELDOM = 0.01  # of the turns that are compared although the small model ends too few runs to be asked at each


@dataclass(slots=True)
class SmallCalls:
    """The calls of the small model for one turn, and what they took; `price` is that of the model that was named."""

    lookup: Lookup
    outbound: Callable[[bytes], Outbound]
    dialect: Dialect
    price: Callable[[Usage], float]
    usage: Usage = _NOTHING
    paid: float = 0.0

    def anew(self) -> SmallCalls:
        """Return the same turn with nothing spent."""
        return SmallCalls(self.lookup, self.outbound, self.dialect, self.price)


class SmallPlanService:
    """The small model of one proxy process. `patience` is how many seconds it has for an answer."""

    def __init__(
        self,
        planner: SmallPlanner,
        model: PricedModel,
        models: NearHitModels,
        environment: NearHitEnvironment,
        background: BackgroundWork,
        *,
        patience: float = 20.0,
    ) -> None:
        self.planner, self.patience = planner, patience
        self._model, self._models, self._environment, self._background = model, models, environment, background
        self._breaker = Breaker(longest=60.0)
        self.counts: Counter[str] = Counter()

    def is_wanted(self, calls: SmallCalls) -> bool:
        """Return True for a request that the small model may answer: it names a dearer one, and promises no more."""
        controls = calls.lookup.request.controls
        return (
            not (controls.only_if_cached or controls.no_cache)
            and (controls.max_error is None or controls.max_error >= self.planner.terms.target)
            and self._share(calls) < 1.0
            and self._breaker.closed(self._environment.monotonic())
        )

    def pays(self, calls: SmallCalls, work: SmallWork) -> bool:
        """Return True where asking costs less than it spares: without a plan most turns may not be the last."""
        return work is not SmallWork.ENDING or self.planner.pays(self._share(calls))

    def _share(self, calls: SmallCalls) -> float:
        """The price of the small model as a share of that of the model that is named; 1 where that has none."""
        probe = Usage(1_000_000, 1_000_000)
        large = calls.price(probe)
        return self._model.cost(probe) / large if large > 0.0 else 1.0

    def filler(self, calls: SmallCalls) -> SmallModel:
        """Return the small model as plans ask it: a prompt in, its text out. Raises UpstreamError."""

        async def ask(prompt: str) -> str:
            body = _question(calls.lookup.request.endpoint, self._model.name, prompt)
            if body is None:
                raise UpstreamError("there is no way to ask in this dialect")
            answer = await self._ask(self._models.small, calls, body)
            return answer.text if answer is not None else ""

        return ask

    async def last_word(self, calls: SmallCalls, work: SmallWork = SmallWork.LAST_WORD) -> Assembled | None:
        """Return the small model's answer to a request, None where it says no text; what that took is accounted for."""
        request = calls.lookup.request
        body = placed(request.endpoint, without_stream(request.raw), (), self._model.name)
        answer = None if body is None else await self._ask(self._models.small, calls, body)
        if answer is not None and work is SmallWork.ENDING:
            self.planner.asked(spoke=is_text(answer))
        if answer is not None and not is_text(answer):
            self.counts["goes-on" if answer.tool_calls and work is SmallWork.ENDING else "unusable"] += 1
            self.spent(calls)
            return None
        return answer

    def filled(self, found: FoundPlan, calls: SmallCalls) -> None:
        """Compare a sample of the calls that were served with those of the large model, in the background."""
        if self.planner.compares(SmallWork.SLOTS, self._environment.rng.random()):
            made = [(one.tool, one.arguments) for one in found.calls]
            self._offer(calls, partial(self._compare_made, calls, made))

    def said(self, calls: SmallCalls, answer: Assembled, work: SmallWork) -> None:
        """Compare a sample of the last words that were served with the large model's, in the background."""
        if self.planner.compares(work, self._environment.rng.random()):
            self._offer(calls, partial(self._compare_said, calls, answer, None, [work]))

    def large_answered(
        self, plans: Plans, found: FoundPlan, given: dict[str, Any], calls: SmallCalls, large: Assembled
    ) -> None:
        """Compare the large model's turn with what the small one would have done, in the background.

        `given` are the messages, tools, tenant and agent that were looked up.
        """
        after_results = given["messages"][-1].get("role") == "tool"
        words: list[SmallWork] = []
        if found.why == PlanReason.PLAN_DONE or (after_results and is_text(large)):
            # What is said at the end of a run that was planned anew is as good a sample as at the end of a plan.
            words.append(SmallWork.LAST_WORD)
        elif found.why == PlanReason.OPEN_SLOT and large.tool_calls and self._compares(SmallWork.SLOTS, calls):
            self._offer(calls, partial(self._compare_filled, plans, given, calls, large))
        if found.unplanned:
            words.append(SmallWork.ENDING)
        words = [work for work in words if self._compares(work, calls)]
        if words:
            self._offer(calls, partial(self._compare_said, calls, None, large, words))

    def _compares(self, work: SmallWork, calls: SmallCalls) -> bool:
        """Return True to compare a turn that the large model answered."""
        draw = self._environment.rng.random()
        if not self.pays(calls, work):
            return draw < _SELDOM
        # Where the small model was to answer and did not, there is nothing to compare.
        return not self.planner.may(work) and self.planner.compares(work, draw)

    def spent(self, calls: SmallCalls) -> None:
        """Account for calls whose answers are served to nobody."""
        if calls.paid or calls.usage != Usage():
            self._environment.spent(calls.lookup, calls.usage, calls.paid)

    def standing(self) -> dict[str, Any]:
        """Return the statistics for operators."""
        return {"model": self._model.name, **self.planner.standing(), "counts": dict(self.counts)}

    def _offer(self, calls: SmallCalls, work: Callable[[], Any]) -> None:
        self._background.offer(("plan", calls.lookup.request_id), work)

    async def _compare_filled(self, plans: Plans, given: dict[str, Any], calls: SmallCalls, large: Assembled) -> None:
        calls = calls.anew()
        small, made = self.filler(calls), _calls(calls.lookup.request.endpoint, large)
        if made is not None:
            right = await plans.compare(given["messages"], made, **{**given["options"], "small": small})
            self.counts["uncomparable"] += right is None
        self.spent(calls)

    async def _compare_made(self, calls: SmallCalls, made: list[tuple[str, Any]]) -> None:
        large = await self._ask_large(calls)
        if large is not None:
            right = _calls(calls.lookup.request.endpoint, large) == made
            self.planner.compared(SmallWork.SLOTS, right=right)

    async def _compare_said(
        self, calls: SmallCalls, small: Assembled | None, large: Assembled | None, works: Sequence[SmallWork]
    ) -> None:
        if small is None:
            calls = calls.anew()
            small = await self.last_word(calls, works[-1])
            if small is None:
                # Served, this would have gone to the large model: nothing worse would have been seen.
                return
            self.spent(calls)
        if large is None:
            large = await self._ask_large(calls)
            if large is None:
                return
        question, same = calls.lookup.request.text, None
        if is_text(large):
            try:
                same = await self._models.judge.agree(Comparison(question, question, small.text, large.text))
            except SemcacheError:
                same = None
        # A judge that cannot tell, and a large model that had more to call, leave the worse to be assumed.
        for work in works:
            self.planner.compared(work, right=same is True)

    async def _ask_large(self, calls: SmallCalls) -> Assembled | None:
        try:
            outbound = calls.outbound(without_stream(calls.lookup.request.raw))
            answer = await complete_answer(self._models.large, calls.dialect, outbound, self.patience)
        except (TimeoutError, UpstreamError):
            self.counts["uncompared"] += 1
            return None
        self._environment.spent(calls.lookup, answer.usage, calls.price(answer.usage))
        return answer

    async def _ask(self, backend: Backend, calls: SmallCalls, body: bytes) -> Assembled | None:
        """Return the small model's answer; on failure None, with the reason counted."""
        try:
            answer = await complete_answer(backend, calls.dialect, calls.outbound(body), self.patience)
        except (TimeoutError, UpstreamError) as error:
            self.counts["timeout" if isinstance(error, TimeoutError) else "failed"] += 1
            self._breaker.failed(self._environment.monotonic(), error)
            return None
        self._breaker.succeeded()
        one, used = answer.usage, calls.usage
        calls.usage = Usage(used.prompt_tokens + one.prompt_tokens, used.completion_tokens + one.completion_tokens)
        calls.paid += self._model.cost(one)
        return answer


def _question(endpoint: Endpoint, model: str, prompt: str) -> bytes | None:
    """Return a prompt as a request of its own, None in a dialect without turns."""
    turns = [{"role": "user", "content": prompt}]
    said: dict[Endpoint, dict[str, Any]] = {
        Endpoint.CHAT: {"messages": turns},
        Endpoint.MESSAGES: {"messages": turns, "max_tokens": _TOKENS},
        Endpoint.RESPONSES: {"input": prompt, "store": False},
    }
    return msgspec.json.encode({"model": model, **said[endpoint]}) if endpoint in said else None


def _calls(endpoint: Endpoint, answer: Assembled) -> list[tuple[str, Any]] | None:
    """Return the calls of an answer by tool and arguments, None where it cannot be read."""
    spoken = plan_dialects.read_answer(endpoint, answer.body)
    try:
        made = [one["function"] for one in (spoken or {}).get("tool_calls") or ()]
        return [
            (one["name"], json.loads(one["arguments"]) if isinstance(one["arguments"], str) else one["arguments"])
            for one in made
        ]
    except (ValueError, TypeError, LookupError):
        return None
