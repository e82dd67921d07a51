"""The worth of a language model's word: how far a yes or a no changes the odds that a cached answer is right.

A word is the probability of yes. Its grade shifts the log-odds of the belief by a stated amount, and a yes also by an
offset that is learned by category. Belief and model read the same two texts, so only a part of the belief's own
log-odds counts. Pure. Invariant: a yes never lowers P(correct), only labels by fresh answers teach, and P(correct)
never exceeds what these and the prior support.

The offset has a discrete prior that gives 40% to models that are much worse than stated, some of which say yes to
anything, so a word is worth little until answers have shown otherwise. Words about neighbours that are known to have
another answer show it soonest, because a good model says no to them; they cost no answer. The results of other
categories count in part (a power prior, Ibrahim and Chen 2000). The model may change at any label (a fixed share,
Herbster and Warmuth 1998), so that many right words do not outweigh the few recent wrong ones of a model that has
become worse.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.strategies.certified.calibration import sigmoid
from semcache.matching.vetoed_words import Place, VetoedWords

YES, NO = 0.8, 0.2  # P(yes) from which a word is a yes, and up to which it is a no
BEST = 0.99  # the best word there is
_EDGES = (0.05, NO, 0.5, YES, 0.95)
# ln P(word | right) / P(word | wrong), stated for a large model: it says yes to 97 of 100 right neighbours, and to
# 2.4 in 1,000 wrong ones, 1.6 where it is sure. Offsets, and the labels that weigh them, bring it to its worth.
_SHIFTS = (-4.5, -3.5, -1.0, 0.5, 6.0, 6.4)
_OFFSETS = (1.0, 0.0, -1.0, -2.0, -3.0, -4.0, -5.0, -6.0)
_PRIOR = tuple([math.log(weight) for weight in (0.15, 0.3, 0.15, 0.1, 0.12, 0.06, 0.06, 0.06)])
# The prior of a large model of which nobody thinks ill, for the first few hits.
_HOPEFUL = (0.3, 0.5, 0.1, 0.05, 0.03, 0.01, 0.005, 0.005)
_TRUE = 0.97  # share of the right neighbours to which a model says yes
_CAUTION = 2.0  # by which the risk that is left after a yes is overstated
_OTHERS = 0.5  # of what other categories have shown
_SHARE = 0.75  # of the belief's log-odds
_FURTHEST = 5.0  # of the belief's log-odds that are looked at
_CHANGES = 0.005  # chance that a model has changed since the last label
_FLOOR = 0.15, 100.0  # errors and audits that stand behind the lowest error that is believed
_INHERENT = 0.5  # share of the errors found by audits that no word of this model will ever show


class WordWorth:
    """The worth of words in all categories. `noise` is that of the judge behind the labels."""

    def __init__(self, noise: LabelNoise = FAITHFUL) -> None:
        self._noise = noise
        self._shown: dict[str, list[float]] = {}  # log-likelihoods of the offsets, by category
        self._audits: dict[str, list[float]] = {}  # of judged hits: how many, and errors among them
        self._vetoed = VetoedWords(YES, noise)
        self._weights: dict[str, list[float]] = {}

    def p_correct(self, category: str, before: float, word: float) -> float:
        """P(correct) after this word, if it was `before`."""
        return self._after([_CAUTION * one for one in self._weights_of(category)], category, before, word)

    def hoped(self, category: str, before: float, word: float) -> float:
        """P(correct) after this word of an unknown model, if it were as good as large models are."""
        return self._after(_HOPEFUL, category, before, word)

    def _after(self, weights: Sequence[float], category: str, before: float, word: float) -> float:
        odds = _shifted(log_odds(before), word)
        if word < YES:
            return sigmoid(odds)
        risks = [weight * sigmoid(-odds - offset) for weight, offset in zip(weights, _OFFSETS, strict=True)]
        wrong, audits = _FLOOR
        seen, found = self._audits.get(category, (0.0, 0.0))
        floor = (wrong + _INHERENT * found) / (audits + seen)
        return max(before, 1.0 - max(min(1.0, sum(risks)), min(0.5, floor)))

    def learn(self, category: str, odds: float, word: float, *, correct: bool) -> None:
        """Learn from the label of a fresh answer, for which the belief had these log-odds; only a yes teaches."""
        if word < YES:
            return
        shifted, noise = _shifted(odds, word), self._noise
        likely = [noise.said_correct(sigmoid(shifted + offset)) for offset in _OFFSETS]
        self._shows(category, [math.log(max(1e-9, one if correct else 1.0 - one)) for one in likely])

    def differ(self, category: str, word: float, p_wrong: float, *, share: float = 1.0) -> None:
        """Learn a `share` from a word, yes or no, about a neighbour that has another answer with this probability."""
        said = [_yes(offset, p_wrong) for offset in _OFFSETS]
        self._shows(category, [share * math.log(one if word >= YES else 1.0 - one) for one in said])

    @property
    def probes(self) -> int:
        """How many words about vetoed neighbours were given."""
        return self._vetoed.count

    def about_vetoed(self, place: Place, word: float) -> None:
        """Learn from a word about a neighbour that a guard vetoes, which is most likely another's."""
        self._vetoed.said(place, word)
        self._weights.clear()

    def settle_vetoed(self, place: Place, *, correct: bool) -> None:
        """Learn from the label of such a neighbour: guards do not know every kind of traffic."""
        self._vetoed.labelled(place, correct=correct)
        self._weights.clear()

    def _shown_by_vetoed(self) -> list[float]:
        """The log-likelihoods of the offsets by the words about vetoed neighbours, given the labels of these so far."""
        logs = [0.0] * len(_OFFSETS)
        for p_wrong, words, yes in self._vetoed.groups():
            said = [_yes(offset, p_wrong) for offset in _OFFSETS]
            logs = [
                log + yes * math.log(one) + (words - yes) * math.log(1.0 - one)
                for log, one in zip(logs, said, strict=True)
            ]
        return _forgiving(logs)

    def _shows(self, category: str, logs: list[float]) -> None:
        """Add the log-likelihoods of an observation, and the chance that the model has changed since."""
        shown = self._shown.get(category, [0.0] * len(_OFFSETS))
        self._shown[category] = _forgiving([before + log for before, log in zip(shown, logs, strict=True)])
        self._weights.clear()

    def audited(self, category: str, wrong: float) -> None:
        """Count an audit of a judged hit, and how many errors it stands for."""
        count = self._audits.setdefault(category, [0.0, 0.0])
        count[0] += 1.0
        count[1] += wrong

    def yes_in_a_category(self, category: str) -> float:
        """The factor by which a plain yes is believed to multiply the odds that an answer is right."""
        offsets = zip(self._weights_of(category), _OFFSETS, strict=True)
        wrong = sum([weight * sigmoid(-_SHIFTS[-2] - offset) for weight, offset in offsets])
        return (1.0 - wrong) / wrong

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"shown": self._shown, "audits": self._audits, "vetoed": self._vetoed.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for other offsets."""
        shown = {str(name): [float(one) for one in row] for name, row in state["shown"].items()}
        if any(len(row) != len(_OFFSETS) for row in shown.values()):
            raise ValueError("these are the offsets of another version: learn anew from the label log")
        self._shown = shown
        self._audits = {str(name): [float(one) for one in counts] for name, counts in state["audits"].items()}
        if isinstance(state.get("vetoed"), Mapping):  # an earlier version had counts alone
            self._vetoed.restore(state["vetoed"])
        self._weights.clear()

    def _weights_of(self, category: str) -> list[float]:
        found = self._weights.get(category)
        if found is None:
            rows = [(1.0 if name == category else _OTHERS, row) for name, row in self._shown.items()]
            rows.append((1.0, self._shown_by_vetoed()))
            logs = [prior + sum([part * row[at] for part, row in rows]) for at, prior in enumerate(_PRIOR)]
            found = self._weights[category] = _normed(logs)
        return found


def _forgiving(logs: Sequence[float]) -> list[float]:
    """These log-likelihoods of the offsets, discounted for the chance that the model has changed since."""
    weights = _normed([prior + log for prior, log in zip(_PRIOR, logs, strict=True)])
    return [
        math.log((1.0 - _CHANGES) * weight / math.exp(prior) + _CHANGES)
        for weight, prior in zip(weights, _PRIOR, strict=True)
    ]


def _yes(offset: float, p_wrong: float) -> float:
    """P(yes) of a model of this offset about a neighbour that is another's with this probability."""
    fooled = _TRUE / (_TRUE + math.exp(min(50.0, _SHIFTS[-2] + offset)))
    return p_wrong * fooled + (1.0 - p_wrong) * _TRUE


def log_odds(p: float) -> float:
    """The log-odds of a probability, finite for any."""
    return math.log(max(p, 1e-9)) - math.log(max(1.0 - p, 1e-9))


def _shifted(odds: float, word: float) -> float:
    return _SHIFTS[bisect_right(_EDGES, word)] + _SHARE * max(-_FURTHEST, min(_FURTHEST, odds))


def _normed(logs: list[float]) -> list[float]:
    highest = max(logs)
    raw = [math.exp(log - highest) for log in logs]
    total = sum(raw)
    return [one / total for one in raw]
