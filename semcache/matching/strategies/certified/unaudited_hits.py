"""Unaudited hits, whose risk is estimated again as labels of other hits come in.

Hits that were served before the category's kind of traffic was known were believed too much or too little. The budget
has to count their expected errors as they are seen now: overspending is earned back, and savings can be spent. Knows
beliefs and their calibration, nothing of limits. Invariant: the sum of all results of `revised` is the difference
between the errors that are expected of the kept hits now and when they were served.
"""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from semcache.matching.strategies.certified.calibrated_belief import CalibratedBelief

KEPT = 1000  # hits
_EVERY, _SHARE = 4, 16  # labels between two looks: so many, or this part of the hits that are kept


class _Hit(NamedTuple):
    about: CalibratedBelief
    odds: float
    values: tuple[float, ...]


class UnauditedHits:
    """The recent ones of one category."""

    def __init__(self) -> None:
        self._hits: deque[_Hit] = deque(maxlen=KEPT)
        self._risks: deque[float] = deque(maxlen=KEPT)
        self._labels = 0

    def add(self, about: CalibratedBelief, odds: float, values: tuple[float, ...], p_correct: float) -> None:
        """Keep a hit that was booked with this P(correct), and the log-odds and features that it rests on."""
        self._hits.append(_Hit(about, odds, values))
        self._risks.append(1.0 - p_correct)

    def revised(self, caution: float) -> float:
        """By how many more errors, or fewer, are expected than at the last time; 0 between, for it is looked at rarely.

        `caution` are standard deviations of the calibration, as in `CalibratedBelief.corrected`.
        """
        self._labels += 1
        if not self._hits or self._labels < max(_EVERY, len(self._hits) // _SHARE):
            return 0.0
        self._labels = 0
        risks = [1.0 - about.corrected(odds, values, caution) for about, odds, values in self._hits]
        more = sum(risks) - sum(self._risks)
        self._risks = deque(risks, maxlen=KEPT)
        return more
