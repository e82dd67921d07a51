"""WebSockets are tunnelled: a client sees what it would see without the proxy, and no key of ours leaks."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from uvicorn import Config, Server
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve, unix_serve
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.http11 import Request, Response

from semcache.config.settings import Settings
from semcache.proxy.application import Proxy
from semcache.proxy.http_connection import HttpConnection

TOKEN = "an-admin-token-of-this-test"


class Upstream:
    """Answers every message with its own, and does as the message says; keeps what it was asked with."""

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.ended: list[tuple[int | None, str]] = []
        self.refusal: tuple[int, str] | None = None
        self.open = 0

    async def handle(self, connection: ServerConnection) -> None:
        self.open += 1
        try:
            await self._serve(connection)
        except ConnectionClosed:
            pass
        finally:
            self.open -= 1
            self.ended.append((connection.close_code, connection.close_reason or ""))

    async def _serve(self, connection: ServerConnection) -> None:
        async for message in connection:
            told = message if isinstance(message, str) else ""
            if told.startswith("close "):
                await connection.close(int(told.split()[1]), "as you said")
            elif told == "cut":
                connection.transport.abort()
            elif told.startswith("large "):
                await connection.send("a" * int(told.split()[1]))
            elif told.startswith("flood "):
                for _ in range(int(told.split()[1])):
                    await connection.send(b"b" * 65536)
            else:
                await connection.send(message)

    def asked(self, _connection: ServerConnection, request: Request) -> Response | None:
        self.requests.append(request)
        if self.refusal is None:
            return None
        from websockets.datastructures import Headers

        status, body = self.refusal
        headers = Headers(
            {"x-request-id": "req_1", "content-type": "application/json", "content-length": str(len(body))}
        )
        return Response(status, "No", headers, body.encode())

    @property
    def headers(self) -> dict[str, str]:
        return {name.lower(): value for name, value in self.requests[-1].headers.raw_items()}


def _realtime(_connection: ServerConnection, offered: Any) -> Any:
    return "realtime" if "realtime" in offered else None


@asynccontextmanager
async def listening(upstream: Upstream) -> AsyncIterator[str]:
    async with serve(
        upstream.handle, "127.0.0.1", 0, process_request=upstream.asked, select_subprotocol=_realtime, max_size=None
    ) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        yield f"http://127.0.0.1:{port}"


@asynccontextmanager
async def proxied(folder: Path, url: str, **chosen: Any) -> AsyncIterator[tuple[str, Proxy, Server]]:
    given = {
        "data": folder / "data",
        "store.url": "memory://",
        "policies": "default",
        "embedder": "hashing",
        "upstream.url": url,
        "upstream.cache_salt": False,
        **{name.replace("__", "."): value for name, value in chosen.items()},
    }
    proxy = Proxy(Settings.load(given, {}, None))
    size = proxy.settings.server.max_body
    config = Config(
        proxy, port=0, http=HttpConnection, ws="none", ws_max_size=size, lifespan="off", log_level="critical"
    )
    config.ws_per_message_deflate = False
    server = Server(config)
    await proxy.start()
    task = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield f"ws://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}/v1/realtime?model=m", proxy, server
    finally:
        server.should_exit = True
        await task
        await proxy.stop()


Tunnel = Callable[..., Awaitable[tuple[str, Proxy, Upstream]]]


@pytest.fixture
async def tunnel(tmp_path: Path) -> AsyncIterator[Tunnel]:
    from contextlib import AsyncExitStack

    async with AsyncExitStack() as stack:

        async def open_(**chosen: Any) -> tuple[str, Proxy, Upstream]:
            upstream = Upstream()
            base = await stack.enter_async_context(listening(upstream))
            address, proxy, _ = await stack.enter_async_context(proxied(tmp_path, base, **chosen))
            return address, proxy, upstream

        yield open_


async def until(true: Callable[[], object]) -> None:
    while not true():
        await asyncio.sleep(0.01)


async def test_an_upstream_at_a_unix_socket_has_web_sockets_too(tmp_path: Path) -> None:
    upstream = Upstream()
    with TemporaryDirectory(prefix="uds") as folder:
        path = f"{folder}/u.sock"
        async with (
            unix_serve(upstream.handle, path, process_request=upstream.asked),
            proxied(tmp_path, f"unix:{path}") as (address, _, _),
            connect(address) as client,
        ):
            await client.send("Hello")
            assert await client.recv() == "Hello"


async def test_messages_of_both_kinds_go_both_ways_and_are_no_part_of_the_cache(tunnel: Tunnel) -> None:
    address, proxy, upstream = await tunnel()
    async with connect(address) as client:
        assert client.response is not None
        assert client.response.headers["cache-status"] == "semcache; fwd=bypass; detail=stateful"
        for message in ("Hello", "Hello", b"\x00\xff", "", "é" * 100_000):
            await client.send(message)
            assert await client.recv() == message
    await until(lambda: upstream.ended)
    assert upstream.requests[-1].path == "/v1/realtime?model=m"
    await proxy.cache.event_log.flush()
    totals = (await proxy.cache.stats())["total"]
    assert (totals["requests"], totals["bypassed"]) == (1, 1)
    assert totals["overhead_usd"] == 0


@pytest.mark.parametrize("code", [1000, 1001, 1008, 1011, 3000, 4999])
async def test_the_upstreams_close_code_reaches_the_client(tunnel: Tunnel, code: int) -> None:
    address, _, _ = await tunnel()
    async with connect(address) as client:
        await client.send(f"close {code}")
        with pytest.raises(ConnectionClosed):
            await client.recv()
        assert (client.close_code, client.close_reason) == (code, "as you said")


@pytest.mark.parametrize("code", [1000, 1001, 3000, 4001])
async def test_the_clients_close_code_reaches_the_upstream(tunnel: Tunnel, code: int) -> None:
    address, _, upstream = await tunnel()
    client = await connect(address)
    await client.close(code, "bye")
    await until(lambda: upstream.ended)
    assert upstream.ended == [(code, "bye")]


async def test_a_client_that_goes_without_a_word_ends_the_upstreams_side(tunnel: Tunnel) -> None:
    address, _, upstream = await tunnel()
    client = await connect(address)
    await client.send("Hello")
    client.transport.abort()
    await until(lambda: upstream.ended)
    assert upstream.ended == [(1001, "")]


async def test_an_upstream_that_breaks_off_breaks_off_for_the_client(tunnel: Tunnel) -> None:
    address, _, _ = await tunnel()
    async with connect(address) as client:
        await client.send("cut")
        with pytest.raises(ConnectionClosed):
            await client.recv()
        assert client.close_code == 1006, "as without the proxy"


async def test_what_the_upstream_answers_in_place_of_opening_reaches_the_client(tunnel: Tunnel) -> None:
    address, _, upstream = await tunnel()
    upstream.refusal = 429, '{"error":{"message":"slow down"}}'
    with pytest.raises(InvalidStatus) as caught:
        await connect(address)
    reply = caught.value.response
    assert (reply.status_code, reply.body) == (429, b'{"error":{"message":"slow down"}}')
    assert reply.headers["x-request-id"] == "req_1"
    assert "bypass" in reply.headers["cache-status"]


async def test_a_redirect_is_not_followed(tunnel: Tunnel) -> None:
    """It would lead the operator's key elsewhere."""
    address, _, upstream = await tunnel(upstream__api_key="sk-operator")
    upstream.refusal = 302, ""
    with pytest.raises(InvalidStatus) as caught:
        await connect(address, max_size=None)
    assert caught.value.response.status_code == 302
    assert len(upstream.requests) == 1


