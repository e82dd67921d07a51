"""The drift alarm: detects answers that are right less often than believed, and by how much, from all labels.

A bettor stakes on the beliefs being too optimistic: labels are compared with the probabilities that were believed
before them. If these are right, or too cautious, the wealth is a supermartingale, so that it rarely grows (Ville's
inequality); it never falls below its start, and so finds a change at any time (an e-detector: Shin, Ramdas and Rinaldo
2024, "E-detectors: a nonparametric framework for sequential change detection", section 2). Knows probabilities and
outcomes, nothing of what is served. Invariant: a label is weighed once, by the belief before it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.logistic import log_odds, sigmoid

SUSPICION, ALARM = math.log(20.0), math.log(1000.0)
_LOUDEST = ALARM + 3.0  # so that an alarm is allayed as soon as answers are right again
_WORSE = (1.0, 3.0, 6.0)  # log-odds by which answers may be worse than believed
_LIKELY = 0.5  # P(correct) from which a label counts: what is believed of the others decides nothing
_SUREST = 0.999  # P(correct) as which the surest are weighed, so that one wrong label is never all the evidence


class DriftAlarm:
    """The wealth of the bettors, in logarithms. `noise` is that of the labels."""

    def __init__(self, noise: LabelNoise = FAITHFUL) -> None:
        self._noise = noise
        self.logs = [0.0] * len(_WORSE)

    @property
    def suspects(self) -> bool:
        """True if labels make it likely that answers are worse than believed; a few right ones allay it."""
        return max(self.logs) >= SUSPICION

    def doubted(self, p_correct: float) -> float:
        """P(correct) if answers are as much worse as labels make likely, at the least; as it is without suspicion."""
        suspected = [worse for worse, log in zip(_WORSE, self.logs, strict=True) if log >= SUSPICION]
        return _lowered(p_correct, min(suspected)) if suspected else p_correct

    def take(self, p_correct: float, *, correct: bool) -> bool:
        """Weigh a label; return True if the belief has become so unlikely that it should be learned anew."""
        if p_correct < _LIKELY:
            return False
        p_correct = min(p_correct, _SUREST)
        believed = self._said(p_correct, correct)
        for place, worse in enumerate(_WORSE):
            doubted = self._said(_lowered(p_correct, worse), correct)
            self.logs[place] = min(_LOUDEST, max(0.0, self.logs[place] + math.log(doubted / believed)))
        return max(self.logs) >= ALARM

    def restore(self, logs: Sequence[float]) -> None:
        """Take up what `logs` were."""
        self.logs = [float(log) for log in logs]

    def _said(self, p_correct: float, correct: bool) -> float:
        """The probability that the judge gives this verdict."""
        said = self._noise.said_correct(p_correct)
        return said if correct else 1.0 - said


def _lowered(p_correct: float, worse: float) -> float:
    """A probability that is lower by `worse` log-odds."""
    return sigmoid(log_odds(p_correct) - worse)
