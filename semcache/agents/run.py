"""A finished agent run, read from a conversation in the form of OpenAI chat messages.

Knows roles, tool calls and tool results; nothing of templates. Invariant: an `AgentRun` that exists is whole: it has a
task, every call has its result, and its last message is the agent's answer. Whatever cannot be read so is a `NoRun`
with one reason, never another exception.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from typing import Any, TypeAlias

import msgspec

from semcache.agents.courtesy import without_courtesy
from semcache.agents.python_literals import as_json
from semcache.agents.result_signs import failed
from semcache.runtime.scoped_memo import scoped_cache

Json: TypeAlias = Any
MAX_CALLS = 64
_LONGEST = 4_000  # characters of a task; the words of a longer one are hardly ever few enough to be aligned
MAX_ARGUMENTS = 64 << 10  # bytes of one call's arguments
MAX_RESULT = 256 << 10  # characters of a tool result that are looked at
_DEPTH = 24
# The tools by which agents of libraries give their result instead of a message, as their libraries name them.
_RESULT = re.compile(r"final_(?:answer|result)(?:_\w+)?")
_ROLES = frozenset(["system", "developer", "user", "assistant", "tool"])
_sorted = msgspec.json.Encoder(order="sorted")


class PlanReason(StrEnum):
    """Why a run becomes no template, or a task is left to the planner. One vocabulary for counters, log and replies."""

    # reading a run
    NO_TASK = "no-task"
    TRUNCATED = "truncated"
    NO_STEPS = "no-steps"
    TOO_LARGE = "too-large"
    UNREADABLE = "unreadable"
    CYCLE = "cycle"
    TOOL_ERROR = "tool-error"
    # making a template
    UNDECLARED_TOOL = "undeclared-tool"
    UNEXPLAINED = "unexplained"
    TAINTED = "tainted"
    VAGUE = "vague"
    # matching
    COLD = "cold"
    TURNED = "turned"
    UNCERTAIN = "uncertain"
    BELOW_TARGET = "below-target"
    EXPIRED = "expired"
    RETIRED = "retired"
    # filling in
    OPEN_SLOT = "open-slot"
    GARBAGE = "small-model-garbage"
    TIMEOUT = "small-model-timeout"
    INVALID = "invalid-arguments"
    LEAK = "leak"
    OFF_PLAN = "off-plan"
    PLAN_DONE = "plan-done"
    IN_WORDS = "in-words"
    FAULT = "fault"


class NoRun(Exception):
    """These messages are no finished run; `why` says in one word what is missing."""

    def __init__(self, why: PlanReason) -> None:
        super().__init__(why.value)
        self.why = why


@dataclass(frozen=True, slots=True)
class DeclaredTool:
    """A declared tool: its JSON schema of arguments, and whether calling it changes nothing.

    `reads` comes from the declaration alone (`annotations.readOnlyHint`, `x-semcache.read_only`); a tool that says
    nothing is taken to have side effects. `digest` covers name and schema.
    """

    name: str
    schema: Json
    reads: bool
    digest: bytes


@dataclass(frozen=True, slots=True)
class RunCall:
    """A tool call with its result. `result` is JSON where it can be read as such, or as Python writes it, else text."""

    tool: str
    arguments: Json
    result: Json
    failed: bool


@dataclass(frozen=True, slots=True)
class RunTurn:
    """The agent's text and the calls it made with it, at once."""

    text: str
    calls: tuple[RunCall, ...]


@dataclass(frozen=True, slots=True)
class AgentRun:
    """A run from its task to its answer. `system` is what the task was said under (`task_of`).

    `said` are the later words of the user, `texts` all text of tool results.
    """

    task: str
    system: str
    turns: tuple[RunTurn, ...]
    answer: str
    said: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()


@contextmanager
def _reading() -> Iterator[None]:
    """Make a NoRun of what a value of the wrong kind raises."""
    try:
        yield
    except (AttributeError, TypeError, ValueError, LookupError, RecursionError) as error:
        raise NoRun(PlanReason.UNREADABLE) from error


