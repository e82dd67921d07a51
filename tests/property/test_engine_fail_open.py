"""With the local engine behind the proxy: whatever is asked is answered or refused by name, and a fault is told.

The model is a tiny one from the data folder.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings

from semcache.engine import EngineConfig
from semcache.proxy.asgi import BrokenOff
from semcache.upstream.backends.local_engine import EngineBackend
from tests.dialects.odd import mutants
from tests.engine.test_odd_requests import CHAT, COMPLETION
from tests.property.faulty import stored
from tests.proxy.driver import Call, Received, running, spoken
from tests.waiting import PATIENCE

pytestmark = pytest.mark.hypothesis  # strategies are drawn from inside the tests

MODEL = Path(__file__).parents[2] / "../shared/data/models/tinystories-656k"
PACK = "name: engine\ndefaults: {strategy: static, threshold: 0.999, wording: off}\n"
FEW = settings(max_examples=settings.default.max_examples // 2)
TURNS: list[dict[str, Any]] = [{"role": "user", "content": "Once upon a time"}]
BODIES: list[dict[str, Any]] = [
    {**CHAT, "messages": TURNS, "chunks": None, "tools": None, "tool_choice": None},
    {"model": "m", "messages": TURNS, "max_tokens": 3, "stream": True, "response_format": {"type": "json_object"}},
    {"model": "m", "messages": [*TURNS, {"role": "assistant", "content": "there"}, *TURNS], "max_tokens": 2, "n": 2},
]


@asynccontextmanager
async def engine(folder: Path, **config: Any) -> AsyncIterator[tuple[Any, EngineBackend]]:
    pytest.importorskip("torch", reason="needs the extra `engine`")
    pytest.importorskip("transformers", reason="needs the extra `engine`")
    if not (MODEL / "config.json").is_file():
        pytest.skip("there is no ../shared/data/models/tinystories-656k")
    folder.mkdir(exist_ok=True)
    backend = EngineBackend(EngineConfig(str(MODEL.resolve()), cache_bytes=8 << 20, **config), timeout=PATIENCE)
    async with running(backend, folder, pack=PACK) as proxy:
        yield proxy, backend
    await backend.close()


async def ask(proxy: Any, body: Any, path: str = "/v1/chat/completions") -> Any:
    return await Call(proxy, json.dumps(body).encode(), path).reply()


def bounded(body: Any) -> Any:
    """The same with a short answer, which takes milliseconds."""
    if isinstance(body, dict) and all(
        not isinstance(body.get(name), int) for name in ("max_tokens", "max_completion_tokens")
    ):
        return {**body, "max_tokens": 2}
    return body


async def test_whatever_is_asked_is_answered_or_refused_by_name(tmp_path: Path) -> None:
    async with engine(tmp_path) as (proxy, _):
        loop = asyncio.get_running_loop()

        async def check(document: Any, path: str) -> None:
            reply = await ask(proxy, bounded(document), path)
            assert reply.status in (200, 400, 404, 413), (reply.status, reply.body[:300])
            assert reply.whole
            assert b"Traceback" not in reply.body
            assert b"engine_failed" not in reply.body

        def chats(document: Any) -> None:
            asyncio.run_coroutine_threadsafe(check(document, "/v1/chat/completions"), loop).result(PATIENCE)

        def completions(document: Any) -> None:
            asyncio.run_coroutine_threadsafe(check(document, "/v1/completions"), loop).result(PATIENCE)

        await asyncio.to_thread(FEW(given(mutants(BODIES))(chats)))
        await asyncio.to_thread(FEW(given(mutants([COMPLETION]))(completions)))
        reply = await ask(proxy, {"model": "m", "messages": TURNS, "max_tokens": 2})
        assert reply.status == 200


def text_of(reply: Any) -> str:
    if (reply.header("content-type") or "").startswith("text/event-stream"):
        return spoken(reply.body)
    return str(reply.json["choices"][0]["message"]["content"])


@pytest.mark.parametrize("seed", range(3))
async def test_with_its_steps_failing_clients_are_told_and_what_is_kept_is_right(tmp_path: Path, seed: int) -> None:
    from semcache.engine.engine import Engine

    rng, step = random.Random(seed), Engine.step
    share = 0.0

    def failing(self: Engine, *args: Any, **kwargs: Any) -> Any:
        if rng.random() < share:
            raise rng.choice([RuntimeError("no memory"), MemoryError(), ValueError("shape"), OSError("disk")])
        return step(self, *args, **kwargs)

    def body(number: int, *, stream: bool = False) -> dict[str, Any]:
        text = f"Once upon a time there were {number} little cats who"
        return {
            "model": "m",
            "messages": [{"role": "user", "content": text}],
            "max_tokens": 6,
            "temperature": 0,
            "stream": stream,
        }

    async with engine(tmp_path / "right") as (proxy, _):
        right = {number: text_of(await ask(proxy, body(number))) for number in range(6)}
    with mock.patch.object(Engine, "step", failing):
        async with engine(tmp_path / "faulty") as (proxy, _):
            share = 0.05
            for _ in range(8):
                asked = [(rng.randrange(6), rng.random() < 0.5) for _ in range(3)]
                replies = await asyncio.gather(*[one(proxy, body(number, stream=stream)) for number, stream in asked])
                for (number, _), (reply, whole) in zip(asked, replies, strict=True):
                    assert reply.status in (200, 500, 502, 503, 504)
                    if reply.status == 200 and whole and b"engine_failed" not in reply.body:
                        assert text_of(reply) == right[number]
            share = 0.0
            for prompt, answer in (await stored(proxy)).items():
                [number] = [n for n in range(6) if f" {n} little" in prompt]
                assert answer["choices"][0]["message"]["content"] == right[number]
            reply = await ask(proxy, body(3))
            assert reply.status == 200
            assert text_of(reply) == right[3]


async def one(proxy: Any, body: Any) -> tuple[Any, bool]:
    """A reply, and whether it came whole: a stream may be cut."""
    call = Call(proxy, json.dumps(body).encode())
    try:
        reply = await call.reply()
    except BrokenOff:
        return Received(200, [], b"", False), False
    return reply, reply.whole
