"""The official `openai` client against the proxy: every answer survives the cache, in both directions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import openai
import pytest

from tests.contract.services import Service, serving
from tests.proxy.driver import cache_status

pytestmark = pytest.mark.process

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}
SCHEMA = {
    "type": "json_schema",
    "json_schema": {
        "name": "answer",
        "schema": {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]},
    },
}
CASES: dict[str, dict[str, Any]] = {
    "text": {},
    "two choices": {"n": 2},
    "logprobs": {"logprobs": True, "top_logprobs": 2},
    "tools": {"tools": [TOOL], "messages": [{"role": "user", "content": "What does the word weathervane mean?"}]},
    "two tool calls": {
        "n": 2,
        "tools": [TOOL],
        "messages": [{"role": "user", "content": "What does the word weatherproof mean?"}],
    },
    "reasoning": {"reasoning_effort": "high"},
    "json mode": {"response_format": SCHEMA},
    "parts": {"messages": [{"role": "user", "content": [{"type": "text", "text": "What is a fjord?"}]}]},
}


def request(case: str) -> dict[str, Any]:
    return {"model": "gpt-x", "messages": [{"role": "user", "content": "What is a fjord?"}], **CASES[case]}


def essence(completion: Any) -> list[dict[str, Any]]:
    """What a user reads of an answer; fields that only one of body and stream has are left out."""
    return [
        {
            "finish": choice.finish_reason,
            "content": choice.message.content or None,
            "refusal": choice.message.refusal,
            "reasoning": getattr(choice.message, "reasoning_content", None),
            "tools": [
                (call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls or []
            ],
            "logprobs": choice.logprobs.model_dump() if choice.logprobs else None,
        }
        for choice in completion.choices
    ]


def assembled(stream: Any) -> list[dict[str, Any]]:
    """The same of a stream of chunks."""
    found: dict[int, dict[str, Any]] = {}
    for chunk in stream:
        for choice in chunk.choices:
            answer = found.setdefault(
                choice.index,
                {"finish": None, "content": None, "refusal": None, "reasoning": None, "tools": {}, "logprobs": None},
            )
            delta = choice.delta
            for name, text in (
                ("content", delta.content),
                ("refusal", delta.refusal),
                ("reasoning", getattr(delta, "reasoning_content", None)),
            ):
                if text:
                    answer[name] = (answer[name] or "") + text
            for call in delta.tool_calls or []:
                key, name, arguments = answer["tools"].get(call.index, ("", "", ""))
                answer["tools"][call.index] = (
                    call.id or key,
                    call.function.name or name,
                    arguments + (call.function.arguments or ""),
                )
            if choice.logprobs:
                seen = answer["logprobs"] or {"content": [], "refusal": None}
                seen["content"] += [token.model_dump() for token in choice.logprobs.content or []]
                answer["logprobs"] = seen
            answer["finish"] = choice.finish_reason or answer["finish"]
    return [{**answer, "tools": list(answer["tools"].values())} for _, answer in sorted(found.items())]


def status(raw: Any) -> dict[str, Any]:
    return cache_status(raw.headers["cache-status"])


@pytest.mark.parametrize("case", CASES)
def test_an_answer_comes_back_as_it_was(client: openai.OpenAI, case: str) -> None:
    create = client.chat.completions.with_raw_response.create
    miss, hit = create(**request(case)), create(**request(case))
    stream = create(**request(case), stream=True)
    assert status(miss)["fwd"] == "miss"
    assert status(miss)["stored"] is True
    assert status(hit)["detail"] == status(stream)["detail"] == "exact"
    assert hit.text == miss.text
    assert int(hit.headers["age"]) >= 0
    assert assembled(stream.parse()) == essence(miss.parse())


@pytest.mark.parametrize("case", CASES)
def test_a_stream_comes_back_as_it_was(client: openai.OpenAI, case: str) -> None:
    create = client.chat.completions.with_raw_response.create
    wanted = {**request(case), "stream": True, "stream_options": {"include_usage": True}}
    first = create(**wanted)
    assert status(first) == {"fwd": "miss", "stored": True, "detail": status(first)["detail"]}
    sent = list(first.parse())
    again = create(**wanted)
    replayed = list(again.parse())
    body = create(**request(case))
    assert status(again)["detail"] == status(body)["detail"] == "exact"
    assert assembled(replayed) == assembled(sent) == essence(body.parse())
    assert replayed[-1].choices == []
    assert replayed[-1].usage == sent[-1].usage
    assert all(chunk.usage is None for chunk in replayed[:-1])
    assert body.parse().usage == sent[-1].usage


async def test_the_asynchronous_client(async_client: openai.AsyncOpenAI) -> None:
    create = async_client.chat.completions.with_raw_response.create
    miss, hit = await create(**request("text")), await create(**request("text"))
    stream = await async_client.chat.completions.create(**request("text"), stream=True)
    chunks = [chunk async for chunk in stream]
    assert hit.text == miss.text
    assert assembled(chunks) == essence(miss.parse())


def test_a_paraphrase_is_answered(upstream: Service, tmp_path: Path) -> None:
    """By a proxy of its own: the echo answers every wording differently, and a proxy learns from that."""

    def ask(prompt: str) -> Any:
        return client.chat.completions.with_raw_response.create(
            model="gpt-x", messages=[{"role": "user", "content": prompt}]
        )

    with (
        serving(upstream.url, tmp_path, SEMCACHE_BACKGROUND__AUDIT_RATE="0") as proxy,
        openai.OpenAI(base_url=f"{proxy.url}/v1", api_key="upstream-key", max_retries=0) as client,
    ):
        first = ask("How do I reset my password?")
        second = ask("How can I reset my password?")
        other = ask("How do I delete my account?")
    assert status(second)["detail"] == "wording"
    assert second.text == first.text
    assert "hit" not in status(other)
    assert float(second.headers["x-semcache-score"]) == 1.0


def test_a_refusal_is_relayed_and_asked_for_again(client: openai.OpenAI) -> None:
    messages = [{"role": "user", "content": "Please refuse this"}]
    create = client.chat.completions.with_raw_response.create
    for stream in (False, True):
        for _ in range(2):
            raw = create(model="gpt-x", messages=messages, stream=stream)
            got = assembled(raw.parse()) if stream else essence(raw.parse())
            assert "hit" not in status(raw)
            assert got[0]["refusal"] == "I cannot help with that."


def test_completions(client: openai.OpenAI) -> None:
    create = client.completions.with_raw_response.create
    ask: dict[str, Any] = {"model": "gpt-x", "prompt": "The longest river is", "logprobs": 1}
    miss, hit = create(**ask), create(**ask)
    chunks = list(create(**ask, stream=True).parse())
    assert hit.text == miss.text
    assert status(hit)["detail"] == "exact"
    assert "".join(chunk.choices[0].text for chunk in chunks if chunk.choices) == miss.parse().choices[0].text


def test_responses(client: openai.OpenAI) -> None:
    create = client.responses.with_raw_response.create
    ask: dict[str, Any] = {"model": "gpt-x", "input": "What is a fjord?", "reasoning": {"effort": "high"}}
    miss, hit = create(**ask), create(**ask)
    assert hit.text == miss.text
    assert status(hit)["detail"] == "exact"
    with client.responses.stream(**ask) as stream:
        final = stream.get_final_response()
    assert final.output_text == miss.parse().output_text
    assert [item.type for item in final.output] == [item.type for item in miss.parse().output]
    streamed = {**ask, "input": "What is a glacier?"}
    with client.responses.stream(**streamed) as stream:
        first = stream.get_final_response()
    body = create(**streamed)
    assert status(body)["detail"] == "exact"
    assert body.parse().output_text == first.output_text


def test_embeddings(client: openai.OpenAI) -> None:
    create = client.embeddings.with_raw_response.create
    first = create(model="e", input=["fjord", "glacier"])
    second = create(model="e", input=["glacier", "river"])
    third = create(model="e", input=["river", "glacier", "fjord"])
    vectors = {text: item.embedding for text, item in zip(["fjord", "glacier"], first.parse().data, strict=True)}
    assert status(second)["fwd"] == "partial"
    assert second.parse().data[0].embedding == vectors["glacier"]
    assert status(third)["hit"] is True
    assert [item.index for item in third.parse().data] == [0, 1, 2]
    assert third.parse().data[2].embedding == vectors["fjord"]
    assert "hit" not in status(create(model="other", input=["fjord"]))


def test_models(client: openai.OpenAI) -> None:
    assert "echo" in [model.id for model in client.models.list().data]
    assert client.models.retrieve("echo").id == "echo"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("nosuch")
    assert status(client.models.with_raw_response.list()) == {"fwd": "bypass"}


def test_a_conversation_is_not_its_last_turn(client: openai.OpenAI) -> None:
    create = client.chat.completions.with_raw_response.create
    last = {"role": "user", "content": "And which of them is the longest?"}
    about = [
        [{"role": "user", "content": f"Name the {what} of Norway."}, {"role": "assistant", "content": "Some."}, last]
        for what in ("rivers", "fjords")
    ]
    replies = [create(model="gpt-x", messages=messages) for messages in (*about, about[0])]
    assert ["hit" in status(reply) for reply in replies] == [False, False, True]
    assert replies[2].text == replies[0].text
