"""The certified strategy: calibrated probabilities, a pooled budget, and a certificate for each category.

Knows the pack's targets and labels; draws nothing and reads no clock. Invariant: nothing is served beyond the budget's
limit, nothing in a closed category, and a guard's veto is overruled only by the category's own labels, or by a verifier
if the veto is arguable.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from semcache.config.packs import Pack
from semcache.matching import features
from semcache.matching.guards import languages
from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.strategies.certified.belief_prior import BeliefPrior
from semcache.matching.strategies.certified.category_beliefs import WORTH_ASKING
from semcache.matching.strategies.certified.error_budget import HIGHEST
from semcache.matching.strategies.certified.error_control import Promise
from semcache.matching.strategies.certified.knowledge import CategoryKnowledge
from semcache.matching.strategies.certified.priors import shipped
from semcache.types import Candidate, Controls, Verdict, Why
from semcache.types.evidence import CertificateEvidence, Label, Standing

FLOOR = 0.5  # cosine similarity below which no candidate has ever been probable


class CertifiedThreshold:
    """`protocols.Threshold` whose error is kept.

    `noise` is that of the judge behind the labels; `priors`, by profile, replace those that ship. `grants` is this
    process's share of the errors granted to first answers. `english` is True for an embedder made for English alone.
    """

    def __init__(
        self,
        pack: Pack,
        *,
        priors: Mapping[str, BeliefPrior] = MappingProxyType({}),
        noise: LabelNoise = FAITHFUL,
        grants: float = 1.0,
        english: bool = True,
    ) -> None:
        self._pack = pack
        self._priors = priors
        self._noise = noise
        self._grants, self._english = grants, english
        self._known: dict[str, CategoryKnowledge] = {}
        self._share = 0.0

    def floor(self, category: str, controls: Controls) -> float:  # noqa: ARG002
        """The same for all: features and guards decide, not the score."""
        return FLOOR if controls.min_score is None else max(FLOOR, controls.min_score)

    def promising(self, candidates: Sequence[Candidate], text: str, category: str) -> Sequence[bool]:
        """Those whose P(correct) could be high enough if their texts were as alike as can be."""
        known = self._of(category)
        if known.watched:
            return [True] * len(candidates)
        beliefs, verifier = known.beliefs, known.beliefs.verifier
        least = WORTH_ASKING if verifier == "llm" else 1.0 - HIGHEST
        return beliefs.promising(candidates, text, least, asks=verifier == "verifier")

    def judge(
        self,
        candidate: Candidate,
        category: str,
        *,
        controls: Controls,
        draw: float,  # noqa: ARG002
        tenant: str = "",
    ) -> Verdict:
        """Serve if 1 - P(correct) is within the limit, or within the caller's if that is stricter."""
        known, policy = self._of(category), self._pack.of(category)
        beliefs, control = known.beliefs, known.control
        p = beliefs.probability(candidate.features, candidate.card.answer_class)
        if controls.min_score is not None and candidate.score < controls.min_score:
            return Verdict(False, p, why=Why.BELOW_THRESHOLD)
        limit = control.limit()
        if controls.max_error is not None:
            limit = min(limit, controls.max_error)
        vetoed = any(conflict.veto for conflict in candidate.conflicts)
        stands = vetoed and not beliefs.overrules(candidate.features)
        final = stands and any(conflict.final for conflict in candidate.conflicts)
        closed = control.refuses(self._pack.class_of(tenant))
        chance = known.chance(policy)
        unread = beliefs.blind(candidate) or self._unread(candidate)
        if 1.0 - beliefs.doubted(candidate.features, p) <= limit and not (unread or stands or closed):
            asks = beliefs.has_to_be_read(candidate)
            return Verdict(not asks, p, audit=chance, verify=asks, why=Why.SEMANTIC, risk=limit, alone=asks)
        verify = not closed and beliefs.asks(candidate, p, limit, free=not final)
        why = Why.CLOSED if closed else Why.GUARD if vetoed else Why.UNCERTAIN
        return Verdict(False, p, audit=chance if verify else 0.0, verify=verify, why=why, risk=limit)

    def note(
        self,
        category: str,
        p_correct: float | None,
        *,
        served: bool,
        audited: bool,
        candidate: Candidate | None = None,
    ) -> None:
        """Count the request, and its risk among the recent ones; audits are spread evenly over served answers.

        What a `candidate` that nobody audits was worth is estimated again as labels come in.
        """
        self._of(category).note(p_correct, served=served, audited=audited, candidate=candidate)

    def contributions(self, candidate: Candidate, category: str) -> dict[str, float]:
        """The log-odds that each feature, this answer and what holds for all candidates ("base") add."""
        about = self._of(category).beliefs.about(candidate.features)
        return about.belief.contributions(candidate.features, candidate.card.answer_class)

    def relax(self, share: float) -> None:
        """Stretch the targets by this share of the way to the pack's `relax_to`, where labels show that they may be."""
        self._share = share
        for known in self._known.values():
            known.control.relax(share)

    def observe(self, label: Label) -> None:
        """Learn from a label; a label with features of another version is only counted."""
        self._of(label.category).take(label, self._pack.class_of(label.tenant))

    def observe_own(self, label: Label) -> None:
        """Learn from a label about the class of its tenant, and nothing that others are served by."""
        self._of(label.category).take_own(label, self._pack.class_of(label.tenant))

    def disown(self, label: Label) -> None:
        """Take back what a label of a served answer has spent of the budget: its tenant is unlike the others."""
        self._of(label.category).disown(label)

    def relearn(self, labels: Sequence[Label]) -> None:
        """Rebuild the beliefs from these labels; audits, budgets and certificates stay as they are."""
        # A copy: this may run in a thread, while a request makes a category known.
        for name, known in list(self._known.items()):
            known.relearn([label for label in labels if label.category == name], self._prior_of(name))

    def standing(self, category: str) -> Standing:
        """Where the category stands."""
        known = self._of(category)
        control, certificate = known.control, known.control.certificate
        return Standing(
            strategy="certified",
            state=control.state_of(),
            target=self._pack.target_of(category),
            score=self.floor(category, Controls()),
            risk=0.0 if control.closed else control.limit(),
            certified=certificate.level,
            confidence=self._pack.confidence,
            labels=known.beliefs.labels,
            audits=certificate.audits,
            wrong=certificate.wrong,
            audit_rate=known.audit_rate(self._pack.of(category)),
            error=certificate.error,
            note=known.note_of(),
            classes=control.tenants.standing(),
            undecided=certificate.undecided,
        )

    def evidence(self, category: str) -> CertificateEvidence:
        """The wealth behind the category's certificate."""
        return self._of(category).control.evidence()

    def state(self) -> dict[str, Any]:
        """The learned state of every category."""
        return dict(self.states())

    def states(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """That of one category after the other; others may become known meanwhile."""
        for name, known in list(self._known.items()):
            if known.beliefs.labels or known.control.budget.served:
                yield name, known.state()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for beliefs about other features."""
        for name, one in state.items():
            self._of(name).restore(one)

    def _unread(self, candidate: Candidate) -> bool:
        """Return True where likeness is that of a model of English about another language, and nobody was asked."""
        if not self._english or features.asked(candidate.features):
            return False
        return any(conflict.guard == languages.NAME for conflict in candidate.conflicts)

    def _of(self, category: str) -> CategoryKnowledge:
        known = self._known.get(category)
        if known is None:
            pack = self._pack
            promise = Promise(pack.of(category), pack.target_of(category), pack.confidence, pack.relax_to, self._grants)
            known = CategoryKnowledge(promise, self._prior_of(category), self._noise)
            known.control.relax(self._share)
            self._known[category] = known
        return known

    def _prior_of(self, category: str) -> BeliefPrior:
        profile = self._pack.of(category).prior
        return self._priors.get(profile) or shipped(profile)
