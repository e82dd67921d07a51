"""Tasks of many trades: a task in other words is served its plan, and what is merely like it never is."""

from __future__ import annotations

from typing import Any

import pytest

from semcache import SemanticCache
from tests.agents import agent_tasks, more_agent_tasks
from tests.agents.agent_tasks import Kind
from tests.agents.worlds import finished, opened

KINDS = [*agent_tasks.KINDS, *more_agent_tasks.KINDS]


def put(tree: Any, values: dict[str, Any]) -> Any:
    """Arguments with these values; "{n:int}" is a number."""
    if isinstance(tree, str):
        return values[tree[1:-5]] if tree.endswith(":int}") else tree.format(**values)
    return (
        [put(one, values) for one in tree] if isinstance(tree, list) else {k: put(v, values) for k, v in tree.items()}
    )


def type_of(example: Any) -> str:
    if isinstance(example, list):
        return "array"
    return "integer" if example.endswith(":int}") else "string"


TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {"type": "object", "properties": {key: {"type": type_of(one)} for key, one in given.items()}},
        },
        "annotations": {"readOnlyHint": reads},
    }
    for name, (given, reads) in {name: (given, reads) for kind in KINDS for name, given, reads in kind.calls}.items()
]


def run(kind: Kind, values: dict[str, Any]) -> list[dict[str, Any]]:
    calls = [(name, put(given, values), {"ok": True}) for name, given, _ in kind.calls]
    return finished(kind.task.format(**values), *calls, system="")


@pytest.mark.parametrize("runs", [1, 2])
async def test_a_kind_of_task_is_told_from_its_likes_among_all_others(runs: int) -> None:
    plans = opened()
    for kind in KINDS:
        for values in kind.values[:runs]:
            await plans.record(run(kind, values), tools=TOOLS)
    for kind in KINDS:
        name, given, _ = kind.calls[0]
        for said, values in kind.again:
            found = await plans.lookup(said.format(**values), tools=TOOLS)
            assert [(one.tool, one.arguments) for one in found.calls] == [(name, put(given, values))], said
        for said in kind.near:
            found = await plans.lookup(said, tools=TOOLS)
            assert found.outcome == "miss", (said, found.calls)


def test_the_near_tier_of_a_new_cache_serves_no_like_either(tmp_path: Any) -> None:
    with SemanticCache.open(tmp_path) as cache:
        for kind in KINDS[:6]:
            cache.plans.record(run(kind, kind.values[0]), tools=TOOLS)
        for said in [said for kind in KINDS[:6] for said in kind.near]:
            assert cache.plans.lookup(said, tools=TOOLS).outcome == "miss", said
