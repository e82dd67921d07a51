"""The check of a cascade: serve the small model's answer, or ask the large one after all.

Learns from comparisons what an answer of such a look loses, and which share of answers is believed. Pure. Invariant:
nothing is believed before `FEW` comparisons, nor what is expected to lose more than the target; the promise itself
rests on the certificate of what was believed, not on this.

The vocabulary is that of "Dynamic Model Routing and Cascading: A Survey": this is post-generation routing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from semcache.agents.multiplex.gap import QualityGap

if TYPE_CHECKING:
    from semcache.agents.multiplex.signals import RoutingRequest

FEW = 30
_CAUTIOUS = 0.25  # deviations that are added to an expected loss
_NEW = 0.02  # what the last answer counts in the share of those that were believed


class CascadeCheck:
    """The check of one process. `prior` is the loss before the first comparison, `target` the highest accepted one."""

    def __init__(self, prior: float, target: float) -> None:
        self._gap, self._target = QualityGap(prior), target
        self.share = 1.0

    def believes(self, asked: RoutingRequest, answer: str) -> bool:
        """Return True if this answer of the small model will do."""
        if self._gap.seen < FEW:
            return False
        loss = self._gap.after(asked, answer)
        believed = bool(answer.strip()) and loss.mean + _CAUTIOUS * loss.deviation <= self._target
        self.share += _NEW * (believed - self.share)
        return believed

    def pays(self, price: float) -> bool:
        """Return True if asking the small model first pays; `price` is its cost as a share of the large model's."""
        return self.share > price

    def learn(self, asked: RoutingRequest, answer: str, quality: float) -> None:
        """Take a comparison; `quality` in [0, 1] is 1 where the answer is as good as the large model's."""
        self._gap.learn(asked, answer, 1.0 - quality)

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"gap": self._gap.state(), "share": self.share}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises KeyError or ValueError for other data."""
        self._gap.restore(state["gap"])
        self.share = float(state["share"])
