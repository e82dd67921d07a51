"""A judge that compares the meaning of two answers by their embeddings, and asks a verifier where that leaves doubt.

Knows an embedder, the guards and `protocols.Verifier`. An embedder reads the first few hundred words of a text, and of
them hears what there is most of: of long answers, what only one of the two says is compared as well. Invariant: it says
True only for answers that are close and that no guard tells apart, False only for answers that are far apart or that a
verifier rejects, and None in between; however long the answers are, the event loop goes on meanwhile.
"""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from semcache.errors import EmbedError
from semcache.learning.judges.by_text import normal
from semcache.learning.judges.pleasantries import plain
from semcache.matching import guards
from semcache.protocols import Embedder, Verifier
from semcache.request.text import vocabulary
from semcache.types.evidence import Comparison

if TYPE_CHECKING:
    from semcache.types import Vector

SAME = 0.85
SAME_PART = 0.9  # of what only one of two says that share the rest
DIFFERENT = 0.45
_SURE = 0.9
# Guards that mean the same in an answer as in a question.
_TELLING = ("numbers", "negation", "dates")
# Beside these, of single sentences: what is compared with what, and what only one of them is limited to.
_TELLING_PARTS = (*_TELLING, "direction", "scope", "quantifiers")
# Of these words two sentences that say the same have as many each, and of those that stand for opposites neither turns.
_DEGREES = vocabulary("more less fewer only than always never rarely unless except without")
_OPPOSITES = (("in", "out"), ("on", "off"), ("up", "down"), ("before", "after"), ("to", "from"), ("above", "below"))
_WORD = re.compile(r"[^\W\d_]+")
_LONG = 200  # characters of an answer from which what both say may drown what only one of them says
_TAIL = 1_000  # characters, as many as an embedder reads
_MOST = 16_000  # characters that guards read in time
_SENTENCE = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+|\n+")


class _Differing(NamedTuple):
    """The parts of two answers that are compared beside the whole; `mostly_shared` if both say most word for word."""

    cached: str
    fresh: str
    mostly_shared: bool


class VerifierJudge:
    """Answers with a score (cosine of their embeddings) of at least `same` agree, below `different` they do not.

    In between a verifier decides, if there is one: they agree from P(same) = 0.9 on, and disagree up to 0.1.
    """

    name = "verifier"
    instant = False
    local = True

    def __init__(
        self,
        embedder: Embedder,
        verifier: Verifier | None = None,
        *,
        same: float = SAME,
        different: float = DIFFERENT,
    ) -> None:
        self._embedder = embedder
        self._verifier = verifier
        self._same, self._different = same, different
        self._part = max(same, SAME_PART)

    async def agree(self, comparison: Comparison) -> bool | None:
        """Return True if both say the same. Raises EmbedError, or what the verifier raises."""
        cached, fresh = comparison.cached, comparison.fresh
        if await asyncio.to_thread(lambda: normal(cached) == normal(fresh)):
            return True
        if not cached.strip() or not fresh.strip():
            return None
        score = await self._score(cached, fresh)
        if score < self._different:
            return False
        told_apart, differing = await asyncio.to_thread(lambda: (_told_apart(cached, fresh), _differing(cached, fresh)))
        if differing is not None:
            other = await self._score(differing.cached, differing.fresh)
            told_apart = told_apart or other < self._different
            if differing.mostly_shared:
                # A sentence that says something else seldom scores lower than one in other words.
                told_apart = told_apart or other < self._part or await asyncio.to_thread(_turned, differing)
                score = min(score, other)
        if score >= self._same and not told_apart:
            return True
        if self._verifier is None:
            return None
        p_same = await self._verifier.same(comparison.question, comparison.cached_question, cached)
        if p_same >= _SURE:
            return None if told_apart else True
        return False if p_same <= 1.0 - _SURE else None

    async def _score(self, cached: str, fresh: str) -> float:
        # One at a time: a request that comes meanwhile waits for one answer at most.
        return float(await self._embed(cached[:_MOST]) @ await self._embed(fresh[:_MOST]))

    async def _embed(self, answer: str) -> Vector:
        rows = await self._embedder.embed([answer])
        if len(rows) != 1:
            raise EmbedError(f"embedder {self._embedder.id!r} gave {len(rows)} vectors for one answer")
        vector: Vector = rows[0]
        return vector


def _told_apart(cached: str, fresh: str) -> bool:
    """Return True if a guard tells two answers apart, or may do so in what is too long to be read."""
    if max(len(cached), len(fresh)) > _MOST:
        cached, fresh, _ = _only_one_says(cached, fresh)
    if max(len(cached), len(fresh)) > _MOST:
        return True
    return any(conflict.veto for conflict in guards.conflicts(cached, fresh, _TELLING))


def _turned(parts: _Differing) -> bool:
    """Return True if what only one of two answers says may be the opposite of what only the other one does."""
    ours, theirs = (Counter(_WORD.findall(part.lower())) for part in (parts.cached, parts.fresh))
    if any(ours[word] != theirs[word] for word in _DEGREES):
        return True
    if any((ours[one] - theirs[one]) * (ours[other] - theirs[other]) < 0 for one, other in _OPPOSITES):
        return True
    found = guards.conflicts(parts.cached[:_MOST], parts.fresh[:_MOST], _TELLING_PARTS)
    return any(conflict.veto for conflict in found)


def _differing(cached: str, fresh: str) -> _Differing | None:
    """The parts that only one of two long answers has, or else their ends; None of short ones."""
    least = min(len(cached), len(fresh))
    if least <= _LONG:
        return None
    one, two, shared = _only_one_says(cached, fresh)
    if one and two and 2 * shared >= least:
        return _Differing(one, two, True)
    return _Differing(cached[-_TAIL:], fresh[-_TAIL:], False) if least > _TAIL else None


def _only_one_says(cached: str, fresh: str) -> tuple[str, str, int]:
    """The sentences that only one of two answers has, and how many characters the others have in the shorter one.

    Pleasantries count as said by both.
    """
    one, two = ([plain(line) for line in _SENTENCE.split(text.strip())] for text in (cached, fresh))
    both = set(one) & set(two)
    left, right = (" ".join([line for line in lines if line and line not in both]) for lines in (one, two))
    return left, right, min(len(cached) - len(left), len(fresh) - len(right))
