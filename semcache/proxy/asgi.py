"""ASGI types and replies, and the end of a request whose client disconnects.

Knows nothing of caching. Invariant: `until_disconnect` cancels only the block it guards, and only for the client.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, MutableMapping
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeAlias

Message: TypeAlias = MutableMapping[str, Any]
Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
HeaderList: TypeAlias = list[tuple[bytes, bytes]]

CLIENT_GONE = 499  # the status on record of a request whose client did not wait for the reply


class Disconnected(Exception):
    """The client went away while its reply was being made."""


class BrokenOff(Exception):
    """The backend broke off in the middle of an answer that the client was already receiving."""


def text(value: bytes) -> str:
    """Decode a header value: UTF-8, else the Latin-1 that some HTTP clients send in its place."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def decoded(scope: Scope) -> list[tuple[str, str]]:
    """Return the request headers as text; names are lower case already."""
    return [(name.decode("latin-1"), text(value)) for name, value in scope["headers"]]


def encoded(headers: list[tuple[str, str]]) -> HeaderList:
    """Return headers as bytes, for a response."""
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]


async def respond(send: Send, status: int, headers: HeaderList, body: bytes) -> None:
    """Send a whole response."""
    head = [*headers, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})


@asynccontextmanager
async def until_disconnect(receive: Receive) -> AsyncIterator[None]:
    """Run a block that ends with Disconnected as soon as the client goes. The request body must have been read."""
    task = asyncio.current_task()
    assert task is not None
    gone = False

    async def watch() -> None:
        nonlocal gone
        while (await receive())["type"] != "http.disconnect":
            pass
        gone = True
        task.cancel()

    watcher = asyncio.create_task(watch(), name="semcache-disconnect")
    try:
        yield
    except asyncio.CancelledError:
        if not gone:
            raise
        task.uncancel()
        raise Disconnected from None
    finally:
        watcher.cancel()
        with suppress(asyncio.CancelledError):
            await watcher
