"""Conformance of `LabelStore`: the label log, shared by all workers."""

from __future__ import annotations

from dataclasses import replace

from semcache.types import Selector
from semcache.types.evidence import LabelSource
from tests.conformance.stores import every
from tests.storage.stores.values import NOW, entry, label


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
