"""Results of MCP servers are those of one server, one folder, one user and one client, and follow no lost call."""

from __future__ import annotations

from typing import Any

import pytest

from semcache.agents.mcp.call_relay import STATUS
from semcache.agents.mcp.mcp_server import McpServer, read_server
from semcache.agents.tools.rules import ToolRules
from semcache.agents.tools.shared_results import SharedToolResults
from semcache.storage.stores.tool_rows import MemoryToolResults
from tests.agents.mcp.test_call_relay import COLD, HIT, Session, World


def of(store: MemoryToolResults, server: McpServer) -> tuple[World, Session]:
    """A session with a server whose answers name it."""
    said = " ".join((server.url, *server.command, server.folder))
    world = World(lambda _: {"result": {"content": [{"type": "text", "text": said}]}}, store)
    results = SharedToolResults(store, ToolRules(), salt=b"s" * 32, scope=f"t {server.scope}", clock=lambda: 1000.0)
    return world, Session(world, results, server.user())


async def begin(session: Session, **params: Any) -> None:
    """Begin a session as clients do; the server says the same of itself each time."""
    await session.relay.from_client({"id": "i", "method": "initialize", "params": params})
    said = {"serverInfo": {"name": "shop", "version": "1"}, "protocolVersion": "x"}
    await session.relay.from_server({"id": "i", "result": said})


@pytest.mark.parametrize(
    "servers",
    [
        [
            McpServer(url=f"https://{name}/mcp", headers=(("Authorization", "Bearer t"),))
            for name in ("prod", "staging")
        ],
        [McpServer(command=("npx", "files", name), env={"HOME": "/h"}) for name in ("/a", "/b")],
        [McpServer(command=("npx", "git"), env={"HOME": "/h"}, folder=name) for name in ("/a", "/b")],
    ],
    ids=["url", "command", "folder"],
)
async def test_another_server_or_folder_has_results_of_its_own(servers: list[McpServer]) -> None:
    store = MemoryToolResults()
    for server in servers:
        _, session = of(store, server)
        await begin(session)
        assert await session.call() == COLD
        _, again = of(store, server)
        await begin(again)
        assert await again.call() == HIT
        assert again.got[-1]["result"]["content"] == session.got[-1]["result"]["content"]


async def test_a_change_in_one_folder_counts_in_all_of_the_server() -> None:
    store = MemoryToolResults()
    (_, one), (_, two) = (of(store, McpServer(command=("npx", "git"), folder=name)) for name in ("/a", "/b"))
    assert await one.call() == COLD
    await two.call("write")
    _, again = of(store, McpServer(command=("npx", "git"), folder="/a"))
    assert await again.call() == COLD


def test_a_command_is_started_where_semcache_was() -> None:
    server = read_server("npx server", [], None, [], {}, folder="/a")
    assert server.folder == "/a"
    assert read_server(None, [], "https://x", [], {}, folder="/a").user() == McpServer(url="https://x").user()


async def test_a_tool_that_the_server_does_not_list_is_unknown_whatever_the_pack_says() -> None:
    world = World()
    world.tools = []
    rules = {"read": {"effect": "reads", "ttl": "1h"}}
    for user in ("ann", "bo"):
        assert await world.relay(user=user, rules=rules).call() == "semcache; fwd=miss; detail=unknown-tool"
    assert len(world.called) == 2


async def test_what_a_call_says_of_its_caller_tells_results_apart() -> None:
    world = World(lambda params: {"result": {"content": [{"type": "text", "text": str(params["_meta"])}]}})
    place = "openai/userLocation"
    assert await world.relay().call(_meta={place: "London", "progressToken": 1}) == COLD
    assert await world.relay().call(_meta={place: "London", "progressToken": 2, "traceparent": "00-1"}) == HIT
    assert await world.relay().call(_meta={place: "Paris", "progressToken": 1}) == COLD


async def test_what_a_client_says_of_itself_tells_results_apart_and_folders_share_nothing() -> None:
    world = World()

    async def called(**params: Any) -> str:
        session = world.relay()
        await begin(session, **params)
        return await session.call()

    assert await called(clientInfo={"name": "a"}, _meta={"progressToken": 1}) == COLD
    assert await called(clientInfo={"name": "a"}, _meta={"progressToken": 2}) == HIT
    assert await called(clientInfo={"name": "b"}) == COLD
    unkept = "semcache; fwd=miss; detail=cold"
    for _ in range(2):
        assert await called(clientInfo={"name": "a"}, capabilities={"roots": {}}) == unkept
    told = {"io.modelcontextprotocol/clientCapabilities": {"roots": {}}}
    assert [await world.relay().call(_meta=told) for _ in range(2)] == [unkept, unkept]


async def test_a_change_is_not_made_without_the_calls_that_it_builds_on() -> None:
    down = [False]
    world = World(lambda params: {"error": {"code": 1, "message": "down"}} if down[0] else _ok(params))
    world.tools = [{"name": name, "inputSchema": {}} for name in ("goto", "login", "submit")]
    rules = {"goto": {"effect": "state"}, "login": {"effect": "state"}, "submit": {"effect": "writes"}}
    first = world.relay(rules=rules)
    assert [await first.call(name) for name in ("goto", "login")] == [COLD, COLD]
    second = world.relay(rules=rules)
    assert all(["hit" in await second.call(name) for name in ("goto", "login")])
    world.called.clear()
    down[0] = True
    assert await second.call("submit") == "error"
    assert [one["name"] for one in world.called] == ["goto"]
    down[0] = False
    world.called.clear()
    await second.call("submit")
    assert [one["name"] for one in world.called] == ["goto", "login", "submit"]
    assert STATUS in second.got[-1]["result"]["_meta"]


def _ok(params: Any) -> Any:
    return {"result": {"content": [{"type": "text", "text": params["name"]}]}}
