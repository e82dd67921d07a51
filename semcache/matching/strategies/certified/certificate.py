"""Anytime-valid tests of the error of served answers: certified to be within a level, or shown to exceed it.

The error per hit is bet against, one audited answer after the other: the wealth of a fair bettor is a supermartingale
where the null hypothesis holds, so that it ever exceeds 1/beta with probability beta at most (Ville's inequality;
Waudby-Smith and Ramdas 2023, "Estimating means of bounded random variables by betting", sections 2 and 4). The bets
are a mixture of fixed shares of what may be staked, which needs no tuning. Levels are tested in a fixed order, loose to
strict, which needs no correction for their number (Angelopoulos et al. 2021, "Learn then test", section 2).
Knows right and wrong, nothing of scores. Invariant: a test looks at each audited answer once, and its stakes and level
are set before it can know it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

LADDER = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
_LENIENT = 0.2
_AGAINST_MORE = (0.2, 0.4, 0.7, 0.97)  # shares of the stake at which one error would ruin the bettor
_WEIGHTS = (0.1, 0.15, 0.25, 0.5)  # of these: most audits find no error
_EQUAL = (0.25, 0.25, 0.25, 0.25)
_AGAINST_LESS = (0.02, 0.05, 0.1, 0.25)  # shares of the stake at which one right answer would


class Bet:
    """The wealth of a bettor against "the error is at least the level" or, if `above`, "at most the level".

    A detector's wealth never falls below its start, so that it finds a change whenever it comes (a CUSUM of bets)
    instead of weighing the whole past.
    """

    def __init__(self, *, above: bool = False, detector: bool = False) -> None:
        self._above, self._detector = above, detector
        self._shares = _AGAINST_LESS if above else _AGAINST_MORE
        self.logs = [0.0] * len(self._shares)

    def take(self, level: float, *, wrong: bool) -> None:
        """Look at one audited answer; `level` lies between 0 and 1 and may depend on all that came before."""
        if self._above:
            stake, outcome = 1.0 / level, float(wrong) - level
        else:
            stake, outcome = 1.0 / (1.0 - level), level - float(wrong)
        self.logs = [
            log + math.log1p(share * stake * outcome) for log, share in zip(self.logs, self._shares, strict=True)
        ]
        if self._detector:
            self.logs = [max(0.0, log) for log in self.logs]

    def wealth(self) -> float:
        """The wealth over all stakes, 1 at the start."""
        weights = _EQUAL if self._above else _WEIGHTS
        return sum([weight * math.exp(min(log, 50.0)) for weight, log in zip(weights, self.logs, strict=True)])


class Certificate:
    """The evidence of audits in one category. `beta` is the accepted probability of a false claim."""

    def __init__(self, beta: float) -> None:
        self._enough = 1.0 / beta
        self._ladder = [(level, Bet()) for level in LADDER]
        self._target, self._excess = Bet(), Bet(above=True, detector=True)
        self._passed = 0
        self.certified = False
        self.audits = self.wrong = 0

    def take(self, target: float, *, wrong: bool) -> None:
        """Look at one audited answer; `target` is the error per hit that is allowed at this moment."""
        self.audits += 1
        self.wrong += wrong
        for level, bet in self._ladder:
            bet.take(level, wrong=wrong)
        # Where the target counts all requests, a level that few hits make lenient would be certified too easily.
        self._target.take(min(target, _LENIENT), wrong=wrong)
        self._excess.take(target, wrong=wrong)
        while self._passed < len(LADDER) and self._ladder[self._passed][1].wealth() >= self._enough:
            self._passed += 1
        self.certified = self.certified or self._target.wealth() >= self._enough

    @property
    def level(self) -> float | None:
        """The lowest error of the ladder that is certified: the true one is below it with probability 1 - beta."""
        return LADDER[self._passed - 1] if self._passed else None

    @property
    def exceeded(self) -> bool:
        """True if recent audits show more errors than the target allows."""
        return self._excess.wealth() >= self._enough

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "ladder": {repr(level): bet.logs for level, bet in self._ladder},
            "target": self._target.logs,
            "excess": self._excess.logs,
            "passed": self._passed,
            "certified": self.certified,
            "audits": self.audits,
            "wrong": self.wrong,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave."""
        self.audits, self.wrong = int(state["audits"]), int(state["wrong"])
        for level, bet in self._ladder:
            bet.logs = [float(log) for log in state["ladder"][repr(level)]]
        self._target.logs = [float(log) for log in state["target"]]
        self._excess.logs = [float(log) for log in state["excess"]]
        self._passed, self.certified = int(state["passed"]), bool(state["certified"])
