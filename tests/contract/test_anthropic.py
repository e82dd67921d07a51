"""The official `anthropic` client against the proxy."""

from __future__ import annotations

from typing import Any

import anthropic
import openai
import pytest

from tests.proxy.driver import cache_status

pytestmark = pytest.mark.process

TOOL = {"name": "lookup", "input_schema": {"type": "object", "properties": {"word": {"type": "string"}}}}
CASES: dict[str, dict[str, Any]] = {
    "text": {},
    "system": {"system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]},
    "thinking": {"thinking": {"type": "enabled", "budget_tokens": 1024}, "max_tokens": 2048},
    "tools": {"tools": [TOOL], "messages": [{"role": "user", "content": "What does the word weathervane mean?"}]},
}


def request(case: str) -> dict[str, Any]:
    return {
        "model": "claude-x",
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "What is a fjord?"}],
        **CASES[case],
    }


def said(message: Any) -> list[dict[str, Any]]:
    return [block.model_dump(exclude={"parsed_output"}, exclude_none=True) for block in message.content]


@pytest.mark.parametrize("case", CASES)
def test_an_answer_comes_back_as_it_was(claude: anthropic.Anthropic, case: str) -> None:
    create = claude.messages.with_raw_response.create
    miss, hit = create(**request(case)), create(**request(case))
    with claude.messages.stream(**request(case)) as stream:
        streamed = stream.get_final_message()
    assert cache_status(miss.headers["cache-status"])["stored"] is True
    assert cache_status(hit.headers["cache-status"])["detail"] == "exact"
    assert hit.text() == miss.text()
    assert said(streamed) == said(miss.parse())
    assert streamed.stop_reason == miss.parse().stop_reason
    assert streamed.usage.output_tokens == miss.parse().usage.output_tokens
    assert (hit.headers["request-id"] or "").startswith("req_")


@pytest.mark.parametrize("case", CASES)
async def test_a_stream_comes_back_as_it_was(async_claude: anthropic.AsyncAnthropic, case: str) -> None:
    async with async_claude.messages.stream(**request(case)) as stream:
        first = await stream.get_final_message()
    async with async_claude.messages.stream(**request(case)) as stream:
        second = await stream.get_final_message()
        assert cache_status(stream.response.headers["cache-status"])["detail"] == "exact"
    body = await async_claude.messages.create(**request(case))
    assert said(second) == said(first) == said(body)
    assert second.usage == first.usage


def test_dialects_do_not_share_answers(claude: anthropic.Anthropic, client: openai.OpenAI) -> None:
    ask: dict[str, Any] = {"model": "same", "max_tokens": 50, "messages": [{"role": "user", "content": "Why?"}]}
    claude.messages.create(**ask)
    raw = client.chat.completions.with_raw_response.create(**ask)
    assert "hit" not in cache_status(raw.headers["cache-status"])
    assert raw.parse().choices[0].message.content


def test_errors_speak_the_dialect(claude: anthropic.Anthropic) -> None:
    with pytest.raises(anthropic.BadRequestError) as none:
        claude.messages.create(model="claude-x", max_tokens=5, messages=[])
    with pytest.raises(anthropic.BadRequestError) as category:
        claude.messages.create(**request("text"), extra_headers={"x-semcache-category": "nosuch"})
    with pytest.raises(anthropic.RateLimitError) as limited:
        claude.messages.create(**{**request("text"), "model": "fail-429"})
    for caught in (none, category, limited):
        assert caught.value.body["type"] == "error"  # type: ignore[index]
    assert "nosuch" in str(category.value)
    assert limited.value.response.headers["retry-after"] == "7"
