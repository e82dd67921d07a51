"""The guard for scope: a qualifier such as "business", "annual", "for students" or "on Android" narrows the question.

Reads qualifiers by the table of `qualifiers`, each a value on an axis. It knows no products and no rules of a trade.
Invariant: two texts that each name a value of one axis, and none in common, conflict. A value that only one names is a
doubt, unless it is all that tells the texts apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from semcache.matching.guards.base import ReadingGuard
from semcache.matching.guards.qualifiers import BETWEEN, DENYING, LACKING, LONE, PHRASES, SINGLE, STARTS, TELLING, VERBS
from semcache.request.text import LIGHT, SplitText, all_the_difference, lexicon
from semcache.request.text import read as read_text
from semcache.types import Conflict

_SINGLE = frozenset(SINGLE)
_STARTS = frozenset(STARTS)
_SHORT = 6  # letters; of a longer word all but two make out the word
# Verbs that say of themselves whom it is done to.
_DONE_TO = lexicon(
    "baby=breastfeed,breastfeeding,breastfed,breastfeeds child=homeschool,homeschooling,homeschooled,homeschools"
)
_ALTERNATIVES = re.compile(r"[,:] ?(?:an? |the )?(\w+) or (?:an? |the )?(\w+)(?=\W*$)")
_SPELLINGS = frozenset(PHRASES)
_KNOWN = _SINGLE | _STARTS | LONE


class ScopeReading(NamedTuple):
    """`values` are the values named on each axis, and on `~axis` those denied ("not a business account").

    `telling` are the qualifiers that rarely go without saying.
    """

    values: dict[int, frozenset[int]]
    telling: frozenset[str]
    bag: frozenset[str]


class _Qualifier(NamedTuple):
    """A qualifier of a text: its (axis, value) `places`, and the negation before it, "" for none."""

    places: tuple[tuple[int, int], ...]
    denial: str


class ScopeGuard(ReadingGuard[ScopeReading]):
    """Vetoes prompts about different customers, plans, places, devices and so on; doubts the narrower one."""

    name = "scope"

    def read(self, text: str) -> ScopeReading:
        """The reading of `text`."""
        return read(text)

    def compare(self, one: ScopeReading, two: ScopeReading, query: str, cached: str, /) -> Conflict | None:
        """Compare the qualifiers that both texts have."""
        for axis, values in one.values.items():
            others = two.values.get(axis)
            if others is not None and values.isdisjoint(others):
                return Conflict(self.name, f"qualifiers: {_words(one, two)}")
        if one.telling != two.telling:
            lone = [word for word in one.telling - two.telling if not _met(word, two, cached)]
            lone += [word for word in two.telling - one.telling if not _met(word, one, query)]
            if lone:
                return Conflict(self.name, f"only one says {min(lone)}", all_the_difference(query, cached, lone))
        return None


_NOTHING = ScopeReading({}, frozenset(), frozenset())


def read(text: str) -> ScopeReading:
    """The qualifiers in `text`."""
    words = read_text(text)
    bag = words.bag
    if bag.isdisjoint(_KNOWN):
        return _NOTHING
    phrases = () if bag.isdisjoint(_STARTS) else tuple(_phrases(words.words))
    spellings = frozenset([" ".join(phrase) for _, phrase in phrases])
    taken = frozenset([word for _, phrase in phrases for word in phrase])
    named = [_Qualifier(PHRASES[" ".join(phrase)], _denial(words.words, place)) for place, phrase in phrases]
    if not _SINGLE.isdisjoint(bag - taken):
        named += [
            _Qualifier(SINGLE[word], _denial(words.words, place))
            for place, word in enumerate(words.words)
            if word in SINGLE and word not in taken and not (word in VERBS and _is_verb(words.words, place))
        ]
    telling = (bag & (TELLING | LONE)) | (spellings & TELLING)
    if words.words[0] == "who" and "or" in bag:
        telling -= _alternatives(words)
    if not named and not telling:
        return _NOTHING
    return ScopeReading(_values(named), telling - taken | (telling & _SPELLINGS), bag)


def _phrases(words: tuple[str, ...]) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The qualifiers of several words, each with its place."""
    for place, word in enumerate(words):
        for phrase in STARTS.get(word, ()):
            if words[place : place + len(phrase)] == phrase:
                yield place, phrase


def _values(named: Iterable[_Qualifier]) -> dict[int, frozenset[int]]:
    """The values on each axis, those denied on `~axis`; what is lacked is denied beside another value of its axis."""
    found: dict[int, set[int]] = {}
    lacked: list[tuple[int, int]] = []
    for qualifier in named:
        if qualifier.denial == LACKING:
            lacked.extend(qualifier.places)
            continue
        for axis, value in qualifier.places:
            found.setdefault(~axis if qualifier.denial else axis, set()).add(value)
    others = frozenset(found)
    for axis, value in lacked:
        found.setdefault(~axis if axis in others else axis, set()).add(value)
    return {axis: frozenset(values) for axis, values in found.items()}


def _alternatives(words: SplitText) -> frozenset[str]:
    """The two words of one axis between which "who" is to choose: "who pays, the tenant or the landlord"."""
    match = _ALTERNATIVES.search(words.lower)
    if match is None:
        return frozenset()
    one, two = match.groups()
    axes = {axis for axis, _ in SINGLE.get(one, ())} & {axis for axis, _ in SINGLE.get(two, ())}
    return frozenset((one, two, f"the {one}", f"the {two}")) if axes else frozenset()


def _denial(words: tuple[str, ...], place: int) -> str:
    """The negation before the word at `place`, with no more than two light words between; "" for none."""
    for before in words[max(0, place - 3) : place][::-1]:
        if before in DENYING or before == LACKING:
            return before
        if before not in BETWEEN:
            break
    return ""


def _is_verb(words: tuple[str, ...], place: int) -> bool:
    behind = words[place + 1] if place + 1 < len(words) else "or"
    return behind in LIGHT and behind not in ("and", "or")


def _met(word: str, other: ScopeReading, text: str) -> bool:
    """Return True if the other text, of reading `other`, names the same value in other words."""
    places = SINGLE.get(word) or PHRASES.get(word) or ()
    if len(word) > _SHORT and any(
        spelt.startswith(word[: max(_SHORT, len(word) - 2)]) for spelt in read_text(text).bag
    ):
        return True  # "pregnancy" for "pregnant"
    if f"{word}'s" in read_text(text).bag:
        return True
    done_to = {place for said in read_text(text).bag & _DONE_TO.keys() for place in SINGLE[_DONE_TO[said]]}
    return any(
        value in other.values.get(axis, ()) or value in other.values.get(~axis, ()) or (axis, value) in done_to
        for axis, value in places
    )


def _words(one: ScopeReading, two: ScopeReading) -> str:
    return " / ".join(sorted((" ".join(sorted(one.bag - two.bag)), " ".join(sorted(two.bag - one.bag)))))
