"""The certified strategy: calibrated probabilities, a pooled budget, and a certificate, category by category.

Knows the pack's targets and labels; draws nothing and reads no clock. Invariant: nothing is served beyond the budget's
limit, nothing in a closed category, and a guard's veto is overruled only by the category's own labels.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from semcache import features
from semcache.evidence import Label, LabelSource, Standing, State, wilson
from semcache.policy import Category, Pack
from semcache.thresholds.certified.belief import FAITHFUL, HOPELESS, Belief, Noise, Prior
from semcache.thresholds.certified.budget import HIGHEST, Budget
from semcache.thresholds.certified.calibration import Calibration
from semcache.thresholds.certified.certificate import Certificate
from semcache.thresholds.certified.priors import shipped
from semcache.types import Candidate, Controls, Verdict, Why

FLOOR = 0.5  # cosine similarity below which no candidate has ever been probable
_VETO_LABELS = 30  # of pairs that a guard vetoes, before a category may overrule it
_WORTH_ASKING = 0.02  # P(correct) from which a verifier's word costs less than it saves
_GUARDS = tuple((place, name) for place, name in enumerate(features.NAMES) if name.startswith("guard:"))
_CAUTION = 0.3  # standard deviations of the calibration
_QUIET = 0.1  # share of the audit rate that remains once the target is certified


class CertifiedThreshold:
    """`protocols.Threshold` whose error is kept. `noise` is that of the judge behind the labels."""

    def __init__(self, pack: Pack, *, prior: Prior | None = None, noise: Noise = FAITHFUL) -> None:
        self._pack = pack
        self._prior = prior
        self._noise = noise
        self._known: dict[str, _Knowledge] = {}

    def floor(self, category: str, controls: Controls) -> float:  # noqa: ARG002
        """The same for all: features and guards decide, not the score."""
        return FLOOR if controls.min_score is None else max(FLOOR, controls.min_score)

    def promising(self, candidates: Sequence[Candidate], text: str, category: str) -> Sequence[bool]:
        """Those whose P(correct) could be high enough if their texts were as alike as can be."""
        known = self._of(category)
        if known.closed:
            # What would be served is watched, to open it again.
            return [True] * len(candidates)
        least = 1.0 - HIGHEST if self._pack.of(category).verify == "off" else _WORTH_ASKING
        return known.promising(candidates, text, least)

    def judge(self, candidate: Candidate, category: str, *, controls: Controls, draw: float) -> Verdict:  # noqa: ARG002
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
        if not known.closed and free and 1.0 - p <= limit:
            return Verdict(True, p, audit=known.audit_rate(policy), why=Why.SEMANTIC)
        verify = policy.verify != "off" and p >= _WORTH_ASKING
        why = Why.CLOSED if known.closed else Why.GUARD if vetoed else Why.UNCERTAIN
        return Verdict(False, p, verify=verify, why=why)

    def note(self, category: str, p_correct: float | None, *, served: bool) -> None:
        """Count the request, and its risk among the recent ones."""
        self._of(category).budget.note(None if p_correct is None else 1.0 - p_correct, served=served)

    def observe(self, label: Label) -> None:
        """Learn from a label; one whose features are those of another version is counted and no more."""
        self._of(label.category).take(label)

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
        )

    def state(self) -> dict[str, Any]:
        """What every category has learned."""
        return {name: known.state() for name, known in self._known.items() if known.labels}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for beliefs about other features."""
        for name, one in state.items():
            self._of(name).restore(one)

    def _of(self, category: str) -> _Knowledge:
        known = self._known.get(category)
        if known is None:
            policy = self._pack.of(category)
            target, prior = self._pack.target_of(category), self._prior or shipped(policy.prior)
            known = self._known[category] = _Knowledge(policy, target, self._pack.confidence, prior, self._noise)
        return known


