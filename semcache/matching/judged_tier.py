"""The judged tier: answers that are served on a language model's word, in a stratum of their own in each category.

A word is the model's verdict on a request and an entry, as P(yes). The tier begins on probation: except for the first
hits, nothing is served before the results of some words are known, from fresh answers or from neighbours that guards
veto. Its budget, audits, certificate and closing are separate from those of hits by meaning. Pure; draws nothing and
reads no clock. Invariant: nothing is served without a yes, beyond the limit of the budget or of probation, or in a
closed stratum; a repeated verdict on the same pair can only lower the first.

`word_worth` learns the worth of words from labels by fresh answers; a word itself is never such a label.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Any

from semcache.config.packs import Pack
from semcache.matching import features
from semcache.matching.audited_stratum import AuditedStratum
from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.logistic import log_odds, sigmoid
from semcache.matching.model_quality import BEST, YES
from semcache.matching.strategies.certified.certificate import spaced
from semcache.matching.strategies.certified.error_budget import ErrorBudget
from semcache.matching.word_worth import WordWorth
from semcache.types import Controls, Verdict, Why
from semcache.types.evidence import Interval, Label, LabelSource, wilson

_REMEMBERED = 5_000
_UNJUDGED = 500  # labels of misses that wait for a word
_PLAIN = len(features.NAMES)
_DENSE = 10.0  # audits that come with the first hits; then their share falls as 10 in their number
_UNSHOWN = 0.6  # of the budget's limit that may be spent on words of which no audit has told
_ENOUGH = 2.0  # errors that the target allows in as many audits as open the whole of it
_HEAVIEST = 10.0  # hits that one audited hit may stand for
_GRACE = 1.0  # errors found, beyond what the target pays for, after which nothing is served until they are paid back
# Risks of the first requests of which a word is had, as long as none were seen: what most of them leave of the target,
# less sure ones may spend, as far as the grant of the budget reaches.
_EXPECTED = tuple([0.0005 * 1.08**place for place in range(60)])
# Shares of the doubts too great for the best word of which one is had all the same, after forwarding: of the plausible,
# which may be served once more is known of the model, and of the others, whose words settle nothing.
_TRIED, _SELDOM = 0.25, 0.05
_PLAUSIBLE = 0.25  # P(correct) from which a doubt is
_EAGER = 40  # words with a known result before which one is had of all of them
_PROBES = 80  # words that are had about vetoed neighbours
_SETTLED = 12  # words with a known result before which next to nothing is served
_VENTURE = 25.0  # hits, whose target the entries of these first ones may spend if words are worth nothing
_BESIDE = 0.5  # of what a labelled difference shows: a wrong yes teaches as any yes does, too
_DIFFERENT = 0.05  # P(yes) up to which a verdict makes a known difference


@dataclass(frozen=True, slots=True)
class JudgedStanding:
    """The tier's figures in one category; rates lie in [0, 1], `error` is that of audited answers.

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


@dataclass(frozen=True, slots=True)
class Word:
    """A word, as a label carries it: P(yes), the belief's log-odds before it, and if the label is a random sample.

    All answers that a word refused are labelled, but only the audited ones of those that it let pass. So only labels
    that are `sampled` show how many neighbours like these are right.
    """

    p_yes: float
    odds: float
    sampled: bool

    @property
    def different(self) -> bool:
        """True if the answer is known to be another's."""
        return self.p_yes <= _DIFFERENT


