"""The items of a conversation as the dialects write them into `Request.identity`: turns, tool calls and results.

Pure. Invariant: an item of an unknown form has no text and calls nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semcache.request import keys

_TEXTS = ("text", "input_text", "output_text")
CALLS = ("function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output")


def items_of(identity: Mapping[str, Any]) -> tuple[str, Sequence[Any]]:
    """The items of a conversation and the name that they stand under; none for an identity without any."""
    for name in ("messages", "input"):
        items = identity.get(name)
        if isinstance(items, list):
            return name, items
    return "", ()


def text_alone(item: Any, role: str) -> str | None:
    """The text of a turn of this role that consists of nothing else."""
    if not isinstance(item, dict) or item.get("role") != role or item.get("tool_calls"):
        return None
    content = item.get("content")
    if isinstance(content, list) and len(content) == 1 and is_text(content[0]) and len(content[0]) == 2:
        content = content[0]["text"]
    return content if isinstance(content, str) and content else None


def is_text(part: Any) -> bool:
    """Return True for a part that holds text."""
    return isinstance(part, dict) and part.get("type") in _TEXTS and isinstance(part.get("text"), str)


def is_call(part: Any, *, called: bool) -> bool:
    """Return True for a part that is a tool's call or result; all that is under `tool_calls` is `called`."""
    return isinstance(part, dict) and (called or part.get("type") in ("tool_use", "tool_result"))


def uses_tool(item: Any) -> bool:
    """Return True for an item that calls a tool, or says what one gave."""
    if not isinstance(item, dict):
        return False
    if item.get("tool_calls") or item.get("role") == "tool" or item.get("type") in CALLS:
        return True
    content = item.get("content")
    return isinstance(content, list) and any(is_call(part, called=False) for part in content)


def lines(item: Any) -> list[str]:
    """An item as lines of a transcript."""
    if not isinstance(item, dict):
        return []
    content, role = item.get("content"), str(item.get("role") or item.get("type") or "")
    if isinstance(content, list):
        said = [part["text"] if is_text(part) else keys.canonical({"": part}).decode() for part in content if part]
    else:
        said = [content] if isinstance(content, str) and content else []
    calls = item.get("tool_calls") or ([item] if item.get("type") in CALLS else [])
    said += [keys.canonical({"call": call}).decode() for call in calls]
    return [f"{role}: {text}" for text in said]
