"""The fixed threshold of each category, as the pack states it.

Knows nothing of labels and learns nothing. Invariant: a candidate is served iff its score reaches the category's
threshold, or the caller's where that is higher.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semcache.config.packs import Pack
from semcache.types import Candidate, Controls, Verdict, Why
from semcache.types.evidence import Label, Standing, State


class StaticThreshold:
    """`protocols.Threshold` over the thresholds written in a pack."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack

    def floor(self, category: str, controls: Controls) -> float:
        """The lowest score that can be served."""
        threshold, asked = self._pack.of(category).threshold, controls.min_score
        return threshold if asked is None else max(threshold, asked)

    def promising(self, candidates: Sequence[Candidate], text: str, category: str) -> Sequence[bool]:  # noqa: ARG002
        """All of them: only guards object to what reaches the threshold."""
        return [True] * len(candidates)

    def judge(
        self,
        candidate: Candidate,
        category: str,
        *,
        controls: Controls,
        draw: float,  # noqa: ARG002
        tenant: str = "",  # noqa: ARG002
    ) -> Verdict:
        """Serve at or above the floor. This strategy estimates no P(correct): it repeats the score, floored at 0."""
        if any(conflict.veto for conflict in candidate.conflicts):
            return Verdict(False, 0.0, why=Why.GUARD)
        serve = candidate.score >= self.floor(category, controls)
        return Verdict(serve, max(0.0, candidate.score), why=Why.SEMANTIC if serve else Why.BELOW_THRESHOLD)

    def note(
        self,
        category: str,
        p_correct: float | None,
        *,
        served: bool,
        audited: bool,
        candidate: Candidate | None = None,
    ) -> None:
        """Nothing is counted here."""

    def observe(self, label: Label) -> None:
        """Nothing is learned here."""

    def standing(self, category: str) -> Standing:
        """The threshold, and that nothing keeps the target."""
        threshold = self._pack.of(category).threshold
        return Standing(
            "static", State.FIXED, self._pack.target_of(category), threshold, note="a fixed score keeps no target"
        )

    def state(self) -> dict[str, Any]:
        """Nothing."""
        return {}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore nothing: this strategy learns nothing."""
