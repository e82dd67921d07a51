"""Formats of logs: the request and the answer in a line of each.

Knows the formats that other programs write, and the wire dialects; no file, no clock, no cache. Invariant: a line
becomes a request that a client could have sent, read by the same dialect, or it is refused with a reason.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import msgspec

from semcache.cache.found import bare_completion, chat_completion
from semcache.dialects import by_path, dialects
from semcache.errors import InvalidArgument, RequestRejected
from semcache.protocols import Dialect
from semcache.types import Assembled, Controls, Endpoint, Request, Scope, Traits, Usage

CHAT = "/v1/chat/completions"
_CALLS = {"": CHAT, "completion": CHAT, "acompletion": CHAT, "text_completion": "/v1/completions"}
_CALLS |= {"atext_completion": "/v1/completions", "responses": "/v1/responses", "aresponses": "/v1/responses"}
_CALLS |= {"anthropic_messages": "/v1/messages"}

_LATEST = 1e15
_MILLISECONDS = 1e11  # as seconds, a time in the year 5138

Row = Mapping[str, Any]


class BrokenLine(Exception):
    """A line that cannot be read; the message says why."""


class NotCacheable(Exception):
    """A line that is sound and of no use to a cache: a failed call, an endpoint that is not cached."""


@dataclass(frozen=True, slots=True)
class LoggedCall:
    """A request, its answer, and when it was answered; `at` and `scope` are None where the line does not say.

    `category` is taken where the pack has it.
    """

    request: Request
    answer: Assembled
    at: float | None = None
    scope: Scope | None = None
    category: str | None = None


@dataclass(frozen=True, slots=True)
class LogContext:
    """The context of a line: the batch's requests by custom id, and a model for lines that name none."""

    requests: Mapping[str, Row]
    model: str | None = None


def detect(row: Row) -> str:
    """Return the format of a line. Raises BrokenLine."""
    if "semcache" in row:
        return "semcache"
    if "custom_id" in row:
        return "openai-batch"
    if "input" in row and "output" in row:
        return "langfuse"
    if "response" in row and any(name in row for name in ("call_type", "startTime", "request_id", "model_group")):
        return "litellm"
    if any(name in row for name in ("messages", "request", "prompt")):
        return "openai-jsonl"
    raise BrokenLine(f"no known format: the fields are {', '.join(sorted(row)) or 'none'}")


def read(row: Row, form: str, reading: LogContext) -> LoggedCall:
    """Return the request and answer of one line. Raises BrokenLine or NotCacheable."""
    try:
        return FORMATS[form](row, reading)
    except RequestRejected as error:
        raise BrokenLine(error.message) from error
    except InvalidArgument as error:
        raise BrokenLine(str(error)) from error
    except KeyError as error:
        raise BrokenLine(f"the field {error.args[0]} is missing") from error
    except (msgspec.MsgspecError, RecursionError) as error:
        raise BrokenLine(f"a part of the line is no JSON: {error}") from error


def _semcache(row: Row, _: LogContext) -> LoggedCall:
    version = row["semcache"]
    if version != 1:
        raise BrokenLine(f"export format {version!r} is not 1: a newer semcache wrote it")
    try:
        archived = msgspec.convert(row, ExportedEntry)
        endpoint = Endpoint(archived.endpoint)
    except (msgspec.ValidationError, ValueError) as error:
        raise BrokenLine(str(error)) from error
    body = msgspec.json.encode(archived.answer)
    dialect = dialects().get(endpoint)
    answer = Assembled(body, "", complete=True) if dialect is None else dialect.parse(body)
    turns = archived.identity.get("messages") or archived.identity.get("input")
    temperature = archived.identity.get("temperature")
    request = Request(
        endpoint=endpoint,
        model=archived.model,
        identity=archived.identity,
        text=archived.text,
        raw=b"",
        traits=Traits(
            temperature=temperature if isinstance(temperature, int | float) else None,
            tools=bool(archived.identity.get("tools")),
            last_role="user" if archived.text else "",
            multimodal=not archived.semantic,
            turns=len(turns) if isinstance(turns, list) else 1,
        ),
        controls=Controls(ttl=archived.expires - archived.created, tags=tuple(archived.tags)),
    )
    usage = Usage(archived.prompt_tokens, archived.completion_tokens)
    scope = Scope(archived.tenant, archived.user, archived.namespace)
    answer = replace(answer, usage=usage)
    return LoggedCall(request, answer, archived.created, scope, archived.category)


class ExportedEntry(msgspec.Struct, kw_only=True):
    """A line of `semcache export`."""

    id: str
    endpoint: str
    model: str
    tenant: str
    user: str | None = None
    namespace: str = ""
    category: str
    identity: dict[str, Any]
    text: str
    answer: dict[str, Any]
    created: float
    expires: float
    tags: list[str] = []
    source: str = "traffic"
    semantic: bool = True
    prompt_tokens: int = 0
    completion_tokens: int = 0
    semcache: int = 1


