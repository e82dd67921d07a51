"""The label log, saved states and the queue of comparisons to be judged, on a database.

Knows the tables `labels`, `learned` and `judgements`, and nothing of what is made of them.
Invariant: labels are appended behind the lock of the change feed, so they become visible in the order of their `seq`;
a judgement is held by one caller at a time, and stays until it is finished, whatever becomes of its entries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import sqlalchemy as sa

from semcache.storage.stores import rows
from semcache.storage.stores.database import Database
from semcache.storage.stores.tables import judgements, labels, learned
from semcache.types.evidence import Judgement, Label, LabelSource

# The columns that `labels` and `judgements` share, in the order of `_skeleton`.
_SHARED = (
    "at", "category", "tenant", "entry_id", "answer", "exact", "score", "features", "p_correct", "source", "served",
    "chance", "origin",
)  # fmt: skip
_AFTER = sa.bindparam("after", type_=sa.BigInteger)
_BUNDLE = sa.bindparam("bundle", type_=sa.Integer)
_NOW = sa.bindparam("now", type_=sa.Double)
_NAME = sa.bindparam("called", type_=sa.String)
_LAST = sa.bindparam("last", type_=sa.BigInteger)
_STATE = sa.bindparam("content", type_=sa.LargeBinary)

_APPEND = sa.insert(labels)
_READ = (
    sa.select(*(labels.c[name] for name in _SHARED), labels.c.correct, labels.c.seq)
    .where(labels.c.seq > _AFTER)
    .order_by(labels.c.seq)
    .limit(_BUNDLE)
)
_TRIM = sa.delete(labels).where(labels.c.seq <= sa.select(sa.func.max(labels.c.seq) - _BUNDLE).scalar_subquery())
_SAVED = sa.select(learned.c.seq, learned.c.state).where(learned.c.name == _NAME)
_OUTDATED = sa.delete(learned).where(learned.c.name == _NAME, learned.c.seq <= _LAST)
_SAVE = sa.insert(learned).from_select(
    ["name", "seq", "state"],
    sa.select(_NAME, _LAST, _STATE).where(~sa.exists().where(learned.c.name == _NAME)),
)


_ENQUEUE = sa.insert(judgements)
_FREE = sa.select(judgements.c.id).where(judgements.c.free_at <= _NOW)
_WAITING = _FREE.limit(1)
# What was served is known to be right or wrong before what was not.
_FIRST = _FREE.order_by(judgements.c.served.desc(), judgements.c.id)
_CLAIM = (
    sa.update(judgements)
    .where(judgements.c.id.in_(_FIRST.limit(_BUNDLE).with_for_update(skip_locked=True)))
    .values(tries=judgements.c.tries + 1, free_at=sa.bindparam("held_until", type_=sa.Double))
    .returning(
        *(judgements.c[name] for name in _SHARED),
        judgements.c.id,
        judgements.c.fresh_id,
        judgements.c.tries,
        judgements.c.model,
    )
)
_FINISH = sa.delete(judgements).where(judgements.c.id == sa.bindparam("done", type_=sa.BigInteger))


class LearningRows:
    """`LabelStore`, `SavedStates` and `JudgementQueue` on a database."""

    _db: Database

    async def label(self, labels: Sequence[Label]) -> None:
        """Append to the label log, in this order."""
        if labels:
            await self._db.script([(_APPEND, [_skeleton(label) | {"correct": label.correct} for label in labels])])

    async def labels(self, since: int, *, limit: int = 1000) -> list[Label]:
        """Labels after `since`, by ascending `seq`; one that cannot be read is left out and counted."""
        while found := await self._db.fetch(_READ, {"after": since, "bundle": limit}, bulk=True):
            if kept := _logged(self._db, found):
                return kept
            since = found[-1][-1]
        return []

    async def trim_labels(self, *, keep_rows: int) -> int:
        """Forget all but about the newest `keep_rows` labels; returns how many went."""
        keep = {"bundle": max(0, keep_rows)}
        return await self._db.write(lambda connection: connection.execute(_TRIM, keep).rowcount, feed=False)

    async def learned(self, name: str) -> tuple[int, bytes] | None:
        """The newest saved state of that name, and the `seq` of the last label in it."""
        found = await self._db.fetch(_SAVED, {"called": rows.plain(name)}, bulk=True)
        return (found[0][0], found[0][1]) if found else None

    async def learn(self, name: str, seq: int, state: bytes) -> None:
        """Save a state, unless a newer one is saved already."""
        values = {"called": rows.plain(name), "last": seq}
        await self._db.script([(_OUTDATED, values), (_SAVE, values | {"content": state})])

    async def enqueue(self, judgements: Sequence[Judgement]) -> None:
        """Put comparisons into the queue, those of entries that are gone too."""
        values = [
            _skeleton(owed.label)
            | {"fresh_id": owed.fresh_id, "tries": 0, "free_at": 0.0, "model": rows.plain(owed.model) or None}
            for owed in judgements
        ]
        if values:
            await self._db.script([(_ENQUEUE, values)])

    async def claim(self, limit: int, *, now: float, lease: float) -> list[Judgement]:
        """Take the oldest comparisons that nobody holds at `now`; `tries` counts this time.

        One that cannot be read is left out and counted.
        """
        owed: list[Judgement] = []
        while not owed and await self._db.fetch(_WAITING, {"now": now}):
            found = await self._db.take(_CLAIM, {"now": now, "bundle": limit, "held_until": now + lease})
            if not found:
                break
            owed = self._db.skipped.readable(
                judgements.name,
                found,
                key=lambda row: int(row[-4]),
                read=lambda row: Judgement(row[-4], row[-3], _label(row[:-4]), row[-2], row[-1] or ""),
            )
        return sorted(owed, key=lambda judgement: judgement.id)

    async def finish(self, ids: Sequence[int]) -> None:
        """Take comparisons out of the queue; unknown ones are ignored."""
        if ids:
            await self._db.script([(_FINISH, [{"done": number} for number in ids])], feed=False)


async def labels_about(
    database: Database, ids: Sequence[int], *, tenant: str | None = None, limit: int = 200
) -> list[Label]:
    """The newest labels about these entries (of that tenant's requests), newest first."""
    chosen = sa.select(*(labels.c[name] for name in _SHARED), labels.c.correct, labels.c.seq)
    chosen = chosen.where(labels.c.entry_id.in_(ids))
    if tenant is not None:
        chosen = chosen.where(labels.c.tenant == rows.plain(tenant))
    found = await database.fetch(chosen.order_by(labels.c.seq.desc()).limit(limit), bulk=True)
    return _logged(database, found)


def _logged(database: Database, found: Sequence[Sequence[Any]]) -> list[Label]:
    """The labels of rows of the log; one that cannot be read is left out and counted."""
    return database.skipped.readable(
        labels.name,
        found,
        key=lambda row: int(row[-1]),
        read=lambda row: _label(row[:-2], correct=bool(row[-2]), seq=row[-1]),
    )


def _skeleton(label: Label) -> dict[str, Any]:
    return {
        "at": label.at,
        "category": rows.plain(label.category),
        "tenant": rows.plain(label.tenant),
        "entry_id": label.entry_id,
        "answer": label.answer,
        "exact": label.exact,
        "score": label.score,
        "features": np.asarray(label.features, "<f8").tobytes(),
        "p_correct": label.p_correct,
        "source": label.source.value,
        "served": label.served,
        "chance": label.chance,
        "origin": label.origin or None,
    }


def _label(row: Sequence[Any], *, correct: bool = False, seq: int = 0) -> Label:
    at, category, tenant, entry_id, answer, exact, score, features, p_correct, source, served, chance, origin = row
    return Label(
        at=at,
        category=rows.unplain(category),
        tenant=rows.unplain(tenant),
        entry_id=entry_id,
        answer=answer,
        exact=exact,
        score=score,
        features=tuple(np.frombuffer(features, "<f8").tolist()),
        p_correct=p_correct,
        correct=correct,
        source=LabelSource(source),
        served=bool(served),
        chance=chance,
        seq=seq,
        origin=origin or "",
    )
