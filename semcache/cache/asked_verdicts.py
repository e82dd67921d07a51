"""The verdicts that are asked of a language model, with their cost.

Knows the model, its prices and the spending cap; nothing of decisions. Invariant: no verdict costs more than the cap
leaves, and every one that was asked for is billed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from semcache.config.pack_schema import VerdictMode
from semcache.errors import UpstreamTimeout
from semcache.matching.judged_tier import JudgedTier
from semcache.matching.spending_cap import Reservation, SpendingCap, amount
from semcache.matching.verification import NoVerdict, Verifiers
from semcache.models.language_model import INSTRUCTIONS
from semcache.request import framed
from semcache.runtime.bill import Bill, BilledFor, billed
from semcache.runtime.telemetry import Meter
from semcache.storage.prices import Prices
from semcache.types import Lookup, Recorded, Request, Serve, Usage

_TOKEN = 4  # characters, roughly
_SHARE = 0.02  # of upstream spend, for verdicts that come after a forward alone
_REPLY = 2  # tokens of a verdict
_ANSWER = 2_000  # characters, as much as is expected of the cached answer and of what is said about it
_NO_LIMIT = float("inf")
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Asking:
    """The model that is asked for verdicts, and the terms: `mode` applies to categories that name none.

    `share` is the part of upstream spend that asking may cost. None is 2% where a verdict only ever comes after a
    forward, and so saves no call at once; `matching.break_even` weighs those of the other modes with all costs. `paid`
    records the cost of a verdict after a forward, and `later` runs work that nobody waits for.
    """

    tier: JudgedTier
    verifiers: Verifiers
    prices: Prices
    meter: Meter
    paid: Callable[[Bill, BilledFor], None]
    later: Callable[[Coroutine[Any, Any, None]], object]
    mode: VerdictMode = "off"
    model: str | None = None
    share: float | None = None
    opted_out: tuple[str, ...] = ()

    def opted_out_of(self, tenant: str) -> bool:
        """Return True if no text of this tenant may be shown to a model."""
        return any(fnmatchcase(tenant, one) for one in self.opted_out)


class AskedVerdict(NamedTuple):
    """A verdict: P(yes), its cost in US dollars, and True if it was asked for now and not remembered."""

    p_yes: float
    cost: float
    new: bool


@dataclass(slots=True)
class _CalledOff:
    """Calls that a verdict made needless, and the seconds that they had run."""

    calls: int = 0
    seconds: float = 0.0


class AskedVerdicts:
    """Asks for verdicts and counts what they cost. One instance a cache."""

    def __init__(self, asking: Asking) -> None:
        self.asking = asking
        self.cap = SpendingCap()
        self._called_off = _CalledOff()
        self._uncapped = 0

    async def ask(self, lookup: Lookup, served: Serve, *, later: bool, in_time: bool) -> AskedVerdict | None:
        """Call a language model for a verdict on a request and the entry that would be served.

        None if there is none. Raises nothing.

        `later` says that the request does not wait for this one, `in_time` that its mode is one in which requests wait
        or may be called off, whose verdicts are bounded by a stated share alone.
        """
        asking, request = self.asking, lookup.request
        share = self._share(in_time=in_time)
        expected = self._expected(request, served)
        cost = asking.prices.cost(asking.model or request.model, expected)
        # Set aside first: others ask while this one waits.
        reserved = self.cap.reserve(amount(cost, expected), share, _payer(request))
        if reserved is None:
            return None
        answered: tuple[float, bool] | None = None
        spent: float | None = None
        bill: Bill = []
        try:
            with billed() as bill:
                answered = await self._answered(lookup, served)
        finally:
            if bill:
                cost = self._cost(bill)
                spent = amount(cost, _total(bill))
                if later or answered is None:
                    asking.paid(bill, BilledFor(request.scope.tenant, lookup.category))
            elif answered is not None and answered[1]:
                spent = reserved.amount
            self.cap.settle(reserved, spent)
            self._uncapped += spent is not None and not reserved.capped
        if answered is None:
            return None
        p_yes, new = answered
        return AskedVerdict(p_yes, cost if new else 0.0, new)

    async def _answered(self, lookup: Lookup, served: Serve) -> tuple[float, bool] | None:
        """Call the model: P(yes), and True if it is not remembered; None if it gave none. The result is metered."""
        started, result = time.perf_counter(), "failed"
        try:
            p_yes, new = await self.asking.verifiers.p_same("llm", lookup, served)
            result = "yes" if p_yes >= 0.5 else "no"
            return p_yes, new
        except NoVerdict as silence:
            result = silence.result
        except (TimeoutError, UpstreamTimeout):
            result = "late"
        except Exception as error:
            _log.warning("a language model gave no word: %r", error)
        finally:
            self.asking.meter.verified(lookup.category, result, time.perf_counter() - started)
        return None

    def reserve_for_audit(self, model: str, expected: Usage) -> Reservation | None:
        """Set aside what comparing the answers of an audit is expected to cost; None if the cap has no room for it.

        `settle_audit` has to follow.
        """
        cost = self.asking.prices.cost(model, expected)
        return self.cap.reserve_for_audit(amount(cost, expected), self._share(in_time=False))

    def settle_audit(self, reserved: Reservation, bill: Bill, billed_for: BilledFor) -> None:
        """Note what it did cost: nothing, if the bill is empty."""
        if bill:
            self.asking.paid(bill, billed_for)
        self.cap.settle(reserved, amount(self._cost(bill), _total(bill)) if bill else None)

    def forwarded(self, request: Request, row: Recorded) -> None:
        """Note what a request cost upstream, a share of which may be spent on verdicts."""
        self.cap.paid(amount(row.spent_cost, row.spent), _payer(request))

    def called_off(self, request: Request, seconds: float) -> float:
        """Note a call that a verdict made needless after so many seconds; return its cost in US dollars."""
        used = Usage(len(request.raw) // _TOKEN, 0)
        cost = self.asking.prices.cost(request.model, used)
        self.cap.called_off(amount(cost, used), capped=self.asking.share is not None)
        self._called_off.calls += 1
        self._called_off.seconds += seconds
        return cost

    def standing(self) -> dict[str, Any]:
        """The verdicts that were asked for, their cost and the terms, for operators.

        `uncapped` counts those that `budget` does not bound: of the modes `first` and `hedged`, where the settings name
        none. `capped` is what the others have cost.
        """
        asking, spent = self.asking, self.cap.standing()
        return {
            "mode": asking.mode if asking.verifiers.knows("llm") else "off",
            "model": asking.model,
            "budget": self._share(in_time=False),
            "asked": spent.asked,
            "uncapped": self._uncapped,
            "audits": spent.audits,
            "over_budget": spent.over_budget,
            "upstream": spent.upstream,
            "asking": spent.asking,
            "capped": spent.capped,
            "called_off": self._called_off.calls,
            "called_off_seconds": self._called_off.seconds,
        }

    def _cost(self, bill: Bill) -> float:
        """The cost of a bill in US dollars."""
        return sum([self.asking.prices.cost(model, one) for model, one in bill])

    def _share(self, *, in_time: bool) -> float:
        """The part of upstream spend that a verdict may cost."""
        if self.asking.share is not None:
            return self.asking.share
        return _NO_LIMIT if in_time else _SHARE

    def _expected(self, request: Request, served: Serve) -> Usage:
        """The tokens that a verdict is expected to take."""
        shown = framed.shown(request.frame, request.text + served.card.text), framed.shown(request.frame, "")
        return expected_usage(INSTRUCTIONS, *shown, more=_ANSWER)


def expected_usage(*texts: str, more: int = 0) -> Usage:
    """Return the tokens that a word about these texts, and so many characters more, is expected to take."""
    return Usage((sum(map(len, texts)) + more) // _TOKEN, _REPLY)


def _total(bill: Bill) -> Usage:
    """Return the tokens of a bill."""
    return Usage(sum([one.prompt_tokens for _, one in bill]), sum([one.completion_tokens for _, one in bill]))


def _payer(request: Request) -> tuple[str, str | None]:
    """Return whose requests pay for verdicts on a request: its tenant's key or user."""
    return request.scope.tenant, request.asker
