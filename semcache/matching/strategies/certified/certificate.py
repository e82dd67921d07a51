"""Anytime-valid tests of the error of served answers: certified to be within a level, or shown to exceed it.

The error per hit is bet against, one audited answer after the other: the wealth of a fair bettor is a supermartingale
where the null hypothesis holds, so that it ever exceeds 1/beta with probability beta at most (Ville's inequality;
Waudby-Smith and Ramdas 2023, "Estimating means of bounded random variables by betting", sections 2 and 4). The bets
are a mixture of fixed shares of what may be staked, which needs no tuning. Levels are tested in a fixed order, loose to
strict, which needs no correction for their number (Angelopoulos et al. 2021, "Learn then test", section 2).
An audit without a verdict is a wrong answer to the bets for a certificate, and no evidence to those against one: which
audits are decided may depend on the answer, and whatever the undecided ones are, no more is certified than all of them
would show. Errors are true ones, and each bet is at the level that a judge with noise sees of them. Knows right and
wrong, nothing of scores. Invariant: a test looks at each audited answer once, and its stakes and level are set before
it can know it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.types.evidence import CertificateEvidence, Interval, LadderRung, wilson

LADDER = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)
LENIENT = 0.2  # error per hit: no bet is at a more lenient level
_AGAINST_MORE = (0.2, 0.4, 0.7, 0.97)  # shares of the stake at which one error would ruin the bettor
_WEIGHTS = (0.1, 0.15, 0.25, 0.5)  # of these: most audits find no error
_AGAINST_LESS = (0.02, 0.05, 0.1, 0.25)  # shares of the stake at which one right answer would
_MOSTLY = 0.8  # share of the money for a certificate that is staked at the first audit
_FIRST = 0.5  # the same of the money against one
_ALL = 2.1097  # the sum over n >= 2 of 1 / (n ln(n)^2)
_RICHEST = 1e12
_PATIENT = 1 << 20  # audits: more are never waited for
_BLOCK = 256  # audits that are looked ahead at once, and then twice as many
_HUGE = 600.0  # logarithm of what a number still holds
_SPARE = 0.95  # of a target that has changed: a bet at that level outlasts smaller changes
_ROOMY = 1.15  # times the level of a bet, from which a target raises it


class Bet:
    """The wealth of bettors against "the error is at least the level", one of whom begins at each audit.

    Most of the money is staked at the first audit, the rest little by little. So a bad time that is over, such as one
    in which the judge was out of order, costs no more than the logarithm of what later bettors have less. The sum is a
    supermartingale where the error is at least the level, whenever they begin, as with `ExcessTest`.
    """

    def __init__(self) -> None:
        self._wealth = [_MOSTLY * weight for weight in _WEIGHTS]
        self._seen = 0

    def take(self, level: float, *, wrong: bool) -> None:
        """Look at one audited answer; `level` lies between 0 and 1 and may depend on all that came before."""
        gain = (level - float(wrong)) / (1.0 - level)
        entering = _unstaked(self._seen) - _unstaked(self._seen + 1)
        self._seen += 1
        self._wealth = [
            min(_RICHEST, (wealth + weight * entering) * (1.0 + share * gain))
            for wealth, weight, share in zip(self._wealth, _WEIGHTS, _AGAINST_MORE, strict=True)
        ]

    def wealth(self) -> float:
        """The wealth of all bettors and what is not staked yet, 1 at the start."""
        return _unstaked(self._seen) + sum(self._wealth)

    def needed(self, level: float, enough: float) -> int:
        """How many right answers in a row would make the wealth `enough`."""
        if self.wealth() >= enough:
            return 0
        return _needed(tuple(self._wealth), self._seen, level, enough)

    def state(self) -> list[float]:
        """As JSON has it."""
        return [*self._wealth, self._seen]

    def restore(self, state: Sequence[float]) -> None:
        """Take up what `state` gave; an older one has the logarithms of what the first bettor has of each share."""
        if len(state) == len(_WEIGHTS):
            won = [math.exp(min(float(log), 25.0)) for log in state]
            self._wealth = [_MOSTLY * weight * one for weight, one in zip(_WEIGHTS, won, strict=True)]
            self._seen = 0
        else:
            *wealth, seen = state
            self._wealth, self._seen = [float(one) for one in wealth], int(seen)


def _unstaked(seen: int) -> float:
    """The share of the money that is staked after so many audits."""
    return (1.0 - _MOSTLY) * math.log(2.0) / math.log(seen + 2.0)


@lru_cache(maxsize=256)
def _needed(owned: tuple[float, ...], seen: int, level: float, enough: float) -> int:
    """How many right answers in a row bring bettors from what is `owned` to `enough`.

    Remembered, because every record of a decision asks for it, and only an audit changes it.
    """
    rates = np.log1p(np.array(_AGAINST_MORE) * level / (1.0 - level))[:, None]
    wealth, weights = np.array(owned)[:, None], np.array(_WEIGHTS)[:, None]
    count, block = 0, _BLOCK
    while count < _PATIENT:
        turns = np.arange(block)
        unstaked = (1.0 - _MOSTLY) * math.log(2.0) / np.log(seen + count + np.arange(block + 1) + 2.0)
        growth = np.exp(np.minimum(rates * (turns + 1), _HUGE))
        later = np.cumsum(-np.diff(unstaked) * np.exp(-rates * turns), axis=1)
        richer = growth * (wealth + weights * later)
        found = np.flatnonzero(unstaked[1:] + richer.sum(axis=0) >= enough)
        if len(found):
            return count + int(found[0]) + 1
        wealth, count, block = richer[:, -1:], count + block, min(2 * block, _PATIENT)
    return _PATIENT


class ExcessTest:
    """The wealth of bettors against "the error is at most the level", one of whom begins at each audit.

    Their shares of the money add up to 1, so that the sum is a supermartingale where the level is kept: it exceeds
    1/beta with probability beta at most, however many audits are looked at (a weighted e-detector: Shin, Ramdas and
    Rinaldo 2024, "E-detectors", section 2). Half of the money is staked at the first audit, the rest so that a bettor
    who begins at audit n has about 1 / (n ln(n)^2) of it, and a change is found whenever it comes.
    """

    def __init__(self) -> None:
        self._wealth = [0.0] * len(_AGAINST_LESS)
        self._kept = 1.0
        self._seen = 0

    def take(self, level: float, *, wrong: bool) -> None:
        """Look at one audited answer; `level` lies between 0 and 1 and may depend on all that came before."""
        late = self._seen + 2
        entering = min(self._kept, _FIRST * (self._seen == 0) + (1.0 - _FIRST) / (_ALL * late * math.log(late) ** 2))
        self._kept -= entering
        self._seen += 1
        gain = float(wrong) / level - 1.0
        each = entering / len(_AGAINST_LESS)
        self._wealth = [
            min(_RICHEST, (wealth + each) * (1.0 + share * gain))
            for wealth, share in zip(self._wealth, _AGAINST_LESS, strict=True)
        ]

    def wealth(self) -> float:
        """The wealth of all bettors and what is not staked yet, 1 at the start."""
        return self._kept + sum(self._wealth)

    def state(self) -> list[float]:
        """As JSON has it."""
        return [self._kept, float(self._seen), *self._wealth]

    def restore(self, state: Sequence[float]) -> None:
        """Take up what `state` gave."""
        self._kept, seen, *self._wealth = [float(one) for one in state]
        self._seen = int(seen)


class TargetClaim:
    """The evidence that the error is below a target, which changes where it counts all requests and hits are rare.

    The claim is made of one level. A target below it ends the claim, and the evidence begins anew at a level below that
    target; above it, evidence stays, for what is shown of a strict level holds for lenient ones.
    """

    def __init__(self, enough: float, noise: LabelNoise) -> None:
        self._enough, self._noise = enough, noise
        self._bet = Bet()
        self._level: float | None = None  # before the first audit
        self.shown = False

    def take(self, target: float, *, wrong: bool) -> None:
        """Look at one audited answer; `target` may depend on all that came before."""
        level = self._next(target)
        if self._level is not None and level < self._level:
            self._bet, self.shown = Bet(), False
        self._level = level
        self._bet.take(self._noise.visible(level), wrong=wrong)
        self.shown = self.shown or self._bet.wealth() >= self._enough

    def _next(self, target: float) -> float:
        """The level of the next bet."""
        # A level that few hits make lenient would be certified too easily.
        target = min(target, LENIENT)
        if self._level is None:
            return target
        changed = target < self._level or (target > _ROOMY * self._level and not self.shown)
        return _SPARE * target if changed else self._level

    def holds(self, target: float) -> bool:
        """Return True if the error was shown to be below this target."""
        return self.shown and (self._level is None or self._level <= target)

    def log_wealth(self) -> float:
        """The logarithm of the evidence so far."""
        return math.log(max(1e-300, self._bet.wealth()))

    def needed(self, target: float) -> int:
        """How many right answers in a row would show that the error is below this target."""
        if self.holds(target):
            return 0
        level = self._next(target)
        bet = Bet() if self._level is not None and level < self._level else self._bet
        return bet.needed(self._noise.visible(level), self._enough)

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {"target": self._bet.state(), "level": self._level, "certified": self.shown}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave; an older one tells no level, and is taken to be about the next target."""
        self._bet.restore(state["target"])
        self.shown = bool(state["certified"])
        level = state.get("level")
        self._level = None if level is None else float(level)


