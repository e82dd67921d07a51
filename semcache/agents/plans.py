"""The plan cache: look a template up for a task, record a run, learn from outcomes.

The one place of this folder that waits and keeps state; stores, embedder, clock and ids are arguments.
Invariant: `lookup` never raises and never serves across partitions: whatever goes wrong is one counted reason to ask
the planner. A template is served only while its predicted success is at least the target.
"""

from __future__ import annotations

import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semcache.agents import outcome as outcomes
from semcache.agents.adapt import SmallModel, TimedModel, UnfitTemplate, fill, followed
from semcache.agents.capture import distil
from semcache.agents.found_plan import FoundPlan, LearnedRun, PlanQuestion, difference
from semcache.agents.grow import grown
from semcache.agents.near_labels import card_of, label_of
from semcache.agents.pattern import alignable, masked
from semcache.agents.plain_wording import as_written, plain_task, wished
from semcache.agents.plan_hint import hint
from semcache.agents.plan_library import PlanLibrary
from semcache.agents.plan_terms import CATEGORY, USUAL_TERMS, NearMatching, PlanTerms
from semcache.agents.run import NoRun, PlanReason, RunTurn, begun, digest, interrupted, read, task_of, turns_of
from semcache.agents.run import tools as declared_tools
from semcache.agents.small_planner import SmallPlanner, SmallWork
from semcache.agents.template import Template
from semcache.agents.template_search import PlanTier, TemplateIndex, TemplateMatch
from semcache.agents.turning_words import turning
from semcache.matching import decide
from semcache.types import Candidate, Controls, Forward, Serve, public_id
from semcache.types.evidence import Label

if TYPE_CHECKING:
    from semcache.types import Vector

_log = logging.getLogger(__name__)

# No plan says what comes next; of those that are left out a plan does, though it cannot be served.
_UNPLANNED = frozenset(
    one.value
    for one in (
        PlanReason.COLD, PlanReason.UNCERTAIN, PlanReason.BELOW_TARGET, PlanReason.EXPIRED, PlanReason.RETIRED,
        PlanReason.OFF_PLAN, PlanReason.TOO_LARGE,
    )
)  # fmt: skip
# The wording of the task is all that keeps a plan from it.
_OTHER_WORDS = frozenset((PlanReason.COLD.value, PlanReason.UNCERTAIN.value, PlanReason.TURNED.value))
_REFUSED = 64  # tasks that a template keeps in mind to have failed at
_ASKED = 3  # templates that are filled in for one task, at most


