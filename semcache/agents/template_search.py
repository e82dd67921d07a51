"""Search for the templates of one partition that a task could be an instance of.

Three tiers: the task says what a template's pattern says, word for word, with other values (`KEY`); it says it in
another order (`SLOTS`); or it is merely like it (`NEAR`), which only a certified threshold may trust. Candidates are
found by the rare words of their patterns, and by vectors where there are any.
Knows no clock, no tenants and no tools. Invariant: what comes back is of this partition alone, best first.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from semcache.agents.loose_signs import loose_signs
from semcache.agents.pattern import PatternFit, TaskPattern, fit, masked
from semcache.agents.pattern_gap import OWNED, PatternGap, Writing, only_value
from semcache.agents.plain_wording import getting, plain_pattern
from semcache.agents.short_patterns import are_rivals, frame, is_asked
from semcache.agents.slots import ARTICLE, STOP, SlotKind, TaskValue, find, stem, words
from semcache.agents.template import Template
from semcache.agents.value_roles import are_exchanged, is_unlike
from semcache.agents.value_sorts import is_person
from semcache.agents.word_alignment import weight

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from semcache.protocols import VectorIndex
    from semcache.types import Vector

# Words by which the order of what they stand between says what is asked for.
_ORDER = "then after before until first next last finally later once than if unless"
_ORDERING = frozenset([stem(word) for word in _ORDER.split()])
_DIRECTIONS = frozenset(("to", "from", "into", "onto", "by", "for", "with", "against"))  # of what stands behind
# Words that may change with the order; "send me the file" and "send it to me" are for somebody all the same.
# "Who was the owner" asks for another one than "who is the owner".
_UNSAID = STOP - frozenset(("i", "me", "my", "we", "our", "you", "your", "was", "been", "did", "had", "would"))
_FOUND_BY = ("patterns", "tools", "retired")  # of a template; the rest may change in place
ALIGNED = 8  # candidates that are aligned with a task to see whether it fits
NEARBY = 4  # of those that it does not fit, to see how near it is
_WHOLE = 0.999
TWINS = 8  # templates that a run is compared with although its task is unlike theirs
_SHARE = 0.5  # of a pattern's weight that a task must say


class PlanTier(StrEnum):
    """The tier in which a template was found."""

    KEY = "key"
    SLOTS = "slots"
    NEAR = "near"


@dataclass(frozen=True, slots=True)
class TemplateMatch:
    """A template that a task could be an instance of. `score` is a cosine similarity, 1 for `PlanTier.KEY`."""

    template: Template
    pattern: TaskPattern
    tier: PlanTier
    fit: PatternFit
    score: float = 1.0


class TemplateIndex:
    """The templates of one partition. `index`, if given, holds a vector for each pattern; `salt` keyed their values."""

    def __init__(self, index: VectorIndex | None = None, *, salt: bytes = b"") -> None:
        self._index, self._salt = index, salt
        self.templates: dict[int, Template] = {}
        self._rows: list[tuple[int, TaskPattern] | None] = []
        self._free: list[int] = []
        self._of: dict[int, list[int]] = {}
        self._weights: list[float] = []
        self._sizes: NDArray[np.float64] | None = None
        self._having: dict[str, list[int]] = {}
        self._arrays: dict[str, NDArray[np.int64]] = {}
        self._keys: dict[str, list[int]] = {}
        self._bags: dict[str, list[int]] = {}
        self._frames: dict[str, list[int]] = {}
        self._using: dict[frozenset[str], dict[int, None]] = {}

    def __len__(self) -> int:
        return len(self.templates)

    def put(self, template: Template, vectors: Sequence[Vector] = ()) -> None:
        """Add a template, or replace the one of its id. `vectors` are those of its patterns' texts, in order."""
        old = self.templates.get(template.id)
        if old is not None and all(getattr(old, one) == getattr(template, one) for one in _FOUND_BY):
            self.templates[template.id] = template
            return
        self.remove(template.id)
        self.templates[template.id] = template
        self._using.setdefault(frozenset(template.tools), {})[template.id] = None
        if template.retired:
            return
        for place, pattern in enumerate(template.patterns):
            row = self._row(template.id, pattern)
            for lists, name in self._listed(pattern):
                lists.setdefault(name, []).append(row)
            if self._index is not None and place < len(vectors):
                self._index.add(row, vectors[place])

    def remove(self, id: int) -> None:
        """Forget a template; unknown ids are ignored."""
        gone = self.templates.pop(id, None)
        if gone is not None:
            del self._using[frozenset(gone.tools)][id]
            if not self._using[frozenset(gone.tools)]:
                del self._using[frozenset(gone.tools)]
        for row in self._of.pop(id, ()):
            held = self._rows[row]
            assert held is not None
            for lists, name in self._listed(held[1]):
                lists[name].remove(row)
                if not lists[name]:
                    del lists[name]
            self._rows[row], self._weights[row], self._sizes = None, math.inf, None
            self._free.append(row)
            if self._index is not None:
                self._index.remove(row)

    def search(self, task: str, vector: Vector | None = None, *, without: Container[int] = ()) -> list[TemplateMatch]:
        """Templates that the task could be an instance of, but for those with ids in `without`.

        `vector` is that of `masked(task)`. Where one says what the task says, it is the only one.
        """
        lexical = self._lexical(task)
        complete = [row for row, share in lexical if share > _WHOLE]
        for row in dict.fromkeys([*self._keys.get(masked(task), ()), *complete]):
            # They come with the most telling first: no other can say more of the task than the first that fits.
            found = self._match(row, task, PlanTier.KEY, 1.0)
            telling = found is not None and found.fit.whole and self._telling(row)
            if found is not None and telling and found.template.id not in without:
                return [found]
        turned = [one for one in self._turned(task) if one.template.id not in without]
        if turned:
            return turned
        scores = dict(lexical[:NEARBY])
        if vector is not None and self._index is not None:
            scores |= {one.entry_id: one.score for one in self._index.search(vector, NEARBY)}
        rest = [
            one for row, score in scores.items() if (one := self._match(row, task, PlanTier.NEAR, score)) is not None
        ]
        rest = [one for one in rest if one.template.id not in without]
        return sorted(rest, key=lambda one: (-one.score, len(one.fit.surplus)))

    def worded(self, task: str, said: str, *, wish: bool = False) -> TemplateMatch | None:
        """The template that says the same as a task in plain wording, with its pattern in that; None where none does.

        `said` is the task as it was written.
        `wish`: the task names something alone. Whoever wants it may want it in the way of a template, if no other
        template says another way to get it.
        """
        found: dict[int, TemplateMatch] = {}
        for row, _ in self._lexical(task)[:ALIGNED]:
            held = self._rows[row]
            other = plain_pattern(held[1]) if held is not None and self._telling(row) else None
            orders = other is not None and (other.freed or other.orders)
            other = None if other is not None and orders and is_asked(said, other.elements) else other
            other = getting(other) if wish and other is not None else other
            fitted = fit(other, task, salt=self._salt) if other is not None else None
            if held is not None and other is not None and fitted is not None and fitted.whole and other.telling:
                found.setdefault(held[0], TemplateMatch(self.templates[held[0]], other, PlanTier.KEY, fitted))
        return next(iter(found.values())) if found and not (wish and len(found) > 1) else None

    def twins(self, task: str, tools: Iterable[str]) -> list[Template]:
        """Templates of exactly these tools that the task could be an instance of, and the newest few others."""
        wanted = frozenset(tools)
        alike = [one.template.id for one in self.search(task)]
        chosen = dict.fromkeys([*alike, *reversed(self._using.get(wanted, ()))][: len(alike) + TWINS])
        found = [self.templates[number] for number in chosen]
        return [one for one in found if frozenset(one.tools) == wanted and not one.retired]

    def _lexical(self, task: str) -> list[tuple[int, float]]:
        """Rows whose fixed words the task says for the most part, and that share; those with the most first."""
        if not self._rows:
            return []
        said = {word.stem for word in words(task)} - {ARTICLE}
        share = np.zeros(len(self._rows))
        for word in said:
            if word in self._having:
                share[self._rows_with(word)] += weight(word)
        if self._sizes is None:
            self._sizes = np.asarray(self._weights)
        portion = share / self._sizes
        complete = np.flatnonzero(portion > _WHOLE)
        if len(complete) > ALIGNED:
            complete = complete[np.argpartition(-share[complete], ALIGNED)[:ALIGNED]]
        complete = complete[np.argsort(-share[complete], kind="stable")]
        near = np.argpartition(-portion, NEARBY)[:NEARBY] if len(portion) > NEARBY else np.arange(len(portion))
        near = near[(portion[near] >= _SHARE) & (portion[near] <= _WHOLE)]
        near = near[np.argsort(-portion[near], kind="stable")]
        return [(row, float(portion[row])) for row in [*complete.tolist(), *near.tolist()]]

    def _match(self, row: int, task: str, tier: PlanTier, score: float) -> TemplateMatch | None:
        held = self._rows[row]
        aligned = fit(held[1], task, salt=self._salt) if held is not None else None
        return (
            None
            if held is None or aligned is None
            else TemplateMatch(self.templates[held[0]], held[1], tier, aligned, score)
        )

    def _telling(self, row: int) -> bool:
        """Return True if the words of a pattern tell what is to be done: a short one may be that of two templates."""
        held = self._rows[row]
        if held is None or not held[1].telling:
            return False
        rivals = [self._rows[other] for other in self._frames.get(frame(held[1].elements), ())] if held[1].freed else []
        others = [other[1].elements for other in rivals if other is not None and other[0] != held[0]]
        return not any(are_rivals(held[1].elements, other) for other in others)

    def _rows_with(self, word: str) -> NDArray[np.int64]:
        rows = self._arrays.get(word)
        if rows is None:
            rows = self._arrays[word] = np.asarray(self._having[word], np.int64)
        return rows

    def _turned(self, task: str) -> list[TemplateMatch]:
        """Templates of the same words and kinds of values in another order."""
        found = find(task)
        signs = sorted(loose_signs(task, [(one.start, one.end) for one in found]).split())
        return [
            TemplateMatch(self.templates[held[0]], held[1], PlanTier.SLOTS, fitted)
            for row in self._bags.get(_bag(task, found), ())
            if (held := self._rows[row]) is not None
            and self._telling(row)
            and not held[1].freed
            and not _ORDERING & held[1].content
            and sorted(held[1].signs.split()) == signs
            and (held[1].asks or _has_forms(held[1], task))
            and not (held[1].orders and is_asked(task, held[1].elements))
            and (fitted := _unordered(held[1], task, found, self._salt)) is not None
        ]

    def _row(self, id: int, pattern: TaskPattern) -> int:
        """Put a pattern of a template into a row, one that is free if there is any, and return it."""
        row = self._free.pop() if self._free else len(self._rows)
        if row == len(self._rows):
            self._rows.append(None)
            self._weights.append(math.inf)
        self._rows[row] = id, pattern
        self._weights[row] = sum(map(weight, set(pattern.stems) - {ARTICLE})) or math.inf
        self._sizes = None
        self._of.setdefault(id, []).append(row)
        return row

    def _listed(self, pattern: TaskPattern) -> list[tuple[dict[str, list[int]], str]]:
        """The lists in which the row of a pattern is found, each with its name; its words are looked up anew."""
        stems = set(pattern.stems)
        for word in stems:
            self._arrays.pop(word, None)
        lists = [(self._having, word) for word in stems]
        return [
            *lists,
            (self._keys, pattern.text()),
            (self._bags, _bag_of(pattern)),
            (self._frames, frame(pattern.elements)),
        ]


