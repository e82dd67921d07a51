"""Byte-stable prompts."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.upstream.routing.prompt_assembly import Assembly, assembled
from semcache.upstream.routing.prompts import BYTES, Fields, read

CHAT = "/v1/chat/completions"
MANUAL = "Answer from the manual.\n" + "Press the red button to start the machine.\n" * 60


def fields(body: Any) -> Fields:
    return read(CHAT, [], json.dumps(body).encode()).fields


def rewritten(body: Any, assembly: Assembly) -> Any:
    return json.loads(msgspec.json.encode(assembled(fields(body), assembly)))


def tool(name: str, **more: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name, **more}}


def asked(system: str, question: str = "How?") -> dict[str, Any]:
    return {
        "model": "m",
        "messages": [{"role": "system", "content": system}, {"role": "user", "content": question}],
    }


def test_off_changes_nothing() -> None:
    given_ = fields(asked(MANUAL) | {"tools": [tool("b"), tool("a")]})
    assert assembled(given_, "off") is given_


def test_tools_come_in_one_order_with_one_order_of_keys() -> None:
    one = [tool("b", description="B", parameters={"type": "object", "properties": {}}), tool("a")]
    two = [{"function": {"name": "a"}, "type": "function"}, dict(reversed(one[0].items()))]
    first, second = (assembled(fields(asked(MANUAL) | {"tools": tools}), "canonical") for tools in (one, two))
    assert bytes(first["tools"]) == bytes(second["tools"])
    assert [made["function"]["name"] for made in json.loads(bytes(first["tools"]))] == ["a", "b"]
    assert bytes(first["messages"]) == json.dumps(asked(MANUAL)["messages"]).encode()


@pytest.mark.parametrize(
    "line",
    [
        "Current time: 2026-11-21T17:02:23Z",
        "Today is Saturday; the date is 21 November 2026.",
        "It is 5:02 pm.",
        "Request-ID: 8f1",
        "trace 123e4567-e89b-12d3-a456-426614174000",
    ],
)
def test_what_changes_with_every_request_goes_behind_the_question(line: str) -> None:
    made = rewritten(asked(f"{line}\n{MANUAL}"), "stable")
    assert made["messages"][0]["content"] == MANUAL
    assert made["messages"][1]["content"] == f"How?\n\n{line}"


def test_two_requests_a_minute_apart_share_their_beginning_only_when_stable() -> None:
    def keys(minute: int, assembly: Assembly) -> list[bytes]:
        prompt = read(CHAT, [], json.dumps(asked(f"Now: 2026-11-21 17:{minute}\n{MANUAL}")).encode())
        prompt.fields = assembled(prompt.fields, assembly)
        return list(prompt.chain(BYTES).keys)

    assert keys(10, "off")[0] != keys(11, "off")[0]
    assert keys(10, "stable")[:4] == keys(11, "stable")[:4]


@pytest.mark.parametrize(
    "line", ["Release dates are in chapter 4.", "Version 2.0 of 2024.", "The day shift starts it."]
)
def test_text_that_merely_speaks_of_time_stays(line: str) -> None:
    body = asked(f"{line}\n{MANUAL}")
    assert rewritten(body, "stable") == body


@given(
    st.dictionaries(
        st.sampled_from(["messages", "tools", "model"]),
        st.recursive(
            st.none() | st.text(max_size=5) | st.sampled_from(["system", "user", "2026-11-21 10:00", 1, True]),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["role", "content", "function", "name"]), inner)
            ),
            max_leaves=10,
        ),
    ),
    st.sampled_from(["canonical", "stable"]),
)
def test_any_body_is_survived_and_rewriting_twice_is_rewriting_once(body: dict[str, Any], assembly: Assembly) -> None:
    once = rewritten(body, assembly)
    assert once.keys() == body.keys()
    assert rewritten(once, assembly) == once
