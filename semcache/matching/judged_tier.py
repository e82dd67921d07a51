"""The judged tier: answers that are served on a language model's verdict, in a stratum of their own in each category.

The model's verdict on a request and an entry is P(yes). The tier begins on probation: except for the first hits,
nothing is served before the results of some verdicts are known, from fresh answers or from neighbours that guards veto.
Its budget, audits, certificate and closing are separate from those of hits by meaning. Pure; draws nothing and reads no
clock. Invariant: nothing is served without a yes, beyond the limit of the budget or of probation, or in a closed
stratum.

`verdict_worth` learns the worth of verdicts from labels by fresh answers; no verdict is such a label itself.
"""

from __future__ import annotations

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

from semcache.config.packs import Pack
from semcache.matching import features
from semcache.matching.judged_stratum import JudgedStanding, JudgedStratum
from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.logistic import sigmoid
from semcache.matching.model_quality import BEST, YES
from semcache.matching.model_verdict import PLAIN, ModelVerdict, model_verdict_about, model_verdict_of
from semcache.matching.recent_verdicts import RecentVerdicts, verdicts_of
from semcache.matching.verdict_probation import VerdictProbation
from semcache.matching.verdict_worth import VerdictWorth
from semcache.types import Controls, Verdict, Why
from semcache.types.evidence import Label, LabelSource

# Shares of the doubts too great for the best verdict of which one is had all the same, after forwarding: of the
# plausible, which may be served once more is known of the model, and of the others, whose verdicts settle nothing.
_TRIED, _SELDOM = 0.25, 0.05
PLAUSIBLE = 0.25  # P(correct) from which a doubt is
_EAGER = 40  # verdicts with a known result before which one is had of all of them
_SHAKEN = 40  # the same after a wrong yes, of the plausible ones, if the model is none that is easily fooled
_EVEN = 0.5  # P(wrong), given a label, from which an answer is taken for wrong: a judge with noise errs more often
_EASILY = 0.2  # probability of such a model from which it is taken for one
_PROBES = 80  # verdicts that are had on vetoed neighbours
_BESIDE = 0.5  # of what a labelled difference shows: a wrong yes teaches as any yes does, too


@dataclass(frozen=True, slots=True)
class DoubtedNeighbour:
    """A neighbour as the tier judges it: its entry and P(correct) `before` any verdict, and who asks on which terms."""

    category: str
    before: float
    controls: Controls
    tenant: str = ""
    entry_id: int = 0


