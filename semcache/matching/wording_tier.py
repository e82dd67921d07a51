"""The wording tier: prompts whose canonical wordings are equal share an answer, kind of edit by kind of edit.

Each kind of edit is a stratum of its own in each category, with its own posterior, audits and certificate: it pays for
no hit by meaning, and no hit by meaning pays for it. Pure; draws nothing and reads no clock. Invariant: a stratum whose
error is believed to be above its target, or whose audits show that it is, serves nothing.

The error of a stratum has a Beta posterior. Its prior is stated here, by kind, on the safe side of what
`python -m eval.wordings` measures on pairs written for it; audits of served answers are counted on top.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from semcache.config.packs import Pack
from semcache.matching import features
from semcache.matching.strategies.certified.certificate import Certificate, Probation
from semcache.matching.strategies.certified.tenants import Tenants
from semcache.request.wording import Edit
from semcache.types import Controls, Verdict, Why
from semcache.types.evidence import Interval, Label, LabelSource, wilson

_PRIOR_ERROR = {
    Edit.CHARACTERS: 0.0005,
    Edit.CONTRACTION: 0.001,
    Edit.SPELLING: 0.001,
    Edit.FILLER: 0.002,
    Edit.NUMBER: 0.002,
    Edit.ABBREVIATION: 0.003,
    Edit.FRAME: 0.003,
    Edit.ORDER: 0.004,
    Edit.TYPO: 0.005,
}
_PRIOR_AUDITS = 300.0  # audits that the prior counts for
_FINDINGS = tuple([place for place, name in enumerate(features.NAMES) if name.startswith("guard:")])
_QUIET = 0.1  # share of the audit rate that always remains
_SURE = 3.0  # audits without an error, in units of 1 / target, after which the audit rate has fallen to that


@dataclass(frozen=True, slots=True)
class StratumStanding:
    """Where one kind of edit stands in one category; rates lie in [0, 1], `error` is that of audited answers."""

    edit: str
    served: int
    audits: int
    wrong: int
    p_correct: float
    certified: float | None
    closed: bool
    error: Interval | None


class WordingTier:
    """Decides whether an equal wording is enough, and learns from labels. One instance a process."""

    def __init__(self, pack: Pack) -> None:
        self._pack = pack
        self._strata: dict[tuple[str, Edit], _Stratum] = {}

    def kinds(self, category: str) -> frozenset[Edit]:
        """The kinds of edits that the pack allows in a category; none where it allows no semantic hit."""
        policy = self._pack.of(category)
        if not (policy.cache and policy.semantic):
            return frozenset()
        return frozenset([Edit[name.upper()] for name in policy.wording])

    def judge(self, category: str, edit: Edit, controls: Controls, tenant: str = "") -> Verdict:
        """Return the verdict on an entry whose wording equals the request's by edits up to this kind."""
        stratum = self._of(category, edit)
        p_correct, target = 1.0 - stratum.error, self._pack.target_of(category)
        allowed = target if controls.max_error is None else min(target, controls.max_error)
        if stratum.closed or stratum.tenants.closed(self._pack.class_of(tenant)):
            return Verdict(False, p_correct, why=Why.CLOSED)
        if edit not in self.kinds(category) or stratum.error > allowed:
            return Verdict(False, p_correct, why=Why.UNCERTAIN)
        return Verdict(True, p_correct, audit=stratum.chance(self._pack.of(category).audit, target), why=Why.SEMANTIC)

    def note(self, category: str, edit: Edit, *, audited: bool) -> None:
        """Take notice of a served answer; audits are spread evenly over what is served."""
        stratum = self._of(category, edit)
        stratum.served += 1
        stratum.waited = 0 if audited else stratum.waited + 1

    def observe(self, label: Label) -> None:
        """Learn from the label of an answer that this tier served, or would have; see `edit_of`."""
        edit = edit_of(label)
        if edit is not None:
            self._of(label.category, edit).take(
                label, self._pack.class_of(label.tenant), self._pack.target_of(label.category)
            )

    def standing(self) -> dict[str, list[StratumStanding]]:
        """Where the strata stand that have served or were audited, by category, the least risky kind first."""
        found: dict[str, list[StratumStanding]] = {}
        for (category, edit), one in sorted(self._strata.items()):
            if one.served or one.certificate.audits or one.closed:
                found.setdefault(category, []).append(one.standing(edit))
        return found

    def state(self) -> dict[str, Any]:
        """The learned state, as JSON has it."""
        return {f"{category}/{edit.name.lower()}": one.state() for (category, edit), one in self._strata.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for a kind of edit that there is not."""
        for name, one in state.items():
            category, _, edit = name.rpartition("/")
            if edit.upper() not in Edit.__members__:
                raise ValueError(f"{edit!r} is no kind of edit")
            self._of(category, Edit[edit.upper()]).restore(one)

    def _of(self, category: str, edit: Edit) -> _Stratum:
        stratum = self._strata.get((category, edit))
        if stratum is None:
            stratum = self._strata[category, edit] = _Stratum(edit, 1.0 - self._pack.confidence)
        return stratum


def features_of(edit: Edit) -> tuple[float, ...]:
    """Return what a served answer and its label carry in place of the features of a neighbour."""
    return (float(edit),)


def also_wording(label: Label, edit: Edit | None) -> Label | None:
    """Return the label of a miss as the wording tier learns from it; None where it would not have served the pair.

    By such labels a closed stratum opens again.
    """
    if edit is None or label.source is not LabelSource.MISS or len(label.features) != len(features.NAMES):
        return None
    if any(label.features[place] for place in _FINDINGS):
        return None
    return replace(label, features=features_of(edit))


def edit_of(label: Label) -> Edit | None:
    """Return the kind of edit that a label is about; None for a label about meaning or age."""
    if len(label.features) != 1 or label.source is LabelSource.REASKED or not 0 <= label.features[0] < len(Edit):
        return None
    return Edit(int(label.features[0]))


class _Stratum:
    """The posterior, audits and certificate of one kind of edit in one category."""

    def __init__(self, edit: Edit, beta: float) -> None:
        self._beta = beta
        self._prior = _PRIOR_ERROR[edit]
        self._wrong = self._prior * _PRIOR_AUDITS
        self._seen = _PRIOR_AUDITS
        self.certificate = Certificate(beta)
        self.tenants = Tenants(beta)
        self.closed = False
        self.served = self.waited = 0
        self._probation = Probation()

    @property
    def error(self) -> float:
        """The mean of the posterior."""
        return self._wrong / self._seen

    def chance(self, rate: float, target: float) -> float:
        """The probability of an audit of the next hit; none waits for twice as long as it does on average."""
        if rate <= 0.0:
            return 0.0
        rate = max(rate * _QUIET, rate / (1.0 + self.certificate.audits * target / _SURE))
        return 1.0 / max(1.0, 2.0 / rate - 1.0 - self.waited)

    def take(self, label: Label, tenants: str, target: float) -> None:
        wrong = not label.correct
        if label.source is LabelSource.WITHDRAWN:
            # What a report moved moves back; what audits said stays.
            self._wrong, self._seen = max(0.0, self._wrong - wrong), max(_PRIOR_AUDITS, self._seen - wrong)
            self.closed = self.closed and self.error > target
        elif label.source is LabelSource.FEEDBACK:
            # No sample: it moves the belief, and no certificate.
            self._wrong, self._seen = self._wrong + wrong, self._seen + wrong
            if self.error > target:
                self._close()
        elif label.source is LabelSource.AUDIT and label.served:
            self._wrong, self._seen = self._wrong + wrong, self._seen + 1.0
            self.certificate.take(target, wrong=wrong)
            self.tenants.take(tenants, target, wrong=wrong)
            if self.certificate.exceeded or self.error > target:
                self._close()
        elif label.source is LabelSource.MISS:
            self.tenants.watch(tenants, target, correct=label.correct)
            if self.closed and self._probation.passed(target, correct=label.correct):
                self._open(target)

    def standing(self, edit: Edit) -> StratumStanding:
        one = self.certificate
        return StratumStanding(
            edit.name.lower(),
            self.served,
            one.audits,
            one.wrong,
            1.0 - self.error,
            one.level,
            self.closed,
            wilson(one.wrong, one.audits) if one.audits else None,
        )

    def state(self) -> dict[str, Any]:
        return {
            "wrong": self._wrong,
            "seen": self._seen,
            "certificate": self.certificate.state(),
            "tenants": self.tenants.state(),
            "closed": self.closed,
            "served": self.served,
            "probation": self._probation.state(),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        self._wrong, self._seen = float(state["wrong"]), float(state["seen"])
        self.certificate.restore(state["certificate"])
        self.tenants.restore(state["tenants"])
        self.closed, self.served = bool(state["closed"]), int(state["served"])
        self._probation.restore(state["probation"])

    def _close(self) -> None:
        self.closed, self._probation = True, Probation()
        self.certificate = Certificate(self._beta)

    def _open(self, target: float) -> None:
        """Begin again, with twice the doubt of the beginning."""
        self.closed = False
        self._seen = _PRIOR_AUDITS
        self._wrong = _PRIOR_AUDITS * min(2.0 * self._prior, target / 2.0)
