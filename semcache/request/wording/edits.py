"""The kinds of edits that lead to a canonical wording, in the order of growing risk.

Knows no text. Invariant: the order of the kinds is the order of their risk, and their values never change, for
strata of error statistics are kept by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple


class Edit(IntEnum):
    """A kind of edit; each can be switched off."""

    CHARACTERS = 0
    CONTRACTION = 1
    SPELLING = 2
    FILLER = 3
    NUMBER = 4
    ABBREVIATION = 5
    FRAME = 6
    ORDER = 7
    TYPO = 8


ALL: frozenset[Edit] = frozenset(Edit)


@dataclass(frozen=True, slots=True)
class Wording:
    """A canonical wording, and the kinds of edits that changed anything, in ascending order."""

    text: str
    edits: tuple[Edit, ...]


class Edited(NamedTuple):
    """A text after some edits, and the kinds of those that changed it."""

    text: str
    kinds: frozenset[Edit]
