"""Capitals that make other words of the same letters: "US" and "us", "-a" and "-A", where embedders see no case.

Invariant: texts that differ in more than capitals and marks are none of its business. A writer without capitals tells
nothing by leaving one out, unless the word may well be another one.
"""

from __future__ import annotations

import re

from semcache.matching.guards import nationalities
from semcache.matching.guards.units import UNITS
from semcache.request.wording import canonical, letters

_PLAIN = re.compile(r"\w(?:[\w'\u2019-]*\w)?")  # a word, and no option, quotation or formula
_MARKS = str.maketrans(dict.fromkeys(",.?!;:", " "))


def tell(query: str, cached: str) -> bool:
    """Return True for texts of the same letters whose capitals are no matter of style: "US" and "us", "-a" and "-A"."""
    one, two = query.translate(_MARKS).split(), cached.translate(_MARKS).split()
    if one == two or len(one) != len(two) or [word.lower() for word in one] != [word.lower() for word in two]:
        return False
    if canonical(query).text == canonical(cached).text:
        return False
    if not (_without_capitals(one) or _without_capitals(two)):
        return True
    america = nationalities.names_america(query.lower())
    pairs = enumerate(zip(one, two, strict=True))
    return any(_apart(*pair, place, len(one), america=america) for place, pair in pairs)


def _without_capitals(words: list[str]) -> bool:
    """Return True for a writer who uses none, other than for "I"."""
    return all(word == "I" or word == word.lower() for word in words)


def _apart(one: str, two: str, place: int, of: int, *, america: bool) -> bool:
    """Return True if two writings of a word may be two words, though one of the writers has no capitals.

    `america` is that "us" names the country.
    """
    if one == two:
        return False
    if one.lower() == "us" and america:
        return False
    if _PLAIN.fullmatch(one) is None or one.lower() in UNITS:
        return True
    return letters.lowered(one, not place) != letters.lowered(two, not place) and letters.may_be_another(one, two, of)
