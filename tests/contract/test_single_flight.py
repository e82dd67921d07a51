"""Concurrent clients over real sockets share one call of the upstream."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import openai
import pytest

from tests.contract.services import Service, serving
from tests.proxy.driver import cache_status

pytestmark = pytest.mark.process

CHAT = "/v1/chat/completions"


def calls(upstream: Service) -> int:
    return int(upstream.get("/echo/stats").json()["paths"].get(CHAT, 0))


def ask(prompt: str) -> dict[str, Any]:
    return {"model": "slow", "messages": [{"role": "user", "content": prompt}]}


async def test_fifty_clients_one_call(upstream: Service, tmp_path: Path) -> None:
    """A proxy of their own: whether a rewording may share depends on what a proxy has learned."""
    before = calls(upstream)
    prompts = ["How do I reset my password?"] * 48 + ["How can I reset my password?"] * 2
    with serving(upstream.url, tmp_path, SEMCACHE_BACKGROUND__AUDIT_RATE="0") as proxy:
        async with openai.AsyncOpenAI(base_url=f"{proxy.url}/v1", api_key="upstream-key", max_retries=0) as client:
            create = client.chat.completions.with_raw_response.create
            replies = await asyncio.gather(*(create(**ask(prompt)) for prompt in prompts))
    assert calls(upstream) == before + 1
    assert len({reply.text for reply in replies}) == 1
    seen = [cache_status(reply.headers["cache-status"]) for reply in replies]
    assert sum("stored" in status for status in seen) == 1
    assert sum("collapsed" in status or "hit" in status for status in seen) == 49
