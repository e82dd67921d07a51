"""Byte-stable prompts: a rewrite that makes equal beginnings equal bytes, so that replicas can reuse them.

Engines and clouds reuse KV from the first token to the first difference. `canonical` writes declared tools in one order
(by name) with one order of keys. `stable` does so too, and moves lines of the leading system prompt that change with
every request (the time, a request id) behind the last user turn, where they cost nothing of what precedes.
Knows the fields of chat completions alone; other bodies pass as they are. Off unless switched on: the order of tools
and the place of the time are part of what a model reads, and an operator has to want that.
Invariant: what is said is kept, word for word; a body that is already stable keeps its bytes; nothing makes it raise.
"""

from __future__ import annotations

import re
from typing import Any, Literal

import msgspec

from semcache.upstream.routing.prompts import Fields

Assembly = Literal["off", "canonical", "stable"]

_sorted = msgspec.json.Encoder(order="sorted")
_VOLATILE = re.compile(
    r"""
    \d{4}-\d\d-\d\d[T ]\d\d:\d\d                                        # a moment
    | \b\d{1,2}:\d\d(:\d\d)?\s?([ap]m\b|utc\b|gmt\b)                    # a time of day
    | (?:current|today'?s?|now)\b[\w\s]{0,20}\b(?:date|time|day)\b.*\d  # "Current date: 21 Nov"
    | \b(?:date|time|timestamp)\s*(?:is|:|=).*\d
    | \b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b  # a UUID
    | \b(?:request|trace|session|correlation)[ _-]?id\b\s*[:=]
    """,
    re.IGNORECASE | re.VERBOSE,
)
_LONGEST_LINE = 300


def assembled(fields: Fields, assembly: Assembly) -> Fields:
    """The body's fields with a stable beginning, as `assembly` says; the very same where there is nothing to do."""
    if assembly == "off" or "messages" not in fields:
        return fields
    changed: Fields = {}
    try:
        if "tools" in fields:
            changed["tools"] = _tools(fields["tools"])
        if assembly == "stable":
            changed["messages"] = _messages(fields["messages"])
    except (msgspec.DecodeError, msgspec.ValidationError, RecursionError):
        return fields  # the backend will say what is wrong with it
    return fields | changed


def _tools(raw: msgspec.Raw) -> msgspec.Raw:
    tools = msgspec.json.decode(bytes(raw))
    if not isinstance(tools, list):
        return raw
    return msgspec.Raw(_sorted.encode(sorted(tools, key=lambda tool: (_name(tool), _sorted.encode(tool)))))


def _name(tool: Any) -> str:
    function = tool.get("function", tool) if isinstance(tool, dict) else None
    return str(function.get("name", "")) if isinstance(function, dict) else ""


def _messages(raw: msgspec.Raw) -> msgspec.Raw:
    turns = msgspec.json.decode(bytes(raw), type=list[dict[str, msgspec.Raw]])
    users = [index for index, turn in enumerate(turns) if _string(turn.get("role")) == "user"]
    system = _string(turns[0].get("content")) if turns else None
    if not users or system is None or _string(turns[0].get("role")) not in {"system", "developer"}:
        return raw
    said = _string(turns[users[-1]].get("content"))
    lines = system.split("\n")
    moved = [line for line in lines if len(line) <= _LONGEST_LINE and _VOLATILE.search(line)]
    if said is None or not moved:
        return raw
    kept = "\n".join(line for line in lines if line not in moved)
    turns[0] = turns[0] | {"content": _raw(kept)}
    turns[users[-1]] = turns[users[-1]] | {"content": _raw("\n".join([said, "", *moved]))}
    return msgspec.Raw(msgspec.json.encode(turns))


def _string(raw: msgspec.Raw | None) -> str | None:
    value = msgspec.json.decode(bytes(raw)) if raw is not None else None
    return value if isinstance(value, str) else None


def _raw(text: str) -> msgspec.Raw:
    return msgspec.Raw(msgspec.json.encode(text))
