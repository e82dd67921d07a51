"""Replaying stored answers as streams, and what is stored of odd streams."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.dialects import dialects, sse
from semcache.errors import IntegrityError
from semcache.types import Endpoint, Usage
from tests.dialects.answers import chat_answers, completion_answers, message_answers, response_answers

CHAT, RESPONSES, MESSAGES = (dialects()[name] for name in (Endpoint.CHAT, Endpoint.RESPONSES, Endpoint.MESSAGES))
COMPLETIONS = dialects()[Endpoint.COMPLETIONS]
LONG = "The quick brown fox jumps over the lazy dog. " * 40


def replayed(dialect, answer, *, include_usage=True, cut=None):
    stream = b"".join(dialect.stream(json.dumps(answer).encode(), {"include_usage": include_usage}))
    assembler = dialect.assembler()
    for at in range(0, len(stream), cut or len(stream)):
        assembler.feed(stream[at : at + (cut or len(stream))])
    return assembler.finish()


def events(dialect, answer, **replay):
    found = sse.EventReader().feed(b"".join(dialect.stream(json.dumps(answer).encode(), replay)))
    return [json.loads(event.data) for event in found if event.data != b"[DONE]"]


def chunk(*choices, **top):
    body = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": list(choices), **top}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def assembled(dialect, *chunks):
    assembler = dialect.assembler()
    for piece in chunks:
        assembler.feed(piece)
    return assembler.finish()


def delta(finish_reason=None, index=0, **fields):
    return {"index": index, "delta": fields, "finish_reason": finish_reason}


@pytest.mark.hypothesis
@pytest.mark.parametrize(
    ("dialect", "answers"),
    [
        (CHAT, chat_answers()),
        (COMPLETIONS, completion_answers()),
        (RESPONSES, response_answers),
        (MESSAGES, message_answers),
    ],
    ids=["chat", "completions", "responses", "messages"],
)
def test_assembling_a_replayed_stream_gives_the_stored_answer(dialect, answers):
    @settings(max_examples=120, deadline=None)
    @given(answer=answers, cut=st.none() | st.integers(1, 50))
    def check(answer, cut):
        got = replayed(dialect, answer, cut=cut)
        assert json.loads(got.body) == answer
        assert got.complete
        whole = dialect.parse(json.dumps(answer).encode())
        assert (got.text, got.refusal, got.tool_calls, got.usage) == (
            whole.text,
            whole.refusal,
            whole.tool_calls,
            whole.usage,
        )

    check()


def chat_answer(**message):
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"index": 0, "message": {"role": "assistant", "content": None, **message}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
    }


def test_a_long_answer_is_seen_to_stream_and_in_few_events():
    contents = [
        c["delta"]["content"]
        for e in events(CHAT, chat_answer(content=LONG))
        for c in e["choices"]
        if c["delta"].get("content")
    ]
    assert "".join(contents) == LONG
    assert 8 <= len(contents) <= 20
    typed = [e for e in events(RESPONSES, response(text=LONG)) if e["type"] == "response.output_text.delta"]
    assert 8 <= len(typed) <= 20


def test_usage_comes_in_a_chunk_of_its_own_and_only_when_asked_for():
    *chunks, last = events(CHAT, chat_answer(content="hi"), include_usage=True)
    assert last["choices"] == []
    assert last["usage"]["total_tokens"] == 7
    assert all(chunk["usage"] is None and chunk["choices"] for chunk in chunks)
    assert all("usage" not in chunk for chunk in events(CHAT, chat_answer(content="hi")))


def test_an_answer_captured_without_usage_is_replayed_without():
    answer = chat_answer(content="hi")
    del answer["usage"]
    assert all(chunk["usage"] is None for chunk in events(CHAT, answer, include_usage=True))


def test_reasoning_is_replayed_before_the_answer_it_led_to():
    answer = chat_answer(content="42", reasoning_content="6 times 7")
    keys = [key for event in events(CHAT, answer) for key, value in event["choices"][0]["delta"].items() if value]
    assert keys == ["role", "reasoning_content", "content"]


def test_log_probabilities_travel_with_their_tokens():
    tokens = [{"token": word + " ", "logprob": -1.0} for word in LONG.split()]
    answer = chat_answer(content="".join(token["token"] for token in tokens))
    answer["choices"][0]["logprobs"] = {"content": tokens, "refusal": None}
    seen = 0
    for event in events(CHAT, answer):
        choice = event["choices"][0]
        if choice["delta"].get("content"):
            part = choice["logprobs"]["content"]
            assert "".join(token["token"] for token in part) == choice["delta"]["content"]
            seen += len(part)
    assert seen == len(tokens)


def response(text="hi", **changes):
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": [], "logprobs": []}],
    }
    return {"id": "resp_1", "object": "response", "status": "completed", "output": [message], "usage": None, **changes}


def test_responses_events_are_named_numbered_and_in_order():
    raw = RESPONSES.stream(json.dumps(response()).encode(), {})
    names = [event.name for event in sse.EventReader().feed(b"".join(raw))]
    assert names == [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ]
    payloads = events(RESPONSES, response())
    assert [payload["type"] for payload in payloads] == names
    assert [payload["sequence_number"] for payload in payloads] == list(range(len(names)))
    assert payloads[0]["response"]["output"] == []
    assert payloads[0]["response"]["status"] == "in_progress"


@pytest.mark.parametrize("reason", ["length", None, "error"])
def test_a_cut_off_answer_is_not_complete(reason):
    answer = chat_answer(content="half an ans")
    answer["choices"][0]["finish_reason"] = reason
    assert not CHAT.parse(json.dumps(answer).encode()).complete
    assert not replayed(CHAT, answer).complete


@pytest.mark.parametrize("reason", ["max_tokens", "pause_turn", "model_context_window_exceeded", None])
def test_a_cut_off_message_is_not_complete(reason):
    answer = message(stop_reason=reason)
    assert not MESSAGES.parse(json.dumps(answer).encode()).complete
    assert not replayed(MESSAGES, answer).complete


def message(**changes):
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [{"type": "text", "text": "hi"}],
        "stop_reason": "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 3, "cache_read_input_tokens": 4, "output_tokens": 5},
        **changes,
    }


@pytest.mark.parametrize("status", ["incomplete", "failed", "in_progress", "queued", "cancelled", None])
def test_a_response_that_did_not_complete_is_not_complete(status):
    answer = response(status=status)
    assert not RESPONSES.parse(json.dumps(answer).encode()).complete
    assert not replayed(RESPONSES, answer).complete


def test_refusals_are_marked():
    filtered = chat_answer(content="")
    filtered["choices"][0]["finish_reason"] = "content_filter"
    assert CHAT.parse(json.dumps(filtered).encode()).refusal
    assert replayed(CHAT, chat_answer(refusal="I can't.")).refusal
    assert replayed(MESSAGES, message(stop_reason="refusal")).refusal
    refused = response()
    refused["output"][0]["content"] = [{"type": "refusal", "refusal": "no"}]
    assert replayed(RESPONSES, refused).refusal
    assert not replayed(RESPONSES, response()).refusal


@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        (
            MESSAGES,
            message(
                content=[
                    {"type": "thinking", "thinking": "Capital?", "signature": "s"},
                    {"type": "text", "text": "Paris"},
                    {"type": "text", "text": "."},
                    {"type": "search_result", "text": "Paris is a city."},
                ]
            ),
        ),
        (
            RESPONSES,
            response(
                output=[
                    {"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": "Capital?"}]},
                    {**response("Paris")["output"][0], "id": "msg_1"},
                    {**response(".")["output"][0], "id": "msg_2"},
                ]
            ),
        ),
    ],
    ids=["messages", "responses"],
)
def test_judges_are_shown_what_an_answer_says_and_neither_thoughts_nor_sources(dialect, answer):
    assert dialect.parse(json.dumps(answer).encode()).text == "Paris."


def test_all_input_tokens_of_a_message_are_counted():
    assert MESSAGES.parse(json.dumps(message()).encode()).usage == Usage(7, 5, cached_tokens=4)


def test_a_stream_without_a_terminal_event_is_not_complete():
    answer = assembled(CHAT, chunk(delta(role="assistant", content="hi")), chunk(delta("stop")))
    assert answer.text == "hi"
    assert not answer.complete


def test_one_unfinished_choice_makes_the_answer_incomplete():
    finished = [chunk(delta(content="a")), chunk(delta(content="b", index=1)), chunk(delta("stop"))]
    assert not assembled(CHAT, *finished, b"data: [DONE]\n\n").complete
    assert assembled(CHAT, *finished, chunk(delta("stop", index=1)), b"data: [DONE]\n\n").complete


def test_tool_calls_without_an_index_are_told_apart_by_their_ids():
    calls = [
        [{"id": "a", "type": "function", "function": {"name": "f", "arguments": "{"}}],
        [{"function": {"arguments": "}"}}],
        [{"id": "b", "type": "function", "function": {"name": "g", "arguments": "{}"}}],
    ]
    chunks = [chunk(delta(tool_calls=call)) for call in calls]
    answer = assembled(CHAT, *chunks, chunk(delta("tool_calls")), b"data: [DONE]\n\n")
    got = json.loads(answer.body)["choices"][0]["message"]["tool_calls"]
    assert [(call["id"], call["function"]["arguments"]) for call in got] == [("a", "{}"), ("b", "{}")]
    assert answer.tool_calls


@pytest.mark.parametrize("again", ["b", None])
def test_parallel_tool_calls_under_one_index_stay_apart(again):
    """So Gemini sends them."""
    calls = [
        {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": '{"x": 1}'}},
        {"index": 0, "id": "b", "type": "function", "function": {"name": "f", "arguments": '{"x":'}},
        {"index": 0, "id": again, "function": {"arguments": " 2}"}},
        {"index": 1, "id": "c", "type": "function", "function": {"name": "g", "arguments": "{}"}},
    ]
    chunks = [chunk(delta(tool_calls=[call])) for call in calls]
    answer = assembled(CHAT, *chunks, chunk(delta("tool_calls")), b"data: [DONE]\n\n")
    got = json.loads(answer.body)["choices"][0]["message"]["tool_calls"]
    assert [(call["id"], call["function"]["name"], call["function"]["arguments"]) for call in got] == [
        ("a", "f", '{"x": 1}'),
        ("b", "f", '{"x": 2}'),
        ("c", "g", "{}"),
    ]


def test_a_new_id_for_every_piece_of_a_tool_call_begins_no_other():
    named = {"index": 0, "id": "a", "type": "function", "function": {"name": "f", "arguments": "{"}}
    rest = {"index": 0, "id": "b", "function": {"arguments": "}"}}
    chunks = [chunk(delta(tool_calls=[call])) for call in (named, rest)]
    answer = assembled(CHAT, *chunks, chunk(delta("tool_calls")), b"data: [DONE]\n\n")
    [call] = json.loads(answer.body)["choices"][0]["message"]["tool_calls"]
    assert call["function"] == {"name": "f", "arguments": "{}"}


def test_a_text_with_parts_in_its_middle_is_kept_whole():
    """Mistral's references come as parts among strings."""
    reference = {"type": "reference", "reference_ids": [1]}
    said = ["", "Paris", " is ", [reference], "big", "", "."]
    chunks = [chunk(delta(content=one)) for one in said]
    answer = assembled(CHAT, *chunks, chunk(delta("stop", content="")), b"data: [DONE]\n\n")
    assert json.loads(answer.body)["choices"][0]["message"]["content"] == [
        {"type": "text", "text": "Paris is "},
        reference,
        {"type": "text", "text": "big."},
    ]
    assert (answer.text, answer.complete) == ("Paris is big.", True)


