"""Patterns of tasks: fixed words with gaps for values, and the alignment of a new task with them.

A pattern is learned from one task and the values that its plan used; `pattern_merge` merges it with others that led to
the same plan. Fitting is a global alignment (Needleman and Wunsch 1970) of the pattern's elements with the words of a
task, in which a gap takes one or more words. Knows no tools and no plans. Invariant: a pattern holds no value of the
tasks that it was learned from, and what a gap takes is a piece of the new task as it stands there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from semcache.agents.asking_tasks import only_asks
from semcache.agents.loose_signs import loose_signs
from semcache.agents.pattern_gap import OWNED, PatternGap, Writing, leading, only_value, without_article, writing
from semcache.agents.short_patterns import is_asked, is_of_family
from semcache.agents.slots import (
    ARTICLE,
    STOP,
    STRICT,
    SlotKind,
    TaskWord,
    admits,
    find,
    impossible,
    stem,
    units,
    words,
)
from semcache.agents.value_pieces import is_cut, is_parted_name, kind_at, own_value, span_of
from semcache.agents.value_roles import are_exchanged, is_unlike
from semcache.agents.word_alignment import Element, align, weight
from semcache.request.text import vocabulary
from semcache.request.wording.verbs import is_base
from semcache.runtime.scoped_memo import scoped_cache

LONGEST = 120  # words of a task that is aligned; a longer one is the planner's
FEWEST = 2  # content words without which a pattern says too little to be matched by
_ROOM = 4  # words that a slot may take beyond three times as many as it ever took; what fills none may take one
_VARIED = 3  # prepositions after which a gap is known to take any
_DETERMINERS = vocabulary(
    "my your his her our their its this that every each all any some no another other same next last first"
)
# What a value does not hold, but a further wish of the user does.
_MORE = "then also afterwards instead otherwise unless or nor but except excluding without"
_CLAUSE = re.compile(rf"[.!?;]\s+\w|\b(?:{'|'.join(_MORE.split())})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PatternFit:
    """The fit of a task to a pattern.

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


@dataclass(frozen=True, slots=True)
class TaskPattern:
    """Fixed words, in lower case, and gaps. Words are compared by their stems.

    `signs` are the loose signs between them, which a task must have too. `freed` says that two runs have shown that one
    word tells this kind of task from others (`short_patterns`), `asks` that its tasks only asked (`asking_tasks`),
    `orders` that they began with a verb and ended with no question mark.
    """

    elements: tuple[Element, ...]
    signs: str = ""
    freed: bool = False
    asks: bool = False
    orders: bool = False

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
        """True if the fixed words, and the values that must be the same, tell this kind of task from others.

        One word tells it if spelling decides what every gap takes. "Fork ChatGPT" has a verb alone: what there is to be
        done follows from what the name is a name of, and that no pattern knows.
        """
        said = len(self.content)
        same = sum(isinstance(one, PatternGap) and bool(one.only) for one in self.elements)
        return said > 0 and (self.freed or said + same >= FEWEST or not any(_open(one) for one in self.elements))

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


