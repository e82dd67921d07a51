"""Reading requests: which spellings mean the same, which differences keep answers apart, what a request is like."""

from __future__ import annotations

import json
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.dialects import dialects
from semcache.dialects.body import MOST_TURNS
from semcache.errors import RequestRejected
from semcache.types import Endpoint

CHAT, RESPONSES, MESSAGES = (dialects()[name] for name in (Endpoint.CHAT, Endpoint.RESPONSES, Endpoint.MESSAGES))
COMPLETIONS = dialects()[Endpoint.COMPLETIONS]
IMAGE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}


def read(dialect, **body):
    return dialect.read(json.dumps({"model": "m", **body}).encode())


def chat(*turns, **body):
    return read(CHAT, messages=list(turns), **body)


def user(content):
    return {"role": "user", "content": content}


def text(value, **extra):
    return {"type": "text", "text": value, **extra}


def rejected(call, *args, **kwargs) -> RequestRejected:
    with pytest.raises(RequestRejected) as caught:
        call(*args, **kwargs)
    return caught.value


def test_a_string_and_a_single_text_part_are_the_same_request():
    for dialect in (CHAT, MESSAGES):
        one, other = read(dialect, messages=[user("hi")]), read(dialect, messages=[user([text("hi")])])
        assert (one.identity, one.text) == (other.identity, other.text) == (one.identity, "hi")
    earlier = [user("a"), {"role": "assistant", "content": "b"}, user("c")]
    parts = [user([text("a")]), {"role": "assistant", "content": [text("b")]}, user("c")]
    assert chat(*earlier).identity == chat(*parts).identity


@pytest.mark.parametrize(("dialect", "name"), [(CHAT, "messages"), (RESPONSES, "input"), (MESSAGES, "messages")])
def test_more_turns_than_are_read_in_time_are_refused_by_their_number(dialect, name):
    refused = rejected(read, dialect, **{name: [user("hi")] * (MOST_TURNS + 1)})
    assert (refused.status, refused.param) == (400, name)
    assert str(MOST_TURNS) in refused.message


def test_responses_input_has_one_spelling():
    same = [
        "hi",
        [{"role": "user", "content": "hi"}],
        [{"type": "message", "role": "user", "content": "hi"}],
        [{"role": "user", "content": [{"type": "input_text", "text": "hi"}], "type": "message"}],
    ]
    first, *rest = [read(RESPONSES, input=spelling) for spelling in same]
    assert first.text == "hi"
    for other in rest:
        assert (other.identity, other.text) == (first.identity, first.text)


def test_a_completion_prompt_may_be_a_list_of_one():
    one, other = read(COMPLETIONS, prompt="hi"), read(COMPLETIONS, prompt=["hi"])
    assert (one.identity, one.text) == (other.identity, other.text) == (one.identity, "hi")
    several = read(COMPLETIONS, prompt=["hi", "ho"])
    assert several.text == ""
    assert several.identity["prompt"] == ["hi", "ho"]
    assert read(COMPLETIONS, prompt=[1, 2]).identity != read(COMPLETIONS, prompt=[1, 3]).identity


def test_only_the_last_user_text_is_taken_out():
    request = chat(
        {"role": "system", "content": "be brief"}, user("one"), {"role": "assistant", "content": "1"}, user("two")
    )
    assert request.text == "two"
    assert "one" in json.dumps(request.identity)
    assert request.traits.system == "be brief"
    assert request.traits.turns == 4
    other = chat(
        {"role": "system", "content": "be long"}, user("one"), {"role": "assistant", "content": "1"}, user("two")
    )
    assert other.identity != request.identity


def test_images_and_where_they_stand_stay_in_the_identity():
    before, after = chat(user([IMAGE, text("what?")])), chat(user([text("what?"), IMAGE]))
    other = chat(user([{**IMAGE, "image_url": {"url": "https://example.org/b.png"}}, text("what?")]))
    assert before.text == after.text == other.text == "what?"
    assert before.traits.multimodal
    assert len({json.dumps(r.identity) for r in (before, after, other)}) == 3
    assert chat(user([IMAGE])).text == ""


parts_of_text = st.lists(st.text(alphabet="ab\n", max_size=5), min_size=1, max_size=4)


def split_at_newlines(lines, cuts):
    edges = sorted({0, len(lines), *(cut for cut in cuts if cut < len(lines))})
    return ["\n".join(lines[a:b]) for a, b in pairwise(edges)]


