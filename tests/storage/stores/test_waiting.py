"""Waiting for changes must end when the waiter is told to, or a cache would not close."""

from __future__ import annotations

import asyncio

from semcache.storage.stores.memory import MemoryStore
from tests.storage.stores.values import entry


async def test_a_cancellation_that_comes_with_a_change_is_not_lost() -> None:
    store = MemoryStore()
    await store.open()
    waiting = asyncio.create_task(store.wait(60))
    await asyncio.sleep(0)
    await store.put(entry(1), None)
    waiting.cancel()
    await asyncio.wait([waiting])
    assert waiting.cancelled()
    await store.close()
