"""Agent conversations and plans in the dialects of clients: chat completions, responses and messages.

Reads a request as chat messages with tools, and writes a plan as the answer of a model that chose to call tools. Pure:
ids and times are arguments. Invariant: a request that cannot be read is None, and an answer that is written is one that
its dialect can parse and stream.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from semcache.agents.adapt import PlannedCall
from semcache.agents.found_plan import FoundPlan
from semcache.agents.run import digest
from semcache.dialects.body import UNREADABLE
from semcache.proxy.call_habits import CallField
from semcache.types import Endpoint

Json: TypeAlias = dict[str, Any]
Conversation: TypeAlias = tuple[list[Json], list[Json]]  # chat messages, tools
_UNREADABLE = (*UNREADABLE, AttributeError, LookupError, TypeError, ValueError)
_BLOCKS = frozenset(["text", "tool_use", "tool_result", "image", "document", "thinking", "redacted_thinking"])

# Models that want back the signature of each step's first call: Gemini from 3 on.
_SIGNING = re.compile(r"gemini(?!-?[12](?!\d))", re.IGNORECASE)
# Models that want back what they thought before a call: DeepSeek and Kimi, which take a space for no thought.
_THOUGHTFUL = re.compile(r"deepseek|kimi", re.IGNORECASE)
_ID = 9  # letters and digits
_UNSIGNED = "skip_thought_signature_validator"
_ANY_TOOL = ("required", "any")  # the model has to call one, and chooses which


def conversation(endpoint: Endpoint, raw: bytes) -> Conversation | None:
    """Return the chat messages and tools of a request; None where it has no tools or its state lies upstream."""
    try:
        body = msgspec.json.decode(raw)
        tools = body.get("tools")
        if not isinstance(tools, list) or not tools or body.get("previous_response_id"):
            return None
        if endpoint is Endpoint.CHAT and isinstance(body.get("messages"), list):
            return body["messages"], tools
        if endpoint is Endpoint.MESSAGES:
            system = [{"role": "system", "content": body["system"]}] if body.get("system") else []
            return [*system, *[turn for one in body["messages"] for turn in _from_blocks(one)]], tools
        if endpoint is Endpoint.RESPONSES:
            given = body["input"]
            items = [{"role": "user", "content": given}] if isinstance(given, str) else given
            system = [{"role": "system", "content": body["instructions"]}] if body.get("instructions") else []
            return [*system, *_from_items(items)], tools
    except _UNREADABLE:
        return None
    return None


def other_wish(endpoint: Endpoint, raw: bytes) -> str | None:
    """Return the field by which the client wants what no plan is; None where the model is free to call tools.

    So does a client that wants several answers, sound, the probabilities of words, or an answer that begins with its
    thinking: without that, the API refuses what comes after a call.
    """
    body = msgspec.json.decode(raw)
    thinking = body.get("thinking")
    if endpoint is Endpoint.MESSAGES and isinstance(thinking, Mapping) and thinking.get("type") == "enabled":
        return "thinking"
    wishes = {
        "logprobs": body.get("logprobs") or body.get("top_logprobs"),
        "modalities": body.get("modalities") not in (None, [], ["text"]),
        "n": body.get("n") not in (None, 1),
        "tool_choice": _choice(body) not in (None, "auto", *_ANY_TOOL),
    }
    answered = endpoint in (Endpoint.CHAT, Endpoint.MESSAGES, Endpoint.RESPONSES)
    return next((name for name, wanted in wishes.items() if wanted), None if answered else "endpoint")


def must_call(raw: bytes) -> bool:
    """Return True if a tool has to be called, so that a message in words is no answer."""
    return _choice(msgspec.json.decode(raw)) in _ANY_TOOL


def chooses_tool(raw: bytes, *, called: bool) -> bool:
    """Return True if which tool is called is the model's choice, even where it has to call one.

    So it is where the model is to call no more, once it has `called` one.
    """
    return _choice(msgspec.json.decode(raw)) in (None, "auto", *_ANY_TOOL, *(("none",) if called else ()))


def _choice(body: Mapping[str, Any]) -> object:
    chosen = body.get("tool_choice")
    return chosen.get("type") if isinstance(chosen, Mapping) else chosen


def one_at_a_time(endpoint: Endpoint, raw: bytes) -> bool:
    """Return True if the client can take no more than one call of a tool in an answer."""
    body = msgspec.json.decode(raw)
    if endpoint is not Endpoint.MESSAGES:
        return body.get("parallel_tool_calls") is False
    chosen = body.get("tool_choice")
    return isinstance(chosen, Mapping) and chosen.get("disable_parallel_tool_use") is True


def with_hint(endpoint: Endpoint, raw: bytes, hint: str) -> bytes:
    """Return the request with a hint at the end of its system prompt, every other field as it was."""
    fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
    body = msgspec.json.decode(raw)
    if endpoint is Endpoint.CHAT:
        head = next((n for n, one in enumerate(body["messages"]) if one.get("role") not in ("system", "developer")), 0)
        fields["messages"] = _raw(
            [*body["messages"][:head], {"role": "system", "content": hint}, *body["messages"][head:]]
        )
    else:
        name = "system" if endpoint is Endpoint.MESSAGES else "instructions"
        given = body.get(name)
        told = (
            [*given, {"type": "text", "text": hint}] if isinstance(given, list) else f"{given or ''}\n\n{hint}".strip()
        )
        fields[name] = _raw(told)
    return msgspec.json.encode(fields)


def _raw(value: Any) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(value))


def answer(
    endpoint: Endpoint,
    model: str,
    found: FoundPlan,
    *,
    id: str,
    run: str,
    created: int,
    wanted: frozenset[CallField] = frozenset(),
) -> bytes:
    """Return the plan as the complete answer of a model; the ids of its calls follow from `run`.

    `wanted` are the fields that calls of this model have had, beside those that its name tells of.
    """
    ids = [f"call_{run}_{number}" for number in range(len(found.calls))]
    if endpoint is Endpoint.CHAT:
        # Mistral refuses a conversation with any other ids than these.
        ids = [digest(one).hex()[:_ID] for one in ids]
    calls = list(zip(ids, found.calls, strict=True))
    write = {Endpoint.MESSAGES: _message, Endpoint.RESPONSES: _response}.get(endpoint, _completion)
    body = write(model, found, calls, id, created)
    if endpoint is Endpoint.CHAT and calls:
        _complete(body["choices"][0]["message"], model, wanted)
    return msgspec.json.encode(body)


def _completion(model: str, found: FoundPlan, calls: Sequence[tuple[str, PlannedCall]], id: str, created: int) -> Json:
    message: Json = {"role": "assistant", "content": found.text or None}
    if calls:
        message["tool_calls"] = [
            {"id": name, "type": "function", "function": {"name": one.tool, "arguments": json.dumps(one.arguments)}}
            for name, one in calls
        ]
    return {
        "id": f"chatcmpl-{id}",
        "object": "chat.completion",
        "created": created,
        "model": model,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    }


def _complete(message: Json, model: str, wanted: frozenset[CallField]) -> None:
    """Add to a message with calls what its model's provider wants back."""
    if _THOUGHTFUL.search(model) or CallField.THOUGHT in wanted:
        message["reasoning_content"] = " "
    if _SIGNING.search(model) or CallField.SIGNATURE in wanted:
        # Gemini refuses what comes behind a call without a signature; this is its word for a call of another's.
        message["tool_calls"][0]["extra_content"] = {"google": {"thought_signature": _UNSIGNED}}


