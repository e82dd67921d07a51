"""The numbers that a text writes in digits: each found, and read with its sign, scale, currency or unit.

Knows no number words, which are digits by now, and compares nothing. Invariant: a number is found by its first digit,
and every number is read, however it is written: what cannot be counted has a version or infinity for its value.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import NamedTuple

from semcache.matching.guards.quantities import Quantity
from semcache.matching.guards.units import CURRENCIES, SCALES, SYMBOLS, UNITS

_LONG = sorted((unit for unit in UNITS if unit.isalpha() or "/" in unit), key=len, reverse=True)
_NUMBER = re.compile(
    rf"""
    (?P<prefix>[a-z_][a-z_]*[-#]?)?
    (?P<money>[$€£¥₹]\s?)?
    (?P<sign>(?<![\w)\].,])[-\u2212](?=[\d.]))?
    (?P<digits>\d{{1,3}}(?:\.\d{{3}})+,\d{{1,2}}(?!\d) | \d{{1,3}}(?:,\d{{3}})+(?!\d)(?:\.\d+)?
      | \d{{1,3}}(?:,\d\d)+,\d{{3}}(?!\d)
      | \d+(?:\.\d+)* | \.\d+)
    (?:(?P<exp>e[+-]?\d+)(?!\w) | \s?[x\u00d7*]\s?10\s?\^\s?(?P<ten>-?\d+))?
    (?P<soft>~)?
    (?:/(?P<under>\d+)(?![\d/]))?
    (?P<th>(?:st|nd|rd|th)\b)?
    (?:\s?(?P<scale>k|mn|bn|thousand|million|billion|trillion|hundred)\b)?
    (?:[\s-]?(?P<unit>%|°\s?[cf]?|degrees?\s+(?:celsius|fahrenheit|c|f)\b|(?:{"|".join(_LONG)}|[cf](?=\b))
      (?!\w|'(?!s\b)\w)))?
    (?P<glued>[a-z]+\d*)?
    """,
    re.VERBOSE,
)
_VERSIONED = re.compile(
    r"(?:python|node(?:\.?js)?|java|jdk|go|php|ruby|perl|rust|swift|kotlin|scala|typescript|angular|react"
    r"|vue|django|flask"
    r"|rails|spring|postgres(?:ql)?|mysql|ubuntu|debian|ios|android|macos|windows|kubernetes|k8s|docker|tls|ssl|http"
    r"|pytorch|tensorflow|numpy|pandas|cuda|gcc|version|release|gpt|claude|llama|gemini|v)[\s-]*$"
)
_DIGIT = re.compile(r"\d")
_EUROPEAN = re.compile(r"\.\d{3},")  # in "1.000,50" the comma is the decimal point
_INCIDENTAL = frozenset(
    ("ww", "covid-", "covid", "sars-cov-", "co", "h", "mp", "web", "utf-", "sha-", "sha", "base", "x")
)
_PLURAL_AGE = re.compile(r"(?:\b(?:the|their|her|his|my|early|mid|late|under|over)[ -]|-)$")
_HEAD = frozenset("abcdefghijklmnopqrstuvwxyz_-#$€£¥₹.\u2212")
_NEAR = 40  # characters before a number that are read for what it is
_PLANS = frozenset(("401",))  # "401k" is the name of a plan, not 401,000
_LETTERS = {"k": 1000, "mn": 10**6, "bn": 10**9, **SCALES}
_TENS = 300  # the largest power of ten that a number is multiplied by
_DEGREES = {"°celsius": "celsius", "°fahrenheit": "fahrenheit", "c": "celsius", "f": "fahrenheit"}


class WrittenNumber(NamedTuple):
    """A number between two places of a text, and the unit that it is of; "24/7" is no quantity."""

    start: int
    end: int
    quantity: Quantity | None
    unit: str


def found(text: str) -> Iterator[WrittenNumber]:
    """The numbers of `text`, which is in lower case, in their order."""
    for match in _matches(text):
        quantity, unit = _quantity(match, text)
        yield WrittenNumber(match.start(), match.end(), quantity, unit)


def _matches(rest: str) -> Iterator[re.Match[str]]:
    """All numbers, found by their first digit: trying the whole pattern at every letter is ten times as slow."""
    end = 0
    while (digit := _DIGIT.search(rest, end)) is not None:
        start = digit.start()
        while start > end and rest[start - 1] in _HEAD:
            start -= 1
        if start - 1 > end and rest[start - 1] == " " and rest[start - 2] in SYMBOLS:
            start -= 2
        match = _NUMBER.match(rest, start) or _NUMBER.match(rest, digit.start())
        if match is None:
            end = digit.end()
            continue
        yield match
        end = match.end()


def _quantity(match: re.Match[str], text: str) -> tuple[Quantity | None, str]:
    """The quantity that was found, and its unit as it is written; no unit where money or a version is named."""
    digits, unit = match["digits"], match["unit"] or ""
    if match["under"] and digits.count(".") <= 1:
        return _fraction(digits, match["under"], unit)
    if _is_version(match, text) and "," not in digits and not unit:
        return Quantity(math.nan, math.nan, "version", _trimmed(digits), False), ""
    value = _value(match)
    if match["scale"] == "k" and digits in _PLANS:
        return Quantity(value, value, "", "", soft=False), ""
    value *= _LETTERS.get(match["scale"] or "", 1)
    if unit == "s" and _is_age(match, text):
        unit = ""
    soft = _is_incidental(match, text, value, unit)
    money = _currency(match)
    if money:
        if unit == "m":
            value *= 10**6
        return Quantity(value, value, money, "", soft), ""
    return _with_unit(value, unit, soft)


def _fraction(above: str, below: str, unit: str) -> tuple[Quantity | None, str]:
    if (above, below) == ("24", "7"):
        return None, ""
    divisor = float(below)
    return _with_unit(float(above.replace(",", "")) / divisor if divisor else math.inf, unit, soft=False)


def _is_version(match: re.Match[str], text: str) -> bool:
    """Return True for several points ("1.2.3"), and for one behind the name of what has versions ("python 3.11")."""
    points = match["digits"].count(".")
    if points > 1:
        return True
    if match["digits"].find(".") <= 0 or match["prefix"] in CURRENCIES:
        return False
    return bool(match["prefix"]) or _VERSIONED.search(text[max(0, match.start() - _NEAR) : match.start()]) is not None


def _value(match: re.Match[str]) -> float:
    """The number itself, with its sign and its power of ten."""
    value = float(_decimal(match["digits"]))
    power = (match["exp"] or "")[1:] or match["ten"]
    if power:
        value *= 10.0 ** _clipped(power)
    return -value if match["sign"] and not match["prefix"] else value


def _decimal(digits: str) -> str:
    """The digits with no separators of thousands, and a point before the decimals."""
    if _EUROPEAN.search(digits) is not None:
        return digits.replace(".", "").replace(",", ".")
    if digits.count(".") > 1:
        digits = digits.replace(".", "")
    return digits.replace(",", "")


def _clipped(power: str) -> int:
    """The exponent within what a float holds; its digits may be more than an integer is made of."""
    size = power.lstrip("+-").lstrip("0")
    exponent = _TENS if len(size) > len(str(_TENS)) else min(_TENS, int(size or 0))
    return -exponent if power.startswith("-") else exponent


def _is_age(match: re.Match[str], text: str) -> bool:
    """Return True where the "s" behind a number is a plural, not seconds: "in her 20s"."""
    first = match.start() + len(match["prefix"] or "")
    return match["digits"][-1] == "0" and _PLURAL_AGE.search(text, max(0, match.start() - _NEAR), first) is not None


def _is_incidental(match: re.Match[str], text: str, value: float, unit: str) -> bool:
    """Return True for a number that is part of a name ("covid-19", "h2o", "3d") or goes without saying."""
    prefix, written = match["prefix"] or "", match["unit"] or ""
    if match["soft"] or prefix in _INCIDENTAL:
        return True
    if written and prefix.isalpha() and text[match.end() - len(written) - 1].isdigit():
        return True
    glued = match["glued"]
    return bool(glued and not unit) and ((glued in ("d", "x") and value in (2, 3)) or prefix.isalpha())


def _currency(match: re.Match[str]) -> str:
    """The currency whose sign or code stands before the number; "" for none."""
    prefix = match["prefix"] or ""
    return SYMBOLS.get((match["money"] or "").strip(), "") or (prefix if prefix in CURRENCIES else "")


def _with_unit(value: float, unit: str, soft: bool) -> tuple[Quantity, str]:
    spelling = re.sub(r"degrees?\s+|°\s?", "°", unit)
    spelling = _DEGREES.get(spelling, spelling)
    known = UNITS.get(spelling)
    if known is None:
        return Quantity(value, value, "degrees" if spelling == "°" else "", "", soft), ""
    dimension, factor = known
    if dimension == "percent":
        return Quantity(math.nan, value * factor, "", "", soft), unit
    if dimension == "temperature":
        base = (value - 32) / 1.8 if factor == 2.0 else value - 273.15 if factor == 3.0 else value
        return Quantity(value, base, dimension, "", soft, factor), unit
    return Quantity(value, value * factor, dimension, "", soft, factor), unit


def _trimmed(version: str) -> str:
    return re.sub(r"(?:\.0)+$", "", version)
