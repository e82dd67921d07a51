"""The guard for dates and times: two prompts that speak of different times have different answers.

Reads explicit dates in the usual spellings, years, decades, months, weekdays, quarters, times of day, relative times
and the tense of the question. Knows no clock, so "today" equals no date.
Invariant: a date is blanked in `DateReading.rest`, so that the numbers in it are not read twice.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.matching.guards import day_ranges
from semcache.matching.guards.base import ReadingGuard
from semcache.matching.guards.spelled_times import NEAR, normal, other_end
from semcache.matching.guards.timetable import (
    DAYS,
    HOUR,
    MONTHS,
    PARTS_OF_DAY,
    PATTERN,
    PERIODS,
    POINTS,
    SHIFT,
)
from semcache.request.kinds.narrated_case import without_narrated_case
from semcache.request.secrets import fold
from semcache.request.text import FEW, READINGS, SplitText, differing
from semcache.request.text import read as read_text
from semcache.runtime.scoped_memo import scoped_cache
from semcache.types import Conflict

_PAST = frozenset(("was", "were", "did", "had", "wasn't", "weren't", "didn't"))
_FUTURE = frozenset(("will", "gonna", "shall"))
_NOW = frozenset(("is", "are", "does", "do", "isn't", "aren't", "doesn't", "don't"))
_ROLE = frozenset(("who", "who's", "whose"))
_WORDS = (
    frozenset(MONTHS)
    | frozenset(DAYS)
    | frozenset(POINTS)
    | frozenset(SHIFT)
    | frozenset(("quarter", "ago", "this", "before", "tomorrow's", "yesterday's", "now", "currently", "nowadays"))
    | frozenset(("half", "o'clock", "oclock"))
    | PARTS_OF_DAY
)
# Without a digit or an apostrophe, a text that holds none of these names no time; nor one of `_SPANS` alone.
_NAMED = frozenset((*MONTHS, *DAYS, *POINTS, "ago", "half", "oclock"))
_HOURS = frozenset(HOUR)
_SPANS = frozenset(PERIODS.split("|"))
_SHIFTS = frozenset((*SHIFT, "this", "quarter"))
# Times at which something befell somebody, and the words by which it was the asker.
_HAPPENED = ("ago", "yesterday", "last ", "this morning", "this afternoon", "this evening")
_OWN = frozenset(("i", "i'm", "i've", "my", "we", "our"))
CALENDAR = frozenset((*MONTHS, *DAYS))
_SIDES = {
    "before": "before",
    "until": "before",
    "till": "before",
    "after": "after",
    "since": "after",
    "following": "after",
}
_AT = frozenset(("in", "on", "at", "during"))


class DateReading(NamedTuple):
    """The times in a text.

    `items` are normalised times; `tense` is "past", "future" or ""; `rest` is the text without its dates, None for one
    that has none. `bounds` are times that something is before or after, `loose` those of which nothing tells that.
    """

    items: frozenset[str]
    alternatives: tuple[frozenset[str], ...]
    tense: str
    role: str
    rest: str | None
    bounds: frozenset[tuple[str, str]] = frozenset()
    loose: frozenset[str] = frozenset()


class DateGuard(ReadingGuard[DateReading]):
    """Vetoes prompts about different dates, times or tenses."""

    name = "dates"

    def read(self, text: str) -> DateReading:
        """The reading of `text`."""
        return read(text)

    def compare(self, one: DateReading, two: DateReading, query: str, cached: str, /) -> Conflict | None:
        """Compare the times that both texts name."""
        if (one.items or two.items or one.alternatives or two.alternatives) and not _same(one, two):
            return Conflict(self.name, f"{_show(one)} / {_show(two)}", _telling(one, two, query, cached))
        if one.bounds != two.bounds and len(differing(query, cached)) <= FEW:
            loose = one.loose | two.loose
            apart = sorted(f"{side} {item}" for side, item in one.bounds ^ two.bounds if item not in loose)
            if apart:
                return Conflict(self.name, f"only one says {apart[0]}")
        if ranged := day_ranges.compare(read_text(query), read_text(cached)):
            return Conflict(self.name, f"{ranged}: a range and a list")
        if one.tense != two.tense and one.tense and two.tense:
            return Conflict(self.name, f"{one.tense} / {two.tense}", len(differing(query, cached)) <= FEW)
        if one.role != two.role and one.role and two.role:
            return Conflict(self.name, f"{one.role} holder / {two.role} holder")
        return None


def _telling(one: DateReading, two: DateReading, query: str, cached: str) -> bool:
    """Return True if other times are more than another wording.

    Where only one text names a time and much else differs, they may be; and when it happened to the asker, often is,
    as is the time of a case that is told before a question of any day.
    """
    if (one.items or one.alternatives) and (two.items or two.alternatives):
        return True
    lone = one.items | two.items
    happened = all(item.startswith(_HAPPENED) for item in lone) and not (one.alternatives or two.alternatives)
    if happened and not (read_text(query).bag | read_text(cached).bag).isdisjoint(_OWN):
        return False
    if _is_narrated(query if one.items or one.alternatives else cached):
        return False
    return len(differing(query, cached) - _WORDS - _SPANS) <= FEW


def _is_narrated(text: str) -> bool:
    """Return True if all times of a text stand in a case told beside its question: "My exam is today. What is ...?"."""
    folded = fold(text)
    rest = without_narrated_case(folded)
    if rest == folded:
        return False
    asked = read(rest)
    return not (asked.items or asked.alternatives)


_NOTHING = DateReading(frozenset(), (), "", "", None)


@scoped_cache(maxsize=READINGS)
def read(text: str) -> DateReading:
    """The times that `text` names."""
    words = read_text(text)
    tense, role = _tense(words)
    if not words.digits and (words.bag.isdisjoint(_WORDS) or _timeless(words)):
        return DateReading(frozenset(), (), tense, role, None) if tense or role else _NOTHING
    items: set[str] = set()
    alternatives: list[frozenset[str]] = []
    bounds: set[tuple[str, str]] = set()
    loose: set[str] = set()
    pieces: list[str] = []
    end = 0
    for match in PATTERN.finditer(words.lower):
        found = normal(match, words)
        if found is None:
            continue
        if len(found) > 1:
            alternatives.append(found)
        else:
            items |= found | other_end(match)
            start = match.start("dh") if match["dh"] else match.start()
            behind = words.lower[match.end() : match.end() + 2]
            _bound(words.lower[max(0, start - NEAR) : start], behind, min(found), bounds, loose)
        pieces += (words.lower[end : match.start()], " , ")
        end = match.end()
    pieces.append(words.lower[end:])
    dated = any(item.startswith("date") and "?" not in item[-3:] for item in items)
    if dated:
        items = {item for item in items if not item.startswith("weekday")}
    return DateReading(
        frozenset(items - {""}),
        tuple(alternatives),
        tense,
        role,
        "".join(pieces),
        frozenset(bounds),
        frozenset(loose),
    )


def _bound(before: str, behind: str, item: str, bounds: set[tuple[str, str]], loose: set[str]) -> None:
    """Note whether the words around a time say that something is before it, after it, or neither."""
    words = before.replace("-", " ").split()[-2:]
    word = words[-1] if words else ""
    if behind.startswith("'s") or (word not in _SIDES and word not in _AT and words != ["prior", "to"]):
        loose.add(item)
    elif word not in _AT:
        bounds.add((_SIDES.get(word, "before"), item))


def without(text: str) -> str:
    """`text` in lower case with its dates blanked."""
    rest = read(text).rest
    return read_text(text).lower if rest is None else rest


def _timeless(words: SplitText) -> bool:
    bag = words.bag
    if "'" in words.lower or not bag.isdisjoint(_NAMED):
        return False
    if not (bag.isdisjoint(PARTS_OF_DAY) or bag.isdisjoint(_HOURS)) or ("quarter" in bag and "past" in bag):
        return False
    return bag.isdisjoint(_SPANS) or bag.isdisjoint(_SHIFTS)


def _same(one: DateReading, two: DateReading) -> bool:
    if not one.alternatives and not two.alternatives:
        return one.items == two.items
    left, right = set(one.items), set(two.items)
    for options, other in [(a, right) for a in one.alternatives] + [(b, left) for b in two.alternatives]:
        mine = left if other is right else right
        shared = options & other
        if shared:
            mine |= shared
        elif not any(options & more for more in (two.alternatives if other is right else one.alternatives)):
            return False
    return left == right


_PERFECT = frozenset(("has", "have", "had"))
_DONE = re.compile(
    r"\b(?:has|have|had) (?:(?!to\b)[\w'-]+ ){0,4}?(?:\w{2,}ed|been|gone|done|become|begun|won|lost|left|made"
    r"|grown|fallen|risen|come)\b"
)


def _tense(words: SplitText) -> tuple[str, str]:
    """The tense, and that of a question for the holder of a role. "Won't" refuses rather than foretells."""
    bag = words.bag
    if "if" in bag or "would" in bag:
        return "", ""
    past = not bag.isdisjoint(_PAST) or (not bag.isdisjoint(_PERFECT) and _DONE.search(words.lower) is not None)
    future = not bag.isdisjoint(_FUTURE) and "not" not in bag
    if "going" in bag and "going to" in words.lower:
        future = True
    tense = "past" if past and not future else "future" if future and not past else ""
    role = ""
    if "first" in bag:
        return tense, role  # who is the first to have done a thing was the first
    if words.words and words.words[0] in _ROLE and "the" in words.words[1:4]:
        head = frozenset(words.words[1:3])
        if words.words[0] == "who's" or not head.isdisjoint(_NOW):
            role = "present"
        elif not head.isdisjoint(_PAST):
            role = "past"
    return tense, role


def _show(reading: DateReading) -> str:
    shown = sorted(reading.items) + ["|".join(sorted(options)) for options in reading.alternatives]
    return ", ".join(shown) or "no date"
