"""The alignment of a pattern with the words of a task (Needleman and Wunsch 1970), in which a gap takes several words.

Knows words and gaps alone, no values. Invariant: the ranges come in order, do not overlap, and one of a fixed word is
that word or empty.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from semcache.agents.pattern_gap import PatternGap, Writing
from semcache.agents.slots import STOP, TaskWord, stem

Element: TypeAlias = str | PatternGap
_Origin: TypeAlias = tuple[int, bool]  # where an element starts, and whether it takes the words from there

_STOP_WEIGHT = 0.3
_SURPLUS = 0.8  # of a word's weight: a word outside every gap
_NEVER = float("-inf")
_LEFT: _Origin = (-1, False)  # the last word is one that no element takes
_CHOOSING = frozenset(("next", "last", "this"))  # before a day or a month, and never the end of a name
_EXTENSION = 0.01  # of each word in a gap: of two alignments the one with the shorter gaps


def weight(word: str) -> float:
    """The weight of a word in an alignment."""
    return _STOP_WEIGHT if word in STOP else 1.0


def align(elements: Sequence[Element], said: Sequence[TaskWord]) -> list[tuple[int, int]]:
    """For every element the words it takes, as a range; an element that takes none has an empty one.

    `level[j]` is the best score of the elements so far and the first j words; a gap opens at some j and takes all words
    up to where it closes.
    """
    surplus = [_SURPLUS * weight(word.stem) for word in said]
    level = [0.0]
    for cost in surplus:
        level.append(level[-1] - cost)
    origins: list[list[_Origin]] = []  # of each element, for every end
    for element in elements:
        taking = _fixed(element, said, level) if isinstance(element, str) else _gap(level)
        missing = weight(element) if isinstance(element, str) else 0.0 if element.optional else 1.0
        level, origin = _extended(level, taking, missing, surplus)
        origins.append(origin)
    return _parted(elements, _ranges(origins, len(said)), said)


def _fixed(element: str, said: Sequence[TaskWord], level: Sequence[float]) -> Iterator[tuple[float, int]]:
    """For every end but the first, the score where a word is taken there, and where it starts."""
    root, gain = stem(element), weight(element)
    for start, word in enumerate(said):
        yield (level[start] + gain if word.stem == root else _NEVER), start


def _gap(level: Sequence[float]) -> Iterator[tuple[float, int]]:
    """For every end but the first, the score of the best gap that ends there, and where it starts."""
    running, opened = _NEVER, 0
    for start in range(len(level) - 1):
        if level[start] >= running:
            running, opened = level[start], start
        running -= _EXTENSION
        yield running, opened


def _extended(
    level: Sequence[float], taking: Iterable[tuple[float, int]], missing: float, surplus: Sequence[float]
) -> tuple[list[float], list[_Origin]]:
    """The best scores with one more element: it takes words, is missing, or stands before a word that none takes."""
    best = level[0] - missing
    after, origin = [best], [(0, False)]
    for place, ((score, start), cost) in enumerate(zip(taking, surplus, strict=True), 1):
        left = best - cost
        best, source = level[place] - missing, (place, False)
        if score > best:
            best, source = score, (start, True)
        if left > best:
            best, source = left, _LEFT
        after.append(best)
        origin.append(source)
    return after, origin


def _ranges(origins: Sequence[Sequence[_Origin]], end: int) -> list[tuple[int, int]]:
    """The words of each element on the best path, read from its end."""
    path: list[tuple[int, int]] = []
    for origin in reversed(origins):
        while origin[end] is _LEFT:
            end -= 1
        start, taken = origin[end]
        path.append((start if taken else end, end))
        end = start
    return path[::-1]


def _parted(
    elements: Sequence[Element], path: list[tuple[int, int]], said: Sequence[TaskWord]
) -> list[tuple[int, int]]:
    """The ranges with "Ann Lee | next Friday" for "Ann Lee next | Friday", where no fixed word stands between."""
    for place in range(len(path) - 1):
        one, two = elements[place], elements[place + 1]
        (start, end), (first, stop) = path[place], path[place + 1]
        if isinstance(one, str) or isinstance(two, str) or not (end == first < stop and end - start > 1):
            continue
        if said[end - 1].stem in _CHOOSING and Writing.QUALIFIED in two.took - one.took:
            path[place], path[place + 1] = (start, end - 1), (end - 1, stop)
    return path
