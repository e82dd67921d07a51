"""Strategies that decide whether a neighbour is good enough to be served; one file each, named in policy packs.

Knows nothing of what they decide by. Invariant: every category of a pack is decided by the strategy that it names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from semcache.policy import Pack
from semcache.protocols import Threshold
from semcache.thresholds.static import StaticThreshold
from semcache.types import Candidate, Verdict

__all__ = ["STRATEGIES", "ByCategory", "StaticThreshold"]

STRATEGIES: Mapping[str, Callable[[Pack], Threshold]] = {"static": StaticThreshold}


class ByCategory:
    """`protocols.Threshold` that asks the strategy of each category."""

    def __init__(self, pack: Pack) -> None:
        made = {name: STRATEGIES[name](pack) for name in {category.strategy for category in pack.categories.values()}}
        self._by_category = {name: made[category.strategy] for name, category in pack.categories.items()}

    def floor(self, category: str, min_score: float | None) -> float:
        """The category's own floor."""
        return self._of(category).floor(category, min_score)

    def judge(self, candidate: Candidate, category: str, *, min_score: float | None, draw: float) -> Verdict:
        """The verdict of the category's strategy."""
        return self._of(category).judge(candidate, category, min_score=min_score, draw=draw)

    def observe(self, candidate: Candidate, category: str, correct: bool) -> None:
        """Tell the category's strategy."""
        self._of(category).observe(candidate, category, correct)

    def _of(self, category: str) -> Threshold:
        return self._by_category.get(category) or self._by_category["default"]