class JudgedTier:
    """Decides whether a word is enough, and learns from labels. One instance a process.

    `grants` is this process's share of the errors that are granted to first hits.
    """

    def __init__(self, pack: Pack, *, noise: LabelNoise = FAITHFUL, grants: float = 1.0) -> None:
        self.worth = WordWorth(noise)
        self.served = 0  # by this process
        self._pack = pack
        self._noise, self._grants = noise, grants
        self._strata: dict[str, _Stratum] = {}
        self._verdicts: OrderedDict[tuple[bytes, int], float] = OrderedDict()
        self._unjudged: OrderedDict[tuple[bytes, int], Label] = OrderedDict()
        self._known = 0  # words whose result is known
        self._ventured: dict[int, float] = {}  # by entry, P(wrong) before any word

    def could_serve(
        self, category: str, before: float, controls: Controls, tenant: str = "", entry_id: int = 0
    ) -> bool:
        """Return True if the best possible word would be enough, where P(correct) is `before`."""
        return self.judge(category, before, BEST, controls, tenant, entry_id).serve

    def judge(
        self, category: str, before: float, p_yes: float, controls: Controls, tenant: str = "", entry_id: int = 0
    ) -> Verdict:
        """Return the verdict on a neighbour of this P(correct) after this word."""
        stratum, policy = self._of(category), self._pack.of(category)
        after = hoped = self.worth.p_correct(category, before, p_yes)
        if self._known < _SETTLED:
            spent = sum(self._ventured.values())
            begun = not spent or entry_id in self._ventured
            venture = begun or spent + 1.0 - before <= self._grants * _VENTURE * self._pack.target_of(category)
            hoped = max(after, self.worth.hoped(category, before, p_yes)) if venture else 0.0
        limit = stratum.limit()
        if controls.max_error is not None:
            limit, hoped = min(limit, controls.max_error), min(hoped, after)
        if stratum.refuses(self._pack.class_of(tenant)):
            return Verdict(False, after, why=Why.CLOSED, risk=limit)
        if p_yes < YES or 1.0 - hoped > limit or stratum.debt > _GRACE:
            return Verdict(False, after, audit=stratum.chance(policy.audit), why=Why.VERIFY_FAILED, risk=limit)
        return Verdict(True, after, audit=stratum.chance(policy.audit), why=Why.JUDGED, risk=limit)

    def note(
        self, category: str, p_correct: float, *, before: float, entry_id: int, served: bool, audited: bool
    ) -> None:
        """Count a request with a word; audits are spread evenly over served answers."""
        stratum = self._of(category)
        self.served += served
        risk = 1.0 - p_correct
        if served and self._known < _SETTLED:
            # Its doubts have a budget of their own.
            self._ventured.setdefault(entry_id, 1.0 - before)
            risk = min(risk, self._pack.target_of(category))
        stratum.budget.note(risk, served=served)
        if served:
            stratum.count(audited=audited)

    @property
    def curious(self) -> bool:
        """True if words about vetoed neighbours are worth their price: little is known of the model."""
        return self.worth.probes < _PROBES

    def tried(self, before: float) -> float:
        """The share of doubts of this P(correct), too great for any word to serve, that are asked about anyway."""
        if self._known < _EAGER:
            return 1.0
        return _TRIED if before >= _PLAUSIBLE else _SELDOM

    def differ(self, exact: bytes, entry_id: int, p_yes: float) -> None:
        """Learn from a word about a request and an entry that a guard vetoes."""
        self._known += 1
        self.worth.about_vetoed((exact, entry_id), p_yes)

    def observe(self, label: Label) -> None:
        """Learn from a label by a fresh answer whose neighbour had a word; a verdict itself is only remembered."""
        word, place = word_of(label), (label.exact, label.entry_id)
        if label.source in (LabelSource.FEEDBACK, LabelSource.WITHDRAWN):
            # No sample: it tells of this hit, and not what words are worth.
            if word is not None and label.served:
                self._of(label.category).settle(label, weight=-1.0 if label.source is LabelSource.WITHDRAWN else 1.0)
            return
        if label.source is LabelSource.VERDICT:
            if word is None:
                return
            self.remember(*place, word.p_yes)
            missed = self._unjudged.pop(place, None)
            if missed is not None:
                self._learn(missed, word_about(missed.p_correct, word.p_yes, sampled=True))
        elif word is not None:
            self._learn(label, word)
        elif label.source is LabelSource.MISS and len(label.features) == _PLAIN:
            if features.vetoed(label.features):
                self.worth.settle_vetoed(place, correct=label.correct)
            # A word that is asked for after a miss may come before its label or after it.
            said = self._verdicts.get(place)
            if said is not None:
                self._learn(label, word_about(label.p_correct, said, sampled=True))
            else:
                self._unjudged[place] = label
                if len(self._unjudged) > _UNJUDGED:
                    self._unjudged.popitem(last=False)

    def observe_own(self, label: Label) -> None:
        """Learn from a label about the class of its tenant, and nothing that others are served by."""
        word = word_of(label)
        if word is not None and (label.served or word.p_yes >= YES):
            visible = self._noise.visible(self._pack.target_of(label.category))
            self._of(label.category).take_own(label, self._pack.class_of(label.tenant), visible)

    def disown(self, label: Label) -> None:
        """Take back what the label of a served answer has cost the stratum; what words are worth and audits stay."""
        if word_of(label) is not None and label.served:
            self._of(label.category).give_back(label)

    def _learn(self, label: Label, word: Word) -> None:
        stratum = self._of(label.category)
        after = self.worth.p_correct(label.category, sigmoid(word.odds), word.p_yes)
        meant = label.served or (word.p_yes >= YES and 1.0 - after <= stratum.limit())
        self.worth.learn(label.category, word.odds, word.p_yes, correct=label.correct)
        self._known += 1
        if not label.correct and (word.sampled or word.p_yes >= YES):
            wrong = self._noise.posterior(1.0 - sigmoid(word.odds), correct=False)
            self.worth.differ(label.category, word.p_yes, wrong, share=_BESIDE)
        stratum.take(label, word, self.worth, self._pack.class_of(label.tenant), meant=meant)

    def remember(self, exact: bytes, entry_id: int, p_yes: float) -> float:
        """Remember a verdict on a request and an entry; return the lowest that was given on them."""
        place = exact, entry_id
        lowest = min(p_yes, self._verdicts.pop(place, 1.0))
        self._verdicts[place] = lowest
        if len(self._verdicts) > _REMEMBERED:
            self._verdicts.popitem(last=False)
        return lowest

    def remembered(self, exact: bytes, entry_id: int) -> float | None:
        """The recent verdict on a request and an entry, None if there is none."""
        return self._verdicts.get((exact, entry_id))

    def standing(self) -> dict[str, JudgedStanding]:
        """The figures of the categories that have served on a word or learned from one."""
        used = [(name, one) for name, one in sorted(self._strata.items()) if one.used]
        found = {name: one.standing(self.worth.yes_in_a_category(name)) for name, one in used}
        if self._known >= _SETTLED:
            return found
        note = f"on probation: the results of {self._known} words are known, of {_SETTLED} that are needed"
        return {name: replace(one, note=one.note or note) for name, one in found.items()}

    def state(self) -> dict[str, Any]:
        """The learned state and the recent verdicts, as JSON."""
        return {
            "worth": self.worth.state(),
            "strata": {name: one.state() for name, one in self._strata.items() if one.used},
            "known": self._known,
            "ventured": [[entry_id, risk] for entry_id, risk in self._ventured.items()],
            "verdicts": [[exact.hex(), entry_id, p] for (exact, entry_id), p in self._verdicts.items()],
        }

    def restore(self, state: Mapping[str, Any], changed: Container[str] = ()) -> None:
        """Restore the result of `state`, all or nothing, except strata of categories whose promises have `changed`."""
        strata = {name: self._made(name) for name in state["strata"] if name not in changed}
        for name, stratum in strata.items():
            stratum.restore(state["strata"][name])
        known = int(state.get("known", 0))
        ventured = {int(entry_id): float(risk) for entry_id, risk in state.get("ventured", [])}
        verdicts = [(bytes.fromhex(exact), int(entry_id), float(p)) for exact, entry_id, p in state["verdicts"]]
        self.worth.restore(state["worth"])
        self._strata, self._known, self._ventured = strata, known, ventured
        for verdict in verdicts:
            self.remember(*verdict)

    def _of(self, category: str) -> _Stratum:
        stratum = self._strata.get(category)
        if stratum is None:
            stratum = self._strata[category] = self._made(category)
        return stratum

    def _made(self, category: str) -> _Stratum:
        beta = 1.0 - self._pack.confidence
        return _Stratum(self._pack.target_of(category), beta, self._noise, grant=self._grants * beta)


