"""Replies in OpenAI's dialect, whole and as a stream of events.

Knows the shapes of both endpoints, nothing of sockets. Ids and times are arguments. Invariant: the events of a stream,
assembled as OpenAI's SDK does it, give the same answer as the whole body.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from semcache.engine.answer_reader import PLAIN, AnswerReader, AnswerShape
from semcache.engine.job import Delta, FinishReason, TokenScore, TokenUsage
from semcache.engine.tokenizer import Tokenizer
from semcache.errors import RequestRejected

Json = dict[str, Any]
DONE = b"data: [DONE]\n\n"
_KINDS = {404: "not_found_error", 413: "invalid_request_error", 429: "rate_limit_error"}


def error_body(status: int, message: str, *, code: str, param: str | None = None) -> bytes:
    """An error in OpenAI's form."""
    kind = _KINDS.get(status, "invalid_request_error" if status < 500 else "server_error")
    return msgspec.json.encode({"error": {"message": message, "type": kind, "param": param, "code": code}})


def rejection(error: RequestRejected) -> bytes:
    """A refused request in OpenAI's form."""
    return error_body(error.status, error.message, code=error.code, param=error.param)


def event(data: Json) -> bytes:
    """One server-sent event."""
    return b"data: " + msgspec.json.encode(data) + b"\n\n"


@dataclass(slots=True)
class ChoiceText:
    """The text of one choice so far, with its scores."""

    text: str = ""
    scores: list[TokenScore] = field(default_factory=list)
    finish: FinishReason | None = None

    def add(self, delta: Delta) -> None:
        """Append a delta of this choice."""
        self.text += delta.text
        self.scores.extend(delta.scores)
        self.finish = delta.finish or self.finish


def usage(spent: Sequence[TokenUsage], *, predicted: bool, approximate: str = "") -> Json:
    """The `usage` of a reply, over all of its jobs, with how its answer may differ from the model's own."""
    prompt, completion = sum(one.prompt for one in spent), sum(one.completion for one in spent)
    details = {
        "reasoning_tokens": 0,
        "audio_tokens": 0,
        "accepted_prediction_tokens": 0,
        "rejected_prediction_tokens": 0,
    }
    if predicted:
        details["accepted_prediction_tokens"] = sum(one.accepted for one in spent)
        details["rejected_prediction_tokens"] = sum(one.rejected for one in spent)
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": sum(one.cached for one in spent), "audio_tokens": 0},
        "completion_tokens_details": details,
        **({"approximate": approximate} if approximate else {}),
    }


def _finish(finish: FinishReason | None, calls: Sequence[Any]) -> str | None:
    return "tool_calls" if calls and finish is FinishReason.STOP else finish


