"""What every EntryStore promises. A new store joins by a line in `STORES`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from semcache.config import plugins
from semcache.errors import StoreError
from semcache.storage.stores import open_store
from semcache.types import ApiKey, ChangeKind, Outcome, Rejection, Scope, Selector, Why
from semcache.types.evidence import Judgement, LabelSource
from tests.fixtures_pg import postgres_url  # noqa: F401
from tests.storage.stores.values import NOW, digest, entry, event, label, owed, vector

STORES = [
    "memory",
    "sqlite",
    pytest.param("postgres", marks=pytest.mark.postgres),
    *plugins.names("stores"),
]
LASTING = STORES[1:]


@pytest.fixture
def url(request, tmp_path: Path) -> str:
    if request.param == "postgres":
        return request.getfixturevalue("postgres_url")
    built_in = {"memory": "memory://", "sqlite": f"sqlite:///{tmp_path}/semcache.db"}
    return built_in.get(request.param, f"{request.param}://{tmp_path}/semcache.db")


@pytest.fixture
async def store(url: str) -> AsyncIterator:
    store = open_store(url)
    await store.open()
    yield store
    await store.close()


every = pytest.mark.parametrize("url", STORES, indirect=True)
lasting = pytest.mark.parametrize("url", LASTING, indirect=True)


async def kinds(store, since: int = 0) -> list[tuple[str, int]]:
    return [(change.kind.value, change.entry_id) for change in await store.changes(since)]


@every
async def test_entries_come_back_as_they_were_in_the_order_asked_for(store):
    first = entry(1, tags=("b", "a", "b"), source="import")
    second = entry(2**62, scope=Scope("acme", "ann", "ns"), shelf=b"", body=b"\x00" * 100_000)
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
    await store.reject([Rejection(1, digest("x"))], now=NOW)
    head = await store.head()
    await store.put(entry(2, "same"), None)
    assert [found and found.id for found in await store.get([1, 2])] == [None, 2]
    assert await kinds(store, head) == [("delete", 1), ("put", 2)]
    assert [batch async for batch in store.vectors("mini", now=NOW)] == []
    assert await store.rejections() == []


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
async def test_cards_and_vectors_part_the_living_entries(store):
    for n in range(1, 8):
        await store.put(entry(n), vector(n))
    await store.put(entry(8, expires=NOW), vector(8))
    await store.put(entry(9, embedder_id="other"), vector(9))
    await store.put(entry(10, shelf=b""), None)
    await store.put(entry(11, shelf=b""), None)
    await store.put(entry(12, shelf=b"", expires=NOW - 1), None)
    batches = [batch async for batch in store.vectors("mini", now=NOW, batch=3)]
    assert [[card.id for card in batch.cards] for batch in batches] == [[1, 2, 3], [4, 5, 6], [7]]
    for batch in batches:
        assert batch.matrix.dtype == np.float32
        for card, row in zip(batch.cards, batch.matrix, strict=True):
            assert np.array_equal(row, vector(card.id))
            assert card == entry(card.id).card()
    pages = [list(page) async for page in store.cards("mini", now=NOW, batch=1)]
    assert [[card.id for card in page] for page in pages] == [[9], [10], [11]]
    assert pages[1] == [entry(10, shelf=b"").card()]
    assert await store.embedders() == {"mini": 8, "other": 1}


@every
async def test_several_entries_are_put_as_one_after_the_other(store):
    await store.put_all([(entry(1), vector(1)), (entry(2, "same", tags=("t",)), None), (entry(3, "same"), vector(3))])
    await store.put_all([])
    assert [found and found.id for found in await store.get([1, 2, 3])] == [1, None, 3]
    assert await kinds(store) == [("put", 1), ("put", 2), ("delete", 2), ("put", 3)]


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


@every
async def test_the_feed_pages_and_its_head_is_the_newest_change(store):
    assert await store.head() == 0
    for n in (1, 2, 3):
        await store.put(entry(n), None)
    seen = await store.changes(0)
    assert [change.seq for change in seen] == sorted({change.seq for change in seen})
    assert await store.head() == seen[-1].seq
    assert await store.changes(0, limit=2) == seen[:2]
    assert await store.changes(seen[1].seq) == seen[2:]
    assert await store.changes(seen[-1].seq) == []


@every
async def test_trimming_changes_keeps_the_head(store):
    for n in (1, 2, 3):
        await store.put(entry(n, created=NOW + n), None)
    head = await store.head()
    assert await store.trim_changes(keep_rows=2) == 1
    assert await kinds(store) == [("put", 2), ("put", 3)]
    assert await store.trim_changes(keep_rows=0) == 1
    assert await store.head() == head


@every
async def test_wait_returns_at_once_for_a_change_not_read_yet_and_soon_for_one_to_come(store):
    await store.changes(0)
    await asyncio.wait_for(store.wait(0.05), 10)
    await store.put(entry(1), None)
    await asyncio.wait_for(store.wait(60), 10)
    seen = await store.changes(0)
    waiting = asyncio.create_task(store.wait(60))
    await asyncio.sleep(0.3)
    assert not waiting.done()
    await store.put(entry(2), None)
    await asyncio.wait_for(waiting, 10)
    assert [change.entry_id for change in await store.changes(seen[-1].seq)] == [2]


@every
async def test_rejections_are_kept_once_announced_once_and_die_with_their_entry(store):
    await store.put(entry(1), None)
    await store.put(entry(2), None)
    head = await store.head()
    wrong = Rejection(1, digest("x"))
    await store.reject([wrong, wrong, Rejection(99, digest("x"))], now=NOW)
    await store.reject([wrong, Rejection(2, digest("y"))], now=NOW + 1)
    assert await store.rejections() == [wrong, Rejection(2, digest("y"))]
    news = await store.changes(head)
    assert [(change.kind, change.entry_id, change.exact) for change in news] == [
        (ChangeKind.REJECT, 1, digest("x")),
        (ChangeKind.REJECT, 2, digest("y")),
    ]
    await store.delete(Selector(ids=(1,)), now=NOW)
    assert await store.rejections() == [Rejection(2, digest("y"))]
    await store.reject([], now=NOW)


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
async def test_what_people_said_is_announced_every_time(store):
    await store.put(entry(1), None)
    head = await store.head()
    await store.said(1, correct=False, now=NOW)
    await store.said(1, correct=True, now=NOW)
    await store.said(1, correct=True, now=NOW)
    await store.said(99, correct=False, now=NOW)
    assert await kinds(store, head) == [("wrong", 1), ("right", 1), ("right", 1)]
    assert await store.get([1]) == [entry(1)]


@every
async def test_labels_come_back_in_order_as_they_were(store):
    first = label(
        2**62, category="a\x00b", tenant="t\ud800", features=(), served=True, source=LabelSource.AUDIT, chance=0.05
    )
    second = label(2, correct=False, score=0.1 + 0.2)
    assert await store.labels(0) == []
    await store.label([first, second])
    await store.label([])
    await store.label([label(3)])
    found = await store.labels(0)
    assert [replace(one, seq=0) for one in found] == [first, second, label(3)]
    seqs = [one.seq for one in found]
    assert seqs == sorted({*seqs})
    assert seqs[0] > 0
    assert await store.labels(seqs[0], limit=1) == found[1:2]
    assert await store.labels(seqs[2]) == []


@every
async def test_labels_outlive_their_entries_and_trimming_keeps_the_newest_and_the_count(store):
    await store.put(entry(1), None)
    await store.label([label(1, score=n / 8) for n in range(5)])
    await store.delete(Selector(ids=(1,)), now=NOW)
    seen = await store.labels(0)
    assert await store.trim_labels(keep_rows=2) == 3
    assert await store.labels(0) == seen[3:]
    assert await store.trim_labels(keep_rows=2) == 0
    assert await store.trim_labels(keep_rows=0) == 2
    await store.label([label(9)])
    assert [one.seq > seen[-1].seq for one in await store.labels(seen[-1].seq)] == [True]


@every
async def test_the_newest_saved_state_wins_whoever_comes_last(store):
    assert await store.learned("threshold") is None
    await store.learn("threshold", 5, b"five")
    await store.learn("threshold", 3, b"three")
    await store.learn("other", 1, b"")
    assert await store.learned("threshold") == (5, b"five")
    await store.learn("threshold", 5, b"five again")
    await store.learn("threshold", 8, b"\x00" * 100_000)
    assert await store.learned("threshold") == (8, b"\x00" * 100_000)
    assert await store.learned("other") == (1, b"")


@every
async def test_a_judgement_is_held_by_one_until_it_is_finished_or_its_lease_ends(store):
    for n in range(1, 5):
        await store.put(entry(n), None)
    await store.enqueue([owed(4, n, served=n == 1, chance=n / 4) for n in (1, 2, 3)])
    await store.enqueue([])
    first = await store.claim(2, now=NOW, lease=60)
    assert [(one.fresh_id, one.label.entry_id, one.tries) for one in first] == [(4, 1, 1), (4, 2, 1)]
    assert [one.label for one in first] == [owed(4, 1, served=True, chance=0.25).label, owed(4, 2, chance=0.5).label]
    [third] = await store.claim(9, now=NOW + 59, lease=60)
    assert await store.claim(9, now=NOW + 59, lease=60) == []
    await store.finish([first[0].id, 999])
    await store.finish([])
    again = await store.claim(9, now=NOW + 60, lease=60)
    assert again == [Judgement(first[1].id, 4, first[1].label, tries=2)]
    await store.finish([again[0].id, third.id])
    assert await store.claim(9, now=NOW + 1e6, lease=60) == []


@every
async def test_what_was_served_is_judged_before_what_was_not(store):
    for n in range(1, 5):
        await store.put(entry(n), None)
    await store.enqueue([owed(4, n, served=n == 3) for n in (1, 2, 3)])
    assert [one.label.entry_id for one in await store.claim(2, now=NOW, lease=60)] == [1, 3]
    assert [one.label.entry_id for one in await store.claim(2, now=NOW, lease=60)] == [2]


@every
async def test_a_judgement_lapses_with_either_of_its_entries(store):
    for n in range(1, 5):
        await store.put(entry(n), None)
    await store.enqueue([owed(1, 2), owed(2, 3), owed(3, 4), owed(1, 99), owed(99, 1)])
    await store.delete(Selector(ids=(2,)), now=NOW)
    assert [(one.fresh_id, one.label.entry_id) for one in await store.claim(9, now=NOW, lease=1)] == [(3, 4)]
    await store.put(entry(9, "question 4"), None)
    assert await store.claim(9, now=NOW + 9, lease=1) == []


@every
async def test_callers_at_once_claim_each_judgement_once(store):
    await store.put_all([(entry(n), None) for n in range(21)])
    await store.enqueue([owed(20, n) for n in range(20)])
    taken = await asyncio.gather(*(store.claim(3, now=NOW, lease=60) for _ in range(10)))
    assert sorted(one.label.entry_id for claimed in taken for one in claimed) == list(range(20))


@every
async def test_served_keys_are_the_distinct_hits_newest_first(store):
    a, b, c = digest("a"), digest("b"), digest("c")
    await store.record([event(1, exact=a, at=NOW), event(1, exact=b, at=NOW + 1), event(2, exact=c, at=NOW + 2)])
    await store.record([event(1, exact=a, at=NOW + 3), event(1, Outcome.EXACT, exact=c), event(1, exact=b"")])
    assert await store.served_keys(1) == [a, b, c]
    assert await store.served_keys(3) == []


@every
async def test_served_keys_stop_at_a_thousand(store):
    keys = [digest(str(number)) for number in range(1_010)]
    await store.record([event(1, exact=key, at=NOW + number) for number, key in enumerate(keys)])
    assert await store.served_keys(1) == keys[:9:-1]


@every
async def test_the_tally_adds_up_and_survives_trimming(store):
    await store.record([])
    await store.record(
        [event(1), event(1, count=3, at=NOW - 10), event(None, Outcome.MISS, why=Why.COLD, stored="quota")]
    )
    await store.record([event(1, category="code\x00")])
    common = {
        "saved_prompt_tokens": 1,
        "saved_completion_tokens": 2,
        "saved_cost": 0.5,
        "spent_cost": 0.25,
        "seconds": 2.0,
        "spent_prompt_tokens": 3,
        "spent_completion_tokens": 4,
        "calls": 1,
    }
    twice = {name: value * 2 for name, value in common.items()}
    expected = [
        {"category": "code\x00", "outcome": "semantic", "requests": 1} | common,
        {"category": "default", "outcome": "miss", "requests": 1} | common,
        {"category": "default", "outcome": "semantic", "requests": 4} | twice,
    ]

    async def tally():
        return sorted(await store.tally(), key=lambda row: (row["category"], row["outcome"]))

    key = [(row["category"], row["outcome"]) for row in expected]
    assert key == sorted(key)
    assert await tally() == expected
    assert await store.trim_events(before=NOW) == 1
    assert await store.trim_events(keep_rows=2) == 1
    assert await tally() == expected
    assert await store.trim_events(keep_rows=0) == 2
    assert await store.trim_events(keep_rows=0) == 0
    assert await store.trim_events() == 0
    assert await tally() == expected
    assert await store.served_keys(1) == []


@every
async def test_keys_are_kept_and_revoked_once(store):
    first = ApiKey("k1", digest("one"), "acme", "first", NOW, trusted=True)
    second = ApiKey("k2", digest("two"), "beta", "second", NOW + 1, admin=True)
    await store.add_key(second)
    await store.add_key(first)
    assert await store.keys() == [first, second]
    with pytest.raises(StoreError):
        await store.add_key(replace(first, digest=digest("three")))
    with pytest.raises(StoreError):
        await store.add_key(replace(first, id="k3"))
    assert await store.revoke_key("k1", now=NOW + 5)
    assert not await store.revoke_key("k1", now=NOW + 6)
    assert not await store.revoke_key("k9", now=NOW + 6)
    assert await store.keys() == [replace(first, revoked=NOW + 5), second]


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


@every
async def test_writes_at_once_are_all_done(store):
    await asyncio.gather(*(store.put(entry(n), vector(n)) for n in range(50)), *(store.get([1]) for _ in range(50)))
    assert sum((await store.counts()).values()) == 50
    assert sorted(n for _, n in await kinds(store)) == list(range(50))


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
async def test_a_worker_hears_of_another_workers_write(url):
    ours, theirs = open_store(url), open_store(url)
    await ours.open()
    await theirs.open()
    try:
        assert ours.salt == theirs.salt
        assert await ours.changes(0) == []
        waiting = asyncio.create_task(ours.wait(60))
        await asyncio.sleep(0.3)
        assert not waiting.done()
        await theirs.put(entry(1), vector(1))
        await asyncio.wait_for(waiting, 10)
        assert [change.entry_id for change in await ours.changes(0)] == [1]
        assert await ours.get([1]) == [entry(1)]
    finally:
        await ours.close()
        await theirs.close()


@lasting
async def test_stores_that_open_at_once_agree_on_the_salt(url):
    stores = [open_store(url) for _ in range(6)]
    await asyncio.gather(*(store.open() for store in stores))
    assert len({store.salt for store in stores}) == 1
    await asyncio.gather(*(store.close() for store in stores))


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
