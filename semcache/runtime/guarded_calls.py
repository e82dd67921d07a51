"""Calls into the parts that can fail: each has a time limit and a breaker, and every failure is counted.

Knows the names of the parts and nothing of what they do. A part that cannot do its work raises a CacheUnavailable or an
OSError: a fault, which callers survive. Anything else is a defect of this program or of a plug-in, and is never taken
for a fault. Invariant: a caller waits at most `patience` seconds, for a result, for CacheUnavailable for a fault, or
for a defect as it was raised; while a breaker is open it waits for nothing. A store that is full, or may only be read,
goes on being read: calls that write have a breaker of their own.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from semcache.errors import CacheUnavailable, IntegrityError, KeptLater
from semcache.runtime.breaker import Breaker
from semcache.runtime.telemetry import Meter

if TYPE_CHECKING:
    from prometheus_client import Counter

PARTS = ("store", "index", "embedder")
PATIENCE = 2.0  # seconds
SURVIVED = (CacheUnavailable, OSError)  # faults; TimeoutError and ConnectionError are OSErrors
T = TypeVar("T")
_RESTED = 15.0  # seconds
_RETOLD = 60.0  # seconds after which the log is told again that a part is slow
_FAILED = "the %s failed; requests go on without it for a while: %s"
_UNWRITTEN = "the %s keeps nothing new for a while: %s"
_log = logging.getLogger(__name__)


class GuardedCalls:
    """Breakers by part. `patience` is seconds."""

    def __init__(self, meter: Meter, *, patience: float = PATIENCE) -> None:
        self._meter = meter
        self._patience = patience
        self._breakers = {part: Breaker() for part in PARTS}
        # Of unhurried calls. A refusal costs little, and what comes until the next attempt is not kept.
        self._writing = {part: Breaker(longest=2.0) for part in PARTS}
        self._late = {part: Breaker() for part in PARTS}  # open where unhurried calls are not waited for
        self._told_until = dict.fromkeys(PARTS, 0.0)  # the log has been told that a part is slow
        self._unhurried: set[asyncio.Task[Any]] = set()

    async def guard(self, part: str, work: Coroutine[Any, Any, T]) -> T:
        """Await a call into a part, unless it has just failed. Raises CacheUnavailable, and defects as they are."""
        breaker = self._breakers[part]
        if not breaker.closed(time.monotonic()):
            work.close()
            raise CacheUnavailable(f"{part} is left alone after: {breaker.error}")
        with self._noting(part):
            async with asyncio.timeout(self._patience):
                result = await work
        self.answered(part)
        return result

    async def unhurried(self, part: str, work: Coroutine[Any, Any, T]) -> T:
        """Await a call that writes, and is worth finishing when it is late, unless the part has just failed.

        Raises CacheUnavailable, and KeptLater after `patience` seconds: `work` then goes on with nobody waiting, and
        calls that come soon after are not waited for at all. A part that was only late is not left alone.
        """
        now, breakers = time.monotonic(), (self._breakers[part], self._writing[part])
        for breaker in breakers:
            if not (breaker.closed(now) or breaker.late):
                work.close()
                raise CacheUnavailable(f"{part} is left alone after: {breaker.error}")
        late = self._late[part]
        waits = late.closed(now) and all(breaker.closed(now) for breaker in breakers)
        task = asyncio.create_task(self._noted(part, work), name=f"semcache-{part}")
        self._unhurried.add(task)
        task.add_done_callback(self._ended)
        task.add_done_callback(lambda _: work.close())  # of one that was cancelled before it began
        await asyncio.wait([task], timeout=self._patience if waits else 0.0)
        if not task.done():
            if waits and late.failed(time.monotonic(), TimeoutError("late")) and now >= self._told_until[part]:
                self._told_until[part] = now + _RETOLD
                _log.warning("the %s is slow: what it is to keep is kept later, and requests wait less for it", part)
            raise KeptLater(f"{part} is late")
        late.succeeded()
        return task.result()

    async def settle(self) -> None:
        """Wait until every call has ended that nobody waits for."""
        while self._unhurried:
            await asyncio.wait(set(self._unhurried))

    async def _noted(self, part: str, work: Coroutine[Any, Any, T]) -> T:
        with self._noting(part, writing=True):
            result = await work
        self.answered(part)
        self.written(part)
        return result

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._unhurried.discard(task)
        if not task.cancelled():
            task.exception()

    @contextmanager
    def _noting(self, part: str, *, writing: bool = False) -> Iterator[None]:
        """Count what is raised inside, and have the breaker know; an OSError becomes a CacheUnavailable."""
        breaker = (self._writing if writing else self._breakers)[part]
        try:
            yield
        except IntegrityError:
            # One damaged entry says nothing about the next.
            self._meter.faults.labels(part).inc()
            raise
        except Exception as error:
            self._meter.faults.labels(part).inc()
            # After a defect too: it would most likely happen again.
            began = breaker.error is None
            if breaker.failed(time.monotonic(), error) and began:
                # The message of a defect may quote what it was given.
                told = repr(error) if isinstance(error, SURVIVED) else type(error).__name__
                _log.warning(_UNWRITTEN if writing else _FAILED, part, told)
            if isinstance(error, OSError):
                raise CacheUnavailable(f"{part}: {error!r}") from error
            raise

    def answered(self, part: str) -> None:
        """Note that a part works: it is asked again."""
        breaker = self._breakers[part]
        if breaker.error is not None:
            _log.warning("the %s works again", part)
        breaker.succeeded()

    def written(self, part: str) -> None:
        """Note that a part keeps what it is given: it is given more."""
        breaker = self._writing[part]
        if breaker.error is not None:
            _log.warning("the %s keeps what is new again", part)
        breaker.succeeded()

    def rested(self, part: str) -> bool:
        """Return True if what a part was last given to keep, it refused so long ago that it may take it by now."""
        return self._writing[part].closed(time.monotonic() - _RESTED)

    def named(self) -> dict[str, str]:
        """The last error of every part that is not known to work again, of reading before that of writing."""
        either = (self._writing | {part: one for part, one in self._breakers.items() if one.error is not None}).items()
        return {part: breaker.error for part, breaker in either if breaker.error is not None}


@contextmanager
def surviving(doing: str, counter: Counter | None = None) -> Iterator[None]:
    """Suppress what is raised inside and count it; a defect is logged with its traceback, as the failure of `doing`."""
    try:
        yield
    except SURVIVED:
        if counter is not None:
            counter.inc()
    except Exception:
        _log.exception("%s failed by a defect", doing)
        if counter is not None:
            counter.inc()