class JudgedTier:
    """Decides whether a verdict is enough, and learns from labels. One instance a process.

    `grants` is this process's share of the hits, and of the errors that are granted to first ones.
    """

    def __init__(self, pack: Pack, *, noise: LabelNoise = FAITHFUL, grants: float = 1.0) -> None:
        self.worth = VerdictWorth(noise)
        self.served = 0  # by this process
        self._pack = pack
        self._noise, self._grants = noise, grants
        self._strata: dict[str, JudgedStratum] = {}
        self._verdicts = RecentVerdicts()
        self._probation = VerdictProbation(grants)
        self._right = _SHAKEN  # verdicts with a known result since the last wrong yes

    # Deciding

    def could_serve(self, neighbour: DoubtedNeighbour) -> bool:
        """Return True if the best possible verdict would be enough."""
        return self.judge(neighbour, BEST).serve

    def judge(self, neighbour: DoubtedNeighbour, p_yes: float) -> Verdict:
        """Return the decision on a neighbour after the model's verdict `p_yes`."""
        category, controls = neighbour.category, neighbour.controls
        stratum, policy = self._of(category), self._pack.of(category)
        after = self.worth.p_correct(category, neighbour.before, p_yes)
        limit, hoped = stratum.limit(), self._hoped(neighbour, p_yes, after)
        if controls.max_error is not None:
            # A caller's own limit is not for trying a model out.
            limit, hoped = min(limit, controls.max_error), min(hoped, after)
        if stratum.refuses(self._pack.class_of(neighbour.tenant)):
            return Verdict(False, after, why=Why.CLOSED, risk=limit)
        if p_yes < YES or 1.0 - hoped > limit or stratum.indebted:
            return Verdict(False, after, audit=stratum.chance(policy.audit), why=Why.VERIFY_FAILED, risk=limit)
        return Verdict(True, after, audit=stratum.chance(policy.audit), why=Why.JUDGED, risk=limit)

    def _hoped(self, neighbour: DoubtedNeighbour, p_yes: float, after: float) -> float:
        """P(correct) that is held against the limit: the known one, or on probation that by a good model's."""
        if self._probation.over:
            return after
        category, before = neighbour.category, neighbour.before
        if not self._probation.allows(neighbour.entry_id, before, self._pack.target_of(category)):
            return 0.0
        return max(after, self.worth.hoped(category, before, p_yes))

    def note(self, neighbour: DoubtedNeighbour, p_correct: float, *, served: bool, audited: bool) -> None:
        """Count a request with a verdict that left `p_correct`; audits are spread evenly over served answers."""
        stratum = self._of(neighbour.category)
        self.served += served
        risk = 1.0 - p_correct
        if served and not self._probation.over:
            # Its doubts have a budget of their own.
            self._probation.served(neighbour.entry_id, neighbour.before)
            risk = min(risk, self._pack.target_of(neighbour.category))
        stratum.budget.note(risk, served=served)
        if served:
            stratum.count(audited=audited)

    # Asking

    @property
    def curious(self) -> bool:
        """True if verdicts on vetoed neighbours are worth their price: little is known of the model."""
        return self.worth.probes < _PROBES

    def tried(self, category: str, before: float) -> float:
        """The share of doubts of this P(correct), too great for any verdict to serve, that are asked about anyway.

        A wrong yes of a good model makes every doubt too great for a while. The next verdicts show soonest if it was
        the only one.
        """
        if self._probation.known < _EAGER:
            return 1.0
        if before < PLAUSIBLE:
            return _SELDOM
        return 1.0 if self._right < _SHAKEN and self.worth.fooled(category) < _EASILY else _TRIED

    def remember(self, exact: bytes, entry_id: int, p_yes: float) -> float:
        """Remember a verdict on a request and an entry; return the lowest that was given on them."""
        return self._verdicts.remember((exact, entry_id), p_yes)

    def remembered(self, exact: bytes, entry_id: int) -> float | None:
        """The recent verdict on a request and an entry, None if there is none."""
        return self._verdicts.of((exact, entry_id))

    # Learning

    def differ(self, exact: bytes, entry_id: int, p_yes: float) -> None:
        """Learn from a verdict on a request and an entry that a guard vetoes."""
        self._probation.known += 1
        self.worth.about_vetoed((exact, entry_id), p_yes)

    def observe(self, label: Label) -> None:
        """Learn from a label by a fresh answer whose neighbour had a verdict; a verdict itself is only remembered."""
        verdict = model_verdict_of(label)
        match label.source:
            case LabelSource.FEEDBACK | LabelSource.WITHDRAWN:
                # No sample: it tells of this hit, and not what verdicts are worth.
                if verdict is not None and label.served:
                    weight = -1.0 if label.source is LabelSource.WITHDRAWN else 1.0
                    self._of(label.category).settle(label, weight=weight)
            case LabelSource.UNDECIDED:
                if verdict is not None:
                    target = self._pack.target_of(label.category)
                    self._of(label.category).take_undecided(self._pack.class_of(label.tenant), target)
            case LabelSource.VERDICT:
                if verdict is not None:
                    self._take_verdict(label, verdict)
            case _ if verdict is not None:
                self._learn(label, verdict)
            case LabelSource.MISS if len(label.features) == PLAIN:
                self._take_miss(label)

    def _take_verdict(self, label: Label, verdict: ModelVerdict) -> None:
        """Remember a verdict, and learn from the label of a miss that has waited for it."""
        place = label.exact, label.entry_id
        self._verdicts.remember(place, verdict.p_yes)
        missed = self._verdicts.waiting(place)
        if missed is not None:
            self._learn(missed, model_verdict_about(missed.p_correct, verdict.p_yes, sampled=True))

    def _take_miss(self, label: Label) -> None:
        """Learn from the label of a miss by the verdict on its neighbour, or have it wait for one."""
        place = label.exact, label.entry_id
        if features.vetoed(label.features):
            self.worth.settle_vetoed(place, correct=label.correct)
        said = self._verdicts.of(place)
        if said is None:
            self._verdicts.wait(place, label)
        else:
            self._learn(label, model_verdict_about(label.p_correct, said, sampled=True))

    def _learn(self, label: Label, verdict: ModelVerdict) -> None:
        stratum = self._of(label.category)
        after = self.worth.p_correct(label.category, sigmoid(verdict.odds), verdict.p_yes)
        meant = label.served or (verdict.p_yes >= YES and 1.0 - after <= stratum.limit())
        self.worth.learn(label.category, verdict.odds, verdict.p_yes, correct=label.correct)
        self._probation.known += 1
        wrong_after = self._noise.posterior(1.0 - after, correct=label.correct)
        self._right = 0 if verdict.p_yes >= YES and wrong_after >= _EVEN else self._right + 1
        if not label.correct and (verdict.sampled or verdict.p_yes >= YES):
            wrong = self._noise.posterior(1.0 - sigmoid(verdict.odds), correct=False)
            self.worth.differ(label.category, verdict.p_yes, wrong, share=_BESIDE)
        stratum.take(label, verdict, self.worth, self._pack.class_of(label.tenant), meant=meant)

    def observe_own(self, label: Label) -> None:
        """Learn from a label about the class of its tenant, and nothing that others are served by."""
        verdict = model_verdict_of(label)
        if verdict is not None and (label.served or verdict.p_yes >= YES):
            target = self._pack.target_of(label.category)
            self._of(label.category).take_own(label, self._pack.class_of(label.tenant), target)

    def disown(self, label: Label) -> None:
        """Take back what the label of a served answer has cost the stratum; what verdicts are worth and audits stay."""
        if model_verdict_of(label) is not None and label.served:
            self._of(label.category).give_back(label)

    # Standing and state

    def standing(self) -> dict[str, JudgedStanding]:
        """The figures of the categories that have served on a verdict or learned from one."""
        used = [(name, one) for name, one in sorted(self._strata.items()) if one.used]
        found = {name: one.standing(self.worth.yes_in_a_category(name)) for name, one in used}
        if self._probation.over:
            return found
        note = self._probation.note()
        return {name: replace(one, note=one.note or note) for name, one in found.items()}

    def state(self) -> dict[str, Any]:
        """The learned state and the recent verdicts, as JSON."""
        return {
            "worth": self.worth.state(),
            "strata": {name: one.state() for name, one in self._strata.items() if one.used},
            **self._probation.state(),
            "verdicts": self._verdicts.state(),
        }

    def restore(self, state: Mapping[str, Any], changed: Container[str] = ()) -> None:
        """Restore the result of `state`, all or nothing, except strata of categories whose promises have `changed`."""
        strata = {name: self._made(name) for name in state["strata"] if name not in changed}
        for name, stratum in strata.items():
            stratum.restore(state["strata"][name])
        probation, verdicts = self._probation.restored(state), verdicts_of(state["verdicts"])
        self.worth.restore(state["worth"])
        self._strata, self._probation = strata, probation
        for place, p_yes in verdicts:
            self._verdicts.remember(place, p_yes)

    def _of(self, category: str) -> JudgedStratum:
        stratum = self._strata.get(category)
        if stratum is None:
            stratum = self._strata[category] = self._made(category)
        return stratum

    def _made(self, category: str) -> JudgedStratum:
        beta = 1.0 - self._pack.confidence
        target, share = self._pack.target_of(category), self._grants
        return JudgedStratum(target, beta, self._noise, grant=share * beta, share=share)
