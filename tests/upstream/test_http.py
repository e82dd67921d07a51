"""What a user would lose if the HTTP backend changed, held up or leaked what passes through it."""

from __future__ import annotations

import asyncio
import gzip
import re
import socket
import ssl
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, nullcontext, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest

from semcache.errors import ConfigError, UpstreamError, UpstreamTimeout
from semcache.protocols import Backend, Outbound, Reply
from semcache.upstream.backends import open_backend
from semcache.upstream.backends.connection import Connection
from semcache.upstream.backends.echo import echo_app
from semcache.upstream.backends.http import HttpBackend
from tests.waiting import PATIENCE, soon

CHAT = "/v1/chat/completions"


@asynccontextmanager
async def opened(
    url: str, *, transport: httpx2.AsyncBaseTransport | None = None, **options: Any
) -> AsyncIterator[HttpBackend]:
    backend = HttpBackend(url, Connection(**options), transport=transport)
    try:
        yield backend
    finally:
        await backend.close()


def chat(model: str = "echo", *, stream: bool = False, text: str = "hello there") -> Outbound:
    body = {"model": model, "messages": [{"role": "user", "content": text}], "stream": stream}
    return Outbound("POST", CHAT, [("content-type", "application/json")], msgspec.json.encode(body))


async def whole(backend: Backend, outbound: Outbound) -> tuple[Reply, bytes]:
    reply = await backend.send(outbound)
    try:
        return reply, b"".join([chunk async for chunk in reply.chunks()])
    finally:
        await reply.close()


async def drain(reply: Reply, into: list[bytes]) -> None:
    async for chunk in reply.chunks():
        into.append(chunk)