def _has_forms(pattern: TaskPattern, task: str) -> bool:
    """Return True if the words of an order stand in a task in the very form: not "drafts" for "draft"."""
    said = {task[word.start : word.end].lower() for word in words(task)}
    return all(word in said for word in pattern.fixed if stem(word) not in _UNSAID)


def _bag_of(pattern: TaskPattern) -> str:
    kinds = sorted(one.kind.value for one in pattern.elements if isinstance(one, PatternGap))
    return " ".join([*sorted(word for word in pattern.stems if word not in _UNSAID), "|", *kinds]) if kinds else ""


def _bag(task: str, found: Sequence[TaskValue]) -> str:
    outside = [
        word.stem for word in words(task) if not any(one.start < word.end and word.start < one.end for one in found)
    ]
    kinds = sorted(one.kind.value for one in found)
    return " ".join([*sorted(word for word in outside if word not in _UNSAID), "|", *kinds])


class _Place(NamedTuple):
    """A gap of a pattern, the word before it, and the last preposition of direction behind the gap before it."""

    gap: PatternGap
    cue: str
    direction: str


def _places(pattern: TaskPattern) -> list[_Place]:
    places: list[_Place] = []
    cue = direction = ""
    for one in pattern.elements:
        if isinstance(one, PatternGap):
            places.append(_Place(one, cue, direction))
            direction = ""
        else:
            cue = stem(one)
            direction = cue if cue in _DIRECTIONS else direction
    return places


