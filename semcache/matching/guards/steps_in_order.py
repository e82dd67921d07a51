"""The order of two steps: which is done first and which is done then.

"Encrypt and then compress", "compress after encrypting" and "before compressing, encrypt" have one order, "compress and
then encrypt" has the other. Reads what stands on both sides of one "before", "after", "once" or "then". Parses no
grammar. Invariant: two texts are told apart only by two words that have each gone to the other side.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from semcache.matching.guards.lemmas import lemma_of
from semcache.request.text import LIGHT, SplitText
from semcache.request.text import read as read_text

_MARK = re.compile(
    r"\b(?P<earlier>before|prior to)\b|\b(?P<later>after|once)\b(?!wards)"
    r"|(?:(?:,|;|\band\b)\s*+)?\b(?P<then>then|afterwards|subsequently|after that)\b,?"
    r"|\bfirst(?:,|;)?\s+and(?:\s+then)?\b(?P<first>)"
)
_SECOND = re.compile(r"\b(?:after|afterwards|later|second|next|then)\W*$")
_LONGEST = 40  # words
_NONE: frozenset[str] = frozenset()


class StepOrder(NamedTuple):
    """The lemmas of what comes `first` and of what comes `then`; empty where a text has no order, or several."""

    first: frozenset[str]
    then: frozenset[str]


_NOTHING = StepOrder(_NONE, _NONE)


def read(text: SplitText) -> StepOrder:
    """The order of the two things that a text says are done one after the other."""
    if len(text.words) > _LONGEST:
        return _NOTHING
    lower = text.lower.strip()
    if "first" in text.bag and " and " in lower:
        lower = _SECOND.sub("", lower)
    marks = list(_MARK.finditer(lower))
    if len(marks) != 1:
        return _NOTHING
    mark = marks[0]
    before, behind = lower[: mark.start()], lower[mark.end() :]
    if not read_text(before).words:
        behind, comma, before = behind.partition(",")
        if not comma:
            return _NOTHING
    one, two = _lemmas(before), _lemmas(behind)
    return StepOrder(two, one) if mark["later"] else StepOrder(one, two)


def exchanged(one: StepOrder, two: StepOrder) -> str | None:
    """Two words of which one comes first in one text and the other in the other; None if there are none."""
    ahead = (one.first & two.then) - one.then - two.first
    behind = (one.then & two.first) - one.first - two.then
    return f"{' and '.join(sorted((min(ahead), min(behind))))} in another order" if ahead and behind else None


def _lemmas(part: str) -> frozenset[str]:
    return frozenset([lemma_of(word) for word in read_text(part).words if word not in LIGHT])