def recorder(seen: list[httpx2.Request], reply: httpx2.Response | None = None) -> httpx2.MockTransport:
    def answer(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return reply or httpx2.Response(200, json={})

    return httpx2.MockTransport(answer)


async def stats(url: str) -> Any:
    async with httpx2.AsyncClient() as client:
        return (await client.get(f"{url}/echo/stats")).json()


@pytest.mark.parametrize(
    ("base", "expected"),
    [
        ("http://h:1234", "http://h:1234/v1/chat/completions?a=b%2Fc&d"),
        ("http://h:1234/", "http://h:1234/v1/chat/completions?a=b%2Fc&d"),
        ("http://h:1234/v1", "http://h:1234/v1/chat/completions?a=b%2Fc&d"),
        ("https://api.openai.com/v1/", "https://api.openai.com/v1/chat/completions?a=b%2Fc&d"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions?a=b%2Fc&d"),
        ("https://g.com/v1beta/openai/", "https://g.com/v1beta/openai/chat/completions?a=b%2Fc&d"),
        ("http://[::1]:8000", "http://[::1]:8000/v1/chat/completions?a=b%2Fc&d"),
    ],
)
async def test_every_spelling_of_a_base_url_reaches_the_endpoint(base: str, expected: str) -> None:
    seen: list[httpx2.Request] = []
    async with opened(base, transport=recorder(seen)) as backend:
        await whole(backend, Outbound("POST", CHAT, [], b"{}", "a=b%2Fc&d"))
    assert str(seen[0].url) == expected


@pytest.mark.parametrize(
    "base",
    ["localhost:8000", "api.openai.com/v1", "ftp://h/v1", "http://", "http://h/v1?x=1", "http://u:p@h/", "http://h:x"],
)
def test_an_unusable_base_url_is_a_config_error(base: str) -> None:
    with pytest.raises(ConfigError, match="upstream"):
        HttpBackend(base)


@pytest.mark.parametrize("name", ["", "api.openai.com", "ollama", "ftp://h"])
def test_an_unknown_upstream_is_a_config_error(name: str) -> None:
    with pytest.raises(ConfigError, match=r"echo(, or a plug-in: [\w, ]+)?$"):
        open_backend(name)


@pytest.mark.parametrize(
    ("sent", "options", "path", "expected"),
    [
        ({"Authorization": "Bearer theirs"}, {}, CHAT, {"authorization": "Bearer theirs"}),
        ({"Authorization": "Bearer theirs"}, {"api_key": "ours"}, CHAT, {"authorization": "Bearer ours"}),
        ({}, {"api_key": "ours"}, CHAT, {"authorization": "Bearer ours"}),
        ({}, {"api_key": "ours\n"}, CHAT, {"authorization": "Bearer ours"}),
        ({"X-Api-Key": "theirs"}, {}, "/v1/messages", {"x-api-key": "theirs"}),
        ({"X-Api-Key": "theirs"}, {"api_key": "ours"}, "/v1/messages", {"x-api-key": "ours"}),
        ({}, {"api_key": "ours"}, "/v1/messages/count_tokens", {"x-api-key": "ours"}),
        ({"api-key": "theirs"}, {"api_key": "ours"}, CHAT, {"api-key": "ours"}),
        ({"api-key": "x", "Authorization": "y", "x-api-key": "z"}, {"api_key": "ours"}, CHAT, {"api-key": "ours"}),
        ({}, {}, CHAT, {}),
        ({}, {"fallback_key": "env"}, CHAT, {"authorization": "Bearer env"}),
        ({"Authorization": "Bearer theirs"}, {"fallback_key": "env"}, CHAT, {"authorization": "Bearer theirs"}),
    ],
)
async def test_which_credential_the_upstream_sees(sent: Any, options: Any, path: str, expected: Any) -> None:
    seen: list[httpx2.Request] = []
    async with opened("http://h", transport=recorder(seen), **options) as backend:
        await whole(backend, Outbound("POST", path, list(sent.items()), b"{}"))
    names = ("authorization", "x-api-key", "api-key")
    assert {name: value for name, value in seen[0].headers.items() if name in names} == expected


async def test_azure_keys_go_where_azure_looks() -> None:
    seen: list[httpx2.Request] = []
    base = "https://x.openai.azure.com/openai/v1"
    async with opened(base, api_key="ours", transport=recorder(seen)) as backend:
        await whole(backend, Outbound("POST", CHAT, [("authorization", "Bearer theirs")], b"{}"))
    assert seen[0].headers["api-key"] == "ours"
    assert "authorization" not in seen[0].headers


async def test_the_request_arrives_as_it_was_sent(upstream: str) -> None:
    body = b'{ "model":"echo",\n "messages":[{"role":"user","content":"\xc3\xbc"}], "unknown": 1e400 }'.replace(
        b"1e400", b"1"
    )
    sent = [
        ("Content-Type", "application/json"),
        ("OpenAI-Beta", "x=1"),
        ("User-Agent", "mine/1"),
        ("X-Title", "Café".encode().decode("latin-1")),
        ("Connection", "keep-alive, X-Hop"),
        ("X-Hop", "secret"),
        ("Host", "proxy.example"),
        ("Content-Length", "999"),
        ("Accept-Encoding", "br, zstd, gzip"),
        ("Expect", "100-continue"),
        ("Proxy-Authorization", "Basic x"),
    ]
    async with opened(upstream, headers={"OpenAI-Project": "p"}) as backend:
        await whole(backend, Outbound("POST", CHAT, sent, body))
    newest = (await stats(upstream))["newest"][-1]
    assert newest["body"].encode() == body
    headers = dict(newest["headers"])
    assert len(headers) == len(newest["headers"])
    assert headers.pop("host") == upstream.removeprefix("http://")
    assert headers == {
        "content-type": "application/json",
        "openai-beta": "x=1",
        "user-agent": "mine/1",
        "x-title": "Café".encode().decode("latin-1"),
        "openai-project": "p",
        "content-length": str(len(body)),
        "accept-encoding": "identity",
    }


@pytest.mark.parametrize(
    "path",
    [
        "/v1/../admin",
        "/v1/%2e%2E/admin",
        "/v1/..%2f..%2Fadmin",
        "/v1/..%5cadmin",
        "/v1/..\\admin",
        "/v1/..;/admin",
        "/v1/./x",
        "@evil.com/v1",
        "*",
        "",
        "/v1/a\tb",
        "/v1/models\r\nx: y",
    ],
)
async def test_a_path_cannot_leave_the_api_or_the_host(path: str) -> None:
    seen: list[httpx2.Request] = []
    async with opened("http://h/api/v1", api_key="ours", transport=recorder(seen)) as backend:
        with pytest.raises(UpstreamError, match="cannot be sent"):
            await backend.send(Outbound("GET", path, [], b""))
    assert not seen


async def test_a_host_header_that_the_operator_sets_is_the_only_one() -> None:
    seen: list[httpx2.Request] = []
    async with opened("http://10.0.0.1:8000", headers={"Host": "models.internal"}, transport=recorder(seen)) as backend:
        await whole(backend, chat())
    assert seen[0].headers.get_list("host") == ["models.internal"]


async def test_an_upstream_behind_an_http_proxy_is_reached_through_it() -> None:
    asked: list[bytes] = []

    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}")
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve_one, "127.0.0.1", 0)
    proxy = f"http://u:p@127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        async with opened("http://upstream.invalid:8000/v1", proxy=proxy) as backend:
            _, body = await whole(backend, Outbound("GET", "/v1/models", [], b"", "a=%2F"))
    finally:
        server.close()
        await server.wait_closed()
    assert body == b"{}"
    request, *fields = asked[0].lower().split(b"\r\n")
    assert request == b"get http://upstream.invalid:8000/v1/models?a=%2f http/1.1"
    assert fields.count(b"host: upstream.invalid:8000") == 1
    assert any(field.startswith(b"proxy-authorization: basic ") for field in fields)


