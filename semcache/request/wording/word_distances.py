"""The edits between two words, measured by several threads at once.

Invariant: nothing is kept between two calls. What symspellpy measures with by itself keeps its rows, and two threads
that read slips at the same time would write into the same ones.
"""

from __future__ import annotations

from symspellpy.abstract_distance_comparer import AbstractDistanceComparer
from symspellpy.editdistance import DamerauOsa, DistanceAlgorithm, EditDistance


class _OwnRows(AbstractDistanceComparer):  # type: ignore[misc]
    """A comparer whose every call has rows of its own."""

    def distance(self, string_1: str, string_2: str, max_distance: int) -> int:
        """The edits between two words, a change of places for one (Damerau 1964); -1 for more than `max_distance`."""
        return int(DamerauOsa().distance(string_1, string_2, max_distance))


def comparer() -> EditDistance:
    """Return what compares two words for symspellpy."""
    return EditDistance(DistanceAlgorithm.USER_PROVIDED, _OwnRows())


def between(one: str, two: str, most: int) -> int:
    """The edits between two words, or -1 for more than `most`."""
    return _OwnRows().distance(one, two, most)
