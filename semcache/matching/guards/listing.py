"""The comparison of the order that a list is wanted in: which end comes first, and by what it is sorted, in turn.

Knows superlatives by the axis that they are the ends of. Invariant: an order that only one of the texts wants is no
finding, nor are ends of two different axes, such as the oldest first and the largest first.
"""

from __future__ import annotations

import re

from semcache.request.text import read as read_text
from semcache.request.text import stem, vocabulary
from semcache.runtime.scoped_memo import scoped_cache
from semcache.types import Conflict

_ENDS = {
    "size": (
        "smallest lowest least fewest shortest cheapest lightest",
        "largest biggest highest greatest most longest dearest priciest heaviest",
    ),
    "pace": ("slowest", "fastest quickest"),  # the fastest takes the shortest time
    "age": ("oldest earliest", "newest latest youngest"),
    "worth": ("best", "worst"),
    "effort": ("easiest simplest", "hardest"),
    "distance": ("nearest closest", "farthest furthest"),
}
_SIDES = {word: (axis, side) for axis, ends in _ENDS.items() for side in (0, 1) for word in ends[side].split()}
_SIDES |= {"most expensive": ("size", 1), "most recent": ("age", 1), "least expensive": ("size", 0)}
_WORDS = "|".join(sorted(_SIDES, key=len, reverse=True))
_STANDS = r"(?=\s*(?:$|[.,;:!?)\]\n]|(?:and|then|please|pls)\b))"
_FIRST = re.compile(
    rf"\b(?P<word>{_WORDS})(?: \w+){{0,2}} (?:(?P<first>first|on top|at the top|at the beginning)"
    rf"|(?P<last>last|at the end|at the bottom)){_STANDS}"
)
_ACROSS = re.compile(rf"\b(?P<word>{_WORDS})(?: \w+)? (?:to|through|down to|up to)(?: the)? (?P<other>{_WORDS})\b")
_NAMED = re.compile(r"\b(?:(?P<up>ascending|increasing order)|(?P<down>descending|decreasing order))\b")
_BY = r"(?:the |their |its )?(?!(?:all|and|any|far|now|one|the|two|way)\b)([a-z]{3,})\b"
_SORTED = re.compile(
    r"\b(?:sort|order|arrang|rank|group)(?:ed|es?|s|ing)?\b[^.;:?!,\n]{0,30}?"
    rf"\bby {_BY}(?:,? (?:and|then|and then)(?: by)? {_BY})?"
)
_KEY = "by"
_TURN = "in turn"
_EXTREME = ("est", "most", "worst", "least")  # of which each word of `_SIDES` has one
_CUES = vocabulary("first last top end beginning bottom ascending descending increasing decreasing to through by")
# Words for one key, by that which stands for all of them.
_KEYS = {"alphabet": "name", "alphabetical": "name", "title": "name", "cost": "price", "day": "date", "time": "date"}
_KEYS |= {"surname": "family", "where": "place"}


def compare(query: str, cached: str) -> Conflict | None:
    """The finding where both texts want a list in an order, and not in the same."""
    ours, theirs = _wanted(query), _wanted(cached)
    for axis, first in ours.items():
        other = theirs.get(axis, first)
        if other == first or (axis == _TURN and sorted(other.split()) != sorted(first.split())):
            continue
        if axis != _KEY or _are_two(first, other, _stems(query), _stems(cached)):
            return Conflict("listing", f"{'by ' if axis in (_KEY, _TURN) else ''}{first} / {other}")
    return None


@scoped_cache(maxsize=1024)
def _wanted(text: str) -> dict[str, str]:
    """The end that comes first on each axis; an axis with both ends in front is left out.

    The first key is under `_KEY`, and the first two, where it says both, under `_TURN`.
    """
    words = read_text(text)
    if words.bag.isdisjoint(_CUES):
        return {}
    lower = words.lower
    extreme = any(part in lower for part in _EXTREME)
    found: dict[str, set[str]] = {}
    for match in _FIRST.finditer(lower) if extreme else ():
        axis, side = _SIDES[match["word"]]
        found.setdefault(axis, set()).add(_first(axis, side if match["first"] else 1 - side))
    for match in _ACROSS.finditer(lower) if extreme else ():
        axis, side = _SIDES[match["word"]]
        if _SIDES[match["other"]] == (axis, 1 - side):
            found.setdefault(axis, set()).add(_first(axis, side))
    for match in _NAMED.finditer(lower) if "scending" in lower or "creasing order" in lower else ():
        found.setdefault("size", set()).add(_first("size", 0 if match["up"] else 1))
    wanted = {axis: sides.pop() for axis, sides in found.items() if len(sides) == 1}
    sorting = _SORTED.finditer(lower) if "by " in lower else ()
    keys = [[_key(word) for word in match.groups() if word] for match in sorting]
    if len({first for first, *_ in keys}) == 1:
        wanted[_KEY] = keys[0][0]
    if len(keys) == 1 and len(keys[0]) == 2:
        wanted[_TURN] = " ".join(keys[0])
    return wanted


def _key(word: str) -> str:
    plain = stem(word)
    return _KEYS.get(plain, plain)


def _are_two(key: str, other: str, ours: frozenset[str], theirs: frozenset[str]) -> bool:
    """Return True for two keys that are not one in other letters, of which the other text does not have ours."""
    return not (key in theirs or other in ours or key.startswith(other) or other.startswith(key))


def _first(axis: str, side: int) -> str:
    """The word for an end of an axis."""
    return _ENDS[axis][side].partition(" ")[0]


@scoped_cache(maxsize=1024)
def _stems(text: str) -> frozenset[str]:
    """The stems of a text, in which a key may stand without being one."""
    return frozenset(_KEYS.get(word, word) for word in map(stem, read_text(text).bag))
