"""The thread that owns the model must outlive every fault, and give every caller an end."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from semcache.engine.worker import Ticket, Worker
from semcache.errors import RequestRejected, UpstreamError
from tests.engine.nursery import Reference, an_engine, ids, job
from tests.waiting import PATIENCE, soon, until

Folder = Callable[..., Path]


@pytest.fixture
def worker(folder: Folder) -> Iterator[Worker]:
    made = Worker(an_engine(folder())).start()
    yield made
    made.close()
    assert not made.alive


async def said(worker: Worker, prompt: Any, name: str = "a", **sampling: Any) -> str:
    async with await worker.run(job(name, prompt, **sampling)) as ticket:
        return "".join([delta.text async for delta in ticket.deltas()])


async def test_callers_share_the_thread(worker: Worker, folder: Folder) -> None:
    reference = Reference(folder())
    answers = await asyncio.gather(*[said(worker, ids(at, 20), f"j{at}") for at in range(6)])
    assert answers == [reference.says(ids(at, 20), 12) for at in range(6)]


async def test_a_refusal_is_the_callers_alone(worker: Worker) -> None:
    with pytest.raises(RequestRejected):
        await said(worker, ())
    assert await said(worker, ids(1, 9), "b")


async def test_a_fault_of_the_engine_ends_its_jobs_and_not_the_thread(worker: Worker, monkeypatch: Any) -> None:
    step = worker.engine.step

    def broken() -> Any:
        if worker.engine._running:
            monkeypatch.setattr(worker.engine, "step", step)
            raise RuntimeError("a bug")
        return step()

    monkeypatch.setattr(worker.engine, "step", broken)
    with pytest.raises(UpstreamError, match="a bug"):
        await asyncio.gather(*[said(worker, ids(at, 20), f"j{at}", max_tokens=200) for at in range(3)])
    assert await said(worker, ids(1, 20), "after")


async def test_a_fault_while_a_job_is_taken_on_is_told_to_who_asked(worker: Worker, monkeypatch: Any) -> None:
    submit = worker.engine.submit

    def broken(job: Any) -> None:
        monkeypatch.setattr(worker.engine, "submit", submit)
        raise RuntimeError("a bug")

    monkeypatch.setattr(worker.engine, "submit", broken)
    async with asyncio.timeout(PATIENCE):
        with pytest.raises(UpstreamError, match="a bug"):
            await said(worker, ids(1, 9))
        assert await said(worker, ids(1, 9), "after")


async def test_whoever_stops_reading_has_cancelled(worker: Worker) -> None:
    for number in range(3):
        async with await worker.run(job(f"j{number}", ids(number, 9), max_tokens=900)) as ticket:
            async for _ in ticket.deltas():
                break
    call = asyncio.create_task(said(worker, ids(7, 9), "cancelled", max_tokens=900))
    await asyncio.sleep(0.05)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await said(worker, ids(8, 9), "after")
    await until(lambda: worker.engine.idle)


async def test_closing_ends_what_is_said(folder: Folder) -> None:
    worker = Worker(an_engine(folder())).start()
    call = asyncio.create_task(said(worker, ids(1, 9), max_tokens=900))
    await asyncio.sleep(0.1)
    await asyncio.to_thread(worker.close)
    with pytest.raises(UpstreamError, match="closed"):
        await call
    with pytest.raises(UpstreamError, match="closed"):
        await said(worker, ids(1, 9), "late")


async def test_a_loop_that_is_gone_does_not_stop_the_others(worker: Worker) -> None:
    def elsewhere() -> None:
        async def leave() -> None:
            await worker.run(job("gone", ids(3, 9), max_tokens=900))

        asyncio.run(leave())

    await asyncio.to_thread(elsewhere)
    assert await said(worker, ids(1, 9), "b")
    await until(lambda: worker.engine.idle)


class SlowDoor(queue.SimpleQueue[Any]):
    """An inbox in which a job takes its time, so that another thread can close the worker meanwhile."""

    def __init__(self, inner: Any, close: Callable[[], None]) -> None:
        self.inner, self.closing = inner, threading.Thread(target=close)

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        if isinstance(item, Ticket):
            self.closing.start()
            self.closing.join(0.5)
        self.inner.put(item)

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        return self.inner.get(block, timeout)

    def get_nowait(self) -> Any:
        return self.inner.get_nowait()

    def empty(self) -> bool:
        return bool(self.inner.empty())


async def test_a_job_handed_over_while_the_worker_is_closed_has_an_end(folder: Folder) -> None:
    worker = Worker(an_engine(folder()))
    worker._inbox = door = SlowDoor(worker._inbox, worker.close)
    worker.start()
    with pytest.raises(UpstreamError, match="closed"):
        await soon(said(worker, ids(1, 20), max_tokens=900))
    await asyncio.to_thread(door.closing.join)
