"""The claim that served answers keep an allowed error: certified by audits, ended by them, and made again by labels.

One claim is about one set of answers: those of a category, of a kind of edit, of a class of tenants. Errors are true
ones; the certificate and the evidence for reopening allow for the noise of the judge. Knows right and wrong, nothing of
prompts or scores. Invariant: only audits of served answers enter the certificate or end the claim, and only labels of
answers that would be served reopen what is closed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from semcache.matching.label_noise import FAITHFUL, LabelNoise
from semcache.matching.strategies.certified.certificate import LENIENT, Bet, Certificate

_CONVINCED = 5.0  # wealth


class Reopening:
    """Evidence, label by label, that refused answers would be right, by which more is served again.

    The bet is against twice the share of wrong answers that is seen at the allowed error. A wrong answer costs wealth,
    but does not erase the evidence so far.
    """

    def __init__(self, noise: LabelNoise = FAITHFUL) -> None:
        self._noise = noise
        self._bet = Bet()

    def passed(self, allowed: float, *, correct: bool) -> bool:
        """Take the label of an answer that would be served with an error of `allowed`; True if that is enough."""
        level = min(self._noise.visible(LENIENT), 2.0 * self._noise.visible(allowed))
        self._bet.take(level, wrong=not correct)
        return self._bet.wealth() >= _CONVINCED

    def state(self) -> list[float]:
        """As JSON has it."""
        return self._bet.state()

    def restore(self, state: Sequence[float]) -> None:
        """Take up what `state` gave."""
        self._bet.restore(state)


class AuditedClaim:
    """The certificate of one set of answers; while they are `closed`, the evidence that they may be served again.

    `beta` is the accepted probability of a false claim, and `noise` that of the judge.
    """

    def __init__(self, beta: float, noise: LabelNoise = FAITHFUL) -> None:
        self._beta, self._noise = beta, noise
        self.closed = False
        self.begin_anew()

    def begin_anew(self) -> None:
        """Forget what audits and labels have shown, because other answers are served from now on."""
        self.reopening = Reopening(self._noise)
        self.forget_audits()

    def forget_audits(self) -> None:
        """Begin the certificate anew; what is closed keeps the evidence for its reopening."""
        self.certificate = Certificate(self._beta, self._noise)

    def close(self) -> None:
        """Serve nothing until labels of answers that would be served show otherwise."""
        self.closed = True
        self.begin_anew()

    def audit(self, target: float, *, wrong: bool, stated: float | None = None) -> bool:
        """Look at an audited answer; True if it closed by this one, because audits show more errors than allowed.

        `target` is the error per hit that is allowed at this moment, and `stated` the one that is to be certified.
        """
        self.certificate.take(target, wrong=wrong, stated=stated)
        exceeded = self.certificate.exceeded
        if exceeded:
            self.close()
        return exceeded

    def watch(self, target: float, *, correct: bool) -> bool:
        """Look at a label of what would be served, by which what is closed opens; True if it opened by this one."""
        opens = self.closed and self.reopening.passed(target, correct=correct)
        self.closed = self.closed and not opens
        return opens

    def state(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "certificate": self.certificate.state(),
            "closed": self.closed,
            "probation": self.reopening.state(),  # an older name, which saved states have
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave."""
        self.certificate.restore(state["certificate"])
        self.closed = bool(state["closed"])
        self.reopening.restore(state["probation"])
