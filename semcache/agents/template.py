"""Plan templates: the steps of a run that ended well, with slots in place of the task's values.

Knows its own shape and its JSON, nothing of how it was made or is filled in. Invariant: `decode(encode(t)) == t`; a
template holds no value of the runs that it was learned from, but for constants that several runs had in common and
their tasks and tool results had not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, TypeAlias

import msgspec

from semcache.agents.expected_result import ExpectedResult
from semcache.agents.pattern import TaskPattern
from semcache.agents.pattern_gap import PatternGap, Writing
from semcache.agents.slots import SlotKind, words

IN_WORDS = "plan"  # the type of an answer of which somebody said that it is the plan

Json: TypeAlias = Any
ResultPlace: TypeAlias = tuple[int, int, tuple[str | int, ...]]  # step, call, and the path in its result


class SlotSource(StrEnum):
    """The source of a slot's value."""

    TASK = "task"  # it stands in the task
    RESULT = "result"  # it stands in the result of an earlier step
    OPEN = "open"  # a small model has to say


class ValueForm(StrEnum):
    """The form of a value in a call, where the task writes it otherwise."""

    SAME = "same"
    LOWER = "lower"
    UPPER = "upper"
    INTEGER = "integer"
    NUMBER = "number"
    FIXED = "fixed"  # as the task has it, "2026-05-03" or "19:30", and no date or time that is written otherwise
    ISO_DATE = "iso-date"
    CLOCK = "clock"  # "19:30"
    LIST = "list"  # of the items that the task lists, in words or in square brackets
    JOINED = "joined"  # the same items with commas between them
    BARE = "bare"  # without the number sign

    @property
    def counts(self) -> bool:
        """True for a number, which does not carry what it counts."""
        return self in (ValueForm.INTEGER, ValueForm.NUMBER)


@dataclass(frozen=True, slots=True)
class Hole:
    """A place in arguments or text for the value of a slot."""

    slot: str
    form: ValueForm = ValueForm.SAME


@dataclass(frozen=True, slots=True)
class Mix:
    """A string with slots inside."""

    parts: tuple[str | Hole, ...]


Filled: TypeAlias = Any  # JSON whose leaves may be `Hole` or `Mix`


@dataclass(frozen=True, slots=True)
class Slot:
    """A value that differs from task to task.

    `step`, `call` and `path` say where in the results it is found, for `SlotSource.RESULT`, and `also` where else it
    stood in every run so far: any of these may be the one that is meant. `about` is the argument it is for
    ("tool.argument"). `seen` is a keyed digest of the last value of a task's slot, and of an open slot's last value or
    of the text around the values in it: a constant shows by it. `apart` names the task's slots that have changed while
    an open value stayed the same. `unit` is what the task's number counts ("$", "%"), "" for nothing that stands beside
    it. `doubted` says that unlike arguments had a task's value in the only run so far, one of them perhaps by chance.
    """

    name: str
    kind: SlotKind
    source: SlotSource
    about: str
    step: int = 0
    call: int = 0
    path: tuple[str | int, ...] = ()
    seen: bytes = b""
    also: tuple[ResultPlace, ...] = ()
    unit: str = ""
    apart: tuple[str, ...] = ()
    doubted: bool = False

    @property
    def places(self) -> tuple[ResultPlace, ...]:
        """Every place in the results where it may be found."""
        return ((self.step, self.call, self.path), *self.also)


@dataclass(frozen=True, slots=True)
class Action:
    """A tool call to be made. `reads` says that the tool declares itself free of side effects.

    `result` is what the results of runs that ended well had in common.
    """

    tool: str
    arguments: Filled
    reads: bool
    result: ExpectedResult


@dataclass(frozen=True, slots=True)
class TemplateStep:
    """Calls that are made at once, or (`text`) a line of a plan in words."""

    actions: tuple[Action, ...] = ()
    text: Mix | None = None


@dataclass(frozen=True, slots=True)
class Template:
    """A plan with slots.

    `partition` is the hard boundary (16 bytes: tenant, agent, tool schemas, system prompt), `tools` the schema digests
    of the tools it uses. `patterns` are tasks that led to it; the first is the one it is known by. `runs` counts the
    runs it was learned from; `version` grows with every change. `good` and `bad` are its outcomes as of `judged`,
    `refused` the keys of tasks that it failed at. `retired` says why it is kept and no longer used, "" while it is.
    `expects` is the type of the answer, `IN_WORDS` where that is the plan. Times are Unix seconds.
    """

    id: int
    version: int
    tenant: str
    agent: str
    partition: bytes
    tools: Mapping[str, bytes]
    patterns: tuple[TaskPattern, ...]
    slots: tuple[Slot, ...]
    steps: tuple[TemplateStep, ...]
    requires: tuple[str, ...]
    expects: str
    created: float
    expires: float
    runs: int = 1
    tokens: int = 0  # completion tokens that planning took
    good: float = 0.0
    bad: float = 0.0
    judged: float = 0.0  # when an outcome was last counted
    retired: str = ""
    refused: tuple[str, ...] = ()

    def slot(self, name: str) -> Slot:
        """The slot of that name. Raises KeyError."""
        return next(one for one in self.slots if one.name == name)

    def writes(self) -> list[str]:
        """The tools it calls that do not declare themselves free of side effects."""
        return list(dict.fromkeys(one.tool for step in self.steps for one in step.actions if not one.reads))


