"""A strategy that asks for an audit of everything it serves."""

from __future__ import annotations

from dataclasses import dataclass, replace

from semcache.protocols import Threshold
from semcache.types import Candidate, Verdict


@dataclass
class Auditing:
    """Another strategy, audited."""

    inner: Threshold

    def floor(self, category: str, min_score: float | None) -> float:
        return self.inner.floor(category, min_score)

    def judge(self, candidate: Candidate, category: str, *, min_score: float | None, draw: float) -> Verdict:
        return replace(self.inner.judge(candidate, category, min_score=min_score, draw=draw), audit=True)

    def observe(self, candidate: Candidate, category: str, correct: bool) -> None:
        self.inner.observe(candidate, category, correct)