class Plans:
    """The plan templates of one process. `note` is called with every reason.

    `small` is the small model that says what stays open; where `planner` is set only what that has certified, else
    always. Without `near`, or without an embedder, only tasks that say the same are served.
    """

    def __init__(
        self,
        library: PlanLibrary,
        *,
        salt: bytes,
        new_id: Callable[[], int],
        clock: Callable[[], float] = time.time,
        terms: PlanTerms = USUAL_TERMS,
        small: SmallModel | None = None,
        near: NearMatching | None = None,
        note: Callable[[str], None] = lambda _why: None,
    ) -> None:
        self.library, self._salt, self._new_id, self._clock = library, salt, new_id, clock
        self.terms, self._small, self._near, self._note = terms, small, near, note
        self.planner: SmallPlanner | None = None
        self.counts: Counter[str] = Counter()

    # What callers use

    async def lookup(
        self,
        task: str | Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        tenant: str = "default",
        agent: str = "",
        system: str = "",
        small: SmallModel | None = None,
    ) -> FoundPlan:
        """The plan for a task, or the next step of it for a conversation that is under way. Never raises.

        `small` takes the place of the small model that there is.
        """
        asked = small or self._small
        if self.planner is not None and not self.planner.may(SmallWork.SLOTS):
            asked = None
        try:
            found = await self._lookup(task, tools, tenant, agent, system, asked)
        except NoRun as error:
            found = FoundPlan("miss", error.why.value)
        except Exception:
            _log.warning("a plan could not be looked up, and the planner is asked", exc_info=True)
            found = FoundPlan("miss", PlanReason.FAULT.value)
        self._count(found.why)
        return self._ending(found, task)

    async def compare(
        self,
        messages: Sequence[Mapping[str, Any]],
        calls: Sequence[tuple[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        tenant: str = "default",
        agent: str = "",
        small: SmallModel | None = None,
    ) -> bool | None:
        """Compare what the small model would have called next with these calls, (tool, arguments) of the large one.

        None where it had nothing to fill in, or said nothing that could have been served. Never raises.
        """
        try:
            found = await self._lookup(messages, tools, tenant, agent, "", small or self._small)
        except Exception:
            return None
        if found.outcome != "plan" or not found.asked:
            return None
        right = [(one.tool, one.arguments) for one in found.calls] == list(calls)
        if self.planner is not None:
            self.planner.compared(SmallWork.SLOTS, right=right)
        return right

    async def record(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        tenant: str = "default",
        agent: str = "",
        success: bool = True,
        tokens: int = 0,
        found: FoundPlan | None = None,
        in_words: bool = False,
    ) -> str | None:
        """Learn from a finished run, given as chat messages; the id of its template, None when it became none.

        `tokens` is what its planning took, `found` what `lookup` had said of its task. Only a run that succeeded
        becomes a template. An answer is no plan unless it is said to be one (`in_words`). Raises StoreError.
        """
        given: Any = {"tools": tools, "tenant": tenant, "agent": agent, "tokens": tokens}
        return (await self.learn(messages, found=found, in_words=in_words, **given)).plan_id if success else None

    async def learn(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[Mapping[str, Any]] = (),
        tenant: str = "default",
        agent: str = "",
        tokens: int = 0,
        found: FoundPlan | None = None,
        in_words: bool = False,
    ) -> LearnedRun:
        """Learn from a run that ended well, as `record` does, and say what it became. Raises StoreError."""
        declared = declared_tools(tools)
        try:
            run = read(messages)
            draft = distil(run, declared, salt=self._salt, in_words=in_words)
        except NoRun as error:
            self._count(error.why.value)
            return LearnedRun(error.why.value)
        if self.planner is not None and self._small is not None:
            await self._compare_run(messages, run.turns, tools, tenant, agent)
        async with self.library.changing():
            now, partition = self._clock(), self.library.partition(tenant, agent, declared, run.system)
            index = self.library.index_of(partition)
            for old in index.twins(run.task, draft.tools) if index is not None else ():
                whole = grown(old, draft, run.task, salt=self._salt)
                if whole is not None:
                    whole = replace(outcomes.counted(whole, now, success=True), expires=now + self.terms.life)
                    self.library.believe(old, success=True)
                    self._learn(found, correct=public_id(old.id) == found.plan_id if found else False)
                    await self.library.keep(whole)
                    return LearnedRun("known", public_id(whole.id))
            self._learn(found, correct=False)
            template = Template(
                self._new_id(), 1, tenant, agent, partition, draft.tools, (draft.pattern,), draft.slots, draft.steps,
                draft.requires, draft.expects, now, now + self.terms.life, tokens=tokens,
            )  # fmt: skip
            await self.library.make_room(tenant, now)
            await self.library.keep(template)
            return LearnedRun("learned", public_id(template.id))

    async def outcome(self, found: FoundPlan | str, *, success: bool, tenant: str | None = None) -> bool:
        """Say whether a served plan led to success; False when there is no such template (of that tenant).

        After a failure the same kind of task is never answered by that template again. Raises StoreError.
        """
        given = found if isinstance(found, FoundPlan) else FoundPlan("plan", "", found)
        async with self.library.changing():
            template = self.library.get(given.plan_id, tenant)
            if template is None:
                return False
            now = self._clock()
            changed = outcomes.counted(template, now, success=success)
            if success:
                changed = replace(changed, expires=now + self.terms.life)
            elif given.key:
                changed = replace(changed, refused=(*changed.refused, given.key)[-_REFUSED:])
            self.library.believe(template, success=success)
            self._learn(given, correct=success)
            await self.library.keep(replace(changed, version=template.version + 1))
            return True

    def now(self) -> float:
        """The time by which templates age, in Unix seconds."""
        return self._clock()

    def predicted(self, template: Template) -> float:
        """The probability that a template succeeds now."""
        return self.library.predicted(template, self._clock())

    # Inside

    async def _compare_run(
        self,
        messages: Sequence[Mapping[str, Any]],
        turns: Sequence[RunTurn],
        tools: Sequence[Mapping[str, Any]],
        tenant: str,
        agent: str,
    ) -> None:
        """Compare the small model with the first turn of a run that it could have filled in."""
        places = [at for at, one in enumerate(messages) if one.get("tool_calls")]
        for at, turn in zip(places, turns, strict=False):
            calls = [(one.tool, one.arguments) for one in turn.calls]
            if await self.compare(messages[:at], calls, tools=tools, tenant=tenant, agent=agent) is not None:
                return

    async def _lookup(
        self,
        task: str | Sequence[Mapping[str, Any]],
        declared: Sequence[Mapping[str, Any]],
        tenant: str,
        agent: str,
        system: str,
        small: SmallModel | None,
    ) -> FoundPlan:
        messages = [{"role": "user", "content": task}] if isinstance(task, str) else task
        text, prompt = task_of(messages, system)
        if interrupted(messages) or begun(messages):
            return FoundPlan("miss", PlanReason.OFF_PLAN.value)
        known = declared_tools(declared)
        index = self.library.index_of(self.library.partition(tenant, agent, known, prompt))
        if index is None or not len(index):
            return FoundPlan("miss", PlanReason.COLD.value)
        if not alignable(text):
            return FoundPlan("miss", PlanReason.TOO_LARGE.value)
        done, _ = turns_of(messages)
        key = digest(self._salt.hex(), masked(text)).hex()
        vector = await self.library.vector(masked(text)) if self._near is not None else None
        asked = PlanQuestion(text, known, done, key, small)
        found = await self._as_said(index, asked, vector)
        if found.why not in _OTHER_WORDS:
            return found
        return await self._in_plain_wording(index, asked) or found

    async def _in_plain_wording(self, index: TemplateIndex, asked: PlanQuestion) -> FoundPlan | None:
        """The plan of a task that says in other words what the tasks of a template say; None where there is none."""
        for task, wish in ((plain_task(asked.task), False), (wished(asked.task), True)):
            match = index.worded(task, asked.task, wish=wish) if task is not None else None
            written = as_written(asked.task, task, match.fit) if task is not None and match is not None else None
            if match is None or written is None or task is None:
                continue
            found = await self._served(replace(match, fit=written), replace(asked, task=task), 1.0, None)
            if found.why not in _OTHER_WORDS:
                return found
        return None

    async def _as_said(self, index: TemplateIndex, asked: PlanQuestion, vector: Vector | None) -> FoundPlan:
        text, key = asked.task, asked.key
        tried: set[int] = set()
        miss = FoundPlan("miss", PlanReason.COLD.value, key=key)
        while len(tried) < _ASKED and (matches := index.search(text, vector, without=tried)):
            first = matches[0]
            if first.tier is PlanTier.NEAR:
                near = [one for one in matches if key not in one.template.refused and not one.fit.unsure]
                if not near and not tried:
                    return FoundPlan("miss", PlanReason.UNCERTAIN.value, key=key, detail=difference(first.fit))
                return await self._certified(near, asked) if not tried else miss
            found = await self._served(first, asked, 1.0, None)
            if found.outcome == "plan":
                return found
            miss = miss if tried else found
            tried.add(first.template.id)
        return miss

    async def _served(
        self,
        match: TemplateMatch,
        asked: PlanQuestion,
        p_correct: float,
        label: Label | None,
    ) -> FoundPlan:
        template, done, key = match.template, asked.done, asked.key
        likely = self.predicted(template) * p_correct
        plan_id = public_id(template.id)
        refusal = self._refusal(template, key, likely)
        if refusal is not None:
            return FoundPlan("miss", refusal.value, plan_id, p_success=likely, label=label, key=key)
        turned = turning(asked.task, match.pattern, match.fit, writes=bool(template.writes()))
        if turned:
            why, detail = PlanReason.TURNED.value, ", ".join(turned)
            return FoundPlan("miss", why, plan_id, p_success=likely, label=label, key=key, detail=detail)
        try:
            if done and len(done) == len(template.steps):
                followed(template, asked.task, match.fit, done, salt=self._salt)
                return self._done(FoundPlan("miss", "", plan_id, p_success=likely, label=label, key=key))
            timed = None if asked.small is None else TimedModel(asked.small, self.terms.small_seconds)
            plan = await fill(
                template, asked.task, match.fit, asked.tools, salt=self._salt, done=done, small=timed,
                until=len(done) + 1 if template.steps[0].actions else None,
            )  # fmt: skip
        except UnfitTemplate as error:
            why, detail = error.why.value, error.detail
            return FoundPlan("miss", why, plan_id, p_success=likely, label=label, key=key, detail=detail)
        calls = plan.steps[0] if plan.steps else ()
        if calls is None:
            return FoundPlan("miss", PlanReason.OFF_PLAN.value, plan_id, p_success=likely, label=label, key=key)
        return FoundPlan(
            "plan", match.tier.value, plan_id, calls, plan.text, hint(template, match), likely, match.tier.value,
            plan.filled, plan.asked, plan, label, key,
        )  # fmt: skip

    def _done(self, found: FoundPlan) -> FoundPlan:
        """The result where every step of a plan was made: the last word is left."""
        certified = self.planner is not None and self.planner.may(SmallWork.LAST_WORD)
        return replace(found, why=PlanReason.PLAN_DONE.value, last_word=certified)

    def _ending(self, found: FoundPlan, task: str | Sequence[Mapping[str, Any]]) -> FoundPlan:
        """The result where a run that has no plan may be over: its last calls have their results."""
        last = task[-1] if task and not isinstance(task, str) else {}
        if found.outcome == "plan" or found.why not in _UNPLANNED or last.get("role") != "tool":
            return found
        certified = self.planner is not None and self.planner.may(SmallWork.ENDING)
        return replace(found, unplanned=True, last_word=certified)

    def _refusal(self, template: Template, key: str, likely: float) -> PlanReason | None:
        if template.retired:
            return PlanReason.RETIRED
        if template.expires <= self._clock():
            return PlanReason.EXPIRED
        return PlanReason.BELOW_TARGET if likely < self.terms.target or key in template.refused else None

    async def _certified(
        self,
        near: Sequence[TemplateMatch],
        asked: PlanQuestion,
    ) -> FoundPlan:
        """Serve what is merely near if the threshold certifies it, else give a hint at most."""
        first, key = near[0], asked.key
        miss = FoundPlan(
            "miss", PlanReason.UNCERTAIN.value, public_id(first.template.id), hint=hint(first.template, first), key=key,
            detail=difference(first.fit),
        )  # fmt: skip
        matching = self._near
        if matching is None:
            return replace(miss, plan_id=None)
        candidates = [Candidate(card_of(one), max(-1.0, min(1.0, one.score))) for one in near]
        terms = decide.RequestTerms(CATEGORY, Controls(), self._clock(), draw=matching.draw())
        decision = decide.semantic(candidates, asked.task, terms, matching.threshold, matching.conflicts)
        if isinstance(decision, Serve):
            match = next(one for one in near if one.template.id == decision.card.id)
            label = label_of(match, decision.features, decision.p_correct, served=True, key=key, now=self._clock())
            found = Candidate(decision.card, decision.score, features=decision.features)
            matching.threshold.note(CATEGORY, decision.p_correct, served=True, audited=False, candidate=found)
            return await self._served(match, asked, decision.p_correct, label)
        nearest = decision.nearest if isinstance(decision, Forward) else None
        p_correct = decision.p_correct
        matching.threshold.note(CATEGORY, p_correct, served=False, audited=False)
        if nearest is None or not nearest.features:
            return miss
        match = next(one for one in near if one.template.id == nearest.card.id)
        label = label_of(match, nearest.features, p_correct or 0.0, served=False, key=key, now=self._clock())
        return replace(miss, plan_id=public_id(match.template.id), hint=hint(match.template, match), label=label)

    def _learn(self, found: FoundPlan | None, *, correct: bool) -> None:
        """A label of the near tier: this template led to success where it was near, or it would have, or not."""
        if found is not None and found.label is not None and self._near is not None:
            teach = self._near.teach or self._near.threshold.observe
            teach(replace(found.label, correct=correct, at=self._clock()))

    def _count(self, why: str) -> None:
        self.counts[why] += 1
        self._note(why)
