"""Conformance of `WordingStore`: digests of canonical wordings, beside their entries."""

from __future__ import annotations

from dataclasses import replace

from semcache.protocols import OperatorStore, WordingStore
from semcache.storage.stores import open_store
from semcache.types import Selector
from tests.conformance.stores import every, lasting
from tests.storage.stores.values import NOW, entry, vector


async def wordings(store) -> dict[int, bytes]:
    """The digests that a cache would be given at its start."""
    cards = [card async for batch in store.vectors("mini", now=NOW) for card in batch.cards]
    cards += [card async for page in store.cards("mini", now=NOW) for card in page]
    return {card.id: card.wording for card in cards}


@every
async def test_a_store_that_is_built_in_keeps_wordings(store):
    assert isinstance(store, WordingStore)


@every
async def test_a_digest_comes_back_with_its_entry_however_that_is_read(store):
    first, second = entry(1, wording=b"\x00one"), entry(2, partition=b"", wording=b"two")
    await store.put_all([(first, vector(1)), (second, None), (entry(3), vector(3))])
    assert await store.get([1, 2, 3]) == [first, second, entry(3)]
    assert await store.select(Selector(everything=True)) == [first, second, entry(3)]
    assert [card.wording for card in (await store.vectors_of([1], "mini")).cards] == [b"\x00one"]
    assert await wordings(store) == {1: b"\x00one", 2: b"two", 3: b""}


@every
async def test_digests_that_are_read_later_take_the_place_of_those_before_and_are_no_change(store):
    await store.put_all([(entry(n, wording=b"old" if n % 2 else b""), vector(n)) for n in range(1, 1201)])
    head = await store.head()
    await store.reword({n: b"%d" % n for n in range(2, 1300)})
    await store.reword({})
    assert await store.head() == head
    assert await wordings(store) == {1: b"old", **{n: b"%d" % n for n in range(2, 1201)}}
    assert await store.get([2]) == [entry(2, wording=b"2")]


@every
async def test_a_digest_goes_with_its_entry(store):
    for number, leave in enumerate(
        (
            lambda: store.delete(Selector(ids=(1,)), now=NOW),
            lambda: store.sweep(NOW + 1000),
            lambda: store.put(entry(1, "other"), vector(1)),
        )
    ):
        await store.put(entry(1, f"text {number}", wording=b"one"), vector(1))
        await leave()
        await store.put(entry(1, "again"), vector(1))
        assert await wordings(store) == {1: b""}


@every
async def test_a_digest_comes_back_with_an_entry_that_was_set_aside(store):
    assert isinstance(store, OperatorStore)
    await store.put(entry(1, wording=b"one"), vector(1))
    await store.set_aside(Selector(ids=(1,)), batch="b", now=NOW, until=NOW + 50)
    assert await wordings(store) == {}
    assert await store.bring_back("b", now=NOW + 1) == [1]
    assert await store.get([1]) == [entry(1, wording=b"one")]
    await store.unshelve(1, batch="c", now=NOW + 1, until=NOW + 50)
    assert await store.bring_back("c", now=NOW + 2) == [1]
    assert await store.get([1]) == [entry(1, wording=b"one")]


@lasting
async def test_other_workers_and_later_ones_are_given_the_digests(store, url):
    await store.put(entry(1, wording=b"one"), vector(1))
    await store.put(entry(2), vector(2))
    other = open_store(url)
    await other.open()
    try:
        await other.reword({2: b"two"})
        assert await wordings(other) == await wordings(store) == {1: b"one", 2: b"two"}
        assert await store.get([1]) == [replace(entry(1), wording=b"one")]
    finally:
        await other.close()
