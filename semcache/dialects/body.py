"""Request bodies: decoding, the checks that the dialects share, and taking the last user turn's text out.

Knows JSON and the habit of writing text either as a string or as typed parts; knows no endpoint.
Invariant: (what stays, text) determines the content up to spellings that mean the same; two contents that differ
never give the same pair.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Any, NamedTuple

import msgspec

from semcache.dialects.controls import LONGEST_NAME, from_body, kind, refusal
from semcache.dialects.json_shape import members_of, shape
from semcache.request import framed
from semcache.request.keys import plain_number
from semcache.types import Controls, Frame

MAX_DEPTH = 128
MOST_TURNS = 10_000  # messages, items or blocks of a request
UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)
VOLATILE = frozenset(
    {
        "stream",
        "stream_options",
        "user",
        "safety_identifier",
        "metadata",
        "store",
        "service_tier",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
    }
)
"""Fields of the OpenAI dialects that do not change the answer."""
_WISHES = frozenset(
    ("no", "off", "none", "false", "never", "bypass", "disabled", "no-store", "no-cache", "no_store", "no_cache")
)

_HINT = "prompt_cache_breakpoint"  # of OpenAI, on a part of a content: where its own prefix cache may end

_decode = msgspec.json.Decoder().decode
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
encode = msgspec.json.Encoder().encode


class Body(NamedTuple):
    """A body without our `cache` object, the bytes to forward, and what the object asked for."""

    fields: dict[str, Any]
    raw: bytes
    controls: Controls


class TakenQuestion(NamedTuple):
    """A content without its question: the part that stays in the identity, the question, and the frame around that."""

    kept: Any
    question: str
    frame: Frame | None = None


class PlainTurns(NamedTuple):
    """Messages in one spelling, their system prompt, and whether one names state that the upstream holds."""

    messages: list[dict[str, Any]]
    system: str = ""
    stateful: bool = False


def read(raw: bytes) -> Body:
    """Read a body."""
    found = shape(raw)
    try:
        body = _decode(raw)
    except RecursionError as error:
        raise refusal(f"the body is nested deeper than {MAX_DEPTH} levels", None) from error
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise refusal(f"the body is not valid JSON: {error}", None) from error
    if not isinstance(body, dict):
        raise refusal(f"the body must be a JSON object, not {kind(body)}", None)
    if found.containers > MAX_DEPTH:
        _check_depth(body)
    if members_of(body) != found.members:
        # The upstream may take the first of two members of one name, where the last was read: it gets what was read.
        raw = encode(body)
    wishes = body.get("cache")
    if (isinstance(wishes, str) and wishes.strip().lower() in _WISHES) or isinstance(wishes, bool | list | int | float):
        # Whoever writes `"cache": false` wants less of it, and must not get all.
        raise refusal(f'cache must be an object such as {{"no-store": true}}, not {wishes!r}', "cache")
    if not isinstance(wishes, dict):
        # A field of the upstream's own.
        return Body(body, raw, Controls())
    controls = from_body(wishes)
    del body["cache"]
    fields = _fields(raw)
    del fields["cache"]
    return Body(body, encode(fields), controls)


def _check_depth(body: object) -> None:
    level, depth = [body], 0
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise refusal(f"the body is nested deeper than {MAX_DEPTH} levels", None)
        level = [
            child
            for node in level
            for child in (node.values() if isinstance(node, dict) else node)  # type: ignore[attr-defined]
            if isinstance(child, dict | list)
        ]


def string(body: dict[str, Any], key: str) -> str | None:
    """A field that is a string, null or absent."""
    value = body.get(key)
    if value is None or isinstance(value, str):
        return value
    raise refusal(f"{key} must be a string, not {kind(value)}", key)


def model(body: dict[str, Any]) -> str:
    """The model, which every request names."""
    value = body.get("model")
    if isinstance(value, str) and value:
        return named(value, "model")
    raise refusal("model is missing" if value is None else "model must be a string that is not empty", "model")


def flag(body: dict[str, Any], key: str) -> bool:
    """A field that is a boolean, null or absent; both of the latter are False."""
    value = body.get(key)
    if value is None or isinstance(value, bool):
        return bool(value)
    raise refusal(f"{key} must be true or false, not {kind(value)}", key)


def number(body: dict[str, Any], key: str) -> float | None:
    """A field that is a number, null or absent."""
    value = body.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise refusal(f"{key} must be a number, not {kind(value)}", key)
    try:
        return float(value)
    except OverflowError as error:
        raise refusal(f"{key} is too large a number", key) from error


def array(body: dict[str, Any], key: str) -> list[Any]:
    """A field that is an array, null or absent; both of the latter are empty."""
    value = body.get(key)
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise refusal(f"{key} must be an array, not {kind(value)}", key)


def mapping(body: dict[str, Any], key: str) -> dict[str, Any]:
    """A field that is an object, null or absent; both of the latter are empty."""
    value = body.get(key)
    if value is None:
        return {}
    if isinstance(value, dict):
        return value
    raise refusal(f"{key} must be an object, not {kind(value)}", key)


def user(body: dict[str, Any]) -> str | None:
    """The user that an OpenAI request is made for."""
    return named(string(body, "safety_identifier") or string(body, "user") or "", "user") or None


def named(value: str, key: str) -> str:
    """A name that is part of a key, which must not be long."""
    if len(value) > LONGEST_NAME:
        raise refusal(f"{key} must have at most {LONGEST_NAME} characters", key)
    return value


def settle(body: dict[str, Any], volatile: frozenset[str] = VOLATILE) -> dict[str, Any]:
    """A body without its volatile fields, one spelling for numbers (1.0 is 1) and for `n` (absent, null and 1)."""
    kept = {key: plain_number(value) for key, value in body.items() if key not in volatile}
    count = kept.get("n", 0)
    if count is None or (count == 1 and count is not True):
        del kept["n"]
    return kept


def with_usage(raw: bytes) -> bytes:
    """The bytes of a streaming request that asks for the usage at its end; every other value as it was."""
    fields = _fields(raw)
    try:
        options = _fields(fields["stream_options"]) if fields.get("stream_options", b"null") != b"null" else {}
    except (msgspec.MsgspecError, KeyError):
        return raw
    options["include_usage"] = msgspec.Raw(b"true")
    fields["stream_options"] = msgspec.Raw(encode(options))
    return encode(fields)


def include_usage(body: dict[str, Any]) -> bool:
    """Return True if an OpenAI request asks for the usage at the end of a stream."""
    return mapping(body, "stream_options").get("include_usage") is True


def objects(given: object, name: str, *, kinds: str = "an array") -> Iterator[tuple[str, dict[str, Any]]]:
    """The objects of an array that must not be missing or empty, each with the name of its place."""
    if given is None:
        raise refusal(f"{name} is missing", name)
    if not isinstance(given, list):
        raise refusal(f"{name} must be {kinds}, not {kind(given)}", name)
    if not given:
        raise refusal(f"{name} must not be empty", name)
    if len(given) > MOST_TURNS:
        raise refusal(f"{name} must have at most {MOST_TURNS} items, not {len(given)}", name)
    for position, item in enumerate(given):
        place = f"{name}[{position}]"
        if not isinstance(item, dict):
            raise refusal(f"{place} must be an object, not {kind(item)}", place)
        yield place, item


def role(turn: dict[str, Any], place: str) -> str:
    """The role of a turn, which must be a string."""
    value = turn.get("role")
    if not isinstance(value, str):
        raise refusal(f"{place}.role must be a string", f"{place}.role")
    return value


def repeats_prompt(body: dict[str, Any]) -> bool:
    """Return True if the answer is to repeat the prompt (`echo`), or to tell of it: of its tokens, or of what is bad.

    vLLM tells of tokens, OpenAI's `moderation` of what may be bad.
    """
    asked = (body.get(key) for key in ("echo", "prompt_logprobs", "return_token_ids", "moderation"))
    return any(value is not None and value is not False for value in asked)


def runs_upstream(tools: Iterable[Any], own: tuple[str, ...], *, untyped: str = "") -> bool:
    """Return True if a declared tool is one that the upstream runs: its type is none of the caller's `own`.

    A name in `own` that ends in "_" stands for every type that begins with it; `untyped` is the type of a tool that
    states none, but has a name. A `namespace` among `own` is the caller's if all tools in it are.
    """
    families = tuple(name for name in own if name.endswith("_"))
    for tool in tools:
        if not isinstance(tool, dict):
            return True
        named = "function" in tool or "name" in tool
        name = tool.get("type", untyped if named else None)
        if not isinstance(name, str) or not (name in own or name.startswith(families)):
            return True
        if name == "namespace":
            grouped = tool.get("tools")
            if not isinstance(grouped, list) or runs_upstream(grouped, own, untyped=untyped):
                return True
    return False


def parts(content: object, where: str) -> None:
    """Check that a turn's content is a string, null, or an array of objects whose text is a string."""
    if content is None or isinstance(content, str):
        return
    if not isinstance(content, list):
        raise refusal(f"{where} must be a string or an array, not {kind(content)}", where)
    for position, part in enumerate(content):
        if not isinstance(part, dict):
            raise refusal(f"{where}[{position}] must be an object, not {kind(part)}", f"{where}[{position}]")
        if part.get("type") in ("text", "input_text") and not isinstance(part.get("text"), str):
            raise refusal(f"{where}[{position}].text must be a string", f"{where}[{position}].text")


