"""The official clients accept what is replayed and read the stored answer out of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import anthropic
import httpx2
import openai
import pydantic
import pytest
from hypothesis import given, settings

from semcache.dialects import dialects
from semcache.protocols import Dialect
from semcache.types import Endpoint
from tests.dialects.answers import chat_answers, message_answers, response_answers

GOLDEN = Path(__file__).parent.parent / "golden" / "wire"
TURNS = [{"role": "user", "content": "hi"}]


def golden(endpoint: Endpoint) -> list[str]:
    return sorted(path.stem for path in GOLDEN.glob(f"{endpoint.value}_*.json"))


def stored(name: str) -> dict[str, object]:
    return json.loads((GOLDEN / f"{name}.json").read_bytes())


def transport(dialect: Dialect, answer: dict[str, object]) -> httpx2.MockTransport:
    """A server that replays `answer` for every request, in pieces that cut events anywhere."""

    def handle(request: httpx2.Request) -> httpx2.Response:
        read = dialect.read(request.content)
        body = json.dumps(answer).encode()
        if not read.stream:
            return httpx2.Response(200, content=body, headers={"content-type": "application/json"})
        stream = b"".join(dialect.stream(body, read.replay))
        return httpx2.Response(
            200,
            content=iter([stream[at : at + 97] for at in range(0, len(stream), 97)]),
            headers={"content-type": "text/event-stream"},
        )

    return httpx2.MockTransport(handle)


def openai_client(endpoint: Endpoint, answer: dict[str, object]) -> openai.OpenAI:
    http = httpx2.Client(transport=transport(dialects()[endpoint], answer))
    return openai.OpenAI(api_key="k", base_url="http://test/v1", http_client=http, max_retries=0)


def anthropic_client(answer: dict[str, object]) -> anthropic.Anthropic:
    http = httpx2.Client(transport=transport(dialects()[Endpoint.MESSAGES], answer))
    return anthropic.Anthropic(api_key="k", base_url="http://test", http_client=http, max_retries=0)


def same(got: object, want: object) -> bool:
    """Whether `got` says what `want` says; the clients add fields of their own and drop nulls."""
    if isinstance(want, dict):
        assert isinstance(got, dict), (got, want)
        return all(same(got.get(key), value) for key, value in want.items())
    if isinstance(want, list):
        assert isinstance(got, list), (got, want)
        return len(got) == len(want) and all(map(same, got, want))
    assert got == want, (got, want)
    return True


@pytest.mark.parametrize("name", golden(Endpoint.CHAT))
def test_chat_stream_helper(name):
    answer = stored(name)
    options = {"include_usage": True} if "usage" in answer else openai.omit
    with (
        openai_client(Endpoint.CHAT, answer) as client,
        client.chat.completions.stream(model="m", messages=TURNS, stream_options=options) as stream,
    ):
        kinds = {event.type for event in stream}
        final = stream.get_final_completion().model_dump()
    for choice in final["choices"]:
        choice["message"].pop("parsed", None)
    assert same(final, answer)
    message = answer["choices"][0]["message"]
    assert ("content.delta" in kinds) == (message["content"] is not None)
    assert ("tool_calls.function.arguments.done" in kinds) == bool(message.get("tool_calls"))


@pytest.mark.parametrize("name", golden(Endpoint.CHAT))
def test_chat_plain_stream(name):
    answer = stored(name)
    with openai_client(Endpoint.CHAT, answer) as client:
        chunks = list(client.chat.completions.create(model="m", messages=TURNS, stream=True))
    for choice in answer["choices"]:
        mine = [part for chunk in chunks for part in chunk.choices if part.index == choice["index"]]
        content = [part.delta.content for part in mine if part.delta.content is not None]
        assert ("".join(content) if content else None) == choice["message"]["content"]
        assert [part.finish_reason for part in mine if part.finish_reason] == [choice["finish_reason"]]
    assert all(chunk.usage is None for chunk in chunks)
    assert all(chunk.object == "chat.completion.chunk" for chunk in chunks)


async def test_chat_async_stream():
    answer = stored("chat_tool_calls")
    http = httpx2.AsyncClient(transport=transport_async(answer))
    async with (
        openai.AsyncOpenAI(api_key="k", base_url="http://test/v1", http_client=http, max_retries=0) as client,
        client.chat.completions.stream(model="m", messages=TURNS) as stream,
    ):
        final = await stream.get_final_completion()
    calls = final.choices[0].message.tool_calls
    assert [json.loads(call.function.arguments)["location"] for call in calls] == ["Paris", "Oslo"]


def transport_async(answer: dict[str, object]) -> httpx2.MockTransport:
    dialect = dialects()[Endpoint.CHAT]

    async def pieces(body: bytes):
        yield body

    def handle(request: httpx2.Request) -> httpx2.Response:
        stream = b"".join(dialect.stream(json.dumps(answer).encode(), {}))
        return httpx2.Response(200, content=pieces(stream), headers={"content-type": "text/event-stream"})

    return httpx2.MockTransport(handle)


def test_structured_output_is_parsed_from_a_replayed_stream():
    class City(pydantic.BaseModel):
        city: str
        population: int

    with (
        openai_client(Endpoint.CHAT, stored("chat_json_mode")) as client,
        client.chat.completions.stream(model="m", messages=TURNS, response_format=City) as stream,
    ):
        final = stream.get_final_completion()
    assert final.choices[0].message.parsed == City(city="Zürich", population=443037)


@pytest.mark.parametrize("name", golden(Endpoint.COMPLETIONS))
def test_text_completions(name):
    answer = stored(name)
    with openai_client(Endpoint.COMPLETIONS, answer) as client:
        chunks = list(client.completions.create(model="m", prompt="hi", stream=True))
        whole = client.completions.create(model="m", prompt="hi")
    assert "".join(choice.text for chunk in chunks for choice in chunk.choices) == whole.choices[0].text
    assert chunks[-1].choices[0].finish_reason == "stop"


@pytest.mark.parametrize("name", golden(Endpoint.RESPONSES))
def test_responses_stream_helper(name):
    answer = stored(name)
    with (
        openai_client(Endpoint.RESPONSES, answer) as client,
        client.responses.stream(model="m", input="hi", store=False) as stream,
    ):
        events = list(stream)
        final = stream.get_final_response()
    whole = openai_client(Endpoint.RESPONSES, answer)
    with whole as client:
        assert same(
            final.model_dump(exclude={"output"}),
            client.responses.create(model="m", input="hi").model_dump(exclude={"output"}),
        )
    assert same(final.model_dump()["output"], answer["output"])
    assert [event.sequence_number for event in events if hasattr(event, "sequence_number")] == list(range(len(events)))
    for position, item in enumerate(answer["output"]):
        deltas = list(texts(events, position))
        if item["type"] == "message":
            assert "".join(deltas) == "".join(part.get("text") or part.get("refusal") for part in item["content"])
        elif item["type"] == "function_call":
            assert "".join(deltas) == item["arguments"]
        else:
            assert "".join(deltas) == "".join(part["text"] for part in item["summary"])


def texts(events: list[object], position: int) -> Iterator[str]:
    for event in events:
        if event.type.endswith(".delta") and event.output_index == position:
            yield event.delta


@pytest.mark.parametrize("name", golden(Endpoint.RESPONSES))
def test_responses_events_have_the_published_shape(name):
    from openai.types.responses import ResponseStreamEvent

    models = by_type(ResponseStreamEvent)
    for event in dialects()[Endpoint.RESPONSES].stream(json.dumps(stored(name)).encode(), {}):
        payload = json.loads(event.partition(b"\ndata: ")[2])
        models[payload["type"]].model_validate(payload)


def by_type(union: object) -> dict[str, type[pydantic.BaseModel]]:
    members = get_args(get_args(union)[0])
    return {get_args(member.model_fields["type"].annotation)[0]: member for member in members}


@pytest.mark.parametrize("name", golden(Endpoint.CHAT))
def test_chat_chunks_have_the_published_shape(name):
    from openai.types.chat import ChatCompletionChunk

    *chunks, done = dialects()[Endpoint.CHAT].stream(json.dumps(stored(name)).encode(), {"include_usage": True})
    assert done == b"data: [DONE]\n\n"
    for chunk in chunks:
        payload = json.loads(chunk.removeprefix(b"data: "))
        if payload.get("service_tier") is None:
            payload.pop("service_tier", None)
        ChatCompletionChunk.model_validate(payload)


@pytest.mark.parametrize("name", golden(Endpoint.MESSAGES))
def test_anthropic_stream_helper(name):
    answer = stored(name)
    with (
        anthropic_client(answer) as client,
        client.messages.stream(model="m", max_tokens=99, messages=TURNS) as stream,
    ):
        kinds = [event.type for event in stream]
        final = stream.get_final_message()
    assert same(final.model_dump(), answer)
    assert kinds[0] == "message_start"
    assert kinds[-1] == "message_stop"


@pytest.mark.parametrize("name", golden(Endpoint.MESSAGES))
def test_anthropic_events_have_the_published_shape(name):
    from anthropic.types import RawMessageStreamEvent

    models = by_type(RawMessageStreamEvent)
    for event in dialects()[Endpoint.MESSAGES].stream(json.dumps(stored(name)).encode(), {}):
        payload = json.loads(event.partition(b"\ndata: ")[2])
        models[payload["type"]].model_validate(payload)


@pytest.mark.parametrize("endpoint", [Endpoint.CHAT, Endpoint.RESPONSES])
def test_our_errors_are_raised_as_the_clients_own(endpoint):
    body = dialects()[endpoint].error(400, "bad ttl", code="invalid_request_error", param="cache.ttl")
    http = httpx2.Client(transport=httpx2.MockTransport(lambda request: httpx2.Response(400, content=body)))
    with (
        openai.OpenAI(api_key="k", base_url="http://test/v1", http_client=http, max_retries=0) as client,
        pytest.raises(openai.BadRequestError) as caught,
    ):
        client.chat.completions.create(model="m", messages=TURNS)
    assert caught.value.param == "cache.ttl"
    assert caught.value.code == "invalid_request_error"
    assert "bad ttl" in caught.value.message


def test_our_errors_are_raised_by_the_anthropic_client():
    body = dialects()[Endpoint.MESSAGES].error(429, "slow down", code="rate_limited")
    http = httpx2.Client(transport=httpx2.MockTransport(lambda request: httpx2.Response(429, content=body)))
    with (
        anthropic.Anthropic(api_key="k", base_url="http://test", http_client=http, max_retries=0) as client,
        pytest.raises(anthropic.RateLimitError) as caught,
    ):
        client.messages.create(model="m", max_tokens=9, messages=TURNS)
    assert caught.value.body["error"] == {"type": "rate_limit_error", "message": "slow down"}


@settings(max_examples=40, deadline=None)
@given(answer=chat_answers())
def test_the_openai_client_accumulates_what_any_stored_answer_says(answer):
    from openai.lib.streaming.chat import ChatCompletionStreamState
    from openai.types.chat import ChatCompletionChunk

    state = ChatCompletionStreamState()
    *chunks, _ = dialects()[Endpoint.CHAT].stream(json.dumps(answer).encode(), {"include_usage": True})
    for chunk in chunks:
        state.handle_chunk(ChatCompletionChunk.construct(**json.loads(chunk.removeprefix(b"data: "))))
    final = state.current_completion_snapshot.model_dump(warnings=False)
    assert same(final["usage"], answer.get("usage"))
    for got, want in zip(final["choices"], answer["choices"], strict=True):
        for key in ("content", "refusal", "reasoning_content", "reasoning"):
            assert got["message"].get(key) == want["message"].get(key)
        calls = [call["function"] for call in got["message"].get("tool_calls") or ()]
        assert same(calls, [call["function"] for call in want["message"].get("tool_calls") or ()])
        assert got["finish_reason"] == want["finish_reason"]
        if (want.get("logprobs") or {}).get("content"):
            assert same(got["logprobs"]["content"], want["logprobs"]["content"])


@settings(max_examples=40, deadline=None)
@given(answer=message_answers)
def test_the_anthropic_client_accumulates_what_any_stored_answer_says(answer):
    events = dialects()[Endpoint.MESSAGES].stream(json.dumps(answer).encode(), {})
    http = httpx2.Client(
        transport=httpx2.MockTransport(
            lambda _: httpx2.Response(200, content=b"".join(events), headers={"content-type": "text/event-stream"})
        )
    )
    with (
        anthropic.Anthropic(api_key="k", base_url="http://test", http_client=http, max_retries=0) as client,
        client.messages.stream(model="m", max_tokens=9, messages=TURNS) as stream,
    ):
        final = stream.get_final_message().model_dump(warnings=False)
    for key in ("id", "content", "stop_reason", "stop_sequence"):
        assert same(final[key], answer[key])
    assert final["usage"]["output_tokens"] == answer["usage"]["output_tokens"]


@settings(max_examples=40, deadline=None)
@given(answer=response_answers)
def test_the_openai_client_follows_the_events_of_any_stored_response(answer):
    with (
        openai_client(Endpoint.RESPONSES, answer) as client,
        client.responses.stream(model="m", input="hi") as stream,
    ):
        final = stream.get_final_response().model_dump(warnings=False)
    assert same(final["output"], answer["output"])
    assert same(final["usage"], answer["usage"])
