"""Sessions of the Model Context Protocol: a client's messages and a server's, each through a relay.

Knows the streams of the package `mcp`. Requests of a client are taken one at a time, its replies at once: a server may
ask it something before it answers what it was asked itself. Invariant: a session ends when its client or its server
does, and then nothing of it is left: no process, no connection, no announced change.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import logging
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import suppress
from typing import Any, cast

from semcache.agents.mcp.call_relay import CallRelay, Message, SessionIdentity
from semcache.agents.mcp.mcp_server import McpServer
from semcache.agents.tools.shared_results import SharedToolResults

_log = logging.getLogger(__name__)
_PIECE = 64 << 10  # bytes that are read at once
_WAITING = 1000  # requests of a client that may wait for the one before


async def serve_stdio(server: McpServer, results: SharedToolResults, tenant: str) -> None:
    """Serve one client over standard input and output until either side ends. Raises ConfigError."""
    import anyio
    from mcp.server.stdio import stdio_server

    identity = SessionIdentity(tenant, server.user())
    async with server.opened() as behind:
        # The server is not in the scope: one by URL is told that its session is over.
        with anyio.CancelScope() as scope:
            async with stdio_server(stdin=cast("Any", _lines(0))) as before:
                await relayed(before, behind, results, identity)
                scope.cancel()


async def _lines(file: int) -> AsyncIterator[str]:
    """The lines of a file descriptor, the last one also where no line feed ends it.

    They are read in a thread that nobody waits for: a client need not send anything for a session to end.
    """
    import anyio

    loop, (told, lines) = asyncio.get_running_loop(), anyio.create_memory_object_stream[bytes](0)

    def read() -> None:
        rest = [b""]
        with suppress(RuntimeError, concurrent.futures.CancelledError, anyio.BrokenResourceError):
            for piece in _pieces(file):
                first, *more = piece.split(b"\n")
                rest.append(first)
                for one in more:
                    asyncio.run_coroutine_threadsafe(told.send(b"".join(rest)), loop).result()
                    rest = [one]
            loop.call_soon_threadsafe(told.close)

    threading.Thread(target=read, name="semcache-mcp-stdin", daemon=True).start()
    with lines:
        async for line in lines:
            yield line.decode("utf-8", "replace")


def _pieces(file: int) -> Iterator[bytes]:
    """Yield all that a file descriptor has until it ends or fails; a last line that nothing ended is ended."""
    last = b""
    with suppress(OSError):
        while piece := os.read(file, _PIECE):
            last = piece
            yield piece
    if last and not last.endswith(b"\n"):
        yield b"\n"


async def relayed(before: Any, behind: Any, results: SharedToolResults, identity: SessionIdentity) -> None:
    """Relay between a client's streams and a server's until either ends."""
    import anyio
    from mcp.shared.message import SessionMessage
    from mcp.types import jsonrpc_message_adapter

    (from_client, to_client), (from_server, to_server) = before, behind

    def sender(stream: Any) -> Callable[[Message], Awaitable[None]]:
        async def send(message: Message) -> None:
            await stream.send(SessionMessage(jsonrpc_message_adapter.validate_python(message, by_name=False)))

        return send

    relay = CallRelay(results, identity, to_client=sender(to_client), to_server=sender(to_server))
    waiting, asked = anyio.create_memory_object_stream[Message](_WAITING)

    async def take(message: Message) -> None:
        method = message.get("method")
        # What is taken back must not come before what it takes back.
        if method is not None and ("id" in message or method == "notifications/cancelled"):
            await waiting.send(message)
        else:
            await relay.from_client(message)

    async def work() -> None:
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            async for message in asked:
                await relay.from_client(message)
        group.cancel_scope.cancel()

    async def pump(stream: Any, take: Callable[[Message], Awaitable[None]], end: Callable[[], None]) -> None:
        # Streams that are closed, on either side, are how a session ends.
        with suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
            async for one in stream:
                if isinstance(one, Exception):
                    _log.warning("a message that is none was left out: %s", one)
                    continue
                await take(one.message.model_dump(by_alias=True, mode="json", exclude_unset=True))
        end()

    try:
        async with waiting, asked, anyio.create_task_group() as group:
            group.start_soon(work)
            group.start_soon(pump, from_client, take, waiting.close)
            group.start_soon(pump, from_server, relay.from_server, group.cancel_scope.cancel)
    finally:
        with anyio.CancelScope(shield=True), anyio.move_on_after(5):
            await relay.close()
        # Whoever writes them out goes on until they are closed: without this, a client that closes its end or is
        # killed would leave this process and the server's behind.
        for stream in (to_client, to_server):
            stream.close()
