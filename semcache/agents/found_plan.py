"""The question that plans are asked, and the plan that was found for it.

Invariant: a miss carries everything that `Plans.record` and `Plans.outcome` learn from.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from semcache.agents.adapt import FilledPlan, PlannedCall, SmallModel
from semcache.agents.pattern import PatternFit
from semcache.agents.run import DeclaredTool, RunTurn
from semcache.agents.slots import ARTICLE
from semcache.types.evidence import Label

_NAMED = 3  # words of a difference


@dataclass(frozen=True, slots=True)
class FoundPlan:
    """The result of a lookup.

    `outcome` is "plan" or "miss"; `why` is the tier ("key", "slots", "near") or the reason to plan anew, and `detail`
    the argument ("tool.argument"), slot, tool or words that it is about. `calls` are
    the calls to make next, `text` the plan in words, where the template is one. `hint` is the plan to be shown to a
    planner, also where nothing may be served. `last_word` says that the plan is carried out and that the small model is
    certified to say what there is to say; where there is no plan (`unplanned`), that it is certified for what it says
    unless it calls a tool. Hand it back to `outcome` and `record`.
    """

    outcome: str
    why: str
    plan_id: str | None = None
    calls: tuple[PlannedCall, ...] = ()
    text: str = ""
    hint: str = ""
    p_success: float = 0.0
    tier: str = ""
    filled: int = 0
    asked: int = 0
    plan: FilledPlan | None = None
    label: Label | None = None
    key: str = ""
    last_word: bool = False
    unplanned: bool = False
    detail: str = ""


def difference(fitted: PatternFit) -> str:
    """The words in which a task differs from the pattern that is nearest to it: "half", "without order", "a value"."""
    more = [one for one in fitted.surplus if one != ARTICLE][:_NAMED]
    less = [f"without {one}" for one in fitted.missing if one != ARTICLE][:_NAMED]
    return ", ".join([*more, *less]) or "a value"


@dataclass(frozen=True, slots=True)
class PlanQuestion:
    """A task that is looked up: the tools that are declared, the turns so far, and who fills open slots."""

    task: str
    tools: Mapping[str, DeclaredTool]
    done: Sequence[RunTurn]
    key: str
    small: SmallModel | None


@dataclass(frozen=True, slots=True)
class LearnedRun:
    """The result of learning from a run. `plan_id` is its template, None where it became none.

    `why` is "learned" for a new template, "known" for one that the run confirmed or improved, else the reason why there
    is none (`PlanReason`). Of an outcome it may also be "counted" (for or against the plan that was served), "failed"
    (the run ended badly without a plan) or "passed-on" (to the worker that knows the run).
    """

    why: str
    plan_id: str | None = None
