"""Response bodies and event streams of each API, in the shapes of the real services.

Knows nothing of sockets, timing or what is said. Ids and times are arguments.
Invariant: the events of a stream, assembled as the vendor's SDK does it, give the same answer as the whole body.
"""

from __future__ import annotations

import base64
import math
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from semcache.upstream.backends.echo_answers import EchoReply, EchoRequest, tokens, vector

Json = dict[str, Any]
DONE = b"data: [DONE]\n\n"
_DIMENSIONS, _MOST_DIMENSIONS = 64, 4096
_FINISH = {"stop": "stop", "length": "length", "tool": "tool_calls", "refusal": "stop", "filter": "content_filter"}
_STOP_REASON = {
    "stop": "end_turn",
    "length": "max_tokens",
    "tool": "tool_use",
    "refusal": "refusal",
    "filter": "refusal",
}
_encode = msgspec.json.encode


def event(data: Json, name: str | None = None) -> bytes:
    """One server-sent event."""
    head = b"event: " + name.encode() + b"\n" if name else b""
    return head + b"data: " + _encode(data) + b"\n\n"


def error(path: str, status: int, message: str) -> bytes:
    """An error body as the API behind `path` writes it."""
    kinds = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}
    kind = kinds.get(status, "invalid_request_error" if status < 500 else "api_error")
    if path.startswith("/v1/messages"):
        return _encode({"type": "error", "error": {"type": kind, "message": message}})
    return _encode({"error": {"message": message, "type": kind, "param": None, "code": str(status)}})


def _usage(heard: EchoRequest, said: Sequence[EchoReply]) -> Json:
    spent = sum(answer.spent for answer in said)
    reasoned = sum(len(tokens(answer.reasoning)) for answer in said)
    return {
        "prompt_tokens": heard.prompt_tokens,
        "completion_tokens": spent,
        "total_tokens": heard.prompt_tokens + spent,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": reasoned,
            "audio_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
        },
    }


def _logprob(token: str, top: int) -> Json:
    value = {"token": token, "logprob": -math.log1p(len(token)), "bytes": list(token.encode())}
    return {**value, "top_logprobs": [value] if top else []}


class EchoChat:
    """`/v1/chat/completions`."""

    def __init__(self, heard: EchoRequest, said: Sequence[EchoReply], id: str, created: int) -> None:
        self._request, self._said, self._created = heard, said, created
        self._id = f"chatcmpl-{id}"
        self._logprobs = bool(heard.body.get("logprobs"))
        self._top = int(heard.body.get("top_logprobs") or 0)
        self._include_usage = bool((heard.body.get("stream_options") or {}).get("include_usage"))

    def body(self) -> Json:
        """The whole answer."""
        choices = []
        for index, answer in enumerate(self._said):
            message: Json = {"role": "assistant", "content": answer.text or None, "refusal": None, "annotations": []}
            if answer.ending == "refusal":
                message.update(content=None, refusal=answer.text)
            if answer.reasoning:
                message["reasoning_content"] = answer.reasoning
            if answer.call:
                call_id, name, arguments = answer.call
                call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
                message["tool_calls"] = [call]
            logprobs = None
            if self._logprobs:
                logprobs = {"content": [_logprob(word, self._top) for word in tokens(answer.text)], "refusal": None}
            finish = _FINISH[answer.ending]
            choices.append({"index": index, "message": message, "logprobs": logprobs, "finish_reason": finish})
        return {
            **self._head("chat.completion"),
            "choices": choices,
            "usage": _usage(self._request, self._said),
        }

    def events(self) -> Iterator[bytes]:
        """The events of a stream."""
        for index, _ in enumerate(self._said):
            yield self._chunk(index, {"role": "assistant", "content": "", "refusal": None})
        for index, answer in enumerate(self._said):
            for word in tokens(answer.reasoning):
                yield self._chunk(index, {"reasoning_content": word})
            for word in tokens(answer.text):
                refused = answer.ending == "refusal"
                logprobs = {"content": [_logprob(word, self._top)], "refusal": None} if self._logprobs else None
                yield self._chunk(index, {"refusal" if refused else "content": word}, logprobs=logprobs)
            if answer.call:
                call_id, name, arguments = answer.call
                call: Json = {
                    "index": 0,
                    "id": call_id,
                    "type": "function",
                    "function": {"name": name, "arguments": ""},
                }
                yield self._chunk(index, {"tool_calls": [call]})
                for piece in tokens(arguments):
                    yield self._chunk(index, {"tool_calls": [{"index": 0, "function": {"arguments": piece}}]})
        for index, answer in enumerate(self._said):
            yield self._chunk(index, {}, finish=_FINISH[answer.ending])
        if self._include_usage:
            usage = _usage(self._request, self._said)
            yield event({**self._head("chat.completion.chunk"), "choices": [], "usage": usage})
        yield DONE

    def _head(self, kind: str) -> Json:
        head = {"id": self._id, "object": kind, "created": self._created, "model": self._request.model}
        return {**head, "service_tier": "default", "system_fingerprint": "fp_echo"}

    def _chunk(self, index: int, delta: Json, *, logprobs: Json | None = None, finish: str | None = None) -> bytes:
        choice = {"index": index, "delta": delta, "logprobs": logprobs, "finish_reason": finish}
        usage = {"usage": None} if self._include_usage else {}
        return event({**self._head("chat.completion.chunk"), "choices": [choice], **usage})


