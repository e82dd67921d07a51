"""A SQLite connection in a thread of its own, for callers on an event loop.

Knows `sqlite3`, nothing of tables. SQLAlchemy's asynchronous driver goes to its thread and back for every statement;
here a read, or a whole transaction, is one call in the thread.
Invariant: `play` leaves no transaction open, whatever fails.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias, TypeVar

T = TypeVar("T")
Row: TypeAlias = Sequence[Any]
# SQL and its arguments by name, or a list of them for a statement that is run once for each.
Bound: TypeAlias = tuple[str, Mapping[str, Any] | Sequence[Mapping[str, Any]]]
PRAGMAS = ("PRAGMA synchronous=NORMAL", "PRAGMA foreign_keys=ON")


class Lane:
    """`connect` makes the connection, in the thread. What it and the statements raise is raised as it is."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._connection: sqlite3.Connection | None = None
        self._thread = ThreadPoolExecutor(1, "semcache-store")

    async def open(self) -> None:
        """Connect."""
        self._connection = await self._call(self._connected)

    async def fetch(self, sql: str, args: Any = ()) -> list[Row]:
        """Every row of one statement."""
        return await self._call(lambda: self._open.execute(sql, args).fetchall())

    async def play(self, script: Sequence[Bound]) -> None:
        """Run statements in one transaction, all or none. Cancelling drops it only before it has begun."""
        await self._call(lambda: _play(self._open, script))

    async def close(self) -> None:
        """Finish what was asked for, disconnect and end the thread; safe to call twice."""
        try:
            if self._connection is not None:
                await asyncio.shield(self._call(self._connection.close))
                self._connection = None
        finally:
            self._thread.shutdown(wait=False)

    @property
    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            raise sqlite3.ProgrammingError("not connected")
        return self._connection

    def _connected(self) -> sqlite3.Connection:
        connection = self._connect()
        try:
            for pragma in PRAGMAS:
                connection.execute(pragma)
        except BaseException:
            connection.close()
            raise
        return connection

    def _call(self, work: Callable[[], T]) -> asyncio.Future[T]:
        return asyncio.get_running_loop().run_in_executor(self._thread, work)


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