def is_hinted(raw: bytes) -> bool:
    """Return True if a body may have hints to the prefix cache of OpenAI."""
    return f'"{_HINT}"'.encode() in raw


def unhinted(content: Any) -> Any:
    """A content without the hints to OpenAI's prefix cache on its parts."""
    if not isinstance(content, list):
        return content
    return [
        {key: value for key, value in part.items() if key != _HINT} if isinstance(part, dict) else part
        for part in content
    ]


def plain(content: Any, text_type: str) -> Any:
    """One spelling for a content that is nothing but text: a single text part becomes a string."""
    if isinstance(content, list) and len(content) == 1:
        part = content[0]
        if len(part) == 2 and part.get("type") == text_type and "text" in part:
            return part["text"]
    return content


def text_of(content: Any, text_type: str) -> str:
    """The text of a content, parts joined by newlines."""
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or () if part.get("type") == text_type)


def has_parts_beside(content: Any, types: Container[str]) -> bool:
    """Return True if a content has parts of other types than these."""
    return isinstance(content, list) and any(part.get("type") not in types for part in content)


def take_last_text(turns: list[dict[str, Any]], text_type: str) -> tuple[str, Frame | None]:
    """Take the text out of the last turn, and return it; of a question among material, the question and its frame."""
    kept, text, frame = take_question(turns[-1].get("content"), text_type)
    turns[-1] = {**turns[-1], "content": kept}
    return text, frame


def take_question(content: Any, text_type: str) -> TakenQuestion:
    """Split a content into what stays in the identity, the question, and the frame around it if there is one.

    A frame stays in the identity, in a form that no content of a client has.
    """
    kept, text = take_text(content, text_type)
    found = framed.split(text) if kept == [{"type": text_type}] else None
    if found is None:
        return TakenQuestion(kept, text)
    return TakenQuestion(framed.placeholder(found.frame), *found)


def take_text(content: Any, text_type: str) -> tuple[Any, str]:
    """Split a turn's content into what stays in the identity and its text, parts joined by newlines.

    Placeholders keep the positions of the text parts; among several, each says how many line breaks it had, because
    the joined text alone no longer tells where one part ends.
    """
    content = plain(content, text_type)
    text = text_of(content, text_type)
    if not text:
        return content, ""
    if isinstance(content, str):
        return [{"type": text_type}], text
    several = sum(part.get("type") == text_type for part in content) > 1
    kept = []
    for part in content:
        if part.get("type") != text_type:
            kept.append(part)
            continue
        placeholder = {key: value for key, value in part.items() if key != "text"}
        if several and "\n" in part["text"]:
            placeholder["lines"] = part["text"].count("\n") + 1
        kept.append(placeholder)
    return kept, text