class ChatReply:
    """Replies of `/v1/chat/completions`. `scored`: log-probabilities were asked for; `shape` is what texts may hold."""

    prefix = "chatcmpl-"

    def __init__(
        self, tokenizer: Tokenizer, *, id: str, created: int, model: str, scored: bool, shape: AnswerShape = PLAIN
    ) -> None:
        self._tokenizer, self._scored, self._shape = tokenizer, scored, shape
        self._common = {"id": id, "created": created, "model": model, "system_fingerprint": None}
        self._readers: dict[int, tuple[AnswerReader, list[Json]]] = {}

    def whole(self, told: Sequence[ChoiceText], spent: Json) -> Json:
        """The body of a reply that is not streamed."""
        choices = []
        for index, one in enumerate(told):
            pieces = AnswerReader(self._shape).feed(one.text, last=True)
            texts = {
                kind: "".join(piece.text for piece in pieces if piece.kind == kind) for kind in ("said", "thought")
            }
            calls = [piece.call for piece in pieces if piece.call is not None]
            message: Json = {"role": "assistant", "content": texts["said"] if texts["said"] or not calls else None}
            message["refusal"] = None
            if texts["thought"]:
                message["reasoning_content"] = texts["thought"]
            if calls:
                message["tool_calls"] = [self._call(index, number, call) for number, call in enumerate(calls)]
            choices.append(
                {
                    "index": index,
                    "message": message,
                    "logprobs": self._scores(one.scores),
                    "finish_reason": _finish(one.finish, calls),
                }
            )
        return {**self._common, "object": "chat.completion", "choices": choices, "usage": spent}

    def opening(self, index: int) -> Iterable[Json]:
        """The first chunk of a choice."""
        yield self._chunk(index, {"role": "assistant", "content": ""}, None, None)

    def chunk(self, index: int, delta: Delta) -> Iterable[Json]:
        """The chunks of a delta."""
        reader, calls = self._readers.setdefault(index, (AnswerReader(self._shape), []))
        scores = self._scores(delta.scores)
        for piece in reader.feed(delta.text, last=delta.finish is not None):
            if piece.call is not None:
                made = {"index": len(calls), **self._call(index, len(calls), piece.call)}
                calls.append(made)
                yield self._chunk(index, {"tool_calls": [made]}, scores, None)
            else:
                name = "content" if piece.kind == "said" else "reasoning_content"
                yield self._chunk(index, {name: piece.text}, scores, None)
            scores = self._scores(())
        if delta.scores and scores and scores["content"]:
            yield self._chunk(index, {"content": ""}, scores, None)
        if delta.finish is not None:
            yield self._chunk(index, {}, None, _finish(delta.finish, calls))

    def _call(self, index: int, number: int, call: Json) -> Json:
        name = f"call_{str(self._common['id']).removeprefix(self.prefix)}_{index}_{number}"
        made = {"name": call["name"], "arguments": json.dumps(call["arguments"], ensure_ascii=False)}
        return {"id": name, "type": "function", "function": made}

    def closing(self, spent: Json) -> Json:
        """The chunk that carries the usage."""
        return {**self._common, "object": "chat.completion.chunk", "choices": [], "usage": spent}

    def _chunk(self, index: int, delta: Json, scores: Json | None, finish: str | None) -> Json:
        choice = {"index": index, "delta": delta, "logprobs": scores, "finish_reason": finish}
        return {**self._common, "object": "chat.completion.chunk", "choices": [choice]}

    def _scores(self, scores: Sequence[TokenScore]) -> Json | None:
        if not self._scored:
            return None
        content = [
            {
                **self._score(one.token, one.logprob),
                "top_logprobs": [self._score(token, logprob) for token, logprob in one.top],
            }
            for one in scores
        ]
        return {"content": content, "refusal": None}

    def _score(self, token: int, logprob: float) -> Json:
        text = self._tokenizer.token(token)
        # A token may be a part of a character, whose bytes the decoded text does not tell.
        return {"token": text, "logprob": logprob, "bytes": None if "\ufffd" in text else list(text.encode())}


class CompletionReply:
    """Replies of `/v1/completions`."""

    prefix = "cmpl-"

    def __init__(
        self, tokenizer: Tokenizer, *, id: str, created: int, model: str, scored: bool, shape: AnswerShape = PLAIN
    ) -> None:
        del shape
        self._tokenizer, self._scored = tokenizer, scored
        self._common = {"id": id, "object": "text_completion", "created": created, "model": model}
        self._offsets: dict[int, int] = {}

    def whole(self, told: Sequence[ChoiceText], spent: Json) -> Json:
        """The body of a reply that is not streamed."""
        choices = [self._choice(index, one.text, one.scores, one.finish) for index, one in enumerate(told)]
        return {**self._common, "choices": choices, "usage": spent}

    def opening(self, index: int) -> Iterable[Json]:
        """No chunk: a completion begins with its text."""
        del index
        return ()

    def chunk(self, index: int, delta: Delta) -> Iterable[Json]:
        """The chunk of a delta."""
        yield {**self._common, "choices": [self._choice(index, delta.text, delta.scores, delta.finish)]}

    def closing(self, spent: Json) -> Json:
        """The chunk that carries the usage."""
        return {**self._common, "choices": [], "usage": spent}

    def _choice(self, index: int, text: str, scores: Sequence[TokenScore], finish: FinishReason | None) -> Json:
        logprobs: Json | None = None
        if self._scored:
            words = [self._tokenizer.token(one.token) for one in scores]
            offset, offsets = self._offsets.get(index, 0), []
            for word in words:
                offsets.append(offset)
                offset += len(word)
            self._offsets[index] = offset
            logprobs = {
                "tokens": words,
                "token_logprobs": [one.logprob for one in scores],
                "top_logprobs": [{self._tokenizer.token(token): value for token, value in one.top} for one in scores],
                "text_offset": offsets,
            }
        return {"index": index, "text": text, "logprobs": logprobs, "finish_reason": finish}
