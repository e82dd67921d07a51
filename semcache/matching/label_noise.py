"""The noise of labels: how often a judge calls a wrong answer correct, and a correct one wrong.

Pure arithmetic on two error rates. Invariant: the rates are those of the judge, whatever the answers are, and what a
label is worth on average over them is unbiased.
"""

from __future__ import annotations

from dataclasses import dataclass

_MOST = 0.95  # visible error: beyond, no verdict would tell anything


@dataclass(frozen=True, slots=True)
class LabelNoise:
    """How often a label lies: `kind` is P(said correct | wrong), `harsh` is P(said wrong | correct); together below 1.

    The model is that of class-conditional noise (Natarajan et al. 2013, "Learning with noisy labels", section 2).
    """

    kind: float = 0.0
    harsh: float = 0.0

    @property
    def reach(self) -> float:
        """How far the probability of a verdict moves between an answer that is wrong and one that is correct."""
        return 1.0 - self.kind - self.harsh

    def said_correct(self, p_correct: float) -> float:
        """The probability that a label says "correct" of an answer that is correct with this probability."""
        return self.kind + self.reach * p_correct

    def visible(self, error: float) -> float:
        """The error rate that labels show where this is the true one."""
        return min(_MOST, self.harsh + self.reach * error)

    def errors(self, *, correct: bool) -> float:
        """How many errors a verdict stands for, on average over the judge's errors; it may be negative or above 1."""
        return (float(not correct) - self.harsh) / self.reach

    def posterior(self, risk: float, *, correct: bool) -> float:
        """The probability that an answer of this risk, in [0, 1], is wrong, given a label."""
        if correct:
            wrong, right = risk * self.kind, (1.0 - risk) * (1.0 - self.harsh)
        else:
            wrong, right = risk * (1.0 - self.kind), (1.0 - risk) * self.harsh
        return wrong / (wrong + right) if wrong + right > 0.0 else float(not correct)


FAITHFUL = LabelNoise()
