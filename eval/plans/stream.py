"""Running one stream of tasks through plan templates, or through what they are compared with.

Knows labels and costs, nothing of data sets. Invariant: a task is looked up before its run is recorded, and nothing of
later tasks is known by then.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from eval.plans.sets import Task
from semcache.agents.found_plan import FoundPlan
from semcache.agents.plan_library import PlanLibrary
from semcache.agents.plans import Plans
from semcache.storage.stores.plan_rows import MemoryPlans

SALT = b"evaluation of plan templates...."
CHARACTERS = 4  # of a token, about
ENOUGH = 2  # examples after which a template should hit


@dataclass(slots=True)
class Tally:
    """The totals of a stream. `seen` counts tasks, hits and wrong plans by examples seen before, 5 for more."""

    tasks: int = 0
    hits: int = 0
    wrong: int = 0
    seen: Counter[tuple[str, int]] = field(default_factory=Counter)
    slots: int = 0
    filled: int = 0
    right: int = 0
    planner_calls: int = 0
    tokens: int = 0
    saved: int = 0
    why: Counter[str] = field(default_factory=Counter)

    def add(self, examples: int, *, served: bool, right: bool) -> None:
        """Count one task."""
        bucket = min(5, examples)
        self.tasks += 1
        self.hits += served and right
        self.wrong += served and not right
        self.seen["tasks", bucket] += 1
        self.seen["hits", bucket] += served and right

    def after(self, examples: int = ENOUGH) -> float | None:
        """The share of tasks hit whose template was seen so often, None where there were none."""
        of = sum(self.seen["tasks", bucket] for bucket in range(examples, 6))
        return sum(self.seen["hits", bucket] for bucket in range(examples, 6)) / of if of else None

    def row(self) -> dict[str, Any]:
        """As JSON has it."""
        served = self.hits + self.wrong
        return {
            "tasks": self.tasks,
            "seen_twice": sum(self.seen["tasks", bucket] for bucket in range(ENOUGH, 6)),
            "hit_rate": self.hits / max(1, self.tasks),
            "hit_rate_after_one": self.after(1),
            "hit_rate_after_two": self.after(),
            "wrong_per_hit": self.wrong / served if served else 0.0,
            "wrong": self.wrong,
            "slots": self.slots,
            "slots_filled": self.filled / self.slots if self.slots else None,
            "slots_right": self.right / self.filled if self.filled else None,
            "planner_calls_saved": self.hits / max(1, self.tasks),
            "planner_tokens": self.tokens,
            "planner_tokens_saved": self.saved / self.tokens if self.tokens else 0.0,
            "why": dict(self.why.most_common()),
        }


async def ours(tasks: Sequence[Task], **parts: Any) -> Tally:
    """Plan templates. `parts` are those of the near tier, if there is to be one: embedder, index, near."""
    ids = count(1)
    shared = {name: parts.pop(name) for name in ("embedder", "index") if name in parts}
    plans = Plans(
        PlanLibrary(MemoryPlans(), salt=SALT, **shared), salt=SALT, new_id=lambda: next(ids), clock=lambda: 1.0, **parts
    )
    label_of: dict[str, str] = {}

    async def look(task: Task) -> tuple[str | None, FoundPlan]:
        found = await plans.lookup(_first(task), tools=task.tools)
        return (label_of[found.plan_id] if found.outcome == "plan" and found.plan_id else None), found

    async def learn(task: Task, found: FoundPlan, right: bool) -> None:
        if found.outcome == "plan":
            await plans.outcome(found, success=right)
        if not right:
            plan_id = await plans.record(task.messages, tools=task.tools, success=task.success, found=found)
            if plan_id is not None:
                label_of[plan_id] = task.label

    tally = await _stream(tasks, look, learn)
    tally.why = plans.counts
    return tally


async def compared(tasks: Sequence[Task], answer: Callable[[Task], str | None], learn: Callable[[Task], None]) -> Tally:
    """A method that names the label of a task or None, and learns from every run that succeeded."""

    async def look(task: Task) -> tuple[str | None, FoundPlan]:
        return answer(task), FoundPlan("miss", "")

    async def keep(task: Task, _found: FoundPlan, right: bool) -> None:
        if not right and task.success:
            learn(task)

    return await _stream(tasks, look, keep)


async def _stream(
    tasks: Sequence[Task],
    look: Callable[[Task], Awaitable[tuple[str | None, FoundPlan]]],
    learn: Callable[[Task, FoundPlan, bool], Awaitable[None]],
) -> Tally:
    tally, seen = Tally(), Counter[str]()
    for task in tasks:
        label, found = await look(task)
        right = label == task.label
        tokens = _tokens(task)
        tally.add(seen[task.label], served=label is not None, right=right)
        tally.tokens += tokens
        tally.saved += tokens * right
        tally.planner_calls += not right
        if label is not None and right and found.calls and task.slots:
            made = found.calls[0].arguments
            tally.slots += len(task.slots)
            tally.filled += found.filled
            tally.right += sum(_same(made.get(name), value) for name, value in task.slots.items())
        await learn(task, found, right)
        seen[task.label] += task.success
    return tally


def _first(task: Task) -> list[dict[str, Any]]:
    """The conversation up to the task."""
    place = next(number for number, one in enumerate(task.messages) if one["role"] == "user")
    return list(task.messages[: place + 1])


def _tokens(task: Task) -> int:
    """The tokens that planning writes: the calls of the run."""
    calls = [one["tool_calls"] for one in task.messages if one.get("tool_calls")]
    return len(json.dumps([call["function"] for calls_ in calls for call in calls_])) // CHARACTERS


def _same(made: Any, value: str) -> bool:
    return str(made).strip(" .,?!").casefold() == value.strip(" .,?!").casefold()
