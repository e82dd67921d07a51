"""A server that stops says so in the streams that it cuts, so that no client takes half an answer for a whole one."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from semcache.engine.engine_config import EngineConfig


async def test_a_stream_that_is_cut_ends_with_an_error(folder: Callable[..., Path]) -> None:
    from semcache.engine.startup import open_server

    asked = {"messages": [{"role": "user", "content": "x"}], "max_tokens": 900, "stream": True, "ignore_eos": True}
    body = [{"type": "http.request", "body": json.dumps(asked).encode(), "more_body": False}]
    sent: list[dict[str, Any]] = []
    begun = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if not body:
            await asyncio.Event().wait()
        return body.pop()

    async def send(message: Any) -> None:
        sent.append(message)
        if len(sent) == 3:
            begun.set()

    server, worker = open_server(EngineConfig(model=str(folder()), cache_bytes=2 << 20), any_model=True)
    try:
        scope = {"type": "http", "path": "/v1/chat/completions", "method": "POST"}
        answering = asyncio.create_task(server(scope, receive, send))
        await begun.wait()
        # As the HTTP server does when the time for its requests is over.
        answering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answering
    finally:
        await asyncio.to_thread(worker.close)
    told = sent[-1]["body"].removeprefix(b"data: ")
    assert json.loads(told)["error"]["code"] == "engine_stopping"
