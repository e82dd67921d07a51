"""Dates and times of day in one writing: "4th of July, 2020" and "July 4 2020", "5 p.m.", "5:00 PM" and "17:00".

Invariant: day, month, year, hour and minute never change; "7/4/2020" and an hour without a half of the day stay.
"""

from __future__ import annotations

import re

from semcache.config.calendar_names import MONTHS, SHORT_MONTHS
from semcache.request.text import vocabulary
from semcache.request.wording.cues import folded, has_digit, holds

_MONTH = rf"({'|'.join(sorted((*MONTHS, *SHORT_MONTHS), key=len, reverse=True))})"
_DAY_WORDS = {
    word: str(number)
    for number, word in enumerate(
        (
            "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
            "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
            "twentieth", "twenty-first", "twenty-second", "twenty-third", "twenty-fourth", "twenty-fifth",
            "twenty-sixth", "twenty-seventh", "twenty-eighth", "twenty-ninth", "thirtieth", "thirty-first",
        ),
        1,
    )
}  # fmt: skip
_DAY = rf"(\d{{1,2}}|{'|'.join(sorted(_DAY_WORDS, key=len, reverse=True))})(?:st|nd|rd|th)?"
_YEAR = r"(?:,? (?:of )?(\d{4}))?(?![\w:/-]|,\d|\.\d)"
_DAY_FIRST = re.compile(rf"(?<![\w/.:-])(?:the )?{_DAY}(?: day)?(?: of)? {_MONTH}\b\.?{_YEAR}", re.I)
_MONTH_FIRST = re.compile(rf"(?<![\w/.:-]){_MONTH}\.? (?:the )?{_DAY}{_YEAR}", re.I)
_ISO = re.compile(r"(\d(?<![\w/.:-]\d)\d{3})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(?![\w/.:-]\w)")
_CLOCK = re.compile(
    r"(\d(?<![\w/.:,-]\d)(?:(?<=0)\d|(?<=1)[0-2]|))(?:[:.]([0-5]\d))? ?([ap])\.? ?m\b\.?(?![\w'])", re.I
)
_PART = re.compile(
    r"(\d(?<![\w/.:,-]\d)(?:|(?<=1)[0-2]))(?:[:.]([0-5]\d))?(?: o'clock)? (?:in the (morning|afternoon|evening)|at "
    r"(night))(?![\w'-])",
    re.I,
)
_TWENTY_FOUR = re.compile(
    r"([12](?<![\w/.:,-][12])(?:(?<=1)[3-9]|(?<=2)[0-3]))[:h]([0-5]\d)(?: ?(?:h|hrs|hours|o'clock))?"
    r"(?![\w:.'/-]\w|[\w:])"
)
# Behind these an hour is one without the word, too; "what comes after 12" asks for a number.
_STRUCK = re.compile(
    r"\b(at|by|until|till) (1[0-2]|[1-9]) o'?clock\b(?! (?:in|at|position|direction)\b)",
    re.I,
)
# "John 13:34" and "20:15" may be a verse, a ratio or a place in a video. These tell of a clock, ...
_OF_A_DAY = vocabulary("""
    time times clock o'clock am pm today tomorrow tonight morning afternoon evening noon midnight monday tuesday
    wednesday thursday friday saturday sunday meeting meetings flight flights train trains bus ferry alarm
    appointment shift shifts schedule cron opens closes open close depart departs departure arrive arrives arrival
    starts start ends end daily utc gmt cet cest est edt pst pdt cst ist hour hours format timezone breakfast lunch
    dinner
""")
_NO_CLOCK = vocabulary("""
    ratio ratios odds scale verse verses bible gospel psalm psalms chapter quran surah video videos clip recording
    timestamp timestamps youtube podcast movie film song
""")
# ... and so does a word before it.
_SET = re.compile(r"\b(?:at|by|until|till|from|to|before|after|between|and|around|@)\s?$", re.IGNORECASE)
_NOON = re.compile(r"(?<![\w/.:-])12(?::00)? (?:(noon)|(midnight))\b|(?<![\w/.:-])12 ([ap])m\b", re.I)
_TWELVES = ("12 noon", "12 midnight", "12:00 noon", "12:00 midnight", "12 am", "12 pm")
_DECADE = re.compile(r"\bthe (?:'|early |late |mid[- ])?(thirt|fort|fift|sixt|sevent|eight|ninet)ies\b", re.I)
_SHORT_DECADE = re.compile(r"\b(the (?:early |late |mid[- ])?)('?)([3-9])0'?s\b", re.I)
# What else than a decade is "in the 60s" tells no age of its own: only with one of these is it the 1960s.
_OF_AN_ERA = vocabulary("""
    was were did had became began happened used music song songs hit hits album albums band bands artist artists
    singer singers rock disco pop punk jazz rap dance car cars war wars fashion hairstyle hairstyles style styles
    film films movie movies cinema tv television show shows sitcom sitcoms cartoon cartoons art artwork culture
    counterculture economy politics history historical famous popular invented inventions slang toy toys design
    architecture furniture decade decades era eras back society women civil movement protests events playlist
    soundtrack vintage retro theme themed celebrities actors actresses actor actress models computers consoles
    arcade
""")
_TENS = {"thirt": 3, "fort": 4, "fift": 5, "sixt": 6, "sevent": 7, "eight": 8, "ninet": 9}
_TENS_IN_WORDS = tuple([f"{tens}ies" for tens in _TENS])
_HOURS = tuple([f"{digit}h" for digit in "0123456789"])
_ZEROES = ("0s", "0's")
# What is said to be "in the 90s" or "in the nineties" of these is a figure.
_WARMTH = vocabulary("""
    temperature temperatures temp temps degrees highs lows heat hot percentile percent percentage iq score scores grade
    grades pulse bpm heart blood sugar oxygen spo2 saturation humidity speed speeds mph wind winds age ages aged fever
    range
    """)
