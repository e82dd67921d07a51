"""Tool results on recorded agent runs: `python -m eval.tools [--results DIR]`.

Runs of tau_bench (airline), tau2_tasks and react_trajectories (HotpotQA) pass in their order, as `eval.plans` reads
them; a call is looked up with the history of its run, and recorded with the result that it had there. `stale` are
reused results that differ from what the tool said in that run: tau_bench alone records results. Nothing is drawn at
random. Writes tools.md and tools.json.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eval.markdown import table
from eval.plans.sets import SETS, Task
from semcache.agents.run import NoRun, turns_of
from semcache.agents.tools import History, ToolResults, ToolRules

RESULTS = Path(__file__).parent / "results"
_READS = ("get_*", "search_*", "list_*", "find_*", "calculate", "think", "lookup", "search")
_RECORDED = "tau_bench"
_HELD, _LOOKUPS, _CALLS = 100_000, 5_000, 20
AS_READS = ToolRules.read({name: {"effect": "reads", "ttl": "30d"} for name in _READS if name != "lookup"})
# An encyclopedia's `lookup` finds the next place on the page that was searched last: it has a state.
AS_STATE = ToolRules.read({"*": {"effect": "state", "ttl": "30d"}})


def streamed(tasks: Sequence[Task], rules: ToolRules) -> dict[str, Any]:
    """The outcomes of the calls of these runs."""
    cache = ToolResults(rules, salt=b"s" * 32, limit=1 << 30)
    counts: Counter[str] = Counter()
    longest = 0
    for task in tasks:
        try:
            turns, _ = turns_of(task.messages)
        except NoRun:
            counts["unreadable runs"] += 1
            continue
        history, again = History.begin(), Counter[bytes]()
        for call in [call for turn in turns for call in turn.calls]:
            found = cache.lookup(call.tool, call.arguments, history)
            counts[found.why.value] += 1
            counts["calls"] += 1
            if found.outcome == "hit":
                counts["hits"] += 1
                counts["stale"] += found.result != call.result
                again[found.key] += 1
            else:
                cache.record(found, call.result, failed=call.failed)
            history = history.after(call.tool, call.arguments, call.result, rules)
        longest = max([longest, *again.values()])
    return {"runs": len(tasks), **counts, "most replays of a call in a run": longest}


def timed() -> dict[str, float]:
    """Milliseconds of a lookup that hits, among so many results, in a run of so many calls."""
    rules = ToolRules.read({"get": {"effect": "reads", "ttl": "1d", "resources": ["row:{id}"]}})
    cache, history = ToolResults(rules, salt=b"s" * 32, limit=1 << 30), History.begin()
    for number in range(_HELD):
        asked = {"id": number, "fields": ["name", "price"]}
        cache.record(cache.lookup("get", asked, history), {"row": number, "text": "x" * 200})
    for number in range(_CALLS):
        history = history.after("get", {"id": -number}, "ok", rules)
    taken = []
    for number in range(0, _HELD, _HELD // _LOOKUPS):
        started = time.perf_counter()
        found = cache.lookup("get", {"id": number, "fields": ["name", "price"]}, history)
        taken.append(1e3 * (time.perf_counter() - started))
        assert found.outcome == "hit"
    return {f"p{share}": float(np.percentile(taken, share)) for share in (50, 99)}


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    rows = [
        [
            name,
            str(row["runs"]),
            str(row.get("calls", 0)),
            f"{row.get('hits', 0) / max(1, row.get('calls', 0)):.1%}",
            str(row.get("stale", 0)) if name.startswith(_RECORDED) else "",
            str(row["most replays of a call in a run"]),
            ", ".join(f"{why} {row[why]}" for why in ("cold", "asked-again", "after-write", "writes", "unknown-tool",
                                                      "failed") if why in row),
        ]
        for name, row in found["streams"].items()
    ]  # fmt: skip
    speed = found["milliseconds"]
    return (
        "# Tool results\n\nMade by `python -m eval.tools`; what is streamed is said there. One pass, no seed.\n\n"
        + table(["runs of", "runs", "calls", "answered", "stale", "most replays of a call in a run", "executed"], rows)
        + f"\n## Speed\n\nA lookup that hits, among {_HELD:,} results in a run of {_CALLS} calls, {_LOOKUPS:,} "
        f"lookups: median {speed['p50']:.3f} ms, 99th percentile {speed['p99']:.3f} ms.\n"
    )


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    streams = {}
    for name in ("tau_bench", "tau2_tasks", "react_trajectories"):
        tasks = SETS[name]()
        for kind, rules in (("reads", AS_READS), ("all stateful", AS_STATE)):
            streams[f"{name}, {kind}"] = streamed(tasks, rules)
    found = {"streams": streams, "milliseconds": timed()}
    (options.results / "tools.json").write_text(json.dumps(found, indent=1) + "\n")
    (options.results / "tools.md").write_text(page(found))
    print(page(found))


if __name__ == "__main__":
    main()