async def test_an_upstream_that_is_not_there_is_said(tmp_path: Path) -> None:
    async with proxied(tmp_path, "http://127.0.0.1:9") as (address, _, _):
        with pytest.raises(InvalidStatus) as caught:
            await connect(address)
    assert caught.value.response.status_code == 502
    assert json.loads(caught.value.response.body or b"")["error"]["code"] == "upstream_unavailable"


async def test_an_upstream_without_web_sockets_is_said(tmp_path: Path) -> None:
    async with proxied(tmp_path, "echo") as (address, _, _):
        with pytest.raises(InvalidStatus) as caught:
            await connect(address)
    assert caught.value.response.status_code == 501
    assert b"has no WebSockets" in (caught.value.response.body or b"")


async def test_the_operators_key_takes_the_place_of_the_clients(tunnel: Tunnel) -> None:
    address, _, upstream = await tunnel(upstream__api_key="sk-operator")
    headers = {"authorization": "Bearer sk-client", "openai-beta": "realtime=v1", "x-semcache-namespace": "n"}
    async with connect(address, additional_headers=headers):
        pass
    assert upstream.headers["authorization"] == "Bearer sk-operator"
    assert upstream.headers["openai-beta"] == "realtime=v1"
    assert "sk-client" not in str(upstream.headers)
    assert "x-semcache-namespace" not in upstream.headers


async def test_a_key_of_ours_opens_and_stays_here(tunnel: Tunnel) -> None:
    address, _, upstream = await tunnel(server__admin_token=TOKEN, auth__required=True)
    with pytest.raises(InvalidStatus) as caught:
        await connect(address)
    assert caught.value.response.status_code == 401
    assert not upstream.requests, "nothing reaches the upstream without a key"
    headers = {"x-semcache-key": TOKEN, "authorization": "Bearer sk-client"}
    async with connect(address, additional_headers=headers) as client:
        await client.send("Hello")
        assert await client.recv() == "Hello"
    assert upstream.headers["authorization"] == "Bearer sk-client"
    assert TOKEN not in str(upstream.headers)