@given(
    st.lists(st.text(alphabet="ab", max_size=2), min_size=1, max_size=5), *[st.lists(st.integers(1, 4), max_size=3)] * 2
)
def test_different_contents_are_never_taken_for_each_other(lines, left_cuts, right_cuts):
    left, right = split_at_newlines(lines, left_cuts), split_at_newlines(lines, right_cuts)
    one, other = chat(user([text(part) for part in left])), chat(user([text(part) for part in right]))
    assert one.text == other.text == "\n".join(lines)
    assert (one.identity == other.identity) == (left == right)


@given(parts_of_text)
def test_the_text_is_the_parts_joined_by_newlines(given_parts):
    assert chat(user([text(part) for part in given_parts])).text == "\n".join(given_parts)


scalars = st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=5) | st.floats(0, 2)
bodies = st.dictionaries(
    st.sampled_from(["temperature_", "seed", "stop", "tool_choice", "verbosity", "x", "logit_bias"]),
    scalars | st.dictionaries(st.text(max_size=3), scalars, max_size=3),
    max_size=5,
)


@given(bodies, st.randoms(use_true_random=False))
def test_the_order_of_fields_means_nothing(body, random):
    items = list({"model": "m", "messages": [user("hi")], **body}.items())
    shuffled = items[:]
    random.shuffle(shuffled)
    one, other = (CHAT.read(json.dumps(dict(order)).encode()) for order in (items, shuffled))
    assert one.identity == other.identity


@given(bodies, bodies)
def test_requests_with_different_fields_have_different_identities(left, right):
    one, other = chat(user("hi"), **left), chat(user("hi"), **right)
    assert (one.identity == other.identity) == (left == right)


@pytest.mark.parametrize(
    "change",
    [
        {"n": 2},
        {"logprobs": True},
        {"tools": [{"type": "function", "function": {"name": "f"}}]},
        {"response_format": {"type": "json_object"}},
        {"reasoning_effort": "high"},
        {"modalities": ["text", "audio"]},
        {"stop": ["\n"]},
        {"max_completion_tokens": 5},
    ],
)
def test_what_changes_the_answer_changes_the_identity(change):
    assert chat(user("hi"), **change).identity != chat(user("hi")).identity


@pytest.mark.parametrize(
    "change",
    [
        {"n": 1},
        {"n": None},
        {"stream_options": {"include_usage": True}},
        {"user": "u"},
        {"safety_identifier": "s"},
        {"metadata": {"a": "b"}},
        {"store": True},
        {"prompt_cache_key": "k"},
        {"prompt_cache_options": {"mode": "implicit"}},
        {"prompt_cache_retention": "24h"},
    ],
)
def test_what_does_not_change_the_answer_does_not_change_the_identity(change):
    assert chat(user("hi"), **change).identity == chat(user("hi")).identity


def test_anthropic_cache_hints_are_forwarded_and_not_compared():
    hint = {"cache_control": {"type": "ephemeral", "ttl": "1h"}}
    tool = {"name": "t", "input_schema": {"type": "object", "properties": {"cache_control": {"type": "string"}}}}
    result = {"type": "tool_result", "tool_use_id": "x", "content": [text("4")]}
    call = {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": "x", "name": "t", "input": {"cache_control": 1}}],
    }
    plain = {"system": "s", "tools": [tool], "messages": [user("q"), call, user([result, text("and?")])]}
    hinted = {
        "system": [text("s", **hint)],
        "tools": [{**tool, **hint}],
        "messages": [
            user([text("q", **hint)]),
            call,
            user([{**result, **hint, "content": [text("4", **hint)]}, text("and?", **hint)]),
        ],
        **hint,
    }
    one, other = read(MESSAGES, **plain), read(MESSAGES, **hinted)
    assert (one.identity, one.text) == (other.identity, other.text)
    assert b"ephemeral" in other.raw
    assert '"cache_control": 1' in json.dumps(other.identity)
    assert '"cache_control": {"type": "string"}' in json.dumps(other.identity)
    assert one.traits.last_role == "tool"
    assert one.traits.system == other.traits.system == "s"


@pytest.mark.parametrize(
    ("last", "role"),
    [
        ({"role": "tool", "tool_call_id": "c", "content": "4"}, "tool"),
        ({"role": "assistant", "content": "so"}, "assistant"),
        ({"role": "developer", "content": "be brief"}, "system"),
        ({"role": "function", "name": "f", "content": "4"}, "tool"),
        ({"role": "visitor", "content": "x"}, ""),
    ],
)
def test_a_request_that_does_not_end_with_the_user_has_no_text(last, role):
    request = chat(user("hi"), last)
    assert request.text == ""
    assert request.traits.last_role == role
    assert request.identity["messages"][-1] == last