@pytest.mark.parametrize(("method", "length"), [("GET", None), ("POST", b"0"), ("put", b"0"), ("DELETE", None)])
async def test_an_empty_body_is_announced_where_one_is_expected(
    serve: Callable[[Any], str], method: str, length: bytes | None
) -> None:
    seen: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append((scope["method"], dict(scope["headers"]).get(b"content-length")))
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    async with opened(serve(app)) as backend:
        await whole(backend, Outbound(method, "/v1/files", [], b""))
    assert seen == [(method.upper(), length)]


@pytest.mark.parametrize("method", ["GÉT", "GE T", "GET\r\nx: y"])
async def test_a_method_that_cannot_be_sent_is_an_error(upstream: str, method: str) -> None:
    async with opened(upstream) as backend:
        with pytest.raises(UpstreamError):
            await backend.send(Outbound(method, "/v1/models", [], b""))
        _, body = await whole(backend, chat())
    assert body


async def test_a_header_that_cannot_be_sent_is_an_error_that_quotes_no_key(upstream: str) -> None:
    async with opened(upstream, api_key="sk-first\nsecond") as backend:
        with pytest.raises(UpstreamError, match="a header is not valid") as caught:
            await whole(backend, chat())
    assert "sk-first" not in str(caught.value)


async def test_what_is_packed_badly_is_an_error_and_gives_its_connection_back(serve: Callable[[Any], str]) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-encoding", b"gzip")]})
        await send({"type": "http.response.body", "body": b"this is not gzip"})

    async with opened(serve(app), max_connections=1, timeout=PATIENCE) as backend:
        for _ in range(3):
            with pytest.raises(UpstreamError, match="broke off"):
                await whole(backend, chat())


async def test_other_methods_and_paths_pass(upstream: str) -> None:
    async with opened(f"{upstream}/v1") as backend:
        _, models = await whole(backend, Outbound("GET", "/v1/models", [], b""))
        _, other = await whole(backend, Outbound("DELETE", "/v1/files/a%20b", [], b"", "x=1"))
        head, nothing = await whole(backend, Outbound("HEAD", "/v1/models", [], b""))
    assert msgspec.json.decode(models)["data"][0]["id"] == "echo"
    told = msgspec.json.decode(other)
    assert (told["method"], told["path"], told["query"]) == ("DELETE", "/v1/files/a b", "x=1")
    assert (head.status, nothing) == (200, b"")


async def test_an_error_is_relayed_with_its_retry_after(upstream: str) -> None:
    async with opened(upstream) as backend:
        reply, body = await whole(backend, chat("fail-429"))
    assert reply.status == 429
    headers = dict(reply.headers)
    assert headers["retry-after"] == "7"
    assert "x-request-id" in headers
    assert not {"transfer-encoding", "connection"} & set(headers)
    assert headers.get("content-length") in (None, str(len(body)))
    assert msgspec.json.decode(body)["error"]["type"] == "rate_limit_error"


