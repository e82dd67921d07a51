"""The dialect of OpenAI chat completions.

Knows the fields of requests, answers and chunks of /v1/chat/completions; leaves every field it does not read as it is.
Invariant: assembling the stream of a stored answer gives that answer again, usage included if it was asked for.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from typing import Any

from semcache.dialects import body as bodies
from semcache.dialects import provider_search
from semcache.dialects.answer import encode, openai_error, parsed, pieces, stored
from semcache.dialects.choices import (
    FINISHED,
    WHOLE,
    ChunkAssembler,
    Json,
    choices_of,
    chunks,
    keep_last,
    merge_field,
    usage_of,
)
from semcache.errors import IntegrityError
from semcache.types import Assembled, Endpoint, Request, Traits

_ROLES: dict[str, Any] = {
    "user": "user",
    "tool": "tool",
    "function": "tool",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}
_CALLER_TOOLS = ("function", "custom")
_WITH_LOGPROBS = ("content", "refusal")
_SIGNED = ("reasoning_details", "thinking_blocks")  # of OpenRouter, and of LiteLLM


class ChatDialect:
    """The dialect of /v1/chat/completions."""

    endpoint = Endpoint.CHAT
    path = "/v1/chat/completions"

    def read(self, raw: bytes) -> Request:
        """Parse a request body."""
        body, raw, controls = bodies.read(raw)
        model = bodies.model(body)
        turns, system, stateful = _turns(body.get("messages"), bodies.is_hinted(raw))
        last = turns[-1]
        content, role = last.get("content"), _ROLES.get(last["role"], "")
        text, frame = bodies.take_last_text(turns, "text") if role == "user" else ("", None)
        tools = bodies.array(body, "tools")
        identity = bodies.settle(body)
        identity["messages"] = turns
        return Request(
            endpoint=Endpoint.CHAT,
            model=model,
            identity=identity,
            text=text,
            raw=raw,
            stream=bodies.flag(body, "stream"),
            replay={"include_usage": bodies.include_usage(body)}
            | ({"deletable": True} if body.get("store") is True else {}),
            traits=Traits(
                temperature=bodies.number(body, "temperature"),
                tools=bool(tools or body.get("functions")),
                last_role=role,
                stateful=stateful
                or provider_search.is_asked_for(body)
                or bodies.runs_upstream(tools, _CALLER_TOOLS, untyped="function"),
                multimodal=bodies.has_parts_beside(content, ("text",)),
                system=system,
                turns=len(turns),
                repeats_prompt=bodies.repeats_prompt(body),
            ),
            user=bodies.user(body),
            controls=controls,
            frame=frame,
        )

    def assembler(self) -> ChunkAssembler:
        """A reader for one stream."""
        return ChunkAssembler(object_name="chat.completion", merge=_merge, settle=_settle, assemble=_assemble)

    def parse(self, body: bytes) -> Assembled:
        """Read a whole answer."""
        return parsed(body, _assemble)

    def unsigned(self, body: bytes) -> bytes:
        """The stored answer without the reasoning that a provider has signed or encrypted."""
        if not any(f'"{name}"'.encode() in body for name in _SIGNED):
            return body
        answer = stored(body)
        for choice in choices_of(answer) or ():
            message = choice.get("message")
            for name in _SIGNED:
                if isinstance(message, dict) and _is_signed(message.get(name)):
                    del message[name]
        return encode(answer)

    def stream(self, body: bytes, replay: Mapping[str, object]) -> Sequence[bytes]:
        """The stored answer as chunks and `[DONE]`."""
        answer = stored(body)
        choices = choices_of(answer)
        if choices is None or not all(_readable(choice.get("message")) for choice in choices):
            raise IntegrityError("the stored chat completion has no readable choices; purge the entry")
        with_usage = replay.get("include_usage") is True
        return chunks(answer, choices, _updates, include_usage=with_usage, object="chat.completion.chunk")

    def error(self, status: int, message: str, *, code: str, param: str | None = None) -> bytes:
        """An OpenAI error body."""
        return openai_error(status, message, code=code, param=param)


DIALECT = ChatDialect()


def _turns(messages: object, hinted: bool) -> bodies.PlainTurns:
    turns: list[Json] = []
    system: list[str] = []
    stateful = False
    for place, message in bodies.objects(messages, "messages"):
        role, content = bodies.role(message, place), message.get("content")
        bodies.parts(content, f"{place}.content")
        if role in ("system", "developer"):
            system.append(bodies.text_of(content, "text"))
        if message.get("audio") is not None:
            stateful = True
        settled = bodies.plain(bodies.unhinted(content) if hinted else content, "text")
        turns.append(message if settled is content else {**message, "content": settled})
    return bodies.PlainTurns(turns, "\n".join(system), stateful)


def _merge(choice: Json, update: Json) -> bool:
    delta = update.get("delta")
    for key, value in update.items():
        if key not in ("delta", "index"):
            keep_last(choice, key, value)
    if delta is None:
        return True
    if not isinstance(delta, dict):
        return False
    message = choice.setdefault("message", {})
    for key, value in delta.items():
        if key == "tool_calls" and value is not None:
            if not isinstance(value, list):
                return False
            calls = message.get(key)
            if not isinstance(calls, _Calls):
                calls = message[key] = _Calls()
            if not all(_merge_call(calls, call) for call in value):
                return False
        elif key != "obfuscation":
            if key == "audio" and isinstance(value, dict):
                _join_sound(message.get(key), value)
            merge_field(message, key, value)
    return True


def _join_sound(known: object, update: Json) -> None:
    """Take the padding out of what is known of a sound: every piece of it is base64 of its own."""
    old, piece = (known.get("data") if isinstance(known, dict) else None), update.get("data")
    if not isinstance(known, dict) or not isinstance(old, str) or not old.endswith("=") or not isinstance(piece, str):
        return
    try:
        update["data"] = b64encode(b64decode(old[-4:]) + b64decode(piece)).decode()
    except ValueError:
        return
    known["data"] = old[:-4]


class _Calls(dict[int, Json]):
    """Tool calls by number. `latest` is the number of the last one that came under an index."""

    def __init__(self) -> None:
        super().__init__()
        self.latest: dict[int, int] = {}


def _merge_call(calls: _Calls, call: object) -> bool:
    if not isinstance(call, dict):
        return False
    index = call.pop("index", None)
    if index is None:
        # Some servers leave the index out: a new id starts a call, anything else continues the last one.
        number = max(calls, default=-1)
        if number < 0 or (call.get("id") and call["id"] != calls[number].get("id")):
            number += 1
    elif not isinstance(index, int) or isinstance(index, bool):
        return False
    else:
        number = calls.latest.get(index, index)
        if _begins_another(calls.get(number), call):
            # Gemini gives all parallel calls the index 0.
            number = max(calls) + 1
        calls.latest[index] = number
    known = calls.setdefault(number, {})
    for key, value in call.items():
        merge_field(known, key, value)
    return True


def _begins_another(known: Json | None, call: Json) -> bool:
    """Return True for a name under another id: some servers repeat either, or draw a new id for every piece."""
    function = call.get("function", call.get("custom"))
    named = isinstance(function, dict) and bool(function.get("name"))
    return known is not None and named and bool(known.get("id") and call.get("id")) and known["id"] != call["id"]


def _settle(choice: Json) -> Json:
    message = choice.pop("message", {})
    calls = message.get("tool_calls")
    if isinstance(calls, dict):
        message["tool_calls"] = [calls[index] for index in sorted(calls)]
    whole = {"role": message.pop("role", "assistant"), "content": message.pop("content", None), **message}
    return {
        "index": choice.pop("index"),
        "message": whole,
        "finish_reason": choice.pop("finish_reason", None),
        **choice,
    }


def _assemble(answer: Json, body: bytes) -> Assembled:
    choices = choices_of(answer)
    if choices is None:
        return Assembled(body, "", complete=False, usage=usage_of(answer))
    complete, refusal, tool_calls, wordless, text = True, False, False, False, ""
    until: float | None = None
    for choice in reversed(choices):
        message, reason = choice.get("message"), choice.get("finish_reason")
        if not isinstance(message, dict):
            return Assembled(body, "", complete=False, usage=usage_of(answer))
        calls, content = message.get("tool_calls"), message.get("content")
        complete = complete and _readable(message) and isinstance(reason, str) and reason in FINISHED
        refusal = refusal or reason == "content_filter" or bool(message.get("refusal"))
        tool_calls = tool_calls or bool(calls) or bool(message.get("function_call"))
        wordless = wordless or bool(message.get("audio") or message.get("images"))
        until = _earlier(until, message.get("audio"))
        text = content if isinstance(content, str) else _joined(content)
    return Assembled(body, text, complete, refusal, tool_calls, usage_of(answer), wordless, until)


def _earlier(until: float | None, sound: object) -> float | None:
    """The time until which a sound may be named in later turns, unless `until` is earlier."""
    told = sound.get("expires_at") if isinstance(sound, dict) else None
    if not isinstance(told, int | float) or isinstance(told, bool):
        return until
    return told if until is None else min(until, told)


def _is_signed(reasoning: object) -> bool:
    """Return True for parts of which one has a signature, or holds what only its provider can read."""
    return isinstance(reasoning, list) and any(
        isinstance(part, dict) and (part.get("signature") or part.get("data")) for part in reasoning
    )


def _readable(message: object) -> bool:
    if not isinstance(message, dict):
        return False
    calls = message.get("tool_calls")
    return calls is None or (isinstance(calls, list) and all(isinstance(call, dict) for call in calls))


def _joined(content: object) -> str:
    if not isinstance(content, list):
        return ""
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    return "".join(text for text in texts if isinstance(text, str))


def _updates(index: int, choice: Json) -> list[Json]:
    """The chunks' updates of one choice: role first, then reasoning, texts and calls, then how it ended."""
    message = choice["message"]
    logprobs = choice.get("logprobs")
    known = logprobs if isinstance(logprobs, dict) else {}
    first, texts = _parted(message)
    deltas: list[tuple[Json, Json]] = [(first, {})]
    sent = {key for key, _ in texts if _tokens_of(key, known)}
    for key, value in texts:
        deltas.extend(_text_parts(key, value, known))
    for position, call in enumerate(message.get("tool_calls") or ()):
        deltas.extend(({"tool_calls": [part]}, {}) for part in _call_parts(position, call))
    without: Json = {"logprobs": None} if "logprobs" in choice else {}
    updates = [{"index": index, "delta": delta, **without, "finish_reason": None, **extra} for delta, extra in deltas]
    end = {key: value for key, value in choice.items() if key not in ("index", "message", "logprobs", "finish_reason")}
    if logprobs is not None:
        left = {key: value for key, value in known.items() if key not in sent and value is not None}
        without = {"logprobs": (left or None) if sent else logprobs}
    updates.append({**end, "index": index, "delta": {}, **without, "finish_reason": choice.get("finish_reason")})
    return updates


