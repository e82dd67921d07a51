"""Distillation of a finished run into a draft template: which steps count, and where each value came from.

Every value in a call must be explained: it stands in the task, or in the result of an earlier step, or it stays open
and a small model has to say it when the template is used. A value that explains itself by nothing becomes a constant
only when another run, of another task, had the same one. Pure.
Invariant: no text of a tool result and no value of the task gets into a template; of results only the places are kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import msgspec

from semcache.agents import pattern, template
from semcache.agents.attempts import without_attempts
from semcache.agents.composed_text import ComposedText, FromResult, composed, sought, taken_apart
from semcache.agents.expected_result import expected, type_of
from semcache.agents.forms import forms_of, says_order, unit_of, write
from semcache.agents.pattern_gap import OWNED, items, listing
from semcache.agents.run import AgentRun, DeclaredTool, Json, NoRun, PlanReason, RunCall, digest
from semcache.agents.schemas import choices
from semcache.agents.shared_values import HeldBy, doubted
from semcache.agents.short_patterns import pinned
from semcache.agents.slots import STOP, SlotKind, find, kind_of, words
from semcache.agents.template import (
    IN_WORDS,
    Action,
    Filled,
    Hole,
    Mix,
    ResultPlace,
    Slot,
    SlotSource,
    TemplateStep,
    ValueForm,
)
from semcache.agents.told_so_far import ToldSoFar
from semcache.agents.value_pieces import span_of

_KEY = re.compile(r"[A-Za-z_][\w-]{0,39}")  # a key that may be part of a path into results
_IN_QUOTES = re.compile(r"(?<=['\"])[^'\"\n]{1,100}(?=['\"])")
_LEAVES = 2000  # of all results, that a value is sought among
_PLACES = 8  # of one value in results, that are remembered
_SMALL = 10  # whole numbers below this stand in results by chance
_PLAN_LINES = 40
_WORDS = 600  # of a task, that values are sought among


@dataclass(frozen=True, slots=True)
class Draft:
    """The draft of a template, from one run.

    No template keeps `raw`, the values of open slots, or `said`, the pieces of the task that fill its slots. Texts
    around other values are taken apart in `raw`. `plain` are the stems of the task's words beside its values. `heard`
    are open slots whose value stood in what the run had been told before a call had it.
    """

    pattern: pattern.TaskPattern
    slots: tuple[Slot, ...]
    steps: tuple[TemplateStep, ...]
    tools: Mapping[str, bytes]
    requires: tuple[str, ...]
    expects: str
    raw: Mapping[str, Json] = field(default_factory=dict)
    said: Mapping[str, str] = field(default_factory=dict)
    plain: frozenset[str] = frozenset()
    heard: frozenset[str] = frozenset()


def distil(run: AgentRun, tools: Mapping[str, DeclaredTool], *, salt: bytes, in_words: bool = False) -> Draft:
    """The draft of a run. `salt` keys the digests of open values. Raises NoRun with the reason why there is none.

    A run without calls has no plan, unless its answer is said to be one (`in_words`).
    """
    if not pattern.alignable(run.task):
        raise NoRun(PlanReason.TOO_LARGE)
    made = _DraftBuilder(run, tools, salt)
    steps = made.actions() if run.turns else made.lines() if in_words else ()
    if not steps:
        raise NoRun(PlanReason.NO_STEPS)
    learned = pattern.learned(run.task, made.said, salt=salt)
    if not learned.telling:
        learned = replace(learned, elements=pinned(learned.elements, made.said, made.listed(), salt=salt))
    if not learned.telling:
        raise NoRun(PlanReason.VAGUE)
    used = {call.tool: tools[call.tool].digest for step in steps for call in step.actions}
    needed = [f"tool:{name}" for name in used] + [f"slot:{name}" for name in made.said]
    expects = type_of(run.answer) if run.turns else IN_WORDS
    return Draft(
        learned, tuple(made.slots), steps, used, tuple(needed), expects, made.raw, made.said, made.plain,
        frozenset(made.heard),
    )  # fmt: skip


class _DraftBuilder:
    """One run on its way to a draft. `said` maps slots to their values as the task writes them."""

    def __init__(self, run: AgentRun, tools: Mapping[str, DeclaredTool], salt: bytes) -> None:
        self._run, self._tools, self._salt = run, tools, salt
        self._pieces = _pieces(run.task)
        self._stems = frozenset(word.stem for word in words(run.task))
        self._leaves: dict[str, list[ResultPlace]] = {}
        self._sought: dict[str, list[ResultPlace]] = {}
        self._told = ToldSoFar(run)
        self._names: dict[str, int] = {}
        self._known: dict[tuple[SlotSource, str], str] = {}
        self._held: dict[str, list[HeldBy]] = {}
        self.said: dict[str, str] = {}
        self.slots: list[Slot] = []
        self.raw: dict[str, Json] = {}
        self.heard: set[str] = set()

    def actions(self) -> tuple[TemplateStep, ...]:
        kept = list(self._kept())
        for calls in kept:
            for call in calls:
                self._ground(call.arguments)
        self._part_units()
        steps: list[TemplateStep] = []
        for place, calls in enumerate(kept):
            steps.append(TemplateStep(tuple([self._action(call) for call in calls])))
            for number, call in enumerate(calls):
                self._remember(call.result, place, number)
        shared = {name for name, held in self._held.items() if doubted(held, self._tools)}
        self.slots = [replace(one, doubted=True) if one.name in shared else one for one in self.slots]
        return tuple(steps)

    def _action(self, call: RunCall) -> Action:
        self._told.before(call)
        arguments = self._explain(call.arguments, call.tool, "")
        return Action(call.tool, arguments, self._reads(call), expected(call.result, self._run.task, self._salt))

    def listed(self) -> frozenset[str]:
        """The slots of which each value in a call is one of those that the tool's schema lists."""
        return frozenset(
            [
                name
                for name, held in self._held.items()
                if all(value in choices(self._tools[tool], about) for tool, about, value in held)
            ]
        )

    def lines(self) -> tuple[TemplateStep, ...]:
        """A plan in words: the agent's answer to the task, which it says is one, line by line."""
        lines = [line.strip() for line in self._run.answer.splitlines() if line.strip()]
        if len(lines) > _PLAN_LINES:
            raise NoRun(PlanReason.TOO_LARGE)
        for value in find(self._run.task):
            if any(value.text.casefold() in line.casefold() for line in lines):
                self._task_slot(value.text, value.text, ValueForm.SAME, f"plan.{value.kind.value}")
        if any(self._run.texts):
            raise NoRun(PlanReason.TAINTED)
        steps = tuple(TemplateStep(text=self._mixed(line)) for line in lines)
        values = {word.stem for value in find(self._run.task) for word in words(value.text)} - self.plain - STOP
        if any(word in values for word in template.literals(steps)):
            raise NoRun(PlanReason.UNEXPLAINED)
        return steps

    def _kept(self) -> Iterator[list[RunCall]]:
        """The calls that count: no failed attempts, no look at what was looked at and has not changed since."""
        looked: set[bytes] = set()
        for turn in without_attempts(self._run.task, self._run.turns, self._reads):
            calls: list[RunCall] = []
            for call in turn.calls:
                if call.tool not in self._tools:
                    raise NoRun(PlanReason.UNDECLARED_TOOL)
                mark = digest(call.tool, call.arguments)
                if self._reads(call) and mark in looked:
                    continue
                looked = looked | {mark} if self._reads(call) else set()
                calls.append(call)
            if calls:
                yield calls

    def _reads(self, call: RunCall) -> bool:
        tool = self._tools.get(call.tool)
        return tool is not None and tool.reads

    def _ground(self, value: Json, about: str = "") -> None:
        """Find the values of a call that stand in the task, so that strings that hold them can be taken apart."""
        if isinstance(value, dict):
            for key, inner in value.items():
                self._ground(inner, str(key))
        elif isinstance(value, list):
            piece = _listed(self._run.task, value)
            if piece is not None:
                self._task_slot(value, piece, ValueForm.LIST, about)
                return
            for inner in value:
                self._ground(inner, about)
        else:
            for form in forms_of(value):
                piece = self._pieces.get((form, value))
                if piece is not None and piece.casefold() not in STOP:
                    self._task_slot(value, piece, form, about)
                    return
            if isinstance(value, str):
                self._ground_inside(value, about)

    def _ground_inside(self, text: str, about: str) -> None:
        """Find the typed values of the task in a longer string, and what it has in quotes: "name = 'jsmith'"."""
        typed = [one.text for one in find(self._run.task)]
        quoted = [one for one in _IN_QUOTES.findall(text) if one.casefold() not in STOP]
        inside = [one for one in typed if len(taken_apart(text, [(one, Hole(""))])) > 1]
        for piece in [*inside, *[one for one in quoted if (ValueForm.SAME, one) in self._pieces]]:
            self._task_slot(piece, piece, ValueForm.SAME, about)

    def _part_units(self) -> None:
        """Of "50 USD" leave a number's slot the number, where the currency fills another slot."""
        for place, slot in enumerate(self.slots):
            number, _, unit = self.said[slot.name].rpartition(" ")
            if slot.unit and number.isdecimal() and unit in self.said.values():
                self.said[slot.name] = number
                self.slots[place] = replace(slot, kind=SlotKind.NUMBER, unit="")

    def _explain(self, value: Json, tool: str, about: str) -> Filled:
        if isinstance(value, dict):
            if not all(self._named(key, tool, about) for key in value):
                raise NoRun(PlanReason.UNEXPLAINED)
            return {key: self._explain(inner, tool, key) for key, inner in value.items()}
        if isinstance(value, list):
            listed = self._known.get((SlotSource.TASK, repr(value)))
            if listed is not None:
                return Hole(listed, ValueForm.LIST)
            return [self._explain(inner, tool, about) for inner in value]
        if value is None or isinstance(value, bool) or value == "":
            return value
        known = self._known.get((SlotSource.TASK, repr(value)))
        if known is not None:
            self._held.setdefault(known, []).append((tool, about, value))
            form = next(form for form in forms_of(value) if write(form, self.said[known]) == value)
            return Hole(known, form)
        found = self._leaves.get(repr(value))
        if found is not None and not (isinstance(value, int) and abs(value) < _SMALL):
            return Hole(self._result_slot(value, found, tool, about))
        if isinstance(value, str):
            mixed = self._mixed(value)
            left = [word for part in mixed.parts if isinstance(part, str) for word in words(part)]
            if any(isinstance(part, Hole) for part in mixed.parts) and all(self._plain(word.stem) for word in left):
                return mixed
        return Hole(self._open_slot(value, tool, about))

    def _named(self, key: str, tool: str, about: str) -> bool:
        """Return True if a key is a name of the tool's own, no value of the task or of a result in a key's place."""
        schema = self._tools[tool].schema if tool in self._tools else {}
        declared = isinstance(schema, dict) and bool(schema.get("properties"))
        if f'"{key}"' in msgspec.json.encode(schema).decode() or (not about and not declared):
            return True
        return _KEY.fullmatch(key) is not None and key.casefold() not in self._run.task.casefold()

    def _plain(self, word: str) -> bool:
        """Return True if a word is a stop word, or stands in the task outside its values."""
        return word in STOP or word in self.plain

    @property
    def plain(self) -> frozenset[str]:
        """The stems of the task's words beside its values."""
        values = {word.stem for text in self.said.values() for word in words(text)}
        values |= {word.stem for value in find(self._run.task) for word in words(value.text)}
        return self._stems - values

    def _mixed(self, text: str) -> Mix:
        """A string taken apart at the values of the task that it holds, the longest first."""
        parts = taken_apart(text, [(value, Hole(slot)) for slot, value in self.said.items()])
        return Mix(tuple([one for one in parts if not isinstance(one, FromResult)]))

    def _composed(self, text: str) -> ComposedText | None:
        """A string of a call taken apart at the values of the task and of results, where it is no more than that."""
        values: list[tuple[str, Hole | FromResult]] = [(value, Hole(slot)) for slot, value in self.said.items()]
        values += [(value, FromResult(tuple(places))) for value, places in self._sought.items()]
        return composed(text, values, plain=self.plain, foreign=self._told.stems())

    def _task_slot(self, value: Json, piece: str, form: ValueForm, about: str) -> None:
        if (SlotSource.TASK, repr(value)) in self._known:
            return
        unit = unit_of(piece) if form.counts else ""
        same = next((name for name, text in self.said.items() if text == piece), None)
        if same is None:
            same = self._name(about)
            self.said[same] = piece
            seen = digest(self._salt.hex(), piece.casefold())
            self.slots.append(Slot(same, _kind(piece, form), SlotSource.TASK, about, seen=seen, unit=unit))
        elif unit:
            self.slots = [replace(one, unit=unit) if one.name == same else one for one in self.slots]
        self._known[SlotSource.TASK, repr(value)] = same

    def _result_slot(self, value: Json, found: Sequence[ResultPlace], tool: str, about: str) -> str:
        known = self._known.get((SlotSource.RESULT, repr(value)))
        if known is None:
            known = self._known[SlotSource.RESULT, repr(value)] = self._name(about)
            source, of, also = SlotSource.RESULT, f"{tool}.{about}", tuple(found[1:])
            self.slots.append(Slot(known, SlotKind.TEXT, source, of, *found[0], also=also))
        return known

    def _open_slot(self, value: Json, tool: str, about: str) -> str:
        known = self._known.get((SlotSource.OPEN, repr(value)))
        if known is None:
            known = self._known[SlotSource.OPEN, repr(value)] = self._name(about)
            kind = SlotKind.NUMBER if isinstance(value, int | float) else kind_of(value)
            text = self._composed(value) if isinstance(value, str) else None
            seen = digest(self._salt.hex(), value) if text is None else text.seen(self._salt)
            self.slots.append(Slot(known, kind, SlotSource.OPEN, f"{tool}.{about}", seen=seen))
            self.raw[known] = value if text is None else text
        if self._told.holds(value):
            self.heard.add(known)
        return known

    def _name(self, about: str) -> str:
        """A name for a slot: its argument's, numbered from the second on."""
        base = re.sub(r"\W+", "_", about).strip("_").lower()[:40] or "value"
        count = self._names[base] = self._names.get(base, 0) + 1
        return base if count == 1 else f"{base}_{count}"

    def _remember(self, value: Json, step: int, call: int, path: tuple[str | int, ...] = ()) -> None:
        """Note where in a result a value stands, if it stands there in a place that can be named."""
        if len(self._leaves) >= _LEAVES:
            return
        if isinstance(value, dict):
            for key, inner in value.items():
                if _KEY.fullmatch(key):
                    self._remember(inner, step, call, (*path, key))
        elif isinstance(value, list):
            # To take one of several is a choice, which no place explains.
            for inner in value if len(value) == 1 else ():
                self._remember(inner, step, call, (*path, 0))
        elif isinstance(value, str | int | float) and not isinstance(value, bool):
            places = self._leaves.setdefault(repr(value), [])
            if len(places) < _PLACES:
                places.append((step, call, path))
            text = sought(value)
            if text is not None:
                self._sought[text] = places


