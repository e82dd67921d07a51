"""Rewrites numbers spelt in words as digits, so that one pattern reads both.

Invariant: text without number words comes back as it was. A "~" behind a number marks one that may be
incidental, such as the "one" of "which one".
"""

from __future__ import annotations

import re
from itertools import pairwise

from semcache.matching.guards.units import DIGITS, FRACTIONS, ORDINALS, PERIODS, POSSESSED, SCALES, TIMES, UNITS
from semcache.request.text import SplitText, heads
from semcache.runtime.late_pattern import late

ROMAN = {"ii": 2, "iii": 3, "iv": 4, "vi": 6, "vii": 7, "viii": 8, "ix": 9, "xi": 11, "xii": 12}
SPELT = frozenset((*DIGITS, *SCALES, *ORDINALS, *FRACTIONS, *TIMES, "quarter", *ROMAN))
_ONES = "|".join(sorted((*DIGITS, *SCALES), key=len, reverse=True))
_ORDS = "|".join(ORDINALS)
_PARTED = "|".join(
    sorted({*PERIODS, *(unit for unit in UNITS if len(unit) > 2 and unit.isalpha())}, key=len, reverse=True)
)
_SPELLED = late(
    rf"""\b(?=an?[\s-]|{heads((*SPELT, "few"))})(?:
      (?:an?\s+)?(?P<part>half|quarter)\s+(?:an?\s+|of\s+an?\s+)?(?=(?:{_PARTED})\b)
    | (?P<many>(?:couple|few)\s+of\s+(?:hundreds?|thousands?|millions?))
    | (?P<fraction>(?:(?P<top>one|two|three|a)[\s-]+)(?P<bottom>thirds?|quarters?|fourths?|fifths?|half)\b
        (?:\s+of(?:\s+an?(?=\s+(?:{_PARTED})\b))?)?)
    | (?:a\s+)?(?P<times>half|twice|double|thrice|triple|once|both|(?P<cardozen>(?:{_ONES})\s+)?dozen|couple)\b
        (?:\s+of\b)?
    | (?P<number>(?:a\s+(?=hundred|thousand|million|billion))?(?:{_ONES})(?:[\s-]+(?:and\s+)?(?:{_ONES}))*)
        (?:[\s-]+(?P<tail>{_ORDS}))?(?:\s+point\s+(?P<point>(?:(?:{_ONES})\s*)+))?\b
    | (?P<ordinal>{_ORDS})\b(?!\s+(?:of\s+all|and\s+foremost)\b)
    | (?P<roman>(?<=\w\s)(?:viii|iii|vii|xii|ii|iv|vi|ix|xi))\b
    | (?P<each>an?\s+)(?=(?:second|minute|hour|day|week|fortnight|month|year)\b)
    )""",
    re.VERBOSE,
)
# "2 and 0.5 hours", "1~ hour and 0.5"; not "2 eggs and 0.5 cup"
_HALVES = late(r"\b(\d+)~?(?: and 0\.5\b| ?([a-z]+) and 0\.5\b(?! ?[a-z]))")
_TEN, _TENS = 10, 20  # words from the second on are followed by one below the first: "twenty three"
_NEAR = 40  # characters before a number that are read for what it is
_ARTICLES = frozenset(("a", "an"))
_LASTING = PERIODS | POSSESSED
_LARGEST = 10**300  # as "hundred hundred ..." names more than can be written, and no more is told apart


def spelled(text: str, words: SplitText) -> str:
    """`text`, in lower case, with its number words as digits; `words` are the words it came from."""
    bag = words.bag
    if bag.isdisjoint(SPELT) and (bag.isdisjoint(_LASTING) or bag.isdisjoint(_ARTICLES)):
        return text
    rewritten = _SPELLED.sub(_digits, text)
    return _HALVES.sub(_with_half, rewritten) if "half" in bag else rewritten


def _with_half(match: re.Match[str]) -> str:
    return f"{match[1]}.5 {match[2]}" if match[2] else f"{match[1]}.5"


def _digits(match: re.Match[str]) -> str:
    if match["part"]:
        return "0.5 " if match["part"] == "half" else "0.25 "
    if match["many"]:
        return " "
    if match["each"]:
        return "1~ "
    if match["roman"]:
        return str(ROMAN[match["roman"]])
    if match["fraction"]:
        return _fraction(match["top"], match["bottom"], match[0])
    if match["times"]:
        word = match["times"]
        if word.endswith("dozen"):
            many = match["cardozen"]
            return str(12 * int(_value(many.split())) if many else 12)
        return TIMES.get(word) or "0.5"
    if match["ordinal"]:
        return _ordinal(match)
    found = re.split(r"[\s-]+", match["number"].strip())
    words = [word for word in found if word not in ("and", "a")]
    *heads, words = _apart(words)
    before = "".join(f"{_written(head)} " for head in heads)
    if match["tail"] and DIGITS.get(words[-1], 100) < _TENS:
        return f"{before}{_written(words)} {match['tail']}"
    if match["tail"]:
        return f"{before}{_value(words) + ORDINALS[match['tail']]}th"
    if match["point"]:
        return f"{before}{_value(words)}.{''.join(str(DIGITS.get(word, '')) for word in match['point'].split())} "
    if words[0] in SCALES and _before(match).rstrip()[-1:].isdigit():
        return match[0]
    return before + _written(words)


def _apart(words: list[str]) -> list[list[str]]:
    """The words of each number: "the wrong one three times" has two, "twenty three" is one."""
    numbers = [words[:1]]
    for one, two in pairwise(words):
        if one in DIGITS and two in DIGITS and not (DIGITS[one] >= _TENS and DIGITS[two] < _TEN):
            numbers.append([])
        numbers[-1].append(two)
    return numbers


def _written(words: list[str]) -> str:
    return "1~" if words == ["one"] else str(_value(words))


def _fraction(top: str, bottom: str, whole: str) -> str:
    if bottom == "half":
        return "0.5"
    if top == "a":
        return "3~" if bottom == "third" else whole
    under = {"t": 3, "q": 4, "fo": 4, "fi": 5}
    return f"{DIGITS[top]}/{under.get(bottom[0]) or under[bottom[:2]]}"


def _ordinal(match: re.Match[str]) -> str:
    """A "first" may be incidental; a "second" behind a number or an article is a unit of time."""
    if match["ordinal"] == "first":
        return "1~"
    if match["ordinal"] != "second":
        return f"{ORDINALS[match['ordinal']]}th"
    before = _before(match).split()[-1:] or [""]
    return match[0] if before[0] in ("a", "per", "each", "every", "one", "split") or before[0][-1:].isdigit() else "2th"


def _before(match: re.Match[str]) -> str:
    return match.string[max(0, match.start() - _NEAR) : match.start()]


def _value(words: list[str]) -> int:
    total = part = 0
    for word in words:
        if word in DIGITS:
            part += DIGITS[word]
        elif SCALES.get(word) == 100:
            part = min(max(part, 1) * 100, _LARGEST)
        elif word in SCALES:
            total += max(part, 1) * SCALES[word]
            part = 0
    return total + part