@pytest.mark.parametrize(
    ("status", "headers", "told"),
    [
        (200, {"content-length": "4"}, "4"),
        (429, {"content-length": "4"}, "4"),
        (200, {"transfer-encoding": "chunked", "content-length": "4"}, None),
        (200, {"content-encoding": "gzip", "content-length": "4"}, None),
        (204, {"content-length": "4"}, None),
        (304, {"content-length": "4"}, None),
        (200, {"content-length": "4, 4"}, None),
        (200, {"content-length": "-4"}, None),
        (200, {}, None),
    ],
)
async def test_the_length_of_a_body_is_told_where_it_is_that_of_what_is_relayed(
    status: int, headers: dict[str, str], told: str | None
) -> None:
    response = httpx2.Response(status, headers=headers, stream=httpx2.ByteStream(b"some"))
    async with opened("http://h", transport=recorder([], response)) as backend:
        reply = await backend.send(chat())
        await reply.close()
    assert [value for name, value in reply.headers if name == "content-length"] == [told] * (told is not None)


async def test_cookies_do_not_cross_and_redirects_are_not_followed() -> None:
    seen: list[httpx2.Request] = []
    moved = httpx2.Response(307, headers=[("set-cookie", "a=1"), ("set-cookie", "b=2"), ("location", "http://evil/")])
    async with opened("http://h", transport=recorder(seen, moved)) as backend:
        for _ in range(2):
            reply = await backend.send(chat())
            await reply.close()
    assert reply.status == 307
    assert [value for name, value in reply.headers if name == "set-cookie"] == ["a=1", "b=2"]
    assert len(seen) == 2
    assert "cookie" not in seen[1].headers


async def test_a_stream_arrives_piece_by_piece(serve: Callable[[Any], str]) -> None:
    more = threading.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
        await send({"type": "http.response.body", "body": b"data: 1\n\n", "more_body": True})
        await asyncio.to_thread(more.wait, 20)
        await send({"type": "http.response.body", "body": b"data: 2\n\n"})

    async with opened(serve(app)) as backend:
        reply = await backend.send(chat(stream=True))
        chunks = reply.chunks()
        assert await anext(chunks) == b"data: 1\n\n"
        more.set()
        assert [chunk async for chunk in chunks] == [b"data: 2\n\n"]
        await reply.close()


async def test_a_reply_that_is_compressed_all_the_same_is_decoded(serve: Callable[[Any], str]) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-encoding", b"gzip"), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": gzip.compress(b'{"a":1}')})

    async with opened(serve(app)) as backend:
        reply, body = await whole(backend, chat())
    assert body == b'{"a":1}'
    assert "content-encoding" not in dict(reply.headers)


async def test_a_reply_in_an_encoding_that_nobody_undoes_is_an_error_and_no_garbage(
    serve: Callable[[Any], str],
) -> None:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        headers = [(b"content-encoding", b"gzip, X-Packed"), (b"content-type", b"application/json")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"\x0b\x02\x80packed"})

    async with opened(serve(app), max_connections=1) as backend:
        for _ in range(2):
            with pytest.raises(UpstreamError, match=r"'x-packed'.*accept-encoding: identity"):
                await soon(backend.send(chat()))
        reply = await backend.send(Outbound("HEAD", "/v1/files/f1", [], b""))
        assert reply.status == 200
        await reply.close()


