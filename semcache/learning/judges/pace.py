"""How far work that nobody waits for holds back while requests come.

Knows how many requests have ended so far, and how to wait; nothing of the work. Invariant: work is never refused, and
runs without a pause as long as no request ends; while they keep ending, it takes no more than its share of the time.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")
LEAST, MOST = 0.1, 0.5
HURRY = 60.0
PAUSE = 0.05


class Pace:
    """Runs pieces of work one after another.

    `ended` counts requests. In traffic work gets a tenth of the time, and a tenth more for every minute that it has
    waited, up to half; 50 ms in which no request ends are a pause in traffic.
    """

    def __init__(
        self,
        ended: Callable[[], int],
        *,
        clock: Callable[[], float] = time.perf_counter,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._ended = ended
        self._clock = clock
        self._sleep = sleep
        self._one = asyncio.Lock()

    async def run(self, work: Callable[[], Awaitable[T]], *, waited: float) -> T:
        """Do `work`, which has waited for so many seconds, and then stand back as long as requests keep coming."""
        async with self._one:
            ended, started = self._ended(), self._clock()
            result = await work()
            spent = self._clock() - started
            rest = spent / share(waited) - spent
            while rest > 0.0 and ended != (ended := self._ended()):
                await self._sleep(min(PAUSE, rest))
                rest -= PAUSE
            return result


def share(waited: float) -> float:
    """The share of the time that work gets in traffic after it has waited for so many seconds, in [0.1, 0.5]."""
    return min(MOST, LEAST * (1.0 + max(0.0, waited) / HURRY))
