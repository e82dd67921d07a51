"""Judges that need no model: the answers are the same string, or the same words.

Knows nothing of where answers come from. Invariant: what carries meaning in an answer (signs, digits, units) is never
normalised away.
"""

from __future__ import annotations

import logging
import re

from semcache.types.evidence import Comparison

# Signs that carry meaning (-4, 5%, $5, C++) are not among them.
_PUNCTUATION = r"[.,;:!?\"'()\[\]“”‘’«»…*_`]+"
_EDGES = re.compile(rf"{_PUNCTUATION}(?=\s|$)|(?<!\S){_PUNCTUATION}")
_SENTENCE = 40  # characters from which an answer is rather written than looked up
_IN_A_ROW = 20
_log = logging.getLogger(__name__)


class ExactJudge:
    """The answers are the same string. Warns once where they look as if a model had written them anew each time."""

    name = "exact"
    instant = True

    def __init__(self) -> None:
        self._unequal = 0  # written answers in a row
        self._warned = False

    async def agree(self, comparison: Comparison) -> bool | None:
        """Return True if both are equal."""
        equal = comparison.cached == comparison.fresh
        if equal:
            self._unequal = 0
        elif min(len(comparison.cached), len(comparison.fresh)) >= _SENTENCE:
            self._unequal += 1
            if self._unequal == _IN_A_ROW and not self._warned:
                self._warned = True
                _log.warning(
                    "the judge 'exact' has found the last %d written answers all different, letter by letter, and the "
                    "cache learns from it to serve less; if a model writes them, open the cache with judge='verifier', "
                    "which compares what they say, or judge='llm'",
                    _IN_A_ROW,
                )
        return equal


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
