"""The bill of an agent behind the proxy, by turns: `python -m eval.plan_bill [SET...] [--results DIR]`.

`eval/plan_costs.py` counts a plan as one turn of a simulated planner. Here `semcache serve` stands, with plans and a
small model, between an agent of the openai SDK and a scripted upstream that keeps the ledger: every call of a recorded
run is a turn of the large model, the last word another. The small model, where it is asked, does what the large one
would in 99 of 100 turns, be it to fill the open slots of a plan, and says something wrong in the others, be it in the
middle of a run. Lengths, prices and the share of tasks that the large model plans rightly are those of `plan_costs.py`.
Requests say `Cache-Control: max-age=0`, so that what a plan spares is not counted for a replayed answer. Writes
plan-bill.md and plan-bill.json.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.request import Request, urlopen

import yaml
from openai import OpenAI

from eval.bench.servers import program, serving
from eval.demo import free_port
from eval.markdown import table
from eval.plan_costs import LARGE, RESULTS, RIGHT, SMALL, SYSTEM, WORDS, Sizes, sizes
from eval.plans.sets import SETS, Task
from semcache.types import Usage

CHOSEN = ("webarena_tasks", "react_trajectories", "tabmwp", "financebench")
FEW, SEEDS = 200, 3  # sets of so few tasks are asked with several seeds
OTHERS = ("tau2_tasks", "toolbench_eval")
_WHATEVER = "It is done, I think."
_PACK = {
    "name": "plan bill",
    "defaults": {"strategy": "static", "threshold": 0.999, "wording": False},
    "models": {one.name: {"prompt": one.prompt, "completion": one.completion} for one in (LARGE, SMALL)},
}
_INTRO = f"""# The bill of plans through the proxy

Made by `python -m eval.plan_bill`, which says what is scripted: `semcache serve` as a process, an agent of the openai
SDK, and an upstream that answers for {LARGE.name} and {SMALL.name} and keeps the ledger. Unlike in `plan-costs.md`,
every call of a run is a turn of the model that plans. `cost` is against the large model at every turn, the actor's
calls included on both sides; `large` and `small` are calls a task, those of comparisons among them; `plan` is the share
of turns that a plan answered, `ended` that of runs whose last word was the small model's, `wrong` that of them that it
ended wrongly; `kept` is the share of the large model's accuracy. Means over {SEEDS} seeds for sets of fewer than {FEW}
tasks. `plan-costs.md` says nothing of the last two sets. The proxy's own bill (`semcache stats`) is off by at most
{{off:.2%}}.
"""


@dataclass(slots=True)
class Ledger:
    """The upstream's scripted models over the tasks of a set; `cost` is in US dollars, `calls` by model."""

    tasks: dict[str, tuple[Task, Sizes]]
    rng: random.Random
    cost: float = 0.0
    calls: Counter[str] = field(default_factory=Counter)

    def answer(self, body: Any) -> dict[str, Any]:
        """The chat completion for a request."""
        model = LARGE if body["model"] == LARGE.name else SMALL
        said = next(one["content"] for one in body["messages"] if one["role"] == "user")
        if said not in self.tasks:
            return self._filled(said)
        task, size = self.tasks[said]
        turns, done = turns_of(task), sum(bool(one.get("tool_calls")) for one in body["messages"])
        share = done / max(1, len(turns))
        prompt = SYSTEM + size.task + round(share * (size.plan + size.work))
        message: dict[str, Any] = {"role": "assistant", "content": last_word(task)}
        written = WORDS
        if model is SMALL and self.rng.random() >= RIGHT:
            message["content"] = _WHATEVER
        elif done < len(turns):
            message, written = {**turns[done], "content": None}, round(size.plan / len(turns))
        return self._made(model, message, Usage(prompt, written))

    def _filled(self, prompt: str) -> dict[str, Any]:
        """The small model's values of the open slots of a plan's next step."""
        wanted, asked = (json.loads(line[line.index("{") :]) for line in prompt.splitlines() if "{" in line)
        task, size = self.tasks[asked["task"]]
        turns, done = turns_of(task), len(asked["results"])
        values: dict[str, Any] = dict.fromkeys(wanted, "")
        if done < len(turns) and self.rng.random() < RIGHT:
            given = {
                f"{call['function']['name']}.{name}": value
                for call in turns[done]["tool_calls"]
                for name, value in json.loads(call["function"]["arguments"]).items()
            }
            values = {name: given.get(one["for"], "") for name, one in wanted.items()}
        text = json.dumps(values)
        used = Usage(SYSTEM + size.task + round(done / max(1, len(turns)) * size.work), len(text) // 4)
        return self._made(SMALL, {"role": "assistant", "content": text}, used)

    def _made(self, model: Any, message: dict[str, Any], used: Usage) -> dict[str, Any]:
        self.calls[model.name] += 1
        self.cost += model.cost(used)
        reason = "tool_calls" if message.get("tool_calls") else "stop"
        spent = {"prompt_tokens": used.prompt_tokens, "completion_tokens": used.completion_tokens}
        return {
            "id": "c", "object": "chat.completion", "created": 1, "model": model.name,
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": {**spent, "total_tokens": sum(spent.values())},
        }  # fmt: skip


def turns_of(task: Task) -> list[dict[str, Any]]:
    """The turns of a recorded run that call tools."""
    return [{"role": "assistant", "tool_calls": _typed(one["tool_calls"])} for one in task.messages if _calls(one)]


def last_word(task: Task) -> str:
    """What the large model says at the end."""
    return f"That is done: {task.text}"


def _calls(message: dict[str, Any]) -> bool:
    return message["role"] == "assistant" and bool(message.get("tool_calls"))


def _typed(calls: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "function", **one} for one in calls]


