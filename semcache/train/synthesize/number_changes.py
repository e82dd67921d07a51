"""Edits to other numbers and units.

Knows how they are written. Invariant: the new value differs from the old one, and from what the old one is in another
writing; a number that is part of a word or an address is left alone.
"""

from __future__ import annotations

import random
import re

from semcache.matching.guards.units import DIGITS
from semcache.train.synthesize.date_changes import YEAR
from semcache.train.synthesize.edit_rule import changing_rules
from semcache.train.synthesize.prose_edits import cased, pick, within

_NUMBER = re.compile(
    r"(?<![\w.,:/#-])(?P<sign>[$£€#]?)(?P<number>\d{1,3}(?:,\d{3})+|\d+(?:\.\d+)?)(?![\w:/]|[.,-]\w)", re.IGNORECASE
)
_GLUED = re.compile(
    r"(?<![\w.,:/-])(?P<sign>[$£€#]?)(?P<number>\d{1,4})(?=(?:k|kg|km|cm|mm|mg|ml|gb|mb|tb|th|%|lbs?|hrs?|am|pm"
    r"|am|x|px|bit)\b)",
    re.IGNORECASE,
)
_WORDS = {word: value for word, value in DIGITS.items() if 1 < value <= 20}
_SPELT = re.compile(rf"\b({'|'.join(_WORDS)})\b(?! (?:of (?:them|us|you)|or|to)\b)", re.IGNORECASE)
_ORDINALS = ["first", "second", "third", "fourth", "fifth", "sixth", "seventh"]
_ORDINAL = re.compile(r"(?<=\bthe )(first|second|third|fourth|fifth)\b(?= \w)", re.IGNORECASE)
_UNITS = """
minute hour day|minutes hours days|hour minute day|day week month year|days weeks months years|week month year
weekly monthly yearly daily|kg lbs g
kilograms pounds grams|km miles|kilometers miles|kilometres miles|meters feet inches
metres feet inches|cm mm inches|inches feet|celsius fahrenheit kelvin|liters gallons cups|litres gallons pints
cups tablespoons teaspoons|ounces grams pounds|mg mcg g|ml liters|mb gb tb|seconds minutes hours milliseconds
mph kph|century decade year|centuries decades years|yards meters|acres hectares
"""


def other_number(written: str, rng: random.Random) -> str:
    """Another number of about the same size, written alike."""
    digits = written.replace(",", "")
    if "." in digits:
        whole, _, part = digits.partition(".")
        if len(digits) > 12:
            return f"{whole}.{part[:-1]}{(int(part[-1]) + rng.randrange(1, 9)) % 10}"
        new = f"{float(digits) * rng.choice((0.5, 0.8, 1.2, 1.5, 2, 10)) + 0.1 ** len(part):.{len(part)}f}"
        return new if float(new) != float(digits) else f"{float(digits) + 1:.{len(part)}f}"
    value = int(digits)
    if value < 10 or len(digits) > 9 or digits.startswith("0"):
        new = digits[:-1] + str((value % 10 + rng.randrange(1, 10)) % 10)
        if new == "0" or (value > 1 and new == "1" and len(digits) == 1):
            new = str(value + 2)
        return new
    choices = [value + rng.randrange(1, 10), value * 2, value * 10, value + 10 ** (len(digits) - 1)]
    if value % 10 == 0:
        choices += [value + 10, value + 50, value // 2 if value > 10 else 15]
    else:
        choices += [max(2, value - rng.randrange(1, 9))]
        if value > 12 and digits[0] != digits[1]:
            choices.append(int(digits[1] + digits[0] + digits[2:]) if digits[1] != "0" else value + 7)
    new_value = rng.choice([one for one in choices if one != value])
    return f"{new_value:,}" if "," in written else str(new_value)


def _number(text: str, rng: random.Random) -> str | None:
    match = pick(_NUMBER, text, rng) or pick(_GLUED, text, rng)
    if match is None:
        return None
    if YEAR.fullmatch(match[0]):
        return None
    following = text[match.end() : match.end() + 4].lower().lstrip()
    if following.startswith(("am", "pm", "a.m", "p.m", "st", "nd", "rd", "th")) or match["number"] in ("0", "24"):
        return None
    return within(text, match, "number", other_number(match["number"], rng))


def _spelt(text: str, rng: random.Random) -> str | None:
    match = pick(_SPELT, text, rng)
    if match is None:
        return None
    value = _WORDS[match[1].lower()]
    new = rng.choice([word for word, other in _WORDS.items() if other != value and (abs(other - value) < 5)])
    return within(text, match, 1, cased(new, match[1]))


def _ordinal(text: str, rng: random.Random) -> str | None:
    match = pick(_ORDINAL, text, rng)
    if match is None:
        return None
    return within(text, match, 1, cased(rng.choice([one for one in _ORDINALS if one != match[1].lower()]), match[1]))


def _unit_groups() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for group in _UNITS.replace("\n", "|").split("|"):
        members = tuple(group.split())
        for one in members:
            found.setdefault(one, tuple(other for other in members if other != one))
    return found


_OTHER_UNITS = _unit_groups()
_UNIT = re.compile(
    rf"(?:(?<=\d )|(?<=\d)|(?<=how many )|(?<=per )|(?<=in )|(?<=to )|(?<=(?:two|ten|six) )|(?<=(?:three|seven) )"
    rf"|(?<=(?:four|five) ))"
    rf"(?P<unit>{'|'.join(sorted(_OTHER_UNITS, key=len, reverse=True))})\b(?!:| (?:old|the)\b)",
    re.IGNORECASE,
)


def _unit(text: str, rng: random.Random) -> str | None:
    match = pick(_UNIT, text, rng)
    if match is None:
        return None
    return within(text, match, "unit", cased(rng.choice(_OTHER_UNITS[match["unit"].lower()]), match["unit"]))


def _currency_sign(text: str, rng: random.Random) -> str | None:
    match = pick(re.compile(r"[$£€](?=\d)"), text, rng)
    return None if match is None else within(text, match, 0, rng.choice([sign for sign in "$£€" if sign != match[0]]))


RULES = (
    *changing_rules(number_word=_spelt, number_ordinal=_ordinal, unit_other=_unit),
    *changing_rules(digits=True, number_figure=_number, unit_currency=_currency_sign),
)
