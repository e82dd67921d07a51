"""The savings of plan templates: `python -m eval.plan_costs [SET...] [--results DIR]`.

The agent of Agentic Plan Caching (arXiv 2506.14852) with scripted models: a large model plans, a small one acts on the
plan. Two shapes of it: the actor has the last word, or the planner is asked once more for the answer, as through the
proxy, which leaves last words to the model that a request names, or to a small one that is certified (`plans.small`).
Tasks stream in the order of their set; a plan is served by the very templates that ship, and what is compared with it
are always planning anew, always planning with the small model, and plan caching by keyword with the small model's calls
that it needs. Prices are the list prices of gpt-4o and gpt-4o-mini, speeds and accuracies are stated assumptions,
lengths are those of the recorded texts.

A task is one that the large model plans rightly with probability 0.95, the small one with 0.75; a plan of the right
template does as well as the large model's own plan of that task would have, one of another template fails. Only what
succeeded is learned. Three seeds for these draws. Writes plan-costs.md and plan-costs.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from eval.markdown import table
from eval.plans.others import keyword
from eval.plans.sets import SETS, Task, rows
from eval.plans.stream import CHARACTERS, SALT
from semcache.agents.found_plan import FoundPlan
from semcache.agents.multiplex import PricedModel
from semcache.agents.plan_library import PlanLibrary
from semcache.agents.plans import Plans
from semcache.agents.small_planner import SmallPlanner, SmallWork
from semcache.matching.break_even import CORE_SECOND
from semcache.storage.stores.plan_rows import MemoryPlans
from semcache.types import Usage

RESULTS = Path(__file__).parent / "results"
CHOSEN = ("webarena_tasks", "react_trajectories", "tabmwp", "financebench")
SEEDS = 3
LARGE = PricedModel("gpt-4o", 2.50, 10.00, 0.95, first=0.5, speed=80.0)
SMALL = PricedModel("gpt-4o-mini", 0.15, 0.60, 0.75, first=0.4, speed=100.0)
SYSTEM, REASONING, WORDS, SAID = 300, 100, 40, 10  # tokens: instructions, thoughts before a plan, an answer, a keyword
PAPER = {"cost": -0.5031, "latency": -0.2728, "accuracy": 0.9661, "overhead": 0.0104}
RIGHT = 0.99  # of the small model's last words, once the plan is carried out, as good as the large one's
ALWAYS, OURS, KEYWORD = "always planning", "plan templates", "keyword plan caching"
DONE, SMALLER = "plan templates, small word after a plan", "plan templates, small last word"
CERTIFIED = "the same, certified before"
_SMALL = (DONE, SMALLER, CERTIFIED)
_INTRO = f"""# What plan templates save

Made by `python -m eval.plan_costs`, which says what is simulated.
{LARGE.name}: ${LARGE.prompt:g}/{LARGE.completion:g} a million tokens, {LARGE.first} s and {LARGE.speed:g} tokens/s,
plans rightly in {LARGE.quality:.0%} of tasks.
{SMALL.name}: ${SMALL.prompt:g}/{SMALL.completion:g}, {SMALL.first} s and {SMALL.speed:g} tokens/s, {SMALL.quality:.0%}.
Prices are list prices, all else of the models is assumed. Tokens are characters / 4; of webarena_tasks and
react_trajectories no thoughts are read, and {REASONING} tokens of them are assumed before each call. Labels of
webarena_tasks are its own, those of tabmwp and financebench are derived by this project's own rules
(`eval/plans/sets.py`).

`cost` and `latency` are against always planning with the large model, `kept` is the share of its accuracy, `overhead`
the share of the cost that is the cache's own (model calls, and CPU at $0.05 a core and hour); `large` and `small` are
calls a task. Seeds 0 to {SEEDS - 1} draw which tasks are planned rightly; `spread` is that of the cost between them.
Plan caching by keyword asks the small model for the keyword, to adapt a plan and to make a template, and after a hit
for the last words too, where plan templates leave these to the large one, or to a small one once comparisons certify
it: "{SMALLER}", whose last words are taken to be as good in {RIGHT:.0%} of runs; comparisons are paid for.
"{DONE}" leaves the last words of runs that had no plan to the large model, as it was before the small one could end
those under a certificate of their own. "{CERTIFIED}" starts with the certificates, as after a restart. A run's calls
are one turn here; where a run takes several turns without a plan the small model is asked at each of them, which
`plan-bill.md` counts, through the proxy.

The paper's own figures, over its own sets and models: cost {PAPER["cost"]:+.2%}, latency {PAPER["latency"]:+.2%},
{PAPER["accuracy"]:.2%} of the accuracy, overhead {PAPER["overhead"]:.2%} of the cost.
"""
WAYS = (ALWAYS, "always the small planner", OURS, DONE, SMALLER, CERTIFIED, KEYWORD)


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens of a task's texts: what the actor reads, the plan, and what the actor writes."""

    task: int
    context: int
    plan: int
    work: int


