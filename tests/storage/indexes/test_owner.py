"""The asynchronous owner: order, failures, closing, snapshots."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from semcache.errors import IndexFault
from semcache.storage.indexes import IndexOwner, PartitionedIndex
from semcache.storage.indexes import snapshot as disk
from tests.waiting import until

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

DIM = 16
A, B = b"a" * 16, b"b" * 16


def units(count: int, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).standard_normal((count, DIM)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


@pytest.fixture
async def owner() -> AsyncIterator[IndexOwner]:
    owner = IndexOwner(PartitionedIndex(DIM, promote_at=50))
    yield owner
    await owner.close()


async def test_what_was_added_is_found(owner: IndexOwner) -> None:
    vectors = units(10)
    await owner.add(A, 1, vectors[0])
    await owner.bulk_add(B, [2, 3], vectors[1:3])
    assert [n.entry_id for n in await owner.search(A, vectors[0], 5)] == [1]
    assert {n.entry_id for n in await owner.search(B, vectors[0], 5)} == {2, 3}
    await owner.remove(2, 3, 99)
    assert await owner.search(B, vectors[0], 5) == []
    assert await owner.partitions() == {A: 1}
    assert len(owner) == 1
    assert await owner.bytes_used() > 0


async def test_graphs_are_built_when_nobody_calls(owner: IndexOwner) -> None:
    vectors = units(400)
    await owner.bulk_add(A, range(400), vectors)
    await until(lambda: not owner.building)
    assert [(await owner.search(A, vectors[entry_id], 1))[0].entry_id for entry_id in range(0, 400, 9)] == list(
        range(0, 400, 9)
    )


async def test_graphs_are_built_although_somebody_always_calls(owner: IndexOwner) -> None:
    vectors = units(400)
    await owner.bulk_add(A, range(400), vectors)
    for _ in range(1000):
        await asyncio.gather(*(owner.search(A, vectors[entry_id], 1) for entry_id in range(32)))
        if not owner.building:
            break
    assert owner.building == 0


async def test_settle_waits_for_the_graphs(owner: IndexOwner) -> None:
    await owner.bulk_add(A, range(400), units(400))
    await owner.settle()
    assert owner.building == 0


async def test_a_failure_fails_its_own_call_only(owner: IndexOwner) -> None:
    vectors = units(3)
    results = await asyncio.gather(
        owner.add(A, 1, vectors[0]),
        owner.add(A, 2, np.full(DIM, np.nan, np.float32)),
        owner.add(A, 3, vectors[2]),
        return_exceptions=True,
    )
    assert results[0] is None
    assert isinstance(results[1], IndexFault)
    assert results[2] is None
    assert (await owner.search(A, vectors[2], 1))[0].entry_id == 3


async def test_a_bug_in_the_index_is_an_index_fault(owner: IndexOwner, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(PartitionedIndex, "add", broken)
    with pytest.raises(IndexFault, match="oops"):
        await owner.add(A, 1, units(1)[0])
    monkeypatch.undo()
    await owner.add(A, 1, units(1)[0])
    assert len(owner) == 1


async def test_a_graph_that_cannot_be_built_leaves_exact_search(
    owner: IndexOwner, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise MemoryError("full")

    monkeypatch.setattr(PartitionedIndex, "step", broken)
    vectors = units(200)
    await owner.bulk_add(A, range(200), vectors)
    await until(lambda: owner.fault is not None)
    assert "full" in str(owner.fault)
    assert (await owner.search(A, vectors[150], 1))[0].entry_id == 150


async def test_a_caller_that_gives_up_harms_nobody(owner: IndexOwner) -> None:
    vectors = units(100)
    tasks = [asyncio.create_task(owner.add(A, entry_id, vectors[entry_id])) for entry_id in range(40)]
    await asyncio.sleep(0)
    for task in tasks[::2]:
        task.cancel()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert all(result is None for result in results[1::2])
    for entry_id in range(1, 40, 2):
        assert (await owner.search(A, vectors[entry_id], 1))[0].entry_id == entry_id


async def test_a_closed_index_says_so() -> None:
    before = set(threading.enumerate())
    owner = IndexOwner(PartitionedIndex(DIM))
    await owner.close()
    await owner.close()
    for call in (owner.add(A, 1, units(1)[0]), owner.search(A, units(1)[0], 1), owner.partitions()):
        with pytest.raises(IndexFault, match="closed"):
            await call
    assert all(thread.name != "semcache-index" for thread in set(threading.enumerate()) - before)


async def test_closing_finishes_what_waits() -> None:
    owner = IndexOwner(PartitionedIndex(DIM))
    tasks = [asyncio.create_task(owner.add(A, entry_id, vector)) for entry_id, vector in enumerate(units(50))]
    await asyncio.sleep(0)
    await owner.close()
    assert await asyncio.gather(*tasks) == [None] * 50
    assert len(owner) == 50


async def test_a_snapshot_is_taken_between_calls(owner: IndexOwner, tmp_path: Path) -> None:
    vectors = units(200)
    await owner.bulk_add(A, range(100), vectors[:100])
    await asyncio.gather(
        owner.snapshot(tmp_path, embedder_id="e/1", head=7),
        *(owner.add(B, entry_id, vectors[entry_id]) for entry_id in range(100, 200)),
    )
    partitioned, head = disk.load(tmp_path, embedder_id="e/1", dim=DIM)
    assert head == 7
    assert partitioned.partitions()[A] == 100
    assert len(owner) == 200


async def test_a_snapshot_that_fails_is_an_index_fault(owner: IndexOwner, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IndexFault, match="cannot be written"):
        await owner.snapshot(tmp_path / "file", embedder_id="e/1", head=7)
