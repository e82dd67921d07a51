"""Streams of agent tasks with the plan that each one needs, from data sets of very different kinds.

Knows the files of `../shared/data`. Where a set holds no trajectories, the run of a task is made of its label: one call
of a tool of that name, with the values that the set itself names. Invariant: what a lookup sees (task, tools, agent)
never holds the label of that task alone: every task of a stream declares the same tools, but where the data itself
gives each task its own.
"""

from __future__ import annotations

import ast
import gzip
import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

DATA = Path(os.environ.get("EVAL_DATA", Path(__file__).parents[3] / "shared" / "data"))
_WORD = re.compile(r"[a-z]+")
_OPERATIONS = frozenset(
    [
        "add",
        "subtract",
        "multiply",
        "divide",
        "arrange",
        "plug",
        "greatest",
        "least",
        "leaves",
        "frequencies",
        "shortage",
        "function",
        "linear",
        "times",
        "chart",
        "probability",
        "schedule",
    ]
)
_SAME = {"adding": "add", "subtracting": "subtract", "multiplying": "multiply", "dividing": "divide", "sum": "add",
    "surplus": "shortage", "highest": "greatest", "lowest": "least", "nonlinear": "linear"}  # fmt: skip
_LOOKS = ("get_", "search_", "list_", "find_", "calculate", "think")


@dataclass(frozen=True, slots=True)
class Task:
    """A task, the label of the plan it needs, and a run that carries it out. `slots` are the values it should use."""

    text: str
    label: str
    messages: Sequence[dict[str, Any]]
    tools: Sequence[dict[str, Any]]
    slots: dict[str, str] = field(default_factory=dict)
    success: bool = True


