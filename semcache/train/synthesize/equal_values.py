"""Equal quantities, times and dates in other writings: "3" and "three", "2 hours" and "120 minutes", "5pm" and "17:00".

Knows exact conversions only. Invariant: what is converted is equal to the last digit; a number that may be a name, a
version or an identifier is left alone.
"""

from __future__ import annotations

import random
import re
from fractions import Fraction

from semcache.matching.guards.units import DIGITS
from semcache.train.synthesize.date_changes import MONTHS
from semcache.train.synthesize.edit_rule import keeping_rules
from semcache.train.synthesize.prose_edits import cased, pick, plain, within

_SPELT = {value: word for word, value in DIGITS.items() if value > 1}
_COUNTED = (
    "day days week weeks month months year years hour hours minute minutes people person persons times kids children"
    " items numbers words letters sentences paragraphs steps ways tips reasons examples questions books cards"
    " accounts"
    " guests tickets nights stars cups eggs lists elements strings tuples sides dice cars dogs cats friends players"
    " things points ideas facts pages colors colours types kinds parts categories"
)
_DIGIT = re.compile(rf"(?<![\w.,$£€#/:-])(\d{{1,2}})(?= (?:{'|'.join(_COUNTED.split())})\b)")
_WORD = re.compile(
    rf"\b({'|'.join(word for word in DIGITS if DIGITS[word] > 1)})(?= (?:{'|'.join(_COUNTED.split())})\b)",
    re.IGNORECASE,
)
# From a unit to another: how many of it one is. Singular and plural of each.
_EQUAL: dict[str, tuple[tuple[str, Fraction], ...]] = {
    "minute": (("second", Fraction(60)),),
    "hour": (("minute", Fraction(60)),),
    "day": (("hour", Fraction(24)),),
    "week": (("day", Fraction(7)),),
    "year": (("month", Fraction(12)),),
    "month": (("year", Fraction(1, 12)),),
    "km": (("m", Fraction(1000)), ("kilometres", Fraction(1))),
    "kilometer": (("meter", Fraction(1000)),),
    "kilometre": (("metre", Fraction(1000)),),
    "meter": (("centimeter", Fraction(100)),),
    "metre": (("centimetre", Fraction(100)),),
    "cm": (("mm", Fraction(10)),),
    "m": (("cm", Fraction(100)),),
    "kg": (("g", Fraction(1000)), ("kilograms", Fraction(1))),
    "kilogram": (("gram", Fraction(1000)),),
    "g": (("mg", Fraction(1000)),),
    "gram": (("milligram", Fraction(1000)),),
    "mg": (("milligrams", Fraction(1)),),
    "liter": (("milliliter", Fraction(1000)),),
    "litre": (("millilitre", Fraction(1000)),),
    "ml": (("millilitres", Fraction(1)),),
    "gb": (("MB", Fraction(1000)),),
    "tb": (("GB", Fraction(1000)),),
    "foot": (("inch", Fraction(12)),),
    "dozen": (("", Fraction(12)),),
    "percent": (("%", Fraction(1)),),
    "minutes": (("hour", Fraction(1, 60)),),
}  # fmt: skip
_PLURALS = {"feet": "foot", "inches": "inch"}
_QUANTITY = re.compile(
    r"(?<![\w.,$£€#/:^*+=-])(?P<number>\d{1,4}(?:\.\d)?) ?(?P<unit>minutes?|hours?|days?|weeks?|years?|months?|km"
    r"|kilomet(?:er|re)s?"
    r"|met(?:er|re)s?|cm|kg|kilograms?|grams?|mg|lit(?:er|re)s?|ml|gb|tb|feet|foot|percent)\b(?![ -](?:old|per"
    r"|squared|cubed|in [A-Z]))",
    re.IGNORECASE,
)
_MONEY = re.compile(
    r"(?P<sign>[$£€])(?P<number>\d{1,6}(?:,\d{3})*)(?![\d.,kKmM%])(?! ?(?:million|billion|thousand|[kmb]\b))"
)
_CURRENCY = {"$": ("dollars", "USD"), "£": ("pounds", "GBP"), "€": ("euros", "EUR")}
_PERCENT = re.compile(r"(?<=\d)%(?!\w)")
_THOUSANDS = re.compile(r"(?<![\w.,/:-])(\d{1,3}),?(000)(?![\d,.])(?! ?(?:bc|ad)\b)")
_CLOCK = re.compile(
    r"(?<![\w:.])(?P<hour>1[0-2]|[1-9])(?::(?P<minute>[0-5]\d))? ?(?P<half>[ap])\.?m\b\.?", re.IGNORECASE
)
_SHORT_MONTHS = {month[:3]: month for month in MONTHS if month != "May"}
_SHORT_DAYS = {"Mon": "Monday", "Tue": "Tuesday", "Wed": "Wednesday", "Thu": "Thursday", "Fri": "Friday"}
_LONG = {long.lower(): short for short, long in (_SHORT_MONTHS | _SHORT_DAYS).items() if long != "March"}
_MONTH = re.compile(rf"\b({'|'.join(_LONG)})\b(?= \d|,|\?|\.|$)", re.IGNORECASE)
_SHORT = re.compile(r"\b(Jan|Feb|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Tue|Thu|Fri)\b\.?(?= \d)")
_DAY = re.compile(
    rf"\b(?P<month>{'|'.join(MONTHS)}) (?P<day>[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?(?![\d.])(?P<year>,? \d{{4}})?\b",
    re.IGNORECASE,
)
_YAD = re.compile(
    rf"\b(?P<day>[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?(?: of)? (?P<month>{'|'.join(MONTHS)})\b", re.IGNORECASE
)