class EchoCompletion:
    """`/v1/completions`, one prompt."""

    def __init__(self, heard: EchoRequest, said: Sequence[EchoReply], id: str, created: int) -> None:
        self._request, self._said = heard, said
        self._head = {"id": f"cmpl-{id}", "object": "text_completion", "created": created, "model": heard.model}
        self._include_usage = bool((heard.body.get("stream_options") or {}).get("include_usage"))

    def body(self) -> Json:
        """The whole answer."""
        choices = [self._choice(i, answer.text, _FINISH[answer.ending]) for i, answer in enumerate(self._said)]
        return {**self._head, "choices": choices, "usage": _usage(self._request, self._said)}

    def events(self) -> Iterator[bytes]:
        """The events of a stream."""
        usage = {"usage": None} if self._include_usage else {}
        for index, answer in enumerate(self._said):
            for word in tokens(answer.text):
                yield event({**self._head, "choices": [self._choice(index, word, None)], **usage})
            yield event({**self._head, "choices": [self._choice(index, "", _FINISH[answer.ending])], **usage})
        if self._include_usage:
            yield event({**self._head, "choices": [], "usage": _usage(self._request, self._said)})
        yield DONE

    def _choice(self, index: int, text: str, finish: str | None) -> Json:
        logprobs: Json | None = None
        if self._request.body.get("logprobs") is not None:
            words = tokens(text)
            logprobs = {
                "tokens": words,
                "token_logprobs": [-math.log1p(len(word)) for word in words],
                "top_logprobs": [{word: -math.log1p(len(word))} for word in words],
                "text_offset": [sum(map(len, words[:at])) for at in range(len(words))],
            }
        return {"index": index, "text": text, "logprobs": logprobs, "finish_reason": finish}


class EchoMessages:
    """Anthropic's `/v1/messages`."""

    def __init__(self, heard: EchoRequest, said: Sequence[EchoReply], id: str, created: int) -> None:
        del created
        self._request, self._said, self._id = heard, said[0], f"msg_{id}"

    def body(self) -> Json:
        """The whole answer."""
        usage = self._usage(self._said.spent)
        return {**self._head(self._blocks(), _STOP_REASON[self._said.ending]), "usage": usage}

    def events(self) -> Iterator[bytes]:
        """The events of a stream."""
        yield self._event("message_start", message={**self._head([], None), "usage": self._usage(1)})
        yield self._event("ping")
        for index, block in enumerate(self._blocks()):
            kind = block["type"]
            if kind == "thinking":
                start = {"type": kind, "thinking": "", "signature": ""}
                deltas = [{"type": "thinking_delta", "thinking": word} for word in tokens(block["thinking"])]
                deltas.append({"type": "signature_delta", "signature": block["signature"]})
            elif kind == "tool_use":
                start = {**block, "input": {}}
                words = tokens(_encode(block["input"]).decode())
                deltas = [{"type": "input_json_delta", "partial_json": word} for word in ["", *words]]
            else:
                start = {**block, "text": ""}
                deltas = [{"type": "text_delta", "text": word} for word in tokens(block["text"])]
            yield self._event("content_block_start", index=index, content_block=start)
            for delta in deltas:
                yield self._event("content_block_delta", index=index, delta=delta)
            yield self._event("content_block_stop", index=index)
        ending: Json = {"stop_reason": _STOP_REASON[self._said.ending], "stop_sequence": None}
        yield self._event("message_delta", delta=ending, usage={"output_tokens": self._said.spent})
        yield self._event("message_stop")

    def _blocks(self) -> list[Json]:
        blocks: list[Json] = []
        if self._said.reasoning:
            blocks.append({"type": "thinking", "thinking": self._said.reasoning, "signature": self._request.digest})
        if self._said.text:
            blocks.append({"type": "text", "text": self._said.text, "citations": None})
        if self._said.call:
            call_id, name, arguments = self._said.call
            given = msgspec.json.decode(arguments)
            blocks.append({"type": "tool_use", "id": f"tu_{call_id}", "name": name, "input": given})
        return blocks

    def _head(self, content: list[Json], stop: str | None) -> Json:
        head = {"id": self._id, "type": "message", "role": "assistant", "model": self._request.model}
        return {**head, "content": content, "stop_reason": stop, "stop_sequence": None}

    def _usage(self, output: int) -> Json:
        cached = {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0}
        return {"input_tokens": self._request.prompt_tokens, **cached, "output_tokens": output}

    def _event(self, name: str, /, **data: Any) -> bytes:
        return event({"type": name, **data}, name)


def embeddings(body: Mapping[str, Any]) -> Json:
    """The answer of `/v1/embeddings`: unit vectors of 64 or `dimensions` numbers, as lists or base64.

    Raises TypeError or ValueError for what is no request.
    """
    given, dimensions = body.get("input", ""), body.get("dimensions") or _DIMENSIONS
    if dimensions not in range(1, _MOST_DIMENSIONS + 1):
        raise ValueError(f"dimensions must be a number from 1 to {_MOST_DIMENSIONS}")
    whole = isinstance(given, str) or (isinstance(given, list) and bool(given) and isinstance(given[0], int))
    inputs = [given] if whole else given
    data = []
    for index, item in enumerate(inputs):
        values: Any = vector(str(item), dimensions)
        if body.get("encoding_format") == "base64":
            values = base64.b64encode(struct.pack(f"<{len(values)}f", *values)).decode()
        data.append({"object": "embedding", "index": index, "embedding": values})
    spent = sum(len(item.split()) if isinstance(item, str) else len(item) for item in inputs)
    usage = {"prompt_tokens": spent, "total_tokens": spent}
    return {"object": "list", "data": data, "model": body.get("model", "echo"), "usage": usage}