# "5 june holidays" counts them.
_COUNTED = re.compile(r" (?!is\b|was\b|has\b|does\b|this\b|as\b)[a-z]+s(?!\w)", re.I)
_DAY_CUES = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth", "teenth", "twentieth", "thirtieth",
)  # fmt: skip
CUES = frozenset([*MONTHS, *SHORT_MONTHS, *(f"{tens}ies" for tens in _TENS)])


def dated(text: str, bag: frozenset[str]) -> str:
    """The text with dates as month, day and year, and times of day by its half; `bag` holds its words."""
    lower = folded(text)
    digits = has_digit(text)
    if not bag.isdisjoint(CUES) and (digits or holds(lower, _DAY_CUES)):
        text = _DAY_FIRST.sub(_day_first, text)
        text = _MONTH_FIRST.sub(_month_first, text)
        lower = folded(text)
    if "-" in text:
        text = _ISO.sub(lambda match: f"{MONTHS[int(match[2]) - 1]} {int(match[3])} {match[1]}", text)
    if digits and "m" in lower:
        text = _CLOCK.sub(_clock, text)
    if digits and ("in the " in lower or "at night" in lower):
        text = _PART.sub(_part_of_day, text)
    if digits and "clock" in lower:
        text = _STRUCK.sub(r"\1 \2", text)
    if digits and (":" in text or holds(lower, _HOURS)):
        told = not bag.isdisjoint(_OF_A_DAY)
        if bag.isdisjoint(_NO_CLOCK):
            text = _TWENTY_FOUR.sub(lambda match: _by_its_half(match, told), text)
    if "12" in text and holds(lower, _TWELVES):
        text = _NOON.sub(_noon, text)
    if holds(lower, _TENS_IN_WORDS) and bag.isdisjoint(_WARMTH):
        text = _DECADE.sub(lambda match: match[0].replace(match[1] + "ies", f"19{_TENS[folded(match[1])]}0s"), text)
    if "0" in text and "the" in bag and bag.isdisjoint(_WARMTH) and holds(lower, _ZEROES):
        told = not bag.isdisjoint(_OF_AN_ERA)
        text = _SHORT_DECADE.sub(lambda match: f"{match[1]}19{match[3]}0s" if told or match[2] else match[0], text)
    return text


def _day_first(match: re.Match[str]) -> str:
    bare = match[0][:1].isdigit() and match[0].lower() == f"{match[1]} {match[2]}".lower()
    if bare and _COUNTED.match(match.string, match.end()):
        return match[0]
    return _day(match, match[1], match[2], match[3])


def _month_first(match: re.Match[str]) -> str:
    return _day(match, match[2], match[1], match[3])


def _day(match: re.Match[str], day: str, month: str, year: str | None) -> str:
    number = _DAY_WORDS.get(folded(day), day).lstrip("0")
    # "may second" and "march first" may be no dates, a number behind "may" may be none.
    if (
        not number
        or int(number) > 31
        or (month.lower() in ("may", "march", "mar") and not (match[0][-1:].isdigit() or day[0].isdigit()))
    ):
        return match[0]
    name = SHORT_MONTHS.get(month.lower(), month.lower())
    return f"{name} {number}{f' {year}' if year else ''}"


def _hour(hour: int, minutes: str | None, half: str) -> str:
    if hour == 12 and minutes in (None, "00"):
        return "noon" if half == "p" else "midnight"
    return f"{hour}{'' if minutes in (None, '00') else f':{minutes}'} {half}m"


def _by_its_half(match: re.Match[str], told: bool) -> str:
    """A time of the second half of the day by that half, where something tells that it is one."""
    if not told and match[0][-1].isdigit() and "h" not in match[0]:
        told = _SET.search(match.string, max(0, match.start() - 9), match.start()) is not None
    elif not told:
        told = True
    return _hour(int(match[1]) - 12, match[2], "p") if told else match[0]


def _clock(match: re.Match[str]) -> str:
    hour = int(match[1])
    return match[0] if not hour else _hour(hour, match[2], match[3].lower())


def _part_of_day(match: re.Match[str]) -> str:
    hour, half = int(match[1]), "a" if (match[3] or "").lower() == "morning" else "p"
    if match[4] and hour < 6:
        half = "a"
    return match[0] if not hour or hour == 12 else _hour(hour, match[2], half)


def _noon(match: re.Match[str]) -> str:
    return "noon" if match[1] or (match[3] or "").lower() == "p" else "midnight"
