"""The dialect of Anthropic Messages.

Knows the blocks of /v1/messages and its events. `cache_control` on blocks is a hint to the provider's own prefix cache:
it is forwarded and left out of the identity.
Invariant: assembling the stream of a stored answer gives that answer again; a tool's input keeps the bytes it came in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import msgspec

from semcache.dialects import body as bodies
from semcache.dialects import provider_search, sse
from semcache.dialects.answer import encode, integer, load, parsed, pieces, stored
from semcache.errors import IntegrityError
from semcache.types import Assembled, Endpoint, Request, Traits, Usage

Json: TypeAlias = dict[str, Any]

_VOLATILE = frozenset({"stream", "metadata", "service_tier", "cache_control"})
_CALLER_TOOLS = ("custom", "bash_", "text_editor_", "computer_", "memory_")
_WORDS = ("text", "thinking", "redacted_thinking", "tool_use")  # blocks that hold no more than words
_SIGNED = frozenset({"thinking", "redacted_thinking"})
_COMPLETE = frozenset({"end_turn", "stop_sequence", "tool_use", "refusal"})
_DELTA_USAGE = (
    "input_tokens",
    "cache_creation_input_tokens",
    "cache_read_input_tokens",
    "output_tokens",
    "output_tokens_details",
    "server_tool_use",
)
_ENDING = ("stop_reason", "stop_sequence", "stop_details", "container")
_ERRORS = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    504: "timeout_error",
    529: "overloaded_error",
}

_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class MessagesDialect:
    """The dialect of /v1/messages."""

    endpoint = Endpoint.MESSAGES
    path = "/v1/messages"

    def read(self, raw: bytes) -> Request:
        """Parse a request body."""
        body, raw, controls = bodies.read(raw)
        model = bodies.model(body)
        hinted = b'"cache_control"' in raw
        turns = _turns(body.get("messages"), hinted)
        last = turns[-1]
        content, role = last.get("content"), last["role"]
        results = isinstance(content, list) and any(part.get("type") == "tool_result" for part in content)
        text, frame = bodies.take_last_text(turns, "text") if role == "user" else ("", None)
        identity = bodies.settle(body, _VOLATILE)
        identity["messages"] = turns
        system = body.get("system")
        if system is not None:
            bodies.parts(system, "system")
            identity["system"] = bodies.plain(_unhint(system) if hinted else system, "text")
        tools = bodies.array(body, "tools")
        if hinted and tools:
            identity["tools"] = _unhint(tools)
        if b'"tool_addition"' in raw:
            tools = [*tools, *_added_tools(turns)]
        return Request(
            endpoint=Endpoint.MESSAGES,
            model=model,
            identity=identity,
            text=text,
            raw=raw,
            stream=bodies.flag(body, "stream"),
            traits=Traits(
                temperature=bodies.number(body, "temperature"),
                tools=bool(tools),
                last_role="tool" if results else role if role in ("user", "assistant", "system") else "",
                stateful=bool(body.get("mcp_servers"))
                or any(body.get(key) is not None for key in ("container", "thread"))
                or provider_search.is_asked_for(body)
                or bodies.runs_upstream(tools, _CALLER_TOOLS, untyped="custom"),
                multimodal=bodies.has_parts_beside(content, ("text", "tool_result")),
                system=bodies.text_of(system, "text"),
                turns=len(turns),
            ),
            user=bodies.named(bodies.string(bodies.mapping(body, "metadata"), "user_id") or "", "metadata.user_id")
            or None,
            controls=controls,
            frame=frame,
        )

    def assembler(self) -> MessageAssembler:
        """A reader for one stream."""
        return MessageAssembler()

    def parse(self, body: bytes) -> Assembled:
        """Read a whole answer."""
        return parsed(body, _assemble)

    def unsigned(self, body: bytes) -> bytes:
        """The stored answer without its thinking, unless it is nothing else; the rest keeps its bytes."""
        if b"thinking" not in body:
            return body
        fields = _fields(body)
        blocks = msgspec.json.decode(fields["content"], type=list[msgspec.Raw])
        left = [block for block in blocks if msgspec.json.decode(block).get("type") not in _SIGNED]
        if not left or len(left) == len(blocks):
            return body
        return encode({**fields, "content": left})

    def stream(self, body: bytes, replay: Mapping[str, object]) -> Sequence[bytes]:  # noqa: ARG002
        """The stored answer as events, from `message_start` to `message_stop`."""
        answer = stored(body)
        if not _readable(answer):
            raise IntegrityError("the stored message has no readable content; purge the entry")
        return [sse.event(encode({"type": name, **fields}), name) for name, fields in _events(answer, _inputs(body))]

    def error(self, status: int, message: str, *, code: str, param: str | None = None) -> bytes:  # noqa: ARG002
        """An Anthropic error body; it has no place for `code`, and names `param` in the message."""
        name = _ERRORS.get(status, "api_error" if status >= 500 else "invalid_request_error")
        if param is not None and param not in message:
            message = f"{param}: {message}"
        return encode({"type": "error", "error": {"type": name, "message": message}})


DIALECT = MessagesDialect()


class MessageAssembler(sse.StreamAssembler):
    """Reads a stream of message events."""

    def __init__(self) -> None:
        super().__init__()
        self._message: Json | None = None
        self._blocks: dict[int, Json] = {}
        self._inputs: dict[int, list[str]] = {}

    def finish(self, *, closed: bool = False) -> Assembled:
        """The message so far; complete only after `message_stop`, or if the body closed after a reason to stop."""
        self._close()
        if self._message is None:
            return Assembled(b"{}", "", complete=False)
        for index, parts in self._inputs.items():
            data = "".join(parts).encode("utf-8", "replace")
            if not data.strip():
                continue
            try:
                msgspec.json.decode(data)
            except bodies.UNREADABLE:
                self._broken = True
            else:
                self._blocks[index]["input"] = msgspec.Raw(data)
        self._inputs.clear()
        self._message["content"] = [self._blocks[index] for index in sorted(self._blocks)]
        body = encode(self._message)
        answer = _assemble(self._message, body)
        if (closed or self._terminal is not None) and not self._broken:
            return answer
        return Assembled(body, answer.text, False, answer.refusal, answer.tool_calls, answer.usage)

    def _take(self, event: sse.Event) -> None:
        if event.name == "ping":
            return
        payload = load(event.data)
        if payload is None:
            self._broken = True
            return
        match payload.get("type"):
            case "message_start":
                message = payload.get("message")
                self._message = message if isinstance(message, dict) else None
                self._broken = self._message is None
            case "content_block_start":
                index, block = payload.get("index"), payload.get("content_block")
                if isinstance(index, int) and isinstance(block, dict):
                    self._blocks[index] = block
                else:
                    self._broken = True
            case "content_block_delta":
                self._broken = not self._extend(payload.get("index"), payload.get("delta"))
            case "message_delta":
                self._broken = not self._end(payload)
            case "message_stop":
                self._terminal = event.start
            case "error":
                self._broken = True
            case _:
                pass

    def _extend(self, index: object, delta: object) -> bool:
        if not isinstance(index, int) or index not in self._blocks or not isinstance(delta, dict):
            return False
        block = self._blocks[index]
        name = delta.pop("type", None)
        if name == "input_json_delta":
            part = delta.get("partial_json")
            self._inputs.setdefault(index, []).append(part if isinstance(part, str) else "")
            return isinstance(part, str)
        if name == "citations_delta":
            known = block.get("citations")
            block["citations"] = [*(known if isinstance(known, list) else ()), delta.get("citation")]
            return True
        for key, value in delta.items():
            old = block.get(key)
            # A signature comes whole; every other string arrives in pieces.
            if isinstance(value, str) and isinstance(old, str) and key != "signature":
                block[key] = None  # The only reference is then `old`, and the string grows in place.
                old += value
                block[key] = old
            else:
                block[key] = value
        return True

    def _end(self, payload: Json) -> bool:
        message, delta, usage = self._message, payload.get("delta"), payload.get("usage")
        if message is None or not isinstance(delta, dict):
            return False
        message.update(delta)
        if isinstance(usage, dict):
            known = message.setdefault("usage", {})
            if not isinstance(known, dict):
                return False
            known.update({key: value for key, value in usage.items() if value is not None or key not in known})
        message.update({key: value for key, value in payload.items() if key not in ("type", "delta", "usage")})
        return True


def _turns(messages: object, hinted: bool) -> list[Json]:
    """The messages in one spelling, without cache hints."""
    turns: list[Json] = []
    for place, message in bodies.objects(messages, "messages"):
        bodies.role(message, place)
        content = message.get("content")
        bodies.parts(content, f"{place}.content")
        settled = bodies.plain(_unhint(content) if hinted else content, "text")
        turns.append(message if settled is content else {**message, "content": settled})
    return turns


def _added_tools(turns: list[Json]) -> Iterator[Any]:
    """The tools that blocks of a conversation define, None for those that cannot be read."""
    for turn in turns:
        content = turn.get("content")
        for block in content if isinstance(content, list) else ():
            if block.get("type") == "tool_addition":
                added = block.get("tool")
                if not isinstance(added, dict) or added.get("type") == "tool_definition":
                    yield added.get("definition") if isinstance(added, dict) else None


def _unhint(blocks: Any) -> Any:
    """Blocks, or tools, without the hints on them and on the blocks they contain."""
    if not isinstance(blocks, list):
        return blocks
    plain: list[Any] = []
    for block in blocks:
        if not isinstance(block, dict):
            plain.append(block)
            continue
        kept = {key: value for key, value in block.items() if key != "cache_control"}
        if "content" in kept:
            kept["content"] = _unhint(kept["content"])
        source = kept.get("source")
        if isinstance(source, dict) and "content" in source:
            kept["source"] = {**source, "content": _unhint(source["content"])}
        plain.append(kept)
    return plain


def _readable(answer: Json) -> bool:
    content, usage = answer.get("content"), answer.get("usage")
    return (
        answer.get("type") == "message"
        and isinstance(content, list)
        and all(isinstance(block, dict) and isinstance(block.get("type"), str) for block in content)
        and isinstance(usage, dict)
    )


def _assemble(answer: Json, body: bytes) -> Assembled:
    usage = answer.get("usage")
    spent = Usage()
    if isinstance(usage, dict):
        fresh, written, cached = (
            integer(usage.get(key))
            for key in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
        )
        spent = Usage(fresh + written + cached, integer(usage.get("output_tokens")), cached, written)
    if not _readable(answer):
        return Assembled(body, "", complete=False, usage=spent)
    texts = [block.get("text") for block in answer["content"] if block.get("type") == "text"]
    reason = answer.get("stop_reason")
    return Assembled(
        body,
        "".join(text for text in texts if isinstance(text, str)),
        complete=isinstance(reason, str) and reason in _COMPLETE,
        refusal=reason == "refusal",
        tool_calls=any(block.get("type") == "tool_use" for block in answer["content"]),
        usage=spent,
        wordless=any(block.get("type") not in _WORDS for block in answer["content"]),
    )


def _inputs(body: bytes) -> list[str]:
    """The input of every block as it was written, "" for a block without one."""
    blocks = msgspec.json.decode(_fields(body)["content"], type=list[dict[str, msgspec.Raw]])
    return [bytes(block.get("input", b"")).decode("utf-8", "replace").strip() for block in blocks]


def _events(answer: Json, inputs: Sequence[str]) -> Iterator[tuple[str, Json]]:
    usage = answer["usage"]
    ending = {key: answer[key] for key in _ENDING if key in answer}
    started = {**answer, **dict.fromkeys(ending), "content": []}
    if "output_tokens" in usage:
        started["usage"] = {**usage, "output_tokens": min(1, integer(usage["output_tokens"]))}
    yield "message_start", {"message": started}
    for index, block in enumerate(answer["content"]):
        opened, deltas = _open(block, inputs[index])
        yield "content_block_start", {"index": index, "content_block": opened}
        for delta in deltas:
            yield "content_block_delta", {"index": index, "delta": delta}
        yield "content_block_stop", {"index": index}
    spent = {key: usage[key] for key in _DELTA_USAGE if usage.get(key) is not None}
    yield "message_delta", {"delta": ending, "usage": spent}
    yield "message_stop", {}


def _open(block: Json, given: str) -> tuple[Json, list[Json]]:
    """A block as it starts, and the deltas that complete it; its input was `given` in these words."""
    opened, deltas = dict(block), []
    text = block.get("text")
    if block.get("type") == "text" and isinstance(text, str):
        opened["text"] = ""
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces(text)]
        if isinstance(block.get("citations"), list):
            opened["citations"] = []
            deltas += [{"type": "citations_delta", "citation": citation} for citation in block["citations"]]
    elif block.get("type") == "thinking" and isinstance(block.get("thinking"), str):
        opened["thinking"] = ""
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces(block["thinking"])]
        if isinstance(block.get("signature"), str):
            opened["signature"] = ""
            deltas.append({"type": "signature_delta", "signature": block["signature"]})
    elif block.get("type") in ("tool_use", "server_tool_use") and isinstance(block.get("input"), dict):
        opened["input"] = {}
        written = given if block["input"] else ""
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ["", *pieces(written)]]
    return opened, deltas