def _upstream(ledger: Ledger) -> tuple[ThreadingHTTPServer, str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            raw = json.dumps(ledger.answer(body)).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: Any) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_port}"


@dataclass(slots=True)
class Seen:
    """What the agent saw of its runs."""

    good: int = 0
    turns: int = 0
    planned: int = 0
    ended: int = 0
    ended_wrongly: int = 0


def _agent(url: str, tasks: Sequence[Task], good: Sequence[bool]) -> Seen:
    """Carry out all tasks, one after the other, and say how each ended."""
    client = OpenAI(base_url=f"{url}/v1", api_key="none", max_retries=0, default_headers={"cache-control": "max-age=0"})
    seen = Seen()
    for number, task in enumerate(tasks):
        messages: list[Any] = [{"role": "system", "content": "You help."}, {"role": "user", "content": task.text}]
        recorded, right = turns_of(task), good[number]
        for done in range(len(recorded) + 2):
            asked = {"model": LARGE.name, "messages": messages, "tools": list(task.tools)}
            raw = client.chat.completions.with_raw_response.create(**asked)
            message, status = raw.parse().choices[0].message.model_dump(exclude_none=True), raw.headers["cache-status"]
            seen.turns += 1
            seen.planned += status == "semcache; hit; detail=plan"
            messages.append(message)
            if not message.get("tool_calls"):
                fine = done == len(recorded) and message["content"] == last_word(task)
                small = status == "semcache; fwd=miss; detail=plan"
                seen.ended, seen.ended_wrongly = seen.ended + small, seen.ended_wrongly + (small and not fine)
                right = right and fine
                break
            wanted = [one["function"]["name"] for one in recorded[done]["tool_calls"]] if done < len(recorded) else []
            right = right and wanted == [one["function"]["name"] for one in message["tool_calls"]]
            messages += [{"role": "tool", "tool_call_id": one["id"], "content": ""} for one in message["tool_calls"]]
        if run_id := raw.headers.get("x-semcache-run"):  # plans leave some requests alone, such as creative ones
            said = json.dumps({"run": run_id, "success": right}).encode()
            urlopen(Request(f"{url}/semcache/plans/outcome", said, {"content-type": "application/json"})).close()
        seen.good += right
    return seen


