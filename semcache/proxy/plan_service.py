"""Plan templates behind the proxy: runs are recognised, plans are served in them, outcomes are counted.

Knows requests and answers, and nothing of how a template is made. Invariant: a run becomes a template only when a
client reports that it ended well (or the rule says that any complete run did); no fault here reaches a client.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from semcache.agents.found_plan import FoundPlan, LearnedRun
from semcache.agents.plans import Plans
from semcache.agents.run import PlanReason, digest, hands_over, has_error
from semcache.agents.small_planner import SmallWork
from semcache.errors import CacheUnavailable
from semcache.protocols import Dialect
from semcache.proxy import plan_dialects
from semcache.proxy.asgi import HeaderList
from semcache.proxy.auth import Caller
from semcache.proxy.call_habits import CallHabits
from semcache.proxy.hit_replay import EVENT_STREAM
from semcache.proxy.pending_runs import PendingRun, PendingRuns
from semcache.proxy.plan_headers import AGENT, RUN, SESSION, agent_of, header
from semcache.proxy.relay import is_kept_upstream
from semcache.types import Assembled, Forward, Lookup, Scope, Usage, Why
from semcache.types import Request as CacheRequest

if TYPE_CHECKING:
    from semcache.agents.adapt import SmallModel
    from semcache.proxy.plan_small import SmallCalls, SmallPlanService

_log = logging.getLogger(__name__)
_RUN = re.compile(r"[0-9a-f]{32}")
_NOTHING = Usage()
_END: Any = {"role": "assistant", "content": ""}  # of a run that ended with a call
UserOf: TypeAlias = Callable[[str | None, HeaderList, Caller], str | None]  # whom a body names, its headers, who asks
_PATIENCE = 5.0  # seconds that an outcome waits for the end of its run
# What may not be kept, or is wanted new each time, has no plan either; what depends on person or moment has.
_NO_PLAN = frozenset([Why.DISABLED, Why.STATEFUL, Why.SECRET, Why.CREATIVE, Why.TEMPERATURE])


@dataclass(frozen=True, slots=True)
class PlanReply:
    """A plan as the reply to a request; `saved` is the completion tokens that such a turn took when it was planned.

    `spent` are a small model's tokens, for `paid` US dollars; `instead` is what the model that the request names would
    have cost for them. `answer` is the last word of a run.
    """

    payload: bytes
    headers: HeaderList
    saved: int = 0
    spent: Usage = _NOTHING
    paid: float = 0.0
    instead: float = 0.0
    answer: Assembled | None = None


@dataclass(frozen=True, slots=True)
class Unplanned:
    """A lookup that gave no reply, and why; `given` is what the small model can be compared on, None for nothing."""

    found: FoundPlan
    given: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class _AskedTurn:
    """A request that a plan may answer, as plans read it."""

    dialect: Dialect
    request: CacheRequest
    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]]
    agent: str
    run: str

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of a lookup beside the messages."""
        return {"tools": self.tools, "tenant": self.request.scope.tenant, "agent": self.agent}


@dataclass(frozen=True, slots=True)
class _Helper:
    """The small model, and its calls for one turn."""

    small: SmallPlanService
    calls: SmallCalls

    @property
    def filler(self) -> SmallModel:
        """The small model as plans ask it."""
        return self.small.filler(self.calls)


