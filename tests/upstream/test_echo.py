"""The scripted upstream must look like the real services to the vendors' own SDKs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest

from tests.waiting import PATIENCE

TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    },
}
FRANCE = "What is the capital of France?"
PARIS = "Paris is the capital of France."


@pytest.fixture(scope="module")
def client(upstream: str) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=f"{upstream}/v1", api_key="sk-up", max_retries=0, timeout=PATIENCE) as made:
        yield made


@pytest.fixture(scope="module")
def claude(upstream: str) -> Iterator[anthropic.Anthropic]:
    with anthropic.Anthropic(base_url=upstream, api_key="sk-ant", max_retries=0, timeout=PATIENCE) as made:
        yield made


def ask(text: str) -> list[Any]:
    return [{"role": "user", "content": text}]


def assembled(chunks: Any) -> tuple[dict[int, dict[str, Any]], Any]:
    """Put a chat stream together by hand, as a client without the SDK's accumulator does."""
    choices: dict[int, dict[str, Any]] = {}
    usage = None
    for chunk in chunks:
        usage = chunk.usage or usage
        for choice in chunk.choices:
            seen = choices.setdefault(choice.index, {"content": "", "refusal": "", "reasoning": "", "args": ""})
            delta = choice.delta
            seen["content"] += delta.content or ""
            seen["refusal"] += delta.refusal or ""
            seen["reasoning"] += getattr(delta, "reasoning_content", None) or ""
            for call in delta.tool_calls or ():
                seen["name"] = call.function.name or seen.get("name")
                seen["args"] += call.function.arguments or ""
            seen["finish"] = choice.finish_reason or seen.get("finish")
            if choice.logprobs:
                seen.setdefault("logprobs", []).extend(one.token for one in choice.logprobs.content)
    return choices, usage


def test_equal_prompts_get_equal_answers_with_fresh_ids(client: openai.OpenAI) -> None:
    first, second = (client.chat.completions.create(model="echo", messages=ask("hello"), user=u) for u in ("a", "b"))
    assert first.choices == second.choices
    assert first.id != second.id
    other = client.chat.completions.create(
        model="echo", messages=[{"role": "system", "content": "Be rude."}, *ask("hello")]
    )
    assert other.choices[0].message.content != first.choices[0].message.content


def test_given_answers_are_given(client: openai.OpenAI) -> None:
    answer = client.chat.completions.create(model="echo", messages=ask(FRANCE))
    assert answer.choices[0].message.content == PARIS
    assert answer.usage is not None
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (6, 6)


def test_chat_stream_assembles_to_the_whole_answer(client: openai.OpenAI) -> None:
    options: dict[str, Any] = {"model": "echo", "messages": ask(FRANCE), "n": 2, "reasoning_effort": "low"}
    options |= {"logprobs": True, "top_logprobs": 1}
    whole = client.chat.completions.create(**options)
    with client.chat.completions.create(**options, stream=True, stream_options={"include_usage": True}) as chunks:
        choices, usage = assembled(chunks)
    assert usage == whole.usage
    assert len(choices) == 2
    for choice in whole.choices:
        seen = choices[choice.index]
        assert seen["content"] == choice.message.content
        assert seen["reasoning"] == choice.message.reasoning_content
        assert seen["finish"] == choice.finish_reason == "stop"
        assert choice.logprobs is not None
        assert seen["logprobs"] == [one.token for one in choice.logprobs.content or ()]
    assert choices[0]["content"] != choices[1]["content"]


def test_usage_chunk_comes_only_when_asked_for(client: openai.OpenAI) -> None:
    with client.chat.completions.create(model="echo", messages=ask("hi"), stream=True) as chunks:
        _, usage = assembled(chunks)
    assert usage is None


def test_chat_sdk_accumulator_accepts_the_stream(client: openai.OpenAI) -> None:
    with client.chat.completions.stream(model="echo", messages=ask("weather in Oslo"), tools=[TOOL]) as stream:
        final = stream.get_final_completion()
    call = final.choices[0].message.tool_calls[0]
    assert call.function.name == "get_weather"
    assert json.loads(call.function.arguments) == {"city": "Oslo", "days": 1}


def test_tool_call_and_the_answer_after_its_result(client: openai.OpenAI) -> None:
    asked = client.chat.completions.create(model="echo", messages=ask("weather in Oslo"), tools=[TOOL])
    (choice,) = asked.choices
    assert choice.finish_reason == "tool_calls"
    assert choice.message.content is None
    (call,) = choice.message.tool_calls or ()
    turns = [*ask("weather in Oslo"), choice.message, {"role": "tool", "tool_call_id": call.id, "content": "4 C"}]
    told = client.chat.completions.create(model="echo", messages=turns, tools=[TOOL])
    assert told.choices[0].finish_reason == "stop"
    assert told.choices[0].message.content


