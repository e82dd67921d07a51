"""Conformance of `Rejections`: pairs of an entry and a request that it is known to be wrong for."""

from __future__ import annotations

from semcache.types import ChangeKind, Rejection, Scope, Selector
from tests.conformance.stores import every
from tests.storage.stores.values import NOW, digest, entry


@every
async def test_the_entries_of_one_answer_in_a_tenant_are_known_by_any_of_them(store):
    for n in range(1, 6):
        await store.put(entry(n, scope=Scope("other")) if n == 4 else entry(n), None)
    for n in (2, 3, 4):
        await store.alias(n, 1, now=NOW)
    exact = {n: entry(n).key.exact for n in (1, 2, 3)}
    for n in exact:
        assert await store.alike(n) == {other: exact[other] for other in exact if other != n}
    assert (await store.alike(5), await store.alike(99)) == ({}, {})
    await store.delete(Selector(ids=(1,)), now=NOW)
    assert await store.alike(2) == {3: exact[3]}


@every
async def test_rejections_are_kept_once_announced_once_and_die_with_their_entry(store):
    await store.put(entry(1), None)
    await store.put(entry(2), None)
    head = await store.head()
    wrong = Rejection(1, digest("x"))
    await store.reject([wrong, wrong, Rejection(99, digest("x"))], now=NOW)
    await store.reject([wrong, Rejection(2, digest("y"))], now=NOW + 1)
    assert await store.rejections() == [wrong, Rejection(2, digest("y"))]
    assert (await store.rejections(2), await store.rejections(3)) == ([Rejection(2, digest("y"))], [])
    news = await store.changes(head)
    assert [(change.kind, change.entry_id, change.exact) for change in news] == [
        (ChangeKind.REJECT, 1, digest("x")),
        (ChangeKind.REJECT, 2, digest("y")),
    ]
    await store.delete(Selector(ids=(1,)), now=NOW)
    assert await store.rejections() == [Rejection(2, digest("y"))]
    await store.reject([], now=NOW)
