"""Results of tools that processes share: what one keeps another reads, what one changes no other reads as before."""

from __future__ import annotations

import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from semcache.storage.stores import open_store
from semcache.storage.stores.seal import Seal
from semcache.storage.stores.tool_rows import ResourceVersion, ToolResultRow, ToolResultStore, tool_results_of

KEY, OTHER = b"k" * 16, b"\xff" * 16
ROW = ToolResultRow(KEY, "acmé\x00", "read", b'{"a":1}', 10.0, 20.0)


@asynccontextmanager
async def opened(url: str, keys: str | None = None) -> AsyncIterator[ToolResultStore]:
    store = open_store(url, seal=Seal.parse(keys) if keys else None)
    await store.open()
    try:
        yield tool_results_of(store)
    finally:
        await store.close()


@pytest.fixture(params=["memory", "sqlite"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return "memory://" if request.param == "memory" else str(tmp_path / "semcache.db")


async def test_a_result_is_kept_until_its_end_of_life(url: str) -> None:
    async with opened(url) as results:
        assert await results.get(KEY, 10.0) is None
        await results.put(ROW)
        assert await results.get(KEY, 19.9) == ROW
        assert await results.get(KEY, 20.0) is None
        await results.put(ToolResultRow(KEY, "acmé\x00", "read", b"2", 11.0, 30.0))
        found = await results.get(KEY, 20.0)
        assert found is not None
        assert found.body == b"2"
        await results.put(ToolResultRow(OTHER, "beta", "list", b"3", 11.0, 15.0))
        assert await results.sweep(16.0, unchanged=0.0) == 1
        assert await results.purge(tenant="beta") == 0
        assert await results.purge(tool="read") == 1
        for key, user in ((KEY, "añn\x00"), (OTHER, None)):
            await results.put(ToolResultRow(key, "acmé\x00", "read", b"4", 11.0, 30.0, user))
        found = await results.get(KEY, 12.0)
        assert found is not None
        assert found.user == "añn\x00"
        assert await results.count(tenant="acmé\x00") == 2
        assert (await results.count(user="añn\x00"), await results.count(shared=True)) == (1, 1)
        assert (await results.purge(user="bob"), await results.purge(tenant="acmé\x00", user="añn\x00")) == (0, 1)
        assert (await results.count(), await results.purge()) == (1, 1)
        assert await results.get(KEY, 12.0) is None


async def test_a_scope_that_a_database_cannot_hold_is_kept_apart_all_the_same(url: str) -> None:
    # What a shell passes on may be no UTF-8, and PostgreSQL knows no NUL.
    odd = "acm\udce9\x00 files"
    async with opened(url) as results:
        one = ResourceVersion(b"1" * 16)
        await results.change(odd, ["a"], one, 10.0)
        await results.settle(odd, ["a"], one, b"", 10.0)
        assert await results.versions(odd, ["a"]) == {"a": one}
        assert await results.versions("acm", ["a"]) == {}


async def test_a_change_makes_new_what_it_names_alone(url: str) -> None:
    async with opened(url) as results:
        assert await results.versions("s", ["a", "b"]) == {}
        one, two = ResourceVersion(b"1" * 16, 70.0), ResourceVersion(b"2" * 16)
        await results.change("s", ["a", "*"], one, 10.0)
        assert await results.versions("s", ["a", "b", "*"]) == {"a": one, "*": one}
        assert await results.versions("other", ["a"]) == {}
        await results.settle("s", ["a", "*"], two, one.version, 11.0)
        assert await results.versions("s", ["a"]) == {"a": two}


async def test_the_end_of_one_change_is_not_that_of_another(url: str) -> None:
    async with opened(url) as results:
        first, second = ResourceVersion(b"1" * 16, 70.0), ResourceVersion(b"2" * 16, 80.0)
        await results.change("s", ["a"], first, 10.0)
        await results.change("s", ["a"], second, 11.0)
        await results.settle("s", ["a"], ResourceVersion(b"3" * 16), first.version, 12.0)
        assert await results.versions("s", ["a"]) == {"a": ResourceVersion(b"3" * 16, 80.0)}
        assert await results.sweep(0.0, unchanged=13.0) == 0
        assert await results.versions("s", ["a"]) == {}


async def test_what_one_process_keeps_and_changes_another_sees(tmp_path: Path) -> None:
    path = str(tmp_path / "semcache.db")
    async with opened(path) as one, opened(path) as two:
        await one.put(ROW)
        assert await two.get(KEY, 11.0) == ROW
        await two.change("s", ["a"], ResourceVersion(b"1" * 16), 10.0)
        assert await one.versions("s", ["a"]) == {"a": ResourceVersion(b"1" * 16)}


async def test_a_sealed_result_lies_in_no_file_and_opens_with_its_key_alone(tmp_path: Path) -> None:
    path, secret = tmp_path / "semcache.db", b"a very private result"
    key, wrong = (f"k{at}:{base64.b64encode(bytes([at]) * 32).decode()}" for at in (1, 2))
    async with opened(str(path), key) as results:
        await results.put(ToolResultRow(KEY, "t", "read", secret, 10.0, 20.0))
        found = await results.get(KEY, 11.0)
        assert found is not None
        assert found.body == secret
    assert all(secret not in one.read_bytes() for one in tmp_path.iterdir())
    for keys in (wrong, None):
        async with opened(str(path), keys) as results:
            assert await results.get(KEY, 11.0) is None