def test_a_function_output_ends_a_responses_request_as_a_tool_step():
    request = read(RESPONSES, input=[user("hi"), {"type": "function_call_output", "call_id": "c", "output": "4"}])
    assert request.text == ""
    assert request.traits.last_role == "tool"
    assert not request.traits.stateful


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        (CHAT, {"messages": [user("q")], "web_search_options": {}}),
        (CHAT, {"messages": [user("q")], "tools": [{"type": "web_search"}]}),
        (CHAT, {"messages": [user("q")], "tools": [{"google_search": {}}]}),
        (CHAT, {"messages": [user("q")], "enable_search": True}),
        (CHAT, {"messages": [user("q")], "web_search": {"enable": True}}),
        (CHAT, {"messages": [user("q")], "plugins": [{"id": "web", "max_results": 3}]}),
        (CHAT, {"messages": [user("q")], "search_parameters": {"mode": "auto"}}),
        (CHAT, {"messages": [user("q")], "model": "openai/gpt-4o:online"}),
        (COMPLETIONS, {"prompt": "q", "enable_search": True}),
        (RESPONSES, {"input": "q", "search_parameters": {}}),
        (MESSAGES, {"messages": [user("q")], "plugins": [{"id": "web"}]}),
        (CHAT, {"messages": [user("q"), {"role": "assistant", "audio": {"id": "a"}}, user("q")]}),
        (RESPONSES, {"input": "q", "previous_response_id": "resp_1"}),
        (RESPONSES, {"input": "q", "conversation": "conv_1"}),
        (RESPONSES, {"input": "q", "background": True}),
        (RESPONSES, {"input": "q", "prompt": {"id": "pmpt_1"}}),
        (RESPONSES, {"input": "q", "tools": [{"type": "file_search", "vector_store_ids": ["v"]}]}),
        (RESPONSES, {"input": "q", "tools": [{"type": "mcp", "server_label": "s"}]}),
        (RESPONSES, {"input": "q", "tools": [{"type": "computer_use_preview"}]}),
        (RESPONSES, {"input": [{"type": "item_reference", "id": "msg_1"}, user("q")]}),
        (MESSAGES, {"messages": [user("q")], "tools": [{"type": "web_search_20260318", "name": "web_search"}]}),
        (MESSAGES, {"messages": [user("q")], "tools": [{"type": "code_execution_20260521", "name": "c"}]}),
        (MESSAGES, {"messages": [user("q")], "mcp_servers": [{"url": "https://example.org"}]}),
        (MESSAGES, {"messages": [user("q")], "container": "c_1"}),
        (MESSAGES, {"messages": [user("q")], "thread": {"type": "create"}}),
        (MESSAGES, {"messages": [user("q")], "thread": {"type": "continue", "previous_message_id": "msg_1"}}),
    ],
)
def test_answers_that_depend_on_the_upstreams_state_are_marked(dialect, body):
    assert read(dialect, **body).traits.stateful


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        (CHAT, {"messages": [user("q")], "tools": [{"type": "function", "function": {"name": "f"}}]}),
        (CHAT, {"messages": [user("q")], "tools": [{"function": {"name": "f"}}]}),
        (RESPONSES, {"input": "q", "tools": [{"type": "function", "name": "f"}], "previous_response_id": None}),
        (MESSAGES, {"messages": [user("q")], "tools": [{"name": "f", "input_schema": {}}]}),
        (MESSAGES, {"messages": [user("q")], "tools": [{"type": "bash_20250124", "name": "bash"}]}),
    ],
)
def test_tools_that_the_caller_runs_leave_no_state_upstream(dialect, body):
    traits = read(dialect, **body).traits
    assert traits.tools
    assert not traits.stateful


@pytest.mark.parametrize(
    "fields",
    [
        {"enable_search": False},
        {"web_search": {"enable": False}},
        {"search_parameters": {"mode": "off"}},
        {"plugins": [{"id": "file-parser"}, {"id": "web", "enabled": False}]},
        {"plugins": None, "search_parameters": None},
    ],
)
def test_a_search_that_is_switched_off_leaves_no_state_upstream(fields):
    assert not chat(user("q"), **fields).traits.stateful


