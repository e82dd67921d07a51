"""A judge with a time limit, which rests while it fails.

Knows a judge, whom to ask where it cannot tell, and how busy the process is; nothing of labels. Invariant: no call
raises, and the judge gets no more than `patience`; one that computes in this process yields to requests.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Literal, Protocol, TypeAlias

from semcache.errors import UpstreamTimeout
from semcache.learning.judges.pace import LEAST, Pace
from semcache.protocols import Judge
from semcache.runtime.bill import Bill, BilledFor, billed
from semcache.runtime.breaker import Breaker
from semcache.runtime.telemetry import Meter
from semcache.types import Lookup
from semcache.types.evidence import Comparison

Failure: TypeAlias = Literal["late", "failed"]
NoVerdict: TypeAlias = Literal["late", "failed", "undecided"]
_AT_ONCE = 8
_REST, _LONGEST_REST = 30.0, 900.0  # seconds
_log = logging.getLogger(__name__)


NOBODY = BilledFor("default", "default")


class SecondJudge(Protocol):
    """Whom to ask about an audit that the judge leaves undecided. Raises nothing."""

    def model_for(self, lookup: Lookup) -> str:
        """Return the language model to ask about an audit of this request, "" for none."""

    async def agree(self, comparison: Comparison, model: str, billed_for: BilledFor) -> bool | None:
        """Return that model's verdict on a comparison, None if there is none; the caller is not charged for it."""


class TimedJudge:
    """Asks `judge`, for at most `patience` seconds.

    `lease` is for how many seconds no other worker has to take the comparisons that are asked about. `ended` counts the
    requests that have ended so far. `paid` is called with the models that a comparison asked, and what for. `second` is
    asked what the judge cannot tell.
    """

    def __init__(
        self,
        judge: Judge,
        meter: Meter,
        *,
        ended: Callable[[], int],
        clock: Callable[[], float],
        patience: float = 30.0,
        paid: Callable[[Bill, BilledFor], object] = lambda *_: None,
        second: SecondJudge | None = None,
    ) -> None:
        self.instant = judge.instant
        self.patience = patience
        self._judge = judge
        self._meter = meter
        self._clock = clock
        self._paid = paid
        self._second = second
        # A judge that does not say so asks elsewhere, and only waits.
        self._local: bool = getattr(judge, "local", False)
        # Of those that wait for each other and for requests, no more are held than can be judged before they are free.
        self._most = 1 if self._local else _AT_ONCE
        self.lease = patience * (1.0 + 1.0 / LEAST) if self._local else 2.0 * patience
        self._pace = Pace(ended)
        self._failures = 0  # since the last verdict
        self._breaker = Breaker(shortest=_REST, longest=_LONGEST_REST)

    @property
    def at_once(self) -> int:
        """How many comparisons may be asked about at the same time: one to see if a judge that failed is back."""
        return 1 if self._failures else self._most

    @property
    def rests(self) -> bool:
        """True while nothing is to be asked, because the judge failed at all that it was asked of late."""
        return not self._breaker.closed(self._clock())

    def second_model(self, lookup: Lookup) -> str:
        """Return the language model to ask if the judge cannot tell of an audit of this request, "" for none."""
        return "" if self._second is None else self._second.model_for(lookup)

    async def agree(
        self, comparison: Comparison, *, since: float, billed_for: BilledFor = NOBODY, model: str = ""
    ) -> bool | NoVerdict:
        """Return the verdict on a comparison that has waited since that Unix time, or why there is none.

        What the judge cannot tell, that `model` is asked, if one is named.
        """
        verdict = await self._first(comparison, since, billed_for)
        if isinstance(verdict, bool):
            return verdict
        if model and self._second is not None:
            found = await self._second.agree(comparison, model, billed_for)
            if found is not None:
                return found
        return verdict

    async def _first(self, comparison: Comparison, since: float, billed_for: BilledFor) -> bool | NoVerdict:
        """Return the judge's verdict, or why there is none."""
        with billed() as bill:
            try:
                if not self._local:
                    return await self._asked(comparison)
                return await self._pace.run(lambda: self._asked(comparison), waited=self._clock() - since)
            finally:
                if bill:
                    self._paid(bill, billed_for)

    async def _asked(self, comparison: Comparison) -> bool | NoVerdict:
        try:
            async with asyncio.timeout(self.patience):
                verdict = await self._judge.agree(comparison)
        except (TimeoutError, UpstreamTimeout) as error:
            self._failed(error)
            return "late"
        except Exception as error:
            _log.warning("the judge failed: %r", error)
            self._failed(error)
            return "failed"
        self._failures = 0
        self._breaker.succeeded()
        return "undecided" if verdict is None else bool(verdict)

    def _failed(self, error: Exception) -> None:
        self._meter.faults.labels("judge").inc()
        self._failures += 1
        if self._failures >= self._most:
            self._breaker.failed(self._clock(), error)
