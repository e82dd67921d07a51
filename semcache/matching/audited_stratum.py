"""An audited stratum: one kind of hits in one category, with its certificate, tenant classes, closing and reopening.

Knows right and wrong, nothing of prompts. Invariant: only audits of served answers enter a certificate or close the
stratum, and only labels of answers that would have been served open it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.strategies.certified.certificate import Certificate, Reopening
from semcache.matching.strategies.certified.tenants import Tenants
from semcache.types.evidence import Label, LabelSource


class AuditedStratum:
    """One kind of hits, and the audits of it.

    `beta` is the accepted probability of a false claim, and `noise` that of the judge.
    """

    def __init__(self, beta: float, noise: LabelNoise = FAITHFUL) -> None:
        self._beta, self._noise = beta, noise
        self._reopening = Reopening(noise)
        self.certificate = Certificate(beta, noise)
        self.tenants = Tenants(beta, noise)
        self.closed = False
        self.served = self.waited = 0

    def refuses(self, tenants: str) -> bool:
        """Return True if nothing is served to this class of tenants for now."""
        return self.closed or self.tenants.closed(tenants)

    def count(self, *, audited: bool) -> None:
        """Count a served answer."""
        self.served += 1
        self.waited = 0 if audited else self.waited + 1

    def audit(self, tenants: str, target: float, *, wrong: bool) -> bool:
        """Look at an audited answer; `target` is the error per hit that is allowed. True if it closed by that."""
        self.certificate.take(target, wrong=wrong)
        self.tenants.take(tenants, target, wrong=wrong)
        exceeded = self.certificate.exceeded
        if exceeded:
            self.close()
        return exceeded

    def take_undecided(self, tenants: str, target: float) -> None:
        """Look at an audited answer of which no verdict came."""
        self.certificate.take_undecided(target)
        self.tenants.take_undecided(tenants, target)

    def take_own(self, label: Label, tenants: str, target: float) -> None:
        """Learn about this class of tenants alone from a label of an answer that was served, or would have been."""
        if label.source is LabelSource.AUDIT and label.served:
            self.tenants.take(tenants, target, wrong=not label.correct)
        elif label.source is LabelSource.UNDECIDED:
            self.tenants.take_undecided(tenants, target)
        elif label.source is LabelSource.MISS:
            self.tenants.watch(tenants, target, correct=label.correct)

    def watch(self, tenants: str, target: float, *, correct: bool) -> bool:
        """Look at a label of what would have been served; return True if the stratum opened by it."""
        self.tenants.watch(tenants, target, correct=correct)
        opens = self.closed and self._reopening.passed(target, correct=correct)
        self.closed = self.closed and not opens
        return opens

    def close(self) -> None:
        """Serve nothing until labels of answers that would be served show otherwise; the certificate begins anew."""
        self.closed, self._reopening = True, Reopening(self._noise)
        self.certificate = Certificate(self._beta, self._noise)

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "certificate": self.certificate.state(),
            "tenants": self.tenants.state(),
            "closed": self.closed,
            "served": self.served,
            "probation": self._reopening.state(),  # an older name, which saved states have
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave."""
        self.certificate.restore(state["certificate"])
        self.tenants.restore(state["tenants"])
        self.closed, self.served = bool(state["closed"]), int(state["served"])
        self._reopening.restore(state["probation"])