def _tokens_of(key: str, known: Json) -> list[Any]:
    """The log probabilities of a text's tokens; none for most texts."""
    tokens = known.get(key) if key in _WITH_LOGPROBS else None
    return tokens if isinstance(tokens, list) else []


def _text_parts(key: str, text: str, known: Json) -> list[tuple[Json, Json]]:
    """A text in pieces, each with the log probabilities of its tokens where those are known."""
    tokens = _tokens_of(key, known)
    if not tokens:
        return [({key: piece}, {}) for piece in pieces(text)]
    empty = {name: None for name in _WITH_LOGPROBS if name in known}
    return [({key: piece}, {"logprobs": {**empty, key: part}}) for piece, part in _by_token(text, tokens)]


def _parted(message: Json) -> tuple[Json, list[tuple[str, str]]]:
    """The part of a message that the first chunk says at once, and the texts that follow in pieces, the answer last."""
    first: Json = {}
    texts: list[tuple[str, str]] = []
    for key, value in message.items():
        if key == "tool_calls" and value:
            continue
        if isinstance(value, str) and value and key not in WHOLE:
            texts.append((key, value))
            if key == "content":
                first[key] = ""
        else:
            first[key] = value
    return first, sorted(texts, key=lambda text: text[0] in _WITH_LOGPROBS)


