"""Loose signs: those that a task has beside its words and values, and may mean something by.

A minus before a number, a unit after it, a comparison sign or an invisible character is in no word, so that an
alignment of words does not see it. Knows no patterns. Invariant: white space, the punctuation of sentences, dashes
that stand alone before a word, and pairs of quotation marks or round brackets are no loose signs.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

_SIGNS = re.compile(r"(?:[^\w\s]|_)+")
_NUMBER = re.compile(r"\s*\d")
_PUNCTUATION = ".,!?;:…"
_DASHES = "-–—"
_JOINING = "-–/'’.,:&_"  # between two words that stand in no value
_PAIRS = {"(": ")", '"': '"', "“": "”", "'": "'", "‘": "’", "«": "»", "`": "`"}


def loose_signs(task: str, values: Sequence[tuple[int, int]]) -> str:
    """The signs outside these values of a task, in order, with a space between those of different places."""
    found: list[str] = []
    opened: list[tuple[str, int]] = []  # what closes a pair, and where its beginning stands in `found`
    starts, ends = {start for start, _ in values}, {end for _, end in values}
    for match in _SIGNS.finditer(task):
        first, last = match.span()
        for start, end in values:
            # A value's own signs are no loose ones; it may begin or end amidst a run of them.
            if start <= first < end:
                first = end
            if start < last <= end:
                last = start
        if first >= last:
            continue
        glued_left = first > 0 and not task[first - 1].isspace()
        glued_right = last < len(task) and not task[last].isspace()
        signs = task[first:last]
        if glued_left and glued_right:
            signs = signs if first in ends or last in starts else signs.strip(_JOINING)
            signs = "" if signs in (":", ",") else signs
        elif glued_left:
            signs = _closed(signs, opened, found)
        elif glued_right:
            if signs[0] in _PAIRS:
                opened.append((_PAIRS[signs[0]], len(found)))
        else:
            signs = signs.strip(_PUNCTUATION if _NUMBER.match(task, last) else _DASHES + _PUNCTUATION)
        if signs:
            found.append(signs)
    return " ".join([one for one in found if one])


def _closed(signs: str, opened: list[tuple[str, int]], found: list[str]) -> str:
    """The signs left at the end of a word: without a closing sign whose pair began before, and without punctuation."""
    signs = signs.rstrip(_PUNCTUATION) or signs.strip(_PUNCTUATION)
    while signs and opened and opened[-1][0] in signs:
        closing, at = opened.pop()
        signs = signs.replace(closing, "", 1).strip(_PUNCTUATION)
        found[at] = found[at][1:]
    return signs
