"""What it means that a served answer was wrong.

Knows the store and nothing of how requests are served. Invariant: afterwards the entry is never served again to a
request that it was served to.
"""

from __future__ import annotations

from semcache.protocols import EntryStore
from semcache.types import Entry, Rejection, Selector


async def wrong(store: EntryStore, entry: Entry, *, now: float) -> list[Rejection]:
    """Reject the entry for every request that it was served to; return the rejections.

    One that was only ever replayed to its own request is deleted, and nothing is returned. Raises StoreError.
    """
    served = [digest for digest in await store.served_keys(entry.id) if digest != entry.key.exact]
    rejections = [Rejection(entry.id, digest) for digest in served]
    if rejections:
        await store.reject(rejections, now=now)
    else:
        await store.delete(Selector(ids=(entry.id,)), now=now)
    return rejections
