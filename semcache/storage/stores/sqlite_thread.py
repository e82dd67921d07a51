"""A SQLite connection in a thread of its own, for callers on an event loop.

Knows `sqlite3`, nothing of tables. SQLAlchemy's asynchronous driver goes to its thread and back for every statement;
here a read, or a whole transaction, is one call in the thread. The thread is fed by a plain queue because the hop is
most of what a read costs, and an executor doubles it.
Invariant: `play` leaves no transaction open, whatever fails.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Row: TypeAlias = Sequence[Any]
# SQL and its arguments by name, or a list of them for a statement that is run once for each.
Bound: TypeAlias = tuple[str, Mapping[str, Any] | Sequence[Mapping[str, Any]]]
Job: TypeAlias = Callable[[], None]
# The write-ahead log keeps the size that it once had, and a long deletion makes it large.
PRAGMAS = ("PRAGMA synchronous=NORMAL", "PRAGMA foreign_keys=ON", "PRAGMA journal_size_limit=16777216")


class SqliteThread:
    """`connect` makes the connection, in the thread. What it and the statements raise is raised as it is."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._connection: sqlite3.Connection | None = None
        self._jobs: SimpleQueue[Job | None] = SimpleQueue()

    async def open(self) -> None:
        """Connect; `close` ends the thread, also when this fails."""
        # A process that forgot to close its store must still be able to end.
        Thread(target=_serve, args=(self._jobs,), name="semcache-store", daemon=True).start()
        await self._call(self._connected)

    async def fetch(self, sql: str, args: Any = ()) -> list[Row]:
        """Every row of one statement."""
        return await self._call(lambda: self._open.execute(sql, args).fetchall())

    async def play(self, script: Sequence[Bound]) -> None:
        """Run statements in one transaction, all or none. Cancelling drops it only before it has begun."""
        await self._call(lambda: _play(self._open, script))

    async def close(self) -> None:
        """Finish what was asked for, disconnect and end the thread."""
        closed = self._call(self._disconnected)
        self._jobs.put(None)
        await asyncio.shield(closed)

    @property
    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise sqlite3.ProgrammingError("not connected")
        return self._connection

    def _connected(self) -> None:
        self._connection = self._connect()
        for pragma in PRAGMAS:
            self._connection.execute(pragma)

    def _disconnected(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _call(self, work: Callable[[], T]) -> asyncio.Future[T]:
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()

        def job() -> None:
            if future.cancelled():
                return
            result: T | None = None
            failed: BaseException | None = None
            try:
                result = work()
            except BaseException as error:
                failed = error
            # The loop of a caller that is gone may be closed.
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(_settle, future, result, failed)

        self._jobs.put(job)
        return future


def _serve(jobs: SimpleQueue[Job | None]) -> None:
    while (job := jobs.get()) is not None:
        job()


def _settle(future: asyncio.Future[Any], result: object, failed: BaseException | None) -> None:
    if future.done():
        return
    if failed is None:
        future.set_result(result)
    else:
        future.set_exception(failed)


def _play(connection: sqlite3.Connection, script: Sequence[Bound]) -> None:
    connection.execute("BEGIN IMMEDIATE")
    try:
        for sql, args in script:
            if isinstance(args, Mapping):
                connection.execute(sql, args)
            else:
                connection.executemany(sql, args)
        connection.execute("COMMIT")
    except BaseException:
        # Some failures, a full disk among them, have rolled back already.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
