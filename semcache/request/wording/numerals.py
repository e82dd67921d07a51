"""Numbers and units in other writing: exact equalities only.

"1,000" is 1000, "twenty five" is 25, "3 per cent" is 3%, "half a gigabyte" is 0.5 GB. Knows no conversion:
512 MB stays.
Invariant: a quantity never changes; what has two readings ("4k", "5 pounds", "300K", "one") stays as it is.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary

_UNITS = {
    "zero": 0,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
}
_TEENS = {
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "thirteen": 13,
    "fourteen": 14,
    "fifteen": 15,
    "sixteen": 16,
    "seventeen": 17,
    "eighteen": 18,
    "nineteen": 19,
}
_TENS = {
    "twenty": 20, "thirty": 30, "forty": 40, "fourty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80,
    "ninety": 90,
}  # fmt: skip
_SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "trillion": 1_000_000_000_000}
_NUMBERS = {**_UNITS, **_TEENS, **_TENS}
_NAMED = frozenset([*_NUMBERS, "hundred", *_SCALES])
_ORDINALS = {
    1: "first", 2: "second", 3: "third", 4: "fourth", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth",
    10: "tenth", 11: "eleventh", 12: "twelfth", 13: "thirteenth", 14: "fourteenth", 15: "fifteenth", 16: "sixteenth",
    17: "seventeenth", 18: "eighteenth", 19: "nineteenth", 20: "twentieth",
}  # fmt: skip
_ENDINGS = {
    **{f"{number}{'st' if number == 1 else 'nd' if number == 2 else 'rd' if number == 3 else 'th'}": word
       for number, word in _ORDINALS.items()},
}  # fmt: skip
_TIMES = {
    "s": "second", "sec": "second", "secs": "second", "second": "second", "seconds": "second",
    "min": "minute", "mins": "minute", "minute": "minute", "minutes": "minute",
    "h": "hour", "hr": "hour", "hrs": "hour", "hour": "hour", "hours": "hour",
    "ms": "millisecond", "msec": "millisecond", "millisecond": "millisecond", "milliseconds": "millisecond",
}  # fmt: skip
_MEASURES: dict[str, str] = {}
for _symbol, _names in {
    "km": "km kms kilometre kilometres kilometer kilometers",
    "cm": "cm cms centimetre centimetres centimeter centimeters",
    "mm": "mm millimetre millimetres millimeter millimeters",
    "kg": "kg kgs kilogram kilograms kilogramme kilogrammes kilo kilos",
    "mg": "mg milligram milligrams",
    "ml": "ml millilitre millilitres milliliter milliliters",
    "mph": "mph",
    "km/h": "km/h kph kmh kmph",
    "GB": "gb gigabyte gigabytes gig gigs",
    "MB": "mb megabyte megabytes",
    "KB": "kb kilobyte kilobytes",
    "TB": "tb terabyte terabytes",
    "PB": "pb petabyte petabytes",
    "GHz": "ghz gigahertz",
    "MHz": "mhz megahertz",
    "kHz": "khz kilohertz",
    "kWh": "kwh",
    "ft": "ft foot feet",
    "lb": "lb lbs",
    "oz": "oz ounce ounces",
    "sq ft": "sqft",
}.items():
    _MEASURES |= dict.fromkeys(_names.split(), _symbol)
_BITS = re.compile(r"[KMGT]b(?:it)?s?$|mW|Kb")
_UNIT = "|".join(sorted({*_MEASURES, *_TIMES}, key=len, reverse=True))
_NUMBER = r"\d+(?:\.\d+)?"

_GROUPED = re.compile(r"(?<![\w.,/:$-])([$\u20ac\u00a3]?)(\d{1,3}(?:,\d{3})+)(?![\d,]*\d|[\w/:-])")
_THOUSANDS = re.compile(rf"(?<![\w.,/:-])([$\u20ac\u00a3]?)({_NUMBER})(k|K)(?![\w/:.-]\S|\w)")
_SCALED = re.compile(
    rf"(?<![\w.,/:-])([$\u20ac\u00a3]?)({_NUMBER}) (thousand|million|billion|trillion)(?![\w-])", re.IGNORECASE
)
_PERCENT = re.compile(
    rf"(?<![\w.,/:])({_NUMBER})(?: ?%(?![\w%(])| (?:percent|per cent|per-cent|pct)(?![\w-]))", re.IGNORECASE
)
_DEGREES = re.compile(
    rf"(?<![\w.,/:])({_NUMBER}) ?(?:\u00b0 ?|\u00ba ?|degrees? )(celsius|centigrade|fahrenheit|c|f)(?![\w-])",
    re.IGNORECASE,
)
_MEASURED = re.compile(rf"(?<![\w.,/:$-])({_NUMBER}) ?({_UNIT})(?![\w/'-])(?!\.\w)", re.IGNORECASE)
_TWO_WORDS = re.compile(
    rf"(?<![\w.,/:$-])({_NUMBER}) (square f(?:ee|oo)t|sq\.? ?ft|miles per hour|kilomet(?:re|er)s per hour)(?![\w-])",
    re.IGNORECASE,
)
_HALF = re.compile(
    rf"\bhalf an? ({_UNIT}|cup|teaspoon|tablespoon|mile|litre|liter|dozen|million|billion)\b(?!-)", re.IGNORECASE
)
_DOLLARS = re.compile(
    rf"(?<![\w.,/:$-])({_NUMBER}) (dollars?|euros?)(?![\w-])(?! (?:bill|note|store|tree|coin|general))", re.IGNORECASE
)
_ORDINAL = re.compile(r"(?<![\w.,/:-])(\d{1,2}(?:st|nd|rd|th))(?![\w-])", re.IGNORECASE)
_RUN = re.compile(
    rf"(?<![\w'-])(?:(?:an?|{'|'.join(sorted(_NAMED, key=len, reverse=True))}))"
    rf"(?:(?:[ -]|[ ]and[ ])(?:{'|'.join(sorted(_NAMED, key=len, reverse=True))}))*(?![\w'-])"
)
_ARTICLED = re.compile(r"(?<![\w'-])an? (?:hundred|thousand|million|billion|trillion|dozen)(?![\w'-])")
# Numbers with a "k" that are names: resolutions, races, a pension plan.
_NAMES = vocabulary("1k 2k 4k 5k 8k 10k 16k 401k 8-k 10-k")
_SUFFIX = re.compile(r"\d ?([a-zA-Z]+|[%\u00b0\u00ba])")
_HUNDREDTHS = frozenset(("%", "percent", "per", "pct"))
_TEMPERATURES = frozenset(("\u00b0", "\u00ba", "degree", "degrees"))
_COMPOUNDS = frozenset(("square", "sq", "miles", "kilometres", "kilometers"))
_CURRENCIES = frozenset(("dollar", "dollars", "euro", "euros"))
_NAMED_UNITS = frozenset([*_MEASURES, *_TIMES])
_SUFFIXES = (
    _HUNDREDTHS | _TEMPERATURES | _COMPOUNDS | _CURRENCIES | _NAMED_UNITS | {"k", "st", "nd", "rd", "th", *_SCALES}
)
_BETWEEN = vocabulary("between both")


def numbered(text: str, bag: frozenset[str]) -> str:
    """The text with numbers in digits and units in their symbols; `bag` holds its words in lower case."""
    if not bag.isdisjoint(_NAMED) or "dozen" in bag:
        text = _RUN.sub(_in_digits, text)
    if "half" in bag:
        text = _HALF.sub(_halved, text)
    if not any(map(str.isdigit, text)):
        return text
    if "," in text:
        text = _GROUPED.sub(lambda match: match[1] + match[2].replace(",", ""), text)
    suffixes = frozenset([suffix.lower() for suffix in _SUFFIX.findall(text)])
    if suffixes.isdisjoint(_SUFFIXES):
        return text
    if "k" in suffixes:
        text = _THOUSANDS.sub(_thousands, text)
    if not suffixes.isdisjoint(_SCALES):
        text = _SCALED.sub(_scaled, text)
    if not suffixes.isdisjoint(_HUNDREDTHS):
        text = _PERCENT.sub(r"\1%", text)
    if not suffixes.isdisjoint(_TEMPERATURES):
        text = _DEGREES.sub(lambda match: f"{match[1]} \u00b0{'F' if match[2][0] in 'fF' else 'C'}", text)
    if not suffixes.isdisjoint(_COMPOUNDS):
        text = _TWO_WORDS.sub(_compound, text)
    if not suffixes.isdisjoint(_CURRENCIES):
        text = _DOLLARS.sub(lambda match: ("$" if match[2][0] in "dD" else "\u20ac") + match[1], text)
    if not suffixes.isdisjoint(_NAMED_UNITS):
        text = _MEASURED.sub(_measured, text)
    if not suffixes.isdisjoint(("st", "nd", "rd", "th")):
        text = _ORDINAL.sub(lambda match: _ENDINGS.get(match[1].lower(), match[1]), text)
    return text


def _in_digits(match: re.Match[str]) -> str:
    words = match[0].replace("-", " ").split()
    before = match.string[max(0, match.start() - 12) : match.start()].split()
    if "and" in words and before and before[-1] in _BETWEEN:
        return match[0]
    if words in (["one"], ["a"], ["an"], ["zero"]) or words[-1] == "and":
        return match[0]
    if words[0] in ("a", "an"):
        if len(words) == 1 or words[1] not in ("hundred", *_SCALES):
            return match[0]
        words[0] = "one"
    value = _value([word for word in words if word != "and"] if _joined(words) else words)
    return match[0] if value is None else str(value)


def _joined(words: list[str]) -> bool:
    """Return True if each "and" stands behind a hundred or a scale and before a smaller number that ends the run."""
    for at, word in enumerate(words):
        if word == "and":
            rest = words[at + 1 :]
            if words[at - 1] not in ("hundred", *_SCALES) or any(part not in _NUMBERS for part in rest):
                return False
    return True


def _value(words: list[str]) -> int | None:
    """The number that these words spell; None if they spell none, or more than one."""
    total, group, last = 0, 0, 1_000_000_000_000_000
    allowed = 100
    if not words or words[0] in _SCALES or words[0] == "hundred":
        return None
    for word in words:
        if word in _NUMBERS:
            number = _NUMBERS[word]
            if number >= allowed:
                return None
            group += number
            allowed = 10 if word in _TENS else 0
            if number == 0:
                return 0 if len(words) == 1 else None
        elif word == "hundred":
            if not 0 < group < 10:
                return None
            group, allowed = group * 100, 100
        elif word in _SCALES:
            scale = _SCALES[word]
            if not 0 < group < 1000 or scale >= last:
                return None
            total, group, last, allowed = total + group * scale, 0, scale, 100
        else:
            return None
    return total + group


def _halved(match: re.Match[str]) -> str:
    return f"0.5 {match[1]}"


def _times(number: str, scale: int) -> str | None:
    whole, _, part = number.partition(".")
    zeros = len(str(scale)) - 1
    if len(part) > zeros:
        return None
    return str(int(whole + part + "0" * (zeros - len(part))))


def _thousands(match: re.Match[str]) -> str:
    sign, number, letter = match.groups()
    if not sign and (letter == "K" or f"{number}k" in _NAMES):
        return match[0]
    value = _times(number, 1000)
    return match[0] if value is None else sign + value


def _scaled(match: re.Match[str]) -> str:
    value = _times(match[2], _SCALES[match[3].lower()])
    return match[0] if value is None else match[1] + value


def _measured(match: re.Match[str]) -> str:
    number, unit = match.groups()
    low = unit.lower()
    if _BITS.match(unit) or (low in ("s", "h", "min") and unit != low) or (low == "foot" and number != "1"):
        return match[0]
    spaced = match[0][len(number)] == " "
    if low in ("s", "h") and spaced and number != "0.5":
        return match[0]
    if name := _TIMES.get(low):
        return f"{number} {name}" if number == "1" else f"{number} {name}s"
    return f"{number} {_MEASURES[low]}"


def _compound(match: re.Match[str]) -> str:
    low = match[2].lower()
    unit = "sq ft" if low.startswith("sq") else "mph" if low.startswith("miles") else "km/h"
    return f"{match[1]} {unit}"
