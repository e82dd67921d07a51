"""Whatever a client sends as a conversation is a run, or one reason why it is none."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from semcache.agents.capture import distil
from semcache.agents.run import NoRun, PlanReason, read, tools
from tests.agents.worlds import SALT, TOOLS, asked, called, cancelling, finished, tool

RUN = cancelling("ann_lee_1", "OBUT9V")
DEEP: Any = "x"
for _ in range(40):
    DEEP = {"a": DEEP}


@pytest.mark.parametrize(
    ("messages", "why"),
    [
        ([], PlanReason.NO_TASK),
        ([{"role": "system", "content": "s"}], PlanReason.NO_TASK),
        (RUN[:-1], PlanReason.TRUNCATED),
        (RUN[:-2], PlanReason.TRUNCATED),
        ([*RUN[:3], RUN[-1]], PlanReason.TRUNCATED),
        (finished("Do it", ("act", "{not json", "ok")), PlanReason.UNREADABLE),
        (finished("Do it", ("act", "[1]", "ok")), PlanReason.UNREADABLE),
        (finished("Do it", ("act", json.dumps(DEEP), "ok")), PlanReason.UNREADABLE),
        (finished("Do it", ("act", {"a": "x" * 70_000}, "ok")), PlanReason.TOO_LARGE),
        (finished("Do it", *[("act", {"n": n}, "ok") for n in range(80)]), PlanReason.TOO_LARGE),
        (finished("Do it", *[("act", {}, "ok")] * 5), PlanReason.CYCLE),
        (finished("Do it", ("act", {}, "Error: no such user")), PlanReason.TOOL_ERROR),
        ([*asked("Do it"), {"role": "assistant", "content": None, "tool_calls": [{"id": 1}]}], PlanReason.TRUNCATED),
        ([*asked("Do it"), {"role": "assistant", "tool_calls": 7}, RUN[-1]], PlanReason.UNREADABLE),
    ],
)
def test_what_is_no_whole_run_says_why(messages: list[dict[str, Any]], why: PlanReason) -> None:
    with pytest.raises(NoRun) as caught:
        read(messages)
    assert caught.value.why is why


def test_parallel_calls_are_one_turn_and_find_their_own_results() -> None:
    pair = called(("find_user", {"user_id": "a"}, {"n": 1}), ("find_user", {"user_id": "b"}, {"n": 2}))
    both = {**pair[0], "tool_calls": [*pair[0]["tool_calls"], *pair[2]["tool_calls"]]}
    run = read([*asked("Compare a and b"), both, pair[3], pair[1], {"role": "assistant", "content": "Done"}])
    assert [[call.result for call in turn.calls] for turn in run.turns] == [[{"n": 1}, {"n": 2}]]


def test_an_id_used_twice_takes_results_in_their_order() -> None:
    messages = finished("Do it", ("act", {"n": 1}, {"r": 1}), ("act", {"n": 2}, {"r": 2}))
    for one in messages:
        if one.get("tool_calls"):
            one["tool_calls"][0]["id"] = "same"
        if one["role"] == "tool":
            one["tool_call_id"] = "same"
    assert [turn.calls[0].result for turn in read(messages).turns] == [{"r": 1}, {"r": 2}]


def test_unicode_and_nested_arguments_survive() -> None:
    arguments = {"wer": {"näme": ["Zoë 🦊", {"ß": None}]}}
    assert read(finished("Tu es", ("act", arguments, "ok"))).turns[0].calls[0].arguments == arguments


def test_failed_and_repeated_looks_are_no_steps() -> None:
    run = finished(
        "Cancel the first reservation of user ann_lee_1, please",
        ("find_user", {"user_id": "wrong_9"}, "Error: user not found"),
        ("find_user", {"user_id": "ann_lee_1"}, {"reservations": ["OBUT9V"]}),
        ("find_user", {"user_id": "ann_lee_1"}, {"reservations": ["OBUT9V"]}),
        ("cancel", {"reservation_id": "OBUT9V", "reason": "x1"}, "ok"),
    )
    draft = distil(read(run), tools(TOOLS), salt=SALT)
    assert [step.actions[0].tool for step in draft.steps] == ["find_user", "cancel"]


def test_tools_are_read_in_every_dialect_and_only_a_declaration_makes_one_harmless() -> None:
    flat = {"name": "look", "input_schema": {"type": "object"}, "x-semcache": {"read_only": True}}
    known = tools([tool("get_user", user="string"), flat, {"type": "web_search"}, {"name": 3}])
    assert {name: one.reads for name, one in known.items() if one.name} == {"get_user": False, "look": True}
    # Those of the provider have no name to be called by, and are told apart all the same.
    hosted = [{"type": "mcp", "server_url": "https://a"}, {"type": "mcp", "server_url": "https://b"}]
    hosted += [{"type": "web_search", "name": "look"}, {"type": "custom", "name": "look"}]
    assert len({frozenset(one.digest for one in tools([flat, each]).values()) for each in hosted}) == len(hosted)
    assert known["get_user"].digest != tools([tool("get_user", user="integer")])["get_user"].digest


KEYS = st.sampled_from(["role", "content", "tool_calls", "id", "function", "name", "arguments", "tool_call_id"])
LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
JSON = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5), max_leaves=12
)
MESSAGES = st.fixed_dictionaries(
    {"role": st.sampled_from(["user", "assistant", "tool", "system"])},
    optional={"content": JSON, "tool_calls": JSON, "tool_call_id": JSON},
)


@settings(max_examples=150)
@given(st.lists(MESSAGES, max_size=6))
@example([{"role": "user", "content": "Cancel it"}])
def test_no_conversation_raises_anything_else(messages: list[dict[str, Any]]) -> None:
    with suppress(NoRun):
        assert distil(read(messages), {}, salt=SALT).steps
