"""A client that sends too much around its request, sends it too slowly or does not read its reply, is cut off."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

import pytest
from uvicorn import Config, Server

from semcache.proxy.connection_limits import ConnectionLimits
from semcache.proxy.http_connection import HttpConnection
from tests.waiting import soon, until

LIMITS = ConnectionLimits(
    head=2000, fields=20, head_seconds=10, body_seconds=30, pace=1000, reply_seconds=60, body=5000
)


class App:
    """Answers with the names of the headers that it was given, once it has read the body."""

    connection_limits = LIMITS

    def __init__(self) -> None:
        self.seen: list[list[tuple[bytes, bytes]]] = []
        self.bodies: list[bytes] = []

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        more, body = True, b""
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body, more = body + message["body"], message["more_body"]
        self.bodies.append(body)
        self.seen.append(scope["headers"])
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"ok"})


@asynccontextmanager
async def served(app: App) -> AsyncIterator[tuple[int, Server]]:
    config = Config(app, port=0, http=HttpConnection, lifespan="off", log_level="critical", access_log=False)
    server = Server(config)
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield server.servers[0].sockets[0].getsockname()[1], server
    finally:
        server.should_exit = True
        await task


async def said(port: int, sent: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    got = b""
    try:
        while b"ok" not in got and (piece := await reader.read(4096)):
            got += piece
    except ConnectionError:
        pass
    writer.close()
    return got


HEAD = b"POST / HTTP/1.1\r\nhost: x\r\n"


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (HEAD + b"a: " + b"b" * 3000 + b"\r\n\r\n", b"431"),
        (HEAD + b"a: " + b"b" * 300_000, b"431"),
        (HEAD + b"a: b\r\n" * 30 + b"\r\n", b"431"),
        (b"GET /" + b"a" * 300_000, b"431"),
        (HEAD + b"content-length: 2\r\n\r\n{}", b"200"),
        (HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n", b"200"),
    ],
)
async def test_a_head_has_a_size(sent: bytes, status: bytes) -> None:
    app = App()
    async with served(app) as (port, _):
        assert (await said(port, sent))[9:12] in (status, b"" if status == b"431" else status)
    assert len(app.seen) == (status == b"200")


async def test_a_field_behind_the_body_is_no_header() -> None:
    app = App()
    trailers = b"authorization: Bearer other\r\nx-semcache-category: x\r\nx-semcache-namespace: y\r\n"
    async with served(app) as (port, _):
        await said(port, HEAD + b"transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n" + trailers + b"\r\n")
    assert [[name for name, _ in headers] for headers in app.seen] == [[b"host", b"transfer-encoding"]]


async def test_trailers_and_chunk_sizes_have_an_end() -> None:
    app = App()
    start = HEAD + b"transfer-encoding: chunked\r\n\r\n"
    async with served(app) as (port, _):
        assert b"200" not in await said(port, start + b"2\r\n{}\r\n0\r\n" + b"a: b\r\n" * 60_000)
        assert b"200" not in await said(port, start + b"1;" + b"a" * 300_000)
    assert len(app.seen) <= 1


async def test_who_is_slow_is_overdue_and_who_waits_for_us_is_not() -> None:
    app = App()
    async with served(app) as (port, server):
        _, writer = await asyncio.open_connection("127.0.0.1", port)
        while not server.server_state.connections:
            await asyncio.sleep(0.01)
        [one] = list(server.server_state.connections)
        assert isinstance(one, HttpConnection)
        now = asyncio.get_running_loop().time()
        assert not one.overdue(now + 9)
        assert one.overdue(now + 11), "a head has ten seconds, and a connection that sends none too"
        writer.write(HEAD + b"content-length: 4000\r\n\r\n")
        while not one._in_body:
            await asyncio.sleep(0.01)
        now = asyncio.get_running_loop().time()
        assert not one.overdue(now + 29)
        assert one.overdue(now + 31), "a body of no bytes has thirty seconds"
        one.flow.pause_reading()
        assert not one.overdue(now + 1000), "it is we who do not read"
        one.flow.resume_reading()
        writer.close()


async def test_too_many_connections_are_closed_at_once_and_the_log_says_so(caplog: pytest.LogCaptureFixture) -> None:
    app = App()
    app.connection_limits = ConnectionLimits(connections=2)
    async with served(app) as (port, _):
        held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
        await asyncio.sleep(0.05)
        for _ in range(3):
            assert await said(port, HEAD + b"content-length: 2\r\n\r\n{}") == b""
        [record] = [one for one in caplog.records if "client connections" in one.getMessage()]
        assert "server.max_connections" in record.getMessage()
        for _, writer in held:
            writer.close()


@pytest.mark.parametrize(
    "body",
    [b"0x2\r\n{}\r\n0\r\n\r\n", b"-2\r\n{}\r\n", b"fffffffffffffffff\r\n{}\r\n", b'2;a="\r\n"\r\n{}\r\n0\r\n\r\n'],
    ids=ascii,
)
async def test_a_body_that_is_no_chunks_is_refused_aloud_and_never_into_another_reply(body: bytes) -> None:
    app = App()
    start = HEAD + b"transfer-encoding: chunked\r\n\r\n"
    async with served(app) as (port, _):
        got = await said(port, start + body)
        assert got.startswith(b"HTTP/1.1 400 ")
        assert app.seen == []
        # Behind a request that is being answered there is nothing that could be said to this one alone.
        assert b"400" not in await said(port, start + b"2\r\n{}\r\n0\r\n\r\n" + start + body)


class Story(App):
    """Tells a story piece by piece, the second when it is let go on."""

    def __init__(self) -> None:
        super().__init__()
        self.on = asyncio.Event()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/plain")]})
        await send({"type": "http.response.body", "body": b"once ", "more_body": True})
        await self.on.wait()
        await send({"type": "http.response.body", "body": b"upon", "more_body": True})
        await send({"type": "http.response.body", "body": b""})


async def test_a_stream_reaches_a_client_of_http_1_0_as_it_comes_and_without_chunks() -> None:
    # That is what nginx speaks unless it is told otherwise. A reply kept until it is whole would be in no budget.
    app = Story()
    async with served(app) as (port, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET / HTTP/1.0\r\n\r\n")
        head = await soon(reader.readuntil(b"\r\n\r\n"))
        assert await soon(reader.readexactly(5)) == b"once ", "before the story is told to its end"
        app.on.set()
        assert await soon(reader.read()) == b"upon", "the connection ends with it"
        writer.close()
        assert b"transfer-encoding" not in head.lower()
        assert b"connection: close" in head.lower()


async def test_a_reply_whose_length_is_known_says_so_to_a_client_of_http_1_0() -> None:
    async with served(App()) as (port, _):
        got = await said(port, b"GET / HTTP/1.0\r\n\r\n")
    assert b"content-length: 2\r\n" in got
    assert got.endswith(b"\r\n\r\nok")


@pytest.mark.parametrize("reads", [True, False])
async def test_a_slow_reader_is_cut_off_only_when_it_takes_nothing(reads: bool) -> None:
    """The kernel frees its buffer by megabytes: what waits here stays the same for minutes while a client reads."""
    acknowledged = 1000

    class Connected:
        def getsockopt(self, level: int, name: int, size: int) -> bytes:
            return bytes(120) + acknowledged.to_bytes(8, sys.byteorder)

    class Transport:
        def is_closing(self) -> bool:
            return False

        def get_write_buffer_size(self) -> int:
            return 70_000

        def get_extra_info(self, name: str) -> Connected:
            return Connected()

    connection = object.__new__(HttpConnection)
    connection.limits, connection.transport = LIMITS, Transport()  # type: ignore[assignment]
    connection._in_head = connection._in_body = False
    connection._progress, connection._progress_at = -1, 0.0
    cut = []
    for second in range(200):
        cut.append(connection.overdue(float(second)))
        acknowledged += 5000 if reads else 0
    assert any(cut) is not reads or sys.platform != "linux"


@pytest.mark.parametrize(
    "framing", [b"content-length: 5\r\n\r\nhello", b"transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"]
)
@pytest.mark.parametrize("size", [1, 50, 1000])
async def test_a_request_that_offers_another_protocol_is_answered_with_its_body(framing: bytes, size: int) -> None:
    """Java's HTTP client offers HTTP/2 with its first request; the body was lost, and the client told to send one."""
    app = App()
    offer = b"connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AAMAAABkAAQAAP__\r\n"
    sent = b"POST /v1?a=b HTTP/1.1\r\nhost: x\r\n" + offer + framing
    async with served(app) as (port, _):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        for _ in range(2):
            for start in range(0, len(sent), size):
                writer.write(sent[start : start + size])
                await writer.drain()
                await asyncio.sleep(0)
            head = await asyncio.wait_for(reader.readuntil(b"ok"), 10)
            assert head.startswith(b"HTTP/1.1 200 ")
        writer.close()
    assert app.bodies == [b"hello"] * 2
    assert all(b"upgrade" not in dict(headers) for headers in app.seen)