@dataclass(slots=True)
class Sum:
    """The totals of a stream. `cost` is in US dollars, `seconds` are of waiting, `own` of the cache's own CPU."""

    tasks: int = 0
    good: int = 0
    hits: int = 0
    wrong: int = 0
    cost: float = 0.0
    extra: float = 0.0  # of `cost`: what the cache itself has cost
    seconds: float = 0.0
    own: float = 0.0
    calls: dict[str, int] = field(default_factory=lambda: {LARGE.name: 0, SMALL.name: 0})

    def ask(
        self, model: PricedModel, prompt: int, completion: int, *, extra: bool = False, waited: bool = True
    ) -> None:
        """Count a call; `extra` ones are the cache's."""
        paid = model.cost(Usage(prompt, completion))
        self.calls[model.name] += 1
        self.cost += paid
        self.extra += paid * extra
        self.seconds += model.seconds(completion) * waited


def sizes(name: str, tasks: Sequence[Task]) -> list[Sizes]:
    """As recorded; of a set without texts, a plan is its calls with some thoughts before them."""
    told: dict[str, tuple[str, str]] = {}
    if name == "tabmwp":
        told = {row["question"]: (row["table"], row["solution"]) for row in rows("tabmwp/dev1k.jsonl.gz")}
    if name == "financebench":
        for row in rows("financebench/questions.jsonl.gz"):
            context = "\n".join(one["text"] for one in row["evidence"])
            told[row["question"]] = (context, f"{row['justification'] or ''} {row['answer']}")
    found = []
    for task in tasks:
        calls = [one["tool_calls"] for one in task.messages if one.get("tool_calls")]
        written = _tokens(json.dumps([call["function"] for turn in calls for call in turn]))
        context, solution = told.get(task.text, ("", ""))
        plan = _tokens(solution) if solution else written + REASONING * len(calls)
        found.append(Sizes(_tokens(task.text), _tokens(context), plan, plan))
    return found


async def play(way: str, tasks: Sequence[Task], lengths: Sequence[Sizes], seed: int, *, last: PricedModel) -> Sum:
    """One way on one stream; `last` is the model that has the last word of a task, which the actor's include."""
    rng, said, total, planner = random.Random(seed), random.Random(seed + 1000), Sum(), SmallPlanner()
    for work in (SmallWork.LAST_WORD, SmallWork.ENDING) if way == CERTIFIED else ():
        while not planner.may(work):
            planner.compared(work, right=True)
    cache, kept = _Templates(), dict[str, str]()
    for task, size in zip(tasks, lengths, strict=True):
        draw = rng.random()
        planned, plan, found, label = LARGE, size.plan, FoundPlan("miss", ""), None
        if way in (OURS, *_SMALL):
            found, label = await cache.look(task)
        elif way == KEYWORD:
            total.ask(SMALL, SYSTEM + size.task, SAID, extra=True)
            label = kept.get(keyword(task.text))
        elif way != ALWAYS:
            planned = SMALL
        right = label is None or label == task.label
        good = right and draw < planned.quality
        if label is None:
            total.ask(planned, SYSTEM + size.task, plan)
        elif way == KEYWORD:
            total.ask(SMALL, SYSTEM + size.task + plan, plan, extra=True)
        total.ask(SMALL, SYSTEM + size.task + size.context + plan, size.work)
        if last is LARGE:
            # Adapting a plan is the small planner's in plan caching by keyword, its last words are too.
            small = planned is SMALL or (way == KEYWORD and label is not None)
            prompt, fine = SYSTEM + size.task + plan + size.work, True
            if way in _SMALL:
                works = (
                    [SmallWork.LAST_WORD, SmallWork.ENDING] if label is None and way != DONE else [SmallWork.LAST_WORD]
                )
                mine, fine = works[-1], said.random() < RIGHT
                small = planner.may(mine) and (label is not None or way != DONE)
                # What the small one says is compared; where the large one answers, for all that is not certified.
                compared = [mine] if small else [work for work in works if not planner.may(work)]
                compared = [work for work in compared if planner.compares(work, said.random())]
                for work in compared:
                    planner.compared(work, right=fine)
                if compared:
                    total.ask(LARGE if small else SMALL, prompt, WORDS, extra=True, waited=False)
                good = good and (fine or not small)
            total.ask(SMALL if small else LARGE, prompt, WORDS)
        total.tasks += 1
        total.good += good
        total.hits += label is not None and right
        total.wrong += not right
        if way in (OURS, *_SMALL):
            await cache.learn(task, found, served=label is not None, good=good)
        elif way == KEYWORD and label is None and good:
            total.ask(SMALL, SYSTEM + plan, plan, extra=True, waited=False)
            kept[keyword(task.text)] = task.label
    total.own = cache.seconds
    total.seconds += cache.waited
    total.cost += cache.seconds * CORE_SECOND
    total.extra += cache.seconds * CORE_SECOND
    return total


