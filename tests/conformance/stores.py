"""The stores that every suite of a part of `EntryStore` runs against. A new store joins by a line in `STORES`."""

from __future__ import annotations

import pytest

from semcache.config import plugins
from semcache.protocols import ChangeFeed

STORES = [
    "memory",
    "sqlite",
    pytest.param("postgres", marks=pytest.mark.postgres),
    *plugins.names("stores"),
]
LASTING = STORES[1:]

every = pytest.mark.parametrize("url", STORES, indirect=True)
lasting = pytest.mark.parametrize("url", LASTING, indirect=True)


async def kinds(store: ChangeFeed, since: int = 0) -> list[tuple[str, int]]:
    return [(change.kind.value, change.entry_id) for change in await store.changes(since)]
