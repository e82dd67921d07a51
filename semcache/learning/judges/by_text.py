"""Judges that need no model: the answers are the same string, or the same words.

Knows nothing of where answers come from. Invariant: what carries meaning in an answer (signs, digits, units) is never
normalised away.
"""

from __future__ import annotations

import re

from semcache.types.evidence import Comparison

# Signs that carry meaning (-4, 5%, $5, C++) are not among them.
_PUNCTUATION = r"[.,;:!?\"'()\[\]“”‘’«»…*_`]+"
_EDGES = re.compile(rf"{_PUNCTUATION}(?=\s|$)|(?<!\S){_PUNCTUATION}")


class ExactJudge:
    """The answers are the same string."""

    name = "exact"
    instant = True

    async def agree(self, comparison: Comparison) -> bool | None:
        """Return True if both are equal."""
        return comparison.cached == comparison.fresh


class NormalisedJudge:
    """The answers are the same words: case, punctuation at the edges of words and white space do not count."""

    name = "normalised"
    instant = True

    async def agree(self, comparison: Comparison) -> bool | None:
        """Return True if both are equal once normalised."""
        return normal(comparison.cached) == normal(comparison.fresh)


def normal(text: str) -> str:
    """The words of an answer."""
    return " ".join(_EDGES.sub(" ", text.casefold()).split())
