"""Copies of a SQLite store as one file, whole and checked, while others write to it.

Knows files and the pragmas of SQLite, and of the tables what says that a file is a store. Invariant: a copy appears
under its name only when every page and reference in it has been checked, and never in the place of another file.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import sqlalchemy as sa

from semcache.errors import StoreError
from semcache.storage.stores import schema, tables
from semcache.storage.stores.database_faults import wrapped

_BESIDE = ("-wal", "-shm", "-journal")  # files that SQLite would play into a database of the name before
_COUNTED = {
    "entries": "SELECT count(*) FROM entries",
    "api_keys": "SELECT count(*) FROM api_keys",
    "labels": "SELECT count(*) FROM labels",
    "plans": "SELECT count(*) FROM plans",
}
_REVISION = str(sa.select(tables.version.c.version_num))
_SEALED = "SELECT seal_key FROM entries UNION SELECT seal_key FROM plans"
_PATIENCE = 5.0


@dataclass(frozen=True, slots=True)
class StoreContent:
    """A store in numbers: the revision of its schema, rows by table, and the ids of the keys that seal some."""

    revision: str
    counts: dict[str, int]
    seal_keys: frozenset[str]


def copy_store(source: Path, target: Path) -> StoreContent:
    """Write what a store holds at this moment to a new file, and return what is in it.

    What was deleted is not in the copy, nor in its free pages. Raises StoreError where there is a file already, where
    `source` is no store that this program can read, and where the copy is not sound.
    """
    check_free(target)
    with wrapped(str(source)):
        if not source.is_file():
            raise StoreError(f"store {source}: there is no such file: name the one that is to be copied")
        with _draft(target) as draft:
            with closing(_reader(source)) as connection:
                _revision(connection, source)
                connection.execute("PRAGMA auto_vacuum=INCREMENTAL")  # of the copy
                connection.execute("VACUUM INTO ?", (str(draft),))
            with closing(sqlite3.connect(_uri(draft, "mode=ro"), uri=True)) as connection:
                found = _checked(connection, source)
            _settle(draft, target)
    return found


def check_free(target: Path) -> None:
    """Raise StoreError where a file has this name, or one that SQLite would take for a part of it."""
    there = [str(path) for path in (target, *(Path(f"{target}{end}") for end in _BESIDE)) if os.path.lexists(path)]
    if there:
        raise StoreError(f"{' and '.join(there)} would be overwritten: move it away, or name another place")


def _reader(source: Path) -> sqlite3.Connection:
    """A connection that reads, also a file on a disk that cannot be written."""
    kind = "mode=rw" if os.access(source, os.W_OK) else "mode=ro"
    if kind == "mode=ro" and not any(Path(f"{source}{end}").exists() for end in _BESIDE):
        kind = "immutable=1"
    return sqlite3.connect(_uri(source, kind), uri=True, timeout=_PATIENCE, isolation_level=None)


def _uri(path: Path, options: str) -> str:
    return f"file:{quote(str(path.absolute()))}?{options}"


def _revision(connection: sqlite3.Connection, source: Path) -> str:
    """The revision of a store that this program can open. Raises StoreError."""
    known = connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (tables.VERSION_TABLE,)).fetchone()
    row = connection.execute(_REVISION).fetchone() if known else None
    if row is None or not row[0]:
        raise StoreError(f"{source} is no store of semcache: name a file that `semcache backup` wrote, or a store's")
    schema.check(row[0], str(source))
    return str(row[0])


def _checked(connection: sqlite3.Connection, source: Path) -> StoreContent:
    """The content of a copy. Raises StoreError where a page or a reference is not sound."""
    faults = [row[0] for row in connection.execute("PRAGMA integrity_check(5)") if row[0] != "ok"]
    faults += [f"{row[0]} refers to a row that is gone" for row in connection.execute("PRAGMA foreign_key_check")][:5]
    salt = connection.execute("SELECT length(value) FROM meta WHERE name = 'salt'").fetchone()
    if salt is None or salt[0] != schema.SALT:
        faults.append("the salt of its digests is missing")
    if faults:
        raise StoreError(
            f"store {source} is damaged, and nothing was written: {'; '.join(faults)}: use an older backup, or "
            "`sqlite3 FILE .recover`"
        )
    counts = {name: connection.execute(count).fetchone()[0] for name, count in _COUNTED.items()}
    sealed = frozenset(row[0] for row in connection.execute(_SEALED) if row[0] is not None)
    return StoreContent(_revision(connection, source), counts, sealed)


@contextmanager
def _draft(target: Path) -> Iterator[Path]:
    """A private file beside a target, still empty, that is gone at the end."""
    # SQLite has messages of its own for a folder that is not there; this one names it.
    if not target.parent.is_dir():
        raise StoreError(f"{target} cannot be written: there is no folder {target.parent}")
    try:
        descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}-")
    except OSError as error:
        raise StoreError(f"{target} cannot be written: {error.strerror}") from error
    os.close(descriptor)
    draft = Path(name)
    try:
        yield draft
    finally:
        draft.unlink(missing_ok=True)
        for end in _BESIDE:
            Path(f"{draft}{end}").unlink(missing_ok=True)


def _settle(draft: Path, target: Path) -> None:
    """Give a draft that is on the disk its name, unless something has that name by now."""
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    try:
        target.hardlink_to(draft)
    except FileExistsError:
        check_free(target)
    except OSError:  # a file system without links
        check_free(target)
        draft.replace(target)
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(target.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
