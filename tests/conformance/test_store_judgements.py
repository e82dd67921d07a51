"""Conformance of `JudgementQueue`: comparisons that a judge still owes."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from semcache.types import Selector
from semcache.types.evidence import Judgement
from tests.conformance.stores import every
from tests.storage.stores.values import NOW, entry, owed


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
async def test_a_judgement_names_the_model_that_is_asked_if_the_judge_cannot_tell(store):
    await store.put_all([(entry(n), None) for n in range(3)])
    await store.enqueue([replace(owed(2, 0), model="gpt-x"), owed(2, 1)])
    assert [one.model for one in await store.claim(2, now=NOW, lease=60)] == ["gpt-x", ""]
    assert [one.model for one in await store.claim(2, now=NOW + 61, lease=60)] == ["gpt-x", ""]


@every
async def test_a_judgement_outlives_its_entries(store):
    for n in range(1, 5):
        await store.put(entry(n), None)
    pairs = [(1, 2), (2, 3), (3, 4), (1, 99), (99, 1)]
    await store.enqueue([owed(*pair) for pair in pairs])
    await store.delete(Selector(ids=(2,)), now=NOW)
    await store.put(entry(9, "question 4"), None)
    assert [(one.fresh_id, one.label.entry_id) for one in await store.claim(9, now=NOW, lease=1)] == pairs


@every
async def test_callers_at_once_claim_each_judgement_once(store):
    await store.put_all([(entry(n), None) for n in range(21)])
    await store.enqueue([owed(20, n) for n in range(20)])
    taken = await asyncio.gather(*(store.claim(3, now=NOW, lease=60) for _ in range(10)))
    assert sorted(one.label.entry_id for claimed in taken for one in claimed) == list(range(20))
