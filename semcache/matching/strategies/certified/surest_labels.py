"""The labels of the surest candidates, by which a judge that errs is told from traffic that is hard.

Hard traffic shows where prompts are less alike: of what the shipped prior is surest of, hardly anything was wrong in
the traffic that was measured. A judge that errs calls some of these wrong as well. Where most of them are, the small
verifier's verdicts say nothing of this traffic. Knows labels and the prior; what the category has learned does not
count, because labels have taught it. Invariant: nothing that is decided depends on it; it is for a sentence to
operators.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from semcache.matching import features
from semcache.matching.label_noise import LabelNoise
from semcache.matching.strategies.certified.belief import Belief
from semcache.matching.strategies.certified.belief_prior import BeliefPrior
from semcache.matching.strategies.certified.calibrated_belief import prior_with_verifier
from semcache.matching.strategies.certified.certificate import ExcessTest
from semcache.matching.strategies.certified.overruled_vetoes import vetoing
from semcache.types.evidence import Label

_SURE = 3.5  # log-odds of the prior: P(correct) from 0.97
_TRAFFIC = 0.04  # of these that traffic makes wrong at most
_JUDGE = 1.0 / 3.0  # of these that a judge makes wrong at most: beyond, the small verifier or the traffic does
_ENOUGH = 20.0  # wealth
_ASKED = features.NAMES.index("asked")


class SurestLabels:
    """The evidence of one category; `noise` is that of the judge as far as it was told."""

    def __init__(self, prior: BeliefPrior, noise: LabelNoise) -> None:
        self._without_verifier, self._with_verifier = Belief(prior), Belief(prior_with_verifier(prior))
        self._level = noise.visible(_TRAFFIC)
        self._excess = ExcessTest()
        self.count = self.wrong = 0

    @property
    def contradicted(self) -> bool:
        """True if more of them were called wrong than traffic and the noise that was told explain, and not too many."""
        return self._excess.wealth() >= _ENOUGH and self.wrong <= _JUDGE * self.count

    def take(self, label: Label) -> None:
        """Look at a label of a request that was sampled."""
        values = label.features
        about = self._with_verifier if values[_ASKED] else self._without_verifier
        if vetoing(values) or about.log_odds(values, label.answer) < _SURE:
            return
        self._excess.take(self._level, wrong=not label.correct)
        self.count += 1
        self.wrong += not label.correct

    def note(self) -> str:
        """The sentence for operators; empty without that evidence."""
        if not self.contradicted:
            return ""
        return (
            f"the judge called the answer wrong for {self.wrong} of {self.count} pairs of prompts that are almost "
            "surely the same, which its own errors explain better than the traffic does: look at some of these pairs, "
            "then choose another judge (cache.judge) or say how often it errs (judge.false_yes, judge.false_no); if it "
            "is right, the small verifier errs on this traffic"
        )

    def state(self) -> list[float]:
        """As JSON has it."""
        return [self.count, self.wrong, self._level, *self._excess.state()]

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave, kept under "surest"; evidence of another noise, or of an older state, is none."""
        if "surest" not in state:
            return
        count, wrong, level, *excess = state["surest"]
        if float(level) == self._level:
            self.count, self.wrong = int(count), int(wrong)
            self._excess.restore(excess)
