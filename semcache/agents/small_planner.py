"""The small model of plans: what it may do in the large one's place, by certificates of its own.

It fills the slots of a plan that neither the task nor a result says, and has the last word of a run whose plan is
carried out, and of one that has no plan, where it speaks instead of calling a tool. Each of the three is compared with
what the large model does until a certificate says that the small one errs in no more than the target, and sampled after
that. Knows neither models nor stores; draws are arguments.
Invariant: the small model does nothing that is not certified, and a comparison counts at most once for each work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from semcache.agents.nearhits.quality_certificate import QualityWatch

_TURNS = 200  # turns without a plan after which earlier ones count half


class SmallWork(StrEnum):
    """A part of a run that the small model may take over; `ENDING` is the last word of a run that has no plan."""

    SLOTS = "slots"
    LAST_WORD = "last-word"
    ENDING = "ending"


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
        self._asked = self._spoke = 0.0

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

    def asked(self, *, spoke: bool) -> None:
        """Note that the small model was asked in a run without a plan, and said something instead of calling a tool."""
        self._asked, self._spoke = self._asked + 1.0, self._spoke + spoke
        if self._asked >= _TURNS:
            self._asked, self._spoke = self._asked / 2, self._spoke / 2

    def pays(self, price: float) -> bool:
        """Return True while it ends enough runs to be asked at every turn of one that has no plan.

        `price` is that of the small model as a share of the large one's.
        """
        return self._spoke + 1.0 > price * (self._asked + 1.0)

    @property
    def comparisons(self) -> int:
        """The number of comparisons that the present certificates rest on."""
        return sum(one.standing()["comparisons"] for one in self._watches.values())

    def standing(self) -> dict[str, Any]:
        """The standing as operators are shown it."""
        return {work.value: watch.standing() for work, watch in self._watches.items()}

    def state(self) -> dict[str, Any]:
        """The certificates, as JSON has them."""
        return {work.value: watch.snapshot() for work, watch in self._watches.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises KeyError or ValueError for other data, and changes nothing then."""
        found = {work: self._new() for work in SmallWork}
        for work, watch in found.items():
            if work is not SmallWork.ENDING or work.value in state:  # which earlier states lack
                watch.restore(state[work.value])
        self._watches = found

    def _new(self) -> QualityWatch:
        return QualityWatch(self.terms.target, confidence=self.terms.confidence, rate=self.terms.rate)
