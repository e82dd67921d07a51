"""A judge that compares the meaning of two answers by their embeddings, and asks a verifier where that leaves doubt.

Knows an embedder, the guards and `protocols.Verifier`. Invariant: it says True only for answers that are close and that
no guard tells apart, False only for answers that are far apart or that a verifier rejects, and None in between.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semcache.errors import EmbedError
from semcache.learning.judges.by_text import normal
from semcache.matching import guards
from semcache.protocols import Embedder, Verifier
from semcache.types.evidence import Comparison

if TYPE_CHECKING:
    from semcache.types import Vector

SAME = 0.85
DIFFERENT = 0.45
# Guards that mean the same in an answer as in a question.
_TELLING = ("numbers", "negation", "dates")


class VerifierJudge:
    """Answers with a score (cosine of their embeddings) of at least `same` agree, below `different` they do not.

    In between a verifier decides, if there is one: they agree from `sure` = P(same) on, and disagree up to 1 - `sure`.
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
        sure: float = 0.9,
    ) -> None:
        self._embedder = embedder
        self._verifier = verifier
        self._same, self._different, self._sure = same, different, sure

    async def agree(self, comparison: Comparison) -> bool | None:
        """Return True if both say the same. Raises EmbedError, or what the verifier raises."""
        cached, fresh = comparison.cached, comparison.fresh
        if normal(cached) == normal(fresh):
            return True
        if not cached.strip() or not fresh.strip():
            return None
        # One at a time: a request that comes meanwhile waits for one answer at most.
        score = float(await self._embed(cached) @ await self._embed(fresh))
        if score < self._different:
            return False
        told_apart = any(conflict.veto for conflict in guards.conflicts(cached, fresh, _TELLING))
        if score >= self._same and not told_apart:
            return True
        if self._verifier is None:
            return None
        p_same = await self._verifier.same(comparison.question, comparison.cached_question, cached)
        if p_same >= self._sure:
            return None if told_apart else True
        return False if p_same <= 1.0 - self._sure else None

    async def _embed(self, answer: str) -> Vector:
        rows = await self._embedder.embed([answer])
        if len(rows) != 1:
            raise EmbedError(f"embedder {self._embedder.id!r} gave {len(rows)} vectors for one answer")
        vector: Vector = rows[0]
        return vector
