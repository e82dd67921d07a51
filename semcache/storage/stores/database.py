"""Connections to one database: many readers, one writer, no half-finished transaction.

Knows SQLAlchemy, SQLite's pragmas and PostgreSQL's locks, nothing of entries.
Invariant: writes of one process run one after another, each whole in one transaction that ends even when its caller is
cancelled, and has ended when the caller is told so. Writes that add to the change feed are serialised across processes
too (SQLite by its write lock, PostgreSQL by an advisory lock taken first and held until commit), so sequence numbers
become visible in their order and a follower that reads past n never misses one below it.
"""

from __future__ import annotations

import asyncio
import sqlite3
import weakref
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.dialects import sqlite
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from semcache.errors import ConfigError, StoreError
from semcache.storage.stores.database_faults import FAULTS, SkippedRows, explain, wrapped
from semcache.storage.stores.sqlite_thread import PRAGMAS, Bound, Row, SqliteThread

T = TypeVar("T")
Statement: TypeAlias = sa.Select[Any] | sa.Insert | sa.Update | sa.Delete
# SQL by statement, with the parameters that are part of it.
_Statements: TypeAlias = "weakref.WeakKeyDictionary[Any, tuple[str, Mapping[str, Any]]]"
# A statement and its parameters by name; a list of them, all of the same names, runs an INSERT once for each.
Step: TypeAlias = tuple[Statement, Mapping[str, Any] | Sequence[Mapping[str, Any]]]
READERS = 4
_THREADS = 3  # short reads, long reads, scripts
_WRITER = 2
_TOGETHER = 64  # scripts in one transaction of PostgreSQL, which holds the feed's lock against other processes
FEED_LOCK = 0x73656D63_61636865


def parse_url(url: str) -> sa.URL:
    """The SQLAlchemy URL behind what a user writes. Raises ConfigError."""
    if "://" not in url:
        return sa.URL.create("sqlite+aiosqlite", database=str(_file(url)))
    try:
        parsed = sa.make_url(url)
    except (sa.exc.ArgumentError, ValueError) as error:
        raise ConfigError("SEMCACHE_STORE__URL is no URL; write sqlite:///FILE or postgresql://HOST/NAME") from error
    dialect = parsed.drivername.partition("+")[0]
    if dialect == "sqlite":
        if parsed.database in (None, "", ":memory:"):
            raise ConfigError(f"{url!r} names no file; write sqlite:///FILE, or memory:// for a store without one")
        return parsed.set(drivername="sqlite+aiosqlite", database=str(_file(parsed.database)))
    if dialect in ("postgres", "postgresql"):
        return parsed.set(drivername="postgresql+psycopg")
    if dialect == "memory":
        raise ConfigError("a store in memory has no name, and nobody shares it: write memory:// and nothing behind it")
    raise ConfigError(f"no store speaks {parsed.drivername!r}; use sqlite:///FILE, postgresql://HOST/NAME or memory://")


def _file(name: str | None) -> Path:
    path = Path(name or "").expanduser()
    if path.is_dir():
        raise ConfigError(f"{path} is a folder; name a file in it, such as {path / 'semcache.db'}")
    return path


class _Refused(StoreError):
    """The database takes no such row, which concerns none of the others."""


class _Script(NamedTuple):
    """Statements of one transaction, if they add to the change feed, and what waits for their end."""

    bound: Sequence[Bound]
    feed: bool
    end: asyncio.Future[None]


