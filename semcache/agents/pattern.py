"""Patterns of tasks: fixed words with gaps for values, and the alignment of a new task with them.

A pattern is learned from one task and the values that its plan used, and merged with others that led to the same plan.
Fitting is a global alignment (Needleman and Wunsch 1970) of the pattern's elements with the words of a task, in which a
gap takes one or more words. Knows no tools and no plans. Invariant: a pattern holds no value of the tasks that it was
learned from, and what a gap takes is a piece of the new task as it stands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from typing import TypeAlias

from semcache.agents.loose_signs import loose_signs
from semcache.agents.pattern_gap import PatternGap, items, writing
from semcache.agents.slots import STOP, STRICT, SlotKind, TaskWord, admits, find, impossible, kind_of, stem, words
from semcache.runtime.scoped_memo import scoped_cache

LONGEST = 120  # words of a task that is aligned; a longer one is the planner's
FEWEST = 2  # content words without which a pattern says too little to be matched by
_STOP_WEIGHT = 0.3
_SURPLUS = 0.8  # of a word's weight: a word outside every gap
_EXTENSION = 0.01  # of each word in a gap: of two alignments the one with the shorter gaps
_ROOM = 4  # words that a slot may take beyond three times as many as it ever took; what fills none may take one
_KEPT = 0.6  # share of the weight that two patterns must have in common to be merged
# What may stand beside a value and is no part of it.
_BEGINS = re.compile(r"(?:\A|\s|[\"'“”‘’«»`,;:¿¡—–]|(?<!\w)\()\Z")
_NUMBER_BEGINS = re.compile(rf"{_BEGINS.pattern}|[$€£¥#]\Z|[^\W\d]-\Z")  # a sum, a place in a list, "top-3"
_ENDS = re.compile(r"\Z|\s|[\"“”‘’«»`;!?…)—–]|['’](?:s\b|\W|\Z)|[.,:](?!\w)")
# What a value does not hold, but a further wish of the user does.
_MORE = "then also afterwards instead otherwise unless or nor but except excluding without"
_CLAUSE = re.compile(rf"[.!?;]\s+\w|\b(?:{'|'.join(_MORE.split())})\b", re.IGNORECASE)


Element: TypeAlias = str | PatternGap


@dataclass(frozen=True, slots=True)
class PatternFit:
    """How a task fits a pattern.

    `values` maps slots to pieces of the task, `pieces` are those of all gaps in order, "" for one that took none.
    `missing` are stems of the pattern that the task lacks, `surplus` those of the task that stand outside every gap.
    `coverage` is the share of the pattern's weight that was found, in [0, 1]. `odd` counts gaps that took what is not
    of their kind, or too much. No value can be relied on (`unsure`) where other signs stand beside
    its words and values, or where such a gap fills a slot.
    """

    values: Mapping[str, str]
    pieces: tuple[str, ...]
    missing: tuple[str, ...]
    surplus: tuple[str, ...]
    coverage: float
    odd: int = 0
    unsure: bool = False

    @property
    def whole(self) -> bool:
        """True if every word of task and pattern is accounted for."""
        return not (self.missing or self.surplus or self.odd or self.unsure)


def weight(word: str) -> float:
    """The weight of a word in an alignment."""
    return _STOP_WEIGHT if word in STOP else 1.0


@dataclass(frozen=True, slots=True)
class TaskPattern:
    """Fixed words, in lower case, and gaps. Words are compared by their stems.

    `signs` are the loose signs between them, which a task must have too.
    """

    elements: tuple[Element, ...]
    signs: str = ""

    @property
    def fixed(self) -> tuple[str, ...]:
        """The fixed words."""
        return tuple([element for element in self.elements if isinstance(element, str)])

    @property
    def stems(self) -> tuple[str, ...]:
        """The fixed words as they are compared."""
        return _stems(self)

    @property
    def content(self) -> frozenset[str]:
        """The fixed words that say something."""
        return frozenset(self.stems) - STOP

    @property
    def telling(self) -> bool:
        """True if the fixed words say enough to tell this kind of task from others."""
        return len(self.content) >= FEWEST or (bool(self.content) and not any(_open(one) for one in self.elements))

    @property
    def slots(self) -> frozenset[str]:
        """The slots that its gaps fill."""
        return frozenset(one.slot for one in self.elements if isinstance(one, PatternGap) and one.slot)

    def text(self) -> str:
        """The pattern as people and embedders read it: gaps are their slots' kinds in angle brackets."""
        return " ".join(one if isinstance(one, str) else f"<{one.kind.value}>" for one in self.elements)


