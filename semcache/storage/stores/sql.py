"""The entry store on SQLite or PostgreSQL.

Knows the statements; connections are `engine`'s, the schema is `schema`'s, the shape of a row is `rows`'.
What learning keeps is `learning_rows`'.
Invariant: whatever changes an entry, its vector or its rejections also writes the change feed, in the same
transaction. Of an entry nothing but its answer class changes in place; sealing it anew is no change, nor is reading
its wording anew.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import sqlalchemy as sa

from semcache.errors import IntegrityError, StoreError
from semcache.protocols import VectorBatch
from semcache.storage.stores import outcome_rows, resealing, rows, schema, statements
from semcache.storage.stores.database import Database, Step
from semcache.storage.stores.deleted_rows import DeletedRows
from semcache.storage.stores.feed import Listening, Polling
from semcache.storage.stores.key_rows import KeyRows
from semcache.storage.stores.learning_rows import LearningRows
from semcache.storage.stores.reembedding import Reembedding
from semcache.storage.stores.store_size import StoreSize
from semcache.storage.stores.tables import changes, decisions, entries, mentions, meta, rejections
from semcache.storage.stores.wording_rows import WordingRows
from semcache.types import Card, Change, ChangeKind, Entry, Recorded, Rejection, Selector, public_id

if TYPE_CHECKING:
    from semcache.storage.stores.seal import Seal
    from semcache.types import Vector

CHUNK = 500
_BEFORE = b"before"  # what makes a digest that no request has


class SqlStore(LearningRows, DeletedRows, Reembedding, WordingRows, KeyRows, StoreSize):
    """Entries in a SQL database. `random(n)` gives n unpredictable bytes.

    `unreadable` counts entries that `cards`, `vectors` and `select` left out because they could not be opened.
    """

    def __init__(
        self,
        database: Database,
        seal: Seal | None = None,
        *,
        random: Callable[[int], bytes] = os.urandom,
    ) -> None:
        self._db = database
        self._seal = seal
        self._random = random
        self._salt = b""
        self._seen = 0
        self._feed: Polling | Listening = (
            Polling(self.head, lambda: database.pragma("data_version"))
            if database.sqlite
            else Listening(self.head, database.url)
        )
        self.unreadable = 0

    @property
    def salt(self) -> bytes:
        """32 random bytes made when the store was created."""
        if not self._salt:
            raise StoreError(f"store {self._db.name} is not open; call open() first")
        return self._salt

    async def open(self) -> None:
        """Connect, bring the schema up to date, read the salt. Raises StoreError; ConfigError without a ring."""
        await self._db.open()
        try:
            name = self._db.name
            if not schema.check(await self._db.look(schema.revision), name):
                await self._db.write(lambda connection: schema.prepare(connection, name, self._random))
            self._salt = bytes((await self._db.fetch(statements.SALT))[0][0])
            rows.require_ring(self._seal, (await self._db.fetch(statements.SEALED))[0][0], name)
        except BaseException:
            await self._db.close()
            raise

    async def close(self) -> None:
        """Finish running writes and disconnect."""
        await self._feed.close()
        await self._db.close()

    async def ping(self) -> None:
        """Write and commit one row. Raises StoreError."""
        touch = sa.update(meta).where(meta.c.name == "salt").values(value=meta.c.value)
        await self._db.write(lambda connection: connection.execute(touch), feed=False)

    async def put(self, entry: Entry, vector: Vector | None) -> None:
        """Store an entry in place of those with the same exact digest, whose rejections it gets, or the same id."""
        await self.put_all([(entry, vector)])

    async def put_all(self, entries: Sequence[tuple[Entry, Vector | None]]) -> None:
        """Store several entries in one transaction, each as `put` does; of two with the same digest the later stays."""
        steps = [step for entry, vector in entries for step in self._steps(entry, vector)]
        if steps:
            await self._db.script(steps)

    async def get(self, ids: Sequence[int]) -> list[Entry | None]:
        """Entries in the order of `ids`. Raises IntegrityError when one cannot be opened."""
        found: dict[int, Entry] = {}
        for chunk in _chunks(ids):
            params = {f"id{n}": entry_id for n, entry_id in enumerate(chunk)}
            for row in await self._db.fetch(statements.by_ids(len(chunk)), params):
                found[row[0]] = rows.entry(row, self._seal)
        return [found.get(entry_id) for entry_id in ids]

    async def select(self, where: Selector, *, limit: int = 100, after: int = 0) -> list[Entry]:
        """Entries that match, expired ones included; one that cannot be opened is left out and counted."""
        if where.is_empty():
            return []
        found: list[Entry] = []
        size = min(limit, CHUNK)
        chosen = sa.select(*rows.ENTRY).where(*statements.matching(where, sqlite=self._db.sqlite))
        while len(found) < limit:
            page = chosen.where(entries.c.id > after).order_by(entries.c.id).limit(size)
            batch = await self._db.fetch(page, bulk=True)
            found += self._readable(batch, rows.entry)
            if len(batch) < size:
                break
            after = batch[-1][0]
        return found[:limit]

    async def delete(self, where: Selector, *, now: float, dry_run: bool = False) -> list[int]:
        """Delete what matches, at most 500 entries a transaction, and return the ids in ascending order."""
        if where.is_empty():
            return []
        chosen = sa.select(entries.c.id).where(*statements.matching(where, sqlite=self._db.sqlite))
        ids = [row[0] for row in await self._db.fetch(chosen.order_by(entries.c.id), bulk=True)]
        return ids if dry_run else await self._remove(ids, now)

    async def sweep(self, now: float, grace: float = 0.0) -> list[int]:
        """Delete entries that expired more than `grace` seconds before `now`; returns their ids."""
        expired = sa.select(entries.c.id).where(entries.c.expires < now - grace).order_by(entries.c.id)
        return await self._remove([row[0] for row in await self._db.fetch(expired, bulk=True)], now)

    async def cards(self, embedder_id: str, *, now: float, batch: int = 4096) -> AsyncIterator[Sequence[Card]]:
        """Unexpired entries without a vector of this embedder.

        Take `head` first: what changes while reading is in the feed after it.
        """
        async for page in self._pages(statements.CARDS, {"now": now, "embedder": embedder_id}, batch):
            found = self._readable(page, rows.card)
            if found:
                yield found

    async def vectors(self, embedder_id: str, *, now: float, batch: int = 4096) -> AsyncIterator[VectorBatch]:
        """Unexpired entries with a vector of this embedder; the matrices are read-only views."""
        async for page in self._pages(statements.VECTORS, {"embedder": rows.plain(embedder_id), "now": now}, batch):
            found = self._batch(page)
            if found.cards:
                yield found

    async def vectors_of(self, ids: Sequence[int], embedder_id: str) -> VectorBatch:
        """Those of these entries, expired ones included, that carry a vector of this embedder."""
        found: list[Sequence[Any]] = []
        for chunk in _chunks(ids):
            params = {f"id{n}": entry_id for n, entry_id in enumerate(chunk)} | {"embedder": rows.plain(embedder_id)}
            found += await self._db.fetch(statements.vectors_by_ids(len(chunk)), params)
        return self._batch(found)

    async def embedders(self) -> dict[str, int]:
        """Vectors per embedder id, so that an owner sees what an earlier embedder left behind."""
        return {rows.unplain(name): count for name, count in await self._db.fetch(statements.EMBEDDERS, bulk=True)}

    async def head(self) -> int:
        """The sequence number of the newest change, 0 in a new store."""
        return int((await self._db.fetch(statements.HEAD))[0][0])

    async def changes(self, since: int, *, limit: int = 1000) -> list[Change]:
        """Changes after `since`, oldest first; a row that cannot be read is an UNKNOWN one, and is counted."""
        found = await self._db.fetch(statements.CHANGES, {"after": since, "bundle": limit})
        self._seen = max(self._seen, found[-1][0] if found else since)
        return [rows.change(row, self._db.skipped) for row in found]

    async def wait(self, timeout: float) -> None:
        """Return when there are changes that `changes` has not handed out yet, or after `timeout` seconds."""
        await self._feed.wait(self._seen, timeout)

    async def trim_changes(self, *, keep_rows: int) -> int:
        """Forget all but about the newest `keep_rows` changes; a follower that lags more must reload."""
        last = sa.select(sa.func.max(changes.c.seq) - max(1, keep_rows)).scalar_subquery()
        old = sa.delete(changes).where(changes.c.seq <= last)
        return await self._db.write(lambda connection: connection.execute(old).rowcount)

    async def reject(self, rejections: Sequence[Rejection], *, now: float) -> None:
        """Remember and announce what is new among `rejections`; those of entries that are gone are ignored."""
        wanted = list(dict.fromkeys(rejections))
        await self._db.write(lambda connection: self._reject(connection, wanted, now))

    async def rejections(self, entry_id: int | None = None) -> list[Rejection]:
        """Every rejection of living entries, or of one of them, oldest first."""
        if entry_id is None:
            found = await self._db.fetch(statements.REJECTIONS, bulk=True)
        else:
            found = await self._db.fetch(statements.REJECTIONS_OF, {"entry": entry_id}, bulk=True)
        return [Rejection(of, exact) for of, exact in found]

    async def alike(self, entry_id: int) -> dict[int, bytes]:
        """The exact digests of the other entries of its tenant that are in an entry's answer class, by id."""
        found = await self._db.fetch(statements.ALIKE, {"entry": entry_id}, bulk=True)
        return {row[0]: row[1] for row in found}

    async def alias(self, entry_id: int, answer: int, *, now: float) -> None:
        """Put an entry into an answer class, and announce it if it was in another."""
        there = {"entry": entry_id, "shared": answer}
        steps: list[Step] = [(statements.TELL_ALIAS, there | {"now": now}), (statements.ALIAS, there)]
        if not self._db.sqlite:
            steps.append((statements.NOTIFY, {"payload": str(entry_id)}))
        await self._db.script(steps)

    async def said(self, entry_id: int, *, correct: bool, now: float) -> None:
        """Announce a person's verdict on a served answer."""
        kind = ChangeKind.RIGHT if correct else ChangeKind.WRONG
        there = sa.select(entries.c.id).where(entries.c.id == entry_id)

        def announce(connection: sa.Connection) -> None:
            if connection.execute(there).first() is not None:
                self._announce(connection, [(kind, entry_id, b"")], now)

        await self._db.write(announce)

    async def record(self, events: Sequence[Recorded]) -> None:
        """Append to the event log."""
        await outcome_rows.record(self._db, events)

    async def served_keys(self, entry_id: int) -> list[bytes]:
        """Exact digests of the requests that this entry answered semantically, newest first, at most 1,000."""
        return await outcome_rows.served_keys(self._db, entry_id)

    async def tally(self) -> list[Mapping[str, object]]:
        """Event counts and sums by category and outcome, trimmed events included."""
        return await outcome_rows.tally(self._db)

    async def trim_events(self, *, keep_rows: int | None = None, before: float | None = None) -> int:
        """Drop all but the newest `keep_rows` events, and those before a Unix time; their sums stay in `tally`."""
        return await outcome_rows.trim(self._db, keep_rows, before)

    async def counts(self) -> dict[str, int]:
        """Entries per category."""
        return {rows.unplain(category): count for category, count in await self._db.fetch(statements.COUNTS, bulk=True)}

    async def reseal(self, batch: int = CHUNK) -> int:
        """Seal every row that is not sealed with the current key, one transaction a batch; returns how many.

        May be broken off and called again. Rows that do not open are left as they are and counted in `unreadable`.
        """
        if self._seal is None:
            return 0
        return await resealing.reseal(self._db, self._seal, batch, self._readable)

    def _steps(self, entry: Entry, vector: Vector | None) -> list[Step]:
        values = rows.values(entry, self._seal)
        twin = {"same_exact": entry.key.exact, "same_id": entry.id}
        before = {"before": entry.key.exact + _BEFORE}
        steps: list[Step] = [(statements.FORGET, twin | {"now": entry.created})]
        steps += [(statements.MOVE_ASIDE, twin | before), (statements.REPLACE, {"same_id": entry.id})]
        steps += [(statements.INSERT, values), (statements.HAND_ON, twin | before)]
        if entry.wording:
            steps.append((statements.INSERT_WORDING, rows.own_digest(entry, self._seal)))
        if vector is not None:
            data = np.ascontiguousarray(vector, "<f4")
            row = {"entry_id": entry.id, "embedder_id": values["embedder_id"], "dim": data.size}
            steps.append((statements.INSERT_VECTOR, row | {"data": data.tobytes()}))
            steps += [(one, {"same_id": entry.id}) for one in (statements.UNSHELVE, statements.DROP_VECTOR)]
        for tag in dict.fromkeys(entry.tags):
            steps.append((statements.INSERT_TAG, {"tag": rows.plain(tag), "entry_id": entry.id}))
        news = {"kind": ChangeKind.PUT.value, "entry_id": entry.id, "exact": b"", "at": entry.created}
        steps += [(statements.INSERT_CHANGE, news), (statements.DROP_BEFORE, before)]
        steps.append((statements.TELL_HANDED_ON, {"same_id": entry.id, "now": entry.created}))
        if not self._db.sqlite:
            steps.append((statements.NOTIFY, {"payload": str(entry.id)}))
        return steps

    async def _remove(self, ids: Sequence[int], now: float) -> list[int]:
        gone: list[int] = []
        for chunk in _chunks(ids):
            gone += await self._db.write(partial(self._delete, ids=chunk, now=now))
        return gone

    def _delete(self, connection: sa.Connection, ids: Sequence[int], now: float) -> list[int]:
        about = sa.select(mentions.c.decision_id).where(mentions.c.entry_id.in_(ids))
        connection.execute(sa.delete(decisions).where(decisions.c.id.in_(about)))
        statement = sa.delete(entries).where(entries.c.id.in_(ids)).returning(entries.c.id)
        gone = sorted(connection.execute(statement).scalars())
        self._announce(connection, [(ChangeKind.DELETE, entry_id, b"") for entry_id in gone], now)
        return gone

    def _reject(self, connection: sa.Connection, wanted: Sequence[Rejection], now: float) -> None:
        fresh: list[Rejection] = []
        for chunk in _chunks(wanted):
            ids = {rejection.entry_id for rejection in chunk}
            alive = set(connection.execute(sa.select(entries.c.id).where(entries.c.id.in_(ids))).scalars())
            pairs = sa.select(rejections.c.entry_id, rejections.c.exact).where(rejections.c.entry_id.in_(ids))
            known = {tuple(row) for row in connection.execute(pairs)}
            fresh += [r for r in chunk if r.entry_id in alive and (r.entry_id, r.exact) not in known]
        if fresh:
            connection.execute(
                sa.insert(rejections), [{"entry_id": r.entry_id, "exact": r.exact, "at": now} for r in fresh]
            )
        self._announce(connection, [(ChangeKind.REJECT, r.entry_id, r.exact) for r in fresh], now)

    def _announce(self, connection: sa.Connection, news: Sequence[tuple[ChangeKind, int, bytes]], now: float) -> None:
        if not news:
            return
        connection.execute(
            sa.insert(changes),
            [{"kind": kind.value, "entry_id": entry_id, "exact": exact, "at": now} for kind, entry_id, exact in news],
        )
        if not self._db.sqlite:
            connection.execute(statements.NOTIFY, {"payload": str(news[-1][1])})

    def _readable(self, found: Sequence[Any], read: Callable[[Any, Any], Any]) -> list[Any]:
        kept: list[Any] = []
        for row in found:
            try:
                kept.append(read(row, self._seal))
            except IntegrityError:
                self.unreadable += 1
        return kept

    def _batch(self, page: Sequence[Sequence[Any]]) -> VectorBatch:
        """Cards and vectors of rows of one embedder; what cannot be read is left out and counted."""
        cards: list[Card] = []
        kept: list[bytes] = []
        for row in page:
            try:
                if len(row[-1]) != row[-2] * 4 or (kept and len(row[-1]) != len(kept[0])):
                    raise IntegrityError(f"vector of entry {public_id(row[0])} has another length")
                cards.append(rows.card(row, self._seal))
                kept.append(row[-1])
            except IntegrityError:
                self.unreadable += 1
        return VectorBatch(cards, np.frombuffer(b"".join(kept), "<f4").reshape(len(cards), -1 if cards else 0))

    async def _pages(
        self, statement: sa.Select[Any], params: Mapping[str, Any], batch: int
    ) -> AsyncIterator[Sequence[Sequence[Any]]]:
        """Pages by ascending id, each a short read, so that no long one holds up checkpoints or vacuum."""
        after = -1
        while page := await self._db.fetch(statement, {**params, "after": after, "bundle": batch}, bulk=True):
            yield page
            after = page[-1][0]
            if len(page) < batch:
                return


def _chunks(items: Sequence[Any]) -> list[list[Any]]:
    rest = iter(items)
    return list(iter(lambda: list(islice(rest, CHUNK)), []))
