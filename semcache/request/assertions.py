"""The statements of a text: what two texts both state, and whether they state it of the same things.

"A is cheap, B has a pool" and "A has a pool, B is cheap" have one vocabulary and tell of two worlds. Parses no grammar:
a statement ends at a comma, at a full stop and at "and", save that a phrase of place or time at the front of a sentence
belongs to what follows. Invariant: texts whose shared words stand in one order are never told apart by `regrouped`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from semcache.request.text import LIGHT
from semcache.request.text import read as read_text

_ENDS = re.compile(
    r"(?:[.;:!?](?=\s|$)|,(?=\s)|\n|\s(?:[-\u2013\u2014]|and|or|but|while|whereas|und|oder|aber|et|ou|mais|y|o|pero|e)"
    r"(?=\s))+",
    re.IGNORECASE,
)
_FRONTED = re.compile(
    r"((?:^|[.!?:]\s+|\n\s*)(?:in|on|at|for|from|by|with|without|during|after|before|since|until|under|within|if|when"
    r"|because|as|while)\b[^,.;:!?\n]*),(?=\s)",
    re.IGNORECASE,
)


def regrouped(one: str, two: str) -> bool:
    """Return True if words that two texts share are said of other things in one of them.

    Only words count that either text says once. Within a statement one phrase may move past the others.
    """
    ours, theirs = read_text(one).words, read_text(two).words
    counted = Counter(ours), Counter(theirs)
    placed = {word for word in counted[0] if counted[0][word] == counted[1][word] == 1} - LIGHT
    if [word for word in ours if word in placed] == [word for word in theirs if word in placed]:
        return False
    left, right = ([kept for part in _statements(text) if (kept := _of(part, placed))] for text in (one, two))
    if len(left) != len(right):
        return True
    return any(set(first) != set(second) or exchanged(first, second) for first, second in zip(left, right, strict=True))


def unshared(one: str, two: str) -> tuple[str, str]:
    """The statements of each text that the other does not make in the same content words; both "" if there are none."""
    left, right = ([(part, _content(part)) for part in _statements(text)] for text in (one, two))
    ours, theirs = Counter(said for _, said in left), Counter(said for _, said in right)
    return _without(left, theirs), _without(right, ours)


def exchanged(one: Sequence[str], two: Sequence[str]) -> bool:
    """Return True if two orders of the same distinct words differ by more than a phrase that moved.

    Moving one phrase past another is a rotation of the words between; two words that change places around a third one
    are none.
    """
    start, end = 0, len(one)
    while start < end and one[start] == two[start]:
        start += 1
    while start < end and one[end - 1] == two[end - 1]:
        end -= 1
    left, right = list(one[start:end]), list(two[start:end])
    return bool(left) and not any(left[cut:] + left[:cut] == right for cut in range(1, len(left)))


# Reading


def _statements(text: str) -> list[str]:
    parts = _ENDS.split(_FRONTED.sub(r"\1", text))
    return [part.strip() for part in parts if part.strip()]


def _of(part: str, placed: set[str]) -> list[str]:
    return [word for word in read_text(part).words if word in placed]


def _content(part: str) -> tuple[str, ...]:
    return tuple(sorted(set(read_text(part).words) - LIGHT))


def _without(parts: Sequence[tuple[str, tuple[str, ...]]], others: Counter[tuple[str, ...]]) -> str:
    """The parts that are none of the others', each of which accounts for one."""
    left, kept = Counter(others), []
    for part, said in parts:
        if left[said] > 0:
            left[said] -= 1
        elif said:
            kept.append(part)
    return ". ".join(kept)
