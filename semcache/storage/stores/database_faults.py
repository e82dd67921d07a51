"""Faults of database drivers as StoreErrors with a remedy.

Knows the messages of SQLite and the error codes of PostgreSQL.
Invariant: no exception of SQLAlchemy, sqlite3 or psycopg leaves the store, and no message holds a password or a
stored value.
"""

from __future__ import annotations

import logging
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from semcache.errors import StoreError

R = TypeVar("R")
T = TypeVar("T")
_log = logging.getLogger(__name__)
_SQLITE = (
    ("is locked", "another process holds its lock for too long; end that process or try again"),
    ("disk is full", "the disk is full; free some space, for a purge needs some too"),
    ("not a database", "it is damaged or no SQLite file; nothing was changed: restore a backup, or move it away"),
    (
        "malformed",
        "it is damaged; nothing was deleted: restore a backup, without the FILE-wal and FILE-shm of the damaged one, "
        "run `sqlite3 FILE .recover`, or move it away",
    ),
    ("readonly database", "it is read-only; give this user write access to the file and its folder"),
    ("unable to open", "it cannot be opened; check that its folder exists and that this user may write there"),
    ("disk I/O error", "reading or writing failed; check the disk and the system log"),
    ("no such table", "a table is missing; the file is no complete semcache store: restore a backup, or move it away"),
)
_FOLDER = "its folder cannot be made or written to: give this user write access there, or name another one (`--data`)"
_POSTGRES = (
    ("55P03", "another process holds its lock for too long; look for long transactions in pg_stat_activity"),
    ("53100", "its disk is full; free some space, for a purge needs some too"),
    ("53300", "it has too many connections; raise max_connections or run fewer workers"),
    ("25006", "it is read-only; point SEMCACHE_STORE__URL at the primary"),
    ("42501", "the database user may not do this; grant it CREATE and USAGE on the schema"),
    ("42P01", "a table is missing; the database is no complete semcache store"),
    ("28", "it refused the user or password; check SEMCACHE_STORE__URL"),
    ("3D000", "the database does not exist; create it, or correct SEMCACHE_STORE__URL"),
    ("57", "it is shutting down or cancelled the statement; try again"),
)

# sqlite3 raises OverflowError for integers of more than 64 bits, both drivers UnicodeError for lone surrogates.
FAULTS = (SQLAlchemyError, sqlite3.Error, OSError, UnicodeError, OverflowError)


@contextmanager
def wrapped(where: str) -> Iterator[None]:
    """Turn what the drivers raise into StoreError; `where` names the store without its password."""
    try:
        yield
    except FAULTS as error:
        raise StoreError(f"store {where}: {explain(error)}") from error


class SkippedRows:
    """Rows that were left out because this program could not have written them. `where` names the store.

    `count` has each of them once, and the log the first of each table.
    """

    def __init__(self, where: str) -> None:
        self._where = where
        self._known: dict[str, set[int]] = {}

    @property
    def count(self) -> int:
        """The number of rows."""
        return sum(map(len, self._known.values()))

    def readable(self, table: str, found: Iterable[R], key: Callable[[R], int], read: Callable[[R], T]) -> list[T]:
        """Read rows of a table, whose numbers `key` gives; leave out those that cannot be read."""
        kept: list[T] = []
        for row in found:
            try:
                kept.append(read(row))
            except (ValueError, TypeError) as error:
                self.note(table, key(row), error)
        return kept

    def note(self, table: str, number: int, error: Exception) -> None:
        """Count a row that cannot be read."""
        known = self._known.setdefault(table, set())
        if not known:
            _log.warning(
                "store %s: row %d of %s cannot be read (%s) and is left out, as are others like it; it is damaged or "
                "of a newer semcache: upgrade this program, or restore a backup",
                self._where,
                number,
                table,
                error,
            )
        known.add(number)


def explain(error: Exception) -> str:
    """Say in one sentence what went wrong and what to do."""
    cause: BaseException = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    text = str(cause).strip().splitlines()[0] if str(cause).strip() else type(cause).__name__
    if isinstance(cause, OSError) and cause.filename is not None:
        return f"{_FOLDER} ({text})"
    state = getattr(cause, "sqlstate", None)
    if state is not None:
        remedies = [remedy for code, remedy in _POSTGRES if state.startswith(code)]
        return f"{remedies[0] if remedies else 'the database refused'} ({text}, SQLSTATE {state})"
    for sign, remedy in _SQLITE:
        if sign in text:
            return f"{remedy} ({text})"
    if type(cause).__module__.startswith("psycopg"):
        return f"it cannot be reached; check that the server runs and SEMCACHE_STORE__URL is right ({text})"
    if isinstance(cause, sqlite3.IntegrityError):
        return f"a row breaks a constraint ({text})"
    return text
