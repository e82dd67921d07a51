"""Recorded agent runs through MCP relays of two processes: `python -m eval.mcp_replay [--results DIR]`.

Runs of tau_bench (airline) and react_trajectories (HotpotQA) pass in their order, the even ones through a relay of one
process and the odd ones through one of another, which share nothing but the store (SQLite). A run is a session; the
server behind it says what the tool said in that run. Each run of tau_bench has a database of its own, which begins as
every other's does (`--apart`). The pack says what reads, and that an encyclopedia's `lookup` depends on the calls
before it; what it does not name may change everything. `stale` are answers of a relay that differ from what the tool
said in that run: tau_bench alone records results. Nothing is drawn at random. Writes mcp.md and mcp.json.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import tempfile
import time
from collections import Counter
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from eval.markdown import table
from eval.plans.sets import SETS
from semcache.agents.mcp.call_relay import STATUS, CallRelay, Message, SessionIdentity
from semcache.agents.run import NoRun, turns_of
from semcache.agents.tools.rules import ToolRules
from semcache.agents.tools.shared_results import SharedToolResults
from semcache.storage.stores import open_store
from semcache.storage.stores.tool_rows import tool_results_of

RESULTS = Path(__file__).parent / "results"
_READS = ("get_*", "search_*", "list_*", "calculate", "think")
PACKS: dict[str, Any] = {
    "tau_bench": {name: {"effect": "reads", "ttl": "30d"} for name in _READS},
    "react_trajectories": {
        "search": {"effect": "reads", "ttl": "30d", "resources": ["page:{entity}"]},
        "lookup": {"effect": "state", "ttl": "30d"},
        "finish": {"effect": "writes", "resources": ["answer"]},
    },
}


async def session(results: SharedToolResults, calls: list[Any], counts: Counter[str]) -> None:
    """One run through a relay of its own."""
    to_client: list[Message] = []
    said: list[Any] = []

    async def client(message: Message) -> None:
        to_client.append(message)

    async def server(message: Message) -> None:
        if message["method"] == "tools/list":
            listed = [{"name": name, "inputSchema": {"type": "object"}} for name in sorted({one[0] for one in calls})]
            await relay.from_server({"jsonrpc": "2.0", "id": message["id"], "result": {"tools": listed}})
            return
        tool, _, result, failed = said[-1]
        counts[f"executed {tool}"] += 1
        content = [{"type": "text", "text": json.dumps(result)}]
        answer = {"content": content, **({"isError": True} if failed else {})}
        await relay.from_server({"jsonrpc": "2.0", "id": message["id"], "result": answer})

    relay = CallRelay(results, SessionIdentity("default", "one"), to_client=client, to_server=server)
    for number, call in enumerate(calls):
        said.append(call)
        params = {"name": call[0], "arguments": call[1]}
        await relay.from_client({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
        result = to_client[-1]["result"]
        counts["calls"] += 1
        counts[result["_meta"][STATUS].split("detail=")[1]] += 1
        if "; hit" in result["_meta"][STATUS]:
            counts["answered"] += 1
            counts["stale"] += result["content"][0]["text"] != json.dumps(call[2])


def work(pipe: Connection, name: str, folder: str) -> None:
    """One process: a session for each run that it is sent."""

    async def serve() -> None:
        store = open_store(folder + "/semcache.db")
        await store.open()
        rules = ToolRules.read(PACKS[name])
        results = SharedToolResults(
            tool_results_of(store), rules, salt=b"s" * 32, scope="replay", clock=time.time, apart=name == "tau_bench"
        )
        counts: Counter[str] = Counter()
        while (calls := await asyncio.to_thread(pipe.recv)) is not None:
            await session(results, calls, counts)
            pipe.send(len(calls))
        pipe.send(counts)
        await store.close()

    asyncio.run(serve())


def replayed(name: str) -> dict[str, Any]:
    """The outcomes of the calls of a set's runs."""
    runs = []
    for task in SETS[name]():
        try:
            turns, _ = turns_of(task.messages)
        except NoRun:
            continue
        runs.append([[one.tool, one.arguments, one.result, one.failed] for turn in turns for one in turn.calls])
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        pipes, processes = [], []
        for _ in range(2):
            mine, theirs = context.Pipe()
            process = context.Process(target=work, args=(theirs, name, folder))
            process.start()
            pipes.append(mine)
            processes.append(process)
        started = time.perf_counter()
        for number, calls in enumerate(runs):
            pipes[number % 2].send(calls)
            pipes[number % 2].recv()
        seconds = time.perf_counter() - started
        counts: Counter[str] = Counter()
        for pipe, process in zip(pipes, processes, strict=True):
            pipe.send(None)
            counts.update(pipe.recv())
            process.join()
    return {"runs": len(runs), "seconds": seconds, **counts}


def page(found: dict[str, Any]) -> str:
    """The results as Markdown."""
    reasons = ("cold", "asked-again", "after-write", "writes", "unknown-tool", "failed", "too-large", "credential")
    rows = [
        [
            name, str(row["runs"]), str(row["calls"]), f"{row['answered'] / row['calls']:.1%}",
            str(row["stale"]) if name == "tau_bench" else "",
            ", ".join(f"{why} {row[why]}" for why in reasons if row.get(why)),
            f"{1e3 * row['seconds'] / row['calls']:.1f}",
        ]
        for name, row in found.items()
    ]  # fmt: skip
    head = ["runs of", "runs", "calls", "answered", "stale", "executed", "ms a call"]
    return (
        "# Tool results over MCP\n\nMade by `python -m eval.mcp_replay`, which says what was done: two processes that "
        f"share a store.\n\n{table(head, rows)}\n"
    )


def main() -> None:
    """Measure, and write the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    found = {name: replayed(name) for name in PACKS}
    (options.results / "mcp.json").write_text(json.dumps(found, indent=1) + "\n")
    (options.results / "mcp.md").write_text(page(found))
    print(page(found))


if __name__ == "__main__":
    main()
