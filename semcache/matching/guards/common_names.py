"""Names that are common words too: "What does Apple make?" asks about a firm, "What does an apple make?" about a fruit.

Tells the two by article and capital. Invariant: a word counts as a name only with a capital inside a sentence and no
article, and as a thing only in lower case behind an article; every other writing of it tells nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.request.text import LIGHT, SplitText, vocabulary
from semcache.request.wording.letters import NAMES_OF_THINGS, is_evident
from semcache.request.wording.verbs import is_base

_ARTICLES = vocabulary("a an the")
_DETERMINERS = _ARTICLES | vocabulary("my your our his her their its this that these those each every any some no one")
# Of these name and thing are one: "the earth" is Earth.
_SAME = vocabulary(
    "earth god north south east west state house senate congress capital democratic republican liberal conservative"
    " catholic orthodox march may august general major cardinal lent advent king queen prince pope bishop"
)
_NAMES = (NAMES_OF_THINGS | vocabulary("amazon java python")) - _SAME
_ADJECTIVES = vocabulary(
    "famous known good bad safe healthy toxic dangerous poisonous expensive cheap big large small old worth made free"
)
_AUXILIARIES = vocabulary("do does did can could will would should may might must")
# Words that only blanks and quotes part: none is joined to the next sentence.
_RUN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*(?:[ \"'\u201c\u201d]+[^\W\d_]+(?:'[^\W\d_]+)*)*")


class CommonNames(NamedTuple):
    """The words of a text that are told to be names, and those that are told to be things."""

    names: frozenset[str]
    things: frozenset[str]


NOTHING = CommonNames(frozenset(), frozenset())


def read(words: SplitText) -> CommonNames:
    """The names of a text that may be things, and the things that may be names."""
    found = words.bag & _NAMES
    if not found or (_ARTICLES.isdisjoint(words.bag) and words.raw == words.lower):
        return NOTHING
    names, things = set[str](), set[str]()
    for sentence in _RUN.findall(words.raw):
        tokens = sentence.split()
        for at, token in enumerate(tokens[1:], 1):
            word, before = token.lower(), tokens[at - 1]
            if word not in found:
                continue
            behind = tokens[at + 1 : at + 3]
            if token == word and before.lower() in _ARTICLES:
                evident = is_evident(word, before, " ".join(["", *behind]))
                if not evident and _is_last(tokens[at - 2].lower() if at > 1 else "", behind):
                    things.add(word)
            elif token.istitle() and before.lower() not in _DETERMINERS and not any(map(_titled, (before, *behind))):
                names.add(word)
    return CommonNames(frozenset(names), frozenset(things)) if names or things else NOTHING


def differing(one: CommonNames, two: CommonNames) -> str | None:
    """A word that is a name in one of two texts and a thing in the other; None if there is none."""
    return min((one.names & two.things) | (one.things & two.names), default=None)


def _is_last(before: str, behind: list[str]) -> bool:
    """Return True if no noun comes behind a word, as in "a helm chart"; `before` stands before its article."""
    if not behind or behind[0].lower() in LIGHT or behind[0].lower() in _ADJECTIVES:
        return True
    return before in _AUXILIARIES and is_base(behind[0]) and not (len(behind) > 1 and is_base(behind[1]))


def _titled(word: str) -> bool:
    return word[:1].isupper() and word != "I"