class _Templates:
    """The templates that ship, with the time that they take."""

    def __init__(self) -> None:
        ids = count(1)
        self._plans = Plans(
            PlanLibrary(MemoryPlans(), salt=SALT), salt=SALT, new_id=lambda: next(ids), clock=lambda: 1.0
        )
        self._labels: dict[str, str] = {}
        self.seconds = self.waited = 0.0

    async def look(self, task: Task) -> tuple[FoundPlan, str | None]:
        place = next(number for number, one in enumerate(task.messages) if one["role"] == "user")
        started = time.perf_counter()
        found = await self._plans.lookup(list(task.messages[: place + 1]), tools=task.tools)
        took = time.perf_counter() - started
        self.seconds += took
        self.waited += took
        return found, self._labels[found.plan_id] if found.outcome == "plan" and found.plan_id else None

    async def learn(self, task: Task, found: FoundPlan, *, served: bool, good: bool) -> None:
        started = time.perf_counter()
        if served:
            await self._plans.outcome(found, success=good)
        elif good:
            plan_id = await self._plans.record(task.messages, tools=task.tools, found=found)
            if plan_id is not None:
                self._labels[plan_id] = task.label
        self.seconds += time.perf_counter() - started


def run(name: str) -> dict[str, Any]:
    """Every way in both shapes of the agent: means over the seeds, and the spread of the cost."""
    tasks = SETS[name]()
    lengths = sizes(name, tasks)
    found: dict[str, Any] = {"tasks": len(tasks)}
    for shape, last in (("the actor has the last word", SMALL), ("the planner has the last word", LARGE)):
        played = {
            way: [asyncio.run(play(way, tasks, lengths, seed, last=last)) for seed in range(SEEDS)] for way in WAYS
        }
        found[shape] = {way: _row(sums, played[ALWAYS]) for way, sums in played.items()}
    return found


def _row(sums: Sequence[Sum], always: Sequence[Sum]) -> dict[str, Any]:
    pairs = list(zip(sums, always, strict=True))
    costs = [one.cost / base.cost - 1.0 for one, base in pairs]
    mean = statistics.mean
    return {
        "cost_usd": mean(one.cost for one in sums),
        "cost": mean(costs),
        "cost_spread": max(costs) - min(costs),
        "latency": mean(one.seconds / base.seconds - 1.0 for one, base in pairs),
        "accuracy": mean(one.good / one.tasks for one in sums),
        "accuracy_kept": mean(one.good / base.good for one, base in pairs),
        "overhead": mean(one.extra / one.cost for one in sums),
        "own_ms_per_task": mean(1000.0 * one.own / one.tasks for one in sums),
        "hits": mean(one.hits / one.tasks for one in sums),
        "wrong": mean(one.wrong / max(1, one.hits + one.wrong) for one in sums),
        "large_calls": mean(one.calls[LARGE.name] / one.tasks for one in sums),
        "small_calls": mean(one.calls[SMALL.name] / one.tasks for one in sums),
    }


def page(results: dict[str, Any]) -> str:
    """The results as a page."""
    parts = [_INTRO]
    for name, found in results.items():
        parts.append(f"## {name}\n\n{found['tasks']} tasks.\n")
        for shape in [key for key in found if key != "tasks"]:
            columns = (
                "",
                "cost",
                "spread",
                "latency",
                "accuracy",
                "kept",
                "overhead",
                "hits",
                "wrong",
                "large",
                "small",
            )
            cells = [
                (
                    way, f"{row['cost']:+.1%}", f"{row['cost_spread']:.1%}", f"{row['latency']:+.1%}",
                    f"{row['accuracy']:.1%}", f"{row['accuracy_kept']:.1%}", f"{row['overhead']:.3%}",
                    f"{row['hits']:.1%}", f"{row['wrong']:.1%}",
                    f"{row['large_calls']:.2f}", f"{row['small_calls']:.2f}",
                )
                for way, row in found[shape].items()
            ]  # fmt: skip
            parts.append(f"Where {shape}:\n\n{table(columns, cells)}\n")
    return "\n".join(parts)


def _tokens(text: str) -> int:
    return (len(text) + CHARACTERS - 1) // CHARACTERS


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m eval.plan_costs", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sets", nargs="*", choices=[[], *CHOSEN], help="default: all")
    parser.add_argument("--results", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    kept = chosen.results / "plan-costs.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    for name in chosen.sets or CHOSEN:
        results[name] = run(name)
        print(name, json.dumps({shape: found[OURS] for shape, found in results[name].items() if shape != "tasks"}))
        kept.write_text(json.dumps(results, indent=1) + "\n")
    (chosen.results / "plan-costs.md").write_text(page({name: results[name] for name in CHOSEN if name in results}))


if __name__ == "__main__":
    main()