@pytest.mark.parametrize(
    "wanted",
    [
        {"type": "json_object"},
        {
            "type": "json_schema",
            "json_schema": {
                "name": "x",
                "schema": {"type": "object", "properties": {"ok": {"type": "boolean"}, "list": {"type": "array"}}},
            },
        },
    ],
)
def test_json_mode_answers_in_json(client: openai.OpenAI, wanted: Any) -> None:
    answer = client.chat.completions.create(model="echo", messages=ask("say"), response_format=wanted)
    parsed = json.loads(answer.choices[0].message.content or "")
    assert parsed == ({"ok": True, "list": ["say"]} if "json_schema" in wanted else {"answer": "say"})


def test_refusal_filter_and_length(client: openai.OpenAI) -> None:
    refused = client.chat.completions.create(model="echo", messages=ask("please refuse this"))
    assert refused.choices[0].message.refusal
    assert refused.choices[0].message.content is None
    with client.chat.completions.create(model="echo", messages=ask("please refuse this"), stream=True) as chunks:
        choices, _ = assembled(chunks)
    assert choices[0]["refusal"] == refused.choices[0].message.refusal
    cut = client.chat.completions.create(model="echo", messages=ask(FRANCE), max_completion_tokens=2)
    assert (cut.choices[0].finish_reason, cut.choices[0].message.content) == ("length", "Paris is ")
    filtered = client.chat.completions.create(model="echo", messages=ask("the content filter"))
    assert filtered.choices[0].finish_reason == "content_filter"


def test_completions(client: openai.OpenAI) -> None:
    whole = client.completions.create(model="echo", prompt=FRANCE, logprobs=1)
    assert whole.choices[0].text == PARIS
    assert "".join(whole.choices[0].logprobs.tokens) == PARIS
    with client.completions.create(
        model="echo", prompt=FRANCE, stream=True, stream_options={"include_usage": True}
    ) as stream:
        chunks = list(stream)
    assert "".join(choice.text for chunk in chunks for choice in chunk.choices) == PARIS
    assert chunks[-1].usage == whole.usage


@pytest.mark.parametrize(
    "options",
    [
        {"input": FRANCE},
        {"input": [{"role": "user", "content": [{"type": "input_text", "text": FRANCE}]}]},
        {"input": FRANCE, "reasoning": {"effort": "low", "summary": "auto"}},
        {"input": "weather in Oslo", "tools": [{"name": "get_weather", "strict": False, **TOOL, **TOOL["function"]}]},
        {"input": "refuse this"},
        {"input": FRANCE, "max_output_tokens": 2},
    ],
)
def test_responses_stream_ends_with_the_whole_answer(client: openai.OpenAI, options: Any) -> None:
    whole = client.responses.create(model="echo", **options)
    with client.responses.create(model="echo", stream=True, **options) as stream:
        events = list(stream)
    assert [event.sequence_number for event in events] == list(range(len(events)))
    final = events[-1].response.model_dump()
    expected = whole.model_dump()
    assert final["status"] == expected["status"]
    assert final["usage"] == expected["usage"]
    without = [{k: v for k, v in item.items() if k != "id"} for item in final["output"]]
    assert without == [{k: v for k, v in item.items() if k != "id"} for item in expected["output"]]
    told = "".join(event.delta for event in events if event.type == "response.output_text.delta")
    assert told == whole.output_text


def test_responses_sdk_accumulator_accepts_the_stream(client: openai.OpenAI) -> None:
    with client.responses.stream(model="echo", input=FRANCE) as stream:
        for _ in stream:
            pass
        assert stream.get_final_response().output_text == PARIS


def test_embeddings(client: openai.OpenAI) -> None:
    packed = client.embeddings.create(model="text-embedding-echo", input=["a", "b", "a"], dimensions=8)
    plain = client.embeddings.create(
        model="text-embedding-echo", input=["a", "b", "a"], dimensions=8, encoding_format="float"
    )
    assert packed.data[0].embedding == packed.data[2].embedding != packed.data[1].embedding
    assert packed.data[0].embedding == pytest.approx(plain.data[0].embedding, abs=1e-6)
    assert sum(value * value for value in plain.data[1].embedding) == pytest.approx(1.0)


