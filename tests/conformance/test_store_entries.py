"""Conformance of `Entries`: stored answers by id."""

from __future__ import annotations

import asyncio

from semcache.types import ChangeKind, Rejection, Scope, Selector
from tests.conformance.stores import every, kinds, lasting
from tests.storage.stores.values import NOW, digest, entry, vector


@every
async def test_entries_come_back_as_they_were_in_the_order_asked_for(store):
    first = entry(1, tags=("b", "a", "b"), source="import")
    second = entry(2**62, scope=Scope("acme", "ann", "ns"), partition=b"", body=b"\x00" * 100_000)
    await store.put(first, vector(1))
    await store.put(second, None)
    assert await store.get([2**62, 7, 1, 1]) == [second, None, first, first]
    assert await store.get([]) == []


@every
async def test_more_ids_than_fit_one_statement_are_all_found(store):
    for n in range(3):
        await store.put(entry(n), None)
    found = await store.get([2, *range(10, 1200), 0])
    assert [found[0].id, found[-1].id] == [2, 0]
    assert len(found) == 1192


@every
async def test_an_answer_put_again_takes_the_place_of_the_old_one(store):
    await store.put(entry(1, "same"), vector(1))
    head = await store.head()
    await store.put(entry(2, "same"), None)
    assert [found and found.id for found in await store.get([1, 2])] == [None, 2]
    assert await kinds(store, head) == [("delete", 1), ("put", 2)]
    assert [batch async for batch in store.vectors("mini", now=NOW)] == []


@every
async def test_what_an_answer_was_wrong_for_the_next_one_is_wrong_for_too_but_not_its_own_request(store):
    await store.put_all([(entry(1, "same"), vector(1)), (entry(3), vector(3))])
    other = Rejection(3, digest("x"))
    wrong = [Rejection(1, digest("x")), Rejection(1, entry(1, "same").key.exact), Rejection(1, digest("y")), other]
    await store.reject(wrong, now=NOW)
    head = await store.head()
    await store.put(entry(2, "same"), vector(2))
    handed_on = {Rejection(2, digest("x")), Rejection(2, digest("y"))}
    assert set(await store.rejections()) == {*handed_on, other}
    told = await store.changes(head)
    assert [(one.kind, one.entry_id) for one in told[:2]] == [(ChangeKind.DELETE, 1), (ChangeKind.PUT, 2)]
    assert {(one.kind, Rejection(one.entry_id, one.exact)) for one in told[2:]} == {
        (ChangeKind.REJECT, one) for one in handed_on
    }
    await store.put_all([(entry(4, "same"), None), (entry(5, "same"), vector(5))])
    assert set(await store.rejections(5)) == {Rejection(5, digest("x")), Rejection(5, digest("y"))}
    assert [found and found.id for found in await store.get([1, 2, 4, 5])] == [None, None, None, 5]


@every
async def test_the_same_id_put_twice_is_one_entry(store):
    await store.put(entry(1, "old", tags=("t",)), vector(1))
    await store.put(entry(1, "new"), None)
    assert (await store.get([1]))[0].key.text == "new"
    assert await kinds(store) == [("put", 1), ("delete", 1), ("put", 1)]
    assert await store.select(Selector(tag="t")) == []


@every
async def test_a_selector_is_a_conjunction_and_an_empty_one_selects_nothing(store):
    await store.put(entry(1, scope=Scope("acme", "ann", "n1"), category="code", tags=("x", "y")), None)
    await store.put(entry(2, scope=Scope("acme", "bob", "n1"), model="other", created=NOW - 50), None)
    await store.put(entry(3, scope=Scope("beta", None, "n2"), source="import", tags=("xy",)), None)

    async def ids(**fields):
        return [found.id for found in await store.select(Selector(**fields))]

    assert await ids() == []
    assert await ids(everything=True) == [1, 2, 3]
    assert await ids(everything=True, tenant="acme") == [1, 2]
    assert await ids(ids=()) == []
    assert await ids(ids=(3, 1, 9)) == [1, 3]
    assert await ids(ids=(3, 1), tenant="acme") == [1]
    assert await ids(tenant="acme", user="bob") == [2]
    assert await ids(tenant="acme", user="") == []
    assert await ids(namespace="n1", category="code") == [1]
    assert await ids(model="other") == [2]
    assert await ids(tag="x") == [1]
    assert await ids(source="import") == [3]
    assert await ids(older_than=NOW) == [2]
    assert await ids(older_than=NOW - 50) == []