def _openai_batch(row: Row, reading: LogContext) -> LoggedCall:
    name = row["custom_id"]
    if not isinstance(name, str):
        raise BrokenLine(f"custom_id {name!r} is no string")
    if row.get("error"):
        raise NotCacheable("failed call")
    if "method" in row and "response" not in row:
        raise BrokenLine("this is a line of the batch's input: import its output, and name this file with --requests")
    asked = reading.requests.get(name)
    if asked is None:
        raise BrokenLine(f"custom_id {name!r} has no request: name the batch's input file with --requests")
    response = _object(row["response"], "response")
    if response.get("status_code") != 200:
        raise NotCacheable("failed call")
    return _logged(str(asked.get("url") or CHAT), _object(asked["body"], "body"), response["body"], None)


def _openai_jsonl(row: Row, reading: LogContext) -> LoggedCall:
    asked = row.get("request")
    body = dict(_object(asked, "request")) if asked is not None else _without(row, "response", "completion", "answer")
    path = str(row.get("url") or row.get("endpoint") or body.pop("url", None) or _path(body))
    if isinstance(body.get("body"), Mapping):
        body = dict(body["body"])
    answer = next((row[name] for name in ("response", "completion", "answer") if row.get(name) is not None), None)
    if asked is None:
        if isinstance(body.get("prompt"), str) and "messages" not in body:
            settings = {name: body[name] for name in _SETTINGS if body.get(name) is not None}
            asks = [{"role": "user", "content": body["prompt"]}]
            body = {"model": body.get("model"), "messages": asks, "user": body.get("user"), **settings}
            path = CHAT
        body = {name: value for name, value in body.items() if name not in _ABOUT_THE_CALL}
    if answer is None:
        # Fine-tuning files hold the answer as the last message.
        messages = body.get("messages")
        if not isinstance(messages, list) or not messages or _role(messages[-1]) != "assistant":
            raise BrokenLine("there is no response, and the last message is not the assistant's")
        *body["messages"], answer = messages
    if isinstance(answer, Mapping) and isinstance(answer.get("body"), Mapping):
        answer = answer["body"]
    _name_model(body, reading, answer)
    logged = _logged(path, body, answer, _moment(row, "at", "timestamp", "time", "created_at"))
    return replace(logged, scope=_scope(row, logged.request), category=named(row, "category"))


def _litellm(row: Row, reading: LogContext) -> LoggedCall:
    if row.get("status") not in (None, "", "success", "200", 200):
        raise NotCacheable("failed call")
    call = str(row.get("call_type") or "")
    path = _CALLS.get(call)
    if path is None:
        raise NotCacheable(f"call type {call}")
    whole = _decoded(row.get("proxy_server_request"))
    if isinstance(whole, Mapping):
        whole = _decoded(whole.get("body", whole))
    if isinstance(whole, Mapping) and ("messages" in whole or "input" in whole or "prompt" in whole):
        body = dict(whole)
    else:
        messages = _decoded(row["messages"])
        if not isinstance(messages, list) or not messages:
            raise BrokenLine("the line holds no messages: litellm has to be told to log prompts")
        parameters = _decoded(row.get("model_parameters") or row.get("optional_params") or {})
        body = {**_object(parameters, "model_parameters"), "messages": messages}
        body["model"] = row.get("model_group") or row.get("model")
    answer = _answer(row["response"])
    if answer in (None, "", "{}", "null"):
        raise BrokenLine("the line holds no response: litellm has to be told to log responses")
    _name_model(body, reading, answer)
    return _logged(path, body, answer, _moment(row, "endTime", "startTime"))


def _langfuse(row: Row, reading: LogContext) -> LoggedCall:
    if str(row.get("level") or "DEFAULT").upper() == "ERROR":
        raise NotCacheable("failed call")
    asked, answer = _decoded(row["input"]), _answer(row["output"])
    if isinstance(asked, Mapping) and ("messages" in asked or "input" in asked):
        body = dict(asked)
    elif isinstance(asked, list) and all(_role(message) for message in asked):
        body = {"messages": asked}
    elif isinstance(row["input"], str):
        body = {"messages": [{"role": "user", "content": row["input"]}]}
    else:
        raise BrokenLine("input is neither a text nor messages")
    if answer is None:
        raise BrokenLine("output is empty")
    parameters = _object(_decoded(row.get("modelParameters") or {}), "modelParameters")
    body = {**{name: _number(value) for name, value in parameters.items()}, **body}
    body["model"] = body.get("model") or row.get("model")
    _name_model(body, reading, answer)
    return _logged(_path(body), body, answer, _moment(row, "endTime", "startTime", "timestamp"))


FORMATS: Mapping[str, Callable[[Row, LogContext], LoggedCall]] = {
    "semcache": _semcache,
    "openai-batch": _openai_batch,
    "openai-jsonl": _openai_jsonl,
    "litellm": _litellm,
    "langfuse": _langfuse,
}