@lru_cache(maxsize=65536)
def _stems(pattern: TaskPattern) -> tuple[str, ...]:
    return tuple([stem(word) for word in pattern.fixed])


def alignable(task: str) -> bool:
    """Return True if a task is short enough to fit a pattern. The work on one grows with the square of its words."""
    return len(words(task)) <= LONGEST


def learned(task: str, values: Mapping[str, str]) -> TaskPattern:
    """The pattern of a task in which these slots had these values; other typed values become gaps that fill nothing.

    A slot whose value does not stand in the task has no gap.
    """
    said = words(task)
    taken: list[tuple[int, int, PatternGap]] = []
    for slot, value in sorted(values.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        wanted = [word.stem for word in words(value)]
        for first in _places(said, wanted):
            if _free(taken, first, first + len(wanted)):
                end = first + len(wanted)
                kind = _kind(task, said[first].start, said[end - 1].end, value)
                taken.append((first, end, PatternGap(slot, kind, len(wanted), took=writing(value))))
    for found in find(task):
        inside = [place for place, word in enumerate(said) if word.start < found.end and found.start < word.end]
        if inside and _free(taken, inside[0], inside[-1] + 1):
            taken.append((inside[0], inside[-1] + 1, PatternGap("", found.kind, len(inside))))
    elements: list[Element] = []
    place = 0
    for first, end, gap in sorted(taken, key=lambda one: one[0]):
        elements += [_spelt(task, word) for word in said[place:first]]
        elements.append(gap)
        place = end
    rest = [_spelt(task, word) for word in said[place:]]
    spans = [_span(task, said, first, end, gap.kind) for first, end, gap in taken]
    return TaskPattern((*elements, *rest), loose_signs(task, spans))


def realised(pattern: TaskPattern, fitted: PatternFit) -> str:
    """The wording of the pattern for a task that was aligned with it: its own words around the task's values."""
    values = iter(fitted.pieces)
    said = [one if isinstance(one, str) else next(values, "") for one in pattern.elements]
    return " ".join([word for word in said if word])


def fit(pattern: TaskPattern, task: str) -> PatternFit | None:
    """Align a task with a pattern; None when the task is too long to be aligned."""
    if not alignable(task) or len(pattern.elements) > LONGEST:
        return None
    said = words(task)
    path = _align(pattern.elements, said)
    values: dict[str, str] = {}
    pieces: list[str] = []
    missing: list[str] = []
    odd, unsure = 0, False
    inside: set[int] = set()
    spans: list[tuple[int, int]] = []
    for element, (first, end) in zip(pattern.elements, path, strict=True):
        inside.update(range(first, end))
        if isinstance(element, str):
            missing += [stem(element)] * (first == end)
            continue
        if first == end:
            odd += not element.optional
            pieces.append("")
            continue
        before = odd
        start, stop = _span(task, said, first, end, element.kind)
        spans.append((start, stop))
        piece = task[start:stop]
        odd += bool(element.slot) and element.kind is not SlotKind.QUOTED and _cut(task, start, stop, element.kind)
        if (own := _own(piece, element.kind)) is not None:
            # The words beside it are the task's, and say something that the pattern does not.
            piece, odd = own or piece, odd + 1
            before += bool(own)
        pieces.append(piece)
        odd += element.kind is not SlotKind.QUOTED and (_CLAUSE.search(piece) is not None or impossible(piece))
        quoted = element.kind is not SlotKind.QUOTED or any(
            one.kind is SlotKind.QUOTED and one.start <= start and stop <= one.end for one in find(task)
        )
        room = 3 * element.widest + _ROOM if element.slot else element.widest + 1
        odd += end - first > room or not quoted or not admits(element.kind, piece)
        if element.slot:
            # One value in two places must be one value.
            odd += values.setdefault(element.slot, piece).casefold() != piece.casefold()
            unsure |= odd > before
    surplus = tuple([word.stem for place, word in enumerate(said) if place not in inside])
    whole = sum(map(weight, pattern.fixed))
    coverage = 1.0 - sum(map(weight, missing)) / whole if whole else 0.0
    unsure |= loose_signs(task, spans) != pattern.signs
    return PatternFit(values, tuple(pieces), tuple(missing), surplus, coverage, odd, unsure)


def widened(pattern: TaskPattern, fitted: PatternFit) -> TaskPattern:
    """The pattern once its gaps have taken what they took of a task that fits it."""
    pieces = iter(fitted.pieces)
    elements = [one if isinstance(one, str) else one.taking(next(pieces, "")) for one in pattern.elements]
    return replace(pattern, elements=tuple(elements))


def merge(one: TaskPattern, two: TaskPattern) -> TaskPattern | None:
    """The pattern of both, where they agree on most; None where they do not.

    Where the words differ a gap takes either: the two tasks had the same plan, so it cannot depend on them.
    """
    if one.signs != two.signs:
        return None
    left, right = [_mark(element) for element in one.elements], [_mark(element) for element in two.elements]
    merged: list[Element] = []
    for tag, start, end, first, last in SequenceMatcher(None, left, right, autojunk=False).get_opcodes():
        if tag == "equal":
            merged += [
                _both(mine, theirs)
                for mine, theirs in zip(one.elements[start:end], two.elements[first:last], strict=True)
            ]
            continue
        mine, theirs = one.elements[start:end], two.elements[first:last]
        if {gap.slot for gap in _named(mine)} | {gap.slot for gap in _named(theirs)}:
            return None
        widest = max(_width(mine), _width(theirs))
        merged.append(PatternGap("", SlotKind.TEXT, widest, optional=not mine or not theirs))
    pattern = TaskPattern(tuple(_joined(merged)), one.signs)
    kept = sum(map(weight, pattern.fixed))
    most = max(sum(map(weight, one.fixed)), sum(map(weight, two.fixed)))
    return pattern if pattern.telling and kept >= _KEPT * most else None


def _align(elements: Sequence[Element], said: Sequence[TaskWord]) -> list[tuple[int, int]]:
    """For every element the words it takes, as a range; an element that takes none has an empty one.

    `level[j]` is the best score of the elements so far and the first j words; a gap opens at some j and takes all words
    up to where it closes.
    """
    weights = [weight(word.stem) for word in said]
    spans = len(said) + 1
    level = [0.0] * spans
    back: list[list[tuple[int, bool]]] = []  # where each element starts for every end, and whether it is taken
    for place in range(1, spans):
        level[place] = level[place - 1] - _SURPLUS * weights[place - 1]
    for element in elements:
        root = stem(element) if isinstance(element, str) else ""
        after, origin = [0.0] * spans, [(0, False)] * spans
        fixed = isinstance(element, str)
        cost = weight(element) if isinstance(element, str) else 0.0 if element.optional else 1.0
        running, opened = float("-inf"), 0
        for place in range(spans):
            best, source = level[place] - cost, (place, False)
            if place:
                if fixed:
                    if said[place - 1].stem == root:
                        score = level[place - 1] + cost
                        if score > best:
                            best, source = score, (place - 1, True)
                else:
                    fresh = level[place - 1]
                    if fresh >= running:
                        running, opened = fresh, place - 1
                    running -= _EXTENSION
                    if running > best:
                        best, source = running, (opened, True)
                surplus = after[place - 1] - _SURPLUS * weights[place - 1]
                if surplus > best:
                    best, source = surplus, (-1, False)
            after[place], origin[place] = best, source
        level = after
        back.append(origin)
    path: list[tuple[int, int]] = []
    place = len(said)
    for origin in reversed(back):
        while origin[place][0] < 0:
            place -= 1
        start, taken = origin[place]
        path.append((start, place) if taken else (place, place))
        place = start
    return path[::-1]


def _span(task: str, said: Sequence[TaskWord], first: int, end: int, kind: SlotKind) -> tuple[int, int]:
    """The place of a value in these words of a task, with the signs that belong to it."""
    start, stop = _widened(task, said[first].start, said[end - 1].end, kind)
    if (first and start < said[first - 1].end) or (end < len(said) and stop > said[end].start):
        # A capital made one name of a value and a word beside it.
        return said[first].start, said[end - 1].end
    return start, stop


def _widened(task: str, start: int, stop: int, kind: SlotKind) -> tuple[int, int]:
    """Take in the signs that belong to a value but to no word: a currency, a percent sign, what else a quote holds."""
    if kind is SlotKind.NUMBER:
        return start, stop
    for value in find(task):
        if (
            value.start <= start
            and stop <= value.end
            and (value.kind is not SlotKind.QUOTED or kind is SlotKind.QUOTED)
        ):
            inner = task.find(value.text, value.start, value.end)
            return inner, inner + len(value.text)
    return start, stop


def _cut(task: str, start: int, stop: int, kind: SlotKind) -> bool:
    """Return True if a piece may be a part of a value: a sign adjoins it that neither ends a clause nor encloses it."""
    unpaired = any(task.count(one, start, stop) != task.count(two, start, stop) for one, two in ("()", "[]", "{}"))
    whole = _quote(task, start, stop)
    if whole is not None:
        return whole != task[start:stop]
    begins = _NUMBER_BEGINS if kind is SlotKind.NUMBER else _BEGINS
    return unpaired or not (begins.search(task, max(0, start - 2), start) and _ENDS.match(task, stop))


def _own(piece: str, kind: SlotKind) -> str | None:
    """The one value of this kind in a piece that says more than that, "" for several; None where it says no more."""
    found = [one.text for one in find(piece) if one.kind is kind] if kind in STRICT or kind is SlotKind.ID else []
    if len(found) > 1:
        return ""
    return found[0] if found and len(found[0]) + 1 < len(piece.strip()) else None


def _places(said: Sequence[TaskWord], wanted: Sequence[str]) -> Iterable[int]:
    if not wanted:
        return []
    stems = [word.stem for word in said]
    return [at for at in range(len(stems) - len(wanted) + 1) if stems[at : at + len(wanted)] == list(wanted)]


def _kind(task: str, start: int, stop: int, value: str) -> SlotKind:
    """The kind of a value that stands at this place."""
    if _quote(task, start, stop) is not None:
        return SlotKind.QUOTED
    return SlotKind.NAME if all(kind_of(one) is SlotKind.NAME for one in items(value)) else kind_of(value)


def _quote(task: str, start: int, stop: int) -> str | None:
    """The quoted text whose words are those of this piece, None where there is none."""
    count = len(words(task[start:stop]))
    held = [one for one in find(task) if one.kind is SlotKind.QUOTED and one.start <= start and stop <= one.end]
    return next((one.text for one in held if len(words(one.text)) == count), None)


def _free(taken: Iterable[tuple[int, int, PatternGap]], first: int, end: int) -> bool:
    return all(end <= start or stop <= first for start, stop, _ in taken)


def _open(element: Element) -> bool:
    return isinstance(element, PatternGap) and element.kind not in STRICT and element.kind is not SlotKind.QUOTED


def _spelt(task: str, word: TaskWord) -> str:
    return task[word.start : word.end].lower()


def _mark(element: Element) -> str:
    return stem(element) if isinstance(element, str) else f"<{element.slot}>"


def _both(one: Element, two: Element) -> Element:
    if isinstance(one, str) or isinstance(two, str):
        return one
    kind = one.kind if one.kind is two.kind else SlotKind.TEXT
    optional = one.optional or two.optional
    return PatternGap(one.slot, kind, max(one.widest, two.widest), optional, one.took | two.took)


def _named(elements: Iterable[Element]) -> list[PatternGap]:
    return [one for one in elements if isinstance(one, PatternGap) and one.slot]


def _width(elements: Iterable[Element]) -> int:
    return max(1, sum(one.widest if isinstance(one, PatternGap) else 1 for one in elements))


def _joined(elements: Iterable[Element]) -> list[Element]:
    """Neighbouring gaps that fill nothing are one."""
    joined: list[Element] = []
    for one in elements:
        last = joined[-1] if joined else None
        if isinstance(one, PatternGap) and isinstance(last, PatternGap) and not one.slot and not last.slot:
            joined[-1] = PatternGap("", SlotKind.TEXT, one.widest + last.widest, one.optional and last.optional)
        else:
            joined.append(one)
    return joined


@scoped_cache(maxsize=4096)
def masked(task: str) -> str:
    """A task with its typed values removed, as far as spelling shows them."""
    return learned(task, {}).text()
