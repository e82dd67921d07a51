"""The cost of a lookup at 10,000 templates: the match and the deterministic fill."""

from __future__ import annotations

import asyncio
import json
import random
import time
from itertools import count
from typing import Any

import numpy as np

from semcache.agents.plan_library import PlanLibrary
from semcache.agents.plans import Plans
from semcache.storage.stores.plan_rows import MemoryPlans

TEMPLATES = 10_000
LOOKUPS = 500
TOOLS = 20  # declared; with as many forms of arguments there is a template for each kind of task
_VERBS = ["list", "show", "compare", "open", "close", "update", "cancel", "export", "rank", "merge"]
_THINGS = [f"{one}{two}" for one in ("order", "issue", "invoice", "review", "route", "ticket", "project", "report",
    "message", "account") for two in ("", " history", " total", " status", " owner", " label", " count", " log",
    " page", " note")]  # fmt: skip
_PLACES = [f"{one} {two}" for one in ("store", "shop", "forum", "map", "wiki", "city", "team", "branch", "bank", "lab")
    for two in ("alpha", "beta", "gamma", "delta", "omega", "north", "south", "east", "west", "prime")]  # fmt: skip


def tasks(number: int, seed: int) -> list[str]:
    """Tasks of as many kinds, each with a name and a number in it."""
    rng = random.Random(seed)
    kinds = [(verb, thing, place) for verb in _VERBS for thing in _THINGS for place in _PLACES]
    chosen = random.Random(0).sample(kinds, number)
    return [
        f"{verb} the {thing} of customer Ann{rng.randrange(10**6)} in the {place} since {rng.randint(1990, 2025)}"
        for verb, thing, place in chosen
    ]


async def measure() -> dict[str, Any]:
    """Milliseconds of a lookup: median and 99th percentile over tasks that hit."""
    ids = count(1)
    plans = Plans(PlanLibrary(MemoryPlans(), salt=b"s"), salt=b"s", new_id=lambda: next(ids), clock=lambda: 1.0)
    tool = [
        {"type": "function", "function": {"name": f"act_{number}", "parameters": {"type": "object"}}}
        for number in range(TOOLS)
    ]
    for number, text in enumerate(tasks(TEMPLATES, 1)):
        name, year = text.split("customer ")[1].split(" ")[0], text.rsplit(" ", 1)[1]
        await plans.record(_run(text, number, {"who": name, f"year_{number // TOOLS}": int(year)}), tools=tool)
    known = len(plans.library.templates())
    asked = tasks(TEMPLATES, 2)
    random.Random(3).shuffle(asked)
    took: list[float] = []
    hits = 0
    for text in asked[:LOOKUPS]:
        started = time.perf_counter()
        found = await plans.lookup(text, tools=tool)
        took.append(1000 * (time.perf_counter() - started))
        hits += found.outcome == "plan"
    return {
        "templates": known,
        "lookups": LOOKUPS,
        "hits": hits,
        "median_ms": float(np.median(took)),
        "p99_ms": float(np.percentile(took, 99)),
    }


def _run(text: str, number: int, arguments: dict[str, Any]) -> list[dict[str, Any]]:
    call = {"id": "c", "function": {"name": f"act_{number % TOOLS}", "arguments": json.dumps(arguments)}}
    return [
        {"role": "user", "content": text},
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c", "content": "{}"},
        {"role": "assistant", "content": "Done."},
    ]


if __name__ == "__main__":
    print(asyncio.run(measure()))