def _unordered(pattern: TaskPattern, task: str, found: Sequence[TaskValue], salt: bytes) -> PatternFit | None:
    """The values of a task by their kinds, and by the word before them where a kind comes more than once.

    None where one slot would have two values, where a value stands behind another preposition than its slot (to add
    the group to the user is not to add the user to the group), or where what fills no slot is not what it was.
    """
    spoken = words(task)
    before = {value: next((word.stem for word in reversed(spoken) if word.end <= value.start), "") for value in found}
    places = _places(pattern)
    values: dict[str, str] = {}
    fills: dict[TaskValue, str] = {}
    unknown: set[str] = set()
    for place in places:
        gap = place.gap
        value = _value_at(place, places, before)
        if gap.only and (value is None or only_value(value.text, salt) != gap.only):
            return None
        if not gap.slot:
            continue
        if value is None:
            unknown.add(gap.slot)
            continue
        said = _unowned(gap, value.text)
        if values.setdefault(gap.slot, said) != said or _direction(task, found, value) != place.direction:
            return None
        fills[value] = gap.slot
    taken = [(gap, values[gap.slot]) for gap, _, _ in places if gap.slot in values]
    if any(is_unlike(gap, piece) for gap, piece in taken) or are_exchanged(taken):
        return None
    if unknown & set(values) or _is_time_of_another(pattern, found, fills):
        # A slot that stands in two places must have its value in both.
        return None
    return PatternFit(values, (), (), (), 1.0)


