"""Searches during inserts, removals, promotions and snapshots never miss a vector that is known to be present.

hnswlib read during an insert is silently wrong now and then, so this runs many thousands of searches.
"""

from __future__ import annotations

import asyncio
import random
import threading
import time
from typing import TYPE_CHECKING

import numpy as np
import pytest

from semcache.storage.indexes import IndexOwner, PartitionedIndex

if TYPE_CHECKING:
    from pathlib import Path

    from semcache.types import Neighbour

DIM = 64
A, B = b"a" * 16, b"b" * 16


def clustered(count: int) -> np.ndarray:
    rng = np.random.default_rng(5)
    points = rng.standard_normal((200, DIM))[rng.integers(0, 200, count)] + 0.5 * rng.standard_normal((count, DIM))
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


@pytest.mark.parametrize("promote_at", [200, 100_000], ids=["graph", "flat"])
async def test_every_known_vector_is_found_while_the_index_changes(promote_at: int, tmp_path: Path) -> None:
    vectors = clustered(6000)
    owner = IndexOwner(PartitionedIndex(DIM, promote_at=promote_at))
    known: dict[bytes, list[int]] = {A: [], B: []}
    rng = random.Random(3)
    searches = 0
    writing = True

    async def write(partition: bytes, ids: range) -> None:
        for start in range(0, len(ids), 10):
            batch = ids[start : start + 10]
            if start % 40 == 0:
                await owner.bulk_add(partition, batch, vectors[batch.start : batch.stop])
            else:
                await asyncio.gather(*(owner.add(partition, entry_id, vectors[entry_id]) for entry_id in batch))
            known[partition].extend(batch)
            if start % 50 == 0:
                victim = known[partition].pop(rng.randrange(len(known[partition])))
                await owner.remove(victim)
                assert victim not in {n.entry_id for n in await owner.search(partition, vectors[victim], 3)}

    async def read() -> None:
        nonlocal searches
        while writing:
            for partition in (A, B):
                if len(known[partition]) > 10:
                    entry_id = known[partition][rng.randrange(5, len(known[partition]))]
                    found = await owner.search(partition, vectors[entry_id], 1)
                    searches += 1
                    if entry_id in known[partition]:  # not removed meanwhile
                        assert found, f"nothing found for {entry_id}"
                        assert found[0].score > 0.9999, f"{entry_id} was missed: {found}"
            await asyncio.sleep(0)

    async def save() -> None:
        head = 0
        while writing:
            await owner.snapshot(tmp_path, embedder_id="e/1", head=head)
            head += 1
            await asyncio.sleep(0.2)

    readers = [asyncio.create_task(read()) for _ in range(4)]
    saver = asyncio.create_task(save())
    await asyncio.gather(write(A, range(3000)), write(B, range(3000, 6000)))
    writing = False
    await asyncio.gather(*readers, saver)
    await owner.close()
    assert searches > 1000
    assert len(owner) == sum(map(len, known.values()))


class Guarded(PartitionedIndex):
    """Counts how often two threads are inside at once; every visit lasts long enough to be caught."""

    inside = 0
    overlaps = 0

    def _visit(self) -> None:
        Guarded.inside += 1
        time.sleep(0.0005)
        Guarded.overlaps += Guarded.inside > 1
        Guarded.inside -= 1

    def add(self, partition: bytes, id: int, vector: np.ndarray) -> None:
        self._visit()
        super().add(partition, id, vector)

    def search(self, partition: bytes, vector: np.ndarray, k: int) -> list[Neighbour]:
        self._visit()
        return super().search(partition, vector, k)

    def step(self, budget: int = 8) -> bool:
        if self.building:
            self._visit()
        return super().step(budget)


async def test_no_two_threads_are_ever_inside_the_index() -> None:
    vectors = clustered(600)
    owner = IndexOwner(Guarded(DIM, promote_at=100))
    await owner.bulk_add(A, range(500), vectors[:500])

    async def search() -> None:
        for entry_id in range(100):
            await owner.search(A if entry_id % 2 else B, vectors[entry_id], 1)
            await asyncio.sleep(0)

    async def add() -> None:
        for entry_id in range(500, 600):
            await owner.add(B, entry_id, vectors[entry_id])

    await asyncio.gather(search(), add(), search())
    await owner.close()
    assert Guarded.overlaps == 0


def test_two_event_loops_share_an_owner() -> None:
    vectors = clustered(1000)
    owner = IndexOwner(PartitionedIndex(DIM, promote_at=200))
    failures: list[BaseException] = []

    async def work(first: int) -> None:
        for entry_id in range(first, first + 500):
            await owner.add(A, entry_id, vectors[entry_id])
            found = await owner.search(A, vectors[entry_id], 1)
            assert found[0].score > 0.9999, f"{entry_id} was missed"

    def run(first: int) -> None:
        try:
            asyncio.run(work(first))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(first,)) for first in (0, 500)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asyncio.run(owner.close())
    assert failures == []
    assert len(owner) == 1000
