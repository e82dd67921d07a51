"""The worth of a language model's verdict: how far a yes or a no changes the odds that a cached answer is right.

A verdict shifts the log-odds of the belief as `model_quality` has it, and a yes also by an offset that is learned by
category. Belief and model read the same two texts, so only a part of the belief's own log-odds counts. Pure. Invariant:
a yes never lowers P(correct), only labels by fresh answers teach, and P(correct) never exceeds what these and the prior
support.

A verdict is worth little until answers have shown otherwise. Verdicts on neighbours that are known to have another
answer show it soonest, because a good model says no to them; they cost no answer. The results of other categories count
in part (a power prior, Ibrahim and Chen 2000).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from semcache.matching import model_quality
from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.logistic import log_odds, sigmoid
from semcache.matching.model_quality import HOPEFUL, OFFSETS, YES, ByOffset
from semcache.matching.vetoed_verdicts import Place, VetoedVerdicts

_CAUTION = 2.0  # by which the risk that is left after a yes is overstated
_OTHERS = 0.5  # of what other categories have shown
_FOOLED = -3.0  # offset below which a model says yes to more than 5 in 100 wrong neighbours
_INHERENT = 0.5  # share of the errors found by audits that no verdict of this model will ever show


@dataclass(slots=True)
class _Audits:
    """Audited hits on verdicts, and the errors among them."""

    count: float = 0.0
    wrong: float = 0.0


_NO_AUDITS = _Audits()
_BEFORE = _Audits(100.0, 0.15)  # that stand behind the lowest error that is believed


class VerdictWorth:
    """The worth of verdicts in all categories. `noise` is that of the judge behind the labels."""

    def __init__(self, noise: LabelNoise = FAITHFUL) -> None:
        self._noise = noise
        self._shown: dict[str, ByOffset] = {}  # log-likelihoods, by category
        self._audits: dict[str, _Audits] = {}
        self._vetoed = VetoedVerdicts(YES, noise)
        self._weights: dict[str, ByOffset] = {}  # by category, since the last that was learned

    def p_correct(self, category: str, before: float, p_yes: float) -> float:
        """P(correct) after this verdict, if it was `before`."""
        return self._after([_CAUTION * one for one in self._weights_of(category)], category, before, p_yes)

    def hoped(self, category: str, before: float, p_yes: float) -> float:
        """P(correct) after this verdict of an unknown model, if it were as good as large models are."""
        return self._after(HOPEFUL, category, before, p_yes)

    def _after(self, weights: ByOffset, category: str, before: float, p_yes: float) -> float:
        odds = model_quality.shifted(log_odds(before), p_yes)
        if p_yes < YES:
            return sigmoid(odds)
        risk = min(
            1.0, sum([weight * sigmoid(-odds - offset) for weight, offset in zip(weights, OFFSETS, strict=True)])
        )
        return max(before, 1.0 - max(risk, self._least_risk(category)))

    def _least_risk(self, category: str) -> float:
        """The risk that no verdict takes away, by the audits of this category and those that stand behind any."""
        seen = self._audits.get(category, _NO_AUDITS)
        return min(0.5, (_BEFORE.wrong + _INHERENT * seen.wrong) / (_BEFORE.count + seen.count))

    def learn(self, category: str, odds: float, p_yes: float, *, correct: bool) -> None:
        """Learn from the label of a fresh answer, for which the belief had these log-odds; only a yes teaches."""
        if p_yes < YES:
            return
        shifted, noise = model_quality.shifted(odds, p_yes), self._noise
        likely = [noise.said_correct(sigmoid(shifted + offset)) for offset in OFFSETS]
        self._shows(category, [math.log(max(1e-9, one if correct else 1.0 - one)) for one in likely])

    def differ(self, category: str, p_yes: float, p_wrong: float, *, share: float = 1.0) -> None:
        """Learn a `share` from a verdict, yes or no, on a neighbour that has another answer with this probability."""
        said = [model_quality.p_yes(offset, p_wrong) for offset in OFFSETS]
        self._shows(category, [share * math.log(one if p_yes >= YES else 1.0 - one) for one in said])

    def _shows(self, category: str, logs: ByOffset) -> None:
        """Add the log-likelihoods of an observation, and the chance that the model has changed since."""
        shown = self._shown.get(category) or model_quality.nothing_shown()
        self._shown[category] = model_quality.forgiving(model_quality.added(shown, logs))
        self._weights.clear()

    @property
    def probes(self) -> int:
        """How many verdicts on vetoed neighbours were given."""
        return self._vetoed.count

    def about_vetoed(self, place: Place, p_yes: float) -> None:
        """Learn from a verdict on a neighbour that a guard vetoes, which is most likely another's."""
        self._vetoed.said(place, p_yes)
        self._weights.clear()

    def settle_vetoed(self, place: Place, *, correct: bool) -> None:
        """Learn from the label of such a neighbour: guards do not know every kind of traffic."""
        self._vetoed.labelled(place, correct=correct)
        self._weights.clear()

    def _shown_by_vetoed(self) -> ByOffset:
        """The log-likelihoods by the verdicts on vetoed neighbours, given the labels of these so far."""
        logs = model_quality.nothing_shown()
        for group in self._vetoed.groups():
            said = [model_quality.p_yes(offset, group.p_wrong) for offset in OFFSETS]
            logs = [
                log + group.yes * math.log(one) + (group.verdicts - group.yes) * math.log(1.0 - one)
                for log, one in zip(logs, said, strict=True)
            ]
        return model_quality.forgiving(logs)

    def audited(self, category: str, wrong: float) -> None:
        """Count an audit of a judged hit, and how many errors it stands for."""
        audits = self._audits.setdefault(category, _Audits())
        audits.count += 1.0
        audits.wrong += wrong

    def fooled(self, category: str) -> float:
        """P(the model is one of those that say yes to many wrong neighbours), by all that was shown."""
        weighted = zip(self._weights_of(category), OFFSETS, strict=True)
        return sum([weight for weight, offset in weighted if offset < _FOOLED])

    def yes_in_a_category(self, category: str) -> float:
        """The factor by which a plain yes is believed to multiply the odds that an answer is right."""
        weighted = zip(self._weights_of(category), OFFSETS, strict=True)
        wrong = sum([weight * sigmoid(-model_quality.after_plain_yes() - offset) for weight, offset in weighted])
        return (1.0 - wrong) / wrong

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        audits = {name: [one.count, one.wrong] for name, one in self._audits.items()}
        return {"shown": self._shown, "audits": audits, "vetoed": self._vetoed.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for other offsets."""
        shown = {str(name): [float(one) for one in row] for name, row in state["shown"].items()}
        if any(len(row) != len(OFFSETS) for row in shown.values()):
            raise ValueError("these are the offsets of another version: learn anew from the label log")
        self._shown = shown
        self._audits = {
            str(name): _Audits(float(count), float(wrong)) for name, (count, wrong) in state["audits"].items()
        }
        if isinstance(state.get("vetoed"), Mapping):  # an earlier version had counts alone
            self._vetoed.restore(state["vetoed"])
        self._weights.clear()

    def _weights_of(self, category: str) -> ByOffset:
        """The weights of the offsets by all that was shown, in this category and in others."""
        found = self._weights.get(category)
        if found is None:
            shown = [(1.0 if name == category else _OTHERS, row) for name, row in self._shown.items()]
            found = self._weights[category] = model_quality.posterior([*shown, (1.0, self._shown_by_vetoed())])
        return found
