"""The entry store in a few dicts: for tests, and for a cache that may forget.

Knows no files and no other processes. Nothing survives `close`.
Invariant: it answers every call as the SQL store does, so that a test on it says something about the real one.
"""

from __future__ import annotations

import asyncio
import os
from bisect import bisect_right
from collections import Counter
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from semcache.errors import StoreError
from semcache.protocols import VectorBatch
from semcache.storage.stores.memory_operating import MemoryOperating, matches, sums_of
from semcache.types import (
    ALL_OTHERS,
    ApiKey,
    Card,
    Change,
    ChangeKind,
    Entry,
    Recorded,
    Rejection,
    Selector,
    expiry_action,
)

if TYPE_CHECKING:
    from semcache.types import Vector

EVENTS = 100_000
CHANGES = 100_000


class MemoryStore(MemoryOperating):
    """Entries in memory. `random(n)` gives n unpredictable bytes; the newest 100,000 events and changes stay."""

    def __init__(self, *, random: Callable[[int], bytes] = os.urandom) -> None:
        super().__init__()
        self._random = random
        self._salt = b""
        self._by_exact: dict[bytes, int] = {}
        self._vectors: dict[int, Vector] = {}
        self._rejections: dict[Rejection, None] = {}
        self._changes: list[tuple[float, Change]] = []
        self._events: list[Recorded] = []
        self._totals: dict[tuple[str, str], dict[str, float]] = {}
        self._keys: dict[str, ApiKey] = {}
        self._seq = 0
        self._seen = 0
        self._grown = asyncio.Event()
        self._open = False

    @property
    def salt(self) -> bytes:
        """32 random bytes made at the first `open`."""
        if not self._salt:
            raise StoreError("store memory:// is not open; call open() first")
        return self._salt

    async def open(self) -> None:
        """Start empty."""
        self._open = True
        self._salt = self._salt or self._random(32)

    async def close(self) -> None:
        """Refuse further calls."""
        self._open = False

    async def ping(self) -> None:
        """Raise StoreError unless open."""
        if not self._open:
            raise StoreError("store memory:// is not open; call open() first")

    async def put(self, entry: Entry, vector: Vector | None) -> None:
        """Store an entry in place of those with the same exact digest, whose rejections it gets, or the same id."""
        await self.ping()
        refused = self._handed_on(entry)
        for entry_id in {self._by_exact.get(entry.key.exact), entry.id}:
            if entry_id in self._entries:
                self._drop(entry_id, entry.created)
        if Rejection(entry.id, ALL_OTHERS) in refused:
            entry, vector = replace(entry, partition=b"", embedder_id=""), None
        self._entries[entry.id] = entry
        self._by_exact[entry.key.exact] = entry.id
        if vector is not None:
            self._vectors[entry.id] = np.array(vector, dtype=np.float32)
        self._announce(ChangeKind.PUT, entry.id, entry.created)
        await self.reject(refused, now=entry.created)

    async def put_all(self, entries: Sequence[tuple[Entry, Vector | None]]) -> None:
        """Store several entries, each as `put` does."""
        for entry, vector in entries:
            await self.put(entry, vector)

    async def get(self, ids: Sequence[int]) -> list[Entry | None]:
        """Entries in the order of `ids`."""
        await self.ping()
        return [self._entries.get(entry_id) for entry_id in ids]

    async def select(self, where: Selector, *, limit: int = 100, after: int = 0) -> list[Entry]:
        """Entries that match, expired ones included."""
        await self.ping()
        return [self._entries[entry_id] for entry_id in self._matching(where) if entry_id > after][:limit]

    async def delete(self, where: Selector, *, now: float, dry_run: bool = False) -> list[int]:
        """Delete what matches and return the ids in ascending order."""
        await self.ping()
        ids = self._matching(where)
        for entry_id in [] if dry_run else ids:
            self._drop(entry_id, now)
        return ids

    async def sweep(self, now: float, grace: float = 0.0) -> list[int]:
        """Delete entries that expired more than `grace` seconds before `now`."""
        await self.ping()
        ids = sorted(entry_id for entry_id, entry in self._entries.items() if entry.expires < now - grace)
        for entry_id in ids:
            self._drop(entry_id, now)
        return ids

    async def cards(self, embedder_id: str, *, now: float, batch: int = 4096) -> AsyncIterator[Sequence[Card]]:
        """Unexpired entries without a vector of this embedder."""
        await self.ping()
        ids = [
            entry_id
            for entry_id, entry in sorted(self._entries.items())
            if entry.expires > now and not (entry_id in self._vectors and entry.embedder_id == embedder_id)
        ]
        for start in range(0, len(ids), batch):
            yield [
                self._entries[entry_id].card() for entry_id in ids[start : start + batch] if entry_id in self._entries
            ]

    async def vectors(self, embedder_id: str, *, now: float, batch: int = 4096) -> AsyncIterator[VectorBatch]:
        """Unexpired entries with a vector of this embedder."""
        await self.ping()
        ids = [
            entry_id
            for entry_id in sorted(self._vectors)
            if self._entries[entry_id].embedder_id == embedder_id and self._entries[entry_id].expires > now
        ]
        for start in range(0, len(ids), batch):
            found = await self.vectors_of(ids[start : start + batch], embedder_id)
            if found.cards:
                yield found

    async def vectors_of(self, ids: Sequence[int], embedder_id: str) -> VectorBatch:
        """Those of these entries, expired ones included, that carry a vector of this embedder."""
        await self.ping()
        kept = [n for n in ids if n in self._vectors and self._entries[n].embedder_id == embedder_id]
        matrix = np.stack([self._vectors[n] for n in kept]) if kept else np.empty((0, 0), np.float32)
        return VectorBatch([self._entries[n].card() for n in kept], matrix)

    async def embedders(self) -> dict[str, int]:
        """Vectors per embedder id."""
        return dict(Counter(self._entries[entry_id].embedder_id for entry_id in self._vectors))

    async def reword(self, digests: Mapping[int, bytes]) -> None:
        """Keep the digests of these entries' wordings in place of earlier ones."""
        await self.ping()
        for entry_id in digests.keys() & self._entries.keys():
            self._entries[entry_id] = replace(self._entries[entry_id], wording=digests[entry_id])

    async def head(self) -> int:
        """The sequence number of the newest change."""
        await self.ping()
        return self._seq

    async def changes(self, since: int, *, limit: int = 1000) -> list[Change]:
        """Changes after `since`, oldest first."""
        await self.ping()
        first = bisect_right(self._changes, since, key=lambda dated: dated[1].seq)
        found = [change for _, change in self._changes[first : first + limit]]
        self._seen = max(self._seen, found[-1].seq if found else since)
        return found

    async def wait(self, timeout: float) -> None:
        """Return when there are changes that `changes` has not handed out yet, or after `timeout` seconds."""
        self._grown.clear()
        if self._seq <= self._seen:
            # `wait_for` may swallow a cancellation that comes together with the event.
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await self._grown.wait()

    async def trim_changes(self, *, keep_rows: int) -> int:
        """Forget all but the newest `keep_rows` changes."""
        kept = [(at, change) for at, change in self._changes if change.seq > self._seq - max(1, keep_rows)]
        gone, self._changes = len(self._changes) - len(kept), kept
        return gone

    async def reject(self, rejections: Sequence[Rejection], *, now: float) -> None:
        """Remember and announce what is new among `rejections`."""
        await self.ping()
        for rejection in rejections:
            if rejection.entry_id in self._entries and rejection not in self._rejections:
                self._rejections[rejection] = None
                self._announce(ChangeKind.REJECT, rejection.entry_id, now, rejection.exact)

    async def rejections(self, entry_id: int | None = None) -> list[Rejection]:
        """Every rejection of living entries, or of one of them, oldest first."""
        return [one for one in self._rejections if entry_id in (None, one.entry_id)]

    async def alike(self, entry_id: int) -> dict[int, bytes]:
        """The exact digests of the other entries of its tenant that are in an entry's answer class, by id."""
        entry = self._entries.get(entry_id)
        same = () if entry is None else (entry.key.scope.tenant, entry.card().answer_class)
        return {
            one.id: one.key.exact
            for one in self._entries.values()
            if one.id != entry_id and (one.key.scope.tenant, one.card().answer_class) == same
        }

    async def alias(self, entry_id: int, answer: int, *, now: float) -> None:
        """Put an entry into an answer class, and announce it if it was in another."""
        await self.ping()
        entry = self._entries.get(entry_id)
        if entry is not None and entry.answer != answer:
            self._entries[entry_id] = replace(entry, answer=answer)
            self._announce(ChangeKind.ALIAS, entry_id, now)

    async def said(self, entry_id: int, *, correct: bool, now: float) -> None:
        """Announce a person's verdict on a served answer."""
        await self.ping()
        if entry_id in self._entries:
            self._announce(ChangeKind.RIGHT if correct else ChangeKind.WRONG, entry_id, now)

    async def record(self, events: Sequence[Recorded]) -> None:
        """Append to the event log."""
        await self.ping()
        self._events += events
        if len(self._events) > 2 * EVENTS:
            await self.trim_events(keep_rows=EVENTS)

    async def served_keys(self, entry_id: int) -> list[bytes]:
        """Exact digests of the requests that this entry answered, newest first, at most 1,000."""
        newest: dict[bytes, tuple[float, int]] = {}
        for position, event in enumerate(self._events):
            if event.entry_id == entry_id and event.exact:
                newest[event.exact] = max(newest.get(event.exact, (event.at, position)), (event.at, position))
        return sorted(newest, key=lambda exact: newest[exact], reverse=True)[:1000]

    async def tally(self) -> list[Mapping[str, object]]:
        """Event counts and sums by category and outcome, trimmed events included."""
        added = {group: dict(sums) for group, sums in self._totals.items()}
        for event in self._events:
            _add(added, event)
        return [
            {"category": category, "outcome": outcome, **sums} for (category, outcome), sums in sorted(added.items())
        ]

    async def trim_events(self, *, keep_rows: int | None = None, before: float | None = None) -> int:
        """Drop all but the newest `keep_rows` events, and those before a Unix time; their sums stay in `tally`."""
        first = 0 if keep_rows is None else max(0, len(self._events) - keep_rows)
        kept: list[Recorded] = []
        for position, event in enumerate(self._events):
            if position < first or (before is not None and event.at < before):
                _add(self._totals, event)
            else:
                kept.append(event)
        gone, self._events = len(self._events) - len(kept), kept
        self._events_gone += gone
        return gone

    async def counts(self) -> dict[str, int]:
        """Entries per category."""
        return dict(Counter(entry.category for entry in self._entries.values()))

    async def reseal(self, batch: int = 500) -> int:  # noqa: ARG002
        """Nothing in memory is sealed."""
        return 0

    async def add_key(self, key: ApiKey) -> None:
        """Store a key. Raises StoreError when its id or digest is taken."""
        await self.ping()
        if key.id in self._keys or any(key.digest == known.digest for known in self._keys.values()):
            raise StoreError(f"key {key.id} exists already; make another")
        self._keys[key.id] = key

    async def keys(self) -> list[ApiKey]:
        """Every key, revoked and expired ones included, oldest first."""
        return sorted(self._keys.values(), key=lambda key: (key.created, key.id))

    async def revoke_key(self, id: str, *, now: float) -> bool:
        """Revoke a key; False when there is none, or it is revoked already."""
        key = self._keys.get(id)
        if key is None or key.revoked is not None:
            return False
        self._keys[id] = replace(key, revoked=now)
        return True

    async def limit_key(self, id: str, *, requests: int | None, tokens: int | None, dollars: float | None) -> bool:
        """Set the limits of a key, None for those of the settings; False when there is no such key."""
        key = self._keys.get(id)
        if key is None:
            return False
        self._keys[id] = replace(key, requests_per_minute=requests, tokens_per_minute=tokens, dollars_per_day=dollars)
        return True

    async def expire_key(self, id: str, *, expires: float | None) -> bool:
        """Set the end of a key, None for none; False when there is no such key, or it is revoked."""
        key = self._keys.get(id)
        if key is None or key.revoked is not None:
            return False
        self._keys[id] = replace(key, expires=expires)
        return True

    async def note_expired(self, *, since: float, now: float) -> None:
        """Write into the administrators' log which keys have expired since then, each once."""
        for key in self._keys.values():
            noted = expiry_action(key)
            if key.revoked is None and key.expires and since < key.expires <= now and noted not in self._actions:
                await self.act(noted)

    def _forget_events(self, tenant: str) -> None:
        kept = []
        for event in self._events:
            if event.scope.tenant == tenant:
                _add(self._totals, event)
            else:
                kept.append(event)
        self._events_gone += len(self._events) - len(kept)
        self._events = kept

    def _matching(self, where: Selector) -> list[int]:
        return (
            [] if where.is_empty() else sorted(entry_id for entry_id, e in self._entries.items() if matches(e, where))
        )

    def _handed_on(self, entry: Entry) -> list[Rejection]:
        old = self._by_exact.get(entry.key.exact, entry.id)
        wrong = [one.exact for one in self._rejections if one.entry_id == old and one.exact != entry.key.exact]
        return [] if old == entry.id else [Rejection(entry.id, exact) for exact in wrong]

    def _drop(self, entry_id: int, at: float) -> None:
        entry = self._entries.pop(entry_id)
        self._by_exact.pop(entry.key.exact, None)
        self._vectors.pop(entry_id, None)
        self._rejections = {rejection: None for rejection in self._rejections if rejection.entry_id != entry_id}
        self._forget_mentions(entry_id)
        self._announce(ChangeKind.DELETE, entry_id, at)

    def _announce(self, kind: ChangeKind, entry_id: int, at: float, exact: bytes = b"") -> None:
        self._seq += 1
        self._changes.append((at, Change(self._seq, kind, entry_id, exact)))
        if len(self._changes) > 2 * CHANGES:
            del self._changes[:-CHANGES]
        self._grown.set()


def _add(sums: dict[tuple[str, str], dict[str, float]], event: Recorded) -> None:
    more = sums_of(event)
    group = sums.setdefault((event.category, event.outcome.value), dict.fromkeys(more, 0))
    for name, value in more.items():
        group[name] += value
