"""The engine as a backend of the cache, in this process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from semcache.backends.engine import EngineBackend
from semcache.engine import EngineConfig
from semcache.errors import ConfigError, UpstreamError
from semcache.protocols import Outbound, Reply

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
    made = EngineBackend(EngineConfig(str(folder()), cache_bytes=1 << 20), timeout=60)
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
    for _ in range(100):
        if backend._worker.engine.idle:
            break
        await asyncio.sleep(0.02)
    assert backend._worker.engine.idle


async def test_a_folder_that_holds_no_model(folder: Folder, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"no config\.json"):
        EngineBackend(EngineConfig(str(tmp_path)))
    (tmp_path / "config.json").write_text("{}")
    backend = EngineBackend(EngineConfig(str(tmp_path)))
    with pytest.raises(UpstreamError, match="cannot be opened"):
        await backend.send(chat())
    await backend.close()
