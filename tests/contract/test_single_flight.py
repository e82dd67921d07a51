"""Concurrent clients over real sockets share one call of the upstream."""

from __future__ import annotations

import asyncio
from typing import Any

import openai
import pytest

from tests.contract.services import Service
from tests.proxy.driver import cache_status

pytestmark = pytest.mark.process

CHAT = "/v1/chat/completions"


def calls(upstream: Service) -> int:
    return int(upstream.get("/echo/stats").json()["paths"].get(CHAT, 0))


def ask(prompt: str) -> dict[str, Any]:
    return {"model": "slow", "messages": [{"role": "user", "content": prompt}]}


async def test_fifty_clients_one_call(async_client: openai.AsyncOpenAI, upstream: Service) -> None:
    before = calls(upstream)
    create = async_client.chat.completions.with_raw_response.create
    prompts = ["How do I reset my password?"] * 48 + ["How can I reset my password?"] * 2
    replies = await asyncio.gather(*(create(**ask(prompt)) for prompt in prompts))
    assert calls(upstream) == before + 1
    assert len({reply.text for reply in replies}) == 1
    seen = [cache_status(reply.headers["cache-status"]) for reply in replies]
    assert sum("stored" in status for status in seen) == 1
    assert sum("collapsed" in status or "hit" in status for status in seen) == 49
