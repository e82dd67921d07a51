"""The knowledge of one category: what is believed of its candidates, and what audits show of its hits.

Beliefs know no targets, and the control of the error knows no features; this is where each label and each request meets
both, in one order. Pure; draws nothing and reads no clock. Invariant: every label enters each part once, in the order
of `take`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semcache.config.packs import Category
from semcache.matching.label_noise import LabelNoise
from semcache.matching.strategies.certified.belief_prior import BeliefPrior
from semcache.matching.strategies.certified.calibrated_belief import prior_with_verifier
from semcache.matching.strategies.certified.category_beliefs import CategoryBeliefs, is_of_this_version, is_sample
from semcache.matching.strategies.certified.error_control import ErrorControl, Promise
from semcache.matching.strategies.certified.overruled_vetoes import vetoing
from semcache.types import Candidate
from semcache.types.evidence import Label, LabelSource, State


class CategoryKnowledge:
    """Everything known of one category. `prior` is what was known before its first label."""

    def __init__(self, promise: Promise, prior: BeliefPrior, noise: LabelNoise) -> None:
        self.beliefs = CategoryBeliefs(promise.policy, prior, noise)
        heard = prior_with_verifier(prior).risks if self.beliefs.verifier == "verifier" else ()
        self.control = ErrorControl(promise, heard or prior.risks, noise)

    @property
    def watched(self) -> bool:
        """True if what would be served is labelled whether it has hope or not, so that suspicions end."""
        return self.control.closed or self.beliefs.suspects_served

    def audit_rate(self, policy: Category) -> float:
        """The share of hits that is audited."""
        return self.control.audit_rate(policy.audit, doubted=self.beliefs.suspects)

    def chance(self, policy: Category) -> float:
        """The probability of an audit of the next hit."""
        return self.control.chance(self.audit_rate(policy))

    def note(self, p_correct: float | None, *, served: bool, audited: bool, candidate: Candidate | None = None) -> None:
        """Count a request, and its risk among the recent ones; audits are spread evenly over served answers.

        The `candidate` that was served is kept among the unaudited hits.
        """
        self.control.note(None if p_correct is None else 1.0 - p_correct, served=served, audited=audited)
        if served and not audited and p_correct is not None and candidate is not None:
            self.beliefs.keep_unaudited(candidate, p_correct)

    def note_of(self) -> str:
        """Where the promise stands and, until it is certified, what labels say of the judge; for operators."""
        standing = self.control.note_of()
        doubt = "" if self.control.state_of() is State.CERTIFIED else self.beliefs.surest.note()
        return "; ".join([one for one in (standing, doubt) if one])

    def take(self, label: Label, tenants: str) -> None:
        """Learn from one label, of a tenant of the class `tenants`."""
        if label.source is LabelSource.UNDECIDED:
            self._take_undecided(label, tenants, all_classes=True)
            return
        self.beliefs.labels += 1
        if not is_of_this_version(label):
            return
        risk = self.beliefs.take(label)
        self.control.budget.revise(self.beliefs.revised())
        if is_sample(label) and label.served:
            self.control.settle(label)
        self.control.budget.changed()
        if label.source is LabelSource.AUDIT and label.served:
            self.control.take_audit(tenants, wrong=not label.correct)
        if is_sample(label) and not vetoing(label.features):
            self.control.watch(label, tenants, risk)

    def _take_undecided(self, label: Label, tenants: str, *, all_classes: bool) -> None:
        if is_of_this_version(label):
            self.control.take_undecided(tenants, all_classes=all_classes)

    def take_own(self, label: Label, tenants: str) -> None:
        """Learn from one label about the class `tenants` alone."""
        classes, allowed = self.control.tenants, self.control.budget.per_hit()
        if label.source is LabelSource.UNDECIDED:
            self._take_undecided(label, tenants, all_classes=False)
        elif label.source is LabelSource.AUDIT and label.served:
            classes.take(tenants, allowed, wrong=not label.correct)
        elif not label.served and is_sample(label) and self._would_serve(label):
            classes.watch(tenants, allowed, correct=label.correct)

    def _would_serve(self, label: Label) -> bool:
        if not is_of_this_version(label) or vetoing(label.features):
            return False
        return 1.0 - self.beliefs.probability(label.features, label.answer) <= self.control.budget.limit()

    def disown(self, label: Label) -> None:
        """Take back what a label of a served answer has spent of the budget; beliefs and the certificate keep it."""
        if label.served and is_of_this_version(label):
            self.control.settle(label, weight=-1.0)
            self.control.budget.changed()

    def relearn(self, labels: Sequence[Label], prior: BeliefPrior) -> None:
        """Rebuild the beliefs alone: what a report took from an answer comes back, what audits showed stays shown."""
        self.beliefs.relearn(labels, prior)
        self.control.budget.changed()

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**self.beliefs.state(), **self.control.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for that of another version."""
        self.beliefs.restore(state)
        self.control.restore(state)
