"""Sorts of values: persons and things, as far as their words tell, and shapes of identifiers.

The names are those of Faker's provider lists (MIT; `python -m eval.person_names` writes them), the ordinary words
those of symspellpy; both are loaded on first use. Knows no tasks.
Invariant: no value is of two sorts, and one of which the words do not tell the sort is of none.
"""

from __future__ import annotations

import re
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from semcache.request.text import unaccented, vocabulary
from semcache.request.wording.misspelt import frequencies

_LONGEST = 4  # words of a value that is read; a longer one is free text
_ORDINARY = 4_500_000  # occurrences of a word that is an ordinary one
_KNOWN = 2_000_000  # those of a word that is no name, alone
_TITLE = re.compile(r"(?:mr|mrs|ms|miss|dr|prof|professor|sir|madam|mx)\.? (?=\w)", re.IGNORECASE)
_FIRM = re.compile(r"\w,? (?:Inc|Ltd|LLC|LLP|PLC|Corp|GmbH|AG|Co)\.?\Z")
_INITIAL = re.compile(r" [A-Z]\.?(?= |\Z)")
_SHAPES = {
    "tag": re.compile(r"#\S+"),
    "path": re.compile(r"\S*/\S*"),
    "file": re.compile(r"(?:[\w-]+\.)+[a-z]{2,12}\d?"),
    "numbered": re.compile(r"[^\W\d_]+[-_]\d+"),  # "OPS-12"
    "capitals": re.compile(r"[A-Z]{2,6}"),  # "USD"
    "code": re.compile(r"(?=\S*\d)\w[\w.-]*"),
    "slug": re.compile(r"[a-z]+(?:[-_][a-z]+)+"),  # "web-app"
}
_NO_ADVERBS = vocabulary(
    """
    early daily weekly monthly quarterly yearly hourly nightly friendly costly lovely lonely curly bubbly elderly
    orderly assembly supply apply imply reply comply family rally belly jelly bully fully
    """
)
_WORD = re.compile(r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*")


class PersonNames(NamedTuple):
    """Parts of names in lower case without accents.

    Given names that are nothing else, those that are words or places too, and family names that are words too.
    """

    given: frozenset[str]
    doubtful: frozenset[str]
    family: frozenset[str]


@lru_cache(maxsize=1)
def person_names() -> PersonNames:
    """The names that are known, read on first use."""
    found = files("semcache.agents").joinpath("person_names.txt").read_text(encoding="utf-8").split()
    signs = {"?": set[str](), "+": set[str](), "": set[str]()}
    for one in found:
        sign = one[-1] if one[-1] in signs else ""
        signs[sign].add(one.removesuffix(sign))
    return PersonNames(*[frozenset(signs[sign]) for sign in ("", "?", "+")])


def is_person(value: str) -> bool:
    """Return True for the name of a person: "Ann Lee", "Dr. Young", "tom"."""
    titled = _TITLE.match(value)
    if titled is not None:
        return value[titled.end() : titled.end() + 1].isupper()
    said = _plain_words(_INITIAL.sub("", value))
    if not said or _FIRM.search(value) is not None:
        return False
    names = person_names()
    first, *rest = said
    if not rest:
        return first in names.given
    if first not in names.given and first not in names.doubtful:
        return False
    # "Tom Baker", but "Craig Street".
    return value[:1].isupper() and not any(_is_ordinary(one) and one not in names.family for one in rest)


def is_thing(value: str) -> bool:
    """Return True for what ordinary words alone name, none of them a part of a name: "Archive", "Budget Meeting".

    A firm is a thing by its form, whoever it is called after: "Tom Baker Ltd".
    """
    if _FIRM.search(value) is not None:
        return True
    # "The Beatles" are persons.
    said = _plain_words(value) if not value.startswith("The ") else []
    names = person_names()
    least = _ORDINARY if len(said) > 1 else _KNOWN
    return bool(said) and all(
        frequencies().get(one, 0) >= least and not any(one in known for known in names) for one in said
    )


def shape(value: str) -> str:
    """The shape of an identifier: "tag" of "#general", "path", "file", "numbered", "capitals", "code", or ""."""
    return next((name for name, form in _SHAPES.items() if form.fullmatch(value)), "")


def has_manner(value: str) -> bool:
    """Return True if an adverb stands beside another word in lower case: "web-app locally", "probably won"."""
    said = value.split()
    return len(said) > 1 and any(map(_is_adverb, said))


def _is_adverb(word: str) -> bool:
    root = word.removesuffix("ly")
    if root == word or not word.islower() or word in _NO_ADVERBS:
        return False
    return any(one in frequencies() for one in (root, f"{root}le", f"{root.removesuffix('i')}y") if one != word)


def _is_ordinary(word: str) -> bool:
    return frequencies().get(word, 0) >= _ORDINARY


def _plain_words(value: str) -> list[str]:
    """The words in lower case without accents, none where the value is anything else than a few words."""
    said = unaccented(value).split()
    return [one.casefold() for one in said] if len(said) <= _LONGEST and all(map(_WORD.fullmatch, said)) else []
