"""Placement of examples in a request: as earlier turns, between the system prompt and what the client sent.

Pure. Invariant: the bytes of an example depend on nothing but the example, and all that comes before the client's own
turns is the same for the same examples, so that an engine's KV cache is reused; every other field stays as it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from semcache.agents.nearhits.example import NearExample
from semcache.types import Endpoint

_SYSTEM = ("system", "developer")
_CALLERS = ("user", "metadata", "safety_identifier", "prompt_cache_key", "store")


def placed(endpoint: Endpoint, raw: bytes, examples: Sequence[NearExample], model: str) -> bytes | None:
    """The request for another model, with these examples; None where the dialect has no place for them."""
    name = {Endpoint.CHAT: "messages", Endpoint.MESSAGES: "messages", Endpoint.RESPONSES: "input"}.get(endpoint)
    try:
        fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        if name is None or name not in fields:
            return None
        given = msgspec.json.decode(fields[name])
        if endpoint is Endpoint.RESPONSES and isinstance(given, str):
            turns = [msgspec.Raw(_turn("user", given))]
        else:
            turns = msgspec.json.decode(fields[name], type=list[msgspec.Raw])
            given = [one if isinstance(one, dict) else {} for one in given]
    except msgspec.DecodeError:
        return None
    head = 0
    if not isinstance(given, str):
        head = next((at for at, one in enumerate(given) if one.get("role") not in _SYSTEM), len(given))
    shown = [msgspec.Raw(_turn(role, text)) for one in examples for role, text in _said(one)]
    fields[name] = msgspec.Raw(msgspec.json.encode([*turns[:head], *shown, *turns[head:]]))
    fields["model"] = msgspec.Raw(msgspec.json.encode(model))
    return msgspec.json.encode(fields)


def restated(endpoint: Endpoint, raw: bytes, text: str) -> bytes | None:
    """The request with another last turn, without the fields that name its sender; None where it has no turn."""
    name = {Endpoint.CHAT: "messages", Endpoint.MESSAGES: "messages", Endpoint.RESPONSES: "input"}.get(endpoint)
    try:
        fields = msgspec.json.decode(raw, type=dict[str, msgspec.Raw])
        turns = msgspec.json.decode(fields[name or ""])
    except (msgspec.DecodeError, KeyError):
        return None
    if endpoint is Endpoint.RESPONSES and isinstance(turns, str):
        turns = text
    elif isinstance(turns, list) and turns and isinstance(turns[-1], dict) and turns[-1].get("role") == "user":
        turns[-1]["content"] = text
    else:
        return None
    fields[name or ""] = msgspec.Raw(msgspec.json.encode(turns))
    return msgspec.json.encode({key: value for key, value in fields.items() if key not in _CALLERS})


def _said(example: NearExample) -> tuple[tuple[str, str], tuple[str, str]]:
    return ("user", example.prompt), ("assistant", example.answer)


def _turn(role: str, text: str) -> bytes:
    turn: dict[str, Any] = {"role": role, "content": text}
    return msgspec.json.encode(turn)