@pytest.mark.parametrize("key", [TOKEN, "sk-client"])
async def test_a_page_of_a_browser_shows_its_key_as_a_subprotocol(tunnel: Tunnel, key: str) -> None:
    address, _, upstream = await tunnel(server__admin_token=TOKEN)
    offered = ["realtime", f"openai-insecure-api-key.{key}", "openai-beta.realtime-v1"]
    async with connect(address, subprotocols=offered) as client:  # type: ignore[arg-type]
        assert client.subprotocol == "realtime"
    assert upstream.headers["sec-websocket-protocol"] == "realtime, openai-beta.realtime-v1"
    assert upstream.headers.get("authorization") == (None if key == TOKEN else "Bearer sk-client")


async def test_a_key_among_the_subprotocols_never_goes_on(tunnel: Tunnel) -> None:
    address, _, upstream = await tunnel(server__admin_token=TOKEN)
    offered = ["realtime", f"openai-insecure-api-key.{TOKEN}"]
    shown = {"authorization": "Bearer sk-client"}
    async with connect(address, subprotocols=offered, additional_headers=shown):  # type: ignore[arg-type]
        assert upstream.headers["sec-websocket-protocol"] == "realtime"
        assert TOKEN not in str(upstream.headers)


@pytest.mark.parametrize(
    ("origin", "allowed"), [("https://evil.example", False), ("https://app.example", True), (None, True)]
)
async def test_a_page_of_elsewhere_may_not_open_one(tunnel: Tunnel, origin: Any, allowed: bool) -> None:
    """Browsers ask nobody before they open a WebSocket."""
    given = {"server__admin_token": TOKEN, "auth__required": True, "server__cors_origins": ("https://app.example",)}
    address, _, upstream = await tunnel(**given)
    opening = connect(address, origin=origin, additional_headers={"authorization": f"Bearer {TOKEN}"})
    if allowed:
        async with opening:
            pass
        return
    with pytest.raises(InvalidStatus) as caught:
        await opening
    assert caught.value.response.status_code == 403
    assert b"cors_origins" in (caught.value.response.body or b"")
    assert not upstream.requests


@pytest.mark.parametrize("ended", ["revoked", "expired"])
async def test_a_key_that_is_no_longer_valid_ends_its_tunnels(tunnel: Tunnel, ended: str) -> None:
    address, proxy, upstream = await tunnel(server__admin_token=TOKEN)
    from semcache.proxy.auth import new_key

    store = proxy.generation.components.store
    plain, key = new_key(lambda n: b"k" * n, 1.0, "acme", "k", store.salt)
    await store.add_key(key)
    proxy._take(await store.keys())
    async with connect(address, additional_headers={"authorization": f"Bearer {plain}"}) as client:
        await client.send("Hello")
        assert await client.recv() == "Hello"
        if ended == "revoked":
            await store.revoke_key(key.id, now=2.0)
        else:
            await store.expire_key(key.id, expires=2.0)
        with pytest.raises(ConnectionClosed):
            await client.recv()
        assert client.close_code == 1008
    await until(lambda: upstream.ended)


async def test_the_limits_of_a_key_hold_for_openings(tunnel: Tunnel) -> None:
    address, _, upstream = await tunnel(server__admin_token=TOKEN, limits__requests=1)
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with connect(address, additional_headers=headers):
        pass
    with pytest.raises(InvalidStatus) as caught:
        await connect(address, additional_headers=headers)
    assert caught.value.response.status_code == 429
    assert int(caught.value.response.headers["retry-after"]) >= 1
    assert len(upstream.requests) == 1


async def test_a_message_past_the_limit_is_refused_in_both_directions(tunnel: Tunnel) -> None:
    address, _, upstream = await tunnel(server__max_body=10_000)
    async with connect(address) as client:
        await client.send("a" * 20_000)
        with pytest.raises(ConnectionClosed):
            await client.recv()
        assert client.close_code == 1009
    await until(lambda: not upstream.open)
    async with connect(address) as client:
        await client.send("large 20000")
        with pytest.raises(ConnectionClosed):
            await client.recv()
        assert client.close_code == 1009


async def test_a_message_in_many_fragments_takes_no_more_than_its_limit(tunnel: Tunnel) -> None:
    address, _, upstream = await tunnel(server__max_body=100_000)

    def pieces() -> Any:
        for _ in range(20_000):
            yield "a"

    async with connect(address) as client:
        with pytest.raises(ConnectionClosed):
            await client.send(pieces())
            await client.recv()
        assert client.close_code == 1009
    await until(lambda: not upstream.open)