def _pieces(task: str) -> dict[tuple[ValueForm, Json], str]:
    """The pieces of a task that a call may have taken up: its values and its runs of words, in every form."""
    found: dict[tuple[ValueForm, Json], str] = {}
    said = words(task)[:_WORDS]
    texts = [value.text for value in find(task)]
    for first in range(len(said)):
        for last in range(first, min(first + 24, len(said))):
            texts.append(task[said[first].start : said[last].end])
            texts += [OWNED.sub("", texts[-1])] if OWNED.search(texts[-1]) else []
            start, stop = span_of(task, said, first, last + 1, SlotKind.TEXT)
            texts.append(task[start:stop])
    for text in texts:
        for form in (ValueForm.FIXED, ValueForm.SAME, ValueForm.LOWER, ValueForm.UPPER, ValueForm.BARE):
            found.setdefault((form, write(form, text)), text)
        if len(items(text)) > 1 or kind_of(text) is SlotKind.LIST:
            found.setdefault((ValueForm.JOINED, write(ValueForm.JOINED, text)), text)
    counted: dict[tuple[ValueForm, Json], list[tuple[str, int, int]]] = {}
    for value in find(task):
        for form in (ValueForm.INTEGER, ValueForm.NUMBER, ValueForm.ISO_DATE, ValueForm.CLOCK):
            written = write(form, value.text)
            if written is not None and (form is not ValueForm.ISO_DATE or says_order(value.text)):
                counted.setdefault((form, written), []).append((value.text, value.start, value.end))
    for word in said:
        text = task[word.start : word.end]
        if text.isdecimal() and len(text) <= 18:
            counted.setdefault((ValueForm.INTEGER, int(text)), []).append((text, word.start, word.end))
            counted.setdefault((ValueForm.NUMBER, float(text)), []).append((text, word.start, word.end))
    for key, places in counted.items():
        text, start, end = places[0]
        # Where two places say one number in different words, neither is known to be the one that is meant.
        if all(_stems(one) == _stems(text) or (first < end and start < last) for one, first, last in places):
            found.setdefault(key, text)
    return found


def _listed(task: str, value: Sequence[Json]) -> str | None:
    """The piece of a task that lists these texts in this order, in words or brackets; None where it does not."""
    if not value or not all(isinstance(one, str) and one for one in value):
        return None
    bracketed = [one.text for one in find(task) if one.kind is SlotKind.LIST and items(one.text) == list(value)]
    if bracketed or len(value) == 1:
        return bracketed[0] if bracketed else None
    found = listing(value).search(task)
    return found.group() if found is not None and items(found.group()) == list(value) else None


def _kind(piece: str, form: ValueForm) -> SlotKind:
    return SlotKind.NUMBER if form in (ValueForm.INTEGER, ValueForm.NUMBER) and piece.isdecimal() else kind_of(piece)


def _stems(text: str) -> list[str]:
    return [word.stem for word in words(text)]
