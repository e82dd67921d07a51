"""The narrowing of a category in which audits show too many errors: only surer answers are served, and at last none.

Knows right and wrong, nothing of features. Invariant: only audits of served answers narrow it, only labels of answers
that would be served widen it, and each such step begins the certificate anew, because other answers are served then.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.strategies.certified.audited_claim import AuditedClaim
from semcache.matching.strategies.certified.certificate import Certificate

_NARROWER = 0.3  # of the limit, each time that audits show too many errors
_NARROWEST = 2  # times; the next time the category is closed


class Narrowing:
    """The claim of one category, and the steps by which the category is narrowed or closed.

    `beta` is the accepted probability of a false claim, and `noise` that of the judge.
    """

    def __init__(self, beta: float, noise: LabelNoise = FAITHFUL) -> None:
        self._claim = AuditedClaim(beta, noise)
        self._steps = 0

    @property
    def certificate(self) -> Certificate:
        """The evidence of the audits since the category was narrowed or widened last."""
        return self._claim.certificate

    @property
    def closed(self) -> bool:
        """True if nothing is served for now."""
        return self._claim.closed

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
        exceeded = self._claim.audit(target, wrong=wrong, stated=stated)
        if exceeded:
            self._claim.closed = self._steps == _NARROWEST  # before that, surer answers go on being served
            self._steps = min(_NARROWEST, self._steps + 1)
        return exceeded

    def watch(self, target: float, *, correct: bool) -> bool:
        """Look at a label of what would be served, by which a closed category opens, and then widens by a step.

        Returns True if more is served from now on.
        """
        widens = (self.narrowed or self.closed) and self._claim.reopening.passed(target, correct=correct)
        if widens:
            self._steps -= not self.closed
            self._claim.closed = False
            self._claim.begin_anew()
        return widens

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**self._claim.state(), "narrowed": self._steps}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave."""
        self._claim.restore(state)
        self._steps = int(state["narrowed"])