_ABOUT_THE_CALL = frozenset(
    (
        *("id", "url", "endpoint", "at", "timestamp", "time", "created_at", "latency", "latency_ms", "duration"),
        *("duration_ms", "metadata", "usage", "cost", "status", "tenant", "namespace", "category", "session_id"),
        *("trace_id", "environment"),
    )
)
# What a line of a prompt and its answer may say of the request besides.
_SETTINGS = ("temperature", "top_p", "max_tokens", "max_completion_tokens", "seed", "stop")


def _logged(path: str, body: Row, answer: Any, at: float | None) -> LoggedCall:
    dialect = by_path(path)
    if dialect is None:
        raise NotCacheable(f"endpoint {path}")
    request = dialect.read(msgspec.json.encode(body))
    return LoggedCall(request, _assembled(dialect, answer, request.model), at)


def _assembled(dialect: Dialect, answer: Any, model: str) -> Assembled:
    """Return the answer as its dialect reads it; a text or a bare message is wrapped as a chat completion."""
    if isinstance(answer, Mapping) and not (answer.get("role") == "assistant" and answer.get("type") != "message"):
        return dialect.parse(chat_completion(answer, model))
    if dialect.endpoint is not Endpoint.CHAT:
        raise BrokenLine(f"an answer of {dialect.path} is an object, not {type(answer).__name__}")
    if isinstance(answer, Mapping):
        reason = "tool_calls" if answer.get("tool_calls") else "stop"
        choice = {"index": 0, "message": dict(answer), "finish_reason": reason}
        answer = bare_completion([choice], model)
    return dialect.parse(chat_completion(answer, model))


def _path(body: Row) -> str:
    if "messages" in body:
        return CHAT
    return "/v1/responses" if "input" in body else "/v1/completions"


def _scope(row: Row, request: Request) -> Scope | None:
    """Return the scope that a line names; None where it names none."""
    tenant, user, namespace = (named(row, name) for name in ("tenant", "user", "namespace"))
    if tenant is None and user is None and namespace is None:
        return None
    namespace = namespace or request.controls.namespace or ""
    return Scope(tenant or "default", user or request.user, namespace)


def named(row: Row, name: str) -> str | None:
    """Return the name or number in a field as text, None for an empty one."""
    value = row.get(name)
    if value is None or value == "":
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if not isinstance(value, str) or not value.isprintable():
        raise BrokenLine(f"{name} is {repr(value)[:40]}, not a printable name")
    return value


def _name_model(body: dict[str, Any], reading: LogContext, answer: Any) -> None:
    """Fill in a model: the one asked for on the command line, else the one that answered."""
    if not body.get("model"):
        answered = answer.get("model") if isinstance(answer, Mapping) else None
        body["model"] = reading.model or answered or "default"


def _decoded(value: Any) -> Any:
    """Return the JSON in a string, where a log keeps JSON as text; any other string as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return msgspec.json.decode(value)
        except msgspec.DecodeError:
            return value
    return value


def _answer(value: Any) -> Any:
    """Return an answer that a log may keep as text: a completion or a message, else the text itself."""
    decoded = _decoded(value)
    said = decoded[0] if isinstance(decoded, list) and len(decoded) == 1 else decoded
    known = isinstance(said, Mapping) and any(name in said for name in ("choices", "role", "output", "type"))
    return said if known or not isinstance(value, str) else value


def _number(value: Any) -> Any:
    """Return the number in a string, where a log keeps parameters as text."""
    try:
        return msgspec.json.decode(value, type=float | int) if isinstance(value, str) else value
    except msgspec.DecodeError:
        return value


def _object(value: Any, name: str) -> Row:
    if not isinstance(value, Mapping):
        raise BrokenLine(f"{name} is {type(value).__name__}, not an object")
    return value


def _role(message: Any) -> object:
    return message.get("role") if isinstance(message, Mapping) else None


def _without(row: Row, *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


def _moment(row: Row, *names: str) -> float | None:
    """Return the time in the first of these fields that holds one; 0 is a time, an empty field is none."""
    return _time(next((row[name] for name in names if row.get(name) not in (None, "")), None))


def _time(value: Any) -> float | None:
    """Return Unix seconds of a number of seconds or milliseconds, or of an ISO 8601 time, UTC without a zone."""
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise BrokenLine(f"{value!r} is no time")
    try:
        if isinstance(value, str) and "-" in value[1:]:
            moment = datetime.datetime.fromisoformat(value.strip())
            return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp()
        number = float(value)
    except (ValueError, OverflowError) as error:
        raise BrokenLine(f"{repr(value)[:40]} is no time") from error
    if not abs(number) <= _LATEST:
        raise BrokenLine(f"{repr(value)[:40]} is no time")
    return number / 1000 if number > _MILLISECONDS else number
