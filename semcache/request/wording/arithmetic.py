"""Arithmetic between numbers in one writing: "3 times 4", "3 x 4" and "3*4".

Invariant: the operation and the order of its sides are kept.
"""

from __future__ import annotations

import re

from semcache.request.text import vocabulary
from semcache.request.wording.cues import has_digit

_N = r"(?<![\w.,/:-])(-?\d+(?:\.\d+)?)"
_M = r"(-?\d+(?:\.\d+)?)(?![\w/:]|[.,]\d)"
_OPERATIONS: tuple[tuple[str, re.Pattern[str], str], ...] = (
    ("+", re.compile(rf"{_N}(?: plus | ?\+ ?){_M}"), r"\1 + \2"),
    ("*", re.compile(rf"{_N}(?: times | multiplied by | ?\* ?| x | ?\u00d7 ?|x){_M}"), r"\1 * \2"),
    ("-", re.compile(rf"{_N}(?: minus | [-\u2212\u2013] ){_M}"), r"\1 - \2"),
    ("/", re.compile(rf"{_N}(?: divided by | over (?=\d+\b(?! [a-z]))| / | ?\u00f7 ?){_M}"), r"\1 / \2"),
)
_CHAIN = re.compile(r"(?<![\w.,/:-])\d+(?:\.\d+)?(?:[+*]\d+(?:\.\d+)?)+(?![\w.,/:-]\w|\w)")
_SQUARED = re.compile(
    r"(?<![\w.])(\d+(?:\.\d+)?)(?: squared|\^2| to the (?:power of 2|power of two|second power)|\u00b2)(?!\w)", re.I
)
_CUBED = re.compile(
    r"(?<![\w.])(\d+(?:\.\d+)?)(?: cubed|\^3| to the (?:power of 3|power of three|third power)|\u00b3)(?!\w)", re.I
)
_ROOT = re.compile(r"\u221a ?\(?(\d+(?:\.\d+)?)\)?(?!\w)")
_POWER = re.compile(r"(?<![\w.])(\d+)(?: to the power (?:of )?|\^)(\d+)(?!\w)", re.I)
_OPERATES = re.compile(
    r"\d(?: ?[-+*/\u2212\u2013\u00d7\u00f7] ?|x| x | plus | times | multiplied by | minus | divided by | over )-?\d"
)
_POWERS = frozenset(("squared", "cubed", "power"))
_NEGATIVE = re.compile(r"(?<![\w.])(?<!\d )(?:minus|negative) (\d+(?:\.\d+)?)(?=\b)", re.I)
_FOLD = re.compile(r"(?<![\w.])(\d+)x (?=an? |per |each |every |daily|weekly|monthly|as )", re.I)
_RANGE = re.compile(
    r"(\d(?<![\w.,/:$\u20ac\u00a3-]\d)(?<!from \d)(?<!convert \d)\d*(?:\.\d+)?)(?: ?[-\u2013] ?| to "
    r")(\d+(?:\.\d+)?)(?= (?!the\b|and\b|or\b)[a-z]{2,}| ?%)"
)


# With one of these "2 to 4" may go from one number to the other, or set them against each other.
_NO_RANGE = vocabulary("""
    ratio ratios odds score scored scale scaled scaling upgrade upgraded downgrade increase increased increases raise
    raised decrease decreased reduce reduced lower lowered grow grew expand extend shrink cut change changed change
    convert converted turn mix go went bump migrate resize move moved proportion proportions
""")


def operated(text: str, bag: frozenset[str]) -> str:
    """The text with signs between numbers, one writing each; `bag` holds its words in lower case."""
    if not has_digit(text):
        return text
    if "minus" in bag or "negative" in bag:
        text = _NEGATIVE.sub(r"-\1", text)
    if _OPERATES.search(text):
        for _, pattern, plain in _OPERATIONS:
            text = pattern.sub(plain, text)
    if "^" not in text and bag.isdisjoint(_POWERS) and text.isascii():
        text = _FOLD.sub(r"\1 times ", text) if "x " in text else text
        return _ranged(text, bag)
    text = _POWER.sub(lambda match: f"{match[1]}^{match[2]}" if match[2] not in ("2", "3") else match[0], text)
    text = _SQUARED.sub("\\1\u00b2", text)
    text = _CUBED.sub("\\1\u00b3", text)
    if "\u221a" in text:
        text = _ROOT.sub(r"square root of \1", text)
    if "x " in text:
        text = _FOLD.sub(r"\1 times ", text)
    return _ranged(text, bag)


def _ranged(text: str, bag: frozenset[str]) -> str:
    apart = " to " in text and not bag.isdisjoint(_NO_RANGE)
    return _RANGE.sub(lambda match: match[0] if apart and " to " in match[0] else _range(match), text)


def _range(match: re.Match[str]) -> str:
    low, high = match[1], match[2]
    return f"{low}-{high}" if float(low) < float(high) else match[0]
