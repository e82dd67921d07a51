"""Belonging: an owner and what it owns, a word and what it describes, an asker and the role he has.

"The IP of a host name" is not "the host name of an IP", "milk chocolate" is not "chocolate milk", and "an expired visa
in a valid passport" is not "a valid visa in an expired passport". Parses no grammar: "of", "'s", "as" and words that
follow one another. Invariant: two texts are told apart only by two words of both that have changed places.
"""

from __future__ import annotations

import re
from itertools import combinations, pairwise
from typing import NamedTuple, TypeAlias

from semcache.request.text import LIGHT, SplitText, stem, vocabulary
from semcache.request.text import read as read_text

_Pairs: TypeAlias = frozenset[tuple[str, str]]

_LONGEST = 40  # words
_REACH = 4  # words of a noun phrase
_SKIPPED = vocabulary("a an the my our your his her their its this that these those each every any some")
_IS = vocabulary("what's who's how's where's when's it's that's there's here's let's he's she's one's why's")
# What has a place of its own and describes no thing.
_LOOSE = vocabulary(
    """
    not all both each only even still already always never ever often sometimes usually again together online offline
    too well now today tomorrow yesterday abroad alone free best better first last early late twice once more most less
    least one ones thing things much many no per up down out off over back away home via without near like than after
    before other
    """
)
_PARTS = re.compile(r"[,;:()](?=\s)|(?<=\s)[,;:()-]")
_ROLES = re.compile(r"\b(?:me|i|we|us|you) as (?:an? |the |my |our )?(?P<role>[a-z]{3,})\b")


class Attachments(NamedTuple):
    """`owned` are a thing and its owner, `described` a word and the next, `roles` what somebody asks as.

    `tokens` are the words as they are written.
    """

    tokens: tuple[str, ...]
    owned: _Pairs
    described: _Pairs
    roles: frozenset[str]


_NOTHING = Attachments((), frozenset(), frozenset(), frozenset())


def read(text: SplitText) -> Attachments:
    """Return the belongings that a text names; none of a long one."""
    words = text.words
    if len(words) > _LONGEST:
        return _NOTHING
    described = [
        (stem(one), stem(two))
        for part in _PARTS.split(text.lower)
        for one, two in pairwise(read_text(part).words)
        if _is_thing(one) and _is_thing(two) and "'" not in one
    ]
    roles = frozenset(stem(match["role"]) for match in _ROLES.finditer(text.lower)) if "as" in text.bag else frozenset()
    return Attachments(text.tokens, frozenset(_owned(words)), frozenset(described), roles)


def exchanged(one: Attachments, two: Attachments) -> str | None:
    """Return an explanation that names two things that changed places; None if none did."""
    for thing, owner in one.owned - two.owned:
        if (owner, thing) in two.owned - one.owned:
            return f"{min(thing, owner)} and {max(thing, owner)} own each other"
    only = sorted(one.described - two.described)
    for (first, thing), (second, other) in combinations(only, 2):
        turned = {(second, thing), (first, other)}
        if turned <= two.described and turned.isdisjoint(one.described) and first != second and thing != other:
            return f"{min(first, second)} and {max(first, second)} describe each other's thing"
    if one.roles and two.roles and one.roles.isdisjoint(two.roles) and {*one.roles, *two.roles} <= _both(one, two):
        return " / ".join(sorted((min(one.roles), min(two.roles))))
    return _inverted(one.tokens, two.tokens)


def _owned(words: tuple[str, ...]) -> list[tuple[str, str]]:
    """Each thing with its owner, by the last words of what names them."""
    found: list[tuple[str, str]] = []
    for place, word in enumerate(words):
        if word == "of" and place and _is_thing(words[place - 1]):
            owner = _last(words, place + 1)
            if owner and owner != stem(words[place - 1]):
                found.append((stem(words[place - 1]), owner))
        elif word.endswith("'s") and word not in _IS:
            thing = _last(words, place + 1)
            if thing and thing != stem(word):
                found.append((thing, stem(word)))
    return found


def _last(words: tuple[str, ...], start: int) -> str:
    """The stem of the last word of the noun phrase that begins at `start`, up to an owner; "" for none."""
    found = ""
    for word in words[start : start + _REACH]:
        if word in _SKIPPED and not found:
            continue
        if not _is_thing(word):
            break
        found = stem(word)
        if word.endswith("'s"):
            break
    return found


def _inverted(one: tuple[str, ...], two: tuple[str, ...]) -> str | None:
    """Two words that follow one another and stand the other way round in texts that are equal in all else.

    A name may stand on either side: "the River Thames" is "the Thames River".
    """
    if len(one) != len(two) or LIGHT.isdisjoint(one):
        return None
    apart = [place for place, pair in enumerate(zip(one, two, strict=True)) if pair[0] != pair[1]]
    if len(apart) != 2 or apart[1] != apart[0] + 1:
        return None
    first, second = one[apart[0]], one[apart[1]]
    turned = (first, second) == (two[apart[1]], two[apart[0]])
    if not turned or not (first.islower() and second.islower() and _is_thing(first) and _is_thing(second)):
        return None
    return f"{min(first, second)} and {max(first, second)} changed places"


def _both(one: Attachments, two: Attachments) -> set[str]:
    return {stem(word.lower()) for word in one.tokens} & {stem(word.lower()) for word in two.tokens}


def _is_thing(word: str) -> bool:
    return word not in LIGHT and word not in _LOOSE and not word.endswith("ly") and not any(map(str.isdigit, word))
