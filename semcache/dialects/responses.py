"""The dialect of OpenAI Responses.

Knows the items of /v1/responses and the order of its typed events. Whether an answer that created server-side state
(`store`, true unless said otherwise) may be served again is the proxy's decision: `replay["store"]` tells it.
Invariant: the terminal event carries the whole answer, so a stored body is what `response.completed` said, unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from semcache.dialects import body as bodies
from semcache.dialects import provider_search, sse
from semcache.dialects.answer import encode, integer, load, openai_error, parsed, pieces, stored, tokens
from semcache.errors import IntegrityError
from semcache.types import Assembled, Endpoint, Request, Traits, Usage

Json: TypeAlias = dict[str, Any]

_ROLES: dict[str, Any] = {"user": "user", "assistant": "assistant", "system": "system", "developer": "system"}
_CALLER_TOOLS = ("function", "custom", "local_shell", "apply_patch", "namespace")
_WITH_TOOLS = ("additional_tools", "tool_search_output")  # items that make more tools available
_TERMINAL = frozenset({"response.completed", "response.incomplete", "response.failed"})
_CALLS = {"function_call": "arguments", "custom_tool_call": "input", "mcp_call": "arguments"}


# Fields of a request that change no answer and are repeated in it, with what stands for those that are left out.
_ECHOED: Mapping[str, Any] = {
    "store": True,
    "metadata": {},
    "user": None,
    "safety_identifier": None,
    "prompt_cache_key": None,
}


def _differs(answer: Json, replay: Mapping[str, object]) -> bool:
    return any(answer[key] != value for key, value in _echo(answer, replay).items())


def _restated(answer: Json, replay: Mapping[str, object]) -> Json:
    """The answer of another request, without that one's user and metadata."""
    return answer | _echo(answer, replay)


def _echo(answer: Json, replay: Mapping[str, object]) -> Json:
    """The fields of the answer that repeat the request, as they are for this one."""
    return {
        key: replay[key] if key in replay else default if answer[key] else answer[key]
        for key, default in _ECHOED.items()
        if key in answer
    }


class ResponsesDialect:
    """The dialect of /v1/responses."""

    endpoint = Endpoint.RESPONSES
    path = "/v1/responses"

    def read(self, raw: bytes) -> Request:
        """Parse a request body."""
        body, raw, controls = bodies.read(raw)
        prompt = body.get("prompt")
        # A stored prompt may name the model; such a request is never cached, so its name is not needed.
        model = "" if prompt is not None and body.get("model") is None else bodies.model(body)
        turns, system, stateful = _turns(body.get("input"), bodies.is_hinted(raw))
        identity = bodies.settle(body)
        text, frame, role, multimodal = "", None, "", False
        if turns:
            last = turns[-1]
            role = _ROLES.get(last.get("role", ""), "") or ("tool" if _is_output(last) else "")
            if role == "user":
                multimodal = bodies.has_parts_beside(last.get("content"), ("input_text",))
                text, frame = bodies.take_last_text(turns, "input_text")
            identity["input"] = turns
        instructions = body.get("instructions")
        tools = [*bodies.array(body, "tools"), *_added_tools(turns)]
        return Request(
            endpoint=Endpoint.RESPONSES,
            model=model,
            identity=identity,
            text=text,
            raw=raw,
            stream=bodies.flag(body, "stream"),
            replay={key: body[key] for key in _ECHOED if body.get(key) is not None}
            | {"store": body.get("store") is not False},
            traits=Traits(
                temperature=bodies.number(body, "temperature"),
                tools=bool(tools),
                last_role=role,  # type: ignore[arg-type]
                stateful=stateful
                or prompt is not None
                or provider_search.is_asked_for(body)
                or bodies.flag(body, "background")
                or any(body.get(key) is not None for key in ("previous_response_id", "conversation"))
                or bodies.runs_upstream(tools, _CALLER_TOOLS),
                multimodal=multimodal,
                system="\n".join(part for part in (instructions, system) if isinstance(part, str) and part),
                turns=len(turns) or 1,
                repeats_prompt=bodies.repeats_prompt(body),
            ),
            user=bodies.user(body),
            controls=controls,
            frame=frame,
        )

    def assembler(self) -> ResponseAssembler:
        """A reader for one stream."""
        return ResponseAssembler()

    def parse(self, body: bytes) -> Assembled:
        """Read a whole answer."""
        return parsed(body, _assemble)

    def restated(self, body: bytes, replay: Mapping[str, object]) -> bytes:
        """The stored answer with what it repeats of its request as this request has it."""
        answer = stored(body)
        return encode(_restated(answer, replay)) if _differs(answer, replay) else body

    def stream(self, body: bytes, replay: Mapping[str, object]) -> Sequence[bytes]:
        """The stored answer as the API's sequence of typed events."""
        answer = _restated(stored(body), replay)
        if not _readable(answer):
            raise IntegrityError("the stored response has no readable output; purge the entry")
        return [
            sse.event(encode({"type": name, **fields, "sequence_number": number}), name)
            for number, (name, fields) in enumerate(_events(answer))
        ]

    def error(self, status: int, message: str, *, code: str, param: str | None = None) -> bytes:
        """An OpenAI error body."""
        return openai_error(status, message, code=code, param=param)


