"""A cap on the cost of asking a language model for verdicts: a share of what requests cost upstream.

Pure: it gets amounts as arguments. Invariant: a verdict whose expected cost would exceed the share is not asked for, so
the first is asked for only after requests have paid for it; a payer that has used up the share of its own requests gets
at most half of the common share. Audits, which are for all, come first: they get what they need, up to half of it.
Verdicts without a cap are counted, and take nothing from those with one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass

from semcache.types import Usage

# US dollars a token, for models whose price nobody has stated: only the ratio of asking to answering matters then.
_NOMINAL_PROMPT, _NOMINAL_COMPLETION = 0.5e-6, 2e-6
_COMMON = 0.5  # of the share of all, for those who have used up their own
_AUDITS = 0.5  # of the share, at most, for audits
_PAYERS = 4096


@dataclass(frozen=True, slots=True)
class Spending:
    """Amounts in US dollars or nominal ones: `upstream` of requests, `asking` of verdicts and of calls called off.

    `capped` is the part of `asking` that a share bounds. `asked` counts verdicts, `audits` those of them on the two
    answers of an audit.
    """

    upstream: float
    asking: float
    capped: float
    asked: int
    audits: int
    over_budget: int


@dataclass(slots=True)
class _Account:
    """The amounts that the requests of one payer, and verdicts on them, have cost."""

    upstream: float = 0.0
    asking: float = 0.0


@dataclass(frozen=True, slots=True)
class Reservation:
    """An amount set aside for a verdict that is being asked for; `own` if its payer's own requests pay for it.

    Of an `audit` nobody is the payer. One that is not `capped` has no bound.
    """

    amount: float
    own: bool
    payer: Hashable
    audit: bool = False
    capped: bool = True


class SpendingCap:
    """The cap of one process."""

    def __init__(self) -> None:
        self._upstream = self._asking = self._capped = self._common = 0.0
        self._asked = self._audits = self._refused = 0
        self._wanted = self._audited = 0.0  # for audits: what they would have cost so far, and what they did
        self._own: OrderedDict[Hashable, _Account] = OrderedDict()  # by payer

    def paid(self, amount: float, payer: Hashable = None) -> None:
        """Note what a request cost upstream."""
        self._upstream += amount
        self._of(payer).upstream += amount

    def reserve(self, amount: float, share: float, payer: Hashable = None) -> Reservation | None:
        """Set aside what a verdict is expected to cost; None if this share has no room for it, which is counted.

        An infinite share is no cap. `settle` has to follow.
        """
        capped = share < float("inf")
        if capped and not self._allows(amount, share, payer):
            return None
        reserved = Reservation(amount, not capped or self._is_own(amount, share, payer), payer, capped=capped)
        self._book(reserved, amount)
        return reserved

    def reserve_for_audit(self, amount: float, share: float) -> Reservation | None:
        """Set aside what comparing the answers of an audit is expected to cost; else as `reserve`."""
        self._wanted += amount
        limit = share * self._upstream
        if not (share > 0.0 and self._capped + amount <= limit and self._audited + amount <= _AUDITS * limit):
            self._refused += 1
            return None
        reserved = Reservation(amount, own=True, payer=None, audit=True)
        self._book(reserved, amount)
        return reserved

    def settle(self, reserved: Reservation, amount: float | None) -> None:
        """Note the cost of a verdict in place of what was set aside, None if nobody was asked."""
        self._asked += amount is not None
        self._audits += reserved.audit and amount is not None
        self._book(reserved, (amount or 0.0) - reserved.amount)

    def _book(self, reserved: Reservation, amount: float) -> None:
        self._asking += amount
        if not reserved.capped:
            return
        self._capped += amount
        if reserved.audit:
            self._audited += amount
            return
        self._common += 0.0 if reserved.own else amount
        account = self._of(reserved.payer)
        account.asking = max(0.0, account.asking + amount)

    def _allows(self, amount: float, share: float, payer: Hashable) -> bool:
        limit = share * self._upstream
        kept_free = max(0.0, min(self._wanted, _AUDITS * limit) - self._audited)
        fits = share > 0.0 and self._capped + amount <= limit - kept_free
        if fits and not self._is_own(amount, share, payer):
            fits = self._common + amount <= _COMMON * limit
        self._refused += not fits
        return fits

    def called_off(self, amount: float, *, capped: bool) -> None:
        """Note the cost of a call that a verdict made needless, and if a share bounds it."""
        self._asking += amount
        self._capped += amount if capped else 0.0

    def _is_own(self, amount: float, share: float, payer: Hashable) -> bool:
        """Return True if the payer's own requests pay for it."""
        account = self._of(payer)
        return account.asking + amount <= share * account.upstream or len(self._own) == 1

    def _of(self, payer: Hashable) -> _Account:
        found = self._own.setdefault(payer, _Account())
        self._own.move_to_end(payer)
        if len(self._own) > _PAYERS:
            self._own.popitem(last=False)
        return found

    def standing(self) -> Spending:
        """The amounts so far."""
        return Spending(self._upstream, self._asking, self._capped, self._asked, self._audits, self._refused)


def amount(cost: float, usage: Usage) -> float:
    """The cost in US dollars, or a nominal one if no price is known."""
    return cost or usage.prompt_tokens * _NOMINAL_PROMPT + usage.completion_tokens * _NOMINAL_COMPLETION
