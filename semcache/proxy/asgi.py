"""ASGI: reading a request body within a limit, sending replies, and noticing that a client disconnects.

Knows nothing of caching. Invariant: no more of a body than the limit (and one message of the server's) is ever held,
however small the compressed body that claims to be more; `until_disconnect` cancels only the block it guards, and only
for the client.
"""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, MutableMapping
from contextlib import asynccontextmanager
from typing import Any, TypeAlias

from semcache.errors import RequestRejected

Message: TypeAlias = MutableMapping[str, Any]
Scope: TypeAlias = dict[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
HeaderList: TypeAlias = list[tuple[bytes, bytes]]
Grow: TypeAlias = Callable[[int], Awaitable[None]]

# zlib's window arguments: 31 expects a gzip header, 47 either header.
_WINDOWS = {"": 0, "identity": 0, "gzip": 31, "x-gzip": 31, "deflate": 47}
_PIECE = 1 << 20  # bytes that are inflated at a time: one or two milliseconds
CLIENT_GONE = 499  # the status on record of a request whose client did not wait for the reply


class Disconnected(Exception):
    """The client went away while its reply was being made."""


class ClientGone(Exception):
    """The client left before its request was whole: there is nobody to answer."""


class BrokenOff(Exception):
    """The backend broke off in the middle of an answer that the client was already receiving."""


def header_text(value: bytes) -> str:
    """Decode a header value: UTF-8, else the Latin-1 that some HTTP clients send in its place."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")


def decode_headers(scope: Scope) -> list[tuple[str, str]]:
    """Return the request headers as text; names are lower case already."""
    return [(name.decode("latin-1"), header_text(value)) for name, value in scope["headers"]]


def encode_headers(headers: list[tuple[str, str]]) -> HeaderList:
    """Return headers as bytes, for a response."""
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]


async def read_body(scope: Mapping[str, Any], receive: Receive, limit: int, hold: Grow | None = None) -> bytes:
    """Read the body and undo `content-encoding`, which must then not be forwarded. `limit` is bytes.

    `hold` is told how many bytes are about to be held in all, before they are, and may wait or refuse.

    Raises RequestRejected: 413 past the limit, 415 for an encoding it does not know, 400 for damaged data; ClientGone.
    """
    encoding, stated = "", 0
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            stated = int(value[:20])
            if stated > limit:
                raise _too_large(limit)
        if name == b"content-encoding":
            encoding = f"{encoding},{value.decode('latin-1')}".strip(", ").lower()
    if encoding not in _WINDOWS:
        message = f"content-encoding {encoding!r} is not supported: send gzip, deflate or none"
        raise RequestRejected(415, message, code="unsupported_encoding")
    if hold is not None and stated:
        await hold(stated)
    raw = await _read(receive, limit, hold, stated)
    if encoding in {"", "identity"} or not raw:
        return raw
    return await _inflate(raw, _WINDOWS[encoding], limit, hold)


def replay_body(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body that has been read already, and then whatever comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


async def respond(send: Send, status: int, headers: HeaderList, body: bytes) -> None:
    """Send a whole response."""
    head = [*headers, (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": head})
    await send({"type": "http.response.body", "body": body})


def with_status_noted(send: Send, note: Callable[[int], object]) -> Send:
    """Return a `send` that calls `note` with the status of a reply when it begins."""

    async def noting(message: Message) -> None:
        if message["type"] == "http.response.start":
            note(message["status"])
        await send(message)

    return noting


@asynccontextmanager
async def until_disconnect(receive: Receive) -> AsyncIterator[None]:
    """Run a block that ends with Disconnected as soon as the client goes. The request body must have been read.

    A task that is cancelled from elsewhere, before or after that, stays cancelled.
    """
    task = asyncio.current_task()
    assert task is not None
    before = task.cancelling()
    gone = over = False

    async def watch() -> None:
        nonlocal gone
        while (await receive())["type"] != "http.disconnect":
            pass
        if not over:
            gone = True
            task.cancel()

    watcher = asyncio.create_task(watch(), name="semcache-disconnect")
    try:
        yield
    except asyncio.CancelledError:
        if not gone or task.uncancel() > before:
            raise
        raise Disconnected from None
    finally:
        over = True
        watcher.cancel()
        # Awaited on its own, its end by cancellation could not be told from this task's.
        await asyncio.wait([watcher])
        if not watcher.cancelled():
            watcher.result()


async def _read(receive: Receive, limit: int, hold: Grow | None, held: int) -> bytes:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGone
    body = message.get("body", b"")
    if len(body) > limit:
        raise _too_large(limit)
    if hold is not None and len(body) > held:
        await hold(len(body))
    if not message.get("more_body", False):
        return bytes(body)
    pieces, size = [body], len(body)
    while message.get("more_body", False):
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        piece = message.get("body", b"")
        size += len(piece)
        if size > limit:
            raise _too_large(limit)
        if hold is not None:
            await hold(size)
        pieces.append(piece)
    return b"".join(pieces)


async def _inflate(raw: bytes, window: int, limit: int, hold: Grow | None) -> bytes:
    """Undo a compression piece by piece, so that others are served in between."""
    inflater = zlib.decompressobj(window)
    pieces: list[bytes] = []
    size, rest = 0, raw
    while True:
        try:
            piece = inflater.decompress(rest, _PIECE)
        except zlib.error as error:
            if window != 47 or size:
                raise _damaged(str(error)) from error
            # Some clients send `deflate` without zlib's header.
            return await _inflate(raw, -15, limit, hold)
        rest = inflater.unconsumed_tail
        size += len(piece)
        if size > limit:
            raise _too_large(limit)
        if hold is not None:
            await hold(len(raw) + size)
        pieces.append(piece)
        if inflater.eof or not (rest or piece):
            break
        if size > _PIECE:
            await asyncio.sleep(0)
    if not inflater.eof:
        raise _damaged("it ends too early")
    if inflater.unused_data:
        raise _damaged("there are bytes after its end")
    return b"".join(pieces)


def _too_large(limit: int) -> RequestRejected:
    return RequestRejected(413, f"the request body is larger than the limit of {limit} bytes", code="body_too_large")


def _damaged(detail: str) -> RequestRejected:
    return RequestRejected(400, f"the compressed request body cannot be read: {detail}", code="bad_encoding")
