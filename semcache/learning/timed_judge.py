"""The judge behind a time limit: what it says in time, and a count of what it did not.

Knows a judge and how busy the process is; nothing of labels. Invariant: no call raises, and none takes longer than
`patience`; a judge that computes in this process gives way to requests.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable

from semcache.errors import UpstreamTimeout
from semcache.learning.judges.pace import Pace
from semcache.protocols import Judge
from semcache.runtime.telemetry import Meter
from semcache.types.evidence import Comparison

_log = logging.getLogger(__name__)


class TimedJudge:
    """Asks `judge`, for at most `patience` seconds. `ended` counts the requests that have ended so far."""

    def __init__(
        self,
        judge: Judge,
        meter: Meter,
        *,
        ended: Callable[[], int],
        clock: Callable[[], float],
        patience: float = 30.0,
    ) -> None:
        self.instant = judge.instant
        self.patience = patience
        self._judge = judge
        self._meter = meter
        self._clock = clock
        # A judge that does not say so asks elsewhere, and only waits.
        self._local: bool = getattr(judge, "local", False)
        self._pace = Pace(ended)

    async def agree(self, comparison: Comparison, *, since: float) -> bool | None:
        """Return the verdict on a comparison that has waited since that Unix time; None when there is none."""
        if not self._local:
            return await self._asked(comparison)
        return await self._pace.run(lambda: self._asked(comparison), waited=self._clock() - since)

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
