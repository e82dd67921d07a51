"""The words of a text, read once and shared by all guards.

Knows no meanings, except which words are light: articles, pronouns, auxiliaries and such. Invariant: `words[i]` is
`tokens[i]` in lower case with straight apostrophes.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

from semcache.runtime.scoped_memo import scoped_cache

# Vowel signs and other marks of Hebrew, Arabic, Indic and Thai writing are no letters to `re`, yet part of words.
_LETTER = (
    r"(?:[^\W_]|[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u0610-\u061a\u064b-\u065f\u0670"
    r"\u0900-\u0963\u0966-\u0dff\u0e31-\u0e3a\u0e47-\u0e4e\u0eb1-\u0ecd\u102b-\u103e\u17b4-\u17d3])"
)
_TOKEN = re.compile(rf"{_LETTER}+(?:'{_LETTER}+)*")
_DIGIT = re.compile(r"\d")
_DOTTED = re.compile(r"\b(?<!\b[A-Za-z]\.)(?:[A-Za-z]\.){2,}(?!\w)")
_POSSESSIVE = re.compile(r"(?:'s|s'|')$")
_ACCENTS = re.compile("(?<=[A-Za-z])[\u0300-\u036f]+")
_SPACED = bytes(code if chr(code).isalnum() and code < 128 else 32 for code in range(256))
READINGS = 4096  # remembered texts: 25 MB for all guards together at prompts of twelve words


def vocabulary(words: str) -> frozenset[str]:
    """A set of words, written as text."""
    return frozenset(words.split())


def unaccented(text: str) -> str:
    """The text with plain Latin letters for accented ones: "Kraków" is written "Krakow" as well."""
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", text)))


def lexicon(entries: str) -> dict[str, str]:
    """The name of every spelling, from "name=spelling,spelling name ..."; an underscore in a name is a space."""
    table: dict[str, str] = {}
    for entry in entries.split():
        name, _, others = entry.partition("=")
        table |= dict.fromkeys([name, *filter(None, others.split(","))], name.replace("_", " "))
    return table


def heads(words: Iterable[str]) -> str:
    """A pattern for the first three letters of any of these words: one look ahead instead of many attempts."""
    initials: dict[str, set[str]] = {}
    for word in words:
        initials.setdefault(re.escape(word[0]), set()).add(re.escape(word[1:3]))
    return "|".join(f"{first}(?:{'|'.join(sorted(second))})" for first, second in sorted(initials.items()))


LIGHT = vocabulary(
    """
    a an the this that these those it its it's is are was were be been being am do does did done have has had having
    can could will would shall should may might must i i'm i've i'd me my mine myself we us our you your yours he him
    his she her they them their there here and or but if so than then as of in on at to for from by with about into
    what what's which who who's whom whose when where why how please just also any some really very get got go going
    need want like know tell way ways hi hello thanks
    """
)


# Content words by which two prompts may differ for a date, a number or a negation to be what tells them apart.
FEW = 2


class SplitText(NamedTuple):
    """A text with its apostrophes straightened."""

    raw: str
    lower: str
    tokens: tuple[str, ...]
    words: tuple[str, ...]
    bag: frozenset[str]
    digits: bool


@scoped_cache(maxsize=READINGS)
def read(text: str) -> SplitText:
    """Split `text` into words; hyphens, slashes and underscores separate, apostrophes inside a word do not."""
    raw = text.replace("\u2019", "'").replace("\u2018", "'")
    if "." in raw:
        raw = _DOTTED.sub(_undotted, raw)
    lower = raw.lower()
    tokens = _tokens(raw)
    words = tokens if lower == raw else _tokens(lower) if raw.isascii() else tuple(map(str.lower, tokens))
    return SplitText(raw, lower, tokens, words, frozenset(words), _DIGIT.search(raw) is not None)


def _tokens(raw: str) -> tuple[str, ...]:
    if raw.isascii() and "'" not in raw:
        return tuple(raw.encode("ascii").translate(_SPACED).decode("ascii").split())
    return tuple(_TOKEN.findall(raw))


def _undotted(match: re.Match[str]) -> str:
    """Initials without their full stops, unless the last one may end a sentence."""
    return match[0].replace(".", "")


@lru_cache(maxsize=16384)
def stem(word: str) -> str:
    """A word without the ending of a plural or possessive."""
    if "'" in word:
        word = _POSSESSIVE.sub("", word)
    if len(word) < 3 or word[-1] != "s" or word[-2] in "sui":
        return word
    return word[:-3] + "y" if len(word) > 4 and word.endswith("ies") else word[:-1]


@scoped_cache(maxsize=READINGS)
def stems(text: str) -> frozenset[str]:
    """The stems of all words of a text; apart from its reading, for few comparisons ask for them."""
    return frozenset(map(stem, read(text).bag))


@scoped_cache(maxsize=READINGS)
def content(text: str) -> frozenset[str]:
    """The stems of the words of a text that are not light."""
    return frozenset(map(stem, read(text).bag - LIGHT))


def differing(one: str, two: str) -> frozenset[str]:
    """The content words that stand in one of two texts only, those with a digit left out."""
    return frozenset(
        [word for word in content(one) ^ content(two) if word.isalpha() or not any(map(str.isdigit, word))]
    )


def all_the_difference(one: str, two: str, words: Iterable[str]) -> bool:
    """Return True if these words, in lower case, are all the content words by which two texts differ."""
    return (content(one) ^ content(two)) <= frozenset(stem(part) for word in words for part in word.split())
