"""Agents on the local engine, in real processes, directly and through a proxy that keeps plans.

The model is tiny and random: what it says is decided by the grammars of the tools alone, and still every call has to be
one that the tools take.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import openai
import pytest

from eval.engine_models import make
from tests.contract.services import Service, serving, started
from tests.engine.test_chat_template import TEMPLATES
from tests.waiting import PATIENCE

pytest.importorskip("llguidance", reason="needs the extra `engine`")
pytestmark = [pytest.mark.process, pytest.mark.timeout(600)]
PAID = {"A-1001": 40.0, "B-2002": 15.5}
STEPS: list[Any] = [
    {"type": "function", "function": {"name": "find_order"}},
    {"type": "function", "function": {"name": "refund"}},
    "none",
]
_MOST = 200  # tokens: a call of letters takes more than a hundred
Calls = list[tuple[str, dict[str, Any]]]


def find_order(order_id: str) -> dict[str, Any]:
    """Find an order."""
    return {"order_id": order_id, "paid": PAID[order_id]}


def refund(order_id: str, percent: int) -> dict[str, Any]:
    """Refund a part of an order."""
    assert order_id in PAID
    assert type(percent) is int
    assert 1 <= percent <= 100
    return {"refunded": PAID[order_id] * percent / 100}


ORDER = {"type": "string", "enum": sorted(PAID)}
PERCENT = {"type": "integer", "minimum": 1, "maximum": 100}
TOOLS: list[Any] = [
    {"type": "function", "function": {"name": name, "description": name, "parameters": {
        "type": "object", "properties": fields, "required": list(fields), "additionalProperties": False}}}
    for name, fields in (("find_order", {"order_id": ORDER}), ("refund", {"order_id": ORDER, "percent": PERCENT}))
]  # fmt: skip


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    pytest.importorskip("torch", reason="needs the extra `engine`")
    model = make(tmp_path_factory.mktemp("model"), context=4096)
    shutil.copy(TEMPLATES / "qwen2.jinja", model / "chat_template.jinja")
    command = ("semcache", "engine", "serve", "--model", str(model), "--name", "tiny", "--port", "0")
    options = ("--cache-mib", "16", "--threads", "1")
    with started(*command, *options, ready=r"ready on (http://\S+)/v1", HF_HUB_OFFLINE="1") as service:
        yield service


@pytest.fixture(scope="module")
def proxy(engine: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data = tmp_path_factory.mktemp("proxy") / "data"
    settings = {"SEMCACHE_PLANS__MODE": "answer", "SEMCACHE_PLANS__RULE": "finished"}
    with serving(f"{engine.url}/v1", data, "--embedder", "hashing", **settings) as service:
        yield service


def by_openai(url: str, task: str) -> tuple[Calls, str, list[str]]:
    """A loop of the openai client: the calls, the last words, and how each reply came about."""
    calls: Calls = []
    statuses: list[str] = []
    messages: list[Any] = [{"role": "user", "content": task}]
    with openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0, timeout=PATIENCE) as client:
        for choice in STEPS:
            raw = client.chat.completions.with_raw_response.create(
                model="tiny",
                messages=messages,
                tools=TOOLS,
                tool_choice=choice,
                parallel_tool_calls=False,
                temperature=0,
                max_tokens=_MOST,
            )
            statuses.append(raw.headers.get("cache-status", ""))
            message = raw.parse().choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            for call in message.tool_calls or []:
                assert call.type == "function"
                given = json.loads(call.function.arguments)
                calls.append((call.function.name, given))
                result = {"find_order": find_order, "refund": refund}[call.function.name](**given)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": json.dumps(result)})
    return calls, messages[-1].get("content") or "", statuses


def by_langgraph(url: str, task: str) -> tuple[Calls, str, list[str]]:
    """A graph of a model and its tools, which streams from the model."""
    pytest.importorskip("langgraph")
    from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
    from langchain_core.tools import StructuredTool
    from langchain_openai import ChatOpenAI
    from langgraph.graph import MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition
    from pydantic import SecretStr

    model = ChatOpenAI(
        model="tiny", base_url=f"{url}/v1", api_key=SecretStr("k"), temperature=0, max_completion_tokens=_MOST,
        max_retries=0, timeout=PATIENCE, streaming=True, default_headers={"x-semcache-agent": "graph"},
    )  # fmt: skip

    def ask(state: MessagesState) -> dict[str, Any]:
        choice = STEPS[sum(isinstance(one, ToolMessage) for one in state["messages"])]
        return {
            "messages": [
                model.bind(tools=TOOLS, tool_choice=choice, parallel_tool_calls=False).invoke(state["messages"])
            ]
        }

    graph = StateGraph(MessagesState)
    graph.add_node("model", ask)
    graph.add_node("tools", ToolNode([StructuredTool.from_function(one) for one in (find_order, refund)]))
    graph.set_entry_point("model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    first: Any = {"messages": [HumanMessage(task)]}
    messages = graph.compile().invoke(first)["messages"]
    assert not [one for one in messages if isinstance(one, ToolMessage) and one.status == "error"]
    calls = [(call["name"], call["args"]) for one in messages if isinstance(one, AIMessage) for call in one.tool_calls]
    return calls, str(messages[-1].content), []


@pytest.mark.parametrize("agent", [by_openai, by_langgraph])
def test_an_agent_on_the_engine_and_through_a_proxy_with_plans(
    agent: Callable[[str, str], tuple[Calls, str, list[str]]], engine: Service, proxy: Service
) -> None:
    tasks = ["Refund order A-1001, please", "Refund order B-2002, please", "Refund order A-1001, please"]
    direct = [agent(engine.url, task) for task in tasks]
    through = [agent(proxy.url, task) for task in tasks]
    for calls, said, _ in (*direct, *through):
        assert [name for name, _ in calls] == ["find_order", "refund"]
        assert said
    # The first task, and the same one again, are answered as by the engine itself.
    assert [through[at][:2] for at in (0, 2)] == [direct[at][:2] for at in (0, 2)]
    if agent is by_openai:
        assert "hit" in through[2][2][0]
