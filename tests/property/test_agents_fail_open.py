"""With the database failing at any moment, an agent's runs end as they would without us, and its tools are called."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from semcache.agents.tools.history import History
from semcache.agents.tools.rules import ToolRules
from semcache.agents.tools.shared_results import SharedToolResults
from semcache.agents.tools.tool_call import ToolCall
from semcache.storage.stores import open_store
from semcache.storage.stores.tool_rows import tool_results_of
from semcache.upstream.backends.echo import echo_app
from semcache.upstream.backends.inprocess import InProcessBackend
from tests.property.faulty import failing
from tests.proxy.driver import Call, running

TOOL = {
    "type": "function",
    "function": {
        "name": "read_weather",
        "parameters": {"type": "object", "properties": {"station": {"type": "string"}}, "required": ["station"]},
    },
}


async def run(proxy: Any, station: str) -> list[tuple[str, str]]:
    """An agent's whole run: the calls that it was told to make, and what was said in the end."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": f"Tell me the weather of station {station}"}]
    told: list[tuple[str, str]] = []
    while True:
        body = {"model": "echo", "messages": messages, "tools": [TOOL]}
        reply = await Call(proxy, body, x_semcache_agent="watcher").reply()
        assert reply.status == 200
        message = reply.json["choices"][0]["message"]
        if not message.get("tool_calls"):
            return [*told, ("", message["content"].partition("you said")[2])]
        messages.append(message)
        for call in message["tool_calls"]:
            told.append((call["function"]["name"], json.dumps(json.loads(call["function"]["arguments"]))))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": '{"sky": "clear"}'})


@pytest.mark.parametrize("seed", range(3))
async def test_runs_end_as_without_us_whatever_the_database_does(tmp_path: Path, url: str, seed: int) -> None:
    rng = random.Random(seed)
    stations = [f"Q-{rng.randrange(1000, 9999)}" for _ in range(8)]
    backend = InProcessBackend(echo_app())
    settings = {"store__url": url, "plans__mode": "answer", "plans__rule": "finished"}
    async with running(backend, tmp_path, **settings) as proxy:
        wanted = {station: await run(proxy, station) for station in stations[:4]}
        with failing(rng, 0.4):
            for station in stations:
                found = await run(proxy, station)
                assert found == wanted.get(station, found)
                assert found[0][0] == "read_weather"
                assert station in found[-1][1]
        after = await run(proxy, stations[0])
    assert after == wanted[stations[0]]


@pytest.mark.parametrize("seed", range(4))
async def test_a_tool_whose_result_cannot_be_had_is_called_and_never_answered_wrongly(url: str, seed: int) -> None:
    """Reads see every change that was made before them, whichever statement was lost."""
    rng = random.Random(seed)
    rules = ToolRules.read(
        {
            "get": {"effect": "reads", "ttl": "1h", "resources": ["thing:{id}"]},
            "put": {"effect": "writes", "resources": ["thing:{id}"]},
        }
    )
    store = open_store(url)
    await store.open()
    now = [1000.0]
    try:
        results = SharedToolResults(
            tool_results_of(store), rules, salt=store.salt, scope="things", clock=lambda: now[0]
        )
        things = dict.fromkeys("abc", 0)
        with failing(rng, 0.3):
            for step in range(120):
                now[0] += 1.0
                name = rng.choice("abc")
                tool = "put" if rng.random() < 0.2 else "get"
                made = await results.lookup(ToolCall(tool, {"id": name}, History.begin()))
                if tool == "put":
                    things[name] = step
                    await results.record(made, {"ok": True})
                elif made.found.outcome == "hit":
                    assert made.found.result == {"value": things[name]}
                else:
                    await results.record(made, {"value": things[name]})
    finally:
        await store.close()
