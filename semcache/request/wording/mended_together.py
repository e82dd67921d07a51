"""The mending of two texts that may be one: a word that nobody knows is read as the word of the other that it may be.

`mending` reads a slip as the word that is likeliest anywhere. Beside a text with a word that it is a slip of as well,
that word is likelier still: nearly all else in two such texts is the same. Pure. Invariant: a word that stands in a
dictionary or in both texts, a number and code stay; a name is read for a slip only where letters changed places.
"""

from __future__ import annotations

import re

from semcache.request.text import LIGHT
from semcache.request.wording import misspelt
from semcache.request.wording.mending import mended, mended_with
from semcache.request.wording.terms import is_another_form
from semcache.request.wording.text_speak import SPOKEN
from semcache.runtime.scoped_memo import scoped_cache

_WORD = re.compile(r"(?<![\w'.@/-])[^\W\d_]{2,24}(?![\w@/'-]|\.\w)")
_AND_OR_IN = re.compile(r"(?<=[a-z] )n(?= [a-z])")
_NO_NAME = 1_000_000  # occurrences from which a word is not taken for a name
_RARE, _FREQUENT = 300_000, 20_000_000  # those of a word that is rather a slip, and of the word that it is one of
_LONG = 6  # letters of a word in which two slips are made, and of a name in which letters change places
_SHORTEST = 4
_LONGEST = 400  # characters of a text of which every word is told
_MOST = 8  # strange words of a text; one that has more is in another language, or made to be slow to read


def mended_together(one: str, two: str) -> tuple[str, str]:
    """Both texts with their slips and text-speak read as words, those of the other where they fit.

    >>> mended_together("how 2 opne a csv flie", "How do I open a CSV file?")
    ('how to open a csv file', 'How do I open a CSV file?')
    """
    if max(len(one), len(two)) > _LONGEST:
        return mended(one), mended(two)
    if (len(_strange(one)), one) < (len(_strange(two)), two):
        return mended_together(two, one)[::-1]
    left = _mended_beside(one, two)
    return left, _mended_beside(two, left)


def _mended_beside(text: str, other: str) -> str:
    said = _words(other)
    if "in" in said and "and" not in said and " n " in text:
        text = _AND_OR_IN.sub("in", text)
    strange = _strange(text)
    if not 0 < len(strange) <= _MOST:
        return mended(text)
    own = _words(text)
    offered = tuple([written for word, written in said.items() if word not in own])
    known_as = {word: word for word in strange if word in said}
    known_as |= {word: found for word in strange - known_as.keys() if (found := _meant(word, offered)) is not None}
    return mended_with(text, tuple(sorted(known_as.items()))) if known_as else mended(text)


@scoped_cache(maxsize=4096)
def _words(text: str) -> dict[str, str]:
    """The words of a text, each as it is first written, by what they are in lower case."""
    found: dict[str, str] = {}
    for word in _WORD.findall(text):
        found.setdefault(word.lower(), word)
    return found


@scoped_cache(maxsize=4096)
def _strange(text: str) -> frozenset[str]:
    """The words of a text that no dictionary has, or hardly anybody uses."""
    frequencies = misspelt.frequencies()
    return frozenset(
        [
            word
            for word, written in _words(text).items()
            if len(word) > 2 and word not in SPOKEN and word.isascii()
            if word not in misspelt.dictionary() or (frequencies.get(word, 0) < _RARE and word == written)
        ]
    )


@scoped_cache(maxsize=4096)
def _meant(word: str, offered: tuple[str, ...]) -> str | None:
    """The one of these words that this one is a slip of; None for none, and where it may be several."""
    found = [low for other in offered if _may_be(word, low := other.lower(), named=other != low)]
    return found[0] if len(found) == 1 else None


def _may_be(word: str, other: str, *, named: bool) -> bool:
    """Return True if a word may be a slip of `other`, which may be a name, and of no frequent word sooner."""
    if other in LIGHT or len(other) < _SHORTEST or abs(len(word) - len(other)) > 2 or is_another_form(word, other):
        return False
    if word[0] != other[0] and word[:2] != other[1::-1]:
        return False
    slips = misspelt.slips_between(word, other)
    if word in misspelt.dictionary():
        shorter = len(word) < len(other) or sorted(word) == sorted(other)
        return shorter and slips == 1 and misspelt.frequencies().get(other, 0) >= _FREQUENT
    if misspelt.frequencies().get(other, 0) < _NO_NAME:
        swapped = len(word) == len(other) and sorted(word) == sorted(other)
        return len(other) >= _LONG and slips == 1 and (swapped or (other in misspelt.dictionary() and not named))
    if slips > 1 + (len(other) >= _LONG):
        return False
    return slips <= min(misspelt.candidates(word).values(), default=slips)
