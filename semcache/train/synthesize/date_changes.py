"""Edits to other dates, days and times, and times relative to now.

Knows how they are written. Invariant: the new time differs from the old one in every writing.
"""

from __future__ import annotations

import random
import re

from semcache.config import calendar_names
from semcache.train.synthesize.edit_rule import changing_rules
from semcache.train.synthesize.prose_edits import Lexicon, cased, pick, within

YEAR = re.compile(r"(?<![\w.,:/$£€#-])(?:1[5-9]|20)\d\d(?![\w:/%]|[.,-]\d)")
MONTHS = tuple(map(str.title, calendar_names.MONTHS))
_SHORT = [month[:3] for month in MONTHS if month != "May"]
_MONTH = re.compile(
    rf"\b(?:{'|'.join(month for month in MONTHS if month not in ('May', 'March'))}|(?<=in )(?:May|March)|(?:May"
    rf"|March)(?= \d))\b",
    re.IGNORECASE,
)
_SHORT_MONTH = re.compile(rf"\b(?:{'|'.join(month for month in _SHORT if month != 'Mar')})\b(?= \d)")
_DAYS = [*map(str.title, calendar_names.WEEKDAYS)]
_DAY = re.compile(rf"\b(?:{'|'.join(_DAYS)})(?P<plural>s?)\b", re.IGNORECASE)
_CLOCK = re.compile(
    r"(?<![\w:.])(?P<hour>1[0-2]|[1-9])(?P<rest>(?::[0-5]\d)? ?)(?P<half>[ap])(?P<m>\.?m)\b", re.IGNORECASE
)
_CLOCK24 = re.compile(
    r"(?<![\w:.])(?P<hour>[01]?\d"
    r"|2[0-3]):(?P<minute>[0-5]\d)(?![\w:])(?! ?[ap]\.?m)",
    re.IGNORECASE,
)
_WHEN = """
today: tomorrow, yesterday
tomorrow: today, the day after tomorrow, yesterday
yesterday: today, last week, two weeks ago
tonight: tomorrow night, last night
this morning: yesterday morning, tomorrow morning
this week: next week, last week
next week: this week, last week, next month
last week: this week, last month
this weekend: next weekend, last weekend
next weekend: this weekend
last weekend: next weekend
this month: next month, last month
next month: this month, last month
last month: this month, last year, next month
this year: last year, next year
next year: this year, last year
last year: this year, next year, two years ago
last night: tonight, the night before last
in the morning: in the evening, in the afternoon
in the evening: in the morning
at night: during the day
during the day: at night
in winter: in summer
in summer: in winter
in the past: in the future
nowadays: a hundred years ago
a week ago: a month ago, a year ago
a month ago: a week ago, a year ago
in the 19th century: in the 20th century, in the 18th century
in the 20th century: in the 19th century
on weekends: on weekdays
on weekdays: on weekends
every day: every week, every month
every week: every day, every month
every month: every week, every year
every year: every month
"""


def _year(text: str, rng: random.Random) -> str | None:
    match = pick(YEAR, text, rng)
    if match is None:
        return None
    year = int(match[0]) + rng.choice((-10, -5, -3, -2, -1, 1, 2, 3, 10))
    return within(text, match, 0, str(year))


def _month(text: str, rng: random.Random) -> str | None:
    match = pick(_MONTH, text, rng)
    if match is not None:
        return within(
            text, match, 0, cased(rng.choice([one for one in MONTHS if one.lower() != match[0].lower()]), "A")
        )
    match = pick(_SHORT_MONTH, text, rng)
    return None if match is None else within(text, match, 0, rng.choice([one for one in _SHORT if one != match[0]]))


def _day(text: str, rng: random.Random) -> str | None:
    match = pick(_DAY, text, rng)
    if match is None:
        return None
    old = match[0][: -1 if match["plural"] else None]
    new = rng.choice([day for day in _DAYS if day.lower() != old.lower()])
    return within(text, match, 0, (new if match[0][0].isupper() else new.lower()) + match["plural"])


def _clock(text: str, rng: random.Random) -> str | None:
    match = pick(_CLOCK, text, rng)
    if match is not None:
        if rng.random() < 0.4:
            return within(text, match, "half", {"a": "p", "p": "a", "A": "P", "P": "A"}[match["half"]])
        hour = rng.choice([one for one in range(1, 13) if one != int(match["hour"])])
        return within(text, match, "hour", str(hour))
    match = pick(_CLOCK24, text, rng)
    if match is None:
        return None
    hour = rng.choice([one for one in range(1, 24) if one != int(match["hour"])])
    return within(text, match, "hour", f"{hour:0{len(match['hour'])}}")


def _when() -> dict[str, list[str]]:
    pairs = (line.partition(":") for line in filter(None, map(str.strip, _WHEN.splitlines())))
    return {one: [other.strip() for other in others.split(",")] for one, _, others in pairs}


RULES = (
    *changing_rules(
        date_month=_month,
        date_weekday=_day,
        time_relative=Lexicon(_when()),
    ),
    *changing_rules(
        digits=True,
        date_year=_year,
        time_clock=_clock,
    ),
)
