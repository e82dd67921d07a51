"""Phrases that have changed places between two texts of nearly the same words, in otherwise equal surroundings.

Compares words by their place and parses no grammar. Invariant: what stands on both sides of "and", "or" and the like
has no order, and a phrase is the longest run of words that follow one another in both texts.
"""

from __future__ import annotations

from semcache.request.text import LIGHT, vocabulary

_JOINED = vocabulary("and or nor plus")
_BEING = vocabulary("is are was were be the a an as")


def swap(one: tuple[str, ...], two: tuple[str, ...], shared: frozenset[str]) -> tuple[str, bool] | None:
    """Which phrases stand in each other's surroundings, and whether that is beyond doubt.

    A phrase is as many words as follow one another in both texts. Of the four words around two phrases, at least three
    must have stayed while the phrases changed places.
    """
    phrases = _phrases(one, two, shared)
    for number, (a, c, first) in enumerate(phrases):
        for b, d, second in phrases[number + 1 :]:
            if c < d:
                continue
            between = frozenset(one[a + first : b])
            if (
                one[a].isdigit() != one[b].isdigit()
                or not between
                or (between <= LIGHT and not between.isdisjoint(_JOINED))
            ):
                continue
            if one[a].isdigit() and any(map(str.isdigit, between)):
                continue
            if _at(one, b - 1) in _JOINED and _at(two, c - 1) in _JOINED:
                continue
            stayed = (
                (_at(one, a - 1) == _at(two, d - 1))
                + (_at(one, a + first) == _at(two, d + second))
                + (_at(one, b - 1) == _at(two, c - 1))
                + (_at(one, b + second) == _at(two, c + first))
            )
            if stayed > 2:
                shown = f"{' '.join(one[a : a + first])} / {' '.join(one[b : b + second])} changed places"
                return shown, stayed == 4 and not between <= _BEING
    return None


def _phrases(one: tuple[str, ...], two: tuple[str, ...], shared: frozenset[str]) -> list[tuple[int, int, int]]:
    """Where each phrase begins in `one` and in `two`, and how many words it has."""
    places = {word: place for place, word in enumerate(two)}
    found: list[tuple[int, int, int]] = []
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
        found.append((start, place, length))
        start += length
    return found


def _at(words: tuple[str, ...], place: int) -> str:
    return words[place] if 0 <= place < len(words) else ""
