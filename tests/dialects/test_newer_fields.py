"""Fields of newer versions of the APIs: tools that come with a message, moderation, hints of prompt caches."""

from __future__ import annotations

import json
from typing import Any

import pytest

from semcache.dialects import dialects
from semcache.protocols import Dialect
from semcache.types import Endpoint, Request

CHAT, RESPONSES, MESSAGES = (dialects()[name] for name in (Endpoint.CHAT, Endpoint.RESPONSES, Endpoint.MESSAGES))


def read(dialect: Dialect, **body: Any) -> Request:
    return dialect.read(json.dumps({"model": "m", **body}).encode())


def user(content: Any) -> dict[str, Any]:
    return {"role": "user", "content": content}


@pytest.mark.parametrize(
    ("dialect", "asked"), [(CHAT, {"messages": [user("hi")]}), (RESPONSES, {"input": "hi"})], ids=["chat", "responses"]
)
def test_an_answer_with_the_moderation_of_its_prompt_tells_of_that_prompt(dialect, asked):
    assert read(dialect, moderation={"model": "omni"}, **asked).traits.repeats_prompt
    assert not read(dialect, moderation=None, **asked).traits.repeats_prompt


FUNCTION = {"type": "function", "name": "f", "parameters": {}}


def after_adding(*tools: Any, item: str = "additional_tools") -> dict[str, Any]:
    role = {"role": "developer"} if item == "additional_tools" else {}
    return {"input": [{"type": item, "tools": list(tools), **role}, user("hi")]}


def grouped(*tools: Any) -> dict[str, Any]:
    return {"type": "namespace", "name": "crm", "description": "Customers.", "tools": list(tools)}


def after_defining(definition: Any) -> dict[str, Any]:
    added = {"type": "tool_addition", "tool": {"type": "tool_definition", "definition": definition}}
    return {"messages": [user("hi"), {"role": "system", "content": [added]}, user("and?")]}


@pytest.mark.parametrize(
    ("dialect", "body", "stateful"),
    [
        (RESPONSES, after_adding(FUNCTION), False),
        (RESPONSES, after_adding(FUNCTION, {"type": "web_search"}), True),
        (RESPONSES, after_adding({"type": "mcp"}, item="tool_search_output"), True),
        (RESPONSES, {"input": [{"type": "additional_tools", "role": "developer", "tools": 1}, user("hi")]}, True),
        (RESPONSES, {"input": "hi", "tools": [grouped(FUNCTION, {"type": "custom", "name": "c"})]}, False),
        (RESPONSES, {"input": "hi", "tools": [grouped(FUNCTION, {"type": "web_search"})]}, True),
        (RESPONSES, {"input": "hi", "tools": [{"type": "namespace", "name": "crm"}]}, True),
        (MESSAGES, after_defining({"name": "f", "input_schema": {}}), False),
        (MESSAGES, after_defining({"type": "web_search_20260318", "name": "web_search"}), True),
        (MESSAGES, after_defining({"type": "mcp_toolset", "mcp_server_name": "s"}), True),
    ],
    ids=[
        "items-function",
        "items-search",
        "items-found-mcp",
        "items-unreadable",
        "namespace-functions",
        "namespace-search",
        "namespace-empty",
        "blocks-function",
        "blocks-search",
        "blocks-mcp",
    ],
)
def test_a_tool_counts_wherever_a_request_declares_it(dialect, body, stateful):
    traits = read(dialect, **body).traits
    assert traits.tools
    assert traits.stateful is stateful


def test_a_reference_to_a_tool_that_is_declared_adds_none():
    block = {"type": "tool_addition", "tool": {"type": "tool_reference", "name": "f"}}
    turns = [user("hi"), {"role": "system", "content": [block]}, user("and?")]
    request = read(MESSAGES, messages=turns, tools=[{"name": "f", "input_schema": {}}])
    assert not request.traits.stateful


@pytest.mark.parametrize(
    ("dialect", "place", "kind", "more"),
    [
        (CHAT, "messages", "text", {"role": "tool", "tool_call_id": "c"}),
        (RESPONSES, "input", "input_text", {"type": "function_call_output", "call_id": "c"}),
    ],
    ids=["chat", "responses"],
)
def test_openais_cache_hints_are_forwarded_and_not_compared(dialect, place, kind, more):
    def asked(**hint: Any) -> Request:
        def part(text: str) -> dict[str, Any]:
            return {"type": kind, "text": text, **hint}

        result = {**more, "content" if place == "messages" else "output": [part("4"), part("5")]}
        return read(dialect, **{place: [{"role": "system", "content": [part("s")]}, result, user([part("q")])]})

    hinted, plain = asked(prompt_cache_breakpoint={"mode": "explicit"}), asked()
    assert (hinted.identity, hinted.text, hinted.traits) == (plain.identity, plain.text, plain.traits)
    assert b"prompt_cache_breakpoint" in hinted.raw
