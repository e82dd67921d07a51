"""Whatever stands in a call of a tool, and whatever fails, the tool is called or its result for that call is given."""

from __future__ import annotations

import json
import random
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given

from semcache.agents.mcp.call_relay import STATUS
from semcache.agents.tools.history import History
from semcache.agents.tools.results import ToolResults
from semcache.agents.tools.rules import ToolRules
from semcache.agents.tools.shared_results import SharedToolResults
from semcache.agents.tools.tool_call import ToolCall
from semcache.storage.stores.tool_rows import MemoryToolResults
from tests.agents.mcp.test_call_relay import World
from tests.dialects.odd import mutants
from tests.property.faulty import failing

pytestmark = pytest.mark.hypothesis  # strategies are drawn from inside the tests

RULES = {
    "get": {"effect": "reads", "ttl": "1h", "resources": ["thing:{id}"]},
    "put": {"effect": "writes", "resources": ["thing:{id}"]},
}
DIFFERENT: list[Any] = [
    None, True, False, 0, 1, -1, 1.5, 2**53, 2**53 + 1, 2**64, 10**30, 1e300, "", " ", "0", "1", "1.0", "true", "True",
    "null", "a", "A", "a ", "á", "a\u0301", "\u200ba", "a\x00", "ａ", "𝐚", [], {}, [[]], [{}], [1], ["1"], [1, 2],
    [2, 1], {"a": 1}, {"a": "1"}, {"A": 1}, {"a": [1]}, {"a": {"b": 1}}, {"a.b": 1}, "{id}", "thing:1", "*", "x" * 5000,
    "x" * 5001, "../1", "1/../1", "1;2", "1\n", "%31",
]  # fmt: skip
BROKEN: list[Any] = [float("nan"), float("inf"), "\ud800", {"\ud800": 1}, {"a": {1, 2}}, b"\xff"]


def shared(store: Any = None) -> SharedToolResults:
    read = ToolRules.read(RULES)
    return SharedToolResults(store or MemoryToolResults(), read, salt=b"s" * 32, scope="x", clock=lambda: 1000.0)


def call(value: Any, tool: str = "get", **more: Any) -> ToolCall:
    return ToolCall(tool, {"id": value}, History.begin(), **more)


async def test_two_calls_that_differ_in_anything_share_no_result() -> None:
    results = shared()
    for number, value in enumerate(DIFFERENT):
        made = await results.lookup(call(value))
        assert made.found.outcome == "miss", value
        await results.record(made, {"number": number})
    for number, value in enumerate(DIFFERENT):
        found = (await results.lookup(call(value))).found
        assert found.outcome == "miss" or found.result == {"number": number}, value
    for one, other in combinations(("t1", "t2", "T1", "t1 "), 2):
        made = await results.lookup(call("mine", tenant=one))
        if made.found.outcome == "miss":
            await results.record(made, one)
        found = (await results.lookup(call("mine", tenant=other))).found
        assert found.outcome == "miss" or found.result == other


@pytest.mark.parametrize("value", BROKEN, ids=ascii)
async def test_what_is_no_json_is_called_and_its_result_not_kept(value: Any) -> None:
    results = shared()
    for tool in ("get", "put", "unknown"):
        for _ in range(2):
            made = await results.lookup(call(value, tool))
            assert made.found.outcome == "miss"
            await results.record(made, {"a": value})
    memory = ToolResults(ToolRules.read(RULES), salt=b"s" * 32, clock=lambda: 1000.0)
    for _ in range(2):
        found = memory.lookup("get", {"id": value}, History.begin())
        assert found.outcome == "miss"
        memory.record(found, {"a": value})


MESSAGES: list[dict[str, Any]] = [
    {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/call",
        "params": {"name": "read", "arguments": {"id": 1}, "_meta": {}},
    },
    {"jsonrpc": "2.0", "id": "x", "method": "tools/list", "params": {"cursor": "1"}},
    {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "1", "clientInfo": {"name": "n"}},
    },
    {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7, "reason": "r"}},
    {"jsonrpc": "2.0", "id": 9, "result": {"content": [{"type": "text", "text": "t"}]}},
]
REPLIES: list[dict[str, Any]] = [
    {"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "ok"}], "isError": False, "_meta": {}}},
    {"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "m"}},
    {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {}},
]


@given(message=mutants(MESSAGES), reply=mutants(REPLIES))
async def test_whatever_a_client_or_a_server_of_tools_says_is_passed_on(message: Any, reply: Any) -> None:
    if not isinstance(message, dict) or not isinstance(reply, dict):
        return
    world = World()
    session = world.relay()
    assert await session.call() != "waits"
    before = len(session.sent)
    await session.relay.from_client(message)
    told = [one for one in session.got if "result" in one and STATUS in ((one["result"] or {}).get("_meta") or {})]
    asked = message.get("method") == "tools/call"
    assert asked or any(one == message for one in session.sent[before:]) or "method" not in message
    assert all(
        one["result"]["content"] == [{"type": "text", "text": "ok"}]
        for one in told
        if "hit" in one["result"]["_meta"][STATUS]
    )
    await session.relay.from_server(reply)
    assert await session.call() != "waits"


@pytest.mark.parametrize("seed", range(4))
async def test_with_the_store_failing_no_result_is_another_calls(seed: int) -> None:
    rng, world = (
        random.Random(seed),
        World(lambda params: {"result": {"content": [{"type": "text", "text": json.dumps(params["arguments"])}]}}),
    )
    places = [(MemoryToolResults, name) for name in ("get", "put", "versions", "change", "settle")]
    with failing(rng, 0.3, *places):
        for _ in range(60):
            session, value = world.relay(), rng.choice([1, 2, "1", None, [1]])
            await session.call("read" if rng.random() < 0.8 else "write", arguments={"id": value})
            [answer] = [one for one in session.got if one.get("id") == session.calls]
            assert answer["result"]["content"] == [{"type": "text", "text": json.dumps({"id": value})}]
