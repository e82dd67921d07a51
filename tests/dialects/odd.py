"""Whole requests and answers of every dialect, and the same with one value of a kind that nobody expects there."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any

from hypothesis import strategies as st

from semcache.types import Endpoint

PARAMETERS = {"type": "object", "properties": {"a": {"type": "string"}}}
TOOL = {"type": "function", "function": {"name": "f", "description": "d", "parameters": PARAMETERS}}
CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
HINT = {"cache_control": {"type": "ephemeral"}}
LOGPROBS = {"content": [{"token": "Hi", "logprob": -0.5, "bytes": [72], "top_logprobs": []}], "refusal": None}
OPENAI = {
    "model": "m",
    "stream": True,
    "temperature": 0.5,
    "n": 1,
    "user": "u",
    "safety_identifier": "s",
    "metadata": {"a": "b"},
    "store": True,
    "prompt_cache_key": "k",
}
CONTROLS = {
    "ttl": 5,
    "max-age": 5,
    "min-score": 0.5,
    "max-error": 0.1,
    "no-cache": True,
    "only-if-cached": False,
    "use-cache": True,
    "category": "c",
    "namespace": "n",
    "tags": ["a"],
}

REQUESTS: dict[Endpoint, list[dict[str, Any]]] = {
    Endpoint.CHAT: [
        {
            **OPENAI,
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "developer", "content": [{"type": "text", "text": "x"}]},
                {"role": "user", "content": "hello there"},
                {"role": "assistant", "content": None, "tool_calls": [CALL]},
                {"role": "tool", "tool_call_id": "c1", "content": "sunny"},
                {"role": "assistant", "content": "ok", "audio": {"id": "a"}},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "What is it"},
                        {"type": "image_url", "image_url": {"url": "u"}},
                    ],
                    "name": "n",
                },
            ],
            "tools": [{**TOOL, "annotations": {"readOnlyHint": True}, "x-semcache": {"effect": "reads"}}],
            "tool_choice": "auto",
            "functions": [{"name": "g"}],
            "stream_options": {"include_usage": True},
            "response_format": {"type": "json_schema", "json_schema": {"name": "n", "schema": PARAMETERS}},
            "web_search_options": {},
            "prediction": {"type": "content", "content": "x"},
            "max_tokens": 5,
            "logprobs": True,
            "top_logprobs": 1,
            "stop": ["a"],
            "cache": CONTROLS,
            "session_id": "s",
        },
        {"model": "m", "messages": [{"role": "user", "content": "What is the weather in Rome?"}], "tools": [TOOL]},
    ],
    Endpoint.COMPLETIONS: [
        {
            **OPENAI,
            "prompt": ["hi there"],
            "stream_options": {"include_usage": True},
            "logprobs": 1,
            "max_tokens": 4,
            "suffix": "x",
        },
        {"model": "m", "prompt": "hi there"},
    ],
    Endpoint.RESPONSES: [
        {
            **OPENAI,
            "instructions": "Be brief.",
            "input": [
                {"role": "developer", "content": [{"type": "input_text", "text": "x"}]},
                {"type": "message", "role": "user", "content": "hello there"},
                {"type": "reasoning", "id": "r", "summary": []},
                {"type": "function_call", "id": "fc", "call_id": "c1", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "sunny"},
                {
                    "type": "message",
                    "role": "assistant",
                    "id": "m1",
                    "content": [{"type": "output_text", "text": "ok", "annotations": []}],
                },
                {"type": "item_reference", "id": "x"},
                {
                    "role": "user",
                    "content": [
                        {"type": "input_text", "text": "What is it"},
                        {"type": "input_image", "image_url": "u"},
                    ],
                },
            ],
            "tools": [
                {"type": "function", "name": "f", "parameters": PARAMETERS},
                {"type": "custom", "name": "g"},
            ],
            "tool_choice": "auto",
            "previous_response_id": "r",
            "conversation": {"id": "c"},
            "prompt": {"id": "p"},
            "background": False,
            "text": {"format": {"type": "json_object"}},
            "reasoning": {"effort": "low"},
            "max_output_tokens": 9,
        },
        {"model": "m", "input": "hi there"},
        {
            "model": "m",
            "input": [{"role": "user", "content": "What is the weather in Rome?"}],
            "tools": [{"type": "function", "name": "f", "parameters": PARAMETERS}],
        },
    ],
    Endpoint.MESSAGES: [
        {
            "model": "m",
            "max_tokens": 5,
            "system": [{"type": "text", "text": "Be brief.", **HINT}],
            "messages": [
                {"role": "user", "content": [{"type": "text", "text": "hello", **HINT}]},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "ok"},
                        {"type": "tool_use", "id": "t1", "name": "f", "input": {"a": 1}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "t1",
                            "content": [{"type": "text", "text": "sunny"}],
                            "is_error": False,
                        }
                    ],
                },
                {"role": "assistant", "content": "yes"},
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "What is it"},
                        {
                            "type": "document",
                            "source": {"type": "content", "content": [{"type": "text", "text": "x", **HINT}]},
                        },
                    ],
                },
            ],
            "tools": [
                {"name": "f", "type": "custom", "input_schema": PARAMETERS, **HINT},
                {"type": "bash_20250124", "name": "bash"},
            ],
            "tool_choice": {"type": "auto"},
            "metadata": {"user_id": "u"},
            "mcp_servers": [{}],
            "container": "x",
            "thinking": {"type": "enabled", "budget_tokens": 5},
            "temperature": 0.1,
            "stream": True,
        },
        {
            "model": "m",
            "max_tokens": 5,
            "messages": [{"role": "user", "content": "What is the weather in Rome?"}],
            "tools": [{"name": "f", "input_schema": PARAMETERS}],
        },
    ],
}
EMBEDDINGS: list[dict[str, Any]] = [
    {"model": "m", "input": ["a", "b"], "dimensions": 4, "encoding_format": "base64", "user": "u", "cache": CONTROLS},
    {"model": "m", "input": [[1, 2]]},
    {"model": "m", "input": [1, 2]},
]
_FUNCTION = {"name": "f", "arguments": "{}"}
ANSWERS: dict[Endpoint, dict[str, Any]] = {
    Endpoint.CHAT: {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "system_fingerprint": "f",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "Hi",
                    "refusal": "no",
                    "reasoning_content": "hm",
                    "annotations": [],
                    "audio": {"id": "a"},
                    "images": [{}],
                    "function_call": _FUNCTION,
                    "tool_calls": [CALL],
                },
                "logprobs": LOGPROBS,
                "finish_reason": "stop",
            },
            {
                "index": 1,
                "message": {"role": "assistant", "content": [{"type": "text", "text": "Hi"}]},
                "finish_reason": "stop",
            },
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 0}},
    },
    Endpoint.COMPLETIONS: {
        "id": "c",
        "object": "text_completion",
        "created": 1,
        "model": "m",
        "choices": [
            {"text": "Hi", "index": 0, "logprobs": {"tokens": ["Hi"], "text_offset": [0]}, "finish_reason": "stop"}
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    },
    Endpoint.MESSAGES: {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [
            {"type": "text", "text": "Hi", "citations": [{"type": "char_location"}]},
            {"type": "thinking", "thinking": "x", "signature": "s"},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "tool_use", "id": "t", "name": "f", "input": {"a": 1}},
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "stop_details": None,
        "container": {"id": "c"},
        "usage": {
            "input_tokens": 1,
            "output_tokens": 2,
            "cache_read_input_tokens": 3,
            "output_tokens_details": {"x": 1},
        },
    },
    Endpoint.RESPONSES: {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "completed_at": 2,
        "status": "completed",
        "error": None,
        "incomplete_details": {"reason": "max"},
        "model": "m",
        "output": [
            {
                "type": "reasoning",
                "id": "r",
                "summary": [{"type": "summary_text", "text": "s"}],
                "content": [{"type": "reasoning_text", "text": "t"}],
            },
            {
                "type": "message",
                "id": "m",
                "role": "assistant",
                "status": "completed",
                "content": [
                    {
                        "type": "output_text",
                        "text": "Hi",
                        "annotations": [{"type": "url_citation"}],
                        "logprobs": LOGPROBS["content"],
                    },
                    {"type": "refusal", "refusal": "no"},
                ],
            },
            {"type": "function_call", "id": "f", "call_id": "c", **_FUNCTION, "status": "completed"},
            {"type": "custom_tool_call", "id": "g", "name": "g", "input": "x"},
            {"type": "mcp_call", "id": "h", "arguments": "{}"},
        ],
        "usage": {"input_tokens": 1, "output_tokens": 2},
    },
}

ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    2**63,
    "odd",
    [],
    [[]],
    [{"type": []}],
    {},
    {"type": {}},
)
_scalars = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats(allow_nan=False) | st.text()
_names = st.sampled_from(["type", "id", "text", "content", "role", "name", "function", "arguments"]) | st.text()
anything = st.recursive(_scalars, lambda inner: st.lists(inner) | st.dictionaries(_names, inner), max_leaves=6)
"""Any JSON value."""


def changed(document: Any) -> Iterator[tuple[str, Any]]:
    """Every document that differs from this one in one value, and where it does; values are also left out."""
    for path in paths(document):
        where = ".".join(map(str, path))
        for odd in ODD:
            yield f"{where} = {odd!r}", put(document, path, odd)
        if path:
            whole = copy.deepcopy(document)
            del _at(whole, path[:-1])[path[-1]]
            yield f"no {where}", whole


def paths(value: Any) -> Iterator[tuple[Any, ...]]:
    """The places of all values in a document."""
    yield ()
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        for path in paths(inner):
            yield (key, *path)


def put(document: Any, path: tuple[Any, ...], value: Any) -> Any:
    """The document with this value in a place."""
    if not path:
        return copy.deepcopy(value)
    whole = copy.deepcopy(document)
    _at(whole, path[:-1])[path[-1]] = copy.deepcopy(value)
    return whole


def surviving(documents: list[Any], check: Callable[[Any], object]) -> None:
    """Check every change of these documents; all that fail are named at once."""
    failed = []
    for document in documents:
        for where, odd in changed(document):
            try:
                check(odd)
            except Exception as error:
                failed.append(f"{where}: {error!r}")
    assert not failed, "\n".join(failed[:20])


@st.composite
def mutants(draw: st.DrawFn, documents: list[Any]) -> Any:
    """One of these documents with any JSON in one or two places."""
    document = draw(st.sampled_from(documents))
    for _ in range(draw(st.integers(1, 2))):
        document = put(document, draw(st.sampled_from(list(paths(document)))), draw(anything))
    return document


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        value = value[key]
    return value