def tools(declared: Sequence[Mapping[str, Any]] | None) -> Mapping[str, DeclaredTool]:
    """The tools of a request, by name, in the form of chat, responses or messages.

    Of those that the provider runs all is compared; one without a name goes by a digest, so that no call has its name.
    Raises NoRun(UNREADABLE) for what is no JSON.
    """
    with _reading():
        return _declared(msgspec.json.encode(list(declared or ())))


@scoped_cache(maxsize=256, usual=16384)
def _declared(raw: bytes) -> Mapping[str, DeclaredTool]:
    found: dict[str, DeclaredTool] = {}
    for one in msgspec.json.decode(raw):
        inner = one.get("function", one) if isinstance(one, dict) else None
        name = inner.get("name") if isinstance(inner, dict) else None
        if not isinstance(inner, dict) or not isinstance(name, str) or not name:
            whole = digest("hosted", one)
            found[f"({whole.hex()})"] = DeclaredTool("", {}, False, whole)
            continue
        schema = inner.get("parameters", inner.get("input_schema")) or {}
        own = one.get("type") in (None, "function") or "input_schema" in inner
        found[name] = DeclaredTool(
            name, schema, _reads(one) or _reads(inner), digest(name, schema) if own else digest("hosted", one)
        )
    return found


def digest(*parts: Json) -> bytes:
    """16 bytes of BLAKE2b over JSON values; key order means nothing."""
    return blake2b(_sorted.encode(parts), digest_size=16).digest()


def task_of(messages: Sequence[Mapping[str, Any]], system: str = "") -> tuple[str, str]:
    """The task (the first user message, without courtesy) and what it was said under. Raises NoRun.

    That is the system prompt, `system` in its place where it is given, and what stands before the task: "Which booking
    shall I cancel?" makes another task of "AB12CD".
    """
    with _reading():
        told = system or "\n".join(text_of(one) for one in messages if one.get("role") in ("system", "developer"))
        at = next((at for at, one in enumerate(messages) if one.get("role") == "user"), len(messages))
        before = [one for one in messages[:at] if one.get("role") not in ("system", "developer")]
        asked = [digest(one.get("role"), one.get("content"), one.get("tool_calls")).hex() for one in before]
        first = messages[at] if at < len(messages) else {}
        task, shown = text_of(first).strip(), first.get("content")
    # A picture or a file says what no pattern of words does.
    if not task or (
        isinstance(shown, list) and any(not isinstance(part, Mapping) or "text" not in part for part in shown)
    ):
        raise NoRun(PlanReason.NO_TASK)
    if len(task) > _LONGEST:
        raise NoRun(PlanReason.TOO_LARGE)
    return without_courtesy(task), "\0".join((told, *asked))


def interrupted(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Return True if the user said more than the task, so that what is to be done does not follow from that alone."""
    with _reading():
        return [one.get("role") for one in messages].count("user") > 1


def begun(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Return True if the answer that is asked for has been begun in words, which calls would not go on with."""
    with _reading():
        last = messages[-1] if messages else {}
        return last.get("role") == "assistant" and not last.get("tool_calls")


def hands_over(answer: Mapping[str, Any]) -> bool:
    """Return True for an answer that ends a run with a call: one of a tool that takes the result of the run."""
    try:
        with _reading():
            made = [str(one["function"]["name"]) for one in answer.get("tool_calls") or ()]
    except NoRun:
        return False
    return len(made) == 1 and _RESULT.fullmatch(made[0]) is not None


def read(messages: Sequence[Mapping[str, Any]]) -> AgentRun:
    """The run behind a conversation that has ended. Raises NoRun."""
    with _reading():
        return _read(messages)


def turns_of(messages: Sequence[Mapping[str, Any]]) -> tuple[tuple[RunTurn, ...], list[str]]:
    """The turns with calls so far, and the text of their results. Raises NoRun: TRUNCATED when a result is missing."""
    with _reading():
        return _turns_of(messages)


def has_error(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Return True if a tool of a run answered with an error. A conversation that is no run has none."""
    try:
        turns, _ = turns_of(messages)
    except NoRun:
        return False
    return any(call.failed for turn in turns for call in turn.calls)


def _turns_of(messages: Sequence[Mapping[str, Any]]) -> tuple[tuple[RunTurn, ...], list[str]]:
    results: dict[Any, deque[Mapping[str, Any]]] = {}
    for one in messages:
        if one.get("role") == "tool":
            results.setdefault(one.get("tool_call_id"), deque()).append(one)
    turns: list[RunTurn] = []
    texts: list[str] = []
    for message in messages:
        if message.get("role") not in _ROLES or message.get("function_call"):
            raise NoRun(PlanReason.UNREADABLE)
        if message.get("role") != "assistant" or not message.get("tool_calls"):
            continue
        calls: list[RunCall] = []
        for asked in message["tool_calls"]:
            # Some agents use an id twice, in one turn or in several: each call takes the first result that is left.
            left = results.get(asked.get("id"))
            if not left:
                raise NoRun(PlanReason.TRUNCATED)
            answer = left.popleft()
            text = text_of(answer)[:MAX_RESULT]
            texts.append(text)
            calls.append(_call(asked["function"], text, answer))
        turns.append(RunTurn(text_of(message), tuple(calls)))
    if sum(len(turn.calls) for turn in turns) > MAX_CALLS:
        raise NoRun(PlanReason.TOO_LARGE)
    return tuple(turns), texts


def text_of(message: Mapping[str, Any]) -> str:
    """The text of a message, whose content is a string or a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))


