"""The engine as a backend of the cache, in this process."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from semcache.engine import EngineConfig
from semcache.errors import ConfigError, UpstreamError
from semcache.protocols import Outbound, Reply
from semcache.upstream.backends.local_engine import EngineBackend
from tests.waiting import PATIENCE, settled, until

Folder = Callable[..., Path]


def chat(model: str = "gpt-x", *, stream: bool = False, **body: Any) -> Outbound:
    body = {"model": model, "messages": [{"role": "user", "content": "hi"}], "stream": stream, "max_tokens": 8, **body}
    return Outbound("POST", "/v1/chat/completions", [("Content-Type", "application/json")], json.dumps(body).encode())


async def read(reply: Reply) -> bytes:
    try:
        return b"".join([chunk async for chunk in reply.chunks()])
    finally:
        await reply.close()


@pytest.fixture
async def backend(folder: Folder) -> AsyncIterator[EngineBackend]:
    made = EngineBackend(EngineConfig(str(folder()), cache_bytes=1 << 20), timeout=PATIENCE)
    yield made
    await made.close()


async def test_it_answers_whole_and_streamed_whatever_model_is_named(backend: EngineBackend) -> None:
    one, other = await asyncio.gather(
        backend.send(chat(temperature=0)), backend.send(chat("other", temperature=0, stream=True))
    )
    whole, streamed = json.loads(await read(one)), await read(other)
    assert (one.status, other.status) == (200, 200)
    assert dict(other.headers)["content-type"].startswith("text/event-stream")
    events = [json.loads(event[6:]) for event in streamed.decode().split("\n\n") if event.startswith("data: {")]
    text = "".join(event["choices"][0]["delta"].get("content", "") for event in events)
    assert text == whole["choices"][0]["message"]["content"]
    assert streamed.endswith(b"data: [DONE]\n\n")


async def test_a_refusal_is_a_reply(backend: EngineBackend) -> None:
    reply = await backend.send(chat(temperature=9))
    assert reply.status == 400
    assert b"temperature" in await read(reply)


async def test_a_reply_that_is_closed_early_frees_the_engine(backend: EngineBackend) -> None:
    reply = await backend.send(chat(stream=True, max_tokens=900, ignore_eos=True))
    await reply.close()
    assert json.loads(await read(await backend.send(chat())))["choices"]
    assert backend._worker is not None
    engine = backend._worker.engine
    await until(lambda: engine.idle)


async def test_who_leaves_while_the_model_is_loaded_does_not_have_it_loaded_twice(
    backend: EngineBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    from semcache.engine import startup

    opened, slow = [], threading.Event()
    open_server = startup.open_server

    def counted(*given: Any, **settings: Any) -> Any:
        opened.append(1)
        slow.wait(PATIENCE)
        return open_server(*given, **settings)

    monkeypatch.setattr(startup, "open_server", counted)
    impatient = asyncio.create_task(backend.send(chat()))
    await until(lambda: opened)
    impatient.cancel()
    await asyncio.wait([impatient])
    patient = asyncio.create_task(backend.send(chat()))
    await settled()
    slow.set()
    assert (await patient).status == 200
    assert len(opened) == 1


async def test_a_backend_that_is_closed_while_the_model_is_loaded_leaves_no_thread(
    folder: Folder, monkeypatch: pytest.MonkeyPatch
) -> None:
    from semcache.engine import startup

    workers, begun, slow = [], threading.Event(), threading.Event()
    open_server = startup.open_server

    def kept(*given: Any, **settings: Any) -> Any:
        begun.set()
        slow.wait(PATIENCE)
        server, worker = open_server(*given, **settings)
        workers.append(worker)
        return server, worker

    monkeypatch.setattr(startup, "open_server", kept)
    backend = EngineBackend(EngineConfig(str(folder()), cache_bytes=1 << 20))
    call = asyncio.create_task(backend.send(chat()))
    await asyncio.to_thread(begun.wait, PATIENCE)
    closing = asyncio.create_task(backend.close())
    await settled()
    slow.set()
    await closing
    call.cancel()
    await asyncio.wait([call])
    assert [worker.alive for worker in workers] == [False]


async def test_what_no_check_foresaw_is_an_error_of_the_upstream(
    backend: EngineBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    from semcache.engine import startup

    def full(*_: Any, **__: Any) -> Any:
        raise RuntimeError("CUDA out of memory")

    with monkeypatch.context() as patched:
        patched.setattr(startup, "open_server", full)
        with pytest.raises(UpstreamError, match="out of memory"):
            await backend.send(chat())
    assert (await backend.send(chat())).status == 200


async def test_a_folder_that_holds_no_model(folder: Folder, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no config\.json"):
        EngineBackend(EngineConfig(str(tmp_path)))
    (tmp_path / "config.json").write_text("{}")
    backend = EngineBackend(EngineConfig(str(tmp_path)))
    with pytest.raises(UpstreamError, match="cannot be opened"):
        await backend.send(chat())
    await backend.close()
