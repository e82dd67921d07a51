"""How times are written: months, weekdays, periods, days by their number, and the one pattern that finds them all.

Data alone. Invariant: every alternative of the pattern begins with a digit or with a word that its look ahead knows.
"""

from __future__ import annotations

import re

from semcache.config import calendar_names
from semcache.matching.guards.units import DIGITS, ORDINALS
from semcache.request.text import heads
from semcache.runtime.late_pattern import late

MONTHS = {name: number for number, name in enumerate(calendar_names.MONTHS, start=1)}
MONTHS |= {short: MONTHS[name] for short, name in calendar_names.SHORT_MONTHS.items()}
_MONTH = "|".join(sorted(MONTHS, key=len, reverse=True))
DAYS = {name: number for number, name in enumerate(calendar_names.WEEKDAYS)}
DAYS |= {short: DAYS[name] for short, name in calendar_names.SHORT_WEEKDAYS.items() if short not in ("sat", "sun")}
DAYS |= {f"{name}s": number for name, number in DAYS.items()}
ORDINAL = {"first": 1, "second": 2, "third": 3, "fourth": 4, "last": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
PERIODS = (
    "second|minute|hour|day|week|weekend|month|quarter|year|decade|century|season|summer|winter|spring|autumn|fall"
)
PERIODS += "|night|evening|morning|afternoon|time|" + "|".join(day for day in DAYS if len(day) > 5) + "|" + _MONTH
SHIFT = {"last": "last", "previous": "last", "past": "last", "next": "next", "coming": "next", "upcoming": "next"}
POINTS = {
    "today": "today",
    "tonight": "tonight",
    "yesterday": "yesterday",
    "tomorrow": "tomorrow",
    "tmrw": "tomorrow",
    "noon": "12:00",
    "midday": "12:00",
    "midnight": "0:00",
}


# How each alternative below begins, save those that begin with a digit.
_FIRST = (
    *ORDINALS,
    *MONTHS,
    *DAYS,
    *POINTS,
    *ORDINAL,
    *SHIFT,
    "this",
    "other",
    "before",
    "after",
    "day",
    "ago",
    "at",
    "fy",
    "q",
    "half",
    "quarter",
    *("until", "till", "til", "to", "from", "by", "since", "around", "about"),
    *DIGITS,
)
HOUR = {word: value for word, value in DIGITS.items() if 1 <= value <= 12}
PARTS_OF_DAY = frozenset(("morning", "afternoon", "evening", "night"))
_HOURS = "|".join(HOUR)
_PART_OF_DAY = r"(?:in\s+the\s+(?:early\s+|late\s+)?(?P<{0}>morning|afternoon|evening)|at\s+(?P<{0}n>night))"
# The months of each quarter, as a range is written.
_RANGE = r"(?:\s?[-\u2013]\s?|\s(?:to|through|until|till)\s)"
_QUARTERS = (
    rf"(?P<s1>jan(?:uary)?{_RANGE}mar(?:ch)?)|(?P<s2>apr(?:il)?{_RANGE}june?)"
    rf"|(?P<s3>july?{_RANGE}sept?(?:ember)?)|(?P<s4>oct(?:ober)?{_RANGE}dec(?:ember)?)"
)
_YEAR = r"(?:1[5-9]\d\d|20\d\d)"
_TH = r"(?:st|nd|rd|th)?"
_ONES = {word: value for word, value in ORDINALS.items() if value < 10}
NTH = {word: value for word, value in ORDINALS.items() if value <= 31}
NTH |= {f"twenty-{word}": 20 + value for word, value in _ONES.items()} | {"thirty-first": 31}
_NTHS = "|".join(sorted(NTH, key=len, reverse=True))
_THROUGH = r"\s?(?:-|\u2013|to|until|till|through|and)\s?(?:the\s)?"
_COUNTED = "days?|nights?|weeks?|months?|people|guests|hours?"
PATTERN = late(
    rf"""
    (?<![\w.])(?=\d|{heads(_FIRST)})(?:
      (?P<iso>(?P<iy>\d{{4}})[-/.](?P<im>\d{{1,2}})[-/.](?P<id>\d{{1,2}}))(?![\d])
    | (?P<slash>(?P<sa>\d{{1,2}})[/.-](?P<sb>\d{{1,2}})[/.-](?P<sy>\d{{4}}|\d\d))(?![\d.])
    | (?P<dm>(?:(?P<dfrom>\d{{1,2}}|{_NTHS}){_TH}{_THROUGH})?
        (?:(?P<dd>\d{{1,2}}){_TH}[\s-]+(?:of\s+)?|(?P<dn>{_NTHS})\s+of\s+)
        (?P<dmo>{_MONTH})\b\.?(?:\s?,?[\s-]+(?P<dy>{_YEAR})\b)?)
    | (?P<md>(?P<mmo>{_MONTH})\b\.?[\s-]+(?:the\s+)?(?P<mdd>\d{{1,2}}){_TH}\b(?!:\d)
        (?:{_THROUGH}(?P<mto>\d{{1,2}}){_TH}\b(?!\s?[:.]?\d|\s?[ap]\.?m\b|[\s-]+(?:{_MONTH}|{_COUNTED})\b))?
        (?:\s?,?\s+(?P<my>{_YEAR})\b)?)
    | (?P<span>(?:{_QUARTERS})\b(?:\s+(?:of\s+)?(?P<sy4>{_YEAR})\b)?(?!\s+\d))
    | (?P<mony>(?P<xmo>{_MONTH})\b\.?,?[\s-]+(?:of\s+)?(?P<xy>{_YEAR})\b)
    | (?P<ym>(?P<yq>{_YEAR})[\s-]?q(?P<yqn>[1-4])\b)
    | (?P<quarter>q(?P<qn>[1-4])(?:[\s-]+(?:of\s+)?(?P<qy>{_YEAR}))?\b)
    | (?P<wquarter>(?P<qo>first|second|third|fourth|last|1st|2nd|3rd|4th)\s+quarter(?:\s+(?:of\s+)?(?P<qoy>{_YEAR}))?\b)
    | (?P<fiscal>fy\s?(?P<fy>{_YEAR}|\d\d))\b
    | (?P<decade>(?P<dec>(?:1[5-9]|20)?\d0)'?s)\b
    | (?P<daypart>(?:(?P<dat>at|until|till|til|to|from|by|before|after|since|around|about)\s+)?
        (?P<dh>\d{{1,2}}|{_HOURS})(?:[:.](?P<dmin>[0-5]\d))?(?:\s+o'?clock)?\s+{_PART_OF_DAY.format("dpart")})\b
    | (?P<past>(?P<pq>half|quarter)\s+(?P<pside>past|to)\s+(?P<ph>\d{{1,2}}|{_HOURS})\b
        (?:\s?(?P<pm>[ap])\.?m\b|\s+{_PART_OF_DAY.format("ppart")}\b)?)
    | (?P<clock>(?P<h>\d{{1,2}})(?:[:.](?P<m>[0-5]\d))?\s?(?P<half>[ap])\.?m\b\.?)
    | (?P<clock24>(?P<h24>[01]?\d|2[0-3]):(?P<m24>[0-5]\d))(?![\d:])
    | (?P<at>at\s+(?P<ah>\d{{1,2}}|{_HOURS})(?=\s*(?:$|[,;?!]|\.(?!\d))
        |\s+(?:on|today|tonight|tomorrow|in\s+the|is|was|for|sharp|instead|rather|already)\b))
    | (?P<oclock>(?P<oh>\d{{1,2}}|(?:{_HOURS})(?=\s))\s?o'?clock)\b
    | (?P<year>(?P<y>{_YEAR}))(?![\w%°$€£]|[.,]\d|-\d)
    | (?P<shift>(?:(?P<other>other|before|after)\s+)?(?P<which>last|previous|past|next|coming|upcoming|this)\s+
        (?P<period>{PERIODS})\b)
    | (?P<point>(?:day\s+(?P<beyond>before|after)\s+)?(?P<p>today|tonight|yesterday|tomorrow|tmrw|noon|midday
      |midnight)\b)
    | (?P<ago>ago\b)
    | (?P<word>(?P<w>{"|".join(sorted({*MONTHS, *DAYS}, key=len, reverse=True))})\b)
    )
    """,
    re.VERBOSE,
)
