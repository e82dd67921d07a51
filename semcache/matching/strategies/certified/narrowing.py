"""The narrowing of a category in which audits show too many errors: only surer answers are served, and at last none.

Knows right and wrong, nothing of features. Invariant: only audits of served answers narrow it, only labels of answers
that would be served widen it, and each such step begins the certificate anew, because other answers are served then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.strategies.certified.certificate import Certificate, Reopening

_NARROWER = 0.3  # of the limit, each time that audits show too many errors
_NARROWEST = 2  # times; the next time the category is closed


class Narrowing:
    """The certificate of one category and the steps by which it is narrowed or closed.

    `beta` is the accepted probability of a false claim, and `noise` that of the judge.
    """

    def __init__(self, beta: float, noise: LabelNoise = FAITHFUL) -> None:
        self._beta, self._noise = beta, noise
        self._steps = 0
        self.closed = False
        self._begin_anew()

    def _begin_anew(self) -> None:
        self.certificate = Certificate(self._beta, self._noise)
        self._reopening = Reopening(self._noise)

    @property
    def narrowed(self) -> bool:
        """True if only surer answers than usual are served, or none."""
        return self._steps > 0

    def factor(self) -> float:
        """The part of the budget's limit that is left."""
        return _NARROWER**self._steps

    def audit(self, target: float, *, wrong: bool, stated: float) -> bool:
        """Look at an audited answer; return True if the category was narrowed by it.

        `target` is the error per hit that is allowed at this moment, and `stated` the one that is to be certified.
        """
        self.certificate.take(target, wrong=wrong, stated=stated)
        exceeded = self.certificate.exceeded
        if exceeded:
            self.closed = self._steps == _NARROWEST
            self._steps = min(_NARROWEST, self._steps + 1)
            self._begin_anew()
        return exceeded

    def watch(self, target: float, *, correct: bool) -> bool:
        """Look at a label of what would be served, by which a closed category opens, and then widens by a step.

        Returns True if more is served from now on.
        """
        widens = (self.narrowed or self.closed) and self._reopening.passed(target, correct=correct)
        if widens:
            self._steps -= not self.closed
            self.closed = False
            self._begin_anew()
        return widens

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "certificate": self.certificate.state(),
            "closed": self.closed,
            "narrowed": self._steps,
            "probation": self._reopening.state(),  # an older name, which saved states have
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave."""
        self.certificate.restore(state["certificate"])
        self.closed, self._steps = bool(state["closed"]), int(state["narrowed"])
        self._reopening.restore(state["probation"])
