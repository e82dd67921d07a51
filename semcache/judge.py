"""Judges that need no model: whether two answers to the same question agree.

Knows nothing of where answers come from. Invariant: a judge that cannot tell says None, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from semcache.errors import ConfigError
from semcache.evidence import Comparison
from semcache.protocols import Judge

# Signs that carry meaning (-4, 5%, $5, C++) are not among them.
_PUNCTUATION = r"[.,;:!?\"'()\[\]“”‘’«»…*_`]+"
_EDGES = re.compile(rf"{_PUNCTUATION}(?=\s|$)|(?<!\S){_PUNCTUATION}")


class ExactJudge:
    """The answers are the same string."""

    name = "exact"

    instant = True

    async def agree(self, comparison: Comparison) -> bool | None:
        return comparison.cached == comparison.fresh


class NormalisedJudge:
    """The answers are the same words: case, punctuation at the edges of words and white space do not count."""

    name = "normalised"

    instant = True

    async def agree(self, comparison: Comparison) -> bool | None:
        return _normal(comparison.cached) == _normal(comparison.fresh)


JUDGES: Mapping[str, Callable[[], Judge]] = {"exact": ExactJudge, "normalised": NormalisedJudge}


def open_judge(name: str) -> Judge:
    """The judge of that name. Raises ConfigError."""
    make = JUDGES.get(name)
    if make is None:
        raise ConfigError(f"no judge {name!r}; there are: {', '.join(JUDGES)}")
    return make()


def _normal(text: str) -> str:
    return " ".join(_EDGES.sub(" ", text.casefold()).split())