DIALECT = ResponsesDialect()


class ResponseAssembler(sse.StreamAssembler):
    """Reads a stream of typed events; only the last one is decoded unless it leaves the output out."""

    def __init__(self) -> None:
        super().__init__()
        self._response: Json | None = None
        self._items: list[Json] = []
        self._completed = False

    def finish(self, *, closed: bool = False) -> Assembled:  # noqa: ARG002
        """The response that the terminal event carried."""
        self._close()
        if self._response is None:
            return Assembled(b"{}", "", complete=False)
        if not self._response.get("output") and self._items:
            self._response["output"] = self._items
        body = encode(self._response)
        answer = _assemble(self._response, body)
        if self._completed:
            return answer
        return Assembled(body, answer.text, False, answer.refusal, answer.tool_calls, answer.usage)

    def _take(self, event: sse.Event) -> None:
        if event.name.endswith(".delta") or event.data.startswith(b"[DONE]"):
            return
        payload = load(event.data)
        name = payload.get("type") or event.name if payload is not None else None
        if payload is None or name == "error" or event.name == "error":
            self._broken = True
        elif name == "response.output_item.done" and isinstance(payload.get("item"), dict):
            self._items.append(payload["item"])
        elif isinstance(name, str) and name in _TERMINAL:
            self._terminal = event.start
            self._completed = name == "response.completed"
            response = payload.get("response")
            self._response = response if isinstance(response, dict) else None


def _turns(given: object, hinted: bool) -> bodies.PlainTurns:
    if given is None:
        return bodies.PlainTurns([])
    if isinstance(given, str):
        return bodies.PlainTurns([{"role": "user", "content": given}])
    turns: list[Json] = []
    system: list[str] = []
    stateful = False
    for place, sent in bodies.objects(given, "input", kinds="a string or an array"):
        item = sent
        if hinted:
            item = {**sent, **{key: bodies.unhinted(sent[key]) for key in ("content", "output") if key in sent}}
        if item.get("role") is None:
            stateful = stateful or item.get("type") in ("item_reference", None)
            turns.append(item)
            continue
        role, content = bodies.role(item, place), item.get("content")
        bodies.parts(content, f"{place}.content")
        if role in ("system", "developer"):
            system.append(bodies.text_of(content, "input_text"))
        settled = bodies.plain(content, "input_text")
        if settled is content and item.get("type") != "message":
            turns.append(item)
            continue
        turn = {key: value for key, value in item.items() if (key, value) != ("type", "message")}
        turns.append({**turn, "content": settled} if "content" in item else turn)
    return bodies.PlainTurns(turns, "\n".join(system), stateful)


def _added_tools(turns: Sequence[Json]) -> Iterator[Any]:
    """The tools that items of a conversation make available, None for those that cannot be read."""
    for item in turns:
        if item.get("type") in _WITH_TOOLS:
            added = item.get("tools")
            yield from added if isinstance(added, list) else (None,)


def _is_output(item: Json) -> bool:
    return isinstance(item.get("type"), str) and item["type"].endswith("_output")


def _readable(answer: Json) -> bool:
    output = answer.get("output")
    return isinstance(output, list) and all(isinstance(item, dict) and _fits(item) for item in output)


def _fits(item: Json) -> bool:
    if item.get("type") == "message":
        parts = item.get("content")
        return isinstance(parts, list) and all(
            isinstance(part, dict) and isinstance(part.get("type"), str) for part in parts
        )
    return isinstance(item.get("type"), str)


def _assemble(answer: Json, body: bytes) -> Assembled:
    usage = answer.get("usage")
    spent = Usage()
    if isinstance(usage, dict):
        spent = Usage(
            integer(usage.get("input_tokens")),
            integer(usage.get("output_tokens")),
            tokens(usage, "input", "cached_tokens"),
            tokens(usage, "input", "cache_write_tokens"),
            tokens(usage, "output", "reasoning_tokens"),
        )
    if not _readable(answer):
        return Assembled(body, "", complete=False, usage=spent)
    texts: list[str] = []
    details = answer.get("incomplete_details")
    refusal = isinstance(details, dict) and details.get("reason") == "content_filter"
    tool_calls = wordless = False
    for item in answer["output"]:
        if item.get("type") == "message":
            for part in item["content"]:
                refusal = refusal or part.get("type") == "refusal"
                if part.get("type") == "output_text" and isinstance(part.get("text"), str):
                    texts.append(part["text"])
        elif item.get("type") in ("function_call", "custom_tool_call", "local_shell_call", "apply_patch_call"):
            tool_calls = True
        elif item.get("type") != "reasoning":
            wordless = True
    complete = answer.get("status") == "completed" and answer.get("error") is None
    return Assembled(body, "".join(texts), complete, refusal, tool_calls, spent, wordless)