class PlanService:
    """The plans of one proxy process.

    `mode` says how plans are used. `rule` says when a run ended well: "explicit" waits for an outcome, "finished" takes
    every complete run without an error of a tool. `others` says that other workers share the store: an outcome of one
    of their runs is passed on to them. `user_of` is the user of whom a run is, None where a tenant's users share plans.
    """

    def __init__(
        self,
        plans: Plans,
        *,
        salt: bytes,
        clock: Callable[[], float],
        rule: Literal["explicit", "finished"] = "explicit",
        mode: Literal["answer", "hint"] = "answer",
        others: bool = False,
        small: SmallPlanService | None = None,
    ) -> None:
        self.small = small
        self.user_of: UserOf = lambda _named, _headers, _caller: None
        self.plans, self.mode, self._salt, self._clock, self._rule = plans, mode, salt, clock, rule
        self.pending, self._habits = PendingRuns(), CallHabits()
        self._under_way: dict[str, asyncio.Event] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._others = others
        if others:
            plans.library.on_outcome = self._outcome_elsewhere

    async def close(self) -> None:
        """Wait for what is being learned."""
        await asyncio.gather(*self._tasks)

    def run_in_background(self, work: Callable[[], Coroutine[Any, Any, object]], *, failed: Callable[[], None]) -> None:
        """Do some work in the background; `failed` is called while its exception is handled."""

        async def unfailing() -> None:
            try:
                await work()
            except Exception:
                failed()

        task = asyncio.create_task(unfailing(), name="semcache-plans")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def run(self, lookup: Lookup, headers: HeaderList) -> str | None:
        """Return the id of the run that a request belongs to, None for one that plans do not apply to."""
        request, decision = lookup.request, lookup.decision
        if not request.traits.tools or (isinstance(decision, Forward) and decision.why in _NO_PLAN):
            return None
        read = plan_dialects.conversation(request.endpoint, request.raw)
        if read is None:
            return None
        return self.run_of(request.scope, header(headers, AGENT), header(headers, SESSION), read[0])

    @contextmanager
    def under_way(self, run: str) -> Iterator[None]:
        """While the block runs, an outcome of this run waits for the turn in it."""
        ended = self._under_way[run] = asyncio.Event()
        try:
            yield
        finally:
            ended.set()
            if self._under_way.get(run) is ended:
                del self._under_way[run]

    async def serve(
        self,
        dialect: Dialect,
        request: CacheRequest,
        headers: HeaderList,
        request_id: str,
        calls: SmallCalls | None = None,
    ) -> PlanReply | Unplanned:
        """Return the next step of a plan as the reply to this request, `Unplanned` where the planner is to be asked.

        `calls` are those of the small model, where there is one.
        """
        turn = self._asked(dialect, request, headers)
        if isinstance(turn, FoundPlan):
            return Unplanned(turn)
        # The small model is for the last word, which is none where a tool has to be called.
        helper = None if plan_dialects.must_call(request.raw) else self._helper(calls)
        found = await self.plans.lookup(turn.messages, **turn.options, small=helper.filler if helper else None)
        limit = request.controls.max_error
        if limit is not None and found.outcome == "plan" and found.p_success < 1.0 - limit:
            return Unplanned(FoundPlan("miss", "max-error"))
        if found.outcome != "plan":
            return await self._without_plan(turn, found, helper) if helper is not None else Unplanned(found)
        if not found.calls:
            # A plan in words is for whoever plans, no answer to who asked.
            if helper is not None:
                helper.small.spent(helper.calls)
            return Unplanned(FoundPlan("miss", PlanReason.IN_WORDS.value, found.plan_id))
        if len(found.calls) > 1 and plan_dialects.one_at_a_time(request.endpoint, request.raw):
            if helper is not None:
                helper.small.spent(helper.calls)
            return Unplanned(FoundPlan("miss", "one-at-a-time"))
        return self._next_step(turn, found, request_id, helper)

    def _asked(self, dialect: Dialect, request: CacheRequest, headers: HeaderList) -> _AskedTurn | FoundPlan:
        """Return a request as plans read it, or why they may not answer it."""
        read = plan_dialects.conversation(request.endpoint, request.raw)
        if read is None:
            return FoundPlan("miss", PlanReason.UNREADABLE.value)
        if request.controls.no_cache:
            return FoundPlan("miss", "no-cache")
        wish = plan_dialects.other_wish(request.endpoint, request.raw)
        if wish is not None:
            return FoundPlan("miss", "tool-choice", detail="" if wish == "tool_choice" else wish)
        if is_kept_upstream(request):
            # The upstream would not know this answer by its id.
            return FoundPlan("miss", "stored-response", detail='send "store": false')
        run = self.run_of(request.scope, header(headers, AGENT), header(headers, SESSION), read[0])
        return _AskedTurn(dialect, request, *read, agent_of(request, headers), run)

    def _helper(self, calls: SmallCalls | None) -> _Helper | None:
        """Return the small model for one turn, None where it is not to be asked."""
        if calls is None or self.small is None or not self.small.is_wanted(calls):
            return None
        return _Helper(self.small, calls)

    async def _without_plan(self, turn: _AskedTurn, found: FoundPlan, helper: _Helper) -> PlanReply | Unplanned:
        """Return the small model's last word where it may have it, else what it could be compared on."""
        helper.small.spent(helper.calls)
        work = SmallWork.ENDING if found.unplanned else SmallWork.LAST_WORD
        said = None
        if found.last_word and helper.small.pays(helper.calls, work):
            said = await self._last_word(turn, helper, work)
        return said or Unplanned(found, {"messages": turn.messages, "options": turn.options})

    def _next_step(self, turn: _AskedTurn, found: FoundPlan, request_id: str, helper: _Helper | None) -> PlanReply:
        """Return the calls of a plan as the reply; the run waits for its outcome from now on."""
        request = turn.request
        tenant, size = request.scope.tenant, len(request.raw)
        pending = PendingRun(tenant, turn.agent, turn.messages, turn.tools, found, size=size, user=request.scope.user)
        self.pending.note(turn.run, pending)
        now = int(self._clock())
        # The same ids for the same conversation: the reply to its results is then found as an identical request.
        ids = digest(self._salt.hex(), "calls", tenant, turn.messages).hex()[:24]
        named, wanted = request.model, self._habits.of(request.model)
        body = plan_dialects.answer(request.endpoint, named, found, id=request_id, run=ids, created=now, wanted=wanted)
        payload, own = _written(turn, body, b"semcache; hit; detail=plan")
        own.insert(-1, (b"x-semcache-plan", (found.plan_id or "").encode()))
        template = self.plans.library.get(found.plan_id)
        tokens = template.tokens // (len(template.steps) + 1) if template is not None else 0
        if helper is None or not found.asked:
            return PlanReply(payload, own, tokens)
        helper.small.filled(found, helper.calls)
        return PlanReply(payload, own, tokens, helper.calls.usage, helper.calls.paid)

    async def _last_word(self, turn: _AskedTurn, helper: _Helper, work: SmallWork) -> PlanReply | None:
        """Return the small model's answer to a request whose plan is carried out, or that may end a run without one."""
        small, calls = helper.small, helper.calls.anew()
        answer = await small.last_word(calls, work)
        if answer is None:
            return None
        payload, own = _written(turn, answer.body, b"semcache; fwd=miss; detail=plan")
        small.said(calls, answer, work)
        return PlanReply(payload, own, 0, calls.usage, calls.paid, calls.price(answer.usage), answer)

    async def with_hint(self, request: CacheRequest, headers: HeaderList) -> bytes | None:
        """Return the request with a plan that has worked for tasks like its own, None without one."""
        read = plan_dialects.conversation(request.endpoint, request.raw)
        if read is None or request.controls.no_cache:
            return None
        agent = agent_of(request, headers)
        found = await self.plans.lookup(read[0], tools=read[1], tenant=request.scope.tenant, agent=agent)
        return plan_dialects.with_hint(request.endpoint, request.raw, found.hint) if found.hint else None

    async def learn(self, request: CacheRequest, headers: HeaderList, body: bytes, tokens: int = 0) -> str | None:
        """Learn of a model's complete answer, which took `tokens`; return the id of its run, None where it has none.

        Its run is known before this first waits. Raises StoreError.
        """
        read = plan_dialects.conversation(request.endpoint, request.raw)
        spoken = plan_dialects.read_answer(request.endpoint, body)
        if read is None or request.controls.no_store:
            return None
        messages, tools = read
        self._habits.note(request.model, spoken or {})
        tenant, agent = request.scope.tenant, agent_of(request, headers)
        run = self.run_of(request.scope, header(headers, AGENT), header(headers, SESSION), messages)
        if spoken is None:
            # What comes later may look whole without this answer.
            odd = PendingRun(tenant, agent, [], tools, whole=True, unfit=PlanReason.UNREADABLE.value)
            self.pending.note(run, replace(odd, user=request.scope.user))
            return run
        over = hands_over(spoken)
        calls = bool(spoken.get("tool_calls")) and not over
        said = [*messages, _END if over else spoken]
        size = len(request.raw) + len(body)
        called = any(one.get("tool_calls") for one in said)
        unfit = "" if plan_dialects.chooses_tool(request.raw, called=called) else "tool-choice"
        pending = PendingRun(tenant, agent, said, tools, None, not calls, calls, size, tokens, unfit)
        must_call = plan_dialects.must_call(request.raw)
        self.pending.note(run, replace(pending, user=request.scope.user, must_call=must_call))
        if not calls and self._rule == "finished" and not has_error(messages):
            await self.outcome(run, success=True, tenant=tenant)
        return run

    async def outcome(
        self, run: str, *, success: bool, tenant: str | None, user: str | None = None
    ) -> LearnedRun | None:
        """Record the outcome of a run and return what it became; None if it is not known (to that tenant and user).

        Raises StoreError.

        The outcome of a run that is not complete here is passed on to the other workers, if there are any; a failure
        only if nothing is known of the run, so that it is counted once.
        """
        known = self.pending.get(run)
        if known is not None and user is not None and known.user not in (None, user):
            return None
        if not self.pending.is_complete(run) and (under_way := self._under_way.get(run)) is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(under_way.wait(), _PATIENCE)
        whole = self.pending.is_complete(run)
        if whole or not success or not self._others:
            became = await self._ended(run, success=success, tenant=tenant)
            if became is not None:
                return became
        if not self._others or _RUN.fullmatch(run) is None:
            return None
        await self.plans.library.tell(run, success=success, tenant=tenant or "", now=self._clock())
        return LearnedRun("passed-on")

    def _outcome_elsewhere(self, run: str, success: bool, tenant: str) -> None:
        """Record an outcome that another worker was told."""
        if self.pending.is_complete(run):
            ended = partial(self._ended, run, success=success, tenant=tenant or None)
            self.run_in_background(
                ended, failed=lambda: _log.warning("the outcome of run %s was lost", run, exc_info=True)
            )

    async def _ended(self, run: str, *, success: bool, tenant: str | None) -> LearnedRun | None:
        pending = self.pending.get(run)
        if pending is None or tenant not in (None, pending.tenant):
            return None
        self.pending.forget(run)
        try:
            return await self._learned(pending, success=success)
        except CacheUnavailable:
            # Who says it again is heard.
            self.pending.note(run, pending)
            raise

    async def _learned(self, pending: PendingRun, *, success: bool) -> LearnedRun:
        found = pending.found
        if found is not None and not (success and pending.whole and pending.planned):
            await self.plans.outcome(found, success=success)
            return LearnedRun("counted", found.plan_id)
        if not success:
            return LearnedRun("failed")
        messages = pending.messages
        if not pending.whole:
            if not (pending.must_call and messages and messages[-1].get("tool_calls")):
                return LearnedRun(PlanReason.TRUNCATED.value)
            # It ended with a call, as it had to, and no message in words may take the place of that: it is left to the
            # model, which is asked with all results.
            messages = [*messages[:-1], _END]
        if pending.unfit:
            # Its calls show what the client wanted in that turn, not what its task needs.
            return LearnedRun(pending.unfit)
        return await self.plans.learn(
            messages,
            tools=pending.tools,
            tenant=pending.tenant,
            agent=pending.agent,
            tokens=pending.tokens,
            found=found,
        )

    def run_of(self, scope: Scope, agent: str, session: str, messages: Sequence[dict[str, Any]]) -> str:
        """Return the id of a run: its session, or the conversation up to the task, which every turn begins with.

        Sessions of the same name in different scopes are different runs.
        """
        start = next((number for number, one in enumerate(messages) if one.get("role") == "user"), len(messages) - 1)
        begun: Any = session or list(messages[: start + 1])
        whose = scope.tenant, scope.user, scope.namespace
        return digest(self._salt.hex(), whose, agent, bool(session), begun).hex()


def _written(turn: _AskedTurn, body: bytes, status: bytes) -> tuple[bytes, HeaderList]:
    """Return a reply as the client wants it, at once or as a stream, and its headers."""
    payload, kind = body, b"application/json"
    if turn.request.stream:
        payload, kind = b"".join(turn.dialect.stream(body, turn.request.replay)), EVENT_STREAM
    own = [
        (b"content-type", kind),
        (b"cache-control", b"private, no-store"),
        (b"cache-status", status),
        (RUN, turn.run.encode()),
    ]
    return payload, own
