"""Bodies that are large, or never end, take a bounded part of the engine's memory, and small requests go on."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import suppress
from types import SimpleNamespace
from typing import Any

import pytest

from semcache.engine import server
from semcache.engine.server import EngineServer

PIECE = b"a" * 40_000


class Client:
    """One request: the pieces of its body, and then nothing; `said` is the status and the headers of the reply."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self.said: tuple[int, dict[bytes, bytes]] | None = None
        self.read = 0

    async def receive(self) -> dict[str, Any]:
        await asyncio.sleep(0)
        piece = next(self._pieces, None)
        if piece is None:
            await asyncio.Event().wait()
        assert piece is not None
        self.read += len(piece)
        return {"type": "http.request", "body": piece, "more_body": True}

    async def send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            self.said = message["status"], dict(message["headers"])

    async def ask(self, served: EngineServer) -> None:
        scope = {"type": "http", "path": "/v1/chat/completions", "method": "POST"}
        await served(scope, self.receive, self.send)


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> EngineServer:
    engine = SimpleNamespace(
        tokenizer=None,
        metrics=None,
        grammars=None,
        limits=SimpleNamespace(most=8),
        config=SimpleNamespace(lossy_codec=None),
        decoder=SimpleNamespace(defaults=None),
    )
    monkeypatch.setattr(server, "_HELD", 1_000_000)
    worker: Any = SimpleNamespace(engine=engine)
    return EngineServer(worker, name="m", clock=lambda: 0.0, ids=lambda: "x")


async def test_bodies_that_never_end_are_refused_before_they_fill_the_memory(served: EngineServer) -> None:
    clients = [Client(iter([PIECE] * 10)) for _ in range(8)]
    tasks = [asyncio.create_task(one.ask(served)) for one in clients]
    try:
        async with asyncio.timeout(60):
            while sum(one.said is not None for one in clients) < 6 or served._held > 800_000:
                await asyncio.sleep(0.01)
        refused = [one.said for one in clients if one.said is not None]
        assert {status for status, _ in refused} == {503}
        assert all(headers[b"retry-after"] == b"1" for _, headers in refused)
        small = Client(iter([b"x" * 60_000]))
        waiting = asyncio.create_task(small.ask(served))
        async with asyncio.timeout(60):
            while small.read < 60_000:
                await asyncio.sleep(0.01)
        assert small.said is None, "it is read, and may go on"
        tasks.append(waiting)
    finally:
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
    assert served._held == 0, "what is over is given back"


async def test_a_body_that_does_not_come_is_waited_for_no_longer_than_a_minute(
    served: EngineServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "_SECONDS", 0.01)
    client = Client(iter([json.dumps({"model": "m"}).encode()[:-1]]))
    await client.ask(served)
    assert client.said is not None
    assert client.said[0] == 408
    assert served._held == 0
