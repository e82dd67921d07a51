"""The stratum of judged hits in one category: its error budget, audits and certificate, and the debt of errors found.

Knows labels and the verdicts that they carry. Pure. Invariant: no risk beyond `limit` is to be served, and next to none
while the errors found exceed what the target has paid for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from semcache.matching.audited_stratum import AuditedStratum
from semcache.matching.label_noise import LabelNoise
from semcache.matching.model_quality import YES
from semcache.matching.model_verdict import ModelVerdict
from semcache.matching.strategies.certified.certificate import spaced
from semcache.matching.strategies.certified.error_budget import ErrorBudget
from semcache.matching.verdict_worth import VerdictWorth
from semcache.types.evidence import Interval, Label, LabelSource

_DENSE = 10.0  # audits that come with the first hits; then their share falls as 10 in their number
_UNSHOWN = 0.6  # of the budget's limit that may be spent on verdicts of which no audit has told
_ENOUGH = 2.0  # errors that the target allows in as many audits as open the whole of it
_GRACE = 1.0  # errors found, beyond what the target pays for, after which nothing is served until they are paid back
# Risks of the first requests of which a verdict is had, as long as none were seen: what most of them leave of the
# target, less sure ones may spend, as far as the grant of the budget reaches.
_EXPECTED = tuple([0.0005 * 1.08**place for place in range(60)])


@dataclass(frozen=True, slots=True)
class JudgedStanding:
    """The figures of judged hits in one category; rates lie in [0, 1], `error` is that of audited answers.

    `yes` is the factor by which a plain yes multiplies the odds that an answer is right, `limit` the highest risk that
    is served.
    """

    served: int
    audits: int
    wrong: int
    yes: float
    limit: float
    certified: float | None
    closed: bool
    error: Interval | None
    note: str = ""
    undecided: int = 0


class JudgedStratum(AuditedStratum):
    """The judged hits of one category.

    `target` is the error per hit, `beta` the accepted probability of a false claim, and `grant` the errors that first
    hits may cost. `share` is this process's part of the hits, by which it settles the audits of all.
    """

    def __init__(self, target: float, beta: float, noise: LabelNoise, *, grant: float, share: float = 1.0) -> None:
        super().__init__(beta, noise)
        self._target, self._share = target, share
        self.budget = ErrorBudget(target, "hit", risks=_EXPECTED, grant=grant)
        self.labels = 0
        self.debt = 0.0  # errors found, less those that the target has paid for

    @property
    def used(self) -> bool:
        """True if there is anything to tell."""
        return bool(self.served or self.labels or self.closed or self.tenants.standing())

    @property
    def indebted(self) -> bool:
        """True if so many errors were found that nothing is served until right answers have paid them back."""
        return self.debt > _GRACE

    def chance(self, rate: float) -> float:
        """The probability of an audit of the next hit: dense at first, then at the pack's rate."""
        dense = min(1.0, _DENSE / max(1, self.certificate.audits))
        return spaced(max(rate, dense) if rate > 0.0 else 0.0, self.waited)

    def limit(self) -> float:
        """The highest risk that may be served: a part of the budget's until audits show what verdicts are worth."""
        shown = min(1.0, self.certificate.audits * self._target / _ENOUGH)
        return self.budget.limit() * (_UNSHOWN + (1.0 - _UNSHOWN) * shown)

    def settle(self, label: Label, *, weight: float) -> float:
        """Note the result of an answer that was served; return how many errors it stands for."""
        wrong = self._noise.posterior(1.0 - label.p_correct, correct=label.correct)
        self.budget.settle(1.0 - label.p_correct, wrong=wrong, weight=weight * self._share)
        self.budget.changed()
        return wrong

    def give_back(self, label: Label) -> None:
        """Take back what `take` took for an answer that was served."""
        self._owe(-1.0, self.settle(label, weight=-1.0))

    def take(self, label: Label, verdict: ModelVerdict, worth: VerdictWorth, tenants: str, *, meant: bool) -> None:
        """Learn from a label of a tenant of the class `tenants`.

        It is `meant` if its answer was served, or would have been by what was known.
        """
        self.labels += 1
        wrong = self._noise.posterior(1.0 - label.p_correct, correct=label.correct)
        if label.served:
            self.settle(label, weight=1.0)
        sampled = label.source in (LabelSource.AUDIT, LabelSource.MISS)
        if sampled and verdict.p_yes >= YES and (meant or label.correct):
            # Right answers pay errors back, meant or not: nothing is served again by waiting alone.
            self._owe(1.0, wrong)
        if label.source is LabelSource.AUDIT and label.served:
            worth.audited(label.category, wrong)
            self.audit(tenants, self._target, wrong=not label.correct)
        elif label.source is LabelSource.MISS and verdict.p_yes >= YES:
            self.watch(tenants, self._target, correct=label.correct)
        self.budget.changed()

    def standing(self, yes: float) -> JudgedStanding:
        """The figures; `yes` is what a plain yes is worth in this category."""
        audited = self.certificate
        return JudgedStanding(
            served=self.served,
            audits=audited.audits,
            wrong=audited.wrong,
            yes=yes,
            limit=0.0 if self.closed else self.limit(),
            certified=audited.level,
            closed=self.closed,
            error=audited.error,
            note=self._note(),
            undecided=audited.undecided,
        )

    def _owe(self, weight: float, wrong: float) -> None:
        """Add to the debt the errors of an answer, less those that the target allows in it; taken back if negative."""
        self.debt = max(0.0, self.debt + weight * (wrong - self._target))

    def _note(self) -> str:
        """A sentence for operators, where little is served."""
        audited = self.certificate
        if not (self.closed or self.indebted):
            return ""
        found = "fresh answers spoke against it"
        if audited.audits:
            found = f"{audited.wrong} of {audited.audits} audits found a yes wrong"
        return (
            f"{found}: nothing is served on a word for now; if the judge of answers errs, say how often by "
            "judge.false_yes and judge.false_no"
        )

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {**super().state(), "labels": self.labels, "debt": self.debt, "overspent": self.budget.overspent()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave."""
        super().restore(state)
        self.labels, self.debt = int(state["labels"]), float(state["debt"])
        self.budget.owe(float(state.get("overspent", 0.0)))