def test_thoughts_that_come_as_parts_are_kept_before_the_text():
    """So Mistral's reasoning models stream them."""
    thoughts = [[{"type": "thinking", "thinking": [{"type": "text", "text": one}]}] for one in ("6 times", " 7")]
    chunks = [chunk(delta(content=one)) for one in ("", *thoughts, "4", "2")]
    answer = assembled(CHAT, *chunks, chunk(delta("stop")), b"data: [DONE]\n\n")
    message = json.loads(answer.body)["choices"][0]["message"]
    assert message["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "6 times 7"}]},
        {"type": "text", "text": "42"},
    ]
    assert answer.text == "42"
    assert json.loads(replayed(CHAT, json.loads(answer.body)).body) == json.loads(answer.body)


def test_a_sound_is_kept_to_its_end():
    """Every piece of it is base64 of its own, with padding."""
    said = [b"abcd", b"", b"efghi", b"jklmno", b"p"]
    pieces = [{"id": "audio_1", "transcript": "Hi"}, *({"data": b64encode(one).decode()} for one in said)]
    chunks = [chunk(delta(audio=one)) for one in (*pieces, {"expires_at": 5})]
    answer = assembled(CHAT, *chunks, chunk(delta("stop")), b"data: [DONE]\n\n")
    audio = json.loads(answer.body)["choices"][0]["message"]["audio"]
    assert b64decode(audio["data"], validate=True) == b"abcdefghijklmnop"
    assert (audio["id"], audio["transcript"], audio["expires_at"]) == ("audio_1", "Hi", 5)


