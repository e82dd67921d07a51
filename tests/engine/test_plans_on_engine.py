"""A plan that is learned from a model of the local engine, and served instead of it: two processes and real clients.

A model of random weights plans nothing: which order it looks up is drawn from those that the tool's schema lists, and
only a run that looked up the order of its task is said to have ended well. So the first run of each agent is repeated
until the draw is right; what is asked afterwards is asked as any agent asks.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any
from urllib.request import Request, urlopen

import pytest

from eval.bench.servers import program, serving
from eval.demo import free_port
from eval.engine_models import make
from tests.engine.test_chat_template import TEMPLATES
from tests.waiting import eventually

pytest.importorskip("llguidance", reason="needs the extra `engine`")
pytest.importorskip("torch", reason="needs the extra `engine`")
openai = pytest.importorskip("openai")

pytestmark = pytest.mark.slow
PAID = {"A-1001": 40.0, "B-2002": 15.5, "C-3003": 7.0}
SYSTEM = "You look up orders."
ORDER = {"type": "string", "enum": list(PAID)}
PARAMETERS = {
    "type": "object", "properties": {"order_id": ORDER}, "required": ["order_id"], "additionalProperties": False,
}  # fmt: skip
TOOLS = [{"type": "function", "function": {"name": "find_order", "strict": True, "parameters": PARAMETERS}}]
# What random weights say ends only where a grammar ends it.
WORDS = {"enum": ["That was paid.", "That was not paid."]}
LAST = {
    "tool_choice": "none",
    "response_format": {"type": "json_schema", "json_schema": {"name": "said", "schema": WORDS}},
}
SETTINGS = """
plans: {mode: answer}
"""
PACK = """
name: a priced engine
models:
  model: {prompt: 100, completion: 400}
"""


class Servers:
    """The proxy before the engine; `requests` counts what the engine was asked."""

    def __init__(self, proxy: str, engine: str, model: str) -> None:
        self.proxy, self.engine, self.model, self.sent = proxy, engine, model, 0

    @property
    def requests(self) -> int:
        with urlopen(f"{self.engine}/metrics") as reply:
            text = reply.read().decode()
        return int(sum(float(one) for one in re.findall(r"^semcache_engine_choices_total\{.*\} (\S+)$", text, re.M)))

    def bill(self) -> Any:
        """The proxy's own bill, once all that was sent is on it: a stream is entered after it has ended."""

        def settled() -> Any:
            with urlopen(f"{self.proxy}/semcache/stats") as reply:
                total = json.loads(reply.read())["outcomes"]["total"]
            return total if total["requests"] == self.sent else None

        return eventually(settled)

    def ended_well(self, run: str) -> None:
        said = json.dumps({"run": run, "success": True}).encode()
        urlopen(Request(f"{self.proxy}/semcache/plans/outcome", said, {"content-type": "application/json"})).close()


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    folder = tmp_path_factory.mktemp("plans")
    model = make(folder / "model", context=4096)
    shutil.copy(TEMPLATES / "qwen2.jinja", model / "chat_template.jinja")
    (folder / "semcache.yaml").write_text(SETTINGS)
    (folder / "pack.yaml").write_text(PACK)
    engine, proxy = (f"http://127.0.0.1:{free_port()}" for _ in range(2))
    options = ["--model", str(model), "--port", engine.rpartition(":")[2], "--threads", "1", "--cache-mib", "64"]
    with ExitStack() as stack:
        command = [program(), "engine", "serve", *options]
        quiet = {**os.environ, "HF_HUB_OFFLINE": "1"}
        stack.enter_context(serving(command, f"{engine}/readyz", folder / "engine.log", env=quiet, patience=180.0))
        options = ["--upstream", engine, "--port", proxy.rpartition(":")[2], "--data", str(folder / "data")]
        command = [program(), "serve", *options, "--config", str(folder / "semcache.yaml")]
        command += ["--policies", str(folder / "pack.yaml")]
        stack.enter_context(serving(command, f"{proxy}/readyz", folder / "proxy.log", patience=180.0))
        yield Servers(proxy, engine, model.name)


