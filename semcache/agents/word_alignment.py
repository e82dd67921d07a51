"""The alignment of a pattern with the words of a task (Needleman and Wunsch 1970), in which a gap takes several words.

Knows words and gaps alone, no values. Invariant: the ranges come in order, do not overlap, and one of a fixed word is
that word or empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from semcache.agents.pattern_gap import PatternGap
from semcache.agents.slots import STOP, TaskWord, stem

Element: TypeAlias = str | PatternGap

_STOP_WEIGHT = 0.3
_SURPLUS = 0.8  # of a word's weight: a word outside every gap
_EXTENSION = 0.01  # of each word in a gap: of two alignments the one with the shorter gaps


def weight(word: str) -> float:
    """The weight of a word in an alignment."""
    return _STOP_WEIGHT if word in STOP else 1.0


def align(elements: Sequence[Element], said: Sequence[TaskWord]) -> list[tuple[int, int]]:
    """For every element the words it takes, as a range; an element that takes none has an empty one.

    `level[j]` is the best score of the elements so far and the first j words; a gap opens at some j and takes all words
    up to where it closes.
    """
    weights = [weight(word.stem) for word in said]
    spans = len(said) + 1
    level = [0.0] * spans
    back: list[list[tuple[int, bool]]] = []  # where each element starts for every end, and whether it is taken
    for place in range(1, spans):
        level[place] = level[place - 1] - _SURPLUS * weights[place - 1]
    for element in elements:
        root = stem(element) if isinstance(element, str) else ""
        after, origin = [0.0] * spans, [(0, False)] * spans
        fixed = isinstance(element, str)
        cost = weight(element) if isinstance(element, str) else 0.0 if element.optional else 1.0
        running, opened = float("-inf"), 0
        for place in range(spans):
            best, source = level[place] - cost, (place, False)
            if place:
                if fixed:
                    if said[place - 1].stem == root:
                        score = level[place - 1] + cost
                        if score > best:
                            best, source = score, (place - 1, True)
                else:
                    fresh = level[place - 1]
                    if fresh >= running:
                        running, opened = fresh, place - 1
                    running -= _EXTENSION
                    if running > best:
                        best, source = running, (opened, True)
                surplus = after[place - 1] - _SURPLUS * weights[place - 1]
                if surplus > best:
                    best, source = surplus, (-1, False)
            after[place], origin[place] = best, source
        level = after
        back.append(origin)
    path: list[tuple[int, int]] = []
    place = len(said)
    for origin in reversed(back):
        while origin[place][0] < 0:
            place -= 1
        start, taken = origin[place]
        path.append((start, place) if taken else (place, place))
        place = start
    return path[::-1]
