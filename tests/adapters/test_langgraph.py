"""Graphs of the real LangGraph, whose nodes are run once."""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
from langchain_core.messages import HumanMessage
from langgraph.graph import START, StateGraph
from langgraph.types import CachePolicy

from semcache import SemanticCache
from semcache_langgraph import NodeCache


class State(TypedDict):
    question: str
    steps: Annotated[list[Any], operator.add]


def graph(cache: NodeCache, runs: list[str], *, ttl: int | None = None) -> Any:
    def think(state: State) -> dict[str, Any]:
        runs.append(state["question"])
        return {"steps": [HumanMessage(f"thought of {state['question']}"), {"n": len(runs)}]}

    builder = StateGraph(State)
    builder.add_node("think", think, cache_policy=CachePolicy(ttl=ttl))
    builder.add_edge(START, "think")
    return builder.compile(cache=cache)


def test_a_node_is_run_once_for_the_same_input(cache: SemanticCache) -> None:
    runs: list[str] = []
    chosen = graph(NodeCache(cache), runs)
    first = chosen.invoke({"question": "a", "steps": []})
    assert chosen.invoke({"question": "a", "steps": []}) == first
    assert isinstance(first["steps"][0], HumanMessage)
    chosen.invoke({"question": "a ", "steps": []})
    assert runs == ["a", "a "], "an input that differs in anything is another"


async def test_results_outlive_the_process_and_tenants_are_apart(tmp_path: Path) -> None:
    runs: list[str] = []
    with SemanticCache.open(str(tmp_path), embedder="hashing") as cache:
        await graph(NodeCache(cache, tenant="a"), runs).ainvoke({"question": "x", "steps": []})
    with SemanticCache.open(str(tmp_path), embedder="hashing") as cache:
        await graph(NodeCache(cache, tenant="a"), runs).ainvoke({"question": "x", "steps": []})
        assert runs == ["x"]
        await graph(NodeCache(cache, tenant="b"), runs).ainvoke({"question": "x", "steps": []})
        assert runs == ["x", "x"]


def test_a_time_to_live_is_kept_and_results_are_cleared_by_node(tmp_path: Path) -> None:
    now = [1_700_000_000.0]
    runs: list[str] = []
    with SemanticCache.open(str(tmp_path), embedder="hashing", clock=lambda: now[0]) as cache:
        nodes = NodeCache(cache)
        chosen = graph(nodes, runs, ttl=60)
        for _ in range(2):
            chosen.invoke({"question": "x", "steps": []})
        assert len(runs) == 1
        now[0] += 61
        chosen.invoke({"question": "x", "steps": []})
        assert len(runs) == 2
        chosen.clear_cache(["think"])
        chosen.invoke({"question": "x", "steps": []})
        assert len(runs) == 3
        nodes.clear()
        chosen.invoke({"question": "x", "steps": []})
        assert len(runs) == 4


def test_what_cannot_be_written_down_is_run_again(cache: SemanticCache, monkeypatch: pytest.MonkeyPatch) -> None:
    nodes = NodeCache(cache)
    key = (("n",), "k")
    nodes.set({key: (lambda: None, None)})
    assert nodes.get([key]) == {}
    assert nodes.faults == 1
    nodes.set({key: ({"whole": True}, None)})
    assert nodes.get([key, (("n",), "other")]) == {key: {"whole": True}}
    monkeypatch.setattr(nodes.serde, "loads_typed", lambda _: 1 / 0)
    assert nodes.get([key]) == {}
