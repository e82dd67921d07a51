from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Iterator
from typing import Any

import anthropic
import openai
import pytest

from tests.contract.services import Service, echo, serving
from tests.waiting import PATIENCE


@pytest.fixture(scope="session")
def upstream() -> Iterator[Service]:
    with echo() as service:
        yield service


@pytest.fixture(scope="session")
def proxy(upstream: Service, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The proxy at its defaults, but for audits: they are drawn, and each asks the upstream once more."""
    with serving(upstream.url, tmp_path_factory.mktemp("proxy"), SEMCACHE_BACKGROUND__AUDIT_RATE="0") as service:
        yield service


@pytest.fixture
def apart() -> dict[str, Any]:
    """What gives a test a part of the cache to itself."""
    return {"default_headers": {"x-semcache-namespace": uuid.uuid4().hex}, "max_retries": 0, "timeout": PATIENCE}


@pytest.fixture
def client(proxy: Service, apart: dict[str, Any]) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{proxy.url}/v1", api_key="upstream-key", **apart) as made:
        yield made


@pytest.fixture
async def async_client(proxy: Service, apart: dict[str, Any]) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(base_url=f"{proxy.url}/v1", api_key="upstream-key", **apart) as made:
        yield made


@pytest.fixture
def claude(proxy: Service, apart: dict[str, Any]) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=proxy.url, api_key="upstream-key", **apart) as made:
        yield made


@pytest.fixture
async def async_claude(proxy: Service, apart: dict[str, Any]) -> AsyncIterator[anthropic.AsyncAnthropic]:
    async with anthropic.AsyncAnthropic(base_url=proxy.url, api_key="upstream-key", **apart) as made:
        yield made
