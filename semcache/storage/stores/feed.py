"""Waiting for the change feed to grow.

Knows how each database tells: SQLite by a counter that is cheap to poll, PostgreSQL by NOTIFY, with polling while the
listening connection is down. Knows nothing of what changed.
Invariant: a change that was committed before `wait` looked is never slept through.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

import sqlalchemy as sa

from semcache.runtime.task_set import end

CHANNEL = "semcache_changes"
_POLL = 0.1
_UNNOTIFIED = 0.25
_TRUST = 5.0
_RETRY = 1.0
_log = logging.getLogger(__name__)

Newest = Callable[[], Awaitable[int]]


class Polling:
    """SQLite: `version` is PRAGMA data_version, which moves when any other connection commits."""

    def __init__(self, newest: Newest, version: Callable[[], Awaitable[object]]) -> None:
        self._newest = newest
        self._version = version

    async def wait(self, seen: int, timeout: float) -> None:
        """Return when there is a change after `seen`, or after `timeout` seconds."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        version: object = None
        while True:
            current = await self._version()
            if current != version:
                version = current
                if await self._newest() > seen:
                    return
            left = deadline - loop.time()
            if left <= 0:
                return
            await asyncio.sleep(min(_POLL, left))

    async def close(self) -> None:
        """Nothing is held."""


class Listening:
    """PostgreSQL: a connection of its own that LISTENs, made at the first `wait` and remade when it breaks."""

    def __init__(self, newest: Newest, url: sa.URL) -> None:
        self._newest = newest
        self._url = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._notified = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self.connected = False

    async def wait(self, seen: int, timeout: float) -> None:
        """Return when there is a change after `seen`, or after `timeout` seconds."""
        if self._task is None:
            self._task = asyncio.create_task(self._listen())
        loop = asyncio.get_running_loop()
        deadline = loop.time() + timeout
        while True:
            self._notified.clear()
            if await self._newest() > seen:
                return
            left = deadline - loop.time()
            if left <= 0:
                return
            # `wait_for` may swallow a cancellation that comes together with the event.
            with suppress(TimeoutError):
                async with asyncio.timeout(min(left, _TRUST if self.connected else _UNNOTIFIED)):
                    await self._notified.wait()

    async def close(self) -> None:
        """Stop listening."""
        task, self._task = self._task, None
        await end(task)

    async def _listen(self) -> None:
        import psycopg

        away = False
        while True:
            try:
                connection = await psycopg.AsyncConnection.connect(self._url, autocommit=True, connect_timeout=5)
                async with connection:
                    await connection.execute(f"LISTEN {CHANNEL}")
                    self.connected = True
                    self._notified.set()
                    if away:
                        away = False
                        _log.warning("change feed: listening again")
                    async for _ in connection.notifies():
                        self._notified.set()
            except (psycopg.Error, OSError) as error:
                if not away:
                    away = True
                    _log.warning("change feed: listening broke off, polling until it is back: %s", type(error).__name__)
            finally:
                self.connected = False
            await asyncio.sleep(_RETRY)
