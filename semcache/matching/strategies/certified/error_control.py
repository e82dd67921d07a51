"""The control of one category's error: the promise, the budget that keeps it, and what audits have shown.

Knows risks, right and wrong, and classes of tenants; nothing of features or beliefs. Pure; draws nothing and reads no
clock. Invariant: nothing is served beyond `limit`, and audits of served answers alone narrow or certify a category.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from semcache.config.packs import Category
from semcache.matching.label_noise import LabelNoise
from semcache.matching.strategies.certified.audit_rate import AuditRate
from semcache.matching.strategies.certified.certificate import Certificate
from semcache.matching.strategies.certified.error_budget import ErrorBudget
from semcache.matching.strategies.certified.narrowing import Narrowing
from semcache.matching.strategies.certified.stretching import Stretching
from semcache.matching.strategies.certified.tenants import Tenants
from semcache.types.evidence import CertificateEvidence, Label, State

# Errors that may be expected of a category's first answers. At a target of 1% a category is within it after some 65
# hits; with fewer to begin with, most traffic of small categories ended before it was served by meaning.
GRANT = 0.2


class Promise(NamedTuple):
    """The promise for a category: the `target`, as error per hit or request, and the `confidence` of a certificate.

    The target may be stretched up to `relax_to`. `grants` is this process's share of the hits, and so of the grant and
    of what audits settle: all processes learn from every audit, but only one was charged with the risk of its hit.
    """

    policy: Category
    target: float
    confidence: float
    relax_to: float | None = None
    grants: float = 1.0


class ErrorControl:
    """The error of one category, kept to its promise; `risks` stand for requests that were not seen yet."""

    def __init__(self, promise: Promise, risks: Sequence[float], noise: LabelNoise) -> None:
        target, beta, contract = promise.target, 1.0 - promise.confidence, promise.policy.contract
        self._target, self._noise, self._grants = target, noise, promise.grants
        self._counts_requests = contract == "request"
        self._stretching = Stretching(target, promise.relax_to, beta)
        self.budget = ErrorBudget(
            target,
            contract,
            risks=risks,
            grant=promise.grants * max(GRANT, target),
            first=max(beta, target),
            loosest=self._stretching.loosest,
        )
        self._narrowing = Narrowing(beta, noise)
        self.tenants = Tenants(beta, noise)
        self._audits = AuditRate()

    # What is served

    @property
    def certificate(self) -> Certificate:
        """The evidence of the audits since the category was narrowed or widened last."""
        return self._narrowing.certificate

    @property
    def closed(self) -> bool:
        """True if nothing is served by meaning for now."""
        return self._narrowing.closed

    def refuses(self, tenants: str) -> bool:
        """Return True if nothing is served by meaning to this class of tenants for now."""
        return self.closed or self.tenants.closed(tenants)

    def limit(self) -> float:
        """The highest 1 - P(correct) that is served."""
        return self.budget.limit() * self._narrowing.factor()

    def audit_rate(self, wanted: float, *, doubted: bool) -> float:
        """The share of hits that is audited: so many that a change to the worst is found before it costs the target.

        `wanted` is the pack's share; a category whose beliefs are `doubted` is audited more.
        """
        return self._audits.rate(wanted, self.budget.allowed_ever(), doubted=doubted)

    def chance(self, rate: float) -> float:
        """The probability of an audit of the next hit at this rate."""
        return self._audits.chance(rate)

    def relax(self, share: float) -> None:
        """Stretch the target by this share of the accepted and certified range."""
        self._stretching.wanted(share)
        self.budget.stretch(self._stretching.target())

    def note(self, risk: float | None, *, served: bool, audited: bool) -> None:
        """Count a request whose best candidate has this risk; audits are spread evenly over served answers."""
        self.budget.note(risk, served=served)
        if served:
            self._audits.note(audited=audited)

    # Learning

    def settle(self, label: Label, *, weight: float = 1.0) -> None:
        """Count the errors that the label of a served answer stands for, instead of those that were expected of it.

        A `weight` of -1 takes that back.
        """
        wrong = self._noise.errors(correct=label.correct)
        self.budget.settle(1.0 - label.p_correct, wrong=wrong, weight=weight * self._grants)

    def take_audit(self, tenants: str, *, wrong: bool) -> None:
        """Look at an audited answer of a tenant of the class `tenants`, by which the category may be narrowed."""
        self._audits.take(wrong=wrong)
        allowed = self.budget.per_hit()
        # What is served while the target is stretched certifies no more than the target itself.
        stated = self.budget.per_hit(self._target)
        self.tenants.take(tenants, allowed, wrong=wrong)
        if self._narrowing.audit(allowed, wrong=wrong, stated=stated):
            self._stretching.begin_anew()
            self.budget.stretch(self._stretching.target())

    def take_undecided(self, tenants: str, *, all_classes: bool) -> None:
        """Have certificates look at an audited answer of which no verdict came; nothing else learns of it."""
        self.tenants.take_undecided(tenants, self.budget.per_hit())
        if all_classes:
            self.certificate.take_undecided(self.budget.per_hit(self._target))

    def watch(self, label: Label, tenants: str, risk: float) -> None:
        """Look at the label of an answer of this risk, by which what is closed opens, and the target is stretched."""
        if risk <= self.budget.limit():
            self._watch_served(label, tenants)
        self._watch_stretched(label, risk)

    def _watch_served(self, label: Label, tenants: str) -> None:
        """Test the error of what would be served were nothing closed."""
        allowed = self.budget.per_hit()
        if not label.served:
            self.tenants.watch(tenants, allowed, correct=label.correct)
        if self._narrowing.watch(allowed, correct=label.correct):
            self.tenants.begin_anew()

    def _watch_stretched(self, label: Label, risk: float) -> None:
        """Test the error of all that would be served were the target stretched."""
        loosest = self._stretching.loosest
        if loosest is None or not self.budget.of_this_traffic or risk > self.budget.loosest():
            return
        if self._stretching.look(self._noise.visible(loosest), wrong=not label.correct):
            self.budget.stretch(self._stretching.target())

    # Standing

    def state_of(self) -> State:
        """How far the promise is backed."""
        if self.closed:
            return State.CLOSED
        if self.certificate.holds(self.budget.per_hit(self._target)):
            return State.CERTIFIED
        return State.INFEASIBLE if self.budget.hopeless() else State.PROVISIONAL

    def note_of(self) -> str:
        """A sentence for operators."""
        match self.state_of():
            case State.CLOSED:
                return f"audits showed more errors than {self._target:.2%}: nothing is served by meaning for now"
            case State.INFEASIBLE:
                return f"no neighbour is sure enough for {self._target:.2%} on this traffic: only exact hits are served"
            case _ if self._narrowing.narrowed:
                return f"audits showed more errors than {self._target:.2%}: only what is surer is served for now"
            case State.PROVISIONAL:
                more, silent = self.evidence().needed, self.certificate.undecided
                undecided = f", {silent} without a verdict counted as wrong" if silent else ""
                return f"calibrated on shipped data; a certificate takes {more} more audits without an error{undecided}"
            case _:
                return ""

    def evidence(self) -> CertificateEvidence:
        """The wealth behind the certificate."""
        return self.certificate.evidence(self.budget.per_hit(self._target))

    # State

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            **self._narrowing.state(),
            "tenants": self.tenants.state(),
            "beyond": self._stretching.state(),
            "audits": self._audits.state(),
            "overspent": self.budget.overspent(),
            "counted": self.budget.counted_ever(),
            "lately": self.budget.requests_per_hit.state(),  # an older name, which saved states have
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave."""
        self._stretching.restore(state["beyond"])
        self._narrowing.restore(state)
        if self._counts_requests and "lately" not in state:
            # In older states it had been shown of whatever the target allowed a hit while hits were rare.
            self.certificate.forget_target()
        self.tenants.restore(state.get("tenants", {}))
        if "audits" in state:
            self._audits.restore(int(state["audits"]))
        self.budget.owe(float(state.get("overspent", 0.0)), state.get("counted", (0.0, 0.0)), state.get("lately"))
        self.budget.changed()
