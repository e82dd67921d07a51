"""Blocks of prompts: which prompts share a beginning, and that nothing a client sends makes reading it fail."""

from __future__ import annotations

import json
from itertools import takewhile

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from semcache.upstream.routing.prompts import BYTES, BYTES_PER_TOKEN, CHUNK_BYTES, read

PATH = "/v1/chat/completions"
SYSTEM = {"role": "system", "content": "You answer questions about the manual. " * 60}


def keys(turns: list[object], **more: object) -> list[bytes]:
    salt = str(more.pop("salt", "s"))
    body = json.dumps({"model": "m", "messages": turns, **more}).encode()
    return list(read(PATH, [], body, salt=salt).chain(BYTES).keys)


def shared(first: list[bytes], second: list[bytes]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))


def test_a_conversation_that_goes_on_shares_all_of_its_beginning() -> None:
    turns: list[object] = [SYSTEM, {"role": "user", "content": "How do I start it? " * 40}]
    before = keys(turns)
    after = keys([*turns, {"role": "assistant", "content": "Press the button."}, {"role": "user", "content": "And?"}])
    assert shared(before, after) == len(before) > 5


def test_another_tenant_model_or_tool_shares_nothing() -> None:
    turns: list[object] = [SYSTEM]
    plain = keys(turns)
    assert shared(plain, keys(turns, salt="other")) == 0
    assert shared(plain, keys(turns, model="other")) == 0
    # Tools stand before the messages in every chat template.
    assert shared(plain, keys(turns, tools=[{"type": "function", "function": {"name": "f"}}])) == 0
    assert shared(plain, keys(turns, temperature=0.5, stream=True)) == len(plain)


def test_the_order_of_the_body_is_not_the_order_of_the_prompt() -> None:
    tools, turns = [{"type": "function", "function": {"name": "f" * 600}}], [SYSTEM]
    first = read(PATH, [], json.dumps({"model": "m", "messages": turns, "tools": tools}).encode())
    second = read(PATH, [], json.dumps({"tools": tools, "messages": turns, "model": "m"}).encode())
    assert first.chain(BYTES).keys == second.chain(BYTES).keys


def test_a_text_that_goes_on_shares_its_beginning() -> None:
    def prompt(text: str) -> list[bytes]:
        return list(read("/v1/completions", [], json.dumps({"prompt": text}).encode()).chain(BYTES).keys)

    assert shared(prompt("a" * CHUNK_BYTES * 3), prompt("a" * CHUNK_BYTES * 3 + "b")) == 3


@given(st.lists(st.integers(0, 3), max_size=40), st.lists(st.integers(0, 3), max_size=40), st.integers(1, 8))
def test_token_blocks_are_shared_exactly_as_far_as_the_tokens_are(
    first: list[int], second: list[int], unit: int
) -> None:
    one, two = (read(PATH, [], b'{"prompt": ""}') for _ in range(2))
    one.ids, two.ids = first, second
    common = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False)))
    assert shared(list(one.chain(unit).keys), list(two.chain(unit).keys)) == common // unit


names = st.sampled_from(["messages", "prompt", "tools", "session_id", "model", "input", "stream"])
values = st.recursive(
    st.none() | st.text(max_size=8) | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(names, inner),
    max_leaves=12,
)


@given(st.binary(max_size=400) | st.dictionaries(names, values).map(msgspec.json.encode))
def test_no_body_makes_reading_fail(body: bytes) -> None:
    prompt = read(PATH, [("X-Session-Id", "s")], body)
    prompt.chain(BYTES)
    assert prompt.tokens() <= len(body) // BYTES_PER_TOKEN
    assert prompt.session == "s"
    assert isinstance(prompt.model, str)


def test_bytes_that_are_no_text_inside_a_field_are_survived() -> None:
    prompt = read(PATH, [], b'{"model": "\xff\xfe", "session_id": "\\ud800", "messages": [{"content": "\xff"}]}')
    assert (prompt.model, prompt.session) == ("", "")
    assert prompt.chain(BYTES).keys == []


def test_a_session_is_found_in_headers_before_the_body() -> None:
    body = b'{"session_id": "b", "conversation": {"id": "c"}}'
    assert read(PATH, [("x-session-id", "h")], body).session == "h"
    assert read(PATH, [], body).session == "b"
    assert read(PATH, [], b'{"conversation": {"id": "c"}}').session == "c"
    assert read(PATH, [], b"{}").session == ""


def test_the_name_of_a_session_takes_little_room_however_long_it_is() -> None:
    """It is remembered for as long as the session may go on, among a hundred thousand others."""
    names = ["s" * 255, "s" * 1_000_000, "s" * 1_000_000 + "t"]
    for field in ("prompt_cache_key", "session_id"):
        bodies = [json.dumps({"messages": [], field: name}).encode() for name in names]
        found = [read("/v1/chat/completions", [], body).session for body in bodies]
        assert found[0] == names[0]
        assert len(set(found)) == 3
        assert max(map(len, found)) <= 256
        assert read("/v1/chat/completions", [], bodies[1]).session == found[1]
