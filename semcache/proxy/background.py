"""Background work that no client waits for, bounded in number.

Knows nothing of the work. Invariant: `offer` never blocks and never fails; at most `concurrency` pieces run and
`waiting` wait, and more are refused; of two pieces with the same key one is done; a piece runs in the context of
whoever offered it (its credentials, key and trace), however long it waited; after `close` nothing runs.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Hashable
from contextvars import Context, copy_context
from typing import Any, Literal, TypeAlias

Work: TypeAlias = Callable[[], Coroutine[Any, Any, None]]
_log = logging.getLogger(__name__)


class BackgroundWork:
    """The background work of one process."""

    def __init__(self, *, concurrency: int = 4, waiting: int = 100) -> None:
        self._concurrency = concurrency
        self._waiting = waiting
        self._queue: deque[tuple[Hashable, Work, Context]] = deque()
        self._running: dict[Hashable, asyncio.Task[None]] = {}
        self._keys: set[Hashable] = set()
        self._closed = False

    def refuses(self, key: Hashable, *, share: float = 1.0) -> Literal["known", "full"] | None:
        """Return why work with this key would be refused now, None if it would be taken.

        `share` is that of the places to wait which are this work's at most.
        """
        if key in self._keys:
            return "known"
        full = len(self._running) >= self._concurrency and len(self._queue) >= share * self._waiting
        return "full" if full or self._closed else None

    def offer(self, key: Hashable, work: Work) -> bool:
        """Do `work` soon; return False when it is refused."""
        if self.refuses(key) is not None:
            return False
        self._keys.add(key)
        self._queue.append((key, work, copy_context()))
        self._next()
        return True

    async def settle(self) -> None:
        """Wait until nothing runs and nothing waits."""
        while self._running:
            await asyncio.wait(list(self._running.values()))

    async def close(self, grace: float) -> None:
        """Drop what waits, let what runs end within `grace` seconds, and cancel it then."""
        self._closed = True
        self._queue.clear()
        if not self._running:
            return
        _, late = await asyncio.wait(list(self._running.values()), timeout=grace)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    def _next(self) -> None:
        while self._queue and len(self._running) < self._concurrency:
            key, work, context = self._queue.popleft()
            task = asyncio.create_task(self._run(work), name="semcache-background", context=context)
            self._running[key] = task
            task.add_done_callback(lambda _, key=key: self._done(key))  # type: ignore[misc]

    def _done(self, key: Hashable) -> None:
        del self._running[key]
        self._keys.discard(key)
        self._next()

    async def _run(self, work: Work) -> None:
        try:
            await work()
        except Exception:
            _log.warning("work in the background failed", exc_info=True)
