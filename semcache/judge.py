"""Judges that need no model: whether two answers to the same question agree.

Knows nothing of where answers come from. Invariant: a judge that cannot tell says None, never a guess.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from semcache.errors import ConfigError
from semcache.protocols import Judge
from semcache.types import Request

# Signs that carry meaning (-4, 5%, $5, C++) are not among them.
_PUNCTUATION = r"[.,;:!?\"'()\[\]“”‘’«»…*_`]+"
_EDGES = re.compile(rf"{_PUNCTUATION}(?=\s|$)|(?<!\S){_PUNCTUATION}")


class ExactJudge:
    """The answers are the same string."""

    name = "exact"

    async def agree(self, request: Request, cached: str, fresh: str) -> bool | None:  # noqa: ARG002
        return cached == fresh


class NormalisedJudge:
    """The answers are the same words: case, punctuation at the edges of words and white space do not count."""

    name = "normalised"

    async def agree(self, request: Request, cached: str, fresh: str) -> bool | None:  # noqa: ARG002
        return _normal(cached) == _normal(fresh)


JUDGES: Mapping[str, Callable[[], Judge]] = {"exact": ExactJudge, "normalised": NormalisedJudge}


def open_judge(name: str) -> Judge:
    """The judge of that name. Raises ConfigError."""
    make = JUDGES.get(name)
    if make is None:
        raise ConfigError(f"no judge {name!r}; there are: {', '.join(JUDGES)}")
    return make()


def _normal(text: str) -> str:
    return " ".join(_EDGES.sub(" ", text.casefold()).split())