class Certificate:
    """The evidence of audits in one category.

    `beta` is the accepted probability of a false claim, and `noise` that of the judge.
    """

    def __init__(self, beta: float, noise: LabelNoise = FAITHFUL) -> None:
        self._enough, self._noise = 1.0 / beta, noise
        self._ladder = [(level, Bet()) for level in LADDER]
        self._target, self._excess = TargetClaim(self._enough, noise), ExcessTest()
        self._passed = 0
        self.audits = self.wrong = self.undecided = 0

    def take(self, target: float, *, wrong: bool, stated: float | None = None) -> None:
        """Look at one audited answer; `target` is the error per hit that is allowed at this moment.

        `stated` is the one that is to be certified, where more than that is allowed for a while.
        """
        self.audits += 1
        self.wrong += wrong
        self._excess.take(self._noise.visible(target), wrong=wrong)
        self._certify(target if stated is None else stated, wrong=wrong)

    def take_undecided(self, stated: float) -> None:
        """Look at an audited answer of which no verdict came; `stated` is the error that is to be certified."""
        self.undecided += 1
        self._certify(stated, wrong=True)

    def _certify(self, stated: float, *, wrong: bool) -> None:
        for level, bet in self._ladder:
            bet.take(self._noise.visible(level), wrong=wrong)
        self._target.take(stated, wrong=wrong)
        while self._passed < len(LADDER) and self._ladder[self._passed][1].wealth() >= self._enough:
            self._passed += 1

    @property
    def certified(self) -> bool:
        """True if the error was shown to be below what the target allowed at the last audit."""
        return self._target.shown

    def holds(self, target: float) -> bool:
        """Return True if the error was shown to be below this target."""
        return self._target.holds(target)

    @property
    def level(self) -> float | None:
        """The lowest error of the ladder that is certified: the true one is below it with probability 1 - beta."""
        return LADDER[self._passed - 1] if self._passed else None

    @property
    def error(self) -> Interval | None:
        """The share of audited answers that were wrong; None before the first audit."""
        return wilson(self.wrong, self.audits) if self.audits else None

    @property
    def exceeded(self) -> bool:
        """True if audits show more errors than the target allows, which is false with probability beta at most."""
        return self._excess.wealth() >= self._enough

    def forget_target(self) -> None:
        """Forget what was shown of the target, and keep what was shown of fixed levels."""
        self._target = TargetClaim(self._enough, self._noise)

    def evidence(self, target: float) -> CertificateEvidence:
        """The wealth so far, and the audits that are still needed if `target` is allowed from now on."""
        return CertificateEvidence(
            log_enough=math.log(self._enough),
            log_target=self._target.log_wealth(),
            log_excess=math.log(max(1e-300, self._excess.wealth())),
            needed=self._target.needed(target),
            ladder=tuple(
                LadderRung(level, math.log(max(1e-300, bet.wealth())), number < self._passed)
                for number, (level, bet) in enumerate(self._ladder)
            ),
        )

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "ladder": {self._rung(level): bet.state() for level, bet in self._ladder},
            **self._target.state(),
            "excess": self._excess.state(),
            "passed": self._passed,
            "audits": self.audits,
            "wrong": self.wrong,
            "undecided": self.undecided,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave; one that did not count undecided audits certifies nothing, and may still close.

        A ladder that was climbed without regard to this noise of the judge begins anew.
        """
        self.audits, self.wrong = int(state["audits"]), int(state["wrong"])
        self._excess.restore(state["excess"])
        if "undecided" not in state:
            return
        self.undecided = int(state["undecided"])
        self._target.restore(state)
        ladder = state["ladder"]
        if all(self._rung(level) in ladder for level in LADDER):
            for level, bet in self._ladder:
                bet.restore(ladder[self._rung(level)])
            self._passed = int(state["passed"])

    def _rung(self, level: float) -> str:
        """The share of wrong answers that is seen at a level, by which saved states name it."""
        return repr(self._noise.visible(level))


def spaced(rate: float, waited: int) -> float:
    """The probability of an audit of the next hit, where `waited` hits went by without one; 0 for a rate of 0.

    Audits are spread evenly: none waits for twice as long as it does on average.
    """
    return 0.0 if rate <= 0.0 else 1.0 / max(1.0, 2.0 / rate - 1.0 - waited)