def test_token_ids_of_every_chunk_are_kept():
    """So vLLM sends them where `return_token_ids` asks for them."""
    chunks = [chunk({**delta(content=text), "token_ids": ids}) for text, ids in (("a", [1, 2]), ("b", [3]))]
    answer = assembled(CHAT, *chunks, chunk({**delta("stop"), "token_ids": None}), b"data: [DONE]\n\n")
    assert json.loads(answer.body)["choices"][0]["token_ids"] == [1, 2, 3]
    assert json.loads(replayed(CHAT, json.loads(answer.body)).body)["choices"][0]["token_ids"] == [1, 2, 3]
    told = [
        {"index": 0, "text": text, "token_ids": [ids], "finish_reason": end}
        for text, ids, end in (("a", 1, None), ("b", 2, "stop"))
    ]
    answer = assembled(COMPLETIONS, *map(chunk, told), b"data: [DONE]\n\n")
    assert json.loads(answer.body)["choices"][0]["token_ids"] == [1, 2]


def test_empty_fields_of_a_filter_event_never_replace_what_was_said():
    first = chunk(id="", model="", object="", prompt_filter_results=[{"prompt_index": 0}])
    last = chunk(delta(), id="", model="", object="", system_fingerprint=None)
    said = chunk(delta("stop", content="hi"), system_fingerprint="fp")
    body = json.loads(assembled(CHAT, first, said, last, b"data: [DONE]\n\n").body)
    assert body["system_fingerprint"] == "fp"
    assert (body["id"], body["model"], body["object"]) == ("c", "m", "chat.completion")
    assert body["prompt_filter_results"] == [{"prompt_index": 0}]