class Database:
    """An open or closed database. `busy` is how many seconds a write waits for another process's lock."""

    def __init__(self, url: sa.URL, *, busy: float = 5.0) -> None:
        self.url = url
        self.sqlite = url.get_backend_name() == "sqlite"
        self.name = str(url.database) if self.sqlite else url.render_as_string(hide_password=True)
        self.skipped = SkippedRows(self.name)
        self._busy = busy
        self._engine: AsyncEngine | None = None
        self._threads: list[SqliteThread] = []
        self._file: tuple[int, int] | None = None  # the device and number of the file that was opened
        self._compiled: _Statements = _sqlite_statements() if self.sqlite else weakref.WeakKeyDictionary()
        self._writing = asyncio.Lock()
        self._reading = asyncio.Semaphore(READERS)
        self._scripts: list[_Script] = []  # that wait for the writer
        self._running: set[asyncio.Task[Any]] = set()

    async def open(self) -> None:
        """Connect. Raises StoreError, or ConfigError when the driver is missing; on failure nothing stays open."""
        self._writing, self._reading = asyncio.Lock(), asyncio.Semaphore(READERS)
        with wrapped(self.name):
            try:
                await self._connect()
            except BaseException:
                await self.close()
                raise

    async def _connect(self) -> None:
        if not self.sqlite:
            self._engine = _postgres(
                self.url,
                pool_size=READERS + 2,
                max_overflow=0,
                pool_pre_ping=True,
                connect_args={"connect_timeout": 5, "tcp_user_timeout": 10_000},
            )
            event.listen(self._engine.sync_engine, "connect", self._set_timeout)
            async with self._engine.connect():
                return
        _make_private(Path(str(self.url.database)))
        options: dict[str, Any] = {"isolation_level": None, "timeout": self._busy}
        self._engine = create_async_engine(
            self.url,
            hide_parameters=True,
            pool_size=2,
            max_overflow=0,
            pool_reset_on_return=None,
            connect_args=options,
        )
        event.listen(self._engine.sync_engine, "connect", _set_pragmas)
        event.listen(self._engine.sync_engine, "begin", _begin)
        where, named = self._engine.dialect.create_connect_args(self.url)
        for _ in range(_THREADS):
            thread = SqliteThread(partial(sqlite3.connect, *where, **{**named, **options}))
            self._threads.append(thread)
            await thread.open()
        if _is_empty(Path(self.name)):
            await self._threads[0].fetch("PRAGMA auto_vacuum=INCREMENTAL")  # so that the file can shrink
        await self._write_ahead(self._threads[0])
        self._file = _identity(Path(self.name))

    def _check_file(self) -> None:
        """Raise StoreError where the file was deleted or replaced: SQLite would write on, to what nobody can open."""
        if self._file is not None and _identity(Path(self.name)) != self._file:
            raise StoreError(f"store {self.name}: the file was deleted or replaced; restart to open what is there now")

    async def _write_ahead(self, thread: SqliteThread) -> None:
        """Switch to WAL. SQLite does not wait for a lock here, so several workers that start at once take turns."""
        deadline = asyncio.get_running_loop().time() + self._busy
        while True:
            try:
                await thread.fetch("PRAGMA journal_mode=WAL")
                return
            except Exception as error:
                if "locked" not in str(error) or asyncio.get_running_loop().time() > deadline:
                    raise
                await asyncio.sleep(0.02)

    async def close(self) -> None:
        """Refuse new work, finish what runs, and disconnect; safe to call twice."""
        engine, self._engine = self._engine, None
        while self._running:
            await asyncio.gather(*self._running, return_exceptions=True)
        threads, self._threads = self._threads, []
        if engine is not None:
            with wrapped(self.name):
                for thread in threads:
                    await thread.close()
                await engine.dispose()

    async def fetch(
        self, statement: sa.Select[Any], params: Mapping[str, Any] | None = None, *, bulk: bool = False
    ) -> Sequence[Row]:
        """Rows of one statement, as the driver gives them. `bulk` keeps a long read out of the way of short ones."""
        engine = self._opened()
        with wrapped(self.name):
            if self.sqlite:
                return await self._threads[bulk].fetch(*self._bound(statement, params or {}))
            return await self._finish(self._query(engine, statement, params))

    async def pragma(self, name: str) -> Any:
        """The value of a SQLite pragma, as the reading connection sees it."""
        self._opened()
        with wrapped(self.name):
            rows = await self._threads[0].fetch(f"PRAGMA {name}")
        return rows[0][0]

    async def write(self, work: Callable[[sa.Connection], T], *, feed: bool = True) -> T:
        """Run `work` in one transaction of its own; `feed` says that it may add rows to the change feed."""
        engine = self._opened()
        self._check_file()
        with wrapped(self.name):
            return await self._finish(self._transact(engine, work, feed))

    async def script(self, steps: Sequence[Step], *, feed: bool = True) -> None:
        """Run statements that need nothing of each other's results in one transaction; `feed` as for `write`.

        Several times cheaper than `write`: one call in the writer's thread on SQLite; on PostgreSQL one round trip and
        one commit, for all scripts that wait at that time.
        """
        self._opened()
        self._check_file()
        with wrapped(self.name):
            bound = [self._bound(statement, params) for statement, params in steps]
            await self._finish(self._queue(bound, feed))

    async def take(self, statement: sa.Update, params: Mapping[str, Any]) -> Sequence[Row]:
        """Run one statement that writes and returns rows (UPDATE ... RETURNING), in a transaction of its own."""
        engine = self._opened()
        self._check_file()
        with wrapped(self.name):
            if self.sqlite:
                return await self._finish(self._take(*self._bound(statement, params)))
            return await self._finish(
                self._transact(engine, lambda connection: connection.execute(statement, params).fetchall(), feed=False)
            )

    async def look(self, work: Callable[[sa.Connection], T]) -> T:
        """Run `work`, which only reads, without taking any write lock."""
        engine = self._opened()
        with wrapped(self.name):
            async with self._reading, engine.connect() as connection:
                return await connection.run_sync(work)

    async def _query(self, engine: AsyncEngine, statement: sa.Select[Any], params: Mapping[str, Any] | None) -> Any:
        reader = engine.execution_options(isolation_level="AUTOCOMMIT")
        async with self._reading, reader.connect() as connection:
            return (await connection.execute(statement, params or {})).fetchall()

    async def _transact(self, engine: AsyncEngine, work: Callable[[sa.Connection], T], feed: bool) -> T:
        writer = engine.execution_options(semcache_write=True)
        async with self._writing, writer.begin() as connection:
            if feed and not self.sqlite:
                await connection.execute(sa.select(sa.func.pg_advisory_xact_lock(FEED_LOCK)))
            return await connection.run_sync(work)

    async def _queue(self, bound: Sequence[Bound], feed: bool) -> None:
        """Run a script with whatever others have come while the writer was busy.

        One by one, each would wait for a turn of the event loop, and a busy one takes so long for a turn that a burst
        of answers would queue for seconds; on PostgreSQL each would wait for a commit of its own as well.
        """
        script = _Script(bound, feed, asyncio.get_running_loop().create_future())
        self._scripts.append(script)
        if len(self._scripts) == 1:
            async with self._writing:
                scripts, self._scripts = self._scripts, []
                try:
                    ends = await (self._play(scripts) if self.sqlite else self._pipelines(scripts))
                except BaseException as error:
                    ends = [error] * len(scripts)
            for one, end in zip(scripts, ends, strict=True):
                if not one.end.done():
                    one.end.set_result(None) if end is None else one.end.set_exception(end)
        await script.end

    async def _play(self, scripts: Sequence[_Script]) -> Sequence[BaseException | None]:
        """Run each in a transaction of its own in the writer's thread, where commits wait for no disk."""
        thread = self._threads[_WRITER]
        return await asyncio.gather(*[thread.play(script.bound) for script in scripts], return_exceptions=True)

    async def _pipelines(self, scripts: Sequence[_Script]) -> Sequence[BaseException | None]:
        """Run scripts in few transactions; those of one that is refused are run again one by one.

        Those that write to the feed are kept apart: where they wait for its lock in vain, the others are written.
        """
        ends: dict[int, BaseException | None] = {}
        for feed in (False, True):
            alike = [script for script in scripts if script.feed is feed]
            for start in range(0, len(alike), _TOGETHER):
                some = alike[start : start + _TOGETHER]
                end = await self._pipeline([step for script in some for step in script.bound], feed)
                ends |= dict.fromkeys(map(id, some), end)
                if isinstance(end, _Refused) and len(some) > 1:
                    ends |= {id(script): await self._pipeline(script.bound, feed) for script in some}
        return [ends[id(script)] for script in scripts]

    async def _take(self, sql: str, args: Any) -> Sequence[Row]:
        async with self._writing:
            return await self._threads[_WRITER].fetch(sql, args)

    async def _pipeline(self, bound: Sequence[Bound], feed: bool) -> StoreError | None:
        """Run statements in one transaction and return why it failed, None where it is committed."""
        import psycopg

        try:
            async with self._opened().connect() as connection:
                raw = cast("psycopg.AsyncConnection[Any]", (await connection.get_raw_connection()).driver_connection)
                async with raw.pipeline(), raw.transaction(), raw.cursor() as cursor:
                    if feed:
                        await cursor.execute("SELECT pg_advisory_xact_lock(%s)", (FEED_LOCK,))
                    for sql, args in bound:
                        if isinstance(args, Mapping):
                            await cursor.execute(sql.encode(), args)
                        else:
                            await cursor.executemany(sql.encode(), args)
        except (psycopg.Error, *FAULTS) as error:
            cause = error.orig if isinstance(error, sa.exc.DBAPIError) else error
            # An outage, a lock or a full disk is in the way of every script; anything else is the fault of one.
            every = isinstance(cause, (psycopg.OperationalError, sa.exc.TimeoutError, OSError))
            failed = (StoreError if every else _Refused)(f"store {self.name}: {explain(error)}")
            failed.__cause__ = error
            return failed
        return None

    async def _finish(self, work: Coroutine[Any, Any, T]) -> T:
        """Let `work` come to its end whether or not the caller is still there."""
        task = asyncio.ensure_future(work)
        self._running.add(task)
        task.add_done_callback(self._done)
        return await asyncio.shield(task)

    def _done(self, task: asyncio.Task[Any]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()

    def _bound(self, statement: Statement, params: Mapping[str, Any] | Sequence[Mapping[str, Any]]) -> Bound:
        """SQL and arguments for the driver; a statement is compiled once, so its parameters keep their names."""
        ready = self._compiled.get(statement)
        if ready is None:
            first = params if isinstance(params, Mapping) else params[0]
            compiled = statement.compile(
                dialect=_sqlite() if self.sqlite else self._opened().dialect,
                column_keys=list(first) if isinstance(statement, sa.Insert) else None,
                compile_kwargs={"render_postcompile": True},
            )
            ready = self._compiled[statement] = compiled.string, compiled.construct_params(_check=False)
        sql, fixed = ready
        return sql, {**fixed, **params} if isinstance(params, Mapping) else params

    def _opened(self) -> AsyncEngine:
        if self._engine is None:
            raise StoreError(f"store {self.name} is not open; call open() first")
        return self._engine

    def _set_timeout(self, connection: Any, _record: object) -> None:
        cursor = connection.cursor()
        cursor.execute(f"SET lock_timeout = {int(self._busy * 1000)}")
        cursor.close()
        connection.commit()


@cache
def _sqlite() -> sa.Dialect:
    return sqlite.dialect(paramstyle="named")


@cache
def _sqlite_statements() -> _Statements:
    """The statements that were compiled for SQLite, of which no file needs others; those that are let go, go."""
    return weakref.WeakKeyDictionary()


def _postgres(url: sa.URL, **options: Any) -> AsyncEngine:
    try:
        return create_async_engine(url, hide_parameters=True, **options)
    except ModuleNotFoundError as error:
        raise ConfigError("PostgreSQL needs its driver: pip install 'semcache-llm[postgres]'") from error


def _identity(path: Path) -> tuple[int, int]:
    """Return the device and number of a file, zeros for none."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_dev, found.st_ino


def _is_empty(path: Path) -> bool:
    return path.stat().st_size == 0


def _make_private(path: Path) -> None:
    """Prompts and answers are nobody else's to read; SQLite gives its -wal and -shm files the mode of the file."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600, exist_ok=True)


def _set_pragmas(connection: Any, _record: object) -> None:
    cursor = connection.cursor()
    for pragma in PRAGMAS:
        cursor.execute(pragma)
    cursor.close()


def _begin(connection: sa.Connection) -> None:
    if connection.get_execution_options().get("semcache_write"):
        connection.exec_driver_sql("BEGIN IMMEDIATE")
