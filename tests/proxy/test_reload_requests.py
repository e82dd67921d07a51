"""The reports of workers about a reload, where one of them dies meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from semcache.proxy.reload_requests import ReloadingWorker, ReloadReports, owing, result_of
from semcache.storage.stores.memory import MemoryStore

CHANGED: dict[str, Any] = {"changed": ["policies"]}


@pytest.fixture
async def store() -> MemoryStore:
    store = MemoryStore()
    await store.open()
    return store


def worker(pid: int, *, server: str = "host/1", dead: int = 0) -> ReloadReports:
    return ReloadReports(ReloadingWorker(server, 2, pid), lambda other: other != dead)


async def left(store: MemoryStore, number: int) -> int:
    return owing((await result_of(store, number) or {})["workers"])


async def test_one_that_begins_with_what_was_read_stands_for_one_that_died_before_it_reloaded(
    store: MemoryStore,
) -> None:
    """`semcache reload` waited for the dead worker until its time was over."""
    await worker(11).write(store, 3, CHANGED)
    assert await left(store, 3) == 1
    await worker(13).take_place(store, 3)
    assert await left(store, 3) == 0
    assert (await result_of(store, 3) or {})["changed"] == ["policies"]


async def test_one_that_died_after_it_reloaded_stands_for_none_that_still_has_to(store: MemoryStore) -> None:
    await worker(11).write(store, 3, CHANGED)
    await worker(13, dead=11).take_place(store, 3)
    assert await left(store, 3) == 1
    await worker(12).write(store, 3, CHANGED)
    assert await left(store, 3) == 0


@pytest.mark.parametrize(("server", "number"), [("host/2", 3), ("host/1", 4)], ids=["another-server", "a-later-one"])
async def test_what_another_server_or_an_earlier_request_did_is_left_alone(
    store: MemoryStore, server: str, number: int
) -> None:
    await worker(11).write(store, 3, CHANGED)
    await worker(13, server=server).take_place(store, number)
    assert [one["pid"] for one in (await result_of(store, 3) or {})["workers"]] == [11]
