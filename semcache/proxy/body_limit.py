"""Reading a request body within a limit, off the wire and after decompression.

Knows ASGI; nothing of the content. Invariant: no more than the limit (and one message of the server's) is ever held,
however small the compressed body that claims to be more.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any

from semcache.errors import RequestRejected
from semcache.proxy.asgi import Message, Receive


class ClientGone(Exception):
    """The client left before its request was whole: there is nobody to answer."""


async def read_body(scope: Mapping[str, Any], receive: Receive, limit: int) -> bytes:
    """Read the body and undo `content-encoding`, which must then not be forwarded. `limit` is bytes.

    Raises RequestRejected: 413 past the limit, 415 for an encoding it does not know, 400 for damaged data; ClientGone.
    """
    encoding = ""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit() and int(value) > limit:
            raise _too_large(limit)
        if name == b"content-encoding":
            encoding = f"{encoding},{value.decode('latin-1')}".strip(", ").lower()
    if encoding not in _WINDOWS:
        message = f"content-encoding {encoding!r} is not supported: send gzip, deflate or none"
        raise RequestRejected(415, message, code="unsupported_encoding")
    raw = await _read(receive, limit)
    return raw if encoding in {"", "identity"} or not raw else _inflate(raw, _WINDOWS[encoding], limit)


def reread(body: bytes, receive: Receive) -> Receive:
    """Return a `receive` that gives a body that has been read already, and then whatever comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return waiting.pop() if waiting else await receive()

    return again


# zlib's window arguments: 31 expects a gzip header, 47 either header.
_WINDOWS = {"": 0, "identity": 0, "gzip": 31, "x-gzip": 31, "deflate": 47}


async def _read(receive: Receive, limit: int) -> bytes:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGone
    body = message.get("body", b"")
    if len(body) > limit:
        raise _too_large(limit)
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
        pieces.append(piece)
    return b"".join(pieces)


def _inflate(raw: bytes, window: int, limit: int) -> bytes:
    inflater = zlib.decompressobj(window)
    try:
        body = inflater.decompress(raw, limit + 1)
    except zlib.error as error:
        if window != 47:
            raise _damaged(str(error)) from error
        # Some clients send `deflate` without zlib's header.
        return _inflate(raw, -15, limit)
    if len(body) > limit:
        raise _too_large(limit)
    if not inflater.eof:
        raise _damaged("it ends too early")
    if inflater.unused_data:
        raise _damaged("there are bytes after its end")
    return body


def _too_large(limit: int) -> RequestRejected:
    return RequestRejected(413, f"the request body is larger than the limit of {limit} bytes", code="body_too_large")


def _damaged(detail: str) -> RequestRejected:
    return RequestRejected(400, f"the compressed request body cannot be read: {detail}", code="bad_encoding")
