"""Conversions of a quantity: "how many km are in 10 miles", "10 miles in km" and "convert 10 miles to km" are one.

Knows units by name alone and converts nothing.
Invariant: the quantity, its unit and the unit asked for are kept; a text that goes on behind them is none.
"""

from __future__ import annotations

import re

from semcache.request.wording.unit_names import symbol

_NUMBER = r"-?\d+(?:\.\d+)?(?:/\d+)?"
_UNIT = r"([^\W\d_\u00b0][^\s\d,.?!;:]*(?: [^\W\d_][^\s\d,.?!;:]*){0,3}?|\u00b0[CF])"
_QUANTITY = rf"({_NUMBER}|an?|one) {_UNIT}"
_INTO = r"(?:in|into|to|as|expressed in|converted (?:in|into|to)|equals how many|is how many|equal to how many|=)"
_ASKED = (
    r"(?:(?:convert|change|express|turn|transform|calculate|what is|how much is|how (?:far|long|tall|high|heavy|fast"
    r"|big|hot|cold|warm|large|wide|deep) is|what are|give) (?:the conversion of )?|the conversion of |conversion of )?"
)
_QUANTITY_FIRST = re.compile(rf"{_ASKED}{_QUANTITY} {_INTO} {_UNIT}$", re.IGNORECASE)
_UNIT_FIRST = re.compile(
    rf"how many {_UNIT} (?:(?:are|is) (?:equal to )?in|are|is|in|equals?|make(?: up)?|makes|(?:are|is) equal to"
    rf"|(?:do|does) (?:it take to )?(?:make|equal)|to make|go into) {_QUANTITY}$",
    re.IGNORECASE,
)
_HAS = re.compile(rf"how many {_UNIT} (?:does|do) {_QUANTITY} (?:have|contain|make|equal)$", re.IGNORECASE)
_MOST = 24  # blanks in any request that the patterns match
_TEMPERATURES = {"celsius": "\u00b0C", "centigrade": "\u00b0C", "fahrenheit": "\u00b0F", "kelvin": "kelvin"}
_LETTERS = {"c": "\u00b0C", "f": "\u00b0F"}
_WEIGHTS = frozenset(("kg", "g", "mg", "oz", "stone", "lb"))


def converted(text: str) -> str:
    """The request to convert in one frame; another text as it is.

    >>> converted("how many km are in 10 miles")
    'convert 10 miles to km'
    """
    if text.count(" ") > _MOST:
        return text
    if match := _QUANTITY_FIRST.match(text):
        number, unit, target = match.groups()
    elif match := _UNIT_FIRST.match(text) or _HAS.match(text):
        target, number, unit = match.groups()
    else:
        return text
    one = _plain(unit)
    other = _LETTERS.get(target.lower()) or _plain(target) if one in _LETTERS.values() else _plain(target)
    if one is None or other is None:
        return text
    one, other = _weight(one, other), _weight(other, one)
    return f"convert {number if number[-1].isdigit() else 1} {one} to {other}"


def _plain(unit: str) -> str | None:
    low = unit.lower()
    if unit in ("\u00b0C", "\u00b0F"):
        return unit
    if low in ("pound", "pounds"):
        return "pounds"
    return _TEMPERATURES.get(low) or symbol(unit)


def _weight(unit: str, beside: str) -> str:
    """Pounds beside another weight are a weight."""
    return "lb" if unit == "pounds" and beside in _WEIGHTS else unit