class Refusing(App):
    """Answers before it has read anything of the body."""

    connection_limits = replace(LIMITS, body=50 << 20)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 413, "headers": [(b"content-length", b"2")]})
            await send({"type": "http.response.body", "body": b"ok"})


@pytest.mark.parametrize(
    "head",
    [b"POST / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n", b"POST / HTTP/1.0\r\nhost: x\r\n"],
    ids=["asked-to-close", "http-1.0"],
)
async def test_who_is_answered_while_it_sends_can_read_the_answer_before_the_connection_ends(head: bytes) -> None:
    # Nginx speaks to servers behind it like this unless it is told otherwise, and makes a 502 of a reset.
    piece, pieces = b"y" * 100_000, 100
    async with served(Refusing()) as (port, server):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head + b"content-length: %d\r\n\r\n" % (pieces * len(piece)))
        for _ in range(pieces):
            writer.write(piece)
            await writer.drain()
        got = await asyncio.wait_for(reader.read(), 10)
        await until(lambda: not server.server_state.connections)
        writer.close()
    assert got[9:12] == b"413"
    assert b"connection: close" in got
    assert got.endswith(b"ok")


async def test_who_is_answered_and_sends_no_more_is_overdue() -> None:
    async with served(Refusing()) as (port, server):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(HEAD + b"connection: close\r\ncontent-length: 9000\r\n\r\n")
        assert (await asyncio.wait_for(reader.read(), 10)).endswith(b"ok")
        [connection] = server.server_state.connections
        assert connection.overdue(connection.loop.time() + 60)  # type: ignore[union-attr]
        writer.close()
