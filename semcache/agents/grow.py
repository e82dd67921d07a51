"""Growth of a template: a further run is folded into the one that its plan is an instance of.

Two plans are one if they call the same tools with arguments of one structure whose values come from the same places.
An open value that two tasks had in common, though neither said it, becomes a constant, and so does the text around
values. What the two tasks said alike may be what it follows from, and must be the same from then on (`PatternGap.only`)
until a run shows otherwise. Pure.
Invariant: a grown template holds no word of one task that another of its tasks lacks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from semcache.agents.capture import Draft
from semcache.agents.common_patterns import freed, in_common
from semcache.agents.composed_text import ComposedText, FromResult
from semcache.agents.passing_values import passing_in
from semcache.agents.pattern import TaskPattern, fit, widened
from semcache.agents.pattern_gap import PatternGap, Writing, only_value
from semcache.agents.run import Json, digest
from semcache.agents.slots import SlotKind, words
from semcache.agents.template import (
    Action,
    Filled,
    Hole,
    Mix,
    ResultPlace,
    Slot,
    SlotSource,
    Template,
    TemplateStep,
    ValueForm,
    counts,
    literals,
)

PATTERNS = 16  # of a template; what differs more than that is another one


class _Differs(Exception):
    """These are two plans."""


def grown(old: Template, draft: Draft, task: str, *, salt: bytes) -> Template | None:
    """The template with this run folded in, or None when the run had another plan.

    A value that the run had been told before a call had it (`Draft.heard`) never becomes a constant.
    """
    if len(old.steps) != len(draft.steps) or dict(old.tools) != dict(draft.tools):
        return None
    union = _Union(old, draft, salt)
    try:
        steps = tuple(union.step(mine, theirs) for mine, theirs in zip(old.steps, draft.steps, strict=True))
    except _Differs:
        return None
    settled = union.settled()
    learned = _renamed(draft.pattern, union.names)
    steps = tuple([replace(step, actions=tuple([_settled(one, settled) for one in step.actions])) for step in steps])
    had = {union.names[slot]: piece for slot, piece in draft.said.items() if slot in union.names}
    patterns = _patterns(old.patterns, learned, (task, had), literals(steps), salt)
    if patterns is None:
        return None
    if union.alike:
        pins = {name: draft.said[theirs] for theirs, name in union.names.items() if name in union.alike}
        values = {name: only_value(piece, salt) for name, piece in pins.items()}
        patterns = tuple([_pinned(one, values) for one in patterns])
    used = [union.slots.get(slot.name, slot) for slot in old.slots if slot.name not in settled]
    slots = (*used, *union.added)
    return replace(old, steps=steps, slots=slots, patterns=patterns, runs=old.runs + 1, version=old.version + 1)


class _Union:
    """`names` maps the draft's slots to the template's, `slots` holds those that changed, `added` are new.

    `alike` are slots of the task that have had one value while what became a constant did.
    """

    def __init__(self, old: Template, draft: Draft, salt: bytes) -> None:
        self._old = {slot.name: slot for slot in old.slots}
        self._new = {slot.name: slot for slot in draft.slots}
        self._raw, self._heard, self._salt, self._plain = draft.raw, draft.heard, salt, draft.plain
        self.names: dict[str, str] = {}
        self.slots: dict[str, Slot] = {}
        self.added: list[Slot] = []
        self.alike: frozenset[str] = frozenset()
        self._open: dict[str, tuple[Slot, Slot]] = {}
        # A value of the task that no call holds as it is may be what an open value follows from: "Paris" of "CDG".
        # Where a call holds the number of an amount, what it counts is the same in every task.
        counted = counts(draft.steps)
        self._hanging = any(
            isinstance(one, PatternGap)
            and (one.kind is SlotKind.AMOUNT and one.slot not in counted if one.slot else one.kind is not SlotKind.TEXT)
            for one in draft.pattern.elements
        )

    def step(self, mine: TemplateStep, theirs: TemplateStep) -> TemplateStep:
        if len(mine.actions) != len(theirs.actions):
            raise _Differs
        text = None
        if mine.text is not None and theirs.text is not None:
            text = self._mix(mine.text, theirs.text)
        elif mine.text is not theirs.text:
            raise _Differs
        actions = [self._action(one, two) for one, two in zip(mine.actions, theirs.actions, strict=True)]
        return TemplateStep(tuple(actions), text)

    def _action(self, one: Action, two: Action) -> Action:
        if one.tool != two.tool:
            raise _Differs
        return replace(one, arguments=self._tree(one.arguments, two.arguments), result=one.result.also(two.result))

    def _tree(self, one: Filled, two: Filled) -> Filled:
        if isinstance(one, Hole) and isinstance(two, Hole):
            return self._hole(one, two)
        if isinstance(two, Hole):
            return self._constant(one, two)
        if isinstance(one, Mix) and isinstance(two, Mix):
            return self._mix(one, two)
        if isinstance(one, dict) and isinstance(two, dict) and set(one) == set(two):
            return {key: self._tree(inner, two[key]) for key, inner in one.items()}
        if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
            return [self._tree(mine, theirs) for mine, theirs in zip(one, two, strict=True)]
        if isinstance(one, Hole | Mix | dict | list) or one != two or type(one) is not type(two):
            raise _Differs
        return one

    def _mix(self, one: Mix, two: Mix) -> Mix:
        if len(one.parts) != len(two.parts):
            raise _Differs
        parts: list[str | Hole] = []
        for mine, theirs in zip(one.parts, two.parts, strict=True):
            if isinstance(mine, Hole) and isinstance(theirs, Hole):
                joined = self._hole(mine, theirs)
                if not isinstance(joined, Hole):
                    raise _Differs
                parts.append(joined)
            elif mine == theirs and isinstance(mine, str):
                parts.append(mine)
            else:
                raise _Differs
        return Mix(tuple(parts))

    def _hole(self, one: Hole, two: Hole) -> Filled:
        mine, theirs = self._old[one.slot], self._new[two.slot]
        if self.names.setdefault(two.slot, one.slot) != one.slot or mine.source is not theirs.source:
            raise _Differs
        if list(self.names.values()).count(one.slot) > 1:
            raise _Differs
        if mine.source is SlotSource.TASK and (
            (one.form is not two.form and not (one.form.counts and two.form.counts))
            or (one.form.counts and mine.unit != theirs.unit)
        ):
            raise _Differs
        if mine.source is SlotSource.RESULT:
            self._at(one.slot, theirs.places)
        if mine.source is SlotSource.OPEN:
            self._open[one.slot] = mine, theirs
        if mine.source is SlotSource.TASK:
            # That two arguments have another value together is no chance.
            self.slots[one.slot] = replace(mine, seen=theirs.seen, doubted=mine.doubted and mine.seen == theirs.seen)
        return replace(one, form=two.form) if two.form is ValueForm.INTEGER and one.form is ValueForm.NUMBER else one

    def _at(self, name: str, places: Sequence[ResultPlace]) -> None:
        """Leave a slot of a result the places at which both runs had its value."""
        known = self.slots.get(name, self._old[name])
        both = [place for place in known.places if place in places]
        if not both:
            raise _Differs
        step, call, path = both[0]
        self.slots[name] = replace(known, step=step, call=call, path=path, also=tuple(both[1:]))

    def settled(self) -> dict[str, Filled]:
        """Open slots whose value, or the text around it, was the same while what the task said was not, as constants.

        It may follow from anything that did not change: with nothing changed it shows nothing.
        """
        for name in self._new.keys() & self._old.keys() - self.names.keys() - set(self.names.values()):
            if self._old[name].source is self._new[name].source is SlotSource.TASK:
                # It stands within open texts alone, in which it has its name from the argument.
                self.names[name] = name
                self.slots[name] = replace(self._old[name], seen=self._new[name].seen)
        theirs = {name: self._new[one] for one, name in self.names.items()}
        said = {name for name, one in self._old.items() if one.source is SlotSource.TASK and name in theirs}
        changed = {name for name in said if self._old[name].seen not in (b"", theirs[name].seen)}
        found: dict[str, Filled] = {}
        for name, (old, new) in self._open.items():
            same = bool(old.seen) and old.seen == new.seen
            apart = changed | set(old.apart) & said if same else set()
            value = self._raw.get(new.name)
            if isinstance(value, ComposedText) and not {*value.slots} <= self.names.keys():
                apart = set()
            if passing_in(value, old.about.rpartition(".")[2]):
                # Two runs of one day have it in common by chance.
                apart = set()
            if apart and not self._hanging and (isinstance(value, ComposedText) or self._free(value, new.name)):
                found[name] = self._text(value, name) if isinstance(value, ComposedText) else value
                self.alike |= said - apart
            else:
                self.slots[name] = replace(old, seen=new.seen, apart=tuple(sorted(apart)))
        return found

    def _text(self, text: ComposedText, name: str) -> Mix:
        """A text with the template's slots, which get one more for each value of a result."""
        parts: list[str | Hole] = []
        for one in text.parts:
            if isinstance(one, FromResult):
                kept = f"{name}.{len(self.added) + 1}"
                step, call, path = one.places[0]
                about = self._old[name].about
                self.added.append(
                    Slot(kept, SlotKind.TEXT, SlotSource.RESULT, about, step, call, path, also=one.places[1:])
                )
                parts.append(Hole(kept))
            else:
                parts.append(Hole(self.names[one.slot]) if isinstance(one, Hole) else one)
        return Mix(tuple(parts))

    def _constant(self, one: Filled, two: Hole) -> Filled:
        """A constant stays one while further runs have it too."""
        slot = self._new[two.slot]
        if isinstance(one, dict | list) or slot.source is not SlotSource.OPEN:
            raise _Differs
        value = self._raw.get(two.slot)
        if isinstance(value, ComposedText):
            return self._same_text(one, value)
        if isinstance(one, Mix) or digest(self._salt.hex(), one) != slot.seen or not self._free(one, slot.name):
            raise _Differs
        return one

    def _same_text(self, one: Filled, two: ComposedText) -> Filled:
        if not isinstance(one, Mix) or len(one.parts) != len(two.parts):
            raise _Differs
        for mine, theirs in zip(one.parts, two.parts, strict=True):
            if isinstance(mine, Hole) and isinstance(theirs, FromResult):
                if self._old[mine.slot].source is not SlotSource.RESULT:
                    raise _Differs
                self._at(mine.slot, theirs.places)
            elif isinstance(mine, Hole) and isinstance(theirs, Hole):
                self._hole(mine, theirs)
            elif mine != theirs:
                raise _Differs
        return one

    def _free(self, value: Json, slot: str) -> bool:
        """Return True if a value stands nowhere in what the run was told, but for words beside the task's values."""
        if value is None:
            return False
        beside = isinstance(value, str) and all(one.stem in self._plain for one in words(value))
        return beside or slot not in self._heard