def _by_token(text: str, tokens: list[Any]) -> list[tuple[str, list[Any]]]:
    """Pair pieces of a text with the log probabilities of their tokens."""
    names = [token.get("token") if isinstance(token, dict) else None for token in tokens]
    if not all(isinstance(name, str) for name in names) or "".join(names) != text:  # type: ignore[arg-type]
        return [(piece, tokens if not at else []) for at, piece in enumerate(pieces(text))]
    size = max(40, -(-len(text) // 16))
    groups: list[tuple[str, list[Any]]] = []
    piece, group = "", []
    for name, token in zip(names, tokens, strict=True):
        piece += str(name)
        group.append(token)
        if len(piece) >= size:
            groups.append((piece, group))
            piece, group = "", []
    return [*groups, (piece, group)] if group else groups


def _call_parts(position: int, call: Json) -> list[Json]:
    """A tool call as the API streams it: name first, then its arguments."""
    function = call.get("function")
    if not isinstance(function, dict) or not isinstance(function.get("arguments"), str) or not function["arguments"]:
        return [{**call, "index": position}]
    head = {"index": position, **{key: value for key, value in call.items() if key != "index"}}
    head["function"] = {**function, "arguments": ""}
    return [head, *({"index": position, "function": {"arguments": part}} for part in pieces(function["arguments"]))]