def holes(tree: Filled) -> Iterator[Hole]:
    """Every hole in arguments, in their order."""
    if isinstance(tree, Hole):
        yield tree
    elif isinstance(tree, Mix):
        yield from (part for part in tree.parts if isinstance(part, Hole))
    elif isinstance(tree, dict):
        for inner in tree.values():
            yield from holes(inner)
    elif isinstance(tree, list):
        for inner in tree:
            yield from holes(inner)


def counts(steps: Iterable[TemplateStep]) -> frozenset[str]:
    """The slots that a call holds as a number."""
    calls = [one.arguments for step in steps for one in step.actions]
    return frozenset(hole.slot for tree in calls for hole in holes(tree) if hole.form.counts)


def literals(steps: Iterable[TemplateStep]) -> frozenset[str]:
    """The words, as stems, that a plan says by itself: of its lines, and of its arguments between the slots."""
    found: set[str] = set()
    layer: list[Filled] = [one.arguments for step in steps for one in step.actions]
    layer += [step.text for step in steps if step.text is not None]
    while layer:
        one = layer.pop()
        if isinstance(one, dict):
            layer += one.values()
        elif isinstance(one, list):
            layer += one
        elif isinstance(one, Mix):
            layer += [part for part in one.parts if isinstance(part, str)]
        elif isinstance(one, str):
            found.update(word.stem for word in words(one))
    return frozenset(found)


def unknown(template: Template) -> tuple[str, ...]:
    """The slots and tools that the steps and patterns of a template name, and that it does not have.

    A template that was learned has none; one that was edited may.
    """
    named = {one.name for one in template.slots}
    trees: list[Filled] = [one.arguments for step in template.steps for one in step.actions]
    trees += [step.text for step in template.steps if step.text is not None]
    used = {hole.slot for tree in trees for hole in holes(tree)}
    used |= {name for pattern in template.patterns for name in pattern.slots}
    called = {one.tool for step in template.steps for one in step.actions}
    slots = [f"the slot {name!r}" for name in sorted(used - named)]
    return (*slots, *[f"the tool {name!r}" for name in sorted(called - set(template.tools))])


def encode(template: Template) -> bytes:
    """As JSON: what is stored and shown."""
    return msgspec.json.encode(view(template))


def view(template: Template) -> dict[str, Any]:
    """As JSON has it, for people and for `decode`."""
    fields = {name: getattr(template, name) for name in _PLAIN}
    return {
        **fields,
        "partition": template.partition.hex(),
        "tools": {name: one.hex() for name, one in template.tools.items()},
        "patterns": [_pattern(pattern) for pattern in template.patterns],
        "slots": [
            {
                **{name: getattr(one, name) for name in _SLOT},
                "path": list(one.path),
                "seen": one.seen.hex(),
                **({"also": [[step, call, list(path)] for step, call, path in one.also]} if one.also else {}),
                **({"unit": one.unit} if one.unit else {}),
                **({"apart": list(one.apart)} if one.apart else {}),
                **({"doubted": True} if one.doubted else {}),
            }
            for one in template.slots
        ],
        "steps": [
            {
                "actions": [
                    {
                        "tool": one.tool,
                        "arguments": plain(one.arguments),
                        "reads": one.reads,
                        "yields": one.result.yields,
                        **{name: list(held) for name in _RESULT if (held := getattr(one.result, name))},
                    }
                    for one in step.actions
                ],
                "text": None if step.text is None else plain(step.text),
            }
            for step in template.steps
        ],
        "requires": list(template.requires),
        "refused": list(template.refused),
    }


def decode(data: bytes | Mapping[str, Any]) -> Template:
    """Read what `encode` or `view` gave, edited or not. Raises ValueError for anything else."""
    try:
        # Through JSON in any case, which has neither NaN nor half of a character.
        raw = dict(msgspec.json.decode(data if isinstance(data, bytes) else msgspec.json.encode(data)))
        raw |= {name: _plainly(name, raw[name]) for name in raw.keys() & _PLAIN.keys()}
        raw["partition"] = bytes.fromhex(raw["partition"])
        raw["tools"] = {name: bytes.fromhex(one) for name, one in raw["tools"].items()}
        raw["patterns"] = tuple([_read_pattern(each) for each in raw["patterns"]])
        raw["slots"] = tuple(_slot(one) for one in raw["slots"])
        raw["steps"] = tuple(_step(one) for one in raw["steps"])
        raw["requires"] = msgspec.convert(raw["requires"], tuple[str, ...])
        raw["refused"] = msgspec.convert(raw.get("refused", ()), tuple[str, ...])
        if not raw["patterns"] or not raw["steps"]:
            raise ValueError("it needs a task and a step")
        return Template(**raw)
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise ValueError(f"no plan template: {error}") from error


