"""The state of the certified strategy for one category: two beliefs, the error budget, and what audits have shown.

One belief is about candidates of which the local verifier was asked (`with_verifier`), the other about the rest
(`without_verifier`). Pure; draws nothing and reads no clock. Invariant: nothing is learned of one category from the
labels of another, and every label enters each part once, in the order of `take`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from semcache.config.packs import Category
from semcache.matching import features
from semcache.matching.label_noise import LabelNoise
from semcache.matching.strategies.certified.audit_rate import AuditRate
from semcache.matching.strategies.certified.belief_prior import BeliefPrior
from semcache.matching.strategies.certified.calibrated_belief import (
    CalibratedBelief,
    belief_with_verifier,
    belief_without_verifier,
    prior_with_verifier,
)
from semcache.matching.strategies.certified.certificate import Certificate
from semcache.matching.strategies.certified.error_budget import Contract, ErrorBudget
from semcache.matching.strategies.certified.narrowing import Narrowing
from semcache.matching.strategies.certified.overruled_vetoes import VetoLabels, vetoing
from semcache.matching.strategies.certified.stretching import Stretching
from semcache.matching.strategies.certified.tenants import Tenants
from semcache.matching.strategies.certified.unaudited_hits import UnauditedHits
from semcache.types import Candidate
from semcache.types.evidence import CertificateEvidence, Label, LabelSource, State

WORTH_ASKING = 0.03  # P(correct) from which a language model is asked
_ASKED, _VERBATIM = features.NAMES.index("asked"), features.NAMES.index("verbatim")
_REORDERED = features.NAMES.index("reordered")
_OWN_LABELS = 100  # from which likeness is trusted as far as they have shown
# Standard deviations of the calibration. Where the target counts all requests, hits are served that are far less sure,
# and a belief that is too good costs more before labels have mended it.
CAUTION: Mapping[Contract, float] = {"hit": 1.5, "request": 1.7}
_HINDSIGHT = 0.5  # of the caution, with which hits that nobody audited are looked at again
# Errors that may be expected of a category's first answers. At a target of 1% a category is within it after some 65
# hits; with fewer to begin with, most traffic of small categories ended before it was served by meaning.
GRANT = 0.2
_NOISY = 0.6  # exponent by which caution grows as labels tell less


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


class CategoryKnowledge:
    """Everything known of one category. `prior` is what was known before its first label."""

    def __init__(self, promise: Promise, prior: BeliefPrior, noise: LabelNoise) -> None:
        policy, target, beta = promise.policy, promise.target, 1.0 - promise.confidence
        self._name, self._target, self._noise, self._grants = policy.name, target, noise, promise.grants
        self._counts_requests = policy.contract == "request"
        self._caution = CAUTION[policy.contract] / noise.reach**_NOISY
        # Where hits are rare, a target for all requests lets many of them be wrong: there the small verifier's verdict,
        # which says little of what natural traffic makes alike, was measured to cost the target.
        self.verifier = policy.asked
        self.without_verifier = belief_without_verifier(prior, noise, policy.contract)
        self.with_verifier = belief_with_verifier(prior, noise)
        self._stretching = Stretching(target, promise.relax_to, beta)
        self.budget = ErrorBudget(
            target,
            policy.contract,
            risks=(prior_with_verifier(prior).risks if self.verifier == "verifier" else ()) or prior.risks,
            grant=promise.grants * max(GRANT, target),
            first=max(beta, target),
            loosest=self._stretching.loosest,
        )
        self._narrowing = Narrowing(beta, noise)
        self.tenants = Tenants(beta, noise)
        self._audits = AuditRate()
        self._vetoes = VetoLabels()
        self._unaudited = UnauditedHits()
        self.labels = 0

    # P(correct)

    def about(self, values: tuple[float, ...]) -> CalibratedBelief:
        """The belief about candidates of which as much is known as of this one."""
        return self.with_verifier if values[_ASKED] else self.without_verifier

    def probability(self, values: tuple[float, ...], answer: int) -> float:
        """P(correct), on the safe side."""
        return self.about(values).probability(values, answer, self._caution)

    def promising(self, candidates: Sequence[Candidate], text: str, least: float, *, asks: bool) -> list[bool]:
        """Which of them could be right with a probability of `least`, if the local verifier is asked or not."""
        longest = max([len(text), *[len(one.card.text) for one in candidates]])
        answers, around = [one.card.answer_class for one in candidates], [one.around for one in candidates]
        found = self.without_verifier.promising(around, answers, longest, least, asked=False)
        if asks:
            found |= self.with_verifier.promising(around, answers, longest, least, asked=True)
        return [bool(one) for one in found]

    # Who has to be asked

    def asks(self, candidate: Candidate, p: float, limit: float, *, free: bool) -> bool:
        """Return True if a verifier's verdict could settle it; the local one is asked once, and only if `free`."""
        if self.verifier != "verifier":
            return self.verifier == "llm" and p >= WORTH_ASKING and not self.without_verifier.drift.suspects
        if not free or candidate.features[_ASKED]:
            return False
        heard = features.with_verdict(candidate.features, 1.0)
        best = self.probability(heard, candidate.card.answer_class)
        return 1.0 - self.doubted(heard, best) <= limit

    def has_to_be_read(self, candidate: Candidate) -> bool:
        """Return True if the local verifier has to read both texts first: all except retyped ones.

        Predictions from similarity alone are wrong too often where prompts are full of near misses. No labels would
        show it, because labels of refused candidates are of those that the verifier refused.
        """
        values = candidate.features
        return self.verifier == "verifier" and not (values[_ASKED] or values[_VERBATIM])

    def blind(self, candidate: Candidate) -> bool:
        """Return True if words may have changed places, which similarity does not see, and no verifier was asked.

        That holds until the category has labels of its own.
        """
        values = candidate.features
        return self.labels < _OWN_LABELS and bool(values[_REORDERED]) and not values[_ASKED]

    # What is served

    @property
    def certificate(self) -> Certificate:
        """The evidence of the audits since the category was narrowed or widened last."""
        return self._narrowing.certificate

    @property
    def closed(self) -> bool:
        """True if nothing is served by meaning for now."""
        return self._narrowing.closed

    @property
    def watched(self) -> bool:
        """True if what would be served is labelled whether it has hope or not, so that suspicions end."""
        serving = self.with_verifier if self.verifier == "verifier" else self.without_verifier
        return self.closed or serving.drift.suspects

    def limit(self) -> float:
        """The highest 1 - P(correct) that is served."""
        return self.budget.limit() * self._narrowing.factor()

    def doubted(self, values: tuple[float, ...], p: float) -> float:
        """P(correct), believed to be `p`, if such candidates are as much worse than believed as labels make it likely.

        If predictions from similarity were too optimistic, the local verifier's verdict may still be worth as much as
        ever.
        """
        return self.about(values).drift.doubted(p)

    def overrules(self, values: tuple[float, ...]) -> bool:
        """Return True if the category has enough labels of pairs that these guards veto to overrule them."""
        return self._vetoes.overrule(values)

    def audit_rate(self, policy: Category) -> float:
        """The share of hits that is audited: so many that a change to the worst is found before it costs the target."""
        doubted = self.without_verifier.drift.suspects or self.with_verifier.drift.suspects
        return self._audits.rate(policy.audit, self.budget.allowed_ever(), doubted=doubted)

    def chance(self, policy: Category) -> float:
        """The probability of an audit of the next hit."""
        return self._audits.chance(self.audit_rate(policy))

    def relax(self, share: float) -> None:
        """Stretch the target by this share of the accepted and certified range."""
        self._stretching.wanted(share)
        self.budget.stretch(self._stretching.target())

    def note(self, p_correct: float | None, *, served: bool, audited: bool, candidate: Candidate | None = None) -> None:
        """Count a request, and its risk among the recent ones; audits are spread evenly over served answers.

        The `candidate` that was served is kept among the unaudited hits.
        """
        self.budget.note(None if p_correct is None else 1.0 - p_correct, served=served)
        if not served:
            return
        self._audits.note(audited=audited)
        if p_correct is not None and not audited and candidate is not None:
            self._keep_unaudited(candidate, p_correct)

    def _keep_unaudited(self, candidate: Candidate, p_correct: float) -> None:
        """Keep a hit that was booked with this P(correct), unless that is what another category believes of it."""
        values = candidate.features
        about = self.about(values)
        odds = about.log_odds(values, candidate.card.answer_class)
        own = candidate.card.category == self._name
        if own or about.corrected(odds, values, self._caution) <= p_correct:
            self._unaudited.add(about, odds, values, p_correct)

    # Learning

    def take(self, label: Label, tenants: str) -> None:
        """Learn from one label, of a tenant of the class `tenants`."""
        if label.source is LabelSource.UNDECIDED:
            self._take_undecided(label, tenants, all_classes=True)
            return
        self.labels += 1
        if not _is_of_this_version(label):
            return
        self._vetoes.take(label.features)
        risk = self._take_into_beliefs(label)
        self._take_into_budget(label)
        if label.source is LabelSource.AUDIT and label.served:
            self._take_audit(label, tenants)
        if _is_sample(label):
            if risk <= self.budget.limit() and not vetoing(label.features):
                self._watch(label, tenants)
            self._look_beyond(label, risk)

    def _take_into_beliefs(self, label: Label) -> float:
        """Have the belief, its calibration and its drift alarm learn; return the risk as it was believed before."""
        about = self.about(label.features)
        odds = about.log_odds(label.features, label.answer)
        risk = 1.0 - about.corrected(odds, label.features, self._caution)
        sampled = _is_sample(label)
        if sampled and about.contradicted(label, odds):
            self.without_verifier.calibration.doubt()
            self.with_verifier.calibration.doubt()
        other = self.without_verifier if about is self.with_verifier else self.with_verifier
        if sampled and other.drift.suspects:
            # Meanwhile labels are hardly ever of its kind: those of the other have to allay the suspicion.
            other.drift.take(about.corrected(odds, label.features), correct=label.correct)
        about.learn(label, odds, sampled=sampled)
        return risk

    def _take_into_budget(self, label: Label) -> None:
        """Count the errors of this answer, and those that are now expected of hits that nobody audited."""
        self.budget.revise(self._unaudited.revised(_HINDSIGHT * self._caution))
        if _is_sample(label) and label.served:
            wrong = self._noise.errors(correct=label.correct)
            self.budget.settle(1.0 - label.p_correct, wrong=wrong, weight=self._grants)
        self.budget.changed()

    def _take_audit(self, label: Label, tenants: str) -> None:
        """Look at an audited answer, by which the category may be narrowed."""
        self._audits.take(wrong=not label.correct)
        allowed = self.budget.per_hit()
        # What is served while the target is stretched certifies no more than the target itself.
        stated = self.budget.per_hit(self._target)
        self.tenants.take(tenants, allowed, wrong=not label.correct)
        if self._narrowing.audit(allowed, wrong=not label.correct, stated=stated):
            self._stretching.begin_anew()
            self.budget.stretch(self._stretching.target())

    def _take_undecided(self, label: Label, tenants: str, *, all_classes: bool) -> None:
        """Have certificates look at an audited answer of which no verdict came; nothing else learns of it."""
        if not _is_of_this_version(label):
            return
        self.tenants.take_undecided(tenants, self.budget.per_hit())
        if all_classes:
            self.certificate.take_undecided(self.budget.per_hit(self._target))

    def _watch(self, label: Label, tenants: str) -> None:
        """Look at the label of an answer that would be served, by which what is closed opens again."""
        allowed = self.budget.per_hit()
        if not label.served:
            self.tenants.watch(tenants, allowed, correct=label.correct)
        if self._narrowing.watch(allowed, correct=label.correct):
            self.tenants.begin_anew()

    def _look_beyond(self, label: Label, risk: float) -> None:
        """Test the error of all that would be served were the target stretched."""
        loosest = self._stretching.loosest
        if loosest is None or not self.budget.own or risk > self.budget.loosest() or vetoing(label.features):
            return
        if self._stretching.look(self._noise.visible(loosest), wrong=not label.correct):
            self.budget.stretch(self._stretching.target())

    def take_own(self, label: Label, tenants: str) -> None:
        """Learn from one label about the class `tenants` alone."""
        if label.source is LabelSource.UNDECIDED:
            self._take_undecided(label, tenants, all_classes=False)
        elif label.source is LabelSource.AUDIT and label.served:
            self.tenants.take(tenants, self.budget.per_hit(), wrong=not label.correct)
        elif not label.served and _is_sample(label) and self._would_serve(label):
            self.tenants.watch(tenants, self.budget.per_hit(), correct=label.correct)

    def disown(self, label: Label) -> None:
        """Take back what a label of a served answer has spent of the budget; beliefs and the certificate keep it."""
        if label.served and _is_of_this_version(label):
            wrong = self._noise.errors(correct=label.correct)
            self.budget.settle(1.0 - label.p_correct, wrong=wrong, weight=-self._grants)
            self.budget.changed()

    def relearn(self, labels: Sequence[Label], prior: BeliefPrior) -> None:
        """Rebuild the beliefs alone: what a report took from an answer comes back, what audits showed stays shown."""
        known = [label for label in labels if _is_of_this_version(label)]
        self.without_verifier.relearn([label for label in known if not label.features[_ASKED]], prior)
        self.with_verifier.relearn([label for label in known if label.features[_ASKED]], prior_with_verifier(prior))
        self.budget.changed()

    def _would_serve(self, label: Label) -> bool:
        if not _is_of_this_version(label) or vetoing(label.features):
            return False
        return 1.0 - self.probability(label.features, label.answer) <= self.budget.limit()

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
        narrowing = self._narrowing.state()
        return {
            **self.without_verifier.state(),
            "told": self.with_verifier.state(),  # an older name, which saved states have
            "certificate": narrowing["certificate"],
            "tenants": self.tenants.state(),
            "beyond": self._stretching.state(),
            "labels": self.labels,
            "closed": narrowing["closed"],
            "narrowed": narrowing["narrowed"],
            "probation": narrowing["probation"],
            "audits": self._audits.state(),
            "vetoed": self._vetoes.state(),
            "overspent": self.budget.overspent(),
            "counted": self.budget.counted(),
            "lately": self.budget.lately.state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for that of another version."""
        self.without_verifier.restore(state)
        # Until there were two, one knew all.
        self.with_verifier.restore(state.get("told", state))
        self._stretching.restore(state["beyond"])
        self._narrowing.restore(state)
        if self._counts_requests and "lately" not in state:
            # In older states it had been shown of whatever the target allowed a hit while hits were rare.
            self.certificate.forget_target()
        self.tenants.restore(state.get("tenants", {}))
        self.labels = int(state["labels"])
        if "audits" in state:
            self._audits.restore(int(state["audits"]))
        self._vetoes.restore(state["vetoed"])
        self.budget.owe(float(state.get("overspent", 0.0)), state.get("counted", (0.0, 0.0)), state.get("lately"))
        self.budget.changed()


def _is_of_this_version(label: Label) -> bool:
    """Return True if a label has the features of this version, and of no model's verdict."""
    return len(label.features) == len(features.NAMES)


def _is_sample(label: Label) -> bool:
    """Return False of a report, which is no sample of what was served, nor of what was refused."""
    return label.source is not LabelSource.FEEDBACK
