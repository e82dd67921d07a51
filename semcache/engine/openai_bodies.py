"""Bodies of OpenAI's chat completions and completions, as typed values.

Knows the fields of both endpoints and their ranges, nothing of tokens or models. Invariant: a body with a field that is
not named here is refused by that name.
"""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from semcache.errors import RequestRejected

_FIELD = re.compile(r"`\$\.?([^`\[.]*)")
_UNKNOWN = re.compile(r"unknown field `([^`]*)`")
_Penalty = Annotated[float, Meta(ge=-2, le=2)]
_B = TypeVar("_B")


class PressOptions(msgspec.Struct, forbid_unknown_fields=True):
    """The field `press` of a chat completion."""

    method: Annotated[str, Meta(min_length=1)] = "kvzip"
    keep: Annotated[float, Meta(gt=0, le=1)] = 0.5


class ChunkOptions(msgspec.Struct, forbid_unknown_fields=True):
    """The field `chunks` of a chat completion."""

    method: Literal["blend", "craft", "parallel", "align"] = "blend"
    recompute: Annotated[float, Meta(ge=0, le=1)] | None = None
    alpha: Annotated[float, Meta(gt=0)] | None = None
    temperature: Annotated[float, Meta(gt=0, le=1)] | None = None
    scale: Annotated[float, Meta(gt=0, le=1)] | None = None

    @property
    def given(self) -> dict[str, Any]:
        """The settings that were named."""
        values = {name: getattr(self, name) for name in ("recompute", "alpha", "temperature", "scale")}
        return {name: value for name, value in values.items() if value is not None}


class StreamOptions(msgspec.Struct):
    """OpenAI's `stream_options`."""

    include_usage: bool | None = None


class CommonBody(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The fields that both endpoints accept. Those behind `ignored` change no word of an answer."""

    model: str | None = None
    max_tokens: Annotated[int, Meta(ge=1)] | None = None
    temperature: Annotated[float, Meta(ge=0, le=2)] | None = None
    top_p: Annotated[float, Meta(gt=0, le=1)] | None = None
    top_k: Annotated[int, Meta(ge=0)] | None = None
    min_p: Annotated[float, Meta(ge=0, le=1)] | None = None
    n: Annotated[int, Meta(ge=1, le=128)] | None = None
    seed: int | None = None
    stop: str | list[str] | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    frequency_penalty: _Penalty | None = None
    presence_penalty: _Penalty | None = None
    repetition_penalty: Annotated[float, Meta(ge=0.01, le=10)] | None = None
    logit_bias: dict[str, Annotated[float, Meta(ge=-100, le=100)]] | None = None
    ignore_eos: bool | None = None
    cache_salt: Annotated[str, Meta(max_length=128)] | None = None
    prediction: Any = None
    prefill: bool | None = None
    approximate: bool | None = None
    # ignored
    user: Any = None
    safety_identifier: Any = None
    metadata: Any = None
    store: Any = None
    service_tier: Any = None
    prompt_cache_key: Any = None
    prompt_cache_retention: Any = None
    priority: Any = None
    session_id: Any = None


class ChatMessage(msgspec.Struct):
    """One message of a chat completion."""

    role: str
    content: str | list[dict[str, Any]] | None = None
    name: str | None = None
    tool_calls: Any = None
    function_call: Any = None
    tool_call_id: Any = None
    reasoning_content: Any = None


class ChatBody(CommonBody, kw_only=True):
    """A chat completion. Fields behind `refused` are accepted only where they ask for nothing."""

    press: PressOptions | None = None
    chat_template_kwargs: dict[str, Any] | None = None
    chunks: ChunkOptions | None = None
    messages: list[ChatMessage]
    max_completion_tokens: Annotated[int, Meta(ge=1)] | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None
    response_format: Any = None
    modalities: Any = None
    tools: Any = None
    tool_choice: Any = None
    parallel_tool_calls: Any = None
    # refused
    functions: Any = None
    function_call: Any = None
    audio: Any = None
    reasoning_effort: Any = None
    verbosity: Any = None
    web_search_options: Any = None


class CompletionBody(CommonBody, kw_only=True):
    """A completion."""

    prompt: Any
    logprobs: Annotated[int, Meta(ge=0, le=5)] | None = None
    echo: bool | None = None
    best_of: int | None = None
    suffix: str | None = None


# Made here, as threads that are the first to decode a class at the same time end the process (msgspec 0.22).
CHAT, COMPLETION = msgspec.json.Decoder(ChatBody), msgspec.json.Decoder(CompletionBody)
FIELDS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def decoded(raw: bytes, decoder: msgspec.json.Decoder[_B]) -> _B:
    """Decode a body. Raises RequestRejected."""
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as error:
        message = str(error)
        unknown = _UNKNOWN.search(message)
        if unknown:
            name = unknown.group(1)
            raise invalid(name, f"unrecognised request argument: {name}", code="unknown_parameter") from error
        named = _FIELD.search(message)
        missing = re.search(r"required field `([^`]*)`", message)
        name = missing.group(1) if missing else named.group(1) if named else ""
        raise invalid(name or None, message) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise invalid(None, f"the body is no JSON: {error}", code="invalid_json") from error


def invalid(param: str | None, message: str, *, code: str = "invalid_value") -> RequestRejected:
    """The error of a field with a wrong value."""
    return RequestRejected(400, message, code=code, param=param)


def refused(param: str, why: str) -> RequestRejected:
    """The error of a field that asks for what this engine does not do."""
    return RequestRejected(400, f"{param}: {why}", code="unsupported_parameter", param=param)