def test_responses_says_whether_the_upstream_keeps_the_answer():
    assert read(RESPONSES, input="q").replay == {"store": True}
    assert read(RESPONSES, input="q", store=False).replay == {"store": False}
    assert read(RESPONSES, input="q", store=None, metadata=None).replay == {"store": True}
    assert read(RESPONSES, input="q", store=False).identity == read(RESPONSES, input="q").identity
    assert read(RESPONSES, input="q", instructions="be brief").traits.system == "be brief"


def test_who_asks_is_read_but_not_compared():
    assert chat(user("q"), user="u", safety_identifier="s").user == "s"
    assert chat(user("q"), user="u").user == "u"
    assert read(MESSAGES, messages=[user("q")], metadata={"user_id": "u"}).user == "u"
    assert rejected(chat, user("q"), user=7).param == "user"


@pytest.mark.parametrize(
    ("messages", "param"),
    [
        ([], "messages"),
        (None, "messages"),
        ("hi", "messages"),
        (["hi"], "messages[0]"),
        ([user("a"), {"content": "b"}], "messages[1].role"),
        ([user(7)], "messages[0].content"),
        ([user(["hi"])], "messages[0].content[0]"),
        ([user([{"type": "text"}])], "messages[0].content[0].text"),
    ],
)
def test_a_message_that_cannot_be_read_is_named(messages, param):
    for dialect in (CHAT, MESSAGES):
        assert rejected(read, dialect, messages=messages).param == param


def test_what_is_not_read_is_left_to_the_upstream():
    request = chat(user("q"), stop=7, n="many", response_format="x", logit_bias=[1])
    assert request.identity["n"] == "many"


def test_a_cache_field_that_is_not_ours_is_forwarded():
    request = chat(user("q"), cache="ephemeral")
    assert b"ephemeral" in request.raw
    assert request.identity["cache"] == "ephemeral"


@pytest.mark.parametrize("wish", [False, True, "no-store", " OFF ", [], 0])
def test_a_wish_for_less_caching_that_is_no_object_is_refused(wish):
    with pytest.raises(RequestRejected, match="cache must be an object") as caught:
        chat(user("q"), cache=wish)
    assert (caught.value.status, caught.value.param) == (400, "cache")


SPEAKING = {"role": "assistant", "content": None, "audio": {"id": "a", "data": "UklGRg==", "transcript": "hi"}}
DRAWN = {"type": "image_generation_call", "id": "ig", "status": "completed", "result": "iVBORw0KGgo="}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "t", "content": []}


@pytest.mark.parametrize(
    ("dialect", "silent", "wordless"),
    [
        (CHAT, {"choices": [{"index": 0, "message": SPEAKING, "finish_reason": "stop"}]}, True),
        (
            CHAT,
            {"choices": [{"index": 0, "message": {"role": "assistant", "content": ""}, "finish_reason": "stop"}]},
            False,
        ),
        (RESPONSES, {"object": "response", "status": "completed", "output": [DRAWN]}, True),
        (RESPONSES, {"object": "response", "status": "completed", "output": []}, False),
        (MESSAGES, {"type": "message", "content": [FOUND], "stop_reason": "end_turn", "usage": {}}, True),
        (MESSAGES, {"type": "message", "content": [], "stop_reason": "end_turn", "usage": {}}, False),
    ],
)
def test_an_answer_without_words_may_say_something_all_the_same(dialect, silent, wordless):
    answer = dialect.parse(json.dumps(silent).encode())
    assert (answer.complete, answer.text, answer.wordless) == (True, "", wordless)


def test_the_last_chunk_of_a_stream_has_null_where_nothing_is_left_of_the_log_probabilities():
    logprobs = {"content": [{"token": "Hi", "logprob": -0.5, "bytes": [72, 105], "top_logprobs": []}], "refusal": None}
    message = {"role": "assistant", "content": "Hi", "refusal": None}
    choice = {"index": 0, "message": message, "logprobs": logprobs, "finish_reason": "stop"}
    body = msgspec.json.encode(
        {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    )
    events = [
        part[6:] for part in b"".join(dialects()[Endpoint.CHAT].stream(body, {})).split(b"\n\n") if b"choices" in part
    ]
    found = [msgspec.json.decode(event)["choices"][0] for event in events]
    assert [one["logprobs"] for one in found if one["finish_reason"]] == [None]
    assert sum(len(one["logprobs"]["content"]) for one in found if one["logprobs"]) == 1