def _message(model: str, found: FoundPlan, calls: Sequence[tuple[str, PlannedCall]], id: str, _created: int) -> Json:
    blocks: list[Json] = [{"type": "text", "text": found.text}] if found.text else []
    blocks += [{"type": "tool_use", "id": name, "name": one.tool, "input": one.arguments} for name, one in calls]
    return {
        "id": f"msg_{id}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks,
        "stop_reason": "tool_use" if calls else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 0, "output_tokens": 0},
    }


def _response(model: str, found: FoundPlan, calls: Sequence[tuple[str, PlannedCall]], id: str, created: int) -> Json:
    text = {"type": "output_text", "text": found.text, "annotations": []}
    items: list[Json] = (
        [{"type": "message", "id": f"msg_{id}", "role": "assistant", "status": "completed", "content": [text]}]
        if found.text
        else []
    )
    items += [
        {
            "type": "function_call",
            "id": f"fc_{name}",
            "call_id": name,
            "name": one.tool,
            "arguments": json.dumps(one.arguments),
            "status": "completed",
        }
        for name, one in calls
    ]
    return {
        "id": f"resp_{id}",
        "object": "response",
        "created_at": created,
        "status": "completed",
        "model": model,
        "output": items,
        "usage": {"input_tokens": 0, "output_tokens": 0, "total_tokens": 0},
    }