def _settled(tree: Filled, values: Mapping[str, Filled]) -> Filled:
    """Arguments, or a call with arguments, in which constants have taken the places of open slots."""
    if isinstance(tree, Action):
        return replace(tree, arguments=_settled(tree.arguments, values))
    if isinstance(tree, Hole):
        return values.get(tree.slot, tree)
    if isinstance(tree, dict):
        return {key: _settled(inner, values) for key, inner in tree.items()}
    return [_settled(inner, values) for inner in tree] if isinstance(tree, list) else tree


def _pinned(pattern: TaskPattern, values: Mapping[str, bytes]) -> TaskPattern:
    """The pattern for these values of its slots alone, given as keyed digests."""
    elements = [
        replace(one, only=values[one.slot]) if isinstance(one, PatternGap) and one.slot in values else one
        for one in pattern.elements
    ]
    return replace(pattern, elements=tuple(elements))


def _renamed(pattern: TaskPattern, names: Mapping[str, str]) -> TaskPattern:
    elements = [
        replace(one, slot=names.get(one.slot, "")) if isinstance(one, PatternGap) and one.slot else one
        for one in pattern.elements
    ]
    return replace(pattern, elements=tuple(elements))


def _patterns(
    known: tuple[TaskPattern, ...],
    learned: TaskPattern,
    had: tuple[str, Mapping[str, str]],
    said: frozenset[str],
    salt: bytes,
) -> tuple[TaskPattern, ...] | None:
    """The patterns with a new one, and what it has in common with one of them; None when there are too many.

    `had` is the task with the values that the run took from it. One that a pattern says already, with these values,
    adds nothing but how they are written.
    """
    task, values = had
    for place, one in enumerate(known):
        aligned = fit(one, task, salt=salt)
        if aligned is not None and aligned.whole and not _differ(aligned.values, values):
            # Plans of earlier versions do not know whether their tasks only ask.
            return (*known[:place], replace(widened(one, aligned), asks=learned.asks), *known[place + 1 :])
    if len(known) + 1 > PATTERNS:
        return None
    # A list that a successful run had in a slot is accepted there in every wording.
    known = tuple([_accepting(one, (learned,)) for one in known])
    learned = _accepting(learned, known)
    common = in_common(known, learned)
    # A word that the plan says must be in every task of it.
    kept = [both for both in common if both not in known and not (set(learned.stems) - set(both.stems)) & said]
    best = max(kept, key=lambda one: len(one.stems), default=None)
    return freed((*known, learned, *([best] if best is not None else [])))


def _accepting(pattern: TaskPattern, others: Sequence[TaskPattern]) -> TaskPattern:
    """A pattern whose slots accept several things where they did in others."""
    gaps = [one for other in others for one in other.elements if isinstance(one, PatternGap) and one.slot]
    several = {one.slot for one in gaps if Writing.SEVERAL in one.took}
    elements = [
        replace(one, took=one.took | {Writing.SEVERAL}) if isinstance(one, PatternGap) and one.slot in several else one
        for one in pattern.elements
    ]
    return replace(pattern, elements=tuple(elements))


def _differ(one: Mapping[str, str], two: Mapping[str, str]) -> bool:
    """Return True if a slot has two values: a gap took "the Archive folder" where the run had "Archive"."""
    return any(one[slot].casefold() != two[slot].casefold() for slot in one.keys() & two.keys())
