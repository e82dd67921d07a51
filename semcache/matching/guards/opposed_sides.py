"""The sides of "to" and "into": "convert a PDF to Word" and "Word file to PDF" are opposed.

Reads the things on either side of "to" and "into" where something is converted, moved or carried, or little else is
said. "From" need not be named, and a thing may be called by a short form of its name ("int" and "integer").
Invariant: two texts are told apart only by two things that stand on opposite sides in each of them.
"""

from __future__ import annotations

from typing import TypeAlias

from semcache.request.text import LIGHT, SplitText, stem, vocabulary

Sides: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]  # stems of what stands before and behind one "to"

_PIVOTS = vocabulary("to into")
_DEEDS = vocabulary(
    """
    convert change turn transform translate swap exchange switch migrate move transfer import export cast parse rename
    compile upgrade downgrade send copy sync conversion shift migrating moving moved converting converted turned
    changing get go pass route flight bus train
    """
)
_ALTERNATIVES = vocabulary("or and")
_SKIPPED = vocabulary("a an the my your our his her their its this that these those some any")
_ENDS = vocabulary("using with without via per under leaving departing starting")
_NO_THING = vocabulary("online allowed possible free today tomorrow tonight similar close next related")
_LONGEST, _SHORT = 30, 7  # words: of a text that is read, and of one in which no such deed need be named
_REACH = 5  # words on either side
_SHORTEST = 3  # letters of a short form


def read(words: SplitText) -> tuple[Sides, ...]:
    """The things before and behind each "to" of a text; none where the text names alternatives."""
    every = words.words
    if words.bag.isdisjoint(_PIVOTS) or len(every) > _LONGEST or not words.bag.isdisjoint(_ALTERNATIVES):
        return ()
    if len(every) > _SHORT and not any(word in _DEEDS or stem(word) in _DEEDS for word in every):
        return ()
    found = [(_before(every, place), _behind(every, place)) for place, word in enumerate(every) if word in _PIVOTS]
    return tuple([(before, behind) for before, behind in found if before and behind])


def exchanged(one: tuple[Sides, ...], two: tuple[Sides, ...]) -> tuple[str, str] | None:
    """Two things that stand on opposite sides in each text, None if there are none."""
    for before, behind in one:
        for left, right in two:
            source, target = _shared(before, right), _shared(behind, left)
            if source and target and not source & _shared(before, left) and not target & _shared(behind, right):
                return min(source), min(target)
    return None


def _before(words: tuple[str, ...], place: int) -> tuple[str, ...]:
    found: list[str] = []
    for word in reversed(words[max(0, place - _REACH) : place]):
        if word in _SKIPPED or word == "in":
            continue
        if word in LIGHT or word in _DEEDS:
            break
        found.append(stem(word))
    return tuple(found)


def _behind(words: tuple[str, ...], place: int) -> tuple[str, ...]:
    found: list[str] = []
    for word in words[place + 1 : place + 1 + _REACH]:
        if word in _SKIPPED:
            continue
        if word in LIGHT or word in _ENDS:
            break
        found.append(stem(word))
    return tuple(found)


def _shared(some: tuple[str, ...], others: tuple[str, ...]) -> set[str]:
    """Those of `some` that stand among the others, perhaps in a shorter or longer form."""
    return {one for one in some if one not in _NO_THING and any(_alike(one, other) for other in others)}


def _alike(one: str, two: str) -> bool:
    return one == two or (min(len(one), len(two)) >= _SHORTEST and (one.startswith(two) or two.startswith(one)))
