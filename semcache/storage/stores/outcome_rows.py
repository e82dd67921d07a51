"""The event log: appended to, added up, and trimmed without losing its totals.

Knows the tables `events` and `totals`, nothing of entries beyond their ids.
Invariant: trimming never changes what `tally` says.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import sqlalchemy as sa

from semcache.storage.stores import rows
from semcache.storage.stores.database import Database
from semcache.storage.stores.tables import events, totals
from semcache.types import Recorded

SERVED_KEYS = 1000
_COLUMNS = (
    "requests", "saved_prompt_tokens", "saved_completion_tokens", "saved_cost", "spent_cost", "seconds",
    "spent_prompt_tokens", "spent_completion_tokens",
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
_KINDS = {name: int for name in _SUMS if name not in ("saved_cost", "spent_cost", "seconds")}
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
        for row in connection.execute(_GROUPED.where(going)).mappings().all():
            same = sa.and_(totals.c.category == row["category"], totals.c.outcome == row["outcome"])
            more = {name: totals.c[name] + row[name] for name in _SUMS}
            if connection.execute(sa.update(totals).where(same).values(more)).rowcount == 0:
                connection.execute(sa.insert(totals), dict(row))
        return connection.execute(sa.delete(events).where(going)).rowcount

    return await database.write(work)
