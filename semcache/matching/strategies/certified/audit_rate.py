"""The audit rate: the share of hits that is audited, low while audits are right, high after an error.

Knows the results of audits and the error that the target has allowed so far, nothing of beliefs. Invariant: the
probability of an audit depends on what came before the hit, never on the hit itself, so that audits remain a fair
sample for a certificate; if the pack wants no audits, there are none.
"""

from __future__ import annotations

from semcache.matching.strategies.certified.certificate import spaced

_QUIET = 0.1  # share of the pack's rate that always remains
_CAUGHT = 2.0  # audits expected of as many hits as may be wrong before the target is missed
_DENSE = 5.0  # times the pack's rate
_ALLAYED = 2  # audits without an error after one, with which it was not the first of many


class AuditRate:
    """The share of the hits of one category that is audited."""

    def __init__(self) -> None:
        self._waited = 0  # hits since the last audit
        self._right = _ALLAYED  # audits since the last error

    def note(self, *, audited: bool) -> None:
        """Count a hit; audits are spread evenly over what is served."""
        self._waited = 0 if audited else self._waited + 1

    def take(self, *, wrong: bool) -> None:
        """Take the result of an audit."""
        self._right = 0 if wrong else self._right + 1

    def rate(self, wanted: float, allowed: float, *, doubted: bool) -> float:
        """The share, in [0, 1], of which `wanted` is the pack's.

        Of as many hits as may be wrong before the target is missed, `allowed`, some are always audited. After an error,
        and while the category is `doubted`, five times the pack's share is: where all that was right turns wrong, the
        second error is then found within a few hits, and not after as many as the first.
        """
        if wanted <= 0.0:
            return 0.0
        if doubted or self._right < _ALLAYED:
            return min(1.0, _DENSE * wanted)
        return min(wanted, max(wanted * _QUIET, _CAUGHT / max(1.0, allowed)))

    def chance(self, rate: float) -> float:
        """The probability of an audit of the next hit at this rate."""
        return spaced(rate, self._waited)

    def state(self) -> int:
        """As JSON has it."""
        return min(_ALLAYED, self._right)

    def restore(self, state: int) -> None:
        """Take up what `state` gave."""
        self._right = state
