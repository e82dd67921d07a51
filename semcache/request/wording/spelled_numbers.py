"""Numbers in words as digits: "twenty five" is 25, "nineteen eighty-four" 1984, "three point five" 3.5.

Invariant: a number is one run of words, and words that spell no number, or more than one, stay.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.cues import folded, holds

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
SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000, "trillion": 1_000_000_000_000}
NUMBERS = {**_UNITS, **_TEENS, **_TENS}
NAMED = frozenset([*NUMBERS, "hundred", *SCALES])
_SPELT = "|".join(sorted(NAMED, key=len, reverse=True))
_RUN = re.compile(
    rf"(?<![\w'-])(?:(?:an?(?= (?:hundred|thousand|million|billion|trillion)\b)|{_SPELT}))"
    rf"(?:(?:[ -]|[ ]and[ ])(?:{_SPELT}))*(?![\w'-])"
)
_COUNTED = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thir", "fif", "twenty",
    "forty", "hundred", *SCALES,
)  # fmt: skip
_BETWEEN = vocabulary("between both")
_BY_THE_YEAR = re.compile(
    r"(?<![\w'-])(thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty)[ -](?:(?=(?:twenty"
    r"|thirty|forty|fifty|sixty"
    r"|seventy|eighty|ninety|oh|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen"
    r"|nineteen)\b))(\w+)"
    r"(?:[ -](one|two|three|four|five|six|seven|eight|nine))?+(?![\w'-])"
    r"(?! (?:hundred|thousand|million|percent|dollars?|euros?|pounds?|cents?|minutes?|seconds?|hours?|years?)\b)",
    re.IGNORECASE,
)
_ONES = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
}  # fmt: skip
# "A thirty second timer" runs for 30 seconds.
_ORDINAL_WORDS = re.compile(
    rf"(?<![\w'-])({'|'.join(_TENS)})[ -]({'|'.join(one for one in _ONES if one != 'second')})(?![\w'-])",
    re.IGNORECASE,
)
_POINT = re.compile(
    r"(?<![\w.,-])(\d+|zero|one|oh) point ((?:zero|one|oh|\d+)(?: (?:zero|one|oh|\d))*)(?![\w.-])", re.IGNORECASE
)
_HALF_SCALE = re.compile(r"\bhalf an? (thousand|million|billion|trillion)\b", re.IGNORECASE)


def in_digits(text: str, bag: frozenset[str]) -> str:
    """The text with numbers in digits that were spelled; `bag` holds its words in lower case."""
    if not bag.isdisjoint(NAMED) or "dozen" in bag or "-" in text:
        lower = folded(text)
        if "half a" in lower:
            text = _HALF_SCALE.sub(lambda match: str(SCALES[folded(match[1])] // 2), text)
        if "teen" in lower or "twenty" in lower:
            text = _BY_THE_YEAR.sub(_year, text)
        if "ty " in lower or "ty-" in lower:
            text = _ORDINAL_WORDS.sub(_ordinal, text)
        # "one" and "zero" alone stay.
        if holds(text, _COUNTED):
            text = _RUN.sub(_in_digits, text)
    return _POINT.sub(_pointed, text) if "point" in bag else text


def _year(match: re.Match[str]) -> str:
    """A year that is spelled by its halves: "nineteen eighty-four"."""
    first, tens, ones = match.groups()
    rest = NUMBERS[folded(tens)] + (NUMBERS[folded(ones)] if ones else 0) if tens.lower() in NUMBERS else 0
    if tens.lower() in ("oh", "o"):
        rest = NUMBERS[folded(ones)] if ones else 0
    return match[0] if not rest else f"{NUMBERS[folded(first)]}{rest:02d}"


def _ordinal(match: re.Match[str]) -> str:
    number = _TENS[folded(match[1])] + _ONES[folded(match[2])]
    return f"{number}{'st' if number % 10 == 1 else 'nd' if number % 10 == 2 else 'rd' if number % 10 == 3 else 'th'}"


def _pointed(match: re.Match[str]) -> str:
    figures = {"zero": "0", "oh": "0", "one": "1"}
    part = "".join(figures.get(word, word) for word in match[2].lower().split())
    return f"{figures.get(match[1].lower(), match[1])}.{part}"


def _in_digits(match: re.Match[str]) -> str:
    words = match[0].replace("-", " ").split()
    before = match.string[max(0, match.start() - 12) : match.start()].split()
    if "and" in words and before and before[-1] in _BETWEEN:
        return match[0]
    if words in (["one"], ["a"], ["an"], ["zero"]) or words[-1] == "and":
        return match[0]
    if words[0] in ("a", "an"):
        if len(words) == 1 or words[1] not in ("hundred", *SCALES):
            return match[0]
        words[0] = "one"
    value = _value([word for word in words if word != "and"] if _joined(words) else words)
    return match[0] if value is None else str(value)


def _joined(words: list[str]) -> bool:
    """Return True if each "and" stands behind a hundred or a scale and before a smaller number that ends the run."""
    for at, word in enumerate(words):
        if word == "and":
            rest = words[at + 1 :]
            if words[at - 1] not in ("hundred", *SCALES) or any(part not in NUMBERS for part in rest):
                return False
    return True


def _value(words: list[str]) -> int | None:
    """The number that these words spell; None if they spell none, or more than one."""
    total, group, last = 0, 0, 1_000_000_000_000_000
    allowed = 100
    if not words or words[0] in SCALES or words[0] == "hundred":
        return None
    for word in words:
        if word in NUMBERS:
            number = NUMBERS[word]
            if number >= allowed:
                return None
            group += number
            allowed = 10 if word in _TENS else 0
            if number == 0:
                return 0 if len(words) == 1 else None
        elif word == "hundred":
            if not (0 < group < 10 or (10 < group < 100 and group % 10)):
                return None
            group, allowed = group * 100, 100 if group < 10 else 0
        elif word in SCALES:
            scale = SCALES[word]
            if not 0 < group < 1000 or scale >= last:
                return None
            total, group, last, allowed = total + group * scale, 0, scale, 100
        else:
            return None
    return total + group
