"""The event log: appended to, added up, and trimmed without losing its totals.

Knows the tables `events`, `totals` and `hourly`, nothing of entries beyond their ids.
Invariant: trimming never changes what `tally` says, nor what `usage` says of whole hours.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import sqlalchemy as sa

from semcache.storage.stores import rows
from semcache.storage.stores.database import Database
from semcache.storage.stores.tables import events, hourly, totals
from semcache.types import Recorded

SERVED_KEYS = 1000
_COLUMNS = (
    "requests", "saved_prompt_tokens", "saved_completion_tokens", "saved_cost", "spent_cost", "seconds",
    "spent_prompt_tokens", "spent_completion_tokens", "overhead_cost",
)  # fmt: skip
_SUMS = (*_COLUMNS, "calls")
# A call is known by what it took.
_CALLED = sa.case((events.c.spent_prompt_tokens + events.c.spent_completion_tokens > 0, 1), else_=0)
_GROUPED = sa.select(
    events.c.category,
    events.c.outcome,
    *(sa.func.sum(events.c[name]).label(name) for name in _COLUMNS),
    sa.func.sum(_CALLED).label("calls"),
).group_by(events.c.category, events.c.outcome)
_DOLLARS = ("saved_cost", "spent_cost", "seconds", "overhead_cost")
_KINDS = {name: int for name in _SUMS if name not in _DOLLARS}
GROUPS = ("hour", "tenant", "model", "category", "outcome")
KEEP_HOURS = 400 * 24
SHOWN = (
    "id", "request_id", "at", "endpoint", "tenant", "model", "category", "outcome", "why", "status", "entry_id",
    "score", "p_correct", "requests", "saved_cost", "spent_cost", "seconds",
)  # fmt: skip
# One statement, so that a trim between two reads cannot be seen.
_BOTH = sa.union_all(_GROUPED, sa.select(totals.c.category, totals.c.outcome, *(totals.c[name] for name in _SUMS)))
_TALLY = sa.select(*_BOTH.subquery().c)
_APPEND = sa.insert(events)
_SERVED = (
    sa.select(events.c.exact)
    .where(
        events.c.entry_id == sa.bindparam("entry", type_=sa.BigInteger),
        events.c.exact != b"",
    )
    .group_by(events.c.exact)
    .order_by(sa.func.max(events.c.at).desc(), sa.func.max(events.c.id).desc())
    .limit(SERVED_KEYS)
)


async def record(database: Database, recorded: Sequence[Recorded]) -> None:
    """Append events in one transaction."""
    if recorded:
        await database.script([(_APPEND, [rows.event(event) for event in recorded])], feed=False)


async def served_keys(database: Database, entry_id: int) -> list[bytes]:
    """Distinct exact digests of the hits on an entry, newest first."""
    return [row[0] for row in await database.fetch(_SERVED, {"entry": entry_id}, bulk=True)]


async def tally(database: Database) -> list[Mapping[str, object]]:
    """Counts and sums by category and outcome, in that order."""
    added: dict[tuple[str, str], dict[str, float]] = {}
    for category, outcome, *sums in await database.fetch(_TALLY, bulk=True):
        group = added.setdefault((category, outcome), dict.fromkeys(_SUMS, 0))
        for name, value in zip(_SUMS, sums, strict=True):
            group[name] += _KINDS.get(name, float)(value)
    return [
        {"category": rows.unplain(category), "outcome": outcome, **added[category, outcome]}
        for category, outcome in sorted(added)
    ]


def _hour(sqlite: bool) -> sa.ColumnElement[int]:
    """The hour of an event since 1970; a cast rounds in PostgreSQL and cuts off in SQLite."""
    hours = events.c.at / 3600.0
    return sa.cast(hours if sqlite else sa.func.floor(hours), sa.BigInteger)


def _hours(sqlite: bool, *where: sa.ColumnElement[bool]) -> sa.Select[Any]:
    groups = [_hour(sqlite).label("hour"), *(events.c[name] for name in GROUPS[1:])]
    sums = [sa.func.sum(events.c[name]).label(name) for name in _COLUMNS]
    return sa.select(*groups, *sums, sa.func.sum(_CALLED).label("calls")).where(*where).group_by(*groups)


async def usage(
    database: Database, *, since: float, until: float, by: Sequence[str], tenant: str | None = None
) -> list[dict[str, Any]]:
    """Counts and sums of the hours that begin in this time, by some of `GROUPS` and always by outcome."""
    first, last = math.ceil(since / 3600.0), math.ceil(until / 3600.0)
    own = [] if tenant is None else [rows.plain(tenant)]
    recent = _hours(
        database.sqlite,
        events.c.at >= first * 3600.0,
        events.c.at < last * 3600.0,
        *(events.c.tenant == one for one in own),
    )
    older = sa.select(*(hourly.c[name] for name in (*GROUPS, *_SUMS))).where(
        hourly.c.hour >= first, hourly.c.hour < last, *(hourly.c.tenant == one for one in own)
    )
    # One statement, so that a trim between two reads cannot be seen.
    both = sa.union_all(recent, older).subquery()
    groups = [both.c[name] for name in GROUPS if name in by or name == "outcome"]
    found = await database.fetch(
        sa.select(*groups, *(sa.func.sum(both.c[name]).label(name) for name in _SUMS)).group_by(*groups), bulk=True
    )
    names = [column.name for column in groups]
    return [
        {
            **{name: rows.unplain(value) if isinstance(value, str) else int(value) for name, value in pairs},
            **{name: _KINDS.get(name, float)(value) for name, value in zip(_SUMS, row[len(names) :], strict=True)},
        }
        for row in found
        for pairs in [list(zip(names, row, strict=False))]
    ]


async def unpriced(database: Database, *, since: float) -> list[str]:
    """The models that were called from a time on at no known cost."""
    paid = sa.func.sum(events.c.spent_cost)
    called = sa.func.sum(_CALLED)
    groups = sa.select(events.c.model).where(events.c.at >= since).group_by(events.c.model)
    found = await database.fetch(groups.having(called > 0, paid == 0.0).order_by(events.c.model), bulk=True)
    return [rows.unplain(row[0]) for row in found]


async def outcomes_after(
    database: Database, after: int | None, *, tenant: str | None = None, limit: int = 200
) -> list[dict[str, Any]]:
    """Requests in the event log after the row with this id, oldest first; with None the newest ones."""
    chosen = sa.select(*(events.c[name] for name in SHOWN)).where(events.c.requests > 0)
    if tenant is not None:
        chosen = chosen.where(events.c.tenant == rows.plain(tenant))
    if after is None:
        chosen = chosen.order_by(events.c.id.desc())
    else:
        chosen = chosen.where(events.c.id > after).order_by(events.c.id)
    found = await database.fetch(chosen.limit(limit), bulk=True)
    told = [
        {name: rows.unplain(value) if isinstance(value, str) else value for name, value in zip(SHOWN, row, strict=True)}
        for row in found
    ]
    return told if after is not None else told[::-1]


async def trim(database: Database, keep_rows: int | None, before: float | None) -> int:
    """Drop old events into the totals; returns how many went."""
    if keep_rows is None and before is None:
        return 0

    def work(connection: sa.Connection) -> int:
        old: list[sa.ColumnElement[bool]] = []
        if keep_rows is not None:
            oldest = sa.select(events.c.id).order_by(events.c.id.desc()).offset(keep_rows).limit(1)
            limit = connection.execute(oldest).scalar()
            if limit is not None:
                old.append(events.c.id <= limit)
        if before is not None:
            old.append(events.c.at < before)
        if not old:
            return 0
        # Fixed before it is read twice: READ COMMITTED may see another set in the second statement.
        newest = connection.execute(sa.select(sa.func.max(events.c.id))).scalar()
        going = sa.and_(sa.or_(*old), events.c.id <= newest)
        return trim_matching(connection, going, hours=True, sqlite=database.sqlite)

    return await database.write(work)


def trim_matching(connection: sa.Connection, going: sa.ColumnElement[bool], *, hours: bool, sqlite: bool) -> int:
    """Drop events into the totals, and into the sums by the hour if these are to be kept; return how many went."""
    for row in connection.execute(_GROUPED.where(going)).mappings().all():
        same = sa.and_(totals.c.category == row["category"], totals.c.outcome == row["outcome"])
        more = {name: totals.c[name] + row[name] for name in _SUMS}
        if connection.execute(sa.update(totals).where(same).values(more)).rowcount == 0:
            connection.execute(sa.insert(totals), dict(row))
    for row in connection.execute(_hours(sqlite, going)).mappings().all() if hours else ():
        same = sa.and_(*(hourly.c[name] == row[name] for name in GROUPS))
        more = {name: hourly.c[name] + row[name] for name in _SUMS}
        if connection.execute(sa.update(hourly).where(same).values(more)).rowcount == 0:
            connection.execute(sa.insert(hourly), dict(row))
    newest = connection.execute(sa.select(sa.func.max(hourly.c.hour))).scalar()
    if newest is not None:
        connection.execute(sa.delete(hourly).where(hourly.c.hour < newest - KEEP_HOURS))
    return connection.execute(sa.delete(events).where(going)).rowcount