async def test_what_comes_after_early_hints_arrives() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nlink: </a.css>; rel=preload\r\n\r\n"
    sent = hints + b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(sent)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        backend = HttpBackend(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        reply, body = await whole(backend, Outbound("GET", "/v1/models", [], b""))
        await backend.close()
    assert (reply.status, body) == (200, b"{}")


async def test_connections_are_reused(serve: Callable[[Any], str]) -> None:
    ports = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        ports.append(scope["client"][1])
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
        await send({"type": "http.response.body", "body": b"{}"})

    async with opened(serve(app)) as backend:
        for _ in range(3):
            await whole(backend, chat())
    assert len(ports) == 3
    assert len(set(ports)) == 1


@pytest.mark.parametrize("stream", [True, False])
async def test_an_upstream_that_dies_midway_is_an_error_after_what_it_sent(upstream: str, stream: bool) -> None:
    async with opened(upstream) as backend:
        reply = await backend.send(chat("die-midstream", stream=stream))
        got: list[bytes] = []
        with pytest.raises(UpstreamError, match="broke off") as caught:
            await drain(reply, got)
        await reply.close()
    assert reply.status == 200
    assert got
    assert not isinstance(caught.value, UpstreamTimeout)


async def test_an_upstream_that_hangs_times_out(upstream: str) -> None:
    got: list[bytes] = []

    async def hang_midstream(backend: HttpBackend) -> None:
        reply = await backend.send(chat("hang-midstream", stream=True))
        try:
            await drain(reply, got)
        finally:
            await reply.close()

    for timeout in (0.4, 4.0, 40.0):  # on a busy machine the beginning of a reply may take a while
        async with opened(upstream, timeout=timeout) as backend:
            with pytest.raises(UpstreamTimeout, match="silent"):
                await backend.send(chat("hang"))
            with pytest.raises(UpstreamTimeout):
                await hang_midstream(backend)
        if got:
            break
    assert got


async def test_a_stream_that_freezes_is_given_up_long_before_a_call_whose_answer_has_not_begun(upstream: str) -> None:
    got: list[bytes] = []
    async with opened(upstream, timeout=PATIENCE, stream_timeout=0.05) as backend:
        reply = await backend.send(chat("hang-midstream", stream=True))
        with pytest.raises(UpstreamTimeout, match="in the midst of a stream"):
            await drain(reply, got)
        await reply.close()
    assert got


async def test_a_stream_has_any_time_to_begin_and_a_body_that_is_no_stream_any_time_at_all() -> None:
    async def slow() -> AsyncIterator[bytes]:
        for _ in range(2):
            await asyncio.sleep(0.02)
            yield b"data: {}\n\n"

    for kind, whole in (("application/json", True), ("text/event-stream", False)):
        got: list[bytes] = []
        answer = httpx2.Response(200, headers={"content-type": kind}, content=slow())
        async with opened("http://h", transport=recorder([], answer), stream_timeout=0.0001) as backend:
            reply = await backend.send(chat(stream=True))
            with nullcontext() if whole else pytest.raises(UpstreamTimeout):
                await drain(reply, got)
        assert len(got) == (2 if whole else 1)


async def test_a_stream_longer_than_the_timeout_is_not_cut(serve: Callable[[Any], str]) -> None:
    body = b""
    for timeout in (0.5, 5.0, 50.0):  # on a busy machine there may be pauses that long
        url = serve(echo_app(token_seconds=timeout / 10))
        async with opened(url, timeout=timeout) as backend:
            with suppress(UpstreamTimeout):
                _, body = await whole(backend, chat(stream=True, text="word " * 20))
        if body:
            break
    assert body.endswith(b"data: [DONE]\n\n")


async def test_nobody_listening_is_an_error_that_names_the_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        async with opened(url) as backend:
            with pytest.raises(UpstreamError, match=url):
                await backend.send(chat())


@pytest.mark.parametrize(
    ("raised", "expected", "words"),
    [
        (httpx2.ConnectTimeout(""), UpstreamTimeout, "connect"),
        (httpx2.PoolTimeout(""), UpstreamTimeout, "free"),
        (httpx2.ReadTimeout(""), UpstreamTimeout, "silent"),
        (httpx2.RemoteProtocolError("odd"), UpstreamError, "odd"),
    ],
)
async def test_each_time_limit_is_told_apart(raised: Exception, expected: type[Exception], words: str) -> None:
    def answer(request: httpx2.Request) -> httpx2.Response:
        raise raised

    async with opened("http://h", transport=httpx2.MockTransport(answer)) as backend:
        with pytest.raises(expected, match=words):
            await backend.send(chat())


async def test_closing_early_releases_the_upstream(serve: Callable[[Any], str]) -> None:
    url = serve(echo_app(token_seconds=0.02))
    async with opened(url) as backend:
        reply = await backend.send(chat(stream=True, text="word " * 500))
        chunks = reply.chunks()
        await anext(chunks)
        await reply.close()
        async with asyncio.timeout(PATIENCE):
            while not (told := await stats(url))["disconnects"]:
                await asyncio.sleep(0.01)
    assert told["disconnects"] == 1


async def test_cancelled_calls_give_their_connection_back(upstream: str) -> None:
    async def use(backend: HttpBackend, model: str) -> None:
        await whole(backend, chat(model, stream=True))

    async with opened(upstream, max_connections=1, timeout=PATIENCE) as backend:
        for model in ("hang", "hang-midstream") * 5:
            call = asyncio.create_task(use(backend, model))
            for _ in range(50):
                await asyncio.sleep(0.001)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
        _, body = await whole(backend, chat())
    assert body


async def test_a_reply_closed_unread_gives_its_connection_back(upstream: str) -> None:
    async with opened(upstream, max_connections=1, timeout=PATIENCE) as backend:
        kept = []
        for _ in range(3):
            kept.append(await backend.send(chat("hang-midstream", stream=True)))
            await kept[-1].close()


async def test_closing_is_finished_even_when_its_caller_is_cancelled() -> None:
    closing, closed = asyncio.Event(), asyncio.Event()

    class Body(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield b""

        async def aclose(self) -> None:
            closing.set()
            await asyncio.sleep(0.02)
            closed.set()

    reply_with_body = httpx2.Response(200, stream=Body())
    async with opened("http://h", transport=recorder([], reply_with_body)) as backend:
        reply = await backend.send(chat())
        closer = asyncio.create_task(reply.close())
        await closing.wait()
        closer.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closer
        await soon(closed.wait())


async def test_messages_go_to_their_own_upstream_and_without_the_openai_key(
    serve: Callable[[Any], str], upstream: str
) -> None:
    other = serve(echo_app())
    backend = open_backend(upstream, Connection(fallback_key="sk-openai"), anthropic_url=other)
    try:
        body = b'{"model":"echo","max_tokens":5,"messages":[{"role":"user","content":"hi"}]}'
        await whole(backend, Outbound("POST", "/v1/messages", [], body))
        await whole(backend, chat())
    finally:
        await backend.close()
    (message,) = (await stats(other))["newest"]
    assert message["path"] == "/v1/messages"
    assert not [value for _, value in message["headers"] if "sk-openai" in value]
    assert ["authorization", "Bearer sk-openai"] in (await stats(upstream))["newest"][-1]["headers"]


async def test_a_connection_that_the_upstream_closed_meanwhile_is_not_used_again() -> None:
    async def serve_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}")
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(serve_one, "127.0.0.1", 0)
    try:
        async with opened(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}") as backend:
            for _ in range(3):
                _, body = await whole(backend, Outbound("GET", "/v1/models", [], b""))
                assert body == b"{}"
                await asyncio.sleep(0.05)
    finally:
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize("proxy", ["foo", "ftp://u:secret@host", "http://\x01u:secret@host"])
def test_a_proxy_that_is_none_is_a_mistake_of_the_configuration_and_not_quoted(proxy: str) -> None:
    with pytest.raises(ConfigError, match=r"upstream\.proxy cannot be used") as raised:
        HttpBackend("http://upstream.invalid/v1", Connection(proxy=proxy))
    assert "secret" not in str(raised.value)


def _certificate(folder: Path) -> Path:
    """A file with a key and a certificate of its own for localhost."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), now, now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=True)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "localhost.pem"
    plain = serialization.NoEncryption()
    file.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain)
        + made.public_bytes(serialization.Encoding.PEM)
    )
    return file


async def test_a_fault_of_tls_says_what_to_do_about_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
        writer.close()

    async def speak_plainly(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"what?\r\n")
        await reader.read()
        writer.close()

    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    file = _certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    secure = await asyncio.start_server(answer, "localhost", 0, ssl=context)
    plain = await asyncio.start_server(speak_plainly, "localhost", 0)
    async with secure, plain:
        for server, remedy in ((secure, "SSL_CERT_FILE"), (plain, "http://?")):
            backend = HttpBackend(f"https://localhost:{server.sockets[0].getsockname()[1]}")
            with pytest.raises(UpstreamError, match=re.escape(remedy)):
                await soon(backend.send(Outbound("GET", "/v1/models", [], b"")))
            await backend.close()
        monkeypatch.setenv("SSL_CERT_FILE", str(file))
        backend = HttpBackend(f"https://localhost:{secure.sockets[0].getsockname()[1]}")
        reply = await soon(backend.send(Outbound("GET", "/v1/models", [], b"")))
        assert b"".join([piece async for piece in reply.chunks()]) == b"ok"
        await backend.close()


def test_trusted_certificates_that_are_not_there_are_a_mistake_of_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/authorities.pem")
    with pytest.raises(ConfigError, match=r"/nowhere/authorities\.pem"):
        HttpBackend("https://localhost")
