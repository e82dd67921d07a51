"""A server that asks its client something before it lists its tools is answered, and so is the client."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp.types import jsonrpc_message_adapter

from semcache.agents.mcp.call_relay import SessionIdentity
from semcache.agents.mcp.mcp_sessions import relayed
from semcache.agents.tools.rules import ToolRules
from semcache.agents.tools.shared_results import SharedToolResults
from semcache.storage.stores.tool_rows import MemoryToolResults
from tests.waiting import PATIENCE


def message(**fields: Any) -> SessionMessage:
    return SessionMessage(jsonrpc_message_adapter.validate_python({"jsonrpc": "2.0", **fields}, by_name=False))


async def test_a_question_of_the_server_is_answered_while_it_is_asked_for_its_tools() -> None:
    results = SharedToolResults(MemoryToolResults(), ToolRules(), salt=b"s" * 32, scope="x", clock=lambda: 1000.0)
    async with AsyncExitStack() as stack:
        pairs = [anyio.create_memory_object_stream[Any](9) for _ in range(4)]
        for one in pairs:
            for end in one:
                stack.enter_context(end)
        (says, from_client), (to_client, hears), (answers, from_server), (to_server, is_asked) = pairs
        group = await stack.enter_async_context(anyio.create_task_group())
        group.start_soon(
            relayed, (from_client, to_client), (from_server, to_server), results, SessionIdentity("t", "ann")
        )
        with anyio.fail_after(PATIENCE):
            await says.send(message(id=1, method="tools/call", params={"name": "read", "arguments": {}}))
            listing = (await is_asked.receive()).message
            assert listing.method == "tools/list"
            await answers.send(message(id="q", method="roots/list"))
            assert (await hears.receive()).message.method == "roots/list"
            await says.send(message(id="q", result={"roots": []}))
            assert (await is_asked.receive()).message.result == {"roots": []}
            await answers.send(message(id=listing.id, result={"tools": []}))
            call = (await is_asked.receive()).message
            await answers.send(message(id=call.id, result={"content": []}))
            assert (await hears.receive()).message.id == 1
        says.close()
