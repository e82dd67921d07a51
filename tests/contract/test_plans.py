"""The agents of docs/plans.md, as they stand there, through a real proxy: what was planned once is not planned again.

The backend is scripted: it refunds the order that the task names, step by step, and says what it has done.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from tests.contract.services import Service, semcache, serving
from tests.docs.fences import ROOT, Fence, fences, says
from tests.waiting import PATIENCE, eventually

pytestmark = pytest.mark.process
EXAMPLES = [fence for fence in fences(ROOT / "docs" / "plans.md") if "PROXY" in fence.body]


@dataclass
class Model:
    """An ASGI application that plans refunds; `calls` are the requests that it got."""

    calls: list[dict[str, Any]] = field(default_factory=list)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        assert scope["type"] == "http"
        raw = b""
        while (event := await receive())["type"] == "http.request":
            raw += event.get("body", b"")
            if not event.get("more_body"):
                break
        self.calls.append(asking := json.loads(raw))
        body = json.dumps(_answer(asking, len(self.calls))).encode()
        head = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": body})


def _answer(asking: dict[str, Any], number: int) -> dict[str, Any]:
    messages = asking["messages"]
    [order] = re.findall(r"[A-Z]-\d{4}", next(one["content"] for one in messages if one["role"] == "user"))
    results = [json.loads(one["content"]) for one in messages if one["role"] == "tool"]
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if len(results) == 2:
        message["content"] = f"Order {order} is refunded."
    else:
        given = {"order_id": order} | ({"amount": results[0]["paid"]} if results else {})
        function = {"name": "refund" if results else "find_order", "arguments": json.dumps(given)}
        message["tool_calls"] = [{"id": f"call_{number}", "type": "function", "function": function}]
    reason = "tool_calls" if "tool_calls" in message else "stop"
    return {
        "id": f"chatcmpl-model-{number}",
        "object": "chat.completion",
        "created": 1,
        "model": asking["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 200, "completion_tokens": 20, "total_tokens": 220},
    }


@contextmanager
def behind(model: Model) -> Iterator[str]:
    """The model's address."""
    server = uvicorn.Server(uvicorn.Config(model, port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=lambda: asyncio.run(server.serve()), daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@pytest.fixture(scope="module")
def model() -> Model:
    return Model()


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("plans") / "data"


@pytest.fixture(scope="module")
def proxy(model: Model, data: Path) -> Iterator[Service]:
    with behind(model) as url, serving(url, data, "--embedder", "hashing", SEMCACHE_PLANS__MODE="answer") as service:
        yield service


@pytest.mark.parametrize("example", EXAMPLES, ids=["openai", "langgraph"])
def test_the_second_task_of_a_kind_is_planned_by_the_first(example: Fence, model: Model, proxy: Service) -> None:
    model.calls.clear()
    program = example.body.replace("http://localhost:8080", proxy.url)
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    assert example.output is not None
    assert says(done.stdout, example.output), done.stdout
    # Three calls for the first task, and for the second one alone: what to say in the end.
    assert [len(call["messages"]) for call in model.calls] == [2, 4, 6, 6]
    assert "A-1001" not in json.dumps(model.calls[3])
    assert done.stdout.count("refunding") == 2


def test_what_agents_have_learned_is_listed_and_gone_when_purged(proxy: Service, data: Path) -> None:
    [graph, refunds] = sorted(json.loads(semcache("plans", "list", "--data", str(data), "--json")), key=_agent)
    assert [graph["agent"], refunds["agent"]] == ["graph", "refunds"]
    assert (graph["steps"], graph["runs"]) == (2, 1)
    semcache("plans", "purge", graph["id"], "--data", str(data))
    left = eventually(lambda: len(found := proxy.get("/semcache/plans").json()) == 1 and found)
    assert left[0]["id"] == refunds["id"]


def _agent(row: dict[str, Any]) -> str:
    return str(row["agent"])