def test_models(client: openai.OpenAI) -> None:
    assert "echo" in [model.id for model in client.models.list()]
    assert client.models.retrieve("echo").id == "echo"
    with pytest.raises(openai.NotFoundError):
        client.models.retrieve("nothing")


@pytest.mark.parametrize(
    "options",
    [
        {"messages": ask(FRANCE), "system": "Be brief."},
        {"messages": ask(FRANCE), "thinking": {"type": "enabled", "budget_tokens": 1024}},
        {"messages": ask("weather in Oslo"), "tools": [{"name": "get_weather", "input_schema": {"type": "object"}}]},
        {"messages": ask("refuse this")},
        {"messages": ask([{"type": "text", "text": FRANCE}]), "max_tokens": 2},  # type: ignore[arg-type]
    ],
)
def test_messages_stream_assembles_to_the_whole_answer(claude: anthropic.Anthropic, options: Any) -> None:
    options = {"max_tokens": 4096, **options}
    whole = claude.messages.create(model="echo", **options)
    with claude.messages.stream(model="echo", **options) as stream:
        final = stream.get_final_message()
    assert final.model_dump(exclude={"id", "parsed_output"}) | {"content": 0} == whole.model_dump(exclude={"id"}) | {
        "content": 0
    }
    assert [block.model_dump(exclude={"parsed_output"}) for block in final.content] == [
        block.model_dump(exclude={"parsed_output"}) for block in whole.content
    ]


def test_faults_come_as_the_sdk_knows_them(client: openai.OpenAI, claude: anthropic.Anthropic) -> None:
    with pytest.raises(openai.RateLimitError) as limited:
        client.chat.completions.create(model="fail-429", messages=ask("hi"))
    assert limited.value.response.headers["retry-after"] == "7"
    with pytest.raises(openai.InternalServerError):
        client.responses.create(model="fail-500", input="hi")
    with pytest.raises(anthropic.RateLimitError, match="asked to fail"):
        claude.messages.create(model="fail-429", messages=ask("hi"), max_tokens=5)
    with (
        pytest.raises(openai.APIConnectionError),
        client.chat.completions.create(model="die-midstream", messages=ask("hi"), stream=True) as stream,
    ):
        list(stream)
    with pytest.raises(openai.APIError):
        client.chat.completions.create(model="die-midstream", messages=ask("hi"))
    with (
        pytest.raises(json.JSONDecodeError),
        client.chat.completions.create(model="malformed", messages=ask("hi"), stream=True) as stream,
    ):
        list(stream)
    cut = {"model": "no-end", "messages": ask("hi"), "stream": True}
    told = httpx2.post(f"{client.base_url}chat/completions", json=cut).text
    assert '"finish_reason":"stop"' in told
    assert "[DONE]" not in told


@pytest.mark.parametrize(
    "body",
    [
        b'{"model":',
        b"[]",
        b'{"messages":[]}',
        b'{"messages":"hi"}',
        b'{"messages":["x"],"n":"two"}',
        b'{"model":"echo"}',
    ],
)
def test_a_broken_request_is_refused(upstream: str, body: bytes) -> None:
    reply = httpx2.post(f"{upstream}/v1/chat/completions", content=body)
    assert reply.status_code == 400
    assert reply.json()["error"]["type"] == "invalid_request_error"


def test_runs_as_a_process_and_counts_requests(tmp_path: Path) -> None:
    answers = tmp_path / "answers.json"
    answers.write_text(json.dumps({FRANCE: "Lyon, once."}))
    command = [sys.executable, "-m", "semcache.upstream.backends.echo", "--port", "0", "--answers", str(answers)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        try:
            url = line.split()[-1]
            with openai.OpenAI(base_url=f"{url}/v1", api_key="sk-up") as client:
                said = client.chat.completions.create(model="echo", messages=ask(FRANCE)).choices[0].message.content
            stats = httpx2.get(f"{url}/echo/stats").json()
            assert httpx2.post(f"{url}/echo/reset").json()["requests"] == 0
        finally:
            process.terminate()
            rest, printed = process.stderr.read(), process.stdout.read()  # type: ignore[union-attr]
    assert line.startswith("echo upstream ready on http://127.0.0.1:")
    assert said == "Lyon, once."
    assert stats["paths"] == {"/v1/chat/completions": 1}
    assert json.loads(stats["newest"][0]["body"])["model"] == "echo"
    assert ["authorization", "Bearer sk-up"] in stats["newest"][0]["headers"]
    assert (rest, printed) == ("", "")
