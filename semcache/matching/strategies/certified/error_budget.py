"""The error budget: how uncertain an answer may be so that the average of those served keeps the target.

A sure answer leaves budget for a less sure one: the limit on 1 - P(correct) is set so that its average over recent
requests, not each single one, meets the target (the Neyman-Pearson form of the serving rule). The budget that sure
answers leave is spent only after they were served: if the expected ones do not come, no more is served than the target
pays for.

Four spans of traffic are told apart. The window of the last risks sets the limit. The sums of this process hold the
errors that were allowed and spent; what was overspent goes on in the next one. The counts of all processes, cut at each
restart, tell how much was allowed ever. `RequestsPerHit` forgets hit by hit. Knows risks, nothing of features.
Invariant: the risks of served answers add up to no more than the target has allowed so far, plus a small grant for the
very first answers.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

import numpy as np

from semcache.matching.strategies.certified.requests_per_hit import RequestsPerHit

Contract = Literal["hit", "request"]

WINDOW = 1000  # risks
_REMEMBERED = 10_000.0  # requests of all processes, of which a restart keeps the counts
HIGHEST = 0.35  # of all limits
_DEVIATE = 1.645  # standard deviations of the counted errors that are kept as a margin
_ENOUGH = 60  # requests with a candidate: fewer say little about the average
_EVERY = 16  # requests and labels between two settings of the limit
_STRIDE = 73  # prime, so that every place is visited


class RequestCounts(NamedTuple):
    """The requests that were seen, and those of them that were served."""

    seen: float
    served: float

    def of(self, contract: Contract) -> float:
        """The ones that a target with this contract counts."""
        return self.served if contract == "hit" else self.seen

    def at_most(self, seen: float) -> RequestCounts:
        """These counts, or as many as that in the same proportion."""
        share = min(1.0, seen / max(1.0, self.seen))
        return RequestCounts(share * self.seen, share * self.served)


class ErrorBudget:
    """The limit of one category. `risks` stand for requests that were not seen yet, and leave as others come.

    `grant` is the number of errors that may be expected of the first answers together, before the target has allowed
    for any, and `first` that of one of them. Later answers earn these back, because they are held to less than the
    target. The target may be stretched, up to `loosest`.
    """

    def __init__(
        self,
        target: float,
        contract: Contract,
        *,
        risks: Iterable[float] = (),
        grant: float = 0.05,
        first: float = 1.0,
        loosest: float | None = None,
    ) -> None:
        self._target, self._contract = target, contract
        self._now, self._loosest = target, loosest
        self._grant, self._first = grant, first
        given = tuple(risks)
        # They come sorted: a stride lets small and large ones leave alike.
        mixed = [given[place * _STRIDE % len(given)] for place in range(len(given))]
        self._window: deque[float] = deque(mixed, maxlen=WINDOW)
        self._given = len(self._window)  # risks in it that are no request's
        self._changes = 0  # requests and labels since the limit was set
        self._refused = 0  # requests since the last that the pooled limit would have served
        self._limits: tuple[float, float, float] | None = None
        # By this process:
        self.allowed = 0.0  # errors, by the target of each moment
        self.spent = 0.0  # errors expected of what was served, or known, and those that earlier processes overspent
        self.seen = self.served = 0  # requests
        self._earlier = RequestCounts(0.0, 0.0)  # by earlier ones, as far as they are remembered
        self.requests_per_hit = RequestsPerHit()

    def note(self, risk: float | None, *, served: bool) -> None:
        """Note a request whose best candidate has this risk; None if there was nothing to compare with.

        Such a request, the first of its tenant, shows how rare hits are, but not how sure they will be.
        """
        self.seen += 1
        self.served += served
        self.requests_per_hit.note(served=served)
        if served or self._contract == "request":
            self.allowed += self._now
        if served and risk is not None:
            self.spent += risk
        if risk is not None or self._contract == "request":
            if self._given:
                self._given -= 1
                self._window.popleft()
            self._window.append(1.0 if risk is None else risk)
        self._refused = self._refused + 1 if risk is None or risk > self._settled()[0] else 0
        self.changed()

    def settle(self, risk: float, *, wrong: float, weight: float = 1.0) -> None:
        """Note the result of an answer of this risk: it stands for so many errors (0 to 1), of `weight` answers.

        Labels from before anything was served are about hits of another time.
        """
        if self.served:
            self.spent = max(0.0, self.spent + weight * (wrong - risk))

    def revise(self, errors: float) -> None:
        """Add the change in the errors that are expected of served answers, compared with when they were served."""
        self.spent = max(0.0, self.spent + errors)

    def per_hit(self, target: float | None = None) -> float:
        """The error per hit that the target allows, which is more than the target if it counts all requests.

        `target` replaces the present target.
        """
        now = self._now if target is None else target
        if self._contract == "hit":
            return now
        return min(0.9, now * self.requests_per_hit.now())

    def counted_ever(self) -> RequestCounts:
        """The requests of this process and of earlier ones, as far as they are remembered."""
        return RequestCounts(self._earlier.seen + self.seen, self._earlier.served + self.served)

    def allowed_ever(self) -> float:
        """The errors that the target has allowed in all of them."""
        return self.allowed + self._target * self._earlier.of(self._contract)

    def changed(self) -> None:
        """Note that a request was counted or a label learned; after some of these the limit is set anew."""
        self._changes += 1
        if self._changes >= _EVERY:
            self._limits = None

    def stretch(self, target: float) -> None:
        """Keep this target from now on."""
        if target != self._now:
            self._now, self._limits = target, None

    def limit(self) -> float:
        """The highest risk that may be served."""
        pooled, _, margin = self._settled()
        earned = margin * self.allowed - self.spent
        return min(pooled, max(margin * self._now, earned, min(self._first, earned + self._grant)))

    def loosest(self) -> float:
        """The highest risk that might be served if the target were fully stretched, 0 if it never is."""
        return self._settled()[1]

    def allowance(self, target: float) -> float:
        """The target less a margin, so that chance alone rarely takes the errors counted so far beyond it."""
        counted = RequestCounts(self.seen, self.served).of(self._contract)
        errors = target * max(float(counted), 20.0 / target)
        root = (math.sqrt(_DEVIATE**2 + 4.0 * errors) - _DEVIATE) / 2.0
        return target * root * root / errors

    @property
    def of_this_traffic(self) -> bool:
        """True if the window holds risks of requests alone."""
        return self._given == 0

    def hopeless(self) -> bool:
        """Return True if none of the last requests, as many as a window holds, could be served within the target."""
        return self._refused >= WINDOW

    def overspent(self) -> float:
        """The errors expected of served answers beyond what the target has allowed: the used part of the grant."""
        return max(0.0, self.spent - self._settled()[2] * self.allowed)

    def owe(
        self, overspent: float, counted: Sequence[float] = (0.0, 0.0), per_hit: Sequence[float] | None = None
    ) -> None:
        """Start with the overspending of an earlier process: the grant is for the very first answers only.

        `counted` is what `counted_ever` gave then, and `per_hit` the state of `requests_per_hit`.
        """
        self.allowed, self.spent = 0.0, overspent
        self._earlier = RequestCounts(*map(float, counted)).at_most(_REMEMBERED)
        self.requests_per_hit.restore(counted if per_hit is None else per_hit)

    def _settled(self) -> tuple[float, float, float]:
        """The limits for the present target and the loosest one, as far as risks alone decide; the present margin."""
        if self._limits is None:
            self._changes = 0
            risks = np.sort(np.array([risk for risk in self._window if risk <= HIGHEST]))
            loosest = 0.0 if self._loosest is None else self._pooled(risks, self._loosest)
            self._limits = self._pooled(risks, self._now), loosest, self.allowance(self._now) / self._now
        return self._limits

    def _pooled(self, risks: np.ndarray[tuple[int], np.dtype[np.float64]], target: float) -> float:
        allowed = self.allowance(target)
        if len(self._window) < _ENOUGH or not len(risks):
            return min(HIGHEST, allowed)
        expected = np.cumsum(risks)
        expected /= np.arange(1, len(risks) + 1) if self._contract == "hit" else len(self._window)
        # Equal risks are served or refused together.
        expected = expected[np.searchsorted(risks, risks, side="right") - 1]
        fitting = int(np.searchsorted(expected, allowed, side="right"))
        pooled = float(risks[fitting - 1]) if fitting else 0.0
        return max(pooled, min(HIGHEST, allowed))