def plain(tree: Filled) -> Json:
    """Arguments as JSON: a hole is {"$slot": name}, a string with holes {"$text": [...]}."""
    if isinstance(tree, Hole):
        return {"$slot": tree.slot} if tree.form is ValueForm.SAME else {"$slot": tree.slot, "$form": tree.form.value}
    if isinstance(tree, Mix):
        return {"$text": [plain(part) if isinstance(part, Hole) else part for part in tree.parts]}
    if isinstance(tree, dict):
        inner = {key: plain(value) for key, value in tree.items()}
        return {"$plain": inner} if any(key.startswith("$") for key in inner) else inner
    return [plain(one) for one in tree] if isinstance(tree, list) else tree


def unplain(data: Json) -> Filled:
    """Undo `plain`. Raises ValueError, KeyError or TypeError for what it never gave."""
    if isinstance(data, dict):
        if "$slot" in data:
            return Hole(str(data["$slot"]), ValueForm(data.get("$form", "same")))
        if "$text" in data:
            parts = [unplain(part) if isinstance(part, dict) else str(part) for part in data["$text"]]
            return Mix(tuple(parts))
        inner = data.get("$plain", data)
        return {key: unplain(value) for key, value in inner.items()}
    return [unplain(one) for one in data] if isinstance(data, list) else data


_Count = Annotated[int, msgspec.Meta(ge=0)]
_Amount = Annotated[float, msgspec.Meta(ge=0.0)]
_PLAIN: Mapping[str, Any] = {
    "id": _Count, "version": _Count, "tenant": str, "agent": str, "expects": str, "created": _Amount,
    "expires": _Amount, "runs": _Count, "tokens": _Count, "good": _Amount, "bad": _Amount, "judged": _Amount,
    "retired": str,
}  # fmt: skip
_RESULT = ("passes", "always", "fields", "states", "echoes")
_SLOT = ("name", "kind", "source", "about", "step", "call")


def _plainly(name: str, value: Json) -> Any:
    try:
        return msgspec.convert(value, _PLAIN[name])
    except msgspec.ValidationError as error:
        raise ValueError(f"{name}: {error}") from error


def _pattern(pattern: TaskPattern) -> Json:
    told = {"signs": pattern.signs, "freed": pattern.freed, "asks": pattern.asks, "orders": pattern.orders}
    more = {name: value for name, value in told.items() if value}
    return [*[_element(one) for one in pattern.elements], *([more] if more else [])]


def _element(one: Any) -> Json:
    if isinstance(one, str):
        return one
    rest = [sorted(way.value for way in one.took), one.only.hex(), sorted(one.led), one.family.hex()]
    while rest and not rest[-1]:
        rest.pop()
    return [one.slot, one.kind.value, one.widest, one.optional, *rest]


def _read_pattern(data: list[Json]) -> TaskPattern:
    more = {name: value for one in data if isinstance(one, dict) for name, value in one.items()}
    elements = [_read_element(one) for one in data if not isinstance(one, dict)]
    said = [bool(more.get(name)) for name in ("freed", "asks", "orders")]
    return TaskPattern(tuple(elements), str(more.get("signs", "")), *said)


def _read_element(data: Json) -> Any:
    if isinstance(data, str):
        return data
    slot, kind, widest, optional, *rest = data
    took = rest[0] if rest else ()
    only = rest[1] if len(rest) > 1 else ""
    led = rest[2] if len(rest) > 2 else ()
    family = rest[3] if len(rest) > 3 else ""
    return PatternGap(
        str(slot), SlotKind(kind), int(widest), bool(optional), frozenset(map(Writing, took)), bytes.fromhex(only),
        frozenset(map(str, led)), bytes.fromhex(family),
    )  # fmt: skip


def _slot(data: Mapping[str, Any]) -> Slot:
    return Slot(
        str(data["name"]),
        SlotKind(data["kind"]),
        SlotSource(data["source"]),
        str(data["about"]),
        int(data["step"]),
        int(data["call"]),
        tuple(data["path"]),
        bytes.fromhex(data["seen"]),
        tuple([(int(step), int(call), tuple(path)) for step, call, path in data.get("also", ())]),
        str(data.get("unit", "")),
        tuple(map(str, data.get("apart", ()))),
        bool(data.get("doubted", False)),
    )


def _result(data: Mapping[str, Any]) -> ExpectedResult:
    return ExpectedResult(
        str(data["yields"]), *[msgspec.convert(data.get(one, ()), tuple[str, ...]) for one in _RESULT]
    )


def _step(data: Mapping[str, Any]) -> TemplateStep:
    text = None if data.get("text") is None else unplain(data["text"])
    if text is not None and not isinstance(text, Mix):
        raise ValueError("the text of a step is {'$text': [...]}")
    actions = [
        Action(
            str(one["tool"]), unplain(one["arguments"]), bool(one["reads"]), _result(one),
        )
        for one in data["actions"]
    ]  # fmt: skip
    return TemplateStep(tuple(actions), text)