async def test_whoever_does_not_read_holds_the_upstream_up(tunnel: Tunnel) -> None:
    """A hundred megabytes would otherwise lie in the proxy."""
    address, proxy, _ = await tunnel()
    async with connect(address, max_queue=1, compression=None) as client:
        await client.send("flood 1600")
        before = -1
        while (now := _written(proxy)) != before:
            before = now
            await asyncio.sleep(0.3)
        for _ in range(1600):
            assert len(await client.recv()) == 65536
        await client.send("Hello")
        assert await client.recv() == "Hello"
    assert before < 4 << 20


def _written(proxy: Proxy) -> int:
    """The bytes that lie in the transports and queues of this process's WebSockets of clients."""
    import gc

    from semcache.proxy.web_socket_connection import WebSocketConnection

    found = [one for one in gc.get_objects() if isinstance(one, WebSocketConnection)]
    return sum(one.transport.get_write_buffer_size() for one in found)


async def test_a_shutdown_ends_both_sides(tmp_path: Path) -> None:
    upstream = Upstream()
    async with listening(upstream) as base:
        async with proxied(tmp_path, base) as (address, _, server):
            client = await connect(address)
            await client.send("Hello")
            assert await client.recv() == "Hello"
            server.should_exit = True
            with pytest.raises(ConnectionClosed):
                await client.recv()
            assert client.close_code == 1012
        await until(lambda: upstream.ended)
        assert upstream.ended == [(1012, "")]


@pytest.mark.parametrize(
    ("path", "sent"),
    [
        ("/v1/realtime?model=m", "/v1/realtime?model=m"),
        ("/realtime?model=m", "/v1/realtime?model=m"),
        ("/openai/v1/realtime?model=m", "/v1/realtime?model=m"),
        ("/openai/realtime?api-version=2025-04-01-preview&deployment=m", "/v1/realtime?model=m"),
        ("/v1/responses", "/v1/responses"),
    ],
)
async def test_other_spellings_of_the_path_are_known(tunnel: Tunnel, path: str, sent: str) -> None:
    address, _, upstream = await tunnel()
    async with connect(address.partition("/v1/")[0] + path):
        pass
    assert upstream.requests[-1].path == sent


@pytest.mark.parametrize(
    ("path", "status"),
    [("/semcache/ui", 404), ("/nothing", 404), ("/v1/../semcache/stats", 400), ("/v1/%2e%2e/admin", 400)],
)
async def test_other_paths_have_none(tunnel: Tunnel, path: str, status: int) -> None:
    address, _, upstream = await tunnel()
    with pytest.raises(InvalidStatus) as caught:
        await connect(address.partition("/v1/")[0] + path)
    assert caught.value.response.status_code == status
    assert not upstream.requests


async def test_the_realtime_client_of_openais_sdk(tunnel: Tunnel) -> None:
    openai = pytest.importorskip("openai", minversion="2")
    address, _, upstream = await tunnel()
    base = address.replace("ws:", "http:").partition("/realtime")[0]
    async with (
        openai.AsyncOpenAI(api_key="sk-client", base_url=base) as client,
        client.realtime.connect(model="gpt-realtime") as connection,
    ):
        await connection.send({"type": "input_audio_buffer.clear"})
        assert (await connection.recv()).type == "input_audio_buffer.clear"
    assert upstream.requests[-1].path == "/v1/realtime?model=gpt-realtime"
    assert upstream.headers["authorization"] == "Bearer sk-client"


@pytest.mark.parametrize(
    "chosen",
    [{"upstream__busy_at": 1}, {"upstream__anthropic_url": "http://127.0.0.1:9"}, {"upstream__cache_salt": True}],
)
async def test_whatever_stands_before_the_upstream_lets_them_through(tunnel: Tunnel, chosen: dict[str, Any]) -> None:
    address, _, _ = await tunnel(**chosen)
    async with connect(address) as client:
        await client.send("Hello")
        assert await client.recv() == "Hello"


async def test_of_several_replicas_the_next_is_asked_where_one_is_gone(tmp_path: Path) -> None:
    first, second = Upstream(), Upstream()
    async with listening(first) as one, listening(second) as other:
        replicas = [{"url": url} for url in (one, "http://127.0.0.1:9", other)]
        async with proxied(tmp_path, "echo", upstream__replicas=replicas) as (address, _, _):
            for _ in range(4):
                async with connect(address) as client:
                    await client.send("Hello")
                    assert await client.recv() == "Hello"
    assert len(first.requests) == len(second.requests) == 2