def _digits(text: str, rng: random.Random) -> str | None:
    match = pick(_WORD, text, rng)
    return None if match is None else within(text, match, 0, str(DIGITS[match[1].lower()]))


def _spelt(text: str, rng: random.Random) -> str | None:
    match = pick(_DIGIT, text, rng)
    word = None if match is None else _SPELT.get(int(match[1]))
    return None if match is None or word is None else within(text, match, 0, word)


def _converted(text: str, rng: random.Random) -> str | None:
    match = pick(_QUANTITY, text, rng)
    if match is None:
        return None
    unit = match["unit"].lower()
    unit = _PLURALS.get(unit, unit[:-1] if unit.endswith("s") and len(unit) > 2 else unit)
    choices = _EQUAL.get(unit)
    if not choices:
        return None
    other, factor = rng.choice(choices)
    value = Fraction(match["number"]) * factor
    if value.denominator != 1 or value > 20000:
        return None
    if other.isalpha() and other.islower() and len(other) > 2 and not other.endswith("s") and value != 1:
        other = "inches" if other == "inch" else other + "s"
    space = "" if other == "%" else " "
    return within(text, match, 0, f"{value}{space}{other}")


def _money(text: str, rng: random.Random) -> str | None:
    match = pick(_MONEY, text, rng)
    if match is None:
        return None
    word, code = _CURRENCY[match["sign"]]
    return within(text, match, 0, f"{match['number']} {rng.choice((word, code))}")


def _percent(text: str, rng: random.Random) -> str | None:
    match = pick(_PERCENT, text, rng)
    return None if match is None else within(text, match, 0, rng.choice((" percent", " per cent", " %")))


def _grouped(text: str, rng: random.Random) -> str | None:
    """Exchange "3,000", "3000" and "3 thousand"."""
    match = pick(_THOUSANDS, text, rng)
    if match is None or not plain(text):
        return None
    others = {f"{match[1]},000", f"{match[1]}000", f"{match[1]} thousand"} - {match[0]}
    return within(text, match, 0, rng.choice(sorted(others)))


def _clock(text: str, rng: random.Random) -> str | None:
    match = pick(_CLOCK, text, rng)
    if match is None:
        return None
    hour = int(match["hour"]) % 12 + 12 * (match["half"].lower() == "p")
    minute = match["minute"] or "00"
    small = f"{match['half'].lower()}m"
    twelve = (
        f"{match['hour']}:{minute} {small}" if match["minute"] is None else f"{match['hour']}:{minute}{small.upper()}"
    )
    return within(text, match, 0, rng.choice((f"{hour:02}:{minute}", twelve)))


def _shortened(text: str, rng: random.Random) -> str | None:
    match = pick(_MONTH, text, rng)
    return None if match is None else within(text, match, 0, cased(_LONG[match[1].lower()], match[1]))


def _lengthened(text: str, rng: random.Random) -> str | None:
    match = pick(_SHORT, text, rng)
    return None if match is None else within(text, match, 0, (_SHORT_MONTHS | _SHORT_DAYS)[match[1]])


def _day_first(text: str, rng: random.Random) -> str | None:
    match = pick(_DAY, text, rng)
    if match is None:
        return None
    return within(text, match, 0, f"{match['day']} {match['month']}{(match['year'] or '').replace(',', '')}")


def _month_first(text: str, rng: random.Random) -> str | None:
    match = pick(_YAD, text, rng)
    return None if match is None else within(text, match, 0, f"{match['month']} {match['day']}")


RULES = (
    *keeping_rules(
        number__spelling_digits=_digits,
        date__format_short=_shortened,
    ),
    *keeping_rules(
        digits=True,
        number__spelling_words=_spelt,
        number__spelling_grouped=_grouped,
        equal__quantity_unit=_converted,
        equal__quantity_money=_money,
        equal__quantity_percent=_percent,
        date__format_clock=_clock,
        date__format_long=_lengthened,
        date__format_day=_day_first,
        date__format_month=_month_first,
    ),
)
