"""Plan templates on streams of agent tasks: `python -m eval.plans [SET...] [--speed] [--results DIR]`.

Every set is streamed once, in its own order. `plan templates` serves what says the same; `and what is near` lets the
certified strategy judge the rest, at an error target of 1%, starting from the prior that ships. Nothing is fitted to
any of these sets, but the rules of `semcache.agents` were written with the misses of webarena_tasks in sight. Writes
plans.md and plans.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from eval.markdown import table
from eval.plans import others, speed, stream
from eval.plans.sets import SETS, Task
from semcache.agents.plan_terms import NearMatching
from semcache.config import packs
from semcache.config.pack_schema import GUARDS
from semcache.matching import guards
from semcache.matching.strategies.certified import CertifiedThreshold
from semcache.models.embedders import default_embedder
from semcache.storage.indexes.flat import FlatIndex

RESULTS = Path(__file__).parents[1] / "results"
TARGET = 0.01
OURS = ("plan templates", "and what is near")
_INTRO = """# Plan templates

Made by `python -m eval.plans`; what each set's plans and labels are is said in `eval/plans/sets.py`, what the others do
in `eval/plans/others.py`. One pass over each set in its own order, no seed. webarena_tasks comes with labels of its
templates; tabmwp and financebench have none, and theirs are derived by this project's own rules, which may take for
one plan what somebody else would not.

`after two`: share of the tasks whose template was seen at least twice before that were served the right plan. `wrong`:
plans served of another template, per served plan. `filled`: slots of served plans that were filled deterministically;
`right`: of those, slots with the value that the set names. `saved`: planner calls (one a run) and the tokens that they
write.
"""


async def run(name: str, tasks: Sequence[Task]) -> dict[str, Any]:
    """Every method on one set."""
    found: dict[str, Any] = {OURS[0]: (await stream.ours(tasks)).row()}
    embedder = default_embedder()
    pack = packs.load("default").with_target(TARGET)
    near = await stream.ours(
        tasks,
        embedder=embedder,
        index=FlatIndex,
        near=NearMatching(CertifiedThreshold(pack), partial(guards.conflicts, names=GUARDS)),
    )
    await embedder.close()
    found[OURS[1]] = near.row()
    if name == "webarena_tasks":
        found |= {f"{OURS[0]}, {half} half": (await stream.ours(some)).row() for half, some in _halves(tasks)}
    for method, play in others.METHODS.items():
        found[method] = (await play(tasks)).row()
    found["history_tokens"] = others.history_tokens(tasks)
    return found


def _halves(tasks: Sequence[Task]) -> list[tuple[str, list[Task]]]:
    """Two halves with no template in common."""
    labels = sorted({task.label for task in tasks})
    first = set(labels[::2])
    return [
        ("one", [task for task in tasks if task.label in first]),
        ("other", [task for task in tasks if task.label not in first]),
    ]


def page(results: dict[str, Any]) -> str:
    """The results as a page."""
    parts = [_INTRO]
    for name, found in results["sets"].items():
        first = found[OURS[0]]
        parts.append(f"## {name}\n\n{first['tasks']} tasks, {first['seen_twice']} of a template seen twice before.\n")
        columns = ("method", "hits", "after two", "wrong", "filled", "right", "calls saved", "tokens saved")
        rows = [
            (
                method,
                *map(_percent, (row["hit_rate"], row["hit_rate_after_two"], row["wrong_per_hit"], row["slots_filled"])),
                *map(_percent, (row["slots_right"], row["planner_calls_saved"], row["planner_tokens_saved"])),
            )
            for method, row in found.items()
            if isinstance(row, dict)
        ]
        parts.append(table(columns, rows) + "\n")
        parts.append(f"All history would add {found['history_tokens']:,.0f} tokens to a prompt, on average.\n")
        parts.append(f"Why tasks went to the planner: {_reasons(found[OURS[1]]['why'])}.\n")
    if "speed" in results:
        one = results["speed"]
        parts.append(
            f"## Speed\n\nMatch and deterministic fill at {one['templates']:,} templates in one partition: median "
            f"{one['median_ms']:.2f} ms, 99th percentile {one['p99_ms']:.2f} ms, {one['lookups']} lookups that hit.\n"
        )
    return "\n".join(parts)


def _percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f}%"


def _reasons(counts: dict[str, int]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items() if name not in ("key", "slots", "near"))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m eval.plans", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sets", nargs="*", choices=[[], *SETS], help="default: all")
    parser.add_argument("--speed", action="store_true", help="measure the speed too, which takes minutes")
    parser.add_argument("--results", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    kept = chosen.results / "plans.json"
    results = json.loads(kept.read_text()) if kept.exists() else {"sets": {}}
    for name in chosen.sets or SETS:
        results["sets"][name] = asyncio.run(run(name, SETS[name]()))
        print(name, json.dumps(results["sets"][name][OURS[1]]))
        kept.write_text(json.dumps(results, indent=1) + "\n")
    if chosen.speed:
        results["speed"] = asyncio.run(speed.measure())
        kept.write_text(json.dumps(results, indent=1) + "\n")
    results["sets"] = {name: results["sets"][name] for name in SETS if name in results["sets"]}
    (chosen.results / "plans.md").write_text(page(results))


if __name__ == "__main__":
    main()
