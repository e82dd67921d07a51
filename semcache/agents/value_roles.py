"""Roles of values: a person where a thing stood, a thing where a person stood, and two values that changed places.

"Add Marketing to Ann Lee" says every word of "Add Bob Ray to Sales"; to take each value where it stands would add a
team to a person. Prepositions and order do not tell, the sorts of the values do. Pure.
Invariant: values of no known sort, and gaps of which no sort is known, object to nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

from semcache.agents.pattern_gap import PatternGap, Writing, writing
from semcache.agents.slots import STRICT, SlotKind, kind_of

SORTS = frozenset((Writing.PERSON, Writing.THING))
SHAPES = frozenset(
    (Writing.TAG, Writing.PATH, Writing.FILE, Writing.NUMBERED, Writing.CAPITALS, Writing.CODE, Writing.SLUG)
)
_UNLIKE = frozenset((Writing.KIND, Writing.DEED, Writing.DATED, Writing.REPEATED))
_NO_NAMES = STRICT | {SlotKind.URL, SlotKind.EMAIL}
_FREE = 4  # words that a slot of free text has taken before


def is_misplaced(gap: PatternGap, piece: str) -> bool:
    """Return True for a person where only things have stood, a thing where only persons have, and a word for "USD"."""
    known, written = SORTS & gap.took, writing(piece)
    if Writing.CAPITALS in gap.took and {Writing.ORDINARY, Writing.CAPITAL} & (written - gap.took):
        return " " not in piece
    people = gap.kind is SlotKind.NAME and Writing.PERSON in gap.took and not SHAPES & gap.took
    if people and (SHAPES & written or kind_of(piece) in _NO_NAMES):
        # "QA" and "ann@x.org" are no names of people.
        return True
    return len(known) == 1 and not _is_free(gap) and bool((SORTS & written) - known)


def is_unlike(gap: PatternGap, piece: str) -> bool:
    """Return True for a value that is written as none was so far, and may be of another kind, or say more."""
    unlike = _UNLIKE if _is_free(gap) else _UNLIKE | {Writing.PHRASE, Writing.MANNER}
    if gap.kind is SlotKind.NAME:
        # Where names have stood without "the", it is a part of this one or it is not.
        unlike |= {Writing.ARTICLE}
    return is_misplaced(gap, piece) or bool(unlike & (writing(piece) - gap.took))


def are_exchanged(taken: Sequence[tuple[PatternGap, str]]) -> bool:
    """Return True if two values stand in each other's place: a person, a name and an identifier, or two identifiers.

    A place of which nothing is known counts too, as long as a person is missing where persons have stood.
    """
    placed = [(gap, piece) for gap, piece in taken if not _is_free(gap)]
    return len(placed) > 1 and any(
        _is_person_elsewhere(one, two) or _is_name_for_id(one, two) or _are_shapes_exchanged(one, two)
        for one, two in permutations(placed, 2)
    )


def _is_person_elsewhere(one: tuple[PatternGap, str], two: tuple[PatternGap, str]) -> bool:
    """Return True if the first place has a person as never before, and the second has none as it had before."""
    strange = Writing.PERSON in writing(one[1]) - one[0].took
    return strange and Writing.PERSON in two[0].took - writing(two[1])


def _is_name_for_id(one: tuple[PatternGap, str], two: tuple[PatternGap, str]) -> bool:
    names, ids = SlotKind.NAME, SlotKind.ID
    wanted = one[0].kind is ids and two[0].kind is names
    return wanted and kind_of(one[1]) is names and kind_of(two[1]) is ids


def _are_shapes_exchanged(one: tuple[PatternGap, str], two: tuple[PatternGap, str]) -> bool:
    """Return True if the first place has a form as never before, and the second lacks it, which had it before."""
    strange = SHAPES & writing(one[1]) & (two[0].took - one[0].took)
    return bool(strange) and not SHAPES & two[0].took & writing(two[1])


def _is_free(gap: PatternGap) -> bool:
    return gap.kind is SlotKind.TEXT and gap.widest >= _FREE
