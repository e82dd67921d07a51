"""References by position: "the latter", "the first one".

Knows words that point, and the order of words. Invariant: two texts are told apart only if both point, and words that
they share are in another order.
"""

from __future__ import annotations

import re

from semcache.request.text import read as read_text
from semcache.request.text import vocabulary

_PLACES = vocabulary("former latter respectively first second third last")
_PLACED = re.compile(
    r"\b(?:the (?:former|latter)|respectively)\b"
    r"|\b(?:first|second|third|last) (?:one|of (?:them|these|those|the two)|mentioned|named)\b"
)
_LIGHT = vocabulary("a an the and or with of in on at to for by is are was were do does did which what how")


def points(text: str) -> bool:
    """Return True if a text picks one of the things that it names by its place."""
    return not read_text(text).bag.isdisjoint(_PLACES) and _PLACED.search(text.lower()) is not None


def exchanged(one: str, two: str) -> bool:
    """Return True if both texts point, and the words that they share stand in another order."""
    return points(one) and points(two) and reordered(one, two)


def reordered(one: str, two: str) -> bool:
    """Return True if words that two texts share stand in another order; articles and the like aside."""
    ours, theirs = read_text(one).words, read_text(two).words
    shared = set(ours) & set(theirs) - _LIGHT
    return [word for word in ours if word in shared] != [word for word in theirs if word in shared]
