"""A body may be large, compressed, cut off or lying about itself; memory and the answer must stay right."""

from __future__ import annotations

import asyncio
import gzip
import tracemalloc
import zlib
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.errors import RequestRejected
from semcache.proxy.asgi import ClientGone, Disconnected, read_body, until_disconnect


def sender(*pieces: bytes, gone: bool = False) -> Callable[[], Awaitable[dict[str, Any]]]:
    messages = [
        {"type": "http.request", "body": piece, "more_body": gone or at + 1 < len(pieces)}
        for at, piece in enumerate(pieces)
    ]
    if gone:
        messages.append({"type": "http.disconnect"})

    async def receive() -> dict[str, Any]:
        assert messages, "read on after the end of the body"
        return messages.pop(0)

    return receive


def scope(**headers: str) -> dict[str, Any]:
    return {"headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]}


async def rejected(status: int, *pieces: bytes, limit: int = 100, **headers: str) -> str:
    with pytest.raises(RequestRejected) as refusal:
        await read_body(scope(**headers), sender(*pieces), limit)
    assert refusal.value.status == status
    return refusal.value.message


@given(st.lists(st.binary(max_size=20), min_size=1, max_size=5), st.sampled_from(["", "gzip", "deflate", "raw"]))
async def test_the_body_is_what_was_sent(pieces: list[bytes], encoding: str) -> None:
    raw = b"".join(pieces)
    if not encoding:
        assert await read_body(scope(), sender(*pieces), 100) == raw
        return
    bare = zlib.compressobj(wbits=-15)
    sent = {
        "gzip": gzip.compress(raw, mtime=0),
        "deflate": zlib.compress(raw),
        "raw": bare.compress(raw) + bare.flush(),
    }[encoding]
    headers = scope(content_encoding="gzip" if encoding == "gzip" else "deflate")
    assert await read_body(headers, sender(sent[:7], sent[7:]), 200) == raw


async def test_a_limit_is_kept_to_the_byte() -> None:
    assert len(await read_body(scope(), sender(b"x" * 50, b"x" * 50), 100)) == 100
    assert "100 bytes" in await rejected(413, b"x" * 101)
    await rejected(413, b"x" * 50, b"x" * 51, b"never read")
    assert len(await read_body(scope(content_encoding="gzip"), sender(gzip.compress(b"x" * 100, mtime=0)), 100)) == 100
    await rejected(413, gzip.compress(b"x" * 101, mtime=0), content_encoding="gzip")


async def test_a_length_over_the_limit_is_refused_unread() -> None:
    with pytest.raises(RequestRejected) as refusal:
        await read_body(scope(content_length="101"), sender(), 100)
    assert refusal.value.status == 413


async def test_a_bomb_costs_no_memory() -> None:
    bomb = gzip.compress(bytes(200 << 20))
    tracemalloc.start()
    try:
        await rejected(413, bomb, limit=1 << 20, content_encoding="gzip")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 8 << 20


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "gzip2"])
async def test_other_encodings_are_named_in_a_415(encoding: str) -> None:
    assert encoding.split(",")[0] in await rejected(415, b"x", content_encoding=encoding)


@pytest.mark.parametrize(
    "body", [b"plain text", gzip.compress(b"whole", mtime=0)[:-3], gzip.compress(b"a", mtime=0) + b"junk"]
)
@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
async def test_damaged_data_is_a_400(body: bytes, encoding: str) -> None:
    await rejected(400, body, content_encoding=encoding)


@pytest.mark.parametrize("pieces", [(), (b"half",)])
async def test_a_client_that_leaves_is_told_apart(pieces: tuple[bytes, ...]) -> None:
    with pytest.raises(ClientGone):
        await read_body(scope(), sender(*pieces, gone=True), 100)


async def _ended(task: asyncio.Task[str]) -> str:
    try:
        return await task
    except asyncio.CancelledError:
        return "cancelled"


def _guarded(left: asyncio.Event) -> asyncio.Task[str]:
    async def receive() -> dict[str, Any]:
        await left.wait()
        return {"type": "http.disconnect"}

    async def work() -> str:
        try:
            async with until_disconnect(receive):
                await asyncio.Event().wait()
        except Disconnected:
            return "disconnected"
        return "whole"

    return asyncio.create_task(work())


async def test_a_block_ends_as_soon_as_its_client_goes() -> None:
    left = asyncio.Event()
    task = _guarded(left)
    await asyncio.sleep(0)
    left.set()
    assert await _ended(task) == "disconnected"
    assert task.cancelling() == 0


@pytest.mark.parametrize("turns", range(4))
@pytest.mark.parametrize("leaves", [False, True])
async def test_a_task_that_is_cancelled_from_elsewhere_stays_cancelled(turns: int, leaves: bool) -> None:
    # A stop of the server would otherwise wait for a request whose client went at that moment.
    left = asyncio.Event()
    task = _guarded(left)
    await asyncio.sleep(0)
    if leaves:
        left.set()
    for _ in range(turns):
        await asyncio.sleep(0)
    if task.cancel():
        assert await _ended(task) == "cancelled"
    else:
        assert await _ended(task) == "disconnected"


async def test_a_cancellation_while_the_watch_is_ended_is_not_lost() -> None:
    async def receive() -> dict[str, Any]:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            task.cancel()
            await asyncio.sleep(0)
            raise
        raise AssertionError

    async def work() -> str:
        async with until_disconnect(receive):
            await asyncio.sleep(0)
        return "whole"

    task = asyncio.create_task(work())
    assert await _ended(task) == "cancelled"


async def test_a_client_that_goes_when_the_block_is_over_ends_nothing() -> None:
    async def receive() -> dict[str, Any]:
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return {"type": "http.disconnect"}

    async def work() -> str:
        async with until_disconnect(receive):
            await asyncio.sleep(0)
        await asyncio.sleep(0)
        return "whole"

    task = asyncio.create_task(work())
    assert await _ended(task) == "whole"
    assert task.cancelling() == 0
