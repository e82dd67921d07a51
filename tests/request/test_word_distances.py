"""A measurement that another one interrupts gives what it gives alone."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from symspellpy.editdistance import DistanceAlgorithm, EditDistance

from semcache.request.wording import word_distances
from semcache.request.wording.misspelt import slips_between

ONE, TWO = "abxcdefgyhi", "abcxdefyghj"


class _Interrupted(str):
    """A word at whose every letter that is read another pair is measured."""

    interrupt: Callable[[], object]
    __slots__ = ("interrupt",)

    def __getitem__(self, place):
        self.interrupt()
        return str.__getitem__(self, place)


def interrupted(comparer: EditDistance) -> int:
    word = _Interrupted(TWO)
    word.interrupt = lambda: comparer.compare("kitten", "sitting", 9)
    return comparer.compare(ONE, word, 9)


def test_a_comparer_keeps_no_rows_that_another_measurement_would_write_into() -> None:
    alone = word_distances.between(ONE, TWO, 9)
    assert interrupted(word_distances.comparer()) == alone == 3
    assert interrupted(EditDistance(DistanceAlgorithm.DAMERAU_OSA)) != alone, "symspellpy's own does"


@pytest.mark.parametrize(
    ("one", "two", "slips"), [("fere", "free", 1), ("opne", "open", 1), ("same", "same", 0), ("creatin", "carpet", 3)]
)
def test_letters_that_changed_places_are_one_slip(one: str, two: str, slips: int) -> None:
    assert slips_between(one, two) == slips_between(two, one) == slips
