"""The forms of a task's value in a tool call: as it stands, in another case, as a number, as a date.

Pure. Invariant: `write(form, text)` either gives what a call can hold or None, and never raises.
"""

from __future__ import annotations

import re
from typing import Any

from semcache.agents.pattern_gap import items
from semcache.agents.slots import COUNTS, ORDINALS, impossible
from semcache.agents.template import ValueForm
from semcache.config.calendar_names import MONTHS

_NUMBER = re.compile(r"[+-]?\d[\d,]*(?:\.\d+)?")
# "60k" is not 60, and "1,5" may be one and a half.
_SCALED = re.compile(r"\d\s?(?:[kmb]|thousand|million|billion)\b", re.IGNORECASE)
_UNSURE = re.compile(r"\d,\d{1,2}(?!\d)|\d,\d{4}")
_COUNTED = re.compile(r"[+-]?\d[\d,.]*(?:(?:st|nd|rd|th)\b)?")
_UNITS = {
    **dict.fromkeys(("us$", "usd", "usd$", "dollar", "dollars"), "$"),
    **dict.fromkeys(("eur", "euro", "euros"), "€"),
    **dict.fromkeys(("gbp", "pound", "pounds"), "£"),
    **dict.fromkeys(("jpy", "yen"), "¥"),
    "percent": "%",
}
_MONTHS = tuple([month[:3] for month in MONTHS])
_SPELT = {word: place for place, word in enumerate(COUNTS)} | {word: place + 1 for place, word in enumerate(ORDINALS)}
_ISO = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_FIXED = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d")
_TIME = re.compile(r"(\d{1,2})(?::(\d\d))?(?: ?([ap])\.?m\.?)?", re.IGNORECASE)
_SLASHED = re.compile(r"(\d{1,2})/(\d{1,2})/(\d{4})")
_NAMED = re.compile(r"([a-z]{3})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})", re.IGNORECASE)
_TURNED = re.compile(r"(\d{1,2})(?:st|nd|rd|th)? ([a-z]{3})[a-z]*\.?,? (\d{4})", re.IGNORECASE)


def write(form: ValueForm, text: str) -> Any:
    """The value of a call for a piece of a task; None when it cannot be written so."""
    match form:
        case ValueForm.SAME:
            return text
        case ValueForm.LOWER:
            return text.lower()
        case ValueForm.UPPER:
            return text.upper()
        case ValueForm.BARE:
            return text.lstrip("#") or None
        case ValueForm.INTEGER:
            # A whole number of money was one by chance; the tool's schema says where no other will do.
            whole = _integer(text)
            return whole if whole is not None else _number(text)
        case ValueForm.NUMBER:
            return _number(text)
        case ValueForm.FIXED:
            return text if _FIXED.fullmatch(text) and not impossible(text) else None
        case ValueForm.ISO_DATE:
            return _date(text)
        case ValueForm.CLOCK:
            return _clock(text)
        case ValueForm.LIST:
            listed = items(text)
            return listed if all(listed) else None
        case ValueForm.JOINED:
            return ", ".join(items(text))


def unit_of(text: str) -> str:
    """The unit beside a number in a text: "$" of "60 dollars", "" of "60" and of "3rd"."""
    lower = text.casefold()
    if not any(map(str.isdecimal, lower)):
        return ""
    beside = _COUNTED.sub("", lower).strip(" #")
    return _UNITS.get(beside, beside)


def forms_of(value: Any) -> tuple[ValueForm, ...]:
    """The forms that could have given this value, the plainest first."""
    if isinstance(value, bool) or value is None:
        return ()
    if isinstance(value, int):
        return (ValueForm.INTEGER,)
    if isinstance(value, float):
        return (ValueForm.NUMBER,)
    if isinstance(value, str):
        # A call that has a date or a time in a fixed form may take no other.
        fixed = [ValueForm.FIXED, ValueForm.ISO_DATE, ValueForm.CLOCK] if _FIXED.fullmatch(value) else []
        return (*fixed, ValueForm.SAME, ValueForm.BARE, ValueForm.LOWER, ValueForm.UPPER, ValueForm.JOINED)
    return (ValueForm.LIST,) if isinstance(value, list) else ()


def says_order(text: str) -> bool:
    """Return True unless a date is written so that day and month could change places, being the same."""
    found = _SLASHED.fullmatch(text.strip())
    return found is None or int(found[1]) != int(found[2])


def _number(text: str) -> float | None:
    spelt = _SPELT.get(text.strip().casefold())
    if spelt is not None:
        return float(spelt)
    if _SCALED.search(text) is not None or _UNSURE.search(text) is not None:
        return None
    found = _NUMBER.findall(text)
    return float(found[0].replace(",", "")) if len(found) == 1 and len(found[0]) <= 30 else None


def _integer(text: str) -> int | None:
    number = _number(text)
    if number is None or number != int(number):
        return None
    # Digits as they stand: of long ones a float keeps the first seventeen.
    found = _NUMBER.search(text)
    return int(found[0].replace(",", "").partition(".")[0]) if found is not None else int(number)


def _date(text: str) -> str | None:
    if impossible(text):
        return None
    if _ISO.fullmatch(text.strip()):
        return text.strip()
    if found := _SLASHED.fullmatch(text.strip()):
        month, day, year = map(int, found.groups())
    elif found := _NAMED.fullmatch(text.strip()):
        name, day, year = found[1], int(found[2]), int(found[3])
        month = _month(name)
    elif found := _TURNED.fullmatch(text.strip()):
        day, name, year = int(found[1]), found[2], int(found[3])
        month = _month(name)
    else:
        return None
    written = f"{year:04d}-{month:02d}-{day:02d}"
    return None if impossible(written) else written


def _clock(text: str) -> str | None:
    """A time of day; None where morning and evening could be meant."""
    found = None if impossible(text) else _TIME.fullmatch(text.strip())
    if found is None:
        return None
    hour, minute, half = int(found[1]), int(found[2] or 0), (found[3] or "").lower()
    if not half and (len(found[1]) < 2 or found[2] is None):
        return None
    hour = hour % 12 + 12 * (half == "p") if half else hour
    return f"{hour:02d}:{minute:02d}"


def _month(name: str) -> int:
    return _MONTHS.index(name.lower()) + 1 if name.lower() in _MONTHS else 0
