"""Reasoning that a provider has signed for one conversation: replayed behind the same words, and behind no others."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from semcache.dialects import dialects, unbound
from semcache.types import Endpoint
from tests.proxy.driver import PACK, Answer, Call, Upstream, completion, running
from tests.proxy.test_coalesced_requests import PARAPHRASE, PROMPT, settled

THOUGHT = [
    {"type": "thinking", "thinking": "France, so Paris.", "signature": "sig"},
    {"type": "redacted_thinking", "data": "abc"},
]
SAID = {"type": "text", "text": "The capital of France is Paris."}
WORDED = PACK.replace("  wording: off\n", "")
ASKED, REWORDED = "What is the capital of France?", "what's the capital of France"


def message(*content: Any) -> bytes:
    usage = {"input_tokens": 9, "output_tokens": 40}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "stop_reason": "end_turn"}
    return msgspec.json.encode({**head, "stop_sequence": None, "content": list(content), "usage": usage})


def question(text: str, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 2000, "messages": [{"role": "user", "content": text}], **fields}


def blocks(body: bytes, *, stream: bool) -> list[str]:
    dialect = dialects()[Endpoint.MESSAGES]
    if stream:
        assembler = dialect.assembler()
        assembler.feed(body)
        body = assembler.finish().body
    return [block["type"] for block in json.loads(body)["content"]]


@pytest.mark.parametrize("stream", [False, True], ids=["whole", "stream"])
async def test_a_message_is_replayed_with_its_thinking_behind_the_same_words_alone(
    tmp_path: Path, stream: bool
) -> None:
    upstream = Upstream(lambda _: Answer([message(*THOUGHT, SAID)]))
    async with running(upstream, tmp_path, pack=WORDED) as proxy:
        await Call(proxy, question(ASKED), path="/v1/messages").reply()
        same = await Call(proxy, question(ASKED, stream=stream), path="/v1/messages").reply()
        other = await Call(proxy, question(REWORDED, stream=stream), path="/v1/messages").reply()
    assert (same.cache["detail"], other.cache["detail"]) == ("exact", "wording")
    assert blocks(same.body, stream=stream) == ["thinking", "redacted_thinking", "text"]
    assert blocks(other.body, stream=stream) == ["text"]


async def test_who_shares_a_call_in_other_words_gets_the_message_without_its_thinking(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer([message(*THOUGHT, SAID)]), gate=asyncio.Event())
    assert upstream.gate is not None
    async with running(upstream, tmp_path) as proxy:
        first = Call(proxy, question(PROMPT), path="/v1/messages")
        await settled()
        same = Call(proxy, question(PROMPT), path="/v1/messages")
        other = Call(proxy, question(PARAPHRASE), path="/v1/messages")
        await settled()
        upstream.gate.set()
        replies = [await call.reply() for call in (first, same, other)]
    assert len(upstream.calls) == 1
    assert ["collapsed" in reply.cache for reply in replies] == [False, True, True]
    whole = ["thinking", "redacted_thinking", "text"]
    assert [blocks(reply.body, stream=False) for reply in replies] == [whole, whole, ["text"]]


def test_what_is_left_of_a_message_keeps_its_bytes() -> None:
    found = msgspec.Raw(b'{"type":"tool_use","id":"t","name":"f","input":{"n":1.00}}')
    left = unbound(dialects()[Endpoint.MESSAGES], message(*THOUGHT, found, SAID))
    assert b'{"n":1.00}' in left
    assert [block["type"] for block in json.loads(left)["content"]] == ["tool_use", "text"]
    silent = message(*THOUGHT)
    assert unbound(dialects()[Endpoint.MESSAGES], silent) == silent


@pytest.mark.parametrize(
    ("field", "parts", "kept"),
    [
        ("thinking_blocks", [{"type": "thinking", "thinking": "France.", "signature": "sig"}], False),
        ("reasoning_details", [{"type": "reasoning.encrypted", "data": "abc"}], False),
        ("reasoning_details", [{"type": "reasoning.text", "text": "France."}], True),
        ("reasoning_content", "France, so Paris.", True),
    ],
    ids=["litellm", "openrouter-encrypted", "openrouter-unsigned", "text"],
)
async def test_a_completion_is_replayed_without_signed_reasoning_behind_other_words(
    tmp_path: Path, field: str, parts: Any, kept: bool
) -> None:
    said = {"role": "assistant", "content": "The capital of France is Paris.", field: parts}
    whole = completion(choices=[{"index": 0, "message": said, "finish_reason": "stop"}])
    async with running(Upstream(lambda _: Answer([whole])), tmp_path, pack=WORDED) as proxy:
        await Call(proxy, question(ASKED)).reply()
        same = await Call(proxy, question(ASKED)).reply()
        other = await Call(proxy, question(REWORDED)).reply()
    assert (same.cache["detail"], other.cache["detail"]) == ("exact", "wording")
    assert same.json["choices"][0]["message"] == said
    assert (field in other.json["choices"][0]["message"]) is kept
    assert other.json["choices"][0]["message"]["content"] == said["content"]