def loaded(text: str) -> Json:
    """JSON where the text is that, the text itself elsewhere; too deep counts as text."""
    try:
        value = msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return text
    return value if depth(value) <= _DEPTH else text


def depth(value: Json) -> int:
    """The depth of a JSON value; at most a little over what is accepted."""
    level, layer = 0, [value]
    while layer and level <= _DEPTH:
        level += 1
        layer = [
            inner
            for one in layer
            if isinstance(one, dict | list)
            for inner in (one.values() if isinstance(one, dict) else one)
        ]
    return level


def _read(messages: Sequence[Mapping[str, Any]]) -> AgentRun:
    task, system = task_of(messages)
    # Who thanks for an answer does not keep the run from having ended with it.
    while messages and messages[-1].get("role") == "user":
        messages = messages[:-1]
    last = messages[-1] if messages else {}
    if last.get("role") != "assistant" or last.get("tool_calls"):
        raise NoRun(PlanReason.TRUNCATED)
    turns, texts = turns_of(messages)
    final = max((at for at, one in enumerate(messages) if one.get("tool_calls")), default=len(messages))
    if interrupted(messages[:final]):
        raise NoRun(PlanReason.UNEXPLAINED)
    answer = text_of(last)
    if not turns and not answer:
        raise NoRun(PlanReason.NO_STEPS)
    if turns and turns[-1].calls[-1].failed and not any(not call.failed for turn in turns for call in turn.calls):
        raise NoRun(PlanReason.TOOL_ERROR)
    made = [(call.tool, _sorted.encode(call.arguments)) for turn in turns for call in turn.calls]
    if any(made.count(one) > 3 for one in set(made)):
        raise NoRun(PlanReason.CYCLE)
    said = tuple(text_of(one) for one in messages if one.get("role") == "user")[1:]
    return AgentRun(task, system, turns, answer, said, tuple(texts))


def _call(function: Mapping[str, Any], text: str, answer: Mapping[str, Any]) -> RunCall:
    raw = function.get("arguments") or "{}"
    if isinstance(raw, str):
        if len(raw) > MAX_ARGUMENTS:
            raise NoRun(PlanReason.TOO_LARGE)
        arguments = loaded(raw)
    else:
        arguments = raw
    if not isinstance(arguments, dict) or depth(arguments) > _DEPTH:
        raise NoRun(PlanReason.UNREADABLE)
    result = loaded(text)
    if result is text and (rewritten := as_json(text)) is not None:
        result = loaded(rewritten)
        result = result if result is not rewritten else text
    return RunCall(str(function["name"]), arguments, result, bool(answer.get("is_error")) or failed(result))


def _reads(one: Mapping[str, Any]) -> bool:
    hints, own = one.get("annotations"), one.get("x-semcache")
    return (isinstance(hints, Mapping) and hints.get("readOnlyHint") is True) or (
        isinstance(own, Mapping) and own.get("read_only") is True
    )
