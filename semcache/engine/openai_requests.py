"""Requests in OpenAI's dialect: chat completions and completions, read into jobs.

Knows the fields of both endpoints, which of them this engine obeys, and which it may ignore because they change no
word. Every other field is refused, since an answer that ignores a field of the request would be a wrong answer.
Invariant: raises only RequestRejected, whose `param` names the field.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar

import msgspec
from msgspec import Meta

from semcache.engine.job import Approximation, Job, Sampling
from semcache.engine.tokenizer import Tokenizer
from semcache.errors import InvalidArgument, RequestRejected

_STOPS = 16
_PROMPTS = 256
_REFUSED = ("tools", "tool_choice", "functions", "function_call", "audio", "reasoning_effort", "web_search_options")
_DIGITS = 20  # of a token's number
_FIELD = re.compile(r"`\$\.?([^`\[.]*)")
_UNKNOWN = re.compile(r"unknown field `([^`]*)`")
_SETTINGS = {"blend": {"recompute"}, "craft": {"alpha"}, "parallel": {"temperature", "scale"}, "align": {"recompute"}}
_Penalty = Annotated[float, Meta(ge=-2, le=2)]
_B = TypeVar("_B", bound="CommonBody")


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


class ChatBody(CommonBody, kw_only=True):
    """A chat completion. Fields behind `refused` are accepted only where they ask for nothing."""

    press: PressOptions | None = None
    chunks: ChunkOptions | None = None
    messages: list[ChatMessage]
    max_completion_tokens: Annotated[int, Meta(ge=1)] | None = None
    logprobs: bool | None = None
    top_logprobs: Annotated[int, Meta(ge=0, le=20)] | None = None
    response_format: Any = None
    modalities: Any = None
    # refused
    tools: Any = None
    tool_choice: Any = None
    parallel_tool_calls: Any = None
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


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """One job per prompt of a request, and how it wants to be answered.

    `approximate` says how the answer may come to differ from the model's own, "" where it cannot.
    """

    jobs: tuple[Job, ...]
    stream: bool
    include_usage: bool
    predicted: bool
    approximate: str = ""


@dataclass(frozen=True, slots=True)
class ServedModel:
    """The model that is served: its name, and the most tokens of a prompt and its answer.

    `any_model` answers whatever model a request names; `lossy` says that a disk keeps blocks in fewer bits for requests
    that allow it.
    """

    name: str
    most: int
    any_model: bool = False
    lossy: bool = False


def read_chat(raw: bytes, tokenizer: Tokenizer, served: ServedModel, *, id: str, tenant: str) -> ParsedRequest:
    """Read a chat completion. Raises RequestRejected."""
    body = _decoded(raw, _CHAT)
    _check_model(body.model, served)
    for name in _REFUSED:
        if getattr(body, name) not in (None, [], {}, "none", "auto"):
            raise _refused(name, "this engine does not support it")
    if body.response_format not in (None, {"type": "text"}):
        raise _refused("response_format", "this engine answers with plain text alone")
    if body.modalities not in (None, ["text"]):
        raise _refused("modalities", "this engine answers with text alone")
    if body.top_logprobs is not None and not body.logprobs:
        raise _invalid("top_logprobs", "top_logprobs needs logprobs to be true")
    if not body.messages:
        raise _invalid("messages", "messages is empty: send at least one")
    messages = [_message(at, message) for at, message in enumerate(body.messages)]
    documents = [part["text"] for message in body.messages for part in _parts(message) if part.get("document") is True]
    spans: tuple[range, ...] = ()
    try:
        if documents and (body.press or body.chunks):
            ids, spans = tokenizer.located(messages, documents)
        else:
            ids = tokenizer.chat(messages)
    except InvalidArgument as error:
        raise _invalid("messages", str(error)) from error
    scores = (body.top_logprobs or 0) if body.logprobs else None
    most = body.max_completion_tokens or body.max_tokens or max(1, served.most - len(ids))
    approximation = _approximation(body, spans, served, marked=bool(documents))
    return _ask(
        body, [ids], tokenizer, id=id, tenant=tenant, logprobs=scores, max_tokens=most, approximation=approximation
    )


def _approximation(
    body: ChatBody, documents: tuple[range, ...], served: ServedModel, *, marked: bool
) -> Approximation | None:
    """The approximate prefill that a request asks for; None where it comes to the exact one.

    Of documents that are `marked`, none may be long enough to have tokens of its own.
    """
    if body.press and body.chunks:
        raise _invalid("press", "press and chunks are two ways to read documents: choose one")
    if (body.press or (body.chunks and body.chunks.method != "align")) and not marked:
        named = "press" if body.press else "chunks"
        raise _invalid(named, f'{named} needs documents: mark parts of messages with "document": true')
    if body.press and body.press.keep < 1:
        return Approximation(documents, press=body.press.method, keep=body.press.keep)
    if body.chunks and body.chunks.recompute != 1:
        method, given = body.chunks.method, body.chunks.given
        if wrong := sorted(given.keys() - _SETTINGS[method]):
            taken = ", ".join(sorted(_SETTINGS[method]))
            raise _invalid("chunks", f"chunks: {method} has no setting {wrong[0]!r}; it takes {taken}")
        return Approximation(documents, chunks=method, **given)
    return Approximation() if body.approximate and served.lossy else None


def _parts(message: ChatMessage) -> list[dict[str, Any]]:
    return message.content if isinstance(message.content, list) else []


def read_completion(raw: bytes, tokenizer: Tokenizer, served: ServedModel, *, id: str, tenant: str) -> ParsedRequest:
    """Read a completion of one prompt or several, as text or as token ids. Raises RequestRejected."""
    body = _decoded(raw, _COMPLETION)
    _check_model(body.model, served)
    if body.echo:
        raise _refused("echo", "this engine does not repeat prompts")
    if body.suffix:
        raise _refused("suffix", "this engine does not fill in the middle")
    if body.best_of is not None and body.best_of != (body.n or 1):
        raise _refused("best_of", "this engine returns every choice that it generates: use n")
    prompts = _prompts(body.prompt)
    ids = [tokenizer.encode(prompt) if isinstance(prompt, str) else list(prompt) for prompt in prompts]
    most, approximation = body.max_tokens or 16, Approximation() if body.approximate and served.lossy else None
    return _ask(
        body, ids, tokenizer, id=id, tenant=tenant, logprobs=body.logprobs, max_tokens=most, approximation=approximation
    )


def _prompts(given: Any) -> Sequence[str | list[int]]:
    """A text, token ids, or a list of either."""

    def ids(value: Any) -> bool:
        return isinstance(value, list) and bool(value) and all(type(one) is int for one in value)

    if given in ("", []) or (isinstance(given, list) and "" in given):
        raise _invalid("prompt", "the prompt is empty: send at least one token", code="empty_prompt")
    if isinstance(given, str) or ids(given):
        return [given]
    if isinstance(given, list) and len(given) <= _PROMPTS and all(isinstance(one, str) or ids(one) for one in given):
        return given
    raise _invalid("prompt", f"prompt must be a text, a list of token ids, or a list of at most {_PROMPTS} of either")


# Made here, as threads that are the first to decode a class at the same time end the process (msgspec 0.22).
_CHAT, _COMPLETION = msgspec.json.Decoder(ChatBody), msgspec.json.Decoder(CompletionBody)


def _decoded(raw: bytes, decoder: msgspec.json.Decoder[_B]) -> _B:
    try:
        return decoder.decode(raw)
    except msgspec.ValidationError as error:
        message = str(error)
        unknown = _UNKNOWN.search(message)
        if unknown:
            name = unknown.group(1)
            raise _invalid(name, f"unrecognised request argument: {name}", code="unknown_parameter") from error
        named = _FIELD.search(message)
        missing = re.search(r"required field `([^`]*)`", message)
        name = missing.group(1) if missing else named.group(1) if named else ""
        raise _invalid(name or None, message) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _invalid(None, f"the body is no JSON: {error}", code="invalid_json") from error


def _check_model(model: str | None, served: ServedModel) -> None:
    if model not in (None, served.name) and not served.any_model:
        message = f"the model {model!r} does not exist here; this engine serves {served.name!r}"
        raise RequestRejected(404, message, code="model_not_found", param="model")


def _message(at: int, message: ChatMessage) -> Mapping[str, Any]:
    if message.tool_calls or message.function_call or message.tool_call_id:
        raise _refused("messages", f"messages[{at}] belongs to a tool call, which this engine does not support")
    content = message.content
    if isinstance(content, list):
        other = next(
            (part for part in content if part.get("type") != "text" or not isinstance(part.get("text"), str)), None
        )
        if other is not None:
            raise _refused(
                "messages", f"messages[{at}] has a part of type {other.get('type')!r}; this engine reads text"
            )
        content = "".join(part["text"] for part in content)
    named = {"name": message.name} if message.name else {}
    return {"role": message.role, "content": content or "", **named}


def _ask(
    body: CommonBody,
    prompts: list[list[int]],
    tokenizer: Tokenizer,
    *,
    id: str,
    tenant: str,
    logprobs: int | None,
    max_tokens: int,
    approximation: Approximation | None,
) -> ParsedRequest:
    stops = [body.stop] if isinstance(body.stop, str) else body.stop or []
    if len(stops) > _STOPS or not all(stops):
        raise _invalid("stop", f"stop must be at most {_STOPS} texts, none of them empty")
    if body.prefill and (body.n or 1) > 1:
        raise _invalid("n", "n: a prompt that is only read (prefill) has no choices")
    sampling = Sampling(
        max_tokens=0 if body.prefill else max_tokens,
        temperature=1.0 if body.temperature is None else body.temperature,
        top_p=1.0 if body.top_p is None else body.top_p,
        top_k=body.top_k or 0,
        min_p=body.min_p or 0.0,
        seed=None if body.seed is None else body.seed % 2**62,
        stop=tuple(stops),
        n=body.n or 1,
        logprobs=logprobs,
        frequency_penalty=body.frequency_penalty or 0.0,
        presence_penalty=body.presence_penalty or 0.0,
        bias=_bias(body.logit_bias or {}, tokenizer),
        ignore_eos=bool(body.ignore_eos),
    )
    if body.stream_options is not None and not body.stream:
        raise _invalid("stream_options", "stream_options needs stream to be true")
    draft = tuple(tokenizer.encode(_predicted(body.prediction), special=False)) if body.prediction else ()
    salt = f"{tenant}\0{body.cache_salt}" if body.cache_salt else tenant
    jobs = [Job(f"{id}-{at}", tuple(ids), sampling, salt, draft, approximation) for at, ids in enumerate(prompts)]
    usage = bool(body.stream_options and body.stream_options.include_usage)
    return ParsedRequest(
        tuple(jobs), bool(body.stream), usage, bool(draft), approximation.label if approximation else ""
    )


def _bias(given: Mapping[str, float], tokenizer: Tokenizer) -> dict[int, float]:
    bias = {}
    for token, value in given.items():
        if not token.isdecimal() or len(token) > _DIGITS or int(token) >= tokenizer.size:
            raise _invalid(
                "logit_bias", f"logit_bias: {token[:_DIGITS]!r} is no token of this model's {tokenizer.size}"
            )
        bias[int(token)] = value
    return bias


def _predicted(prediction: Any) -> str:
    """The text of OpenAI's `prediction`: {"type": "content", "content": text or parts}."""
    content = (
        prediction.get("content") if isinstance(prediction, dict) and prediction.get("type") == "content" else None
    )
    if isinstance(content, str):
        return content
    if isinstance(content, list) and all(
        isinstance(part, dict) and isinstance(part.get("text"), str) for part in content
    ):
        return "".join(part["text"] for part in content)
    raise _invalid("prediction", 'prediction must be {"type": "content", "content": text}')


def _invalid(param: str | None, message: str, *, code: str = "invalid_value") -> RequestRejected:
    return RequestRejected(400, message, code=code, param=param)


def _refused(param: str, why: str) -> RequestRejected:
    return RequestRejected(400, f"{param}: {why}", code="unsupported_parameter", param=param)