def learned(task: str, values: Mapping[str, str], *, salt: bytes = b"") -> TaskPattern:
    """The pattern of a task in which these slots had these values; other typed values become gaps that fill nothing.

    A slot whose value does not stand in the task has no gap. `salt` keys the digests of values that fill nothing.
    """
    said = units(task)
    taken: list[tuple[int, int, PatternGap]] = []
    for slot, value in sorted(values.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        wanted = [word.stem for word in units(value)]
        for first in _places(said, wanted):
            if _free(taken, first, first + len(wanted)):
                end = first + len(wanted)
                kind = kind_at(task, said[first].start, said[end - 1].end, value)
                owns = OWNED.search(task[said[end - 1].start : said[end - 1].end]) and not OWNED.search(value)
                took = writing(value) | ({Writing.OWNER} if owns else frozenset())
                taken.append((first, end, PatternGap(slot, kind, len(wanted), took=took, led=leading(value))))
    for found in find(task):
        inside = [place for place, word in enumerate(said) if word.start < found.end and found.start < word.end]
        if inside and _free(taken, inside[0], inside[-1] + 1):
            start, stop = span_of(task, said, inside[0], inside[-1] + 1, found.kind)
            only = only_value(task[start:stop], salt)
            taken.append((inside[0], inside[-1] + 1, PatternGap("", found.kind, len(inside), only=only)))
    elements: list[Element] = []
    place = 0
    for first, end, gap in sorted(taken, key=lambda one: one[0]):
        elements += [_spelt(task, word) for word in said[place:first]]
        elements.append(gap)
        place = end
    rest = [_spelt(task, word) for word in said[place:]]
    spans = [span_of(task, said, first, end, gap.kind) for first, end, gap in taken]
    orders = bool(said) and is_base(said[0].stem) and not task.rstrip().endswith("?")
    return TaskPattern((*elements, *rest), loose_signs(task, spans), asks=only_asks(task), orders=orders)


def realised(pattern: TaskPattern, fitted: PatternFit) -> str:
    """The wording of the pattern for a task that was aligned with it: its own words around the task's values."""
    values = iter(fitted.pieces)
    said = [one if isinstance(one, str) else next(values, "") for one in pattern.elements]
    return " ".join([word for word in said if word])


def fit(pattern: TaskPattern, task: str, *, salt: bytes = b"") -> PatternFit | None:
    """Align a task with a pattern that was learned with this salt; None when the task is too long to be aligned."""
    if not alignable(task) or len(pattern.elements) > LONGEST:
        return None
    said = units(task)
    reading = _FitReading(task, said, salt)
    path = align(pattern.elements, said)
    lost: list[int] = []
    for place, (element, (first, end)) in enumerate(zip(pattern.elements, path, strict=True)):
        if isinstance(element, PatternGap):
            reading.take(element, first, end)
        elif first == end:
            lost.append(place)
        else:
            reading.inside.add(first)
    missing = tuple(
        [
            stem(one)
            for place in lost
            if isinstance(one := pattern.elements[place], str) and not _is_article(pattern.elements, place, path, said)
        ]
    )
    surplus = tuple(
        [
            word.stem
            for place, word in enumerate(said)
            if place not in reading.inside and (word.stem != ARTICLE or word is said[-1])
        ]
    )
    whole = sum(map(weight, pattern.fixed))
    coverage = 1.0 - sum(map(weight, missing)) / whole if whole else 0.0
    taken = [(gap, piece) for gap, piece in zip(_gaps(pattern), reading.pieces, strict=True) if gap.slot]
    other = (pattern.freed or not pattern.asks) and _is_other_form(pattern, task, said, path)
    unsure = reading.unsure or other or are_exchanged(taken) or loose_signs(task, reading.spans) != pattern.signs
    return PatternFit(reading.values, tuple(reading.pieces), missing, surplus, coverage, reading.odd, unsure)


def _is_other_form(pattern: TaskPattern, task: str, said: Sequence[TaskWord], path: Sequence[tuple[int, int]]) -> bool:
    """Return True for a word in another form than the pattern's, and for an order that is asked: "Call Ann?"."""
    places = [(one, said[first]) for one, (first, end) in zip(pattern.elements, path, strict=True) if first < end]
    if any(isinstance(one, str) and _spelt(task, word) != one for one, word in places):
        return True
    return (pattern.freed or pattern.orders) and is_asked(task, pattern.elements)


def _gaps(pattern: TaskPattern) -> list[PatternGap]:
    return [one for one in pattern.elements if isinstance(one, PatternGap)]


def _is_article(
    elements: Sequence[Element], place: int, path: Sequence[tuple[int, int]], said: Sequence[TaskWord]
) -> bool:
    """Return True for an article of a pattern that a task has left out, and has no other determiner in its place."""
    if elements[place] != ARTICLE or place + 1 == len(path):
        return False
    first, end = path[place + 1]
    # "The last 10" and "last 10" say the same: the pattern has that determiner itself.
    return first == end or isinstance(elements[place + 1], str) or said[first].stem not in _DETERMINERS


class _FitReading:
    """A task that is read by the gaps of a pattern, one after the other; the fields are those of `PatternFit`."""

    def __init__(self, task: str, said: Sequence[TaskWord], salt: bytes) -> None:
        self._task, self._said, self._salt = task, said, salt
        self.values: dict[str, str] = {}
        self.pieces: list[str] = []
        self.odd, self.unsure = 0, False
        self.inside: set[int] = set()
        self.spans: list[tuple[int, int]] = []

    def take(self, gap: PatternGap, first: int, end: int) -> None:
        """Give these words to a gap."""
        if first == end:
            self.odd += not gap.optional
            self.pieces.append("")
            return
        self.inside.update(range(first, end))
        start, stop = span_of(self._task, self._said, first, end, gap.kind)
        parted = bool(self.spans) and is_parted_name(self._task, self.spans[-1][1], start)
        self.spans.append((start, stop))
        piece = without_article(self._task[start:stop], gap)
        odd = bool(gap.slot) and gap.kind is not SlotKind.QUOTED and is_cut(self._task, start, stop, gap.kind)
        if (own := own_value(piece, gap.kind)) is not None:
            # The words beside it are the task's, and say something that the pattern does not.
            piece = own or piece
            self.odd += bool(own)
            odd = odd or not own
        odd = odd or parted
        if Writing.OWNER in gap.took:
            odd = odd or OWNED.search(piece) is None
            piece = OWNED.sub("", piece)
        self.pieces.append(piece)
        room = 3 * gap.widest + _ROOM if gap.slot else gap.widest + 1
        others = not gap.slot and OWNED.search(piece) is not None and Writing.OWNER not in gap.took
        odd = odd or others or end - first > room or not self._admits(gap, piece, start, stop)
        if gap.slot:
            # One value in two places must be one value.
            known = self.values.setdefault(gap.slot, piece)
            odd = odd or known.casefold() != piece.casefold()
        if gap.only and gap.only != only_value(piece, self._salt):
            # The plan may be one for the value that it was learned with, though no call has that.
            odd = self.unsure = True
        elif gap.family and gap.kind is not SlotKind.CHOICE and not is_of_family(piece, gap, self._salt):
            odd = self.unsure = True
        self.odd += odd
        self.unsure = self.unsure or (odd and bool(gap.slot))

    def _admits(self, gap: PatternGap, piece: str, start: int, stop: int) -> bool:
        if gap.kind is not SlotKind.QUOTED:
            further = [one.group().casefold() for one in _CLAUSE.finditer(piece)]
            said = further and (set(further) != {"or"} or Writing.EITHER not in gap.took)
            led = gap.slot and 0 < len(gap.led) < _VARIED and leading(piece) - gap.led
            other = said or led or (gap.slot and is_unlike(gap, piece))
            return admits(gap.kind, piece) and not other and not impossible(piece)
        quotes = [one for one in find(self._task) if one.kind is SlotKind.QUOTED]
        return any(one.start <= start and stop <= one.end for one in quotes)


def widened(pattern: TaskPattern, fitted: PatternFit) -> TaskPattern:
    """The pattern once its gaps have taken what they took of a task that fits it."""
    pieces = iter(fitted.pieces)
    elements = [one if isinstance(one, str) else one.taking(next(pieces, "")) for one in pattern.elements]
    return replace(pattern, elements=tuple(elements))


def _places(said: Sequence[TaskWord], wanted: Sequence[str]) -> Iterable[int]:
    if not wanted:
        return []
    stems = [word.stem for word in said]
    return [at for at in range(len(stems) - len(wanted) + 1) if stems[at : at + len(wanted)] == list(wanted)]


def _free(taken: Iterable[tuple[int, int, PatternGap]], first: int, end: int) -> bool:
    return all(end <= start or stop <= first for start, stop, _ in taken)


def _open(element: Element) -> bool:
    return isinstance(element, PatternGap) and element.kind not in STRICT and element.kind is not SlotKind.QUOTED


def _spelt(task: str, word: TaskWord) -> str:
    return task[word.start : word.end].lower()


@scoped_cache(maxsize=4096)
def masked(task: str) -> str:
    """A task with its typed values removed, as far as spelling shows them."""
    return learned(task, {}).text()