def with_word(values: tuple[float, ...], word: Word) -> tuple[float, ...]:
    """The features of a neighbour followed by a word about it, as a served answer and its label carry them."""
    return (*values[:_PLAIN], word.odds, word.p_yes, float(word.sampled))


def word_of(label: Label) -> Word | None:
    """The word that a label carries; None for a label without one."""
    if len(label.features) != _PLAIN + 3:
        return None
    odds, p_yes, sampled = label.features[_PLAIN:]
    return Word(p_yes, odds, sampled > 0.0)


def without_word(label: Label) -> Label | None:
    """The label as the strategy learns from it; None if the word chose which answers were labelled.

    It is given as the label of a miss, so that a hit of this tier enters no other certificate.
    """
    word = word_of(label)
    if word is None:
        return label
    if not word.sampled or label.source is LabelSource.VERDICT:
        return None
    source = LabelSource.FEEDBACK if label.source is LabelSource.FEEDBACK else LabelSource.MISS
    return replace(label, features=label.features[:_PLAIN], source=source, served=False)


def word_about(before: float, p_yes: float, *, sampled: bool) -> Word:
    """The word about a neighbour of this P(correct)."""
    return Word(p_yes, log_odds(before), sampled)


class _Stratum(AuditedStratum):
    """The budget, audits and certificate of one category."""

    def __init__(self, target: float, beta: float, noise: LabelNoise, *, grant: float) -> None:
        super().__init__(beta)
        self._target, self._noise = target, noise
        self.budget = ErrorBudget(target, "hit", risks=_EXPECTED, grant=grant)
        self.labels = 0
        self.debt = 0.0

    @property
    def used(self) -> bool:
        """True if there is anything to tell."""
        return bool(self.served or self.labels or self.closed or self.tenants.standing())

    def chance(self, rate: float) -> float:
        """The probability of an audit of the next hit: dense at first, then at the pack's rate."""
        dense = min(1.0, _DENSE / max(1, self.certificate.audits))
        return spaced(max(rate, dense) if rate > 0.0 else 0.0, self.waited)

    def limit(self) -> float:
        """The highest risk that may be served: a part of the budget's until audits have shown what words are worth."""
        shown = min(1.0, self.certificate.audits * self._target / _ENOUGH)
        return self.budget.limit() * (_UNSHOWN + (1.0 - _UNSHOWN) * shown)

    def settle(self, label: Label, *, weight: float) -> float:
        """Note the result of an answer that was served; return how many errors it stands for."""
        wrong = self._noise.posterior(1.0 - label.p_correct, correct=label.correct)
        self.budget.settle(1.0 - label.p_correct, wrong=wrong, weight=weight)
        self.budget.changed()
        return wrong

    def give_back(self, label: Label) -> None:
        """Take back what `take` took for an answer that was served."""
        weight = _stands_for(label)
        wrong = self.settle(label, weight=-weight)
        self.debt = max(0.0, self.debt - weight * (wrong - self._target))

    def take(self, label: Label, word: Word, worth: WordWorth, tenants: str, *, meant: bool) -> None:
        """Learn from a label; `meant` is one of an answer that was served, or would have been by what was known."""
        self.labels += 1
        noise = self._noise
        wrong = noise.posterior(1.0 - label.p_correct, correct=label.correct)
        weight = _stands_for(label)
        if label.served:
            self.settle(label, weight=weight)
        if (meant or label.correct) and word.p_yes >= YES and label.source in (LabelSource.AUDIT, LabelSource.MISS):
            # Right answers pay errors back, meant or not: nothing is served again by waiting alone.
            self.debt = max(0.0, self.debt + weight * (wrong - self._target))
        visible = noise.visible(self._target)
        if label.source is LabelSource.AUDIT and label.served:
            worth.audited(label.category, wrong)
            self.audit(tenants, visible, wrong=not label.correct)
        elif label.source is LabelSource.MISS and word.p_yes >= YES:
            self.watch(tenants, visible, correct=label.correct)
        self.budget.changed()

    def standing(self, yes: float) -> JudgedStanding:
        one = self.certificate
        return JudgedStanding(
            self.served,
            one.audits,
            one.wrong,
            yes,
            0.0 if self.closed else self.limit(),
            one.level,
            self.closed,
            wilson(one.wrong, one.audits) if one.audits else None,
            self._note(),
        )

    def _note(self) -> str:
        """A sentence for operators, where little is served."""
        one = self.certificate
        if not self.closed and self.debt <= _GRACE:
            return ""
        found = (
            f"{one.wrong} of {one.audits} audits found a yes wrong" if one.audits else "fresh answers spoke against it"
        )
        return (
            f"{found}: nothing is served on a word for now; if the judge of answers errs, say how often by "
            "judge.false_yes and judge.false_no"
        )

    def state(self) -> dict[str, Any]:
        return {**super().state(), "labels": self.labels, "debt": self.debt, "overspent": self.budget.overspent()}

    def restore(self, state: Mapping[str, Any]) -> None:
        super().restore(state)
        self.labels, self.debt = int(state["labels"]), float(state["debt"])
        self.budget.owe(float(state.get("overspent", 0.0)))


def _stands_for(label: Label) -> float:
    """How many hits a label stands for: an audited one also stands for hits that were not drawn."""
    return min(_HEAVIEST, 1.0 / label.chance) if label.served and label.chance > 0.0 else 1.0