def test_a_tools_input_keeps_the_bytes_it_came_in():
    start = {"type": "message_start", "message": message(content=[], stop_reason=None)}
    block = {
        "type": "content_block_start",
        "index": 0,
        "content_block": {"type": "tool_use", "id": "t", "name": "f", "input": {}},
    }
    parts = ['{"amount": 1.', '50, "id": 123456789012345678901}']
    ends = [
        {
            "type": "message_delta",
            "delta": {"stop_reason": "tool_use"},
            "usage": {"output_tokens": 9, "input_tokens": None},
        },
        {"type": "message_stop"},
    ]
    deltas = [
        {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": part}}
        for part in parts
    ]
    stream = [sse.event(json.dumps(e).encode(), e["type"]) for e in (start, block, *deltas, *ends)]
    answer = assembled(MESSAGES, *stream)
    assert "".join(parts).encode() in answer.body
    assert answer.complete
    assert answer.tool_calls
    assert answer.usage == Usage(7, 9, cached_tokens=4)
    cut = [*stream[:3], *stream[4:]]
    assert not assembled(MESSAGES, *cut).complete


def test_a_completed_response_without_output_is_filled_from_its_items():
    item = response()["output"][0]
    done = {"type": "response.output_item.done", "output_index": 0, "item": item}
    completed = {"type": "response.completed", "response": response(output=None)}
    answer = assembled(RESPONSES, *(sse.event(json.dumps(e).encode(), e["type"]) for e in (done, completed)))
    assert answer.complete
    assert answer.text == "hi"


@pytest.mark.parametrize("dialect", [CHAT, COMPLETIONS, RESPONSES, MESSAGES], ids=lambda d: d.endpoint.value)
@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"{}", b'{"choices": [1]}', b'{"choices": []}'])
def test_a_damaged_stored_answer_is_an_integrity_error(dialect, body):
    with pytest.raises(IntegrityError, match="purge"):
        dialect.stream(body, {})
