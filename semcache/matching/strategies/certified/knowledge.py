"""The state of the certified strategy for one category: beliefs, budget, audits, and how far it is narrowed or closed.

Pure; draws nothing and reads no clock. Invariant: nothing is learned of one category from the labels of another, and
the limit is widened or the category reopened on evidence alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from semcache.config.packs import Category
from semcache.matching import features
from semcache.matching.break_even import stretched
from semcache.matching.label_noise import LabelNoise
from semcache.matching.strategies.certified.audit_rate import AuditRate
from semcache.matching.strategies.certified.belief import BeliefPrior
from semcache.matching.strategies.certified.calibrated_belief import CalibratedBelief
from semcache.matching.strategies.certified.calibration import COLD
from semcache.matching.strategies.certified.certificate import Bet, Certificate, Probation
from semcache.matching.strategies.certified.error_budget import Contract, ErrorBudget
from semcache.matching.strategies.certified.kinds_of_traffic import UNHEARD, KindsOfTraffic
from semcache.matching.strategies.certified.tenants import Tenants
from semcache.matching.strategies.certified.unaudited_hits import UnauditedHits
from semcache.types import Candidate
from semcache.types.evidence import CertificateEvidence, Label, LabelSource, State

_VETO_LABELS = 30  # of pairs that a guard vetoes, before a category may overrule it
WORTH_ASKING = 0.03  # P(correct) from which a language model is asked
_ASKED, _VERBATIM = features.NAMES.index("asked"), features.NAMES.index("verbatim")
_REORDERED = features.NAMES.index("reordered")
_OWN_LABELS = 100  # from which likeness is trusted as far as they have shown
# Standard deviations of the calibration. Where the target counts all requests, hits are served that are far less sure,
# and a belief that is too good costs more before labels have mended it.
CAUTION: Mapping[Contract, float] = {"hit": 1.5, "request": 1.7}
# Log-odds of it that are allowed before the first label, and the surprise that allows for one more after a verdict.
_COLD: Mapping[Contract, float] = {"hit": COLD, "request": 1.0}
_TOLD_WARM = 5.0
# Of the deviations of the told prior, which hold the noise of what single groups taught: measured on hands of which the
# verifier had read nothing, where the belief follows them too far.
_ALIKE = 0.7
_HINDSIGHT = 0.5  # of the caution, with which hits that nobody audited are looked at again
# Errors that may be expected of a category's first answers. At a target of 1% a category is within it after some 65
# hits; with fewer to begin with, most traffic of small categories ended before it was served by meaning.
GRANT = 0.2
_NOISY = 0.6  # exponent by which caution grows as labels tell less
_NARROWER = 0.3  # of the limit, each time that audits show too many errors
_NARROWEST = 2  # times; the next time the category is closed


class CategoryKnowledge:
    """Everything known of one category. `grants` is the share of the grant that is this process's."""

    def __init__(
        self,
        policy: Category,
        target: float,
        confidence: float,
        prior: BeliefPrior,
        noise: LabelNoise,
        relax_to: float | None,
        grants: float = 1.0,
    ) -> None:
        self._target, self._beta = target, 1.0 - confidence
        self._noise = noise
        self._caution = CAUTION[policy.contract] / noise.reach**_NOISY
        # Where hits are rare, a target for all requests lets many of them be wrong: there the small verifier's word,
        # which says little of what natural traffic makes alike, was measured to cost the target.
        self.verifier = policy.asked
        plain = KindsOfTraffic(prior.calibration, noise, kinds=UNHEARD, cold=_COLD[policy.contract])
        self.untold = CalibratedBelief(prior, noise, plain)
        # Where the local verifier was asked. What the prior says of strangers' prompts, others of them have borne out
        # (`python -m eval.priors`), so that it is not doubted before the first label. Then each tells how far this
        # traffic is from theirs, and few of them tell it badly.
        told = _of_told(prior)
        kinds = KindsOfTraffic(told.calibration, noise, cold=0.0, warm=_TOLD_WARM)
        self.told = CalibratedBelief(told, noise, kinds)
        self._loosest = relax_to if relax_to is not None and relax_to > target else None
        self.budget = ErrorBudget(
            target,
            policy.contract,
            risks=told.risks or prior.risks if self.verifier == "verifier" else prior.risks,
            grant=grants * max(GRANT, target),
            first=max(self._beta, target),
            loosest=self._loosest,
        )
        self.certificate = Certificate(self._beta)
        self.tenants = Tenants(self._beta)
        self._unaudited = UnauditedHits()
        self._beyond = Bet()
        self._stretchable = False
        self._share = 0.0
        self.labels = 0
        self.closed = False
        self._audits = AuditRate()
        self._narrowed = 0
        self._probation = Probation()
        self._vetoed = dict.fromkeys(features.OF_GUARDS.values(), 0)

    def probability(self, values: tuple[float, ...], answer: int) -> float:
        """P(correct), on the safe side."""
        return self.about(values).probability(values, answer, self._caution)

    def judged(self, values: tuple[float, ...], answer: int) -> float:
        """The same of a candidate that may be served next: `note` then counts its risk among the unaudited hits."""
        about = self.about(values)
        odds = about.log_odds(values, answer)
        p = about.corrected(odds, values, self._caution)
        self._unaudited.believed(p, about, odds, values)
        return p

    def note(self, p_correct: float | None, *, served: bool, audited: bool) -> None:
        """Count a request, and its risk among the recent ones; audits are spread evenly over served answers."""
        self.budget.note(None if p_correct is None else 1.0 - p_correct, served=served)
        if not served:
            return
        self._audits.note(audited=audited)
        if p_correct is not None and not audited:
            self._unaudited.add(p_correct)

    def about(self, values: tuple[float, ...]) -> CalibratedBelief:
        """The belief about candidates of which as much is known as of this one."""
        return self.told if values[_ASKED] else self.untold

    def asks(self, candidate: Candidate, p: float, limit: float, *, free: bool) -> bool:
        """Return True if a verifier's verdict could settle it; the local one is asked once, and only if `free`."""
        if self.verifier != "verifier":
            return self.verifier == "llm" and p >= WORTH_ASKING and not self.untold.drift.suspects
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

    def promising(self, candidates: Sequence[Candidate], text: str, least: float, *, asks: bool) -> list[bool]:
        """Which of them could be right with a probability of `least`, if the local verifier is asked or not."""
        longest = max([len(text), *[len(one.card.text) for one in candidates]])
        answers, around = [one.card.answer_class for one in candidates], [one.around for one in candidates]
        found = self.untold.promising(around, answers, longest, least, asked=False)
        if asks:
            found |= self.told.promising(around, answers, longest, least, asked=True)
        return [bool(one) for one in found]

    def limit(self) -> float:
        """The highest 1 - P(correct) that is served."""
        return self.budget.limit() * _NARROWER**self._narrowed

    @property
    def watched(self) -> bool:
        """True if what would be served is labelled whether it has hope or not, so that suspicions end."""
        serving = self.told if self.verifier == "verifier" else self.untold
        return self.closed or serving.drift.suspects

    def doubted(self, values: tuple[float, ...], p: float) -> float:
        """P(correct), believed to be `p`, if such candidates are as much worse than believed as labels make it likely.

        If predictions from similarity were too optimistic, the local verifier's verdict may still be worth as much as
        ever.
        """
        return self.about(values).drift.doubted(p)

    def overrules(self, values: tuple[float, ...]) -> bool:
        """Return True if the category has enough labels of pairs that these guards veto to overrule them.

        Vetoes that always hold, such as other symbols, are not features that labels could inform, so they stand.
        """
        vetoing = _vetoing(values)
        return bool(vetoing) and all(self._vetoed[place] >= _VETO_LABELS for place in vetoing)

    def audit_rate(self, policy: Category) -> float:
        """The share of hits that is audited: so many that a change to the worst is found before it costs the target."""
        doubted = self.untold.drift.suspects or self.told.drift.suspects
        return self._audits.rate(policy.audit, self.budget.allowed_ever(), doubted=doubted)

    def chance(self, policy: Category) -> float:
        """The probability of an audit of the next hit."""
        return self._audits.chance(self.audit_rate(policy))

    def relax(self, share: float) -> None:
        """Stretch the target by this share of the accepted and certified range."""
        self._share = share
        held = self._loosest if self._stretchable else None
        self.budget.stretch(stretched(self._target, self._loosest, held, share))

    def take(self, label: Label, tenants: str) -> None:
        """Learn from one label, of a tenant of the class `tenants`."""
        self.labels += 1
        if len(label.features) != len(features.NAMES):
            return
        for place in _vetoing(label.features):
            self._vetoed[place] += 1
        about = self.about(label.features)
        odds = about.log_odds(label.features, label.answer)
        risk = 1.0 - about.corrected(odds, label.features, self._caution)
        # A report is no sample of what was served, nor of what was refused, and calibrates nothing.
        sampled = label.source is not LabelSource.FEEDBACK
        if sampled and about.contradicted(label, odds):
            self.untold.calibration.doubt()
            self.told.calibration.doubt()
        other = self.untold if about is self.told else self.told
        if sampled and other.drift.suspects:
            # Meanwhile labels are hardly ever of its kind: those of the other have to allay the suspicion.
            other.drift.take(about.corrected(odds, label.features), correct=label.correct)
        about.learn(label, odds, sampled=sampled)
        self.budget.revise(self._unaudited.revised(_HINDSIGHT * self._caution))
        if sampled and label.served:
            self.budget.settle(1.0 - label.p_correct, wrong=self._noise.errors(correct=label.correct))
        self.budget.changed()
        if label.source is LabelSource.AUDIT and label.served:
            self._audits.take(wrong=not label.correct)
            visible = self._noise.visible(self.budget.per_hit())
            # What is served while the target is stretched certifies no more than the target itself.
            plain = self._noise.visible(self.budget.per_hit(self._target))
            self.certificate.take(visible, wrong=not label.correct, stated=plain)
            self.tenants.take(tenants, visible, wrong=not label.correct)
            if self.certificate.exceeded:
                self._narrow()
        if sampled and risk <= self.budget.limit() and not _vetoing(label.features):
            visible = self._noise.visible(self.budget.per_hit())
            if not label.served:
                self.tenants.watch(tenants, visible, correct=label.correct)
            if (self._narrowed or self.closed) and self._probation.passed(visible, correct=label.correct):
                self._widen()
        if self._loosest is not None and sampled:
            self._look_beyond(label, risk, self._loosest)

    def take_own(self, label: Label, tenants: str) -> None:
        """Learn from one label about the class `tenants` alone."""
        if label.source is LabelSource.AUDIT and label.served:
            visible = self._noise.visible(self.budget.per_hit())
            self.tenants.take(tenants, visible, wrong=not label.correct)
        elif not label.served and label.source is not LabelSource.FEEDBACK and self._would_serve(label):
            visible = self._noise.visible(self.budget.per_hit())
            self.tenants.watch(tenants, visible, correct=label.correct)

    def disown(self, label: Label) -> None:
        """Take back what a label of a served answer has spent of the budget; beliefs and the certificate keep it."""
        if label.served and len(label.features) == len(features.NAMES):
            wrong = self._noise.errors(correct=label.correct)
            self.budget.settle(1.0 - label.p_correct, wrong=wrong, weight=-1.0)
            self.budget.changed()

    def relearn(self, labels: Sequence[Label], prior: BeliefPrior) -> None:
        """Rebuild the beliefs alone: what a report took from an answer comes back, what audits showed stays shown."""
        known = [label for label in labels if len(label.features) == len(features.NAMES)]
        self.untold.relearn([label for label in known if not label.features[_ASKED]], prior)
        self.told.relearn([label for label in known if label.features[_ASKED]], _of_told(prior))
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
                more = self.evidence().needed
                return f"calibrated on shipped data; a certificate takes {more} more audits without an error"
            case _:
                return ""

    def evidence(self) -> CertificateEvidence:
        """The wealth behind the certificate, as a judge with noise sees the target."""
        return self.certificate.evidence(self._noise.visible(self.budget.per_hit(self._target)))

    def _narrow(self) -> None:
        """Serve only surer answers, and at the last step none; the certificate begins anew with the new limit."""
        self.closed = self._narrowed == _NARROWEST
        self._narrowed = min(_NARROWEST, self._narrowed + 1)
        self.certificate, self._probation = Certificate(self._beta), Probation()
        self._beyond, self._stretchable = Bet(), False
        self.relax(self._share)

    def _widen(self) -> None:
        """Serve more by a step, as labels of what would be served have been right."""
        self._narrowed -= not self.closed
        self.closed, self._probation = False, Probation()

    def _look_beyond(self, label: Label, risk: float, loosest: float) -> None:
        """Test the error of all that would be served were the target stretched.

        Refused answers are labelled most often, so the error looks rather worse than it would be.
        """
        if not self.budget.own or risk > self.budget.loosest() or _vetoing(label.features):
            return
        self._beyond.take(self._noise.visible(loosest), wrong=not label.correct)
        if not self._stretchable and self._beyond.wealth() >= 1.0 / self._beta:
            self._stretchable = True
            self.relax(self._share)

    def _would_serve(self, label: Label) -> bool:
        if len(label.features) != len(features.NAMES) or _vetoing(label.features):
            return False
        return 1.0 - self.probability(label.features, label.answer) <= self.budget.limit()

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            **self.untold.state(),
            "told": self.told.state(),
            "certificate": self.certificate.state(),
            "tenants": self.tenants.state(),
            "beyond": [self._beyond.logs, self._stretchable, self._loosest],
            "labels": self.labels,
            "closed": self.closed,
            "narrowed": self._narrowed,
            "probation": self._probation.state(),
            "audits": self._audits.state(),
            "vetoed": {name: self._vetoed[place] for name, place in features.OF_GUARDS.items()},
            "overspent": self.budget.overspent(),
            "counted": self.budget.counted(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for that of another version."""
        self.untold.restore(state)
        # Until there were two, one knew all.
        self.told.restore(state.get("told", state))
        logs, stretchable, *loosest = state["beyond"]
        if loosest in ([], [self._loosest]):
            # Evidence that the target may be stretched so far says nothing of farther.
            self._beyond.logs, self._stretchable = [float(log) for log in logs], bool(stretchable)
        self.certificate.restore(state["certificate"])
        self.tenants.restore(state.get("tenants", {}))
        self.labels, self.closed = int(state["labels"]), bool(state["closed"])
        self._narrowed = int(state["narrowed"])
        self._probation.restore(state["probation"])
        if "audits" in state:
            self._audits.restore(int(state["audits"]))
        self._vetoed = {place: int(state["vetoed"].get(name, 0)) for name, place in features.OF_GUARDS.items()}
        self.budget.owe(float(state.get("overspent", 0.0)), state.get("counted", (0.0, 0.0)))
        self.budget.changed()


def _vetoing(values: tuple[float, ...]) -> list[int]:
    """The places of the guards that veto, arguably or not, and that no verifier has answered."""
    return [place for place in features.OF_GUARDS.values() if values[place] >= features.ARGUED]


def _of_told(prior: BeliefPrior) -> BeliefPrior:
    """The prior of candidates that the local verifier was asked about."""
    told = prior.told or prior
    return replace(told, deviation=_ALIKE * told.deviation)
