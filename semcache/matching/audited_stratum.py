"""An audited stratum: one kind of hits in one category, with the claim about it and its tenant classes.

Knows right and wrong, nothing of prompts. Invariant: only audits of served answers enter a certificate or close the
stratum, and only labels of answers that would have been served open it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.strategies.certified.audited_claim import AuditedClaim
from semcache.matching.strategies.certified.certificate import Certificate
from semcache.matching.strategies.certified.tenants import Tenants
from semcache.types.evidence import Label, LabelSource


class AuditedStratum:
    """One kind of hits, and the audits of it.

    `beta` is the accepted probability of a false claim, and `noise` that of the judge.
    """

    def __init__(self, beta: float, noise: LabelNoise = FAITHFUL) -> None:
        self._noise, self.claim = noise, AuditedClaim(beta, noise)
        self.tenants = Tenants(beta, noise)
        self.served = self.waited = 0

    @property
    def certificate(self) -> Certificate:
        """The evidence of the audits since the stratum was closed last."""
        return self.claim.certificate

    @property
    def closed(self) -> bool:
        """True if nothing is served for now."""
        return self.claim.closed

    def refuses(self, tenants: str) -> bool:
        """Return True if nothing is served to this class of tenants for now."""
        return self.closed or self.tenants.closed(tenants)

    def count(self, *, audited: bool) -> None:
        """Count a served answer."""
        self.served += 1
        self.waited = 0 if audited else self.waited + 1

    def audit(self, tenants: str, target: float, *, wrong: bool) -> bool:
        """Look at an audited answer; `target` is the error per hit that is allowed. True if it closed by that."""
        self.tenants.take(tenants, target, wrong=wrong)
        return self.claim.audit(target, wrong=wrong)

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
        return self.claim.watch(target, correct=correct)

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**self.claim.state(), "tenants": self.tenants.state(), "served": self.served}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave."""
        self.claim.restore(state)
        self.tenants.restore(state["tenants"])
        self.served = int(state["served"])
