"""Converse words: "A is larger than B" says what "B is smaller than A" does, and "he lent me" what "I borrowed" does.

Reads which words stand on either side of a comparison, and who gives and who takes. Parses no grammar.
Invariant: two texts are taken for one another's converse only by what both of them name.
"""

from __future__ import annotations

from collections.abc import Collection

from semcache.request.text import LIGHT, SplitText, stem, vocabulary

_GIVING = vocabulary("sell sells sold selling lend lends lent lending send sends sent sending")
_TAKING = vocabulary(
    "buy buys bought buying purchase purchases purchased purchasing borrow borrows borrowed borrowing receive receives"
    " received receiving"
)
_PARTICIPLES = vocabulary("sold lent sent bought purchased borrowed received")
_BEING = vocabulary("is are was were be been being get got")
_ASKERS = vocabulary("i i'm i've i'd me we we're we've us")
_OBJECTS = vocabulary("me us")
_NO_PARTY = vocabulary("it its it's this that these those there some any another will would can could should may might")
_ASKER = "i"
_REACH = 4  # words within which a party is looked for


def compared(one: SplitText, two: SplitText, opposites: Collection[str]) -> bool:
    """Return True if what stands before the opposite in each text stands behind it in the other.

    A comparison is parted at its "than".
    """
    (before, behind), (left, right) = _parted(one, opposites), _parted(two, opposites)
    return bool((before - behind) & (right - left)) and bool((behind - before) & (left - right))


def _parted(words: SplitText, opposites: Collection[str]) -> tuple[frozenset[str], frozenset[str]]:
    """The content words before and behind; none where the comparison does not stand between them."""
    every = words.words
    if "than" in words.bag:
        place = every.index("than")
    else:
        place = next((number for number, word in enumerate(every) if word in opposites), -1)
    if place < 1:
        return frozenset(), frozenset()
    left, right = (
        frozenset([stem(word) for word in part if word not in LIGHT and word not in opposites])
        for part in (every[:place], every[place + 1 :])
    )
    return left, right


def exchanged(one: SplitText, two: SplitText) -> bool | None:
    """Return True if a giving verb in one text and a taking one in the other tell of the same giver and taker.

    None where the texts do not tell.
    """
    (givers, takers), (others, receivers) = _parties(one), _parties(two)
    if givers & receivers or takers & others:
        return False
    return True if givers & others or takers & receivers else None


def _parties(words: SplitText) -> tuple[frozenset[str], frozenset[str]]:
    """Who gives and who takes, by the prepositions and the places around the verbs."""
    givers: set[str] = set()
    takers: set[str] = set()
    every = words.words
    for place, word in enumerate(every):
        giving = word in _GIVING
        if not giving and word not in _TAKING:
            continue
        agents, others = (givers, takers) if giving else (takers, givers)
        passive = word in _PARTICIPLES and not _BEING.isdisjoint(every[max(0, place - 3) : place])
        if not passive:
            agents |= _before(every, place)
        behind = every[place + 1 : place + 2]
        if giving and behind and behind[0] in _OBJECTS:
            others.add(_ASKER)
        for number in range(place + 1, min(place + 7, len(every))):
            if every[number] == "by":
                agents |= _behind(every, number)
            elif every[number] == ("to" if giving else "from"):
                others |= _behind(every, number)
    return frozenset(givers), frozenset(takers)


def _before(every: tuple[str, ...], place: int) -> set[str]:
    """The subject of the verb at `place`."""
    for word in reversed(every[max(0, place - _REACH) : place]):
        if word in _ASKERS:
            return {_ASKER}
        if word not in LIGHT and word not in _NO_PARTY:
            return {stem(word)}
    return set()


def _behind(every: tuple[str, ...], place: int) -> set[str]:
    """Who is named behind the preposition at `place`."""
    for word in every[place + 1 : place + 1 + _REACH]:
        if word in _OBJECTS:
            return {_ASKER}
        if word not in LIGHT and word not in _NO_PARTY:
            return {stem(word)}
    return set()