def rows(path: str) -> list[dict[str, Any]]:
    """The objects of a gzipped file of JSON lines."""
    with gzip.open(DATA / path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def webarena() -> list[Task]:
    """Web tasks with their intent template and its values; a task's run is one call with those values."""
    found = []
    for row in rows("webarena_tasks/tasks.jsonl.gz"):
        given = {name: _text(value) for name, value in row["instantiation_dict"].items()}
        given = {re.sub(r"\W", "_", name): value for name, value in given.items() if value}
        label = f"plan_{row['intent_template_id']}"
        found.append(Task(row["intent"], label, _run(row["intent"], label, given), (), given))
    return _declaring(found)


def tau_bench() -> list[Task]:
    """Recorded conversations of an airline's agent; the plan is the order of its tools, a run with reward succeeds."""
    found = []
    runs = rows("tau_bench/gpt-4o-airline.jsonl.gz")
    used = {call["function"]["name"] for row in runs for one in row["traj"] for call in one.get("tool_calls") or ()}
    declared = [_tool(name, reads=name.startswith(_LOOKS)) for name in sorted(used)]
    for row in sorted(runs, key=lambda one: (one["trial"], one["task_id"])):
        said = next(one["content"] for one in row["traj"] if one["role"] == "user")
        label = " ".join(sorted({one["name"] for one in row["task"]["actions"] if not one["name"].startswith(_LOOKS)}))
        found.append(Task(said, label or "nothing", row["traj"], declared, success=row["reward"] == 1.0))
    return found


def tau2() -> list[Task]:
    """Requests of callers to a shop or an airline, with the calls that serve them; the label is the order of tools."""
    found = []
    read = rows("tau2_tasks/tasks.jsonl.gz")
    for domain in ("airline", "retail"):
        mine = [row for row in read if row["domain"] == domain]
        names = sorted({one["name"] for row in mine for one in row["evaluation_criteria"]["actions"] or ()})
        declared = [_tool(name, reads=name.startswith(_LOOKS)) for name in names]
        for row in mine:
            told = row["user_scenario"]["instructions"]
            text = f"{told['reason_for_call']} {told['known_info'] or ''}".strip()
            actions = row["evaluation_criteria"]["actions"] or []
            calls = [(one["name"], one["arguments"]) for one in actions]
            label = domain + " " + " ".join(name for name, _ in calls)
            found.append(Task(text, label, _calls(text, calls), declared))
    return found


def toolbench() -> list[Task]:
    """Instructions for collections of web APIs; every task declares its own tools, the label is their order."""
    found = []
    for row in rows("toolbench_eval/answers.jsonl.gz"):
        names = re.findall(r"'name': '(\w+)'", json.dumps(row["answer"]["answer_details"]))
        names = [name for name in names if name != "Finish"]
        if names:
            declared = [_tool(name, reads=True) for name in row["tools"]]
            declared += [_tool(name, reads=True) for name in sorted(set(names) - set(row["tools"]))]
            calls = [(name, {}) for name in names]
            found.append(Task(row["query"], " ".join(names), _calls(row["query"], calls), declared))
    return found


def react() -> list[Task]:
    """Questions to an encyclopedia with recorded searches; the label is the order of actions of a correct run."""
    with gzip.open(DATA / "react_trajectories/hotpotqa_react_base.txt.gz", "rt", encoding="utf-8") as file:
        blocks = file.read().split("\nQuestion:")[1:]
    found = []
    for block in blocks:
        text = block.split("\n", 1)[0].strip()
        actions = re.findall(r"^Action \d+: (\w+)\[(.*)\]", block, re.MULTILINE)
        calls = [(name.lower(), {"text": value}) for name, value in actions if name != "Finish"]
        if calls and "Answer is CORRECT" in block:
            label = " ".join(name for name, _ in calls)
            found.append(Task(text, label, _calls(text, calls), ()))
    return _declaring(found)


def tabmwp() -> list[Task]:
    """Questions about small tables; the label is the operations that the worked solution carries out, in order."""
    found = []
    for row in rows("tabmwp/dev1k.jsonl.gz"):
        said = [_SAME.get(word, word) for word in _WORD.findall(row["solution"].lower())]
        operations = list(dict.fromkeys(word for word in said if word in _OPERATIONS))
        label = "plan_" + "_".join(operations)
        found.append(Task(row["question"], label, _run(row["question"], label, {}), ()))
    return _declaring(found)


def financebench() -> list[Task]:
    """Questions on company filings; the label is the question's first words less company, years and figures."""
    found = []
    for row in rows("financebench/questions.jsonl.gz"):
        own = set(_WORD.findall(row["company"].lower())) | {"jnj", "amex", "formerly", "known", "square", "s"}
        plain = re.sub(r"\S*\d\S*|\b(?:fy|q)\b", " ", row["question"].lower())
        label = "plan_" + "_".join([word for word in _WORD.findall(plain) if word not in own][:10])
        found.append(Task(row["question"], label, _run(row["question"], label, {}), ()))
    return _declaring(found)


SETS = {
    "webarena_tasks": webarena,
    "tau_bench": tau_bench,
    "tau2_tasks": tau2,
    "toolbench_eval": toolbench,
    "react_trajectories": react,
    "tabmwp": tabmwp,
    "financebench": financebench,
}


def _text(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, str) and value.startswith("["):
        try:
            return ", ".join(map(str, ast.literal_eval(value)))
        except (ValueError, SyntaxError):
            return value
    return str(value)


def _tool(name: str, *, reads: bool) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": name, "parameters": {"type": "object"}},
        "annotations": {"readOnlyHint": reads},
    }


def _declaring(tasks: list[Task]) -> list[Task]:
    """The same tasks, each declaring the tools of all."""
    used = {call["function"]["name"] for task in tasks for one in task.messages for call in one.get("tool_calls") or ()}
    declared = [_tool(name, reads=False) for name in sorted(used)]
    return [replace(task, tools=declared) for task in tasks]


def _run(text: str, label: str, given: dict[str, str]) -> list[dict[str, Any]]:
    return _calls(text, [(label, given)])


def _calls(text: str, calls: Sequence[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]:
    """A run that makes these calls, one after the other, and is told nothing by them."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": text}]
    for number, (name, arguments) in enumerate(calls):
        function = {"name": name, "arguments": json.dumps(arguments)}
        messages.append(
            {"role": "assistant", "content": None, "tool_calls": [{"id": f"c{number}", "function": function}]}
        )
        messages.append({"role": "tool", "tool_call_id": f"c{number}", "content": ""})
    messages.append({"role": "assistant", "content": "Done."})
    return messages
