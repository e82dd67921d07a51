"""The guard for dates and times: two prompts that speak of different times have different answers.

Reads explicit dates in the usual spellings, years, decades, months, weekdays, quarters, times of day, relative times
and the tense of the question. Knows no clock, so "today" equals no date.
Invariant: a date is blanked in `DateReading.rest`, so that the numbers in it are not read twice.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.matching.guards.base import ReadingGuard
from semcache.matching.guards.timetable import (
    DAYS,
    HOUR,
    MONTHS,
    NTH,
    ORDINAL,
    PARTS_OF_DAY,
    PATTERN,
    PERIODS,
    POINTS,
    SHIFT,
)
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
# Beside these, "at 8" is a time of day.
_DATED = frozenset((*DAYS, *PARTS_OF_DAY, "today", "tonight", "tomorrow", "tmrw"))
_NOT_ALONE = frozenset(("may", "march", "mar", "mon", "tue", "wed", "thu", "fri", "sep", "dec", "jun", "jan", "august"))
CALENDAR = frozenset((*MONTHS, *DAYS))
_BEFORE_NAME = frozenset(
    ("in", "on", "since", "until", "till", "by", "during", "from", "every", "for", "to", "of", "next")
)
_SIDES = {
    "before": "before",
    "until": "before",
    "till": "before",
    "after": "after",
    "since": "after",
    "following": "after",
}
_AT = frozenset(("in", "on", "at", "during"))
_NEAR = 40  # characters before a time that are read for what it is
_NOT_YEAR_BEFORE = re.compile(
    r"(?:[$€£¥₹#]|\b(?:eur|usd|gbp|chf|aud|cad|inr"
    r"|top|over|about|around|than|least|id|no|number|order|rs|room|port|code)\.?)\s*$"
)
_NOT_YEAR_AFTER = re.compile(
    r"\s*-?(?:k|m|km|kg|mg|g|mb|gb|ml|cal\w*|kcal|dollars?|usd|euros?|eur|pounds?|rupees?|inr|mah?|rpm|hz"
    r"|watts?|wh?|fl|nautical|nmi|words?"
    r"|feet|ft|miles|meters?|metres?|people|users|rows|times|notes?|characters|points|followers|elo|bits?"
    r"|bytes?|tokens?"
    r"|hours?|minutes?|seconds?|days?|square|sq|psi|steps)\b"
)


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
        if one.tense != two.tense and one.tense and two.tense:
            return Conflict(self.name, f"{one.tense} / {two.tense}", len(differing(query, cached)) <= FEW)
        if one.role != two.role and one.role and two.role:
            return Conflict(self.name, f"{one.role} holder / {two.role} holder")
        return None


def _telling(one: DateReading, two: DateReading, query: str, cached: str) -> bool:
    """Return True if other times are more than another wording.

    Where only one text names a time and much else differs, they may be; and when it happened to the asker, often is.
    """
    if (one.items or one.alternatives) and (two.items or two.alternatives):
        return True
    lone = one.items | two.items
    happened = all(item.startswith(_HAPPENED) for item in lone) and not (one.alternatives or two.alternatives)
    if happened and not (read_text(query).bag | read_text(cached).bag).isdisjoint(_OWN):
        return False
    return len(differing(query, cached) - _WORDS - _SPANS) <= FEW


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
        found = _normal(match, words)
        if found is None:
            continue
        if len(found) > 1:
            alternatives.append(found)
        else:
            items |= found | _other_end(match)
            start = match.start("dh") if match["dh"] else match.start()
            behind = words.lower[match.end() : match.end() + 2]
            _bound(words.lower[max(0, start - _NEAR) : start], behind, min(found), bounds, loose)
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


def _normal(match: re.Match[str], words: SplitText) -> frozenset[str] | None:
    """The normalised times behind a match: several when it is ambiguous, {""} for the present, None for no date."""
    group, get = match.lastgroup, match.group
    if group == "iso":
        return _date(get("iy"), int(get("im")), int(get("id")))
    if group == "slash":
        first, second = int(get("sa")), int(get("sb"))
        year = get("sy") if len(get("sy")) == 4 else "20" + get("sy")
        options = {_date(year, month, day) for month, day in ((first, second), (second, first))}
        found = frozenset().union(*(option for option in options if option is not None))
        return found or None
    if group == "dm":
        return _date(get("dy"), MONTHS[get("dmo")], int(get("dd") or NTH[get("dn")]))
    if group == "md":
        return _date(get("my"), MONTHS[get("mmo")], int(get("mdd")))
    if group == "mony":
        return frozenset((f"date {get('xy')}-{MONTHS[get('xmo')]}-?",))
    if group == "ym":
        return frozenset((f"quarter {get('yqn')} {get('yq')}",))
    if group == "quarter":
        return frozenset((f"quarter {get('qn')} {get('qy') or ''}".strip(),))
    if group == "wquarter":
        return frozenset((f"quarter {ORDINAL[get('qo')]} {get('qoy') or ''}".strip(),))
    if group == "fiscal":
        return frozenset((f"year {get('fy') if len(get('fy')) == 4 else '20' + get('fy')}",))
    if group == "decade":
        if words.lower[max(0, match.start() - 6) : match.start() - 1].split()[-1:] in (["under"], ["over"]):
            return None  # "under-20s" are people
        return frozenset((f"decade {get('dec')[-2:] if get('dec').startswith('19') else get('dec')}",))
    if group == "span":
        quarter = next(number for number in "1234" if get(f"s{number}"))
        return frozenset((f"quarter {quarter} {get('sy4') or ''}".strip(),))
    if group == "daypart":
        hour = _hour(get("dh"))
        if not 1 <= hour <= 12 or (hour <= _PILLS and not get("dat")):
            return None
        late = get("dpart") != "morning" if get("dpart") else _SMALL_HOURS < hour < 12
        return frozenset((_clock(hour, int(get("dmin") or 0), late=late),))
    if group == "past":
        hour = _hour(get("ph"))
        if not 1 <= hour <= 12:
            return None
        minute = 30 if get("pq") == "half" else 15 if get("pside") == "past" else 45
        hour -= get("pside") == "to"
        part = get("pm") or get("ppart") or get("ppartn")
        if part is None:
            return _either(hour, minute)
        return frozenset((_clock(hour, minute, late=part not in ("a", "morning")),))
    if group == "clock":
        hour = int(get("h"))
        if not 1 <= hour <= 12:
            return None
        return frozenset((_clock(hour, int(get("m") or 0), late=get("half") == "p"),))
    if group == "clock24":
        return frozenset((f"time {int(get('h24'))}:{get('m24')}",))
    if group == "at":
        hour = _hour(get("ah"))
        if not (1 <= hour <= 12) or words.bag.isdisjoint(_DATED):
            return None
        return _either(hour)
    if group == "oclock":
        hour = _hour(get("oh"))
        return _either(hour) if hour <= 12 else None
    if group == "year":
        start = match.start()
        if _NOT_YEAR_BEFORE.search(words.lower[max(0, start - _NEAR) : start]):
            return None
        if _NOT_YEAR_AFTER.match(words.lower, match.end()):
            return None
        return frozenset((f"year {get('y')}",))
    if group == "shift":
        which, period = get("which"), get("period")
        if period in ("time", "second", "minute") or (which == "this" and period in ("day", "hour")):
            return None
        if period == "day" and SHIFT.get(which) == "last":
            return frozenset(("yesterday",)) if which == "previous" else None  # "my last day" has no date
        if which == "this" and period in MONTHS:
            return frozenset((f"month {MONTHS[period]}",))
        if which == "this" and period in DAYS:
            return frozenset((f"weekday {DAYS[period]}",))
        if which == "this" and period in ("week", "month", "year"):
            return frozenset(("",))
        if which == "this":
            return frozenset(("tonight" if period in ("evening", "night") else f"this {period}",))
        return frozenset((f"{get('other') or ''} {SHIFT[which]} {period}".strip(),))
    if group == "point":
        point = POINTS[get("p")]
        if get("beyond"):
            return frozenset((f"{get('beyond')} {point}",))
        if point == "today":
            return frozenset(("",))
        return frozenset((f"time {point}" if ":" in point else point,))
    if group == "ago":
        period = _A_PERIOD.search(words.lower, max(0, match.start() - _NEAR), match.start())
        if period is None:
            return frozenset(("ago",))
        return frozenset(("ago", "yesterday" if period[1] == "day" else f"last {period[1]}"))
    return _named(get("w"), match.start(), words)


def _named(word: str, start: int, words: SplitText) -> frozenset[str] | None:
    """A month or weekday that stands alone; ambiguous words count only after a preposition, or capitalised inside."""
    if word in _NOT_ALONE or word in ("sat", "sun"):
        before = words.lower[max(0, start - _NEAR) : start].split()
        capital = words.raw[start : start + 1].isupper() and bool(before) and not words.raw.isupper()
        after_preposition = bool(before) and before[-1] in _BEFORE_NAME and (word, before[-1]) != ("wed", "to")
        if word in DAYS and _TIMED.match(words.lower, start + len(word)):
            return frozenset((f"weekday {DAYS[word]}",))
        if not (capital and after_preposition) and not (after_preposition and word not in ("march", "mar", "may")):
            return None
    if word in MONTHS:
        return frozenset((f"month {MONTHS[word]}",))
    return frozenset((f"weekday {DAYS[word]}",))


def _other_end(match: re.Match[str]) -> frozenset[str]:
    """The second date of a match that names two days of one month: "3 to 14 August"."""
    start, end = match["dfrom"], match["mto"]
    if start:
        day = int(start) if start.isdigit() else NTH[start]
        return _date(match["dy"], MONTHS[match["dmo"]], day) or frozenset()
    return (_date(match["my"], MONTHS[match["mmo"]], int(end)) if end else None) or frozenset()


def _date(year: str | None, month: int, day: int) -> frozenset[str] | None:
    if not (1 <= month <= 12 and 1 <= day <= 31):
        return None
    return frozenset((f"date {year or '?'}-{month}-{day}",))


def _hour(written: str) -> int:
    return int(written) if written.isdigit() else HOUR[written]


def _either(hour: int, minute: int = 0) -> frozenset[str]:
    """The two times of day of which nothing tells if they are before noon or after it."""
    return frozenset(_clock(hour, minute, late=late) for late in (False, True))


def _clock(hour: int, minute: int, *, late: bool) -> str:
    """A time of day, after noon if it is late."""
    return f"time {hour % 12 + 12 * late}:{minute:02}"


_SMALL_HOURS = 4  # that are at night and in the morning
_PILLS = 3  # "one in the morning, two in the evening" are more often these than times
_A_PERIOD = re.compile(r"\b(?:an?|one)\s+(day|week|month|year)\s+$")  # "a week ago" is last week, or seven days ago
# Behind an abbreviated weekday, a time of day.
_TIMED = re.compile(r",?\s+(?:\d{1,2}(?::\d\d|\s?[ap]\.?m\b)|at\b|morning|afternoon|evening|night|noon)")
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
