"""Phrases that have changed places between two texts of nearly the same words, in otherwise equal surroundings.

Compares words by their place and parses no grammar. Invariant: what stands on both sides of "and", "or" and the like
has no order, and a phrase is the longest run of words that follow one another in both texts.
"""

from __future__ import annotations

from typing import NamedTuple

from semcache.matching.guards.base import GuardFinding
from semcache.request.text import LIGHT, vocabulary

_JOINED = vocabulary("and or nor plus")
_BEING = vocabulary("is are was were be the a an as")


class _Phrase(NamedTuple):
    """Where a phrase begins in one text and in the other, and how many words it has."""

    here: int
    there: int
    length: int


def swap(one: tuple[str, ...], two: tuple[str, ...], shared: frozenset[str]) -> GuardFinding | None:
    """The phrases that stand in each other's surroundings.

    A phrase is as many words as follow one another in both texts. Of the four words around two phrases, at least three
    must have stayed while the phrases changed places.
    """
    phrases = _phrases(one, two, shared)
    for number, first in enumerate(phrases):
        for second in phrases[number + 1 :]:
            if first.there < second.there or not _is_ordered(one, two, first, second):
                continue
            stayed = _stayed(one, two, first, second)
            if stayed > 2:
                shown = " / ".join(" ".join(one[each.here : each.here + each.length]) for each in (first, second))
                between = frozenset(one[first.here + first.length : second.here])
                return GuardFinding(f"{shown} changed places", stayed == 4 and not between <= _BEING)
    return None


def _is_ordered(one: tuple[str, ...], two: tuple[str, ...], first: _Phrase, second: _Phrase) -> bool:
    """Return True if the order of two phrases tells something, as it does not on both sides of an "and"."""
    between = frozenset(one[first.here + first.length : second.here])
    numbered = one[first.here].isdigit()
    if numbered != one[second.here].isdigit() or not between or (numbered and any(map(str.isdigit, between))):
        return False
    if between <= LIGHT and not between.isdisjoint(_JOINED):
        return False
    behind = one[first.here + first.length : second.here]
    start = first.here - len(behind) + 1
    if behind[0] in _JOINED and start >= 0 and one[start : first.here] == behind[1:]:
        return False  # "a litre of oil or a litre of water"
    return _at(one, second.here - 1) not in _JOINED or _at(two, first.there - 1) not in _JOINED


def _stayed(one: tuple[str, ...], two: tuple[str, ...], first: _Phrase, second: _Phrase) -> int:
    """How many of the four words around two phrases that changed places have stayed."""
    return (
        (_at(one, first.here - 1) == _at(two, second.there - 1))
        + (_at(one, first.here + first.length) == _at(two, second.there + second.length))
        + (_at(one, second.here - 1) == _at(two, first.there - 1))
        + (_at(one, second.here + second.length) == _at(two, first.there + first.length))
    )


def _phrases(one: tuple[str, ...], two: tuple[str, ...], shared: frozenset[str]) -> list[_Phrase]:
    """The longest runs of words that follow one another in both texts."""
    places = {word: place for place, word in enumerate(two)}
    found: list[_Phrase] = []
    start = 0
    while start < len(one):
        word = one[start]
        if word not in shared or one.count(word) != 1 or two.count(word) != 1:
            start += 1
            continue
        place, length = places[word], 1
        while _at(one, start + length) == _at(two, place + length) != "":
            length += 1
        while one[start + length - 1] in LIGHT:
            length -= 1
        found.append(_Phrase(start, place, length))
        start += length
    return found


def _at(words: tuple[str, ...], place: int) -> str:
    return words[place] if 0 <= place < len(words) else ""
