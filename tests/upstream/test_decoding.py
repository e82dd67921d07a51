"""A packed answer of the upstream arrives whole, or is known to be cut: never as a shorter answer."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import AsyncIterator, Callable
from importlib import import_module
from typing import Any

import pytest

from semcache.errors import UpstreamError
from semcache.upstream.backends.decoding import Damaged, decoded, encodings, undecodable
from tests.upstream.test_http import chat, opened, whole

BODY = b'data: {"n": 1}\n\n' * 20 + b"data: [DONE]\n\n"


def packed(name: str, body: bytes = BODY) -> bytes:
    match name:
        case "gzip":
            return gzip.compress(body)
        case "two members":
            return gzip.compress(body[:50]) + gzip.compress(body[50:])
        case "padded":
            return gzip.compress(body) + bytes(7)
        case "deflate":
            return zlib.compress(body)
        case "no header":
            return zlib.compress(body, wbits=-15)
        case "twice":
            return gzip.compress(zlib.compress(body))
        case "br":
            return bytes(pytest.importorskip("brotli").compress(body))
        case _:
            return bytes(zstandard().compress(body))


def zstandard() -> Any:
    try:
        return import_module("compression.zstd")
    except ImportError:
        return pytest.importorskip("backports.zstd")


ENCODINGS = {
    "gzip": ["gzip"],
    "two members": ["x-gzip"],
    "padded": ["gzip"],
    "deflate": ["deflate"],
    "no header": ["deflate"],
    "twice": ["deflate", "gzip"],
    "br": ["br"],
    "zstd": ["zstd"],
}


async def undone(data: bytes, applied: list[str], size: int) -> bytes:
    async def body() -> AsyncIterator[bytes]:
        for start in range(0, len(data), size):
            yield data[start : start + size]

    return b"".join([piece async for piece in decoded(body(), applied)])


@pytest.mark.parametrize("name", ENCODINGS)
@pytest.mark.parametrize("size", [1, 7, 10_000])
async def test_a_packed_body_arrives_whole_in_whatever_pieces(name: str, size: int) -> None:
    assert await undone(packed(name), ENCODINGS[name], size) == BODY


@pytest.mark.parametrize("name", ENCODINGS)
async def test_a_packed_body_that_is_cut_anywhere_is_damaged(name: str) -> None:
    data = packed(name)
    ends = {len(gzip.compress(BODY[:50]))} if name == "two members" else set()
    last = len(data) - (7 if name == "padded" else 0)
    for end in set(range(1, last)) - ends:
        with pytest.raises(Damaged):
            await undone(data[:end], ENCODINGS[name], 64)


@pytest.mark.parametrize("name", ["gzip", "deflate", "br", "zstd"])
async def test_a_small_body_that_is_a_large_one_unpacked_comes_in_pieces(name: str) -> None:
    """A few kilobytes may stand for gigabytes, which must never be in memory at once."""
    large = bytes(32 << 20)

    async def body() -> AsyncIterator[bytes]:
        yield packed(name, large)

    sizes = [len(piece) async for piece in decoded(body(), [name])]
    assert sum(sizes) == len(large)
    assert max(sizes) <= 4 << 20


@pytest.mark.parametrize("name", ["gzip", "deflate", "no header"])
async def test_what_follows_the_end_of_a_packed_body_is_damage(name: str) -> None:
    for size in (1, 10_000):
        with pytest.raises(Damaged):
            await undone(packed(name) + b"and more", ENCODINGS[name], size)


async def test_no_body_is_an_empty_body_in_any_encoding() -> None:
    assert await undone(b"", ["gzip"], 1) == b""


def test_encodings_are_read_as_http_writes_them() -> None:
    assert encodings([" GZip , identity", "", "deflate"]) == ["gzip", "deflate"]
    assert undecodable(["gzip", "x-packed", "deflate"]) == ["x-packed"]


@pytest.mark.parametrize("kind", [b"application/json", b"text/event-stream"])
async def test_an_answer_that_is_cut_inside_its_encoding_breaks_off(serve: Callable[[Any], str], kind: bytes) -> None:
    cut = packed("gzip")[:-20]

    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-encoding", b"gzip"), (b"content-type", kind), (b"content-length", b"%d" % len(cut))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": cut})

    async with opened(serve(app), max_connections=1) as backend:
        for _ in range(2):
            with pytest.raises(UpstreamError, match=r"broke off.*content-encoding gzip"):
                await whole(backend, chat())
