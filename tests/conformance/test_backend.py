"""Conformance of `Backend` and `Reply`. A new one joins with a line in `BACKENDS`."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import msgspec
import pytest
import uvicorn

from semcache.config import plugins
from semcache.errors import UpstreamError, UpstreamTimeout
from semcache.protocols import Backend, Outbound, Reply
from semcache.upstream.backends import open_backend
from semcache.upstream.backends.by_path import ByPath
from semcache.upstream.backends.connection import Connection
from semcache.upstream.backends.echo import echo_app
from semcache.upstream.backends.http import HttpBackend
from semcache.upstream.backends.inprocess import InProcessBackend
from tests.waiting import PATIENCE

BACKENDS: dict[str, Callable[[str, float], Backend]] = {
    "http": lambda url, timeout: HttpBackend(url, Connection(timeout=timeout)),
    "echo": lambda url, timeout: InProcessBackend(echo_app(), timeout=timeout),
    "by-path": lambda url, timeout: ByPath(
        InProcessBackend(echo_app()), {"/v1/chat": HttpBackend(url, Connection(timeout=timeout))}
    ),
    "router": lambda url, timeout: open_backend(
        f"{url},{url.replace('127.0.0.1', 'localhost')}", Connection(timeout=timeout)
    ),
    "opened": lambda url, timeout: open_backend(url, Connection(timeout=timeout), anthropic_url=url),
}
BACKENDS |= {
    name: lambda url, timeout, name=name: open_backend(f"{name}:{url}", Connection(timeout=timeout))
    for name in plugins.names("backends")
}


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    config = uvicorn.Config(echo_app(), port=0, log_level="critical", lifespan="off", timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.005)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join()


@pytest.fixture(params=BACKENDS)
async def backend(request: pytest.FixtureRequest, url: str) -> AsyncIterator[Backend]:
    made = BACKENDS[request.param](url, PATIENCE)
    yield made
    await made.close()


def chat(model: str = "echo", *, stream: bool = False) -> Outbound:
    body = {"model": model, "messages": [{"role": "user", "content": "one two three"}], "stream": stream}
    headers = [("Content-Type", "application/json")]
    return Outbound("POST", "/v1/chat/completions", headers, msgspec.json.encode(body))


async def read(reply: Reply) -> bytes:
    try:
        return b"".join([chunk async for chunk in reply.chunks()])
    finally:
        await reply.close()


async def test_a_whole_answer(backend: Backend) -> None:
    reply = await backend.send(chat())
    assert reply.status == 200
    assert dict(reply.headers)["content-type"] == "application/json"
    assert "one two three" in msgspec.json.decode(await read(reply))["choices"][0]["message"]["content"]


async def test_header_names_are_lower_case_and_of_no_hop(backend: Backend) -> None:
    reply = await backend.send(chat())
    names = [name for name, _ in reply.headers]
    body = await read(reply)
    assert names == [name.lower() for name in names]
    assert not {"connection", "transfer-encoding", "content-encoding"} & set(names)
    assert dict(reply.headers).get("content-length", str(len(body))) == str(len(body)), "the client would wait for more"


async def test_a_stream_comes_in_pieces_with_its_end(backend: Backend) -> None:
    reply = await backend.send(chat(stream=True))
    body = await read(reply)
    assert body.count(b"data: ") > 4
    assert body.endswith(b"data: [DONE]\n\n")


async def test_an_error_status_is_a_reply(backend: Backend) -> None:
    reply = await backend.send(chat("fail-429"))
    assert reply.status == 429
    assert dict(reply.headers)["retry-after"] == "7"
    assert b"asked to fail" in await read(reply)


async def test_a_reply_that_breaks_off_raises_after_what_came(backend: Backend) -> None:
    reply = await backend.send(chat("die-midstream", stream=True))
    got: list[bytes] = []

    async def drain() -> None:
        async for chunk in reply.chunks():
            got.append(chunk)

    with pytest.raises(UpstreamError) as caught:
        await drain()
    await reply.close()
    assert got
    assert not isinstance(caught.value, UpstreamTimeout)


@pytest.mark.parametrize("name", BACKENDS)
async def test_silence_times_out_before_and_within_a_reply(name: str, url: str) -> None:
    begun = False
    for timeout in (0.4, 4.0, 40.0):  # on a busy machine the beginning of a reply may take a while
        impatient = BACKENDS[name](url, timeout)
        with pytest.raises(UpstreamTimeout):
            await impatient.send(chat("hang"))
        with pytest.raises(UpstreamTimeout):
            reply = await impatient.send(chat("hang-midstream", stream=True))
            begun = True
            await read(reply)
        await impatient.close()
        if begun:
            break
    assert begun


async def test_a_reply_may_be_closed_unread_or_twice(backend: Backend) -> None:
    for stream in (True, False):
        reply = await backend.send(chat("hang-midstream", stream=stream))
        await reply.close()
        await reply.close()
    assert await read(await backend.send(chat()))


async def test_a_cancelled_call_leaves_the_backend_usable(backend: Backend) -> None:
    call = asyncio.create_task(backend.send(chat("hang")))
    await asyncio.sleep(0.05)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await read(await backend.send(chat()))


async def test_many_at_once(backend: Backend) -> None:
    async def one(number: int) -> Any:
        return msgspec.json.decode(await read(await backend.send(chat(f"m{number}"))))["model"]

    assert await asyncio.gather(*map(one, range(40))) == [f"m{number}" for number in range(40)]
