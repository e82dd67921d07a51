"""What the lines of other programs' logs say."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from semcache.cli.log_formats import FORMATS, BrokenLine, LogContext, NotCacheable, detect, read
from semcache.types import Endpoint, Scope

NOTHING = LogContext({})
ASKED = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is a monad?"}]
SAID = "A monoid in the category of endofunctors."
COMPLETION = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1700000000,
    "model": "gpt-4o-2024-08-06",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": SAID}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 12, "completion_tokens": 9, "total_tokens": 21},
}
BATCH_INPUT = {
    "custom_id": "r1",
    "method": "POST",
    "url": "/v1/chat/completions",
    "body": {"model": "gpt-4o", "messages": ASKED, "temperature": 0},
}
BATCH_OUTPUT = {
    "id": "batch_req_1",
    "custom_id": "r1",
    "response": {"status_code": 200, "body": COMPLETION},
    "error": None,
}
LITELLM = {
    "id": "chatcmpl-1",
    "call_type": "acompletion",
    "status": "success",
    "model": "azure/gpt-4o-eu",
    "model_group": "gpt-4o",
    "model_parameters": {"temperature": 0},
    "messages": ASKED,
    "response": COMPLETION,
    "startTime": 1700000000.0,
    "endTime": 1700000002.5,
}
SPEND_LOG = {
    "request_id": "chatcmpl-1",
    "call_type": "acompletion",
    "model": "gpt-4o",
    "messages": json.dumps(ASKED),
    "response": json.dumps(COMPLETION),
    "startTime": "2023-11-14T22:13:20+00:00",
}
LANGFUSE = {
    "type": "GENERATION",
    "startTime": "2023-11-14T22:13:20.000Z",
    "model": "gpt-4o",
    "modelParameters": {"temperature": "0"},
    "input": ASKED,
    "output": {"role": "assistant", "content": SAID},
}


@pytest.mark.parametrize(
    ("row", "form", "reading"),
    [
        (BATCH_OUTPUT, "openai-batch", LogContext({"r1": BATCH_INPUT})),
        (
            {"request": {"model": "gpt-4o", "messages": ASKED, "temperature": 0}, "response": COMPLETION},
            "openai-jsonl",
            NOTHING,
        ),
        ({"model": "gpt-4o", "messages": ASKED, "temperature": 0, "response": SAID}, "openai-jsonl", NOTHING),
        ({"messages": ASKED, "temperature": 0, "response": SAID}, "openai-jsonl", LogContext({}, "gpt-4o")),
        (
            {"model": "gpt-4o", "temperature": 0, "messages": [*ASKED, {"role": "assistant", "content": SAID}]},
            "openai-jsonl",
            NOTHING,
        ),
        (LITELLM, "litellm", NOTHING),
        ({**SPEND_LOG, "model_parameters": {"temperature": 0}}, "litellm", NOTHING),
        (
            {**SPEND_LOG, "messages": "{}", "proxy_server_request": json.dumps({**BATCH_INPUT["body"]})},  # type: ignore[dict-item]
            "litellm",
            NOTHING,
        ),
        (LANGFUSE, "langfuse", NOTHING),
        ({**LANGFUSE, "input": json.dumps({"messages": ASKED}), "output": SAID}, "langfuse", NOTHING),
        ({**LANGFUSE, "output": json.dumps(COMPLETION)}, "langfuse", NOTHING),
    ],
)
def test_every_format_gives_the_request_that_a_client_would_have_sent(
    row: dict[str, Any], form: str, reading: LogContext
) -> None:
    assert detect(row) == form
    logged = read(row, form, reading)
    assert logged.request.endpoint is Endpoint.CHAT
    assert logged.request.model == "gpt-4o"
    assert logged.request.text == "What is a monad?"
    assert logged.request.traits.system == "Be brief."
    assert logged.request.traits.temperature == 0
    assert logged.answer.complete
    assert logged.answer.text == SAID


def test_the_same_request_is_the_same_whichever_log_it_comes_from() -> None:
    body = {"model": "gpt-4o", "messages": ASKED, "temperature": 0}
    logs = [
        read(BATCH_OUTPUT, "openai-batch", LogContext({"r1": BATCH_INPUT})),
        read({**body, "response": SAID, "id": 7, "latency": 0.4}, "openai-jsonl", NOTHING),
        read(LITELLM, "litellm", NOTHING),
        read(LANGFUSE, "langfuse", NOTHING),
    ]
    assert all(logged.request.identity == logs[0].request.identity for logged in logs)


def test_times_are_the_logs_own_and_never_the_completions() -> None:
    assert read(LITELLM, "litellm", NOTHING).at == 1700000002.5
    assert read(SPEND_LOG, "litellm", NOTHING).at == 1700000000
    assert read(LANGFUSE, "langfuse", NOTHING).at == 1700000000
    assert read({**LANGFUSE, "startTime": 1700000000000}, "langfuse", NOTHING).at == 1700000000
    assert read({"messages": ASKED, "response": COMPLETION}, "openai-jsonl", NOTHING).at is None


@pytest.mark.parametrize(
    ("row", "form"),
    [
        ({"messages": ASKED, "response": COMPLETION, "timestamp": 0, "time": 1700000000}, "openai-jsonl"),
        ({"messages": ASKED, "response": COMPLETION, "timestamp": "", "time": 0}, "openai-jsonl"),
        ({**LITELLM, "endTime": 0}, "litellm"),
        ({**LANGFUSE, "endTime": 0.0}, "langfuse"),
    ],
)
def test_second_zero_is_a_time_and_an_empty_field_is_none(row: dict[str, Any], form: str) -> None:
    assert read(row, form, NOTHING).at == 0.0
    with pytest.raises(BrokenLine, match="yesterday"):
        read({**LANGFUSE, "startTime": "yesterday"}, "langfuse", NOTHING)


def test_other_endpoints_keep_their_dialect() -> None:
    answer = {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "model": "gpt-4o",
        "output": [
            {
                "type": "message",
                "id": "m",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": SAID, "annotations": []}],
            }
        ],
    }
    row = {"request": {"model": "gpt-4o", "input": "What is a monad?"}, "response": answer}
    logged = read(row, "openai-jsonl", NOTHING)
    assert logged.request.endpoint is Endpoint.RESPONSES
    assert (logged.answer.complete, logged.answer.text) == (True, SAID)
    embeddings = {"r1": {**BATCH_INPUT, "url": "/v1/embeddings"}}
    with pytest.raises(NotCacheable, match="/v1/embeddings"):
        read(BATCH_OUTPUT, "openai-batch", LogContext(embeddings))


def test_an_answer_that_is_json_or_a_number_stays_what_was_said() -> None:
    for said in ('{"answer": 42}', "42", '["a"]'):
        assert read({**LANGFUSE, "output": said}, "langfuse", NOTHING).answer.text == said


def test_tool_calls_survive() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    assert read({**LANGFUSE, "output": message}, "langfuse", NOTHING).answer.tool_calls


@pytest.mark.parametrize(
    ("row", "form", "reason"),
    [
        ({"messages": ASKED}, "openai-jsonl", "no response"),
        ({"messages": "hello", "response": SAID}, "openai-jsonl", "messages must be an array"),
        ({"response": SAID, "request": {"model": 1, "messages": ASKED}}, "openai-jsonl", "model"),
        (BATCH_OUTPUT, "openai-batch", "--requests"),
        (BATCH_INPUT, "openai-batch", "--requests"),
        ({**LITELLM, "messages": "{}"}, "litellm", "no messages"),
        ({**LITELLM, "response": "{}"}, "litellm", "no response"),
        ({**LANGFUSE, "input": None}, "langfuse", "input"),
        ({"model": "gpt-4o", "output": SAID}, "langfuse", "input is missing"),
        ({"semcache": 2}, "semcache", "newer"),
        ({"semcache": 1, "text": 5}, "semcache", "Expected `str`|missing"),
    ],
)
def test_a_broken_line_says_what_is_wrong(row: dict[str, Any], form: str, reason: str) -> None:
    with pytest.raises(BrokenLine, match=reason):
        read(row, form, NOTHING)


@pytest.mark.parametrize(
    ("row", "form"),
    [
        ({**LITELLM, "status": "failure"}, "litellm"),
        ({**LITELLM, "call_type": "aembedding"}, "litellm"),
        ({**LANGFUSE, "level": "ERROR"}, "langfuse"),
        ({**BATCH_OUTPUT, "error": {"code": "batch_expired"}}, "openai-batch"),
        ({**BATCH_OUTPUT, "response": {"status_code": 429, "body": {}}}, "openai-batch"),
    ],
)
def test_failed_calls_are_no_answers(row: dict[str, Any], form: str) -> None:
    with pytest.raises(NotCacheable):
        read(row, form, LogContext({"r1": BATCH_INPUT}))


def test_a_text_that_is_nested_too_deeply_breaks_its_line_and_no_import() -> None:
    deep = "[" * 100_000 + "]" * 100_000
    with pytest.raises(BrokenLine, match="no JSON"):
        read({**LANGFUSE, "input": deep}, "langfuse", NOTHING)


def test_a_line_of_no_known_format_names_its_fields() -> None:
    with pytest.raises(BrokenLine, match="level, msg"):
        detect({"msg": "started", "level": "info"})


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
WHOLE: dict[str, dict[str, Any]] = {
    "openai-batch": BATCH_OUTPUT,
    "openai-jsonl": {"request": BATCH_INPUT["body"], "response": COMPLETION, "timestamp": 1},
    "litellm": {**LITELLM, "proxy_server_request": None},
    "langfuse": LANGFUSE,
    "semcache": {
        "semcache": 1, "id": "0" * 16, "endpoint": "chat", "model": "m", "tenant": "t", "user": None, "category": "c",
        "identity": {"messages": []}, "text": "t", "answer": COMPLETION, "created": 1.0, "expires": 2.0, "tags": [],
    },
}  # fmt: skip


@settings(suppress_health_check=[HealthCheck.too_slow])  # a busy machine is no defect
@given(form=st.sampled_from(sorted(FORMATS)), damage=st.data())
def test_a_damaged_line_is_broken_or_useless_and_nothing_else(form: str, damage: st.DataObject) -> None:
    row = dict(WHOLE[form])
    for field in damage.draw(st.lists(st.sampled_from(sorted(row)), max_size=3)):
        row[field] = damage.draw(JSON)
    try:
        read(row, form, LogContext({"r1": BATCH_INPUT}))
    except (BrokenLine, NotCacheable):
        return


def test_the_user_beside_a_nested_request_is_whose_answer_it_is() -> None:
    row = {"request": {"model": "m", "messages": ASKED}, "response": "A box.", "user": "ann"}
    assert read(row, "openai-jsonl", LogContext({})).scope == Scope("default", "ann", "")


def test_a_line_of_a_prompt_and_its_answer_says_when_it_was_and_whose() -> None:
    row = {"prompt": "q", "answer": "a", "at": 1500000000, "tenant": "acme", "user": "ann", "model": "m", "topic": "x"}
    logged = read({**row, "temperature": 0.9, "category": "support"}, "openai-jsonl", NOTHING)
    assert (logged.at, logged.category) == (1500000000, "support")
    assert logged.scope == Scope("acme", "ann", "")
    assert logged.request.traits.temperature == 0.9
    assert "topic" not in logged.request.identity
    turns = read({"messages": ASKED, "response": SAID, "tenant": "acme", "latency_ms": 5}, "openai-jsonl", NOTHING)
    assert turns.scope == Scope("acme", None, "")
    assert (
        turns.request.identity == read({"messages": ASKED, "response": SAID}, "openai-jsonl", NOTHING).request.identity
    )
    assert read({"prompt": "q", "answer": "a"}, "openai-jsonl", NOTHING).scope is None
    assert read({"prompt": "q", "answer": "a", "tenant": 5}, "openai-jsonl", NOTHING).scope == Scope("5", None, "")
    for wrong in ({"at": "nope"}, {"at": 1e308}, {"tenant": 5.5}, {"tenant": True}, {"tenant": "a\nb"}):
        with pytest.raises(BrokenLine):
            read({"prompt": "q", "answer": "a", **wrong}, "openai-jsonl", NOTHING)


def test_an_answer_that_was_text_alone_is_a_completion_that_clients_can_read() -> None:
    one, same, other = (
        msgspec.json.decode(read({"prompt": "q", "answer": text}, "openai-jsonl", NOTHING).answer.body)
        for text in ("a", "a", "b")
    )
    assert one["id"].startswith("chatcmpl-")
    assert (one["id"] == same["id"], one["id"] == other["id"]) == (True, False)
    assert (one["created"], one["usage"]["total_tokens"]) == (0, 0)
