"""The filter of generated pairs: texts that are equal after all, that a guard holds apart, or that are no prose.

Knows the guards and lengths. Invariant: only whole pairs are dropped, never changed, and each by one reason.
"""

from __future__ import annotations

import re

from semcache.matching.guards import GUARDS, conflicts
from semcache.train.pairs import Pair
from semcache.train.text_identity import unpunctuated

LONGEST = 600  # characters; an embedder reads no more than some hundred words
_SHORTEST = 3
_TWICE = re.compile(r"\b(the|a|an|to|of|in|for|my|is|not|do|without|with|please) \1\b", re.IGNORECASE)


def rejection_reason(pair: Pair) -> str | None:
    """The reason to drop a pair; None for a sound one."""
    if not _SHORTEST <= len(pair.two) <= LONGEST or len(pair.one) > LONGEST or len(pair.one) < _SHORTEST:
        return "length"
    if pair.one == pair.two:
        return "identical"
    if not pair.same and unpunctuated(pair.one) == unpunctuated(pair.two):
        return "identical"
    if _TWICE.search(pair.two) and not _TWICE.search(pair.one):
        return "doubled word"
    if pair.same and any(conflict.veto for conflict in conflicts(pair.one, pair.two, GUARDS)):
        return "vetoed"
    return None
