"""A judge with a time limit, which counts the verdicts that did not come in time.

Knows a judge and how busy the process is; nothing of labels. Invariant: no call raises, and none takes longer than
`patience`; a judge that computes in this process yields to requests.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from semcache.errors import UpstreamTimeout
from semcache.learning.judges.pace import LEAST, Pace
from semcache.protocols import Judge
from semcache.runtime.bill import Bill, BilledFor, billed
from semcache.runtime.telemetry import Meter
from semcache.types.evidence import Comparison

_AT_ONCE = 8
_log = logging.getLogger(__name__)


NOBODY = BilledFor("default", "default")


class TimedJudge:
    """Asks `judge`, for at most `patience` seconds.

    `at_once` is how many comparisons may be asked about at the same time, and `lease` is for how many seconds no other
    worker has to take them. `ended` counts the requests that have ended so far. `paid` is called with the models that a
    comparison asked, and what for.
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
    ) -> None:
        self.instant = judge.instant
        self.patience = patience
        self._judge = judge
        self._meter = meter
        self._clock = clock
        self._paid = paid
        # A judge that does not say so asks elsewhere, and only waits.
        self._local: bool = getattr(judge, "local", False)
        # Of those that wait for each other and for requests, no more are held than can be judged before they are free.
        self.at_once = 1 if self._local else _AT_ONCE
        self.lease = patience * (1.0 + 1.0 / LEAST) if self._local else 2.0 * patience
        self._pace = Pace(ended)

    async def agree(self, comparison: Comparison, *, since: float, billed_for: BilledFor = NOBODY) -> bool | None:
        """Return the verdict on a comparison that has waited since that Unix time; None if there is none."""
        with billed() as bill:
            try:
                if not self._local:
                    return await self._asked(comparison)
                return await self._pace.run(lambda: self._asked(comparison), waited=self._clock() - since)
            finally:
                if bill:
                    self._paid(bill, billed_for)

    async def _asked(self, comparison: Comparison) -> bool | None:
        try:
            async with asyncio.timeout(self.patience):
                verdict = await self._judge.agree(comparison)
        except (TimeoutError, UpstreamTimeout):
            self._meter.unlabelled("late")
            return None
        except Exception as error:
            _log.warning("the judge failed: %r", error)
            self._meter.unlabelled("failed")
            return None
        if verdict is None:
            self._meter.unlabelled("undecided")
        return verdict