class OpenAIAgent:
    """A loop of the openai SDK; `first` is what the first request of a run says besides."""

    def __init__(self, servers: Servers, *, stream: bool = False) -> None:
        self._client = openai.OpenAI(base_url=f"{servers.proxy}/v1", api_key="none", max_retries=0)
        self._servers, self._stream = servers, stream

    def run(self, task: str, **first: Any) -> tuple[list[str], list[str], str]:
        """The orders that were looked up, how each turn was answered, and the run's id."""
        messages: list[Any] = [{"role": "system", "content": SYSTEM}, {"role": "user", "content": task}]
        looked, said, given = [], [], first
        while True:
            asked = {"model": self._servers.model, "messages": messages, "tools": TOOLS, "max_tokens": 120, **given}
            made = self._client.chat.completions
            raw = made.with_raw_response.create(**asked, stream=self._stream)
            message = self._streamed(raw.parse()) if self._stream else raw.parse().choices[0].message.model_dump()
            said.append(raw.headers["cache-status"])
            self._servers.sent += 1
            messages.append({name: value for name, value in message.items() if value is not None})
            if not message.get("tool_calls"):
                return looked, said, raw.headers["x-semcache-run"]
            for call in message["tool_calls"]:
                looked.append(json.loads(call["function"]["arguments"])["order_id"])
                result = json.dumps({"paid": PAID[looked[-1]]})
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
            given = LAST

    @staticmethod
    def _streamed(chunks: Any) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": []}
        for delta in (chunk.choices[0].delta for chunk in chunks if chunk.choices):
            message["content"] += delta.content or ""
            for call in delta.tool_calls or []:
                if call.index == len(message["tool_calls"]):
                    message["tool_calls"].append(call.model_dump(exclude={"index"}))
                else:
                    message["tool_calls"][call.index]["function"]["arguments"] += call.function.arguments
        return message


def learned(servers: Servers, run: Callable[..., tuple[list[str], list[str], str]], task: str, order: str) -> None:
    """Repeat a task until the engine has drawn its order, and say that this run ended well."""
    for seed in range(200):
        looked, said, name = run(task, tool_choice="required", parallel_tool_calls=False, seed=seed, temperature=1.0)
        assert not any("detail=plan" in one for one in said)
        if looked == [order]:
            servers.ended_well(name)
            return
    raise AssertionError("the order was never drawn")


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
def test_an_agent_of_the_openai_client_is_served_a_plan_of_the_engine(
    servers: Servers, stream: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    agent = OpenAIAgent(servers, stream=stream)
    verb = "refunded" if stream else "paid"
    learned(servers, agent.run, f"What was {verb} for order A-1001?", "A-1001")
    before, asked = servers.bill(), servers.requests
    for order in ("B-2002", "C-3003"):
        looked, said, _ = agent.run(f"What was {verb} for order {order}?")
        assert said[0] == "semcache; hit; detail=plan"
        assert looked == [order], "the plan's call, with this task's value"
        assert "detail=plan" not in said[1], "the last word is the engine's"
    assert servers.requests == asked + 2, "one request a run, for its last word"
    after = servers.bill()
    spent, always = (after[name] - before[name] for name in ("spent_usd", "always_usd"))
    with capsys.disabled():
        print(f"\n2 runs of a known kind, {'stream' if stream else 'whole'}: ${spent:.6f}, planned anew ${always:.6f}")
    assert after["calls"] - before["calls"] == 2, (before, after)
    assert spent < always


def test_an_agent_of_langgraph_is_served_a_plan_of_the_engine(servers: Servers) -> None:
    pytest.importorskip("langgraph")
    chat = pytest.importorskip("langchain_openai")
    from langchain_core.messages import HumanMessage, SystemMessage
    from langchain_core.tools import StructuredTool
    from langgraph.graph import START, MessagesState, StateGraph
    from langgraph.prebuilt import ToolNode, tools_condition

    looked: list[str] = []

    def find_order(order_id: str) -> dict[str, float]:
        looked.append(order_id)
        return {"paid": PAID[order_id]}

    node = ToolNode([StructuredTool.from_function(find_order, description="Look an order up.")])

    def run(task: str, **first: Any) -> tuple[list[str], list[str], str]:
        model = chat.ChatOpenAI(
            model=servers.model, base_url=f"{servers.proxy}/v1", api_key="none", max_retries=0, max_tokens=120,
            default_headers={"x-semcache-agent": "graph"}, include_response_headers=True,
        )  # fmt: skip

        def think(state: Any) -> dict[str, Any]:
            begun = any(one.type == "tool" for one in state["messages"])
            how = LAST if begun else first
            return {"messages": [model.invoke([SystemMessage(SYSTEM), *state["messages"]], tools=TOOLS, **how)]}

        graph = StateGraph(MessagesState)
        graph.add_node("think", think)
        graph.add_node("tools", node)
        graph.add_edge(START, "think")
        graph.add_conditional_edges("think", tools_condition)
        graph.add_edge("tools", "think")
        looked.clear()
        heads = [
            one.response_metadata["headers"]
            for one in graph.compile().invoke({"messages": [HumanMessage(task)]})["messages"]
            if one.type == "ai"
        ]
        servers.sent += len(heads)
        return list(looked), [one["cache-status"] for one in heads], heads[-1]["x-semcache-run"]

    learned(servers, run, "What did order A-1001 cost?", "A-1001")
    asked = servers.requests
    orders, said, _ = run("What did order C-3003 cost?")
    assert (orders, said[0]) == (["C-3003"], "semcache; hit; detail=plan")
    assert servers.requests == asked + 1
