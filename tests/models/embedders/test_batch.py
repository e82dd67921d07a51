"""Micro-batching: who is put together, and who is not harmed by whom."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING

import numpy as np
import pytest

from semcache.errors import EmbedError, InvalidArgument
from semcache.models.embedders.batching import BatchingEmbedder
from semcache.models.embedders.hashing import HashingEmbedder
from semcache.runtime import scoped_memo
from tests.waiting import PATIENCE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from semcache.types import Matrix


class Gated(HashingEmbedder):
    """Works only while `gate` is open, remembers its batches, and cannot encode "poison"."""

    def __init__(self) -> None:
        super().__init__(32)
        self.gate = threading.Event()
        self.busy = threading.Event()
        self.batches: list[list[str]] = []
        self.closed = False

    def encode(self, texts: Sequence[str]) -> Matrix:
        self.batches.append(list(texts))
        self.busy.set()
        assert self.gate.wait(10)
        if "poison" in texts:
            raise EmbedError("poison")
        if "bug" in texts:
            raise KeyError("bug")
        if "shape" in texts:
            return np.zeros((1, 1), np.float32)
        return super().encode(texts)

    async def close(self) -> None:
        self.closed = True


@pytest.fixture
async def inner() -> AsyncIterator[Gated]:
    inner = Gated()
    yield inner
    inner.gate.set()


async def occupy(embedder: BatchingEmbedder, inner: Gated) -> asyncio.Task[Matrix]:
    """Start a call that keeps the thread busy until the gate opens."""
    task = asyncio.create_task(embedder.embed(["first"]))
    await asyncio.to_thread(inner.busy.wait, 10)
    return task


async def test_what_arrives_while_busy_goes_together(inner: Gated) -> None:
    embedder = BatchingEmbedder(inner, max_batch=4)
    first = await occupy(embedder, inner)
    others = [asyncio.create_task(embedder.embed([f"text {number}"])) for number in range(6)]
    await asyncio.sleep(0)
    inner.gate.set()
    vectors = [(await task)[0] for task in [first, *others]]
    expected = HashingEmbedder(32).encode(["first", *(f"text {number}" for number in range(6))])
    assert np.stack(vectors) == pytest.approx(expected)
    assert [len(batch) for batch in inner.batches] == [1, 4, 2]
    await embedder.close()


async def test_equal_texts_are_encoded_once(inner: Gated) -> None:
    embedder = BatchingEmbedder(inner)
    first = await occupy(embedder, inner)
    others = [asyncio.create_task(embedder.embed(["same", "same", f"own {number}"])) for number in range(3)]
    await asyncio.sleep(0)
    inner.gate.set()
    await first
    for number, task in enumerate(others):
        assert await task == pytest.approx(HashingEmbedder(32).encode(["same", "same", f"own {number}"]))
    assert inner.batches[1] == ["same", "own 0", "own 1", "own 2"]
    await embedder.close()


@pytest.mark.parametrize("bad", ["poison", "bug", "shape"])
async def test_a_text_that_fails_harms_nobody_else(inner: Gated, bad: str) -> None:
    embedder = BatchingEmbedder(inner)
    first = await occupy(embedder, inner)
    tasks = [asyncio.create_task(embedder.embed([text])) for text in ("good", bad, "fine")]
    await asyncio.sleep(0)
    inner.gate.set()
    await first
    good, failed, fine = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(failed, EmbedError)
    assert good == pytest.approx(HashingEmbedder(32).encode(["good"]))
    assert fine == pytest.approx(HashingEmbedder(32).encode(["fine"]))
    await embedder.embed(["afterwards"])
    await embedder.close()


async def test_a_cancelled_caller_harms_nobody(inner: Gated) -> None:
    embedder = BatchingEmbedder(inner)
    first = await occupy(embedder, inner)
    tasks = [asyncio.create_task(embedder.embed([f"text {number}"])) for number in range(4)]
    await asyncio.sleep(0)
    tasks[1].cancel()
    first.cancel()
    await asyncio.sleep(0)
    inner.gate.set()
    results = await asyncio.gather(*tasks, return_exceptions=True)
    assert isinstance(results[1], asyncio.CancelledError)
    assert results[3] == pytest.approx(HashingEmbedder(32).encode(["text 3"]))
    assert inner.batches[1] == ["text 0", "text 2", "text 3"]
    await embedder.close()


async def test_a_full_queue_is_an_error_and_drains(inner: Gated) -> None:
    embedder = BatchingEmbedder(inner, max_batch=2, max_queue=3)
    first = await occupy(embedder, inner)
    waiting = [asyncio.create_task(embedder.embed([f"text {number}"])) for number in range(3)]
    await asyncio.sleep(0)
    with pytest.raises(EmbedError, match="max_queue is 3"):
        await embedder.embed(["too many"])
    inner.gate.set()
    await asyncio.gather(first, *waiting)
    assert (await embedder.embed(["room again"])).shape == (1, 32)
    await embedder.close()


async def test_a_long_call_takes_turns(inner: Gated) -> None:
    inner.gate.set()
    embedder = BatchingEmbedder(inner, max_batch=4, max_queue=8)
    texts = [f"text {number}" for number in range(50)]
    many, one = await asyncio.gather(embedder.embed(texts), embedder.embed(["single"]))
    assert many == pytest.approx(HashingEmbedder(32).encode(texts))
    assert one == pytest.approx(HashingEmbedder(32).encode(["single"]))
    assert max(map(len, inner.batches)) <= 4
    assert inner.batches.index(["single"]) < 3
    await embedder.close()


async def test_closing_refuses_what_waits(inner: Gated) -> None:
    others = set(threading.enumerate())
    embedder = BatchingEmbedder(inner)
    first = await occupy(embedder, inner)
    waiting = asyncio.create_task(embedder.embed(["waiting"]))
    await asyncio.sleep(0)
    closing = asyncio.create_task(embedder.close())
    await asyncio.sleep(0)
    inner.gate.set()
    assert (await first).shape == (1, 32)
    with pytest.raises(EmbedError, match="closed"):
        await waiting
    await closing
    with pytest.raises(EmbedError, match="closed"):
        await embedder.embed(["late"])
    assert inner.closed
    assert all(thread.name != "semcache-embed" for thread in set(threading.enumerate()) - others)


async def test_it_can_be_closed_unused() -> None:
    await BatchingEmbedder(HashingEmbedder()).close()


def test_senseless_sizes_are_refused() -> None:
    with pytest.raises(InvalidArgument):
        BatchingEmbedder(HashingEmbedder(), max_batch=0)
    with pytest.raises(InvalidArgument):
        BatchingEmbedder(HashingEmbedder(), max_batch=8, max_queue=4)


def test_several_event_loops_can_share_it() -> None:
    embedder = BatchingEmbedder(HashingEmbedder(32))
    results: dict[int, Matrix] = {}

    def run(number: int) -> None:
        results[number] = asyncio.run(embedder.embed([f"text {number}"]))

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    asyncio.run(embedder.close())
    for number in range(4):
        assert results[number] == pytest.approx(HashingEmbedder(32).encode([f"text {number}"]))


async def test_what_is_read_in_a_text_is_remembered_for_the_scope_that_sent_it() -> None:
    """Slips are mended in the encoder's thread, and the time that a memo of it saves would tell of another tenant."""
    read: list[str] = []

    @scoped_memo.scoped_cache(maxsize=10)
    def mended(text: str) -> str:
        read.append(text)
        return text

    class Reading(Gated):
        def encode(self, texts: Sequence[str]) -> Matrix:
            return super().encode([mended(text) for text in texts])

    async def ask(tenant: str, *texts: str) -> Matrix:
        scoped_memo.enter(tenant)
        mended(texts[0])
        return await embedder.embed(texts)

    inner = Reading()
    embedder = BatchingEmbedder(inner)
    first = await occupy(embedder, inner)
    read.clear()
    calls = [("a", "plan"), ("a", "plan", "other"), ("b", "plan"), ("a", "poison"), ("b", "third")]
    waiting = [asyncio.create_task(ask(*call)) for call in calls]
    await asyncio.sleep(0)
    inner.gate.set()
    rows = await asyncio.gather(first, *waiting, return_exceptions=True)
    assert sorted(read) == ["other", "plan", "plan", "poison", "third"], "once for each tenant, wherever it is read"
    for call, found in zip(calls, rows[1:], strict=True):
        if "poison" in call:
            assert isinstance(found, EmbedError)
        else:
            assert np.array_equal(found, HashingEmbedder(32).encode(call[1:]))
    await embedder.close()


async def test_a_scope_does_not_wait_until_those_behind_it_are_encoded_too() -> None:
    class Stepwise(Gated):
        def encode(self, texts: Sequence[str]) -> Matrix:
            rows = super().encode(texts)
            self.gate.clear()
            return rows

    async def ask(tenant: str) -> Matrix:
        scoped_memo.enter(tenant)
        return await embedder.embed([f"text of {tenant}"])

    inner = Stepwise()
    embedder = BatchingEmbedder(inner)
    first = await occupy(embedder, inner)
    one, two = [asyncio.create_task(ask(tenant)) for tenant in ("one", "two")]
    await asyncio.sleep(0)
    for task in (first, one, two):
        inner.gate.set()
        async with asyncio.timeout(PATIENCE):
            await task
    await embedder.close()
