"""Whoever closes ends its tasks, and goes on closing whatever one of them failed by."""

from __future__ import annotations

import asyncio

import pytest

from semcache.runtime.task_set import end


async def test_a_task_that_failed_keeps_nothing_from_being_closed(caplog: pytest.LogCaptureFixture) -> None:
    async def fails() -> None:
        raise RuntimeError("the disk is gone")

    failed, endless = asyncio.create_task(fails()), asyncio.create_task(asyncio.Event().wait())
    await asyncio.sleep(0)
    await end(failed, endless, None)
    assert endless.cancelled()
    assert "the disk is gone" in caplog.text


async def test_who_is_cancelled_while_tasks_end_is_cancelled() -> None:
    release = asyncio.Event()

    async def slow_to_end() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await release.wait()

    task = asyncio.create_task(slow_to_end())
    await asyncio.sleep(0)
    closing = asyncio.create_task(end(task))
    await asyncio.sleep(0)
    closing.cancel()
    await asyncio.sleep(0)
    release.set()
    with pytest.raises(asyncio.CancelledError):
        await closing
