"""A word diff of two prompts: what both say, and what only one of them does.

Pure. Invariant: the words of either side, in order, are the words of its prompt, spaces included.
"""

from __future__ import annotations

import re
from difflib import SequenceMatcher

_PIECES = re.compile(r"\s+|\w+(?:['’.,:]\w+)*|[^\w\s]")
_MOST = 1500  # words; of longer prompts only the beginnings are compared

Piece = tuple[str, bool]


def word_diff(one: str, other: str) -> tuple[list[Piece], list[Piece]]:
    """Both prompts in pieces, each with True where the other one has nothing like it; case does not count."""
    left, right = _PIECES.findall(one), _PIECES.findall(other)
    if len(left) > _MOST or len(right) > _MOST:
        return [(one, False)], [(other, False)]
    matcher = SequenceMatcher(None, _words(left), _words(right), autojunk=False)
    same: tuple[set[int], set[int]] = (set(), set())
    for block in matcher.get_matching_blocks():
        same[0].update(range(block.a, block.a + block.size))
        same[1].update(range(block.b, block.b + block.size))
    return _marked(left, same[0]), _marked(right, same[1])


def _words(pieces: list[str]) -> list[str]:
    return [piece.casefold() for piece in pieces if not piece.isspace()]


def _marked(pieces: list[str], same: set[int]) -> list[Piece]:
    marked: list[Piece] = []
    place = 0
    for piece in pieces:
        differs = False
        if not piece.isspace():
            differs = place not in same
            place += 1
        if marked and marked[-1][1] == differs:
            marked[-1] = (marked[-1][0] + piece, differs)
        else:
            marked.append((piece, differs))
    return marked