class _Knowledge:
    """Everything known of one category."""

    def __init__(self, policy: Category, target: float, confidence: float, prior: Prior, noise: Noise) -> None:
        self._target, self._beta = target, 1.0 - confidence
        self.belief = Belief(prior, noise=noise)
        self.budget = Budget(target, policy.contract, risks=prior.risks)
        self.calibration = Calibration(prior.calibration)
        self._noise = noise
        self.certificate = Certificate(self._beta)
        self.labels = 0
        self.closed = False
        self._probation = 0
        self._vetoed = dict.fromkeys([place for place, _ in _GUARDS], 0)

    def probability(self, values: tuple[float, ...], answer: int) -> float:
        """P(correct), on the safe side."""
        return self.calibration.corrected(self.belief.log_odds(values, answer), _CAUTION)

    def promising(self, candidates: Sequence[Candidate], text: str, least: float) -> list[bool]:
        """Which of them could be right with a probability of `least`."""
        needed = self.calibration.needed(least)
        if HOPELESS < needed <= 0.0:
            # Moderated log-odds are nearer to 0 than their bound.
            needed = HOPELESS
        longest = max(len(text), max([len(one.card.text) for one in candidates]))
        answers = [one.card.answer_class for one in candidates]
        best = self.belief.at_best([one.around for one in candidates], answers, longest)
        return [bool(one >= needed) for one in best]

    def limit(self) -> float:
        """The highest 1 - P(correct) that is served."""
        return self.budget.limit()

    def overrules(self, values: tuple[float, ...]) -> bool:
        """Whether the category has seen enough pairs that these guards veto to know better."""
        return all(self._vetoed[place] >= _VETO_LABELS for place, _ in _GUARDS if values[place] == 1.0)

    def audit_rate(self, policy: Category) -> float:
        """The probability of an audit: less as evidence grows, and little once the target is certified."""
        if self.certificate.certified:
            return policy.audit * _QUIET
        return policy.audit * max(_QUIET, 1.0 / (1.0 + self.certificate.audits * self._target))

    def take(self, label: Label) -> None:
        """Learn from one label."""
        self.labels += 1
        if len(label.features) != len(features.NAMES):
            return
        for place, _ in _GUARDS:
            self._vetoed[place] += label.features[place] == 1.0
        risk = 1.0 - self.probability(label.features, label.answer)
        if label.source is not LabelSource.FEEDBACK:
            self.calibration.add(self.belief.log_odds(label.features, label.answer), correct=label.correct)
        self.belief.learn(label.features, label.answer, correct=label.correct)
        self.budget.changed()
        if label.source is LabelSource.AUDIT and label.served:
            self.certificate.take(self._visible(self.budget.per_hit()), wrong=not label.correct)
            if self.certificate.exceeded:
                self._close()
        elif self.closed and label.source is LabelSource.MISS and risk <= self.limit():
            self._watch(correct=label.correct)

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
            case State.PROVISIONAL:
                needed = math.ceil(math.log(self._beta) / math.log1p(-self._target))
                return f"calibrated on shipped data; a certificate takes about {needed} audits without an error"
            case _:
                return ""

    def _close(self) -> None:
        self.closed, self._probation = True, 0
        self.certificate = Certificate(self._beta)

    def _visible(self, error: float) -> float:
        """The error that a judge who errs would see where this is the true one."""
        return min(0.95, self._noise.harsh + (1.0 - self._noise.kind - self._noise.harsh) * error)

    def _watch(self, *, correct: bool) -> None:
        """While closed, what would have been served is asked of the backend: enough right answers open it again."""
        self._probation = self._probation + 1 if correct else 0
        if self._probation >= 1.0 / self._target:
            self.closed = False

    def state(self) -> dict[str, Any]:
        return {
            "belief": self.belief.state(),
            "calibration": [self.calibration.mean.tolist(), self.calibration.covariance.tolist()],
            "certificate": self.certificate.state(),
            "labels": self.labels,
            "closed": self.closed,
            "probation": self._probation,
            "vetoed": {name: self._vetoed[place] for place, name in _GUARDS},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self.belief.restore(state["belief"])
        mean, covariance = state["calibration"]
        self.calibration.mean, self.calibration.covariance = np.array(mean), np.array(covariance)
        self.certificate.restore(state["certificate"])
        self.labels, self.closed = int(state["labels"]), bool(state["closed"])
        self._probation = int(state["probation"])
        self._vetoed = {place: int(state["vetoed"].get(name, 0)) for place, name in _GUARDS}
        self.budget.changed()
