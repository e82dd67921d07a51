"""The answers of the scripted upstream: read a request of any dialect, and make up the answer.

Knows the request fields of each API that change an answer, and nothing of HTTP, streams or response shapes.
Invariant: the answer is a function of the request without its volatile fields, so equal requests have equal answers.

Cues in the last user turn: "weather" with tools declared asks for a tool, "refuse this" refuses, "content filter" ends
by the filter. A token is a run of characters with the white space after it.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from semcache.dialects.body import VOLATILE

Answers = Callable[[str], str | None] | Mapping[str, str]
Ending = Literal["stop", "length", "tool", "refusal", "filter"]

_VOLATILE = VOLATILE | {"encoding_format"}
_CHOICES = 128
_TOKEN = re.compile(r"\S+\s*|\s+")
_encode = msgspec.json.Encoder(order="deterministic").encode


def tokens(text: str) -> list[str]:
    """Split `text` into pieces that join to it again."""
    return _TOKEN.findall(text)


@dataclass(frozen=True, slots=True)
class EchoRequest:
    """A request as the speaker understands it. `tools` are (name, JSON Schema of the arguments)."""

    body: Mapping[str, Any]
    text: str
    last_role: str
    digest: str
    prompt_tokens: int
    tools: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    schema: Mapping[str, Any] | None = None
    reasoning: bool = False
    limit: int | None = None
    n: int = 1

    @property
    def model(self) -> str:
        """The model asked for, echoed in every answer."""
        return str(self.body.get("model", "echo"))


@dataclass(frozen=True, slots=True)
class EchoReply:
    """One answer. `call` is (id, tool name, arguments as JSON); a refusal is in `text` with ending "refusal"."""

    text: str
    ending: Ending = "stop"
    reasoning: str = ""
    call: tuple[str, str, str] | None = None

    @property
    def spent(self) -> int:
        """Completion tokens, the reasoning and tool arguments included."""
        return len(tokens(self.text)) + len(tokens(self.reasoning)) + (len(tokens(self.call[2])) if self.call else 0)


def digest(path: str, body: Mapping[str, Any]) -> str:
    """Name a request by everything in it that may change the answer."""
    kept = {key: value for key, value in body.items() if key not in _VOLATILE}
    return hashlib.blake2b(_encode([path, kept]), digest_size=8).hexdigest()


def read_request(path: str, body: Mapping[str, Any]) -> EchoRequest:
    """Read the request of any dialect.

    Raises AttributeError, LookupError, RecursionError, TypeError or ValueError for what is none, as `reply_to` does.
    """
    asked = next((name for name in ("messages", "input", "prompt") if body.get(name)), None)
    if asked is None:
        raise ValueError("there are no messages")
    if not isinstance(body[asked], list if asked == "messages" else str | list):
        raise TypeError(f"{asked} has the wrong type")
    turns = _turns(body)
    users = [text for role, text in turns if role in {"user", ""}]
    limit = next(
        (body[key] for key in ("max_completion_tokens", "max_tokens", "max_output_tokens") if body.get(key)), 0
    )
    thinking, n = body.get("thinking"), body.get("n") or 1
    if n not in range(1, _CHOICES + 1):
        raise ValueError(f"n must be a number from 1 to {_CHOICES}")
    return EchoRequest(
        body=body,
        text=users[-1] if users else "",
        last_role=turns[-1][0] if turns else "",
        digest=digest(path, body),
        prompt_tokens=sum(len(text.split()) for _, text in turns),
        tools=_tools(body),
        schema=_schema(body),
        reasoning=bool(body.get("reasoning_effort") or body.get("reasoning"))
        or (isinstance(thinking, Mapping) and thinking.get("type") != "disabled"),
        limit=limit or None,
        n=n,
    )


def reply_to(heard: EchoRequest, answers: Answers | None, choice: int = 0) -> EchoReply:
    """Answer choice number `choice`."""
    cue = heard.text.lower()
    reasoning = f"The question has {len(heard.text.split())} words; I repeat them." if heard.reasoning else ""
    if "refuse this" in cue:
        return EchoReply("I cannot help with that.", "refusal", reasoning)
    if heard.tools and "weather" in cue and heard.last_role == "user":
        name, schema = heard.tools[0]
        arguments = msgspec.json.encode(_instance(schema, _subject(heard.text))).decode()
        return EchoReply("", "tool", reasoning, (f"call_{heard.digest}{choice}", name, arguments))
    if heard.schema is not None:
        text = msgspec.json.encode(_instance(heard.schema, heard.text) or {"answer": heard.text}).decode()
    else:
        text = _told(answers, heard) or f"Echo {heard.digest[:6]}: you said “{heard.text}”."
        text += f" (variant {choice + 1})" if choice else ""
    if "content filter" in cue:
        return EchoReply(" ".join(text.split()[:3]), "filter", reasoning)
    words = tokens(text)
    if heard.limit is not None and len(words) > heard.limit:
        return EchoReply("".join(words[: heard.limit]), "length", reasoning)
    return EchoReply(text, "stop", reasoning)


def vector(text: str, dimensions: int) -> list[float]:
    """A unit vector that depends on the text alone."""
    source = random.Random(text)
    values = [source.gauss(0.0, 1.0) for _ in range(dimensions)]
    norm = sum(value * value for value in values) ** 0.5
    return [value / norm for value in values]


def _told(answers: Answers | None, heard: EchoRequest) -> str | None:
    if answers is None:
        return None
    look_up = answers.get if isinstance(answers, Mapping) else answers
    conversation = "\n".join(text for role, text in _turns(heard.body) if role == "user")
    return look_up(conversation) or look_up(heard.text)


def _turns(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    turns = [("system", _text(body[key])) for key in ("system", "instructions") if body.get(key)]
    if "messages" in body:
        turns += [_turn(message) for message in body["messages"]]
    elif isinstance(body.get("input"), list):
        turns += [_turn(item) for item in body["input"]]
    else:
        turns.append(("user", _text(body.get("input", body.get("prompt", "")))))
    return turns


def _turn(item: Any) -> tuple[str, str]:
    if not isinstance(item, Mapping):
        return "user", _text(item)
    if item.get("type") == "function_call_output":
        return "tool", _text(item.get("output"))
    content = item.get("content")
    results = [part for part in _parts(content) if part.get("type") == "tool_result"]
    if results:
        return "tool", " ".join(_text(part.get("content")) for part in results)
    return str(item.get("role", "")), _text(content)


def _parts(content: Any) -> list[Mapping[str, Any]]:
    return [part for part in content if isinstance(part, Mapping)] if isinstance(content, list) else []


def _text(content: Any) -> str:
    if isinstance(content, list):
        return " ".join(_text(part) for part in content)
    if isinstance(content, Mapping):
        return str(content.get("text") or "")
    return "" if content is None else str(content)


def _tools(body: Mapping[str, Any]) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    if body.get("tool_choice") == "none":
        return ()
    found = []
    for tool in body.get("tools") or ():
        spec = tool.get("function", tool)
        if "name" in spec:
            found.append((spec["name"], spec.get("parameters") or spec.get("input_schema") or {}))
    return tuple(found)


def _schema(body: Mapping[str, Any]) -> Mapping[str, Any] | None:
    wanted = body.get("response_format") or (body.get("text") or {}).get("format") or {}
    if wanted.get("type") == "json_object":
        return {}
    if wanted.get("type") == "json_schema":
        schema: Mapping[str, Any] = wanted.get("schema") or wanted.get("json_schema", {}).get("schema") or {}
        return schema
    return None


def _instance(schema: Mapping[str, Any], text: str) -> Any:
    """The plainest value that fits `schema`, with `text` for every free string."""
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return schema["enum"][0]
    for choice in ("anyOf", "oneOf", "allOf"):
        if schema.get(choice):
            return _instance(schema[choice][0], text)
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        return {name: _instance(part, text) for name, part in schema.get("properties", {}).items()}
    if kind == "array":
        return [_instance(schema.get("items", {"type": "string"}), text)]
    plain = {"string": text, "integer": len(text.split()), "number": len(text.split()) + 0.5, "boolean": True}
    return plain.get(kind)


def _subject(text: str) -> str:
    words = re.findall(r"\w+", text)
    return words[-1] if words else "here"