def run(name: str, seed: int = 0) -> dict[str, Any]:
    """The bill of one set."""
    found = [task for task in SETS[name]() if task.success]
    lengths = sizes(name, found)
    rng = random.Random(seed)
    good = [rng.random() < LARGE.quality for _ in found]
    always = sum(_always(task, size) for task, size in zip(found, lengths, strict=True))
    actor = sum(SMALL.cost(Usage(SYSTEM + size.task + size.context + size.plan, size.work)) for size in lengths)
    ledger = Ledger({task.text: (task, size) for task, size in zip(found, lengths, strict=True)}, rng)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server, upstream = _upstream(ledger)
        stack.callback(server.shutdown)
        (folder / "pack.yaml").write_text(yaml.safe_dump(_PACK))
        settings = {"plans": {"mode": "answer", "small": {"model": SMALL.name}}, "cache": {"judge": "exact"}}
        (folder / "semcache.yaml").write_text(yaml.safe_dump(settings))
        port = free_port()
        url = f"http://127.0.0.1:{port}"
        options = ["--upstream", upstream, "--port", str(port), "--data", str(folder / "data")]
        options += ["--config", str(folder / "semcache.yaml"), "--policies", str(folder / "pack.yaml")]
        stack.enter_context(serving([program(), "serve", *options], f"{url}/readyz", folder / "proxy.log"))
        seen = _agent(url, found, good)
        time.sleep(1.0)  # for the last comparison
        with urlopen(f"{url}/semcache/stats") as reply:
            spent = json.loads(reply.read())["outcomes"]["total"]["spent_usd"]
    count, base = len(found), sum(good)
    return {
        "tasks": count,
        "turns": seen.turns / count,
        "cost": (ledger.cost + actor) / (always + actor) - 1.0,
        "kept": seen.good / base,
        "plan": seen.planned / seen.turns,
        "ended": seen.ended / count,
        "wrong": seen.ended_wrongly / max(1, seen.ended),
        "large": ledger.calls[LARGE.name] / count,
        "small": ledger.calls[SMALL.name] / count,
        "usd": ledger.cost,
        "stats_usd": spent,
    }


def _always(task: Task, size: Sizes) -> float:
    """What the large model costs at every turn of a task."""
    turns = len(turns_of(task))
    asked = [SYSTEM + size.task + round(done / max(1, turns) * (size.plan + size.work)) for done in range(turns + 1)]
    written = [*[round(size.plan / max(1, turns))] * turns, WORDS]
    return sum(LARGE.cost(Usage(*one)) for one in zip(asked, written, strict=True))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m eval.plan_bill", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("sets", nargs="*", choices=[[], *CHOSEN, *OTHERS], help="default: all")
    parser.add_argument("--results", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    kept = chosen.results / "plan-bill.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    for name in chosen.sets or (*CHOSEN, *OTHERS):
        rows = [run(name)]
        if rows[0]["tasks"] < FEW:
            rows += [run(name, seed) for seed in range(1, SEEDS)]
        results[name] = {key: statistics.mean(row[key] for row in rows) for key in rows[0]}
        print(name, json.dumps(results[name]), flush=True)
        kept.write_text(json.dumps(results, indent=1) + "\n")
    (chosen.results / "plan-bill.md").write_text(page(results))


def page(results: dict[str, Any]) -> str:
    """The results as a page."""
    columns = ("", "tasks", "turns", "cost", "kept", "plan", "ended", "wrong", "large", "small")
    cells = [
        (
            name, f"{row['tasks']:.0f}", f"{row['turns']:.2f}", f"{row['cost']:+.1%}", f"{row['kept']:.1%}",
            f"{row['plan']:.1%}", f"{row['ended']:.1%}", f"{row['wrong']:.1%}", f"{row['large']:.2f}",
            f"{row['small']:.2f}",
        )
        for name, row in results.items()
    ]  # fmt: skip
    off = max(abs(row["stats_usd"] / row["usd"] - 1.0) for row in results.values())
    return f"{_INTRO.format(off=off)}\n{table(columns, cells)}\n"


if __name__ == "__main__":
    main()
