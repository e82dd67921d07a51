"""Conformance of `StoreLifecycle`: opening, probing and closing a store, and what survives that."""

from __future__ import annotations

import asyncio

import pytest

from semcache.errors import StoreError
from semcache.storage.stores import open_store
from semcache.types import Rejection
from tests.conformance.stores import every, lasting
from tests.storage.stores.values import NOW, digest, entry, event, label, owed, vector


@every
async def test_a_closed_store_says_so_and_close_may_be_called_twice(url):
    store = open_store(url)
    for call in (store.ping, store.head, lambda: store.put(entry(1), None), lambda: store.get([1])):
        with pytest.raises(StoreError, match="open"):
            await call()
    with pytest.raises(StoreError, match="open"):
        _ = store.salt
    await store.open()
    await store.ping()
    assert len(store.salt) == 32
    await store.close()
    await store.close()
    with pytest.raises(StoreError, match="open"):
        await store.ping()


@lasting
async def test_everything_is_there_again_after_reopening(url):
    store = open_store(url)
    await store.open()
    salt = store.salt
    await store.put(entry(1, tags=("t",)), vector(1))
    await store.reject([Rejection(1, digest("x"))], now=NOW)
    await store.record([event(1, exact=digest("y"))])
    await store.put(entry(2), None)
    await store.alias(2, 1, now=NOW)
    await store.label([label(1)])
    await store.learn("threshold", 1, b"state")
    await store.enqueue([owed(2, 1)])
    await store.close()
    again = open_store(url)
    await again.open()
    try:
        assert again.salt == salt
        assert await again.get([1]) == [entry(1, tags=("t",))]
        assert await again.rejections() == [Rejection(1, digest("x"))]
        assert await again.served_keys(1) == [digest("y")]
        assert await again.head() == 4
        assert (await again.get([2]))[0].answer == 1
        assert [one.entry_id for one in await again.labels(0)] == [1]
        assert await again.learned("threshold") == (1, b"state")
        assert [one.label for one in await again.claim(1, now=NOW, lease=1)] == [owed(2, 1).label]
    finally:
        await again.close()


@lasting
async def test_stores_that_open_at_once_agree_on_the_salt(url):
    stores = [open_store(url) for _ in range(6)]
    await asyncio.gather(*(store.open() for store in stores))
    assert len({store.salt for store in stores}) == 1
    await asyncio.gather(*(store.close() for store in stores))
