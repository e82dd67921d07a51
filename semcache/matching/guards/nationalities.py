"""Countries beside peoples: "can a Canadian work in America" is not "can an American work in Canada".

Knows the names of countries and what is called after them.
Invariant: a country that a text names in both ways says nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.matching.guards.names import ALIASES
from semcache.request.text import SplitText, content, lexicon

# What is called after a country whose table has no other name, or has the language under this one.
_CALLED_AFTER = lexicon(
    "england=english poland=polish,pole,poles croatia=croatian serbia=serbian peru=peruvian cuba=cuban chile=chilean"
    " colombia=colombian argentina=argentinian,argentine syria=syrian nepal=nepalese,nepali taiwan=taiwanese"
    " bulgaria=bulgarian kenya=kenyan malaysia=malaysian singapore=singaporean bangladesh=bangladeshi iceland=icelandic"
    " ethiopia=ethiopian ghana=ghanaian venezuela=venezuelan panama=panamanian jamaica=jamaican malta=maltese"
)
_PEOPLES: dict[str, frozenset[str]] = {
    country: frozenset(people for people, called in _CALLED_AFTER.items() if called == country)
    for country in _CALLED_AFTER.values()
}
_ENDINGS = ("an", "ans", "ish", "ese", "ch", "i", "iss", "ek", "ai")
_COUNTRIES = frozenset((*_CALLED_AFTER.values(), *(ALIASES[word] for word in ALIASES if word.endswith(_ENDINGS))))
# Other names of a country itself.
_SYNONYMS = frozenset(("us", "u.s", "america", "britain", "burma", "swaziland"))
# A nation without its capitals: "a us citizen", "in us dollars".
_OF_AMERICA = re.compile(
    r"\bus (?:citizens?|citizenship|passports?|presidents?|presidential|embassy|senate|congress|constitution|army)\b"
    r"|\b(?:an?|the|in|of|my) us (?:visas?|dollars?|government|economy|residents?|tax(?:es)?|customs|history|law)\b"
)
_MOST = 2  # other content words that only one text has


class CountryReading(NamedTuple):
    """The countries that a text names by their `names` alone, and those that it names by their `peoples` alone."""

    names: frozenset[str]
    peoples: frozenset[str]


NOTHING = CountryReading(frozenset(), frozenset())


def read(words: SplitText) -> CountryReading:
    """The countries in a text; "us" counts in capitals."""
    names: set[str] = set()
    peoples: set[str] = set()
    for word in words.bag:
        country = _CALLED_AFTER.get(word) or ALIASES.get(word)
        if country not in _COUNTRIES or (word == "us" and "US" not in words.tokens):
            continue
        (names if word == country or word in _SYNONYMS else peoples).add(country)
    if not names and not peoples:
        return NOTHING
    return CountryReading(frozenset(names - peoples), frozenset(peoples - names))


def names_america(lower: str) -> bool:
    """Return True if the "us" of a text in lower case is the country: "a us citizen"."""
    return _OF_AMERICA.search(lower) is not None


def told(name: str, bag: frozenset[str]) -> bool:
    """Return True if these words hold the country that `name` is called after, or what is called after it."""
    return _CALLED_AFTER.get(name) in bag or not bag.isdisjoint(_PEOPLES.get(name, ()))


def is_people(name: str) -> bool:
    """Return True if this is called after a country and is no name of it."""
    return _CALLED_AFTER.get(name, name) != name


def exchanged(one: CountryReading, two: CountryReading, query: str, cached: str) -> frozenset[str]:
    """Countries that changed places with others: named in one text, there in what is called after them in the other.

    None where the texts differ by more: "Indian students in Poland" are "students from India at Polish universities".
    """
    if not (one.names & two.peoples and two.names & one.peoples):
        return frozenset()
    others = [word for word in content(query) ^ content(cached) if word not in ALIASES and word not in _CALLED_AFTER]
    return (one.names & two.peoples) | (two.names & one.peoples) if len(others) <= _MOST else frozenset()
