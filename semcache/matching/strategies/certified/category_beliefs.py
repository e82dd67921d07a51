"""The beliefs about one category: P(correct) of a candidate, and whom to ask before it is served.

One belief is about candidates of which the local verifier was asked (`with_verifier`), the other about the rest
(`without_verifier`). Knows features and labels, nothing of targets, budgets and audits. Pure; draws nothing and reads
no clock. Invariant: nothing is learned of one category from the labels of another, and a label teaches one belief once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semcache.config.packs import Category
from semcache.matching import features
from semcache.matching.label_noise import LabelNoise
from semcache.matching.strategies.certified.belief_prior import BeliefPrior
from semcache.matching.strategies.certified.calibrated_belief import (
    CalibratedBelief,
    belief_with_verifier,
    belief_without_verifier,
    prior_with_verifier,
)
from semcache.matching.strategies.certified.error_budget import Contract
from semcache.matching.strategies.certified.overruled_vetoes import VetoLabels
from semcache.matching.strategies.certified.surest_labels import SurestLabels
from semcache.matching.strategies.certified.unaudited_hits import UnauditedHits
from semcache.types import Candidate
from semcache.types.evidence import Label, LabelSource

WORTH_ASKING = 0.03  # P(correct) from which a language model is asked
_ASKED, _VERBATIM = features.NAMES.index("asked"), features.NAMES.index("verbatim")
_REORDERED = features.NAMES.index("reordered")
_OWN_LABELS = 100  # from which likeness is trusted as far as they have shown
# Standard deviations of the calibration. Where the target counts all requests, hits are served that are far less sure,
# and a belief that is too good costs more before labels have mended it.
CAUTION: Mapping[Contract, float] = {"hit": 1.5, "request": 1.7}
_HINDSIGHT = 0.5  # of the caution, with which hits that nobody audited are looked at again
_NOISY = 0.6  # exponent by which caution grows as labels tell less


class CategoryBeliefs:
    """The two beliefs about one category. `prior` is what was known before its first label."""

    def __init__(self, policy: Category, prior: BeliefPrior, noise: LabelNoise) -> None:
        self._name = policy.name
        self._caution = CAUTION[policy.contract] / noise.reach**_NOISY
        # Where hits are rare, a target for all requests lets many of them be wrong: there the small verifier's verdict,
        # which says little of what natural traffic makes alike, was measured to cost the target.
        self.verifier = policy.asked
        self.without_verifier = belief_without_verifier(prior, noise, policy.contract)
        self.with_verifier = belief_with_verifier(prior, noise)
        self._vetoes = VetoLabels()
        self._unaudited = UnauditedHits()
        self.surest = SurestLabels(prior, noise)
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

    # Doubts

    @property
    def suspects(self) -> bool:
        """True if labels make it likely that candidates of either kind are worse than believed."""
        return self.without_verifier.drift.suspects or self.with_verifier.drift.suspects

    @property
    def suspects_served(self) -> bool:
        """True if labels make that likely of candidates of the kind that is served."""
        return (self.with_verifier if self.verifier == "verifier" else self.without_verifier).drift.suspects

    def doubted(self, values: tuple[float, ...], p: float) -> float:
        """P(correct), believed to be `p`, if such candidates are as much worse than believed as labels make it likely.

        If predictions from similarity were too optimistic, the local verifier's verdict may still be worth as much as
        ever.
        """
        return self.about(values).drift.doubted(p)

    def overrules(self, values: tuple[float, ...]) -> bool:
        """Return True if the category has enough labels of pairs that these guards veto to overrule them."""
        return self._vetoes.overrule(values)

    # Learning

    def take(self, label: Label) -> float:
        """Learn from one label; return the risk of its candidate as it was believed before."""
        self._vetoes.take(label.features)
        about = self.about(label.features)
        odds = about.log_odds(label.features, label.answer)
        risk = 1.0 - about.corrected(odds, label.features, self._caution)
        sampled = is_sample(label)
        if sampled:
            self.surest.take(label)
        if sampled and about.contradicted(label, odds):
            self.without_verifier.calibration.doubt()
            self.with_verifier.calibration.doubt()
        other = self.without_verifier if about is self.with_verifier else self.with_verifier
        if sampled and other.drift.suspects:
            # Meanwhile labels are hardly ever of its kind: those of the other have to allay the suspicion.
            other.drift.take(about.corrected(odds, label.features), correct=label.correct)
        about.learn(label, odds, sampled=sampled)
        return risk

    def keep_unaudited(self, candidate: Candidate, p_correct: float) -> None:
        """Keep a hit that was booked with this P(correct), unless that is what another category believes of it."""
        values = candidate.features
        about = self.about(values)
        odds = about.log_odds(values, candidate.card.answer_class)
        own = candidate.card.category == self._name
        if own or about.corrected(odds, values, self._caution) <= p_correct:
            self._unaudited.add(about, odds, values, p_correct)

    def revised(self) -> float:
        """By how many more errors, or fewer, are expected of the hits that nobody audited than at the last label."""
        return self._unaudited.revised(_HINDSIGHT * self._caution)

    def relearn(self, labels: Sequence[Label], prior: BeliefPrior) -> None:
        """Rebuild both from these labels alone; their calibration stays."""
        known = [label for label in labels if is_of_this_version(label)]
        self.without_verifier.relearn([label for label in known if not label.features[_ASKED]], prior)
        self.with_verifier.relearn([label for label in known if label.features[_ASKED]], prior_with_verifier(prior))

    # State

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            **self.without_verifier.state(),
            "told": self.with_verifier.state(),  # an older name, which saved states have
            "labels": self.labels,
            "vetoed": self._vetoes.state(),
            "surest": self.surest.state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for that of another version."""
        self.without_verifier.restore(state)
        # Until there were two, one knew all.
        self.with_verifier.restore(state.get("told", state))
        self.labels = int(state["labels"])
        self._vetoes.restore(state["vetoed"])
        self.surest.restore(state)


def is_of_this_version(label: Label) -> bool:
    """Return True if a label has the features of this version, and of no model's verdict."""
    return len(label.features) == len(features.NAMES)


def is_sample(label: Label) -> bool:
    """Return False of a report, which is no sample of what was served, nor of what was refused."""
    return label.source is not LabelSource.FEEDBACK
