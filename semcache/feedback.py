"""What it means that a served answer was wrong.

Knows the store and nothing of how requests are served. Invariant: afterwards the entry is never served again to a
request that it was served to.
"""

from __future__ import annotations

from semcache.protocols import EntryStore
from semcache.types import Entry, Rejection, Selector


async def wrong(store: EntryStore, entry: Entry, *, now: float) -> list[Rejection]:
    """Reject the entry for every request that it was served to, its own among them; return the rejections.

    One that was only ever replayed to its own request is deleted, and nothing is returned. Raises StoreError.
    """
    served = await store.served_keys(entry.id)
    rejections = [Rejection(entry.id, digest) for digest in served]
    if set(served) - {entry.key.exact}:
        await store.reject(rejections, now=now)
    else:
        await store.delete(Selector(ids=(entry.id,)), now=now)
        return []
    return rejections
