"""Workers learn from each other: every comparison counts once, whoever made it, and examples are everybody's."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from semcache.agents.nearhits import Arm, NearExample, NearHits
from semcache.agents.nearhits.near import Draws
from semcache.errors import CacheUnavailable
from semcache.proxy.near_hit_state import NAME, NearHitState
from semcache.storage.indexes.flat import FlatIndex
from semcache.storage.stores.memory import MemoryStore
from semcache.types import Assembled, CacheKey, Endpoint, Entry, Scope, Selector, Usage
from tests.proxy.test_near_hit_replays import SETTINGS
from tests.proxy.test_near_hit_service import says

if TYPE_CHECKING:
    from semcache.types import Vector

VECTOR = np.eye(4, dtype=np.float32)[0]


class Worker:
    """One worker's near hits on a store that others use too."""

    def __init__(self, store: MemoryStore, ids: Callable[[], int], *, ahead: float = 0.0) -> None:
        self.near, self.now, self.kept = NearHits(SETTINGS, FlatIndex), 1000.0 + ahead, list[int]()
        parts: Any = SimpleNamespace(
            store=store, clock=lambda: self.now, new_id=ids, judge=SimpleNamespace(name="exact"),
            embedder=SimpleNamespace(id="e"),
        )  # fmt: skip
        service: Any = SimpleNamespace(near=self.near, add_example=self.add_example)
        replays: Any = SimpleNamespace(prune=lambda: None)
        self.memory = NearHitState(service, replays, parts)

    def add_example(
        self, number: int, key: CacheKey, answer: Assembled, vector: Vector, cost: float, created: float
    ) -> None:
        self.kept.append(number)
        self.near.offer(NearExample(number, b"p", key.text, answer.text, vector, created, cost), self.now)

    def compare(self, times: int, *, quality: float = 1.0) -> None:
        for _ in range(times):
            choice = self.near.consider(
                "How?", partition=b"p", category="c", vector=VECTOR, now=self.now, draws=Draws(0.0, 0.9, 0.9)
            )
            choice = replace(choice, certifies=True, tried=Arm.SMALL)
            self.near.compared(choice, quality=quality, now=self.now, answer="So.")

    @property
    def comparisons(self) -> int:
        return int(self.near.watch("c").standing()["comparisons"])


@pytest.fixture
async def pair() -> tuple[MemoryStore, Worker, Worker]:
    store, ids = MemoryStore(), count(1).__next__
    await store.open()
    return store, Worker(store, ids), Worker(store, ids, ahead=-500.0)


async def test_comparisons_of_all_workers_certify_together_and_each_counts_once(
    pair: tuple[MemoryStore, Worker, Worker],
) -> None:
    _, one, two = pair
    for _ in range(3):
        one.compare(8)
        two.compare(9)
        for worker in (one, two):
            await worker.memory.save()
    await one.memory.save()
    assert one.comparisons == two.comparisons == 51
    assert one.near.watch("c").open
    assert two.near.watch("c").open
    # The router has as many lessons, too.
    assert json.dumps(one.near.state()["router"]) == json.dumps(two.near.state()["router"])
    assert not one.near.lessons
    assert not two.near.lessons


async def test_what_one_worker_finds_to_be_wrong_closes_the_path_for_all(
    pair: tuple[MemoryStore, Worker, Worker],
) -> None:
    _, one, two = pair
    one.compare(40)
    await one.memory.save()
    await two.memory.save()
    assert two.near.watch("c").open
    two.compare(30, quality=0.0)
    await two.memory.save()
    assert one.near.watch("c").open
    await one.memory.save()
    assert not one.near.watch("c").open


async def test_of_two_that_write_at_once_nothing_is_lost(
    pair: tuple[MemoryStore, Worker, Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, one, two = pair
    one.compare(3)
    two.compare(4)
    seen = await store.learned(NAME)

    async def before(name: str) -> tuple[int, bytes] | None:
        return seen

    with monkeypatch.context() as then:
        then.setattr(store, "learned", before)
        await one.memory.save()
        two.now = one.now
        await two.memory.save()
    for _ in range(2):
        await one.memory.save()
        await two.memory.save()
    assert one.comparisons == two.comparisons == 7


async def test_a_store_that_is_down_loses_nothing(
    pair: tuple[MemoryStore, Worker, Worker], monkeypatch: pytest.MonkeyPatch
) -> None:
    store, one, two = pair
    one.compare(3)

    async def down(*_: object) -> None:
        raise CacheUnavailable("down")

    with monkeypatch.context() as then:
        then.setattr(store, "learn", down)
        with pytest.raises(CacheUnavailable):
            await one.memory.save()
    await one.memory.save()
    await two.memory.restore()
    assert two.comparisons == 3


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"promises":null,"line":[],"state":{}}'])
async def test_what_cannot_be_read_is_left(pair: tuple[MemoryStore, Worker, Worker], content: bytes) -> None:
    store, one, _ = pair
    await store.learn(NAME, 1, content)
    one.compare(3)
    await one.memory.restore()
    await one.memory.save()
    assert one.comparisons == 3


async def test_answers_to_other_workers_requests_become_examples_and_only_the_large_models(
    pair: tuple[MemoryStore, Worker, Worker],
) -> None:
    store, one, _ = pair
    await store.put(entry(1, "large"), VECTOR)
    await one.memory.restore()
    await one.memory.follow()
    assert one.kept == []  # what was there at the start is read by `fill`
    await store.put_all([(entry(2, "large"), VECTOR), (entry(3, "small"), VECTOR), (entry(4, "large"), None)])
    await store.put(entry(5, "large"), VECTOR)
    await store.delete(Selector(ids=(5,)), now=0.0)
    await one.memory.follow()
    await one.memory.follow()
    assert one.kept == [2]
    held = one.near.pool.get(2)
    assert held is not None
    assert (held.prompt, held.answer) == ("How 2?", "so")


def entry(number: int, model: str) -> Entry:
    key = CacheKey(Scope("acme"), b"s" * 32, bytes([number]) * 32, f"How {number}?", b"")
    return Entry(number, key, Endpoint.CHAT, model, "c", b"partition", "e", says("so"), 0.0, 9e9, Usage(10, 10))
