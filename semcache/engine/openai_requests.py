"""Requests in OpenAI's dialect: chat completions and completions, read into jobs.

Knows the fields of both endpoints, which of them this engine obeys, and which it may ignore because they change no
word. Every other field is refused, since an answer that ignores a field of the request would be a wrong answer.
Invariant: raises only RequestRejected, whose `param` names the field.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from semcache.engine.answer_reader import PLAIN, AnswerShape
from semcache.engine.constraint import Grammars
from semcache.engine.generation_defaults import OPENAI, GenerationDefaults
from semcache.engine.job import Approximation, Job, Sampling
from semcache.engine.openai_bodies import (
    CHAT,
    COMPLETION,
    FIELDS,
    ChatBody,
    ChatMessage,
    CommonBody,
    decoded,
    invalid,
    refused,
)
from semcache.engine.tokenizer import Tokenizer
from semcache.engine.tool_requests import AnswerTerms, read_terms, template_message
from semcache.errors import InvalidArgument, RequestRejected

if TYPE_CHECKING:
    from semcache.engine.engine import Engine

_STOPS = 16
_PROMPTS = 256
_REFUSED = ("functions", "function_call", "audio", "verbosity", "web_search_options")
_EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh")
_N = TypeVar("_N", int, float)
_DIGITS = 20  # of a token's number
_LETTERS = 16  # of a token, more than texts have
_COUNTED = 1 << 18  # tokens of a prompt that are counted, even if it is too long to be answered
_SETTINGS = {"blend": {"recompute"}, "craft": {"alpha"}, "parallel": {"temperature", "scale"}, "align": {"recompute"}}


@dataclass(frozen=True, slots=True)
class ParsedRequest:
    """One job per prompt of a request, and how it wants to be answered.

    `approximate` says how the answer may come to differ from the model's own, "" where it cannot. `shape` is what an
    answer may hold.
    """

    jobs: tuple[Job, ...]
    stream: bool
    include_usage: bool
    predicted: bool
    approximate: str = ""
    shape: AnswerShape = PLAIN


@dataclass(frozen=True, slots=True)
class ServedModel:
    """The model that is served: its name, and the most tokens of a prompt and its answer.

    `any_model` answers whatever model a request names; `lossy` says that a disk keeps blocks in fewer bits for requests
    that allow it; `defaults` is the sampling of requests that name none.
    """

    name: str
    most: int
    any_model: bool = False
    lossy: bool = False
    grammars: Grammars | None = None
    defaults: GenerationDefaults = OPENAI

    @classmethod
    def of(cls, engine: Engine, name: str, *, any_model: bool = False) -> ServedModel:
        """The model of an engine."""
        lossy, defaults = bool(engine.config.lossy_codec), engine.decoder.defaults
        return cls(name, engine.limits.most, any_model, lossy, engine.grammars, defaults)


def read_chat(raw: bytes, tokenizer: Tokenizer, served: ServedModel, *, id: str) -> ParsedRequest:
    """Read a chat completion. Raises RequestRejected."""
    body = decoded(raw, CHAT)
    _check_model(body.model, served)
    for name in _REFUSED:
        if getattr(body, name) not in (None, [], {}, "none", "auto", "medium"):
            raise refused(name, "this engine does not support it")
    if body.modalities not in (None, ["text"]):
        raise refused("modalities", "this engine answers with text alone")
    if body.top_logprobs is not None and not body.logprobs:
        raise invalid("top_logprobs", "top_logprobs needs logprobs to be true")
    documents = [
        part.get("text", "") for message in body.messages for part in _parts(message) if part.get("document") is True
    ]
    terms = read_terms(body, tokenizer.template)
    ids, spans = _conversation(body, tokenizer, terms, documents if body.press or body.chunks else [], served.most)
    shape = terms.shape(tokenizer.template, tokenizer.ending(ids))
    grammar = terms.grammar(shape)
    if grammar and served.grammars is not None:
        try:
            served.grammars.check(grammar)
        except InvalidArgument as error:
            raise invalid("response_format" if terms.schema is not None else "tools", str(error)) from error
    scores = (body.top_logprobs or 0) if body.logprobs else None
    most = body.max_completion_tokens or body.max_tokens or max(1, served.most - len(ids))
    approximation = _approximation(body, spans, served, marked=bool(documents))
    sampling = _sampling(body, tokenizer, served, logprobs=scores, max_tokens=most)
    ask = _ask(body, [ids], tokenizer, sampling, id=id, approximation=approximation)
    return replace(ask, shape=shape, jobs=tuple([replace(job, grammar=grammar) for job in ask.jobs]))


def read_tokens(raw: bytes, tokenizer: Tokenizer, served: ServedModel) -> list[int]:
    """The ids of the one prompt of a chat completion or a completion, as vLLM's `/tokenize` takes it.

    Raises RequestRejected.
    """
    given = decoded(raw, FIELDS)
    chat = "messages" in given
    for name, usual in {
        "add_generation_prompt": True,
        "add_special_tokens": not chat,
        "return_token_strs": False,
    }.items():
        if bytes(given.pop(name, b"null")) not in (b"null", msgspec.json.encode(usual)):
            raise refused(name, f"this engine knows it as {str(usual).lower()} alone: leave it out")
    rest = msgspec.json.encode(given)
    if not chat:
        counted = replace(served, most=max(served.most, _COUNTED))
        (job, *more) = read_completion(rest, tokenizer, counted, id="").jobs
        if more:
            raise invalid("prompt", f"prompt holds {1 + len(more)} prompts: send one")
        return list(job.ids)
    body = decoded(rest, CHAT)
    _check_model(body.model, served)
    return _conversation(body, tokenizer, read_terms(body, tokenizer.template), [], max(served.most, _COUNTED))[0]


def _conversation(
    body: ChatBody, tokenizer: Tokenizer, terms: AnswerTerms, documents: Sequence[str], most: int
) -> tuple[list[int], tuple[range, ...]]:
    """The ids of a conversation of at most about `most` tokens, and the spans of these documents in it."""
    if not body.messages:
        raise invalid("messages", "messages is empty: send at least one")
    messages = [template_message(at, message, tokenizer.template) for at, message in enumerate(body.messages)]
    settings = terms.settings(_template_settings(body, tokenizer))
    try:
        if documents:
            return tokenizer.located(messages, documents, settings, most=most)
        return tokenizer.chat(messages, settings, most=most), ()
    except InvalidArgument as error:
        raise invalid("messages", str(error)) from error


def _template_settings(body: ChatBody, tokenizer: Tokenizer) -> dict[str, Any]:
    """The variables of the chat template that a request sets, by `chat_template_kwargs` and by `reasoning_effort`."""
    try:
        found = tokenizer.template.settings(body.chat_template_kwargs or {})
    except InvalidArgument as error:
        raise invalid("chat_template_kwargs", str(error)) from error
    effort = body.reasoning_effort
    if effort is None:
        return found
    if tokenizer.template.reads("reasoning_effort") and isinstance(effort, str):
        return {"reasoning_effort": effort, **found}
    if tokenizer.template.reads("enable_thinking") and effort in _EFFORTS:
        return {"enable_thinking": effort not in ("none", "minimal"), **found}
    raise refused("reasoning_effort", f"the chat template of this model does not know {effort!r}")


def _approximation(
    body: ChatBody, documents: tuple[range, ...], served: ServedModel, *, marked: bool
) -> Approximation | None:
    """The approximate prefill that a request asks for; None where it comes to the exact one.

    Of documents that are `marked`, none may be long enough to have tokens of its own.
    """
    if body.press and body.chunks:
        raise invalid("press", "press and chunks are two ways to read documents: choose one")
    if (body.press or (body.chunks and body.chunks.method != "align")) and not marked:
        named = "press" if body.press else "chunks"
        raise invalid(named, f'{named} needs documents: mark parts of messages with "document": true')
    if body.press and body.press.keep < 1:
        return Approximation(documents, press=body.press.method, keep=body.press.keep)
    if body.chunks and body.chunks.recompute != 1:
        method, given = body.chunks.method, body.chunks.given
        if wrong := sorted(given.keys() - _SETTINGS[method]):
            taken = ", ".join(sorted(_SETTINGS[method]))
            raise invalid("chunks", f"chunks: {method} has no setting {wrong[0]!r}; it takes {taken}")
        return Approximation(documents, chunks=method, **given)
    return Approximation() if body.approximate and served.lossy else None


def _parts(message: ChatMessage) -> list[dict[str, Any]]:
    return message.content if isinstance(message.content, list) else []


def read_completion(raw: bytes, tokenizer: Tokenizer, served: ServedModel, *, id: str) -> ParsedRequest:
    """Read a completion of one prompt or several, as text or as token ids. Raises RequestRejected."""
    body = decoded(raw, COMPLETION)
    _check_model(body.model, served)
    if body.echo:
        raise refused("echo", "this engine does not repeat prompts")
    if body.suffix:
        raise refused("suffix", "this engine does not fill in the middle")
    if body.best_of is not None and body.best_of != (body.n or 1):
        raise refused("best_of", "this engine returns every choice that it generates: use n")
    prompts = _prompts(body.prompt)
    ids = [tokenizer.encode(one, most=served.most) if isinstance(one, str) else list(one) for one in prompts]
    most, approximation = body.max_tokens or 16, Approximation() if body.approximate and served.lossy else None
    sampling = _sampling(body, tokenizer, served, logprobs=body.logprobs, max_tokens=most)
    ask = _ask(body, ids, tokenizer, sampling, id=id, approximation=approximation)
    return replace(ask, jobs=tuple([replace(job, continues=True) for job in ask.jobs]))


def _prompts(given: Any) -> Sequence[str | list[int]]:
    """A text, token ids, or a list of either."""

    def ids(value: Any) -> bool:
        return isinstance(value, list) and bool(value) and all(type(one) is int for one in value)

    if given in ("", []) or (isinstance(given, list) and "" in given):
        raise invalid("prompt", "the prompt is empty: send at least one token", code="empty_prompt")
    if isinstance(given, str) or ids(given):
        return [given]
    if isinstance(given, list) and len(given) <= _PROMPTS and all(isinstance(one, str) or ids(one) for one in given):
        return given
    raise invalid("prompt", f"prompt must be a text, a list of token ids, or a list of at most {_PROMPTS} of either")


def _check_model(model: str | None, served: ServedModel) -> None:
    if model not in (None, served.name) and not served.any_model:
        message = f"the model {model!r} does not exist here; this engine serves {served.name!r}"
        raise RequestRejected(404, message, code="model_not_found", param="model")


def _sampling(
    body: CommonBody, tokenizer: Tokenizer, served: ServedModel, *, logprobs: int | None, max_tokens: int
) -> Sampling:
    stops = [body.stop] if isinstance(body.stop, str) else body.stop or []
    if len(stops) > _STOPS or not all(stops):
        raise invalid("stop", f"stop must be at most {_STOPS} texts, none of them empty")
    if body.prefill and (body.n or 1) > 1:
        raise invalid("n", "n: a prompt that is only read (prefill) has no choices")
    advised = served.defaults
    return Sampling(
        max_tokens=0 if body.prefill else max_tokens,
        temperature=_first(body.temperature, advised.temperature),
        top_p=_first(body.top_p, advised.top_p),
        top_k=_first(body.top_k, advised.top_k),
        min_p=_first(body.min_p, advised.min_p),
        repetition_penalty=_first(body.repetition_penalty, advised.repetition_penalty),
        seed=None if body.seed is None else body.seed % 2**62,
        stop=tuple(stops),
        n=body.n or 1,
        logprobs=logprobs,
        frequency_penalty=body.frequency_penalty or 0.0,
        presence_penalty=body.presence_penalty or 0.0,
        bias=_bias(body.logit_bias or {}, tokenizer),
        ignore_eos=bool(body.ignore_eos),
    )


def _ask(
    body: CommonBody,
    prompts: list[list[int]],
    tokenizer: Tokenizer,
    sampling: Sampling,
    *,
    id: str,
    approximation: Approximation | None,
) -> ParsedRequest:
    if body.stream_options is not None and not body.stream:
        raise invalid("stream_options", "stream_options needs stream to be true")
    # No more of a prediction is read than an answer may be long.
    guessed = _predicted(body.prediction)[: _LETTERS * max(1, sampling.max_tokens)] if body.prediction else ""
    draft = tuple(tokenizer.encode(guessed, special=False)) if guessed else ()
    tenant = body.cache_salt or ""
    jobs = [
        Job(f"{id}-{at}", tuple(ids), sampling, tenant, draft, approximation, request=id)
        for at, ids in enumerate(prompts)
    ]
    usage = bool(body.stream_options and body.stream_options.include_usage)
    return ParsedRequest(
        tuple(jobs), bool(body.stream), usage, bool(draft), approximation.label if approximation else ""
    )


def _first(asked: _N | None, advised: _N) -> _N:
    return advised if asked is None else asked


def _bias(given: Mapping[str, float], tokenizer: Tokenizer) -> dict[int, float]:
    bias = {}
    for token, value in given.items():
        if not token.isdecimal() or len(token) > _DIGITS or int(token) >= tokenizer.size:
            raise invalid("logit_bias", f"logit_bias: {token[:_DIGITS]!r} is no token of this model's {tokenizer.size}")
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
    raise invalid("prediction", 'prediction must be {"type": "content", "content": text}')