@every
async def test_select_pages_by_ascending_id(store):
    for n in (5, 1, 4, 2, 3):
        await store.put(entry(n), None)
    everything = Selector(everything=True)
    assert [found.id for found in await store.select(everything, limit=2)] == [1, 2]
    assert [found.id for found in await store.select(everything, limit=2, after=2)] == [3, 4]
    assert [found.id for found in await store.select(everything, limit=2, after=4)] == [5]
    assert await store.select(everything, limit=0) == []


@every
async def test_a_dry_run_tells_what_a_delete_then_does(store):
    for n in (1, 2, 3):
        await store.put(entry(n, category="code" if n == 3 else "default"), vector(n))
    head = await store.head()
    where = Selector(tenant="acme", category="default")
    assert await store.delete(where, now=NOW, dry_run=True) == [1, 2]
    assert await store.head() == head
    assert await store.delete(where, now=NOW) == [1, 2]
    assert await kinds(store, head) == [("delete", 1), ("delete", 2)]
    assert [found and found.id for found in await store.get([1, 2, 3])] == [None, None, 3]
    assert await store.delete(where, now=NOW) == []
    assert await store.delete(Selector(), now=NOW) == []
    assert await store.counts() == {"code": 1}


@every
async def test_a_delete_of_more_than_one_chunk_deletes_all(store):
    await store.put_all([(entry(n), None) for n in range(1, 602)])
    named = Selector(ids=tuple(range(100_000)), tenant="acme")
    assert len(await store.select(named, limit=1000)) == 601
    assert await store.delete(named, now=NOW) == list(range(1, 602))
    assert await store.counts() == {}


@every
async def test_sweep_takes_what_is_expired_for_longer_than_the_grace(store):
    await store.put(entry(1, expires=NOW - 20), vector(1))
    await store.put(entry(2, expires=NOW - 5), None)
    await store.put(entry(3, expires=NOW + 5), None)
    head = await store.head()
    assert await store.sweep(NOW, 10) == [1]
    assert await store.sweep(NOW) == [2]
    assert await kinds(store, head) == [("delete", 1), ("delete", 2)]


@every
async def test_several_entries_are_put_as_one_after_the_other(store):
    await store.put_all([(entry(1), vector(1)), (entry(2, "same", tags=("t",)), None), (entry(3, "same"), vector(3))])
    await store.put_all([])
    assert [found and found.id for found in await store.get([1, 2, 3])] == [1, None, 3]
    assert await kinds(store) == [("put", 1), ("put", 2), ("delete", 2), ("put", 3)]


@every
async def test_an_alias_changes_the_answer_class_alone_and_is_announced_once(store):
    await store.put(entry(1), vector(1))
    await store.put(entry(2, tags=("t",)), vector(2))
    await store.put(entry(3, answer=1), None)
    head = await store.head()
    await store.alias(2, 1, now=NOW)
    await store.alias(2, 1, now=NOW)
    await store.alias(99, 1, now=NOW)
    assert await store.get([1, 2, 3]) == [entry(1), entry(2, tags=("t",), answer=1), entry(3, answer=1)]
    assert await kinds(store, head) == [("alias", 2)]
    batch = await store.vectors_of([1, 2], "mini")
    assert {card.id: card.answer_class for card in batch.cards} == {1: 1, 2: 1}
    assert [card async for page in store.cards("mini", now=NOW) for card in page] == [entry(3, answer=1).card()]


@every
async def test_writes_at_once_are_all_done(store):
    await asyncio.gather(*(store.put(entry(n), vector(n)) for n in range(50)), *(store.get([1]) for _ in range(50)))
    assert sum((await store.counts()).values()) == 50
    assert sorted(n for _, n in await kinds(store)) == list(range(50))


@lasting
async def test_a_cancelled_write_is_whole_or_not_there(store):
    for n in range(40):
        writing = asyncio.create_task(store.put(entry(n), vector(n)))
        for _ in range(n % 8):
            await asyncio.sleep(0.0002)
        writing.cancel()
        await asyncio.gather(writing, return_exceptions=True)
    await store.put(entry(100), vector(100))
    there = [found.id for found in await store.get(range(101)) if found]
    with_vector = [card.id async for batch in store.vectors("mini", now=NOW) for card in batch.cards]
    assert there == with_vector == sorted(n for _, n in await kinds(store))
    assert there[-1] == 100