def read_answer(endpoint: Endpoint, body: bytes) -> Json | None:
    """Return the answer of a model as a chat message, None where it cannot be read."""
    try:
        read = msgspec.json.decode(body)
        if endpoint is Endpoint.CHAT:
            message = read["choices"][0]["message"]
            return message if isinstance(message, dict) else None
        if endpoint is Endpoint.MESSAGES:
            turns = _from_blocks({"role": "assistant", "content": read["content"]})
        else:
            turns = _from_items(read["output"])
    except _UNREADABLE:
        return None
    # Who calls a tool and then says more has not ended with what it says.
    return turns[-1] if turns and not any(one.get("tool_calls") for one in turns[:-1]) else None


def _from_blocks(message: Mapping[str, Any]) -> list[Json]:
    """Return a message of Anthropic's dialect as chat messages: results of tools are messages of their own.

    Raises ValueError for what it does not understand, such as a tool that the provider has run: without that the run
    would be another.
    """
    content = message["content"]
    if isinstance(content, str):
        return [{"role": message["role"], "content": content}]
    if odd := [one.get("type") for one in content if one.get("type") not in _BLOCKS]:
        raise ValueError(f"a block of type {odd[0]!r}")
    text = "\n".join(str(one["text"]) for one in content if one.get("type") == "text")
    calls = [
        {"id": one["id"], "function": {"name": one["name"], "arguments": one["input"]}}
        for one in content
        if one.get("type") == "tool_use"
    ]
    results = [
        {
            "role": "tool",
            "tool_call_id": one["tool_use_id"],
            "content": one.get("content") or "",
            "is_error": one.get("is_error", False),
        }
        for one in content
        if one.get("type") == "tool_result"
    ]
    shown = any(one.get("type") in ("image", "document") for one in content)
    spoken: Json = {"role": message["role"], "content": content if shown else text}
    if calls:
        spoken["tool_calls"] = calls
    return [*results, *([spoken] if text or calls or shown else [])]


def _from_items(items: Sequence[Mapping[str, Any]]) -> list[Json]:
    """Return items of the responses dialect as chat messages; calls that stand together are one turn.

    Raises ValueError for what it does not understand, as `_from_blocks` does.
    """
    turns: list[Json] = []
    for one in items:
        kind = one.get("type", "message")
        if kind == "function_call":
            call = {"id": one["call_id"], "function": {"name": one["name"], "arguments": one["arguments"]}}
            if turns and turns[-1].get("tool_calls"):
                turns[-1]["tool_calls"].append(call)
            else:
                turns.append({"role": "assistant", "content": None, "tool_calls": [call]})
        elif kind == "function_call_output":
            turns.append({"role": "tool", "tool_call_id": one["call_id"], "content": one["output"]})
        elif kind == "message":
            turns.append({"role": one["role"], "content": one["content"]})
        elif kind != "reasoning":
            raise ValueError(f"an item of type {kind!r}")
    return turns
