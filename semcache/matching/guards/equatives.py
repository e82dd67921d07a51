"""Equatives: "is A as fast as B?" against "is A faster than B?", of which a yes to one is no yes to the other.

Reads the adjective between "as" and "as", and comparatives by their endings. Parses no grammar. Invariant: texts
conflict only where one equates and the other compares by the same adjective, and neither denies or multiplies it.
"""

from __future__ import annotations

import re
from itertools import pairwise

from semcache.request.text import differing, vocabulary
from semcache.request.text import read as read_text

_EQUATED = re.compile(
    r"\bas (?!soon\b|long as (?:i|we|you|it|they|the)\b|far as (?:i|we|you)\b|well\b|if\b)"
    r"([a-z]+)(?: [a-z]+){0,3}? as\b"
)
_EQUAL = re.compile(r"\bequally ([a-z]+)\b")
_EXCLUDING = vocabulary(
    "not no never none nothing nobody nowhere neither nor twice thrice half double times almost nearly less least"
)
_IRREGULAR = {
    "good": ("better",),
    "well": ("better",),
    "bad": ("worse",),
    "badly": ("worse",),
    "much": ("more",),
    "many": ("more",),
    "little": ("less",),
    "few": ("fewer",),
    "far": ("farther", "further"),
}
_VOWELS = frozenset("aeiou")
_MOST = 4  # content words by which the texts may differ


def compare(query: str, cached: str) -> str | None:
    """The adjective by which one text equates what the other compares; None where none does."""
    one, two = read_text(query), read_text(cached)
    for equating, comparing in ((one, two), (two, one)):
        if not ("as" in equating.bag or "equally" in equating.bag) or not _plain(equating.bag, comparing.bag):
            continue
        if any(pattern.search(comparing.lower) is not None for pattern in (_EQUATED, _EQUAL)):
            continue
        for pattern in (_EQUATED, _EQUAL):
            for match in pattern.finditer(equating.lower):
                adjective = match[1]
                if _is_compared(adjective, comparing.words) and len(differing(query, cached)) <= _MOST:
                    return f"as {adjective} as / more than that"
    return None


def _plain(*bags: frozenset[str]) -> bool:
    """Return True if nothing in the texts denies or multiplies."""
    return all(
        bag.isdisjoint(_EXCLUDING) and not any(word.endswith("n't") or word.isdigit() for word in bag) for bag in bags
    )


def _is_compared(adjective: str, words: tuple[str, ...]) -> bool:
    """Return True if these words have the comparative of an adjective."""
    if not _comparatives(adjective).isdisjoint(words):
        return True
    return any(before == "more" and word == adjective for before, word in pairwise(words))


def _comparatives(adjective: str) -> frozenset[str]:
    if adjective in _IRREGULAR:
        return frozenset(_IRREGULAR[adjective])
    found = {adjective + "er", adjective + "r"}
    if adjective.endswith("y"):
        found.add(adjective[:-1] + "ier")
    if adjective[-1] not in _VOWELS:
        found.add(f"{adjective}{adjective[-1]}er")
    return frozenset(found)
