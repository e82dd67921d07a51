"""The litellm backend against a stand-in for the package: what it asks of it, and what it makes of the answers."""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

import msgspec
import pytest

from semcache.errors import ConfigError, UpstreamError, UpstreamTimeout
from semcache.protocols import Backend, Outbound, Reply
from semcache.upstream.backends import open_backend
from semcache.upstream.backends.connection import Connection

CHAT = "/v1/chat/completions"


class Said:
    def __init__(self, text: str) -> None:
        self.text = text

    def model_dump_json(self) -> str:
        return msgspec.json.encode({"said": self.text}).decode()


class RateLimitError(Exception):
    status_code = 429

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.response = SimpleNamespace(headers={"retry-after": "3", "set-cookie": "a"})


class Timeout(Exception):
    status_code = 408


class APIConnectionError(Exception):
    status_code = 500


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    faults = {error.__name__: error for error in (RateLimitError, Timeout, APIConnectionError)}

    async def acompletion(**call: Any) -> Any:
        made.append(call)
        if call["model"] in faults:
            raise faults[call["model"]]("no")
        return pieces(call["model"]) if call.get("stream") else Said("hi")

    async def pieces(model: str) -> AsyncIterator[Said]:
        yield Said("h")
        if model == "dies":
            raise APIConnectionError("gone")
        yield Said("i")

    module = ModuleType("litellm")
    module.__spec__ = ModuleSpec("litellm", None)
    module.acompletion = acompletion  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "litellm", module)
    return made


async def ask(backend: Backend, body: dict[str, Any], headers: Any = (), path: str = CHAT) -> tuple[Reply, bytes]:
    reply = await backend.send(Outbound("POST", path, headers, msgspec.json.encode(body)))
    try:
        return reply, b"".join([chunk async for chunk in reply.chunks()])
    finally:
        await reply.close()


async def test_a_request_reaches_litellm_with_every_field_and_the_clients_key(calls: list[dict[str, Any]]) -> None:
    body = {"model": "m", "messages": [], "temperature": 0, "tools": [1]}
    reply, raw = await ask(open_backend("litellm:"), body, [("Authorization", "Bearer theirs")])
    assert (reply.status, raw) == (200, b'{"said":"hi"}')
    assert calls == [{**body, "timeout": 600.0, "max_retries": 0, "api_key": "theirs"}]


async def test_a_configured_model_and_key_replace_the_clients(calls: list[dict[str, Any]]) -> None:
    backend = open_backend("litellm:anthropic/claude-x", Connection(api_key="ours", timeout=5))
    await ask(backend, {"model": "m"}, [("authorization", "Bearer theirs")])
    assert calls == [{"model": "anthropic/claude-x", "timeout": 5, "max_retries": 0, "api_key": "ours"}]


@pytest.mark.parametrize(
    "field", ["api_base", "base_url", "api_key", "custom_llm_provider", "mock_response", "fallbacks"]
)
async def test_a_client_cannot_steer_litellm(calls: list[dict[str, Any]], field: str) -> None:
    reply, raw = await ask(open_backend("litellm:", Connection(api_key="ours")), {"model": "m", field: "http://evil"})
    assert reply.status == 400
    assert field in msgspec.json.decode(raw)["error"]["message"]
    assert not calls


async def test_a_stream_ends_as_openai_ends_it(calls: list[dict[str, Any]]) -> None:
    reply, raw = await ask(open_backend("litellm:"), {"model": "m", "stream": True})
    assert dict(reply.headers)["content-type"].startswith("text/event-stream")
    assert raw == b'data: {"said":"h"}\n\ndata: {"said":"i"}\n\ndata: [DONE]\n\n'
    with pytest.raises(UpstreamError, match="gone"):
        await ask(open_backend("litellm:"), {"model": "dies", "stream": True})


async def test_a_providers_refusal_keeps_status_and_retry_after(calls: list[dict[str, Any]]) -> None:
    reply, raw = await ask(open_backend("litellm:"), {"model": "RateLimitError"})
    assert reply.status == 429
    assert list(reply.headers) == [("content-type", "application/json"), ("retry-after", "3")]
    assert msgspec.json.decode(raw)["error"]["type"] == "RateLimitError"


async def test_no_answer_is_an_error(calls: list[dict[str, Any]]) -> None:
    with pytest.raises(UpstreamTimeout):
        await ask(open_backend("litellm:"), {"model": "Timeout"})
    with pytest.raises(UpstreamError) as caught:
        await ask(open_backend("litellm:"), {"model": "APIConnectionError"})
    assert not isinstance(caught.value, UpstreamTimeout)


async def test_other_endpoints_and_broken_bodies_are_refused(calls: list[dict[str, Any]]) -> None:
    reply, raw = await ask(open_backend("litellm:"), {}, path="/v1/responses")
    assert reply.status == 404
    assert CHAT in msgspec.json.decode(raw)["error"]["message"]
    broken = await open_backend("litellm:").send(Outbound("POST", CHAT, [], b"[1]"))
    assert broken.status == 400
    assert not calls


def test_without_the_package_nothing_starts_and_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "litellm", None)
    with pytest.raises(ConfigError, match=r"pip install"):
        open_backend("litellm:")
