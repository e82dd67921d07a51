"""Loading: reads a store's entries into the registry and the index of a starting process, helped by a snapshot.

Invariant: when `fill` returns, every durable entry that has not expired can be found. One process at a time writes a
snapshot; a snapshot that cannot be read or written costs only time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Protocol

from semcache.cache.maintenance import grace, lapsed
from semcache.config.packs import Pack
from semcache.errors import IndexFault
from semcache.protocols import ChangeFeed, Embedder, Rejections, Vectors
from semcache.storage.indexes import snapshot
from semcache.storage.indexes.owner import IndexOwner
from semcache.storage.indexes.partitions import PartitionedIndex
from semcache.storage.live_entries import LiveEntries
from semcache.types import Card, Change

_FEW = 2000


class LoadedStore(Vectors, Rejections, ChangeFeed, Protocol):
    """The part of a store that is read at the start."""


async def load_partitions(folder: Path | None, embedder: Embedder, store: Vectors) -> PartitionedIndex:
    """Return the partitions of the snapshot, which saves building large graphs again, or empty ones.

    A snapshot that lacks many vectors is not used: adding them to its graphs one by one would take longer than starting
    flat, which answers at once and builds its graphs later. Raises StoreError.
    """
    if folder is not None:
        with suppress(IndexFault):
            partitions, _ = snapshot.load(folder, embedder_id=embedder.id, dim=embedder.dim)
            stored = (await store.embedders()).get(embedder.id, 0)
            if stored - len(partitions) <= _FEW:
                return partitions
    return PartitionedIndex(embedder.dim)


async def fill(
    live: LiveEntries, store: LoadedStore, pack: Pack, *, embedder_id: str, held: Mapping[int, bytes], now: float
) -> Change | None:
    """Have every entry of the store, with the vectors that are not `held` yet, and no other; return the last change.

    `held` are the partitions of the index's ids. A vector that the store has in another partition, or no longer, does
    not stay where it is. What is given up or deleted here meanwhile stays away. Raises StoreError.
    """
    last = await newest(store)
    known = {card.id: card.partition for card in live.registry.cards()}
    there: set[int] = set()
    bare: set[int] = set()
    displaced: list[int] = []

    def taken(card: Card) -> bool:
        there.add(card.id)
        if lapsed(card, pack, now) or card.id in hidden:
            return False
        if card.id in known and known[card.id] == card.partition:
            live.share(card.id, card.answer_class)
        elif live.wants(card.id) or (card.id in known and live.registry.get(card.id) is not None):
            displaced.extend(live.add_stored(card))
        return live.registry.get(card.id) is not None

    with live.hidden_meanwhile() as hidden:
        async for batch in store.vectors(embedder_id, now=now - grace(pack)):
            rows: dict[bytes, list[int]] = {}
            for row, card in enumerate(batch.cards):
                if taken(card) and held.get(card.id) != card.partition:
                    rows.setdefault(card.partition, []).append(row)
            for partition, numbers in rows.items():
                ids = [batch.cards[row].id for row in numbers]
                await live.index.bulk_add(partition, ids, batch.matrix[numbers])
        async for cards in store.cards(embedder_id, now=now - grace(pack)):
            bare.update(card.id for card in cards if taken(card))
        rejections = await store.rejections()
    await live.hide(*(known.keys() - there))
    stale = [entry_id for entry_id in held if entry_id in bare or live.registry.get(entry_id) is None]
    await live.index.remove(*displaced, *stale)
    live.registry.reject(rejections)
    return last


async def newest(store: ChangeFeed) -> Change | None:
    """Return the newest change, None in a new store. Raises StoreError."""
    changes = await store.changes(max(0, await store.head() - 1), limit=1)
    return changes[0] if changes else None


async def write_snapshot(folder: Path, index: IndexOwner, *, embedder_id: str, head: int) -> None:
    """Write the index to `folder`, unless another worker is doing so. Raises nothing."""
    # Without a folder, or room in it, the next start reads the store alone.
    with suppress(IndexFault, OSError), _alone(folder) as alone:
        if alone:
            await index.snapshot(folder, embedder_id=embedder_id, head=head)


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Give True if only this process may write to `folder` while the block runs: other workers may be closing too.

    On systems without such locks, such as Windows, there are no other workers.
    """
    try:
        import fcntl
    except ImportError:
        yield True
        return
    with folder.with_suffix(".lock").open("wb") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True
