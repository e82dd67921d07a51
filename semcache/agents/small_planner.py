"""The small model of plans: what it may do in the large one's place, by certificates of its own.

It fills the slots of a plan that neither the task nor a result says, and has the last word of a run whose plan is
carried out. Each of the two is compared with what the large model does until a certificate says that the small one
errs in no more than the target, and sampled after that. Knows neither models nor stores; draws are arguments.
Invariant: the small model does nothing that is not certified, and every comparison counts once, for its own work alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from semcache.agents.nearhits.quality_certificate import QualityWatch


class SmallWork(StrEnum):
    """A part of a run that the small model may take over."""

    SLOTS = "slots"
    LAST_WORD = "last-word"


@dataclass(frozen=True, slots=True)
class SmallTerms:
    """`target` is the accepted share of errors, `confidence` that of the certificate.

    `learning` is the share of turns that are compared before it is certified, `rate` the highest share after that.
    """

    target: float = 0.1
    confidence: float = 0.95
    learning: float = 1.0
    rate: float = 0.1


class SmallPlanner:
    """The certificates of one process's small model."""

    def __init__(self, terms: SmallTerms = SmallTerms()) -> None:
        self.terms = terms
        self._watches = {one: self._new() for one in SmallWork}

    def may(self, work: SmallWork) -> bool:
        """Return True if the small model is certified for this work."""
        return self._watches[work].open

    def compares(self, work: SmallWork, draw: float) -> bool:
        """Return True to ask both models; `draw` is uniform in [0, 1)."""
        watch = self._watches[work]
        return watch.sampled(draw) if watch.open else draw < self.terms.learning

    def compared(self, work: SmallWork, *, right: bool) -> None:
        """Take a comparison: whether the small model did as the large one."""
        self._watches[work].take(wrong=not right)

    @property
    def comparisons(self) -> int:
        """The number of comparisons that the present certificates rest on."""
        return sum(one.standing()["comparisons"] for one in self._watches.values())

    def standing(self) -> dict[str, Any]:
        """Where it stands, for operators."""
        return {work.value: watch.standing() for work, watch in self._watches.items()}

    def state(self) -> dict[str, Any]:
        """The certificates, as JSON has them."""
        return {work.value: watch.snapshot() for work, watch in self._watches.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises KeyError or ValueError for other data, and changes nothing then."""
        found = {work: self._new() for work in SmallWork}
        for work, watch in found.items():
            watch.restore(state[work.value])
        self._watches = found

    def _new(self) -> QualityWatch:
        return QualityWatch(self.terms.target, confidence=self.terms.confidence, rate=self.terms.rate)
