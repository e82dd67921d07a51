"""The fixed threshold of each category, as the pack states it.

Knows nothing of labels and learns nothing. Invariant: a candidate is served iff its score reaches the category's
threshold, or the caller's where that is higher.
"""

from __future__ import annotations

from semcache.policy import Pack
from semcache.types import Candidate, Verdict, Why


class StaticThreshold:
    """`protocols.Threshold` over the thresholds written in a pack."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack

    def floor(self, category: str, min_score: float | None) -> float:
        """The lowest score that can be served."""
        threshold = self._pack.of(category).threshold
        return threshold if min_score is None else max(threshold, min_score)

    def judge(self, candidate: Candidate, category: str, *, min_score: float | None, draw: float) -> Verdict:  # noqa: ARG002
        """Serve at or above the floor. This strategy estimates no P(correct): it repeats the score, floored at 0."""
        serve = candidate.score >= self.floor(category, min_score)
        return Verdict(serve, max(0.0, candidate.score), why=Why.SEMANTIC if serve else Why.BELOW_THRESHOLD)

    def observe(self, candidate: Candidate, category: str, correct: bool) -> None:
        """Nothing is learned here."""
