"""Conformance of `Vectors`: cards and vectors in bulk, by embedder."""

from __future__ import annotations

import numpy as np

from tests.conformance.stores import every
from tests.storage.stores.values import NOW, entry, vector


@every
async def test_cards_and_vectors_part_the_living_entries(store):
    for n in range(1, 8):
        await store.put(entry(n), vector(n))
    await store.put(entry(8, expires=NOW), vector(8))
    await store.put(entry(9, embedder_id="other"), vector(9))
    await store.put(entry(10, partition=b""), None)
    await store.put(entry(11, partition=b""), None)
    await store.put(entry(12, partition=b"", expires=NOW - 1), None)
    batches = [batch async for batch in store.vectors("mini", now=NOW, batch=3)]
    assert [[card.id for card in batch.cards] for batch in batches] == [[1, 2, 3], [4, 5, 6], [7]]
    for batch in batches:
        assert batch.matrix.dtype == np.float32
        for card, row in zip(batch.cards, batch.matrix, strict=True):
            assert np.array_equal(row, vector(card.id))
            assert card == entry(card.id).card()
    pages = [list(page) async for page in store.cards("mini", now=NOW, batch=1)]
    assert [[card.id for card in page] for page in pages] == [[9], [10], [11]]
    assert pages[1] == [entry(10, partition=b"").card()]
    assert await store.embedders() == {"mini": 8, "other": 1}


@every
async def test_vectors_of_some_entries(store):
    await store.put_all([(entry(n), vector(n)) for n in (1, 2, 3)])
    await store.put_all(
        [(entry(4, expires=NOW - 1), vector(4)), (entry(5), None), (entry(6, embedder_id="x"), vector(6))]
    )
    batch = await store.vectors_of([6, 3, 5, 4, 99, 1], "mini")
    found = {card.id: row for card, row in zip(batch.cards, batch.matrix, strict=True)}
    assert set(found) == {1, 3, 4}
    assert all(np.array_equal(row, vector(n)) for n, row in found.items())
    assert (await store.vectors_of([], "mini")).matrix.shape[0] == 0
    assert (await store.vectors_of([5], "mini")).matrix.shape[0] == 0
