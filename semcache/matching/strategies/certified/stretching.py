"""The stretching of a target: how far it may be relaxed, by the pack and by what labels have shown.

The error of all that would be served at the loosest target is bet against. Refused answers are labelled most often, so
it looks rather worse than it would be. Knows right and wrong, nothing of features. Invariant: the target is stretched
on evidence alone, and never beyond the pack's `relax_to`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from semcache.matching.break_even import stretched
from semcache.matching.strategies.certified.certificate import Bet


class Stretching:
    """The target of one category. `beta` is the accepted probability of a false claim."""

    def __init__(self, target: float, relax_to: float | None, beta: float) -> None:
        self.loosest = relax_to if relax_to is not None and relax_to > target else None
        self._target, self._enough = target, 1.0 / beta
        self._bet = Bet()
        self._shown = False  # that the loosest target would be kept
        self._share = 0.0  # of the way there that is wanted

    def wanted(self, share: float) -> None:
        """Stretch by this share of the accepted and certified range."""
        self._share = share

    def target(self) -> float:
        """The target that is kept now."""
        held = self.loosest if self._shown else None
        return stretched(self._target, self.loosest, held, self._share)

    def look(self, loosest: float, *, wrong: bool) -> bool:
        """Look at a label of what would be served at the loosest target; return True if it showed enough.

        `loosest` is that error as the judge of answers sees it.
        """
        self._bet.take(loosest, wrong=wrong)
        if self._shown or self._bet.wealth() < self._enough:
            return False
        self._shown = True
        return True

    def begin_anew(self) -> None:
        """Forget what was shown: other answers are served from now on."""
        self._bet, self._shown = Bet(), False

    def state(self) -> list[Any]:
        """As JSON has it."""
        return [self._bet.state(), self._shown, self.loosest]

    def restore(self, state: Sequence[Any]) -> None:
        """Take up what `state` gave; evidence that the target may be stretched so far says nothing of farther."""
        bet, shown, *loosest = state
        if loosest in ([], [self.loosest]):
            self._bet.restore(bet)
            self._shown = bool(shown)
