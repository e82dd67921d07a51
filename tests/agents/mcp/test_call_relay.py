"""Messages of the Model Context Protocol as a relay sees them, with results that two relays share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from semcache.agents.mcp import call_relay
from semcache.agents.mcp.call_relay import STATUS, CallRelay, SessionIdentity
from semcache.agents.mcp.mcp_server import McpServer
from semcache.agents.tools.rules import ToolRules
from semcache.agents.tools.shared_results import SharedToolResults
from semcache.errors import StoreError
from semcache.storage.stores.tool_rows import MemoryToolResults, ToolResultStore

READ = {"name": "read", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
WRITE = {"name": "write", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": False}}


class World:
    """A store and a server whose answers a test chooses; `answer` gives the response to a call, None for none yet."""

    def __init__(self, answer: Callable[[Any], Any] | None = None, store: ToolResultStore | None = None) -> None:
        self.now, self.store = 1000.0, store or MemoryToolResults()
        self.tools: list[Any] = [READ, WRITE]
        self.answer = answer or (lambda _: {"result": {"content": [{"type": "text", "text": "ok"}]}})
        self.called: list[Any] = []

    def relay(self, *, user: str = "ann", rules: Any = None, apart: bool = False) -> Session:
        read = ToolRules.read(rules or {})
        results = SharedToolResults(self.store, read, salt=b"s" * 32, scope="x", clock=lambda: self.now, apart=apart)
        return Session(self, results, user)


class Session:
    """One client and its relay."""

    def __init__(self, world: World, results: SharedToolResults, user: str) -> None:
        self.world, self.results, self.got, self.sent, self.calls = world, results, [], [], 0
        self.relay = CallRelay(results, SessionIdentity("t", user), to_client=self._client, to_server=self._server)

    async def _client(self, message: Any) -> None:
        self.got.append(message)

    async def _server(self, message: Any) -> None:
        self.sent.append(message)
        if message.get("method") == "tools/list":
            await self.relay.from_server({"id": message.get("id"), "result": self.world.tools_page(message)})
        elif message.get("method") == "tools/call":
            self.world.called.append(message.get("params"))
            reply = self.world.answer(message.get("params"))
            if reply is not None:
                await self.relay.from_server({"jsonrpc": "2.0", "id": message.get("id"), **reply})

    async def call(self, tool: str = "read", **fields: Any) -> str:
        """Call a tool; the detail of how it was answered, or that it was not."""
        self.calls += 1
        params = {"name": tool, "arguments": {"id": 1}, **fields}
        await self.relay.from_client({"jsonrpc": "2.0", "id": self.calls, "method": "tools/call", "params": params})
        last = self.got[-1] if self.got and self.got[-1].get("id") == self.calls else None
        if last is None:
            return "waits"
        return str(last["result"]["_meta"][STATUS]) if "result" in last else "error"


def tools_page(self: World, message: Any) -> Any:
    """The tools, one a page."""
    params = message.get("params")
    cursor = params.get("cursor") if isinstance(params, dict) else None
    at = int(cursor) if isinstance(cursor, str) and cursor.isascii() and cursor.isdigit() else 0
    more = {"nextCursor": str(at + 1)} if at + 1 < len(self.tools) else {}
    return {"tools": self.tools[at : at + 1], **more}


World.tools_page = tools_page  # type: ignore[attr-defined]
COLD, HIT = "semcache; fwd=miss; stored; detail=cold", "semcache; hit; ttl=60; detail=read"


async def test_a_read_is_answered_to_another_session_and_every_page_of_tools_is_known() -> None:
    world = World()
    assert await world.relay().call() == COLD
    assert await world.relay().call() == HIT
    world.now += 61
    assert await world.relay().call() == COLD
    assert await world.relay().call("write") == "semcache; fwd=miss; detail=writes"


@pytest.mark.parametrize(
    "reply",
    [
        {"error": {"code": -32603, "message": "down"}},
        {"result": {"isError": True, "content": []}},
        {"result": {"resultType": "input_required", "inputRequests": {}}},
        {"result": {"resultType": "task", "task": {}}},
        {"result": {"content": [{"type": "text", "text": "sk-" + "a1B2" * 12}]}},
    ],
    ids=["error", "failed", "interim", "task", "credential"],
)
async def test_what_is_no_plain_result_is_never_kept(reply: Any) -> None:
    world = World(lambda _: reply)
    await world.relay().call()
    again = world.relay()
    assert "hit" not in await again.call()
    assert len(world.called) == 2


@pytest.mark.parametrize("more", [{"task": {"ttl": 1}}, {"inputResponses": {}, "requestState": "s"}], ids=str)
async def test_a_call_that_asks_for_more_is_passed_on_and_not_kept(more: Any) -> None:
    world = World()
    await world.relay().call()
    assert "hit" not in await world.relay().call(**more)
    assert world.called[-1].keys() >= more.keys()
    world.now += 61
    await world.relay().call(**more)
    assert await world.relay().call() == COLD


async def test_a_read_beside_a_change_under_way_is_neither_kept_nor_answered() -> None:
    world = World()
    await world.relay().call()
    world.answer = lambda params: None if params["name"] == "write" else {"result": {"content": []}}
    writing = world.relay()
    assert await writing.call("write") == "waits"
    for _ in range(2):
        assert await world.relay().call() == "semcache; fwd=miss; detail=changing"
    await writing.relay.from_server({"id": 1, "result": {"content": []}})
    assert await world.relay().call() == COLD
    assert await world.relay().call() == HIT


@pytest.mark.parametrize("by_pack", [True, False], ids=["by the pack", "by the server, which then lists anew"])
async def test_what_was_looked_at_while_the_state_moved_is_no_other_sessions_answer(by_pack: bool) -> None:
    waiting = World(lambda _: None)
    rules = {"read": {"effect": "state"}, "write": {"effect": "state"}} if by_pack else {}
    if not by_pack:
        waiting.tools = [{**READ, "x-semcache": {"effect": "state"}}, {**WRITE, "x-semcache": {"effect": "state"}}]
    both = waiting.relay(rules=rules)
    assert [await both.call("write"), await both.call("read")] == ["waits", "waits"]
    if not by_pack:
        await both.relay.from_server({"method": "notifications/tools/list_changed"})
        both.got.clear()
    for number, said in ((1, "moved"), (2, "away")):
        await both.relay.from_server({"id": number, "result": {"content": [{"type": "text", "text": said}]}})
    assert [one["result"]["_meta"][STATUS] for one in both.got] == ["semcache; fwd=miss; detail=parallel"] * 2
    waiting.answer = lambda _: {"result": {"content": [{"type": "text", "text": "home"}]}}
    assert await waiting.relay(rules=rules).call() == COLD
    assert (await waiting.relay(rules=rules).call()).endswith("detail=state")


async def test_a_call_whose_id_is_used_again_is_over() -> None:
    world = World(lambda _: None)
    session = world.relay(rules={"read": {"effect": "state"}})
    for _ in range(2):
        session.calls = 0
        assert await session.call("write") == "waits"
    await session.relay.from_server({"id": 1, "result": {"content": []}})
    world.answer = lambda _: {"result": {"content": []}}
    assert await session.call() == COLD, "none is under way"


async def test_a_read_that_began_before_a_change_is_not_kept_after_it() -> None:
    world = World(lambda params: None if params["name"] == "read" else {"result": {"content": []}})
    reading = world.relay()
    assert await reading.call() == "waits"
    await world.relay().call("write")
    await reading.relay.from_server({"id": 1, "result": {"content": []}})
    assert reading.got[-1]["result"]["_meta"][STATUS].endswith("detail=changing")
    world.answer = lambda _: {"result": {"content": []}}
    assert await world.relay().call() == COLD


async def test_who_dies_in_a_change_holds_reads_up_for_a_minute_at_most() -> None:
    world = World(lambda params: None if params["name"] == "write" else {"result": {"content": []}})
    await world.relay().call("write")
    assert "changing" in await world.relay().call()
    world.now += 61
    assert await world.relay().call() == COLD


async def test_a_call_that_is_cancelled_or_left_is_not_kept() -> None:
    world = World(lambda _: None)
    one = world.relay()
    await one.call()
    await one.relay.from_client({"method": "notifications/cancelled", "params": {"requestId": 1}})
    await one.relay.from_server({"id": 1, "result": {"content": []}})
    assert one.sent[-1]["method"] == "notifications/cancelled"
    two = world.relay()
    await two.call()
    await two.relay.close()
    world.answer = lambda _: {"result": {"content": []}}
    assert await world.relay().call() == COLD


async def test_a_tool_that_changed_its_schema_is_another_tool() -> None:
    world = World()
    await world.relay().call()
    one = world.relay()
    world.tools = [{**READ, "description": "new"}]
    assert await one.call() == COLD
    world.tools = [{**READ, "annotations": {"readOnlyHint": False}}]
    await one.relay.from_server({"method": "notifications/tools/list_changed"})
    assert one.got[-1]["method"] == "notifications/tools/list_changed"
    assert "writes" in await one.call()


async def test_users_and_versions_of_a_server_share_nothing() -> None:
    world = World()
    for user, version in (("ann", "1"), ("bo", "1"), ("ann", "2")):
        session = world.relay(user=user)
        await session.relay.from_client({"id": "i", "method": "initialize", "params": {}})
        await session.relay.from_server({"id": "i", "result": {"serverInfo": {"version": version}}})
        assert await session.call() == COLD


async def test_a_pack_counts_more_than_annotations() -> None:
    world = World()
    rules = {"read": {"effect": "writes", "resources": ["book:{id}"]}, "write": {"effect": "reads", "ttl": "1h"}}
    assert "writes" in await world.relay(rules=rules).call()
    assert await world.relay(rules=rules).call("write") == COLD
    assert await world.relay(rules=rules).call("write") == "semcache; hit; ttl=3600; detail=read"


@pytest.mark.parametrize(("apart", "detail"), [(False, "cold"), (True, "read")])
async def test_what_nobody_declared_changes_everything_unless_sessions_are_apart(apart: bool, detail: str) -> None:
    world = World()
    await world.relay(apart=apart).call()
    assert await world.relay(apart=apart).call("unknown") == "semcache; fwd=miss; detail=unknown-tool"
    assert (await world.relay(apart=apart).call()).endswith(detail)


async def test_a_store_that_is_down_costs_nobody_an_answer() -> None:
    class Down(MemoryToolResults):
        async def versions(self, *_: Any) -> Any:
            raise StoreError("down")

        change = put = get = settle = versions  # type: ignore[assignment]

    world = World(store=Down())
    session = world.relay()
    assert "detail=fault" in await session.call()
    assert "detail=fault" in await session.call("write")
    assert len(world.called) == 2


async def test_a_server_that_lists_nothing_has_its_calls_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_relay, "_PATIENCE", 0.01)
    world = World()
    session = world.relay()

    async def silent(message: Any) -> None:
        session.sent.append(message)

    session.relay._to_server = silent
    assert await session.call() == "waits"
    assert [one["method"] for one in session.sent] == ["tools/list", "tools/call"]
    await session.relay.from_server({"id": 1, "result": {"content": []}})
    assert "unknown-tool" in session.got[-1]["result"]["_meta"][STATUS]


@pytest.mark.parametrize(
    "params", [None, {}, {"name": 5}, {"name": "read", "arguments": []}, {"name": "read", "arguments": "x"}]
)
async def test_a_call_that_is_none_is_the_servers_to_refuse(params: Any) -> None:
    session = World().relay()
    await session.relay.from_client({"id": 1, "method": "tools/call", "params": params})
    assert session.sent[-1]["params"] == params


async def test_everything_else_passes_as_it_is() -> None:
    session = World().relay()
    up = {"jsonrpc": "2.0", "id": "a", "method": "resources/read", "params": {"uri": "x"}}
    down = {"jsonrpc": "2.0", "id": "b", "method": "sampling/createMessage", "params": {}}
    await session.relay.from_client(up)
    await session.relay.from_server(down)
    await session.relay.from_client({"jsonrpc": "2.0", "id": "b", "result": {}})
    await session.relay.from_server({"jsonrpc": "2.0", "id": "a", "result": {"contents": []}})
    assert (session.sent[0], session.sent[1]["id"]) == (up, "b")
    assert session.got == [down, {"jsonrpc": "2.0", "id": "a", "result": {"contents": []}}]


def test_credentials_are_part_of_a_user_and_the_terminal_is_not() -> None:
    def user(**env: str) -> str:
        return McpServer(command=("x",), env=env).user()

    assert user(TOKEN="a") != user(TOKEN="b") != user()
    assert user(TOKEN="a", TERM="vt100", PWD="/x", LC_ALL="C") == user(TOKEN="a")
    assert user(AWS_PROFILE="a") != user(AWS_PROFILE="b")
    by_url = McpServer(url="http://x", headers=(("Authorization", "a"),))
    assert (
        by_url.user() == McpServer(url="http://x", headers=(("authorization", "a"),)).user() != by_url.user(("x", "y"))
    )
    assert by_url.scope == McpServer(url="http://x").scope != McpServer(url="http://y").scope


async def test_two_sessions_at_once_each_get_their_own_responses() -> None:
    world = World(lambda params: {"result": {"content": [{"type": "text", "text": str(params["arguments"])}]}})
    sessions = [world.relay() for _ in range(8)]
    await asyncio.gather(*(one.call(arguments={"id": at % 3}) for at, one in enumerate(sessions)))
    texts = [one.got[-1]["result"]["content"][0]["text"] for one in sessions]
    assert texts == [str({"id": at % 3}) for at in range(8)]


async def test_an_id_that_an_unanswered_beginning_had_is_that_of_the_call_that_uses_it_again() -> None:
    world = World()
    session = world.relay()
    await session.relay.from_client({"id": 1, "method": "initialize", "params": {}})
    assert "stored" in await session.call()
    assert "hit" in await world.relay().call()


class Browser(World):
    """A server whose every session has a page of its own; `flaky` ones open another page the second time."""

    def __init__(self, *, flaky: bool = False) -> None:
        super().__init__(self._moved)
        self.flaky, self.opened, self.page = flaky, 0, "blank"
        self.tools = [{"name": name, "inputSchema": {"type": "object"}} for name in ("open", "press", "send")]

    def _moved(self, params: Any) -> Any:
        if params["name"] == "open":
            self.opened += 1
            self.page = f"shop {self.opened if self.flaky else 1}"
        return {"result": {"content": [{"type": "text", "text": f"{params['name']} on {self.page}"}]}}

    def session(self) -> Session:
        self.page = "blank"
        return self.relay(rules={"open": {"effect": "state"}, "press": {"effect": "state"}})


@pytest.mark.parametrize("tool", ["press", "send"])
async def test_calls_that_were_only_answered_are_executed_before_one_that_may_act_on_what_they_moved(tool: str) -> None:
    world = Browser()
    first = world.session()
    assert "stored" in await first.call("open")
    second = world.session()
    assert "hit" in await second.call("open", _meta={"progressToken": 1})
    assert world.page == "blank"
    status = await second.call(tool)
    assert ("stored" in status) is (tool == "press")
    assert second.got[-1]["result"]["content"][0]["text"] == f"{tool} on shop 1"
    assert [one["id"] for one in second.got] == [1, 2]
    assert [one.get("_meta") for one in world.called] == [None, {}, None]
    await second.call("send")
    assert world.opened == 2


async def test_what_follows_calls_that_came_to_something_else_when_made_up_is_not_kept() -> None:
    world = Browser(flaky=True)
    await world.session().call("open")
    second = world.session()
    assert "hit" in await second.call("open")
    assert await second.call("press") == "semcache; fwd=miss; detail=diverged"
    third = world.session()
    assert "hit" in await third.call("open")
    assert "hit" not in await third.call("press")
    await second.call("send")
    assert "hit" not in await world.session().call("press")


async def test_a_server_that_does_not_make_a_call_up_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_relay, "_MAKE_UP", 0.01)
    world = Browser()
    await world.session().call("open")
    second = world.session()
    assert "hit" in await second.call("open")
    moved, world.answer = world.answer, lambda params: None if params["name"] == "open" else moved(params)
    assert await second.call("press") == "error"
    assert [one["name"] for one in world.called] == ["open", "open"], "and what builds on it is not done"


@pytest.mark.parametrize("apart", [True, False])
async def test_what_a_session_reads_after_its_own_change_is_no_other_sessions_answer(apart: bool) -> None:
    world = World()
    page = {"now": "blank"}

    def answer(params: Any) -> Any:
        if params["name"] == "write":
            page["now"] = str(params["arguments"]["id"])
        return {"result": {"content": [{"type": "text", "text": page["now"]}]}}

    world.answer = answer
    first = world.relay(apart=apart)
    assert "fwd=miss" in await first.call("write", arguments={"id": "shop"})
    assert await first.call() == "semcache; fwd=miss; detail=after-write"
    assert await first.call() == "semcache; fwd=miss; detail=after-write"
    page["now"] = "blank"
    second = world.relay(apart=apart)
    assert "fwd=miss" in await second.call()
    assert second.got[-1]["result"]["content"][0]["text"] == "blank"
    await second.call("write", arguments={"id": "bank"})
    assert "fwd=miss" in await second.call()
    assert second.got[-1]["result"]["content"][0]["text"] == "bank"


async def test_a_session_so_long_that_its_history_begins_anew_has_not_forgotten_what_it_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(call_relay, "_CALLS", 2)
    world = World()
    session = world.relay(apart=True)
    await session.call("write")
    await session.call(arguments={"id": 2})
    await world.relay(apart=True).call()
    assert "hit" not in await session.call()


async def test_what_a_session_reads_of_a_resource_that_it_changed_apart_is_no_other_sessions_answer() -> None:
    of = {"resources": ["page:{id}"]}
    world, rules = World(), {"read": {"effect": "reads", **of}, "write": {"effect": "writes", **of}}
    for apart, second in ((True, "semcache; fwd=miss; stored; detail=cold"), (False, HIT)):
        first = world.relay(rules=rules, apart=apart, user=f"user {apart}")
        await first.call("write")
        assert "detail=after-write" in await first.call()
        assert await world.relay(rules=rules, apart=apart, user=f"user {apart}").call() == second
