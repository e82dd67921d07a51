"""Times as they are written, normalised: "3 pm" is `time 15:00`, "the 4th of May" is `date ?-5-4`.

One reading for each alternative of the pattern of `timetable`. Pure. Invariant: what may be read in two ways has both
readings; what only looks like a time has none.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TypeAlias

from semcache.matching.guards.timetable import DAYS, HOUR, MONTHS, NTH, ORDINAL, PARTS_OF_DAY, POINTS, SHIFT
from semcache.request.text import SplitText, vocabulary

Times: TypeAlias = "frozenset[str] | None"
_Reader: TypeAlias = Callable[[re.Match[str], SplitText], Times]

# Beside these, "at 8" is a time of day.
_DATED = frozenset((*DAYS, *PARTS_OF_DAY, "today", "tonight", "tomorrow", "tmrw"))
# What is done at an hour. "Is water boiling at 9" may be meant in another unit.
_OF_HOURS = vocabulary(
    """
    open opens opening close closes closing shop store office bank gate train bus flight class meeting meet appointment
    arrive arrives depart departs check-in check-out leave breakfast dinner lunch served alarm curfew shift wake call
    """
)
_PARTS = frozenset(("early", "late", "mid"))
_NOT_ALONE = frozenset(("may", "march", "mar", "mon", "tue", "wed", "thu", "fri", "sep", "dec", "jun", "jan", "august"))
_BEFORE_NAME = frozenset(
    ("in", "on", "since", "until", "till", "by", "during", "from", "every", "for", "to", "of", "next")
)
# Behind these "march" and "may" are months in the writing of one who uses no capitals, too.
_OF_MONTHS = _PARTS | {"in", "by", "until", "till", "since", "during"}
# "How may payments be made" and "how long may flights last".
_ASKING = vocabulary("how what which who when where why long often much many soon")
_MODAL = re.compile(r" (?:be|not|have|also|need|cause|lead|help|vary|differ|change|take|get|seem|require|include)\b")
_OF_A_MONTH = re.compile(
    r" (?:flights?|trips?|weather|holidays?|breaks?|deals|events|sales?|deadline|payroll|reports?|invoices?|payments?"
    r"|bookings?|edition|issue|meetings?)\b(?! (?:be|not|get|have)\b)"
)
NEAR = 40  # characters before a time that are read for what it is
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
_SMALL_HOURS = 4  # that are at night and in the morning
_PILLS = 3  # "one in the morning, two in the evening" are more often these than times
_A_PERIOD = re.compile(r"\b(?:an?|one)\s+(day|week|month|year)\s+$")  # "a week ago" is last week, or seven days ago
# Behind an abbreviated weekday, a time of day.
_TIMED = re.compile(r",?\s+(?:\d{1,2}(?::\d\d|\s?[ap]\.?m\b)|at\b|morning|afternoon|evening|night|noon)")


def normal(match: re.Match[str], words: SplitText) -> Times:
    """The normalised times behind a match: several when it is ambiguous, {""} for the present, None for no date."""
    return _READERS[match.lastgroup or "word"](match, words)


def other_end(match: re.Match[str]) -> frozenset[str]:
    """The second date of a match that names two days of one month: "3 to 14 August"."""
    start, end = match["dfrom"], match["mto"]
    if start:
        day = int(start) if start.isdigit() else NTH[start]
        return _date(match["dy"], MONTHS[match["dmo"]], day) or frozenset()
    return (_date(match["my"], MONTHS[match["mmo"]], int(end)) if end else None) or frozenset()


def _iso(match: re.Match[str], _: SplitText) -> Times:
    return _date(match["iy"], int(match["im"]), int(match["id"]))


def _slashed(match: re.Match[str], _: SplitText) -> Times:
    first, second = int(match["sa"]), int(match["sb"])
    year = match["sy"] if len(match["sy"]) == 4 else "20" + match["sy"]
    options = {_date(year, month, day) for month, day in ((first, second), (second, first))}
    found = frozenset[str]().union(*(option for option in options if option is not None))
    return found or None


def _day_month(match: re.Match[str], _: SplitText) -> Times:
    return _date(match["dy"], MONTHS[match["dmo"]], int(match["dd"] or NTH[match["dn"]]))


def _month_day(match: re.Match[str], _: SplitText) -> Times:
    return _date(match["my"], MONTHS[match["mmo"]], int(match["mdd"]))


def _month_year(match: re.Match[str], _: SplitText) -> Times:
    return frozenset((f"date {match['xy']}-{MONTHS[match['xmo']]}-?",))


def _quarter(number: str | int, year: str | None) -> Times:
    return frozenset((f"quarter {number} {year or ''}".strip(),))


def _fiscal(match: re.Match[str], _: SplitText) -> Times:
    return frozenset((f"year {match['fy'] if len(match['fy']) == 4 else '20' + match['fy']}",))


def _decade(match: re.Match[str], words: SplitText) -> Times:
    if words.lower[max(0, match.start() - 6) : match.start() - 1].split()[-1:] in (["under"], ["over"]):
        return None  # "under-20s" are people
    return frozenset((f"decade {match['dec'][-2:] if match['dec'].startswith('19') else match['dec']}",))


def _span(match: re.Match[str], _: SplitText) -> Times:
    return _quarter(next(number for number in "1234" if match[f"s{number}"]), match["sy4"])


def _daypart(match: re.Match[str], _: SplitText) -> Times:
    hour = _hour(match["dh"])
    if not 1 <= hour <= 12 or (hour <= _PILLS and not match["dat"]):
        return None
    late = match["dpart"] != "morning" if match["dpart"] else _SMALL_HOURS < hour < 12
    return frozenset((_clock(hour, int(match["dmin"] or 0), late=late),))


def _past(match: re.Match[str], _: SplitText) -> Times:
    hour = _hour(match["ph"])
    if not 1 <= hour <= 12:
        return None
    minute = 30 if match["pq"] == "half" else 15 if match["pside"] == "past" else 45
    hour -= match["pside"] == "to"
    part = match["pm"] or match["ppart"] or match["ppartn"]
    if part is None:
        return _either(hour, minute)
    return frozenset((_clock(hour, minute, late=part not in ("a", "morning")),))


def _twelve_hours(match: re.Match[str], _: SplitText) -> Times:
    hour = int(match["h"])
    if not 1 <= hour <= 12:
        return None
    return frozenset((_clock(hour, int(match["m"] or 0), late=match["half"] == "p"),))


def _day_hours(match: re.Match[str], _: SplitText) -> Times:
    return frozenset((f"time {int(match['h24'])}:{match['m24']}",))


def _at(match: re.Match[str], words: SplitText) -> Times:
    hour = _hour(match["ah"])
    if not (1 <= hour <= 12) or words.bag.isdisjoint(_DATED | _OF_HOURS):
        return None
    return _either(hour)


def _oclock(match: re.Match[str], _: SplitText) -> Times:
    hour = _hour(match["oh"])
    return _either(hour) if hour <= 12 else None


def _year(match: re.Match[str], words: SplitText) -> Times:
    start = match.start()
    if _NOT_YEAR_BEFORE.search(words.lower[max(0, start - NEAR) : start]):
        return None
    if _NOT_YEAR_AFTER.match(words.lower, match.end()):
        return None
    return frozenset((f"year {match['y']}",))


def _shift(match: re.Match[str], _: SplitText) -> Times:
    which, period = match["which"], match["period"]
    if period in ("time", "second", "minute"):
        return None
    if which == "this":
        return _this(period)
    if period == "day" and SHIFT.get(which) == "last":
        return frozenset(("yesterday",)) if which == "previous" else None  # "my last day" has no date
    return frozenset((f"{match['other'] or ''} {SHIFT[which]} {period}".strip(),))


def _this(period: str) -> Times:
    if period in ("day", "hour"):
        return None
    if period in MONTHS:
        return frozenset((f"month {MONTHS[period]}",))
    if period in DAYS:
        return frozenset((f"weekday {DAYS[period]}",))
    if period in ("week", "month", "year"):
        return frozenset(("",))
    return frozenset(("tonight" if period in ("evening", "night") else f"this {period}",))


def _point(match: re.Match[str], _: SplitText) -> Times:
    point = POINTS[match["p"]]
    if match["beyond"]:
        return frozenset((f"{match['beyond']} {point}",))
    if point == "today":
        return frozenset(("",))
    return frozenset((f"time {point}" if ":" in point else point,))


def _ago(match: re.Match[str], words: SplitText) -> Times:
    period = _A_PERIOD.search(words.lower, max(0, match.start() - NEAR), match.start())
    if period is None:
        return frozenset(("ago",))
    return frozenset(("ago", "yesterday" if period[1] == "day" else f"last {period[1]}"))


def _named(match: re.Match[str], words: SplitText) -> Times:
    """A month or weekday that stands alone; ambiguous words count only after a preposition, or capitalised inside."""
    word, start = match["w"], match.start()
    if word in _NOT_ALONE or word in ("sat", "sun"):
        before = words.lower[max(0, start - NEAR) : start].split()
        capital = words.raw[start : start + 1].isupper() and bool(before) and not words.raw.isupper()
        after_preposition = bool(before) and before[-1] in _BEFORE_NAME and (word, before[-1]) != ("wed", "to")
        if word in DAYS and _TIMED.match(words.lower, start + len(word)):
            return frozenset((f"weekday {DAYS[word]}",))
        asks = word == "may" and not capital and bool(before) and before[-1] in _ASKING
        if word in ("march", "may") and not asks and _OF_A_MONTH.match(words.lower, match.end("w")):
            return frozenset((f"month {MONTHS[word]}",))
        if word == "may" and capital and before and _is_amid(words.raw[:start]):
            return frozenset((f"month {MONTHS[word]}",))
        if word in ("march", "may") and before and before[-1] in _OF_MONTHS:
            return None if _MODAL.match(words.lower, match.end("w")) else frozenset((f"month {MONTHS[word]}",))
        if not (capital and after_preposition) and not (after_preposition and word not in ("march", "mar", "may")):
            return None
    if word in MONTHS:
        return frozenset((f"month {MONTHS[word]}",))
    return frozenset((f"weekday {DAYS[word]}",))


def _is_amid(before: str) -> bool:
    """Return True behind a word in lower case of the same sentence: "the May weather", not "Theresa May"."""
    last = before.rsplit(maxsplit=1)[-1]
    return last.islower() and last[-1].isalnum()


def _date(year: str | None, month: int, day: int) -> Times:
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


_READERS: Mapping[str, _Reader] = {
    "iso": _iso,
    "slash": _slashed,
    "dm": _day_month,
    "md": _month_day,
    "mony": _month_year,
    "ym": lambda match, _: _quarter(match["yqn"], match["yq"]),
    "quarter": lambda match, _: _quarter(match["qn"], match["qy"]),
    "wquarter": lambda match, _: _quarter(ORDINAL[match["qo"]], match["qoy"]),
    "fiscal": _fiscal,
    "decade": _decade,
    "span": _span,
    "daypart": _daypart,
    "past": _past,
    "clock": _twelve_hours,
    "clock24": _day_hours,
    "at": _at,
    "oclock": _oclock,
    "year": _year,
    "shift": _shift,
    "point": _point,
    "ago": _ago,
    "word": _named,
}