def _events(answer: Json) -> Iterator[tuple[str, Json]]:
    started = {**answer, "status": "in_progress", "output": [], "usage": None}
    if answer.get("completed_at") is not None:
        started["completed_at"] = None
    yield "response.created", {"response": started}
    yield "response.in_progress", {"response": started}
    for position, item in enumerate(answer["output"]):
        yield from _item_events(position, item)
    ending = {"incomplete": "response.incomplete", "failed": "response.failed"}
    yield ending.get(str(answer.get("status")), "response.completed"), {"response": answer}


def _item_events(position: int, item: Json) -> Iterator[tuple[str, Json]]:
    where: Json = {"item_id": item.get("id"), "output_index": position}
    started = {**item, "status": "in_progress"} if "status" in item else dict(item)
    emptied = {"message": ("content",), "reasoning": ("summary", "content")}.get(str(item.get("type")), ())
    for key in emptied:
        if _parts(item, key):
            started[key] = []
    call_field = _CALLS.get(str(item.get("type")))
    if call_field and isinstance(item.get(call_field), str):
        started[call_field] = ""
    yield "response.output_item.added", {"output_index": position, "item": started}
    if "summary" in emptied:
        for index, part in enumerate(_parts(item, "summary")):
            yield from _summary_events({**where, "summary_index": index}, part)
    if "content" in emptied:
        for index, part in enumerate(_parts(item, "content")):
            yield from _part_events({**where, "content_index": index}, part)
    if call_field and isinstance(item.get(call_field), str):
        yield from _call_events(where, item, call_field)
    yield "response.output_item.done", {"output_index": position, "item": item}


def _parts(item: Json, key: str) -> list[Json]:
    value = item.get(key)
    return value if isinstance(value, list) and all(isinstance(part, dict) for part in value) else []


def _summary_events(where: Json, part: Json) -> Iterator[tuple[str, Json]]:
    text = part.get("text") if isinstance(part.get("text"), str) else ""
    yield "response.reasoning_summary_part.added", {**where, "part": {**part, "text": ""}}
    for piece in pieces(text or ""):
        yield "response.reasoning_summary_text.delta", {**where, "delta": piece}
    yield "response.reasoning_summary_text.done", {**where, "text": text}
    yield "response.reasoning_summary_part.done", {**where, "part": part}


def _part_events(where: Json, part: Json) -> Iterator[tuple[str, Json]]:
    name = str(part.get("type"))
    field = "refusal" if name == "refusal" else "text"
    text = part.get(field)
    if name not in ("output_text", "refusal", "reasoning_text") or not isinstance(text, str):
        yield "response.content_part.added", {**where, "part": part}
        yield "response.content_part.done", {**where, "part": part}
        return
    started = {**part, field: ""}
    extra: Json = {}
    if name == "output_text":
        started["annotations"] = []
        extra = {"logprobs": []}
        if part.get("logprobs"):
            started["logprobs"] = []
    yield "response.content_part.added", {**where, "part": started}
    for piece in pieces(text):
        yield f"response.{name}.delta", {**where, "delta": piece, **extra}
    if name == "output_text":
        annotations = part.get("annotations")
        for index, annotation in enumerate(annotations if isinstance(annotations, list) else ()):
            added = {**where, "annotation_index": index, "annotation": annotation}
            yield "response.output_text.annotation.added", added
        extra = {"logprobs": part.get("logprobs") or []}
    yield f"response.{name}.done", {**where, field: text, **extra}
    yield "response.content_part.done", {**where, "part": part}


def _call_events(where: Json, item: Json, field: str) -> Iterator[tuple[str, Json]]:
    name = {
        "function_call": "response.function_call_arguments",
        "custom_tool_call": "response.custom_tool_call_input",
        "mcp_call": "response.mcp_call_arguments",
    }[item["type"]]
    for piece in pieces(item[field]):
        yield f"{name}.delta", {**where, "delta": piece}
    done = {**where, field: item[field]}
    if item["type"] == "function_call":
        done["name"] = item.get("name")
    yield f"{name}.done", done
