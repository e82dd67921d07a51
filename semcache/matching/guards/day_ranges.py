"""Ranges of weekdays and months, and lists of them: "Monday to Thursday" is not "Monday and Thursday".

Reads two days or months with one word between. Invariant: two that follow one another are a range as they are a list.
"""

from __future__ import annotations

import re

from semcache.matching.guards.timetable import DAYS, MONTHS
from semcache.request.text import SplitText, heads

_NAMES = sorted({*DAYS, *MONTHS}, key=len, reverse=True)
_NAME = "|".join(_NAMES)
_TWO = re.compile(
    rf"\b(?=between |{heads(_NAMES)})(?P<between>between )?"
    rf"(?P<one>{_NAME})(?:,? (?P<word>to|through|thru|until|till|and|or) | ?[-\u2013] ?)(?P<two>{_NAME})\b"
)
_LISTING = frozenset(("and", "or"))


def compare(query: SplitText, cached: SplitText) -> str | None:
    """The two days or months that are a range in one text and a list in the other; None if there are none."""
    one, two = _pairs(query), _pairs(cached)
    if found := sorted(pair for pair, ranged in one.items() if two.get(pair, ranged) != ranged):
        return " and ".join(found[0])
    return None


def _pairs(text: SplitText) -> dict[tuple[str, str], bool]:
    """Two days or months that stand together, and if they are a range."""
    found: dict[tuple[str, str], bool] = {}
    for match in _TWO.finditer(text.lower):
        pair = match["one"], match["two"]
        if not any(_follows(*pair, table, size) for table, size in ((DAYS, 7), (MONTHS, 12))):
            found[pair] = match["word"] not in _LISTING or match["between"] is not None
    return found


def _follows(one: str, two: str, table: dict[str, int], size: int) -> bool:
    return one in table and two in table and (table[two] - table[one]) % size == 1
