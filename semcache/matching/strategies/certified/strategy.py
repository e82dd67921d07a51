"""The certified strategy: calibrated probabilities, a pooled budget, and a certificate, category by category.

Knows the pack's targets and labels; draws nothing and reads no clock. Invariant: nothing is served beyond the budget's
limit, nothing in a closed category, and a guard's veto is overruled only by the category's own labels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from semcache.config.packs import Category, Pack
from semcache.matching import features
from semcache.matching.break_even import stretched
from semcache.matching.strategies.certified.belief import FAITHFUL, HOPELESS, Belief, BeliefPrior, LabelNoise
from semcache.matching.strategies.certified.calibration import Calibration
from semcache.matching.strategies.certified.certificate import Bet, Certificate, Probation
from semcache.matching.strategies.certified.drift import DriftAlarm
from semcache.matching.strategies.certified.error_budget import HIGHEST, Contract, ErrorBudget
from semcache.matching.strategies.certified.priors import shipped
from semcache.matching.strategies.certified.tenants import Tenants
from semcache.types import Candidate, Controls, Verdict, Why
from semcache.types.evidence import Label, LabelSource, Standing, State, wilson

FLOOR = 0.5  # cosine similarity below which no candidate has ever been probable
_VETO_LABELS = 30  # of pairs that a guard vetoes, before a category may overrule it
_WORTH_ASKING = 0.02  # P(correct) from which a language model is asked
_ASKED = features.NAMES.index("asked")
_NEARNESS = features.NAMES.index("nearness")
_GUARDS = tuple((place, name) for place, name in enumerate(features.NAMES) if name.startswith("guard:"))
# Standard deviations of the calibration. Where the target counts all requests, hits are served that are far less sure,
# and a belief that is too good costs more before labels have mended it.
CAUTION: Mapping[Contract, float] = {"hit": 0.5, "request": 1.3}
_QUIET = 0.1  # share of the audit rate that always remains
_NARROWER = 0.3  # of the limit, each time that audits show too many errors
_NARROWEST = 2  # times; the next time the category is closed
_REPORTERS = 10_000  # tenants whose reports are counted
_CAUGHT = 2.0  # audits expected of as many hits as may be wrong before the target is missed


class CertifiedThreshold:
    """`protocols.Threshold` whose error is kept.

    `noise` is that of the judge behind the labels; `priors`, by profile, stand in for those that ship.
    """

    def __init__(
        self,
        pack: Pack,
        *,
        prior: BeliefPrior | None = None,
        priors: Mapping[str, BeliefPrior] = MappingProxyType({}),
        noise: LabelNoise = FAITHFUL,
    ) -> None:
        self._pack = pack
        self._prior = prior
        self._priors = priors
        self._noise = noise
        self._known: dict[str, _Knowledge] = {}
        self._share = 0.0

    def floor(self, category: str, controls: Controls) -> float:  # noqa: ARG002
        """The same for all: features and guards decide, not the score."""
        return FLOOR if controls.min_score is None else max(FLOOR, controls.min_score)

    def promising(self, candidates: Sequence[Candidate], text: str, category: str) -> Sequence[bool]:
        """Those whose P(correct) could be high enough if their texts were as alike as can be."""
        known = self._of(category)
        if known.halted:
            # What would be served is watched, to open it again.
            return [True] * len(candidates)
        verifier = known.verifier
        least = _WORTH_ASKING if verifier == "llm" else 1.0 - HIGHEST
        return known.promising(candidates, text, least, asks=verifier == "verifier")

    def judge(
        self,
        candidate: Candidate,
        category: str,
        *,
        controls: Controls,
        draw: float,  # noqa: ARG002
        tenant: str = "",
    ) -> Verdict:
        """Serve if 1 - P(correct) is within the limit, or the caller's where that is stricter."""
        known, policy = self._of(category), self._pack.of(category)
        p = known.probability(candidate.features, candidate.card.answer_class)
        if controls.min_score is not None and candidate.score < controls.min_score:
            return Verdict(False, p, why=Why.BELOW_THRESHOLD)
        limit = known.limit()
        if controls.max_error is not None:
            limit = min(limit, controls.max_error)
        vetoed = any(conflict.veto for conflict in candidate.conflicts)
        free = not vetoed or known.overrules(candidate.features)
        closed = known.closed or known.tenants.closed(self._pack.class_of(tenant))
        open_ = not (closed or known.halted)
        chance = known.chance(policy)
        if open_ and free and 1.0 - p <= limit:
            return Verdict(True, p, audit=chance, why=Why.SEMANTIC, risk=limit)
        verify = open_ and known.asks(candidate, p, limit, free=free)
        why = Why.CLOSED if closed else Why.GUARD if vetoed else Why.UNCERTAIN
        return Verdict(False, p, audit=chance if verify else 0.0, verify=verify, why=why, risk=limit)

    def note(self, category: str, p_correct: float | None, *, served: bool, audited: bool) -> None:
        """Count the request, and its risk among the recent ones; audits are spread evenly over what is served."""
        known = self._of(category)
        known.budget.note(None if p_correct is None else 1.0 - p_correct, served=served)
        if served:
            known.waited = 0 if audited else known.waited + 1

    def contributions(self, candidate: Candidate, category: str) -> dict[str, float]:
        """The log-odds that each feature, this answer and what holds for all candidates ("base") add."""
        return self._of(category).belief.contributions(candidate.features, candidate.card.answer_class)

    def relax(self, share: float) -> None:
        """Stretch the targets by this share of the way to the pack's `relax_to`, where labels show that they may be."""
        self._share = share
        for known in self._known.values():
            known.relax(share)

    def observe(self, label: Label) -> None:
        """Learn from a label; one whose features are those of another version is counted and no more."""
        self._of(label.category).take(label, self._pack.class_of(label.tenant))

    def relearn(self, labels: Sequence[Label]) -> None:
        """Rebuild the beliefs from these labels; audits, budgets and certificates stay as they are."""
        for name, known in self._known.items():
            known.relearn([label for label in labels if label.category == name], self._prior_of(name))

    def standing(self, category: str) -> Standing:
        """Where the category stands."""
        known = self._of(category)
        certificate = known.certificate
        return Standing(
            strategy="certified",
            state=known.state_of(),
            target=self._pack.target_of(category),
            score=self.floor(category, Controls()),
            risk=0.0 if known.closed else known.limit(),
            certified=certificate.level,
            confidence=self._pack.confidence,
            labels=known.labels,
            audits=certificate.audits,
            wrong=certificate.wrong,
            audit_rate=known.audit_rate(self._pack.of(category)),
            error=wilson(certificate.wrong, certificate.audits) if certificate.audits else None,
            note=known.note_of(),
            classes=known.tenants.standing(),
        )

    def state(self) -> dict[str, Any]:
        """The learned state of every category."""
        return {name: known.state() for name, known in self._known.items() if known.labels}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for beliefs about other features."""
        for name, one in state.items():
            self._of(name).restore(one)

    def _of(self, category: str) -> _Knowledge:
        known = self._known.get(category)
        if known is None:
            policy, target = self._pack.of(category), self._pack.target_of(category)
            prior = self._prior_of(category)
            known = _Knowledge(policy, target, self._pack.confidence, prior, self._noise, self._pack.relax_to)
            known.relax(self._share)
            self._known[category] = known
        return known

    def _prior_of(self, category: str) -> BeliefPrior:
        profile = self._pack.of(category).prior
        return self._prior or self._priors.get(profile) or shipped(profile)


class _Knowledge:
    """Everything known of one category."""

    def __init__(
        self,
        policy: Category,
        target: float,
        confidence: float,
        prior: BeliefPrior,
        noise: LabelNoise,
        relax_to: float | None,
    ) -> None:
        self._target, self._beta = target, 1.0 - confidence
        self._noise = noise
        self._caution = CAUTION[policy.contract]
        # Where hits are rare, a target for all requests lets many of them be wrong: there the small verifier's word,
        # which says little of what natural traffic makes alike, was measured to cost the target.
        self.verifier = "off" if policy.verify == "verifier" and policy.contract == "request" else policy.verify
        self.belief = Belief(prior, noise=noise)
        self._loosest = relax_to if relax_to is not None and relax_to > target else None
        self.budget = ErrorBudget(target, policy.contract, risks=prior.risks, grant=self._beta, loosest=self._loosest)
        self.calibration = Calibration(prior.calibration, kind=noise.kind, harsh=noise.harsh)
        self.certificate = Certificate(self._beta)
        self.tenants = Tenants(self._beta)
        self.drift = DriftAlarm(kind=noise.kind, harsh=noise.harsh)
        self._beyond = Bet()
        self._stretchable = False
        self._share = 0.0
        self.labels = 0
        self.closed = False
        self.waited = 0  # hits since the last audit
        self._narrowed = 0
        self._probation = Probation()
        self._reports: dict[str, int] = {}
        self._vetoed = dict.fromkeys([place for place, _ in _GUARDS], 0)

    def probability(self, values: tuple[float, ...], answer: int) -> float:
        """P(correct), on the safe side."""
        return self.calibration.corrected(self.belief.log_odds(values, answer), values[_NEARNESS], self._caution)

    def asks(self, candidate: Candidate, p: float, limit: float, *, free: bool) -> bool:
        """Return True if a verifier's word could settle it; the local one is asked once, and never against a veto."""
        if self.verifier != "verifier":
            return self.verifier == "llm" and p >= _WORTH_ASKING
        if not free or candidate.features[_ASKED]:
            return False
        best = self.probability(features.with_verdict(candidate.features, 1.0), candidate.card.answer_class)
        return 1.0 - best <= limit

    def promising(self, candidates: Sequence[Candidate], text: str, least: float, *, asks: bool) -> list[bool]:
        """Which of them could be right with a probability of `least`, if the local verifier is asked or not."""
        needed = self.calibration.needed(least)
        if HOPELESS < needed <= 0.0:
            # Moderated log-odds are nearer to 0 than their bound.
            needed = HOPELESS
        longest = max([len(text), *[len(one.card.text) for one in candidates]])
        answers = [one.card.answer_class for one in candidates]
        best = self.belief.at_best([one.around for one in candidates], answers, longest, asked=asks)
        return [bool(one >= needed) for one in best]

    def limit(self) -> float:
        """The highest 1 - P(correct) that is served."""
        return self.budget.limit() * _NARROWER**self._narrowed

    @property
    def halted(self) -> bool:
        """True if nothing is served for now, so that every request is labelled."""
        return self.closed or self.drift.suspects

    def overrules(self, values: tuple[float, ...]) -> bool:
        """Return True if the category has seen enough pairs that these guards veto to know better."""
        return all(self._vetoed[place] >= _VETO_LABELS for place, _ in _GUARDS if values[place] == 1.0)

    def audit_rate(self, policy: Category) -> float:
        """The share of hits that is audited: so many that a change to the worst is found before it costs the target."""
        if policy.audit <= 0.0:
            return 0.0
        # Of an earlier process the audits are known, and that there was at least their share of hits.
        allowed = max(1.0, self.budget.allowed, self._target * self.certificate.audits / policy.audit)
        return min(policy.audit, max(policy.audit * _QUIET, _CAUGHT / allowed))

    def chance(self, policy: Category) -> float:
        """The probability of an audit of the next hit: none waits for twice as long as it does on average."""
        rate = self.audit_rate(policy)
        return rate and 1.0 / max(1.0, 2.0 / rate - 1.0 - self.waited)

    def relax(self, share: float) -> None:
        """Stretch the target by this share of what is accepted and certified."""
        self._share = share
        held = self._loosest if self._stretchable else None
        self.budget.stretch(stretched(self._target, self._loosest, held, share))

    def take(self, label: Label, tenants: str) -> None:
        """Learn from one label, of a tenant of the class `tenants`."""
        self.labels += 1
        if len(label.features) != len(features.NAMES):
            return
        for place, _ in _GUARDS:
            self._vetoed[place] += label.features[place] == 1.0
        odds = self.belief.log_odds(label.features, label.answer)
        near = label.features[_NEARNESS]
        risk = 1.0 - self.calibration.corrected(odds, near, self._caution)
        if label.source is LabelSource.FEEDBACK:
            self.belief.learn(label.features, label.answer, correct=label.correct, weight=self._say(label.tenant))
        else:
            if self.drift.take(self.calibration.corrected(odds, near), correct=label.correct):
                self.calibration.doubt()
            self.calibration.add(odds, near, correct=label.correct)
            self.belief.learn(label.features, label.answer, correct=label.correct)
            if label.served:
                self.budget.settle(1.0 - label.p_correct, wrong=self._wrong(label))
        self.budget.changed()
        if label.source is LabelSource.AUDIT and label.served:
            visible = self._visible(self.budget.per_hit())
            self.certificate.take(visible, wrong=not label.correct)
            self.tenants.take(tenants, visible, wrong=not label.correct)
            if self.certificate.exceeded:
                self._narrow()
        if label.source is not LabelSource.FEEDBACK and risk <= self.budget.limit() and not self._vetoes(label):
            visible = self._visible(self.budget.per_hit())
            if not label.served:
                self.tenants.watch(tenants, visible, correct=label.correct)
            if (self._narrowed or self.closed) and self._probation.passed(visible, correct=label.correct):
                self._widen()
        if self._loosest is not None and label.source is not LabelSource.FEEDBACK:
            self._look_beyond(label, risk, self._loosest)

    def _say(self, tenant: str) -> float:
        """The weight of a tenant's next report: anybody can make one, so all of a tenant's count as one label."""
        said = self._reports[tenant] = self._reports.pop(tenant, 0) + 1
        if len(self._reports) > _REPORTERS:
            del self._reports[next(iter(self._reports))]
        return 0.5**said

    def relearn(self, labels: Sequence[Label], prior: BeliefPrior) -> None:
        """Rebuild the belief alone: what a report took from an answer comes back, what audits showed stays shown."""
        belief = Belief(prior, noise=self._noise)
        for label in labels:
            if len(label.features) == len(features.NAMES):
                belief.learn(label.features, label.answer, correct=label.correct)
        self.belief = belief
        self.budget.changed()

    def state_of(self) -> State:
        """How far the promise is backed."""
        if self.closed:
            return State.CLOSED
        if self.certificate.certified:
            return State.CERTIFIED
        return State.INFEASIBLE if self.budget.hopeless() else State.PROVISIONAL

    def note_of(self) -> str:
        """A sentence for operators."""
        match self.state_of():
            case State.CLOSED:
                return f"audits showed more errors than {self._target:.2%}: nothing is served by meaning for now"
            case State.INFEASIBLE:
                return f"no neighbour is sure enough for {self._target:.2%} on this traffic: only exact hits are served"
            case _ if self._narrowed:
                return f"audits showed more errors than {self._target:.2%}: only what is surer is served for now"
            case State.PROVISIONAL:
                needed = math.ceil(math.log(self._beta) / math.log1p(-self._target))
                return f"calibrated on shipped data; a certificate takes about {needed} audits without an error"
            case _:
                return ""

    def _narrow(self) -> None:
        """Serve only what is surer, and in the end nothing; the certificate begins anew, about what is served then."""
        self.closed = self._narrowed == _NARROWEST
        self._narrowed = min(_NARROWEST, self._narrowed + 1)
        self.certificate, self._probation = Certificate(self._beta), Probation()
        self._beyond, self._stretchable = Bet(), False
        self.relax(self._share)

    def _widen(self) -> None:
        """Serve more by a step, as labels of what would be served have been right."""
        self._narrowed -= not self.closed
        self.closed, self._probation = False, Probation()

    def _visible(self, error: float) -> float:
        """The error that a judge with noise would see where this is the true one."""
        return min(0.95, self._noise.harsh + (1.0 - self._noise.kind - self._noise.harsh) * error)

    def _wrong(self, label: Label) -> float:
        """How many errors a verdict stands for, on average over the judge's own."""
        return (float(not label.correct) - self._noise.harsh) / (1.0 - self._noise.kind - self._noise.harsh)

    def _look_beyond(self, label: Label, risk: float, loosest: float) -> None:
        """Test the error of all that would be served were the target stretched.

        Refused answers are labelled most often, so the error looks rather worse than it would be.
        """
        if not self.budget.own or risk > self.budget.loosest() or self._vetoes(label):
            return
        self._beyond.take(self._visible(loosest), wrong=not label.correct)
        if not self._stretchable and self._beyond.wealth() >= 1.0 / self._beta:
            self._stretchable = True
            self.relax(self._share)

    def _vetoes(self, label: Label) -> bool:
        return any(label.features[place] == 1.0 for place, _ in _GUARDS)

    def state(self) -> dict[str, Any]:
        return {
            "belief": self.belief.state(),
            "calibration": self.calibration.state(),
            "certificate": self.certificate.state(),
            "tenants": self.tenants.state(),
            "drift": self.drift.logs,
            "beyond": [self._beyond.logs, self._stretchable],
            "reports": self._reports,
            "labels": self.labels,
            "closed": self.closed,
            "narrowed": self._narrowed,
            "probation": self._probation.state(),
            "vetoed": {name: self._vetoed[place] for place, name in _GUARDS},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.belief.restore(state["belief"])
        self.calibration.restore(state["calibration"])
        self.drift.restore(state["drift"])
        logs, self._stretchable = state["beyond"]
        self._beyond.logs = [float(log) for log in logs]
        self.certificate.restore(state["certificate"])
        self.tenants.restore(state.get("tenants", {}))
        self.labels, self.closed = int(state["labels"]), bool(state["closed"])
        self._narrowed = int(state["narrowed"])
        self._probation.restore(state["probation"])
        self._reports = {tenant: int(count) for tenant, count in state["reports"].items()}
        self._vetoed = {place: int(state["vetoed"].get(name, 0)) for place, name in _GUARDS}
        self.budget.changed()