def _unowned(gap: PatternGap, value: str) -> str:
    """A value as its slot takes it: of "Ann Lee's" that is "Ann Lee", where people or owners have stood before."""
    plain = OWNED.sub("", value)
    owner = Writing.OWNER in gap.took or (Writing.PERSON in gap.took and is_person(plain))
    return plain if owner else value


def _value_at(place: _Place, places: Sequence[_Place], before: Mapping[TaskValue, str]) -> TaskValue | None:
    """The value for a place: the only one of its kind, or the only one behind the same word, if no place is like it.

    `before` has the values of the task, each with the word before it. That word says what a value is for, though the
    value is the only one of its kind.
    """
    same = [value for value in before if value.kind is place.gap.kind]
    if len(same) == 1 and (not place.cue or before[same[0]] in ("", place.cue)):
        return same[0]
    cued = [value for value in same if before[value] == place.cue]
    rivals = [one for one in places if one.gap.kind is place.gap.kind and one.cue == place.cue]
    return cued[0] if len(cued) == 1 and len(rivals) == 1 else None


def _is_time_of_another(pattern: TaskPattern, found: Sequence[TaskValue], fills: Mapping[TaskValue, str]) -> bool:
    """Return True if a time stands behind another date than it did: "from Friday at noon to Monday".

    At the end, behind all dates, it may be the time of the whole; before one of them it is that of the date before it.
    """
    gaps = [one for one in pattern.elements if isinstance(one, PatternGap)]
    hosts = {after.slot: before.slot for before, after in pairwise(gaps)}
    last = max((place for place, one in enumerate(gaps) if one.kind is SlotKind.DATE), default=-1)
    ahead = {one.slot for one in gaps[: last + 1]}
    dated = [one for one in found if one.kind is SlotKind.DATE]
    for one, two in pairwise(found):
        if two.kind is SlotKind.TIME and one in dated and len(dated) > 1:
            slot = fills.get(two, "")
            if hosts.get(slot) != fills.get(one) or (two.start < dated[-1].start) != (slot in ahead):
                return True
    return False


def _direction(task: str, found: Sequence[TaskValue], value: TaskValue) -> str:
    """The last preposition of direction between a value and the one before it."""
    start = max((one.end for one in found if one.end <= value.start), default=0)
    return next((one.stem for one in reversed(words(task[start : value.start])) if one.stem in _DIRECTIONS), "")
