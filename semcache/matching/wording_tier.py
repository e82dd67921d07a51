"""The wording tier: prompts with equal canonical wordings share an answer, decided for each kind of edit separately.

Each kind of edit is a stratum of its own in each category, with its own posterior, audits and certificate; its budget
is separate from that of hits by meaning. Pure; draws nothing and reads no clock. Invariant: a stratum serves nothing if
its believed error exceeds its target, or if its audits show that it does.

The error of a stratum has a Beta posterior. Its prior is stated here for each kind, higher than the error that `python
-m eval.wordings` measures on pairs written for it; audits of served answers are counted on top.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import lru_cache
from typing import Any, TypeAlias

from semcache.config.packs import Pack
from semcache.matching import features
from semcache.matching.audited_stratum import AuditedStratum
from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.strategies.certified.certificate import spaced
from semcache.request.wording import Edit, language_code, strictest
from semcache.types import Controls, Verdict, Why
from semcache.types.evidence import Interval, Label, LabelSource


class Chain(IntEnum):
    """Conversations that are one though turns of theirs are in other words, which no edit explains."""

    TURNS = 16


Kind: TypeAlias = Edit | Chain
_KINDS: dict[str, Kind] = {kind.name.lower(): kind for kind in (*Edit, *Chain)}
_PRIOR_ERROR: dict[Kind, float] = {
    Edit.CHARACTERS: 0.0005,
    Edit.CONTRACTION: 0.001,
    Edit.SPELLING: 0.001,
    Edit.FILLER: 0.002,
    Edit.NUMBER: 0.002,
    Edit.ABBREVIATION: 0.003,
    Edit.FRAME: 0.003,
    Edit.ORDER: 0.004,
    Edit.TYPO: 0.005,
    Chain.TURNS: 0.006,
}
_PRIOR_AUDITS = 300.0  # audits that the prior counts for
_QUIET = 0.1  # share of the audit rate that always remains
_SURE = 3.0  # audits without an error, in units of 1 / target, after which the audit rate has fallen to that
_DENSE = 5.0  # times the audit rate, after an error
_ALLAYED = 10  # audits without an error after one, at most, with which it was not the first of many


@dataclass(frozen=True, slots=True)
class StratumStanding:
    """The figures of one kind of edit in one category; rates lie in [0, 1], `error` is that of audited answers."""

    edit: str
    served: int
    audits: int
    wrong: int
    p_correct: float
    certified: float | None
    closed: bool
    error: Interval | None
    undecided: int = 0


class WordingTier:
    """Decides whether an equal wording is enough, and learns from labels. One instance a process.

    `noise` is that of the judge behind the labels.
    """

    def __init__(self, pack: Pack, *, noise: LabelNoise = FAITHFUL) -> None:
        self.served = 0  # by this process
        self._pack, self._noise = pack, noise
        self._strata: dict[tuple[str, Kind], _Stratum] = {}

    def kinds(self, category: str) -> frozenset[Edit]:
        """The kinds of edits that the pack allows in a category in any language; none if it allows no semantic hit."""
        policy = self._pack.of(category)
        if not (policy.cache and policy.semantic):
            return frozenset()
        return _named(policy.wording).union(*(_named(kinds) for _, kinds in policy.wording_by_language))

    def kinds_between(self, category: str, one: str, two: str) -> frozenset[Edit]:
        """The kinds of edits that the pack allows in a category between two texts, by the language of each."""
        policy, kinds = self._pack.of(category), self.kinds(category)
        if not policy.wording_by_language or one == two:
            return kinds
        by_language: dict[str, tuple[str, ...]] = dict(policy.wording_by_language)
        for text in (one, two):
            kinds &= _named(by_language.get(language_code(text), policy.wording))
        return kinds

    def judge(self, category: str, kind: Kind, controls: Controls, tenant: str = "") -> Verdict:
        """Return the verdict on an entry whose wording equals the request's by edits up to this kind, or as a chain."""
        stratum = self._of(category, kind)
        p_correct, target = 1.0 - stratum.error, self._pack.target_of(category)
        allowed = target if controls.max_error is None else min(target, controls.max_error)
        if stratum.refuses(self._pack.class_of(tenant)):
            return Verdict(False, p_correct, why=Why.CLOSED)
        chained = kind is Chain.TURNS and self._pack.of(category).context == "semantic"
        if not (chained or kind in self.kinds(category)) or stratum.error > allowed:
            return Verdict(False, p_correct, why=Why.UNCERTAIN)
        return Verdict(True, p_correct, audit=stratum.chance(self._pack.of(category).audit, target), why=Why.SEMANTIC)

    def note(self, category: str, kind: str, *, audited: bool) -> None:
        """Take notice of an answer that was served by this kind; audits are spread evenly over what is served."""
        self.served += 1
        self._of(category, _KINDS[kind]).count(audited=audited)

    def observe(self, label: Label) -> None:
        """Learn from the label of an answer that this tier served, or would have; see `edit_of`."""
        edit = edit_of(label)
        if edit is not None:
            self._of(label.category, edit).take(
                label, self._pack.class_of(label.tenant), self._pack.target_of(label.category)
            )

    def observe_own(self, label: Label) -> None:
        """Learn from a label about the class of its tenant, and nothing that others are served by."""
        edit = edit_of(label)
        if edit is not None:
            stratum, target = self._of(label.category, edit), self._pack.target_of(label.category)
            stratum.take_own(label, self._pack.class_of(label.tenant), target)

    def disown(self, label: Label) -> None:
        """Take back what the label of a served answer has moved the belief; certificates keep it."""
        edit = edit_of(label)
        if edit is not None and label.source is LabelSource.AUDIT and label.served:
            self._of(label.category, edit).disown(label, self._pack.target_of(label.category))

    def standing(self) -> dict[str, list[StratumStanding]]:
        """Where the strata stand that have served or were audited, by category, the least risky kind first."""
        found: dict[str, list[StratumStanding]] = {}
        for (category, edit), one in sorted(self._strata.items()):
            if one.served or one.certificate.audits or one.certificate.undecided or one.closed:
                found.setdefault(category, []).append(one.standing(edit))
        return found

    def state(self) -> dict[str, Any]:
        """The learned state, as JSON has it."""
        return {f"{category}/{edit.name.lower()}": one.state() for (category, edit), one in self._strata.items()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave, all or nothing. Raises ValueError for a kind of edit that there is not."""
        strata: dict[tuple[str, Kind], _Stratum] = {}
        for name, one in state.items():
            category, _, kind = name.rpartition("/")
            if kind not in _KINDS:
                raise ValueError(f"{kind!r} is no kind of edit")
            stratum = strata[category, _KINDS[kind]] = self._made(_KINDS[kind])
            stratum.restore(one)
        self._strata = strata

    def _of(self, category: str, kind: Kind) -> _Stratum:
        stratum = self._strata.get((category, kind))
        if stratum is None:
            stratum = self._strata[category, kind] = self._made(kind)
        return stratum

    def _made(self, kind: Kind) -> _Stratum:
        return _Stratum(kind, 1.0 - self._pack.confidence, self._noise)


@lru_cache(maxsize=64)
def _named(kinds: tuple[str, ...]) -> frozenset[Edit]:
    """The kinds of edits of these names, as packs have them."""
    return frozenset([Edit[name.upper()] for name in kinds])


def features_of(kind: Kind) -> tuple[float, ...]:
    """Return what a served answer and its label carry in place of the features of a neighbour."""
    return (float(kind),)


def also_wording(label: Label, text: str, cached: str) -> Label | None:
    """Return the label of a miss, about these texts, as the wording tier learns from it; None if it teaches it nothing.

    That is where it would not have served the pair. Such labels reopen a closed stratum.
    """
    if label.source is not LabelSource.MISS or len(label.features) != len(features.NAMES):
        return None
    if any(label.features[place] for place in features.OF_GUARDS.values()):
        return None
    edit = strictest(text, cached)
    return None if edit is None else replace(label, features=features_of(edit))


def edit_of(label: Label) -> Kind | None:
    """Return the kind of edit or chain that a label is about; None for a label about meaning or age."""
    if len(label.features) != 1 or label.source is LabelSource.REASKED:
        return None
    return next((kind for kind in _KINDS.values() if kind == label.features[0]), None)


class _Stratum(AuditedStratum):
    """The posterior, audits and certificate of one kind of equality in one category."""

    def __init__(self, kind: Kind, beta: float, noise: LabelNoise) -> None:
        super().__init__(beta, noise)
        self._prior = _PRIOR_ERROR[kind]
        self._wrong = self._prior * _PRIOR_AUDITS
        self._seen = _PRIOR_AUDITS
        self._shown = False  # closed by the certificate, whatever reports say
        # A judge that calls right answers wrong says so of one among so many half of the time.
        self._allayed = min(_ALLAYED, round(math.log(0.5) / math.log1p(-noise.harsh))) if noise.harsh else _ALLAYED
        self._right = self._allayed  # audits since the last error

    @property
    def error(self) -> float:
        """The mean of the posterior."""
        return self._wrong / self._seen

    def chance(self, rate: float, target: float) -> float:
        """The probability of an audit of the next hit; where all turns wrong, the next errors are found soon."""
        if self._right < self._allayed:
            return spaced(min(1.0, rate * _DENSE), self.waited)
        return spaced(max(rate * _QUIET, rate / (1.0 + self.certificate.audits * target / _SURE)), self.waited)

    def take(self, label: Label, tenants: str, target: float) -> None:
        wrong = not label.correct
        if label.source is LabelSource.WITHDRAWN:
            # What a report moved moves back; what audits said stays.
            self._give_back(float(wrong), float(wrong), target)
        elif label.source is LabelSource.FEEDBACK:
            # No sample: it moves the belief, and no certificate.
            self._wrong, self._seen = self._wrong + wrong, self._seen + wrong
            if self.error > target:
                self.claim.close()
        elif label.source is LabelSource.AUDIT and label.served:
            self._wrong, self._seen = self._wrong + self._errors(label), self._seen + 1.0
            self._right = 0 if wrong else self._right + 1
            self._shown = self.audit(tenants, target, wrong=wrong) or self._shown
            if self.error > target and not self.closed:
                self.claim.close()
        elif label.source is LabelSource.UNDECIDED:
            self.take_undecided(tenants, target)
        elif label.source is LabelSource.MISS and self.watch(tenants, target, correct=label.correct):
            # Begin again, with twice the doubt of the beginning.
            self._shown = False
            self._seen = _PRIOR_AUDITS
            self._wrong = _PRIOR_AUDITS * min(2.0 * self._prior, target / 2.0)

    def disown(self, label: Label, target: float) -> None:
        """Take back an error that an audit has shown."""
        if not label.correct:
            self._give_back(self._errors(label), 1.0, target)

    def _errors(self, label: Label) -> float:
        """The errors that an audit stands for, by a judge with noise, of an answer as risky as was believed."""
        return self._noise.posterior(1.0 - label.p_correct, correct=label.correct)

    def _give_back(self, wrong: float, seen: float, target: float) -> None:
        """Take back so many errors of so many answers from the belief; what was forgotten is not taken back twice."""
        least = min(self._wrong, self._prior * _PRIOR_AUDITS)
        self._wrong, self._seen = max(least, self._wrong - wrong), max(_PRIOR_AUDITS, self._seen - seen)
        self.claim.closed = self.closed and (self._shown or self.error > target)

    def standing(self, kind: Kind) -> StratumStanding:
        one = self.certificate
        return StratumStanding(
            kind.name.lower(),
            self.served,
            one.audits,
            one.wrong,
            1.0 - self.error,
            one.level,
            self.closed,
            one.error,
            one.undecided,
        )

    def state(self) -> dict[str, Any]:
        found = {"wrong": self._wrong, "seen": self._seen, "shown": self._shown, "right": min(_ALLAYED, self._right)}
        return found | super().state()

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self._wrong, self._seen = float(state["wrong"]), float(state["seen"])
        self._shown, self._right = bool(state.get("shown", False)), int(state.get("right", _ALLAYED))
