"""Several processes write; whoever follows the feed sees every change exactly once, in order."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from semcache.storage.stores import open_store
from tests.fixtures_pg import postgres_url  # noqa: F401
from tests.storage.stores.values import entry

ROOT = Path(__file__).parents[2]
WRITERS, EACH = 3, 100
CHILD = """
import asyncio, sys
from semcache.storage.stores import open_store
from semcache.types import Rejection, Selector
from tests.storage.stores.values import NOW, entry, vector

async def main(url, first, each):
    store = open_store(url)
    await store.open()
    for n in range(first, first + each):
        await store.put(entry(n), vector(n))
        if n % 10 == 0:
            await store.reject([Rejection(n, b"x" * 32)], now=NOW)
        if n % 7 == 0:
            await store.delete(Selector(ids=(n,)), now=NOW)
    await store.close()

asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
"""


@pytest.mark.process
@pytest.mark.parametrize("place", ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
@pytest.mark.parametrize("waits", [True, False], ids=["waiting", "polling hard"])
async def test_a_follower_misses_nothing(place: str, waits: bool, tmp_path: Path, request):
    url = str(tmp_path / "semcache.db") if place == "sqlite" else request.getfixturevalue("postgres_url")
    follower = open_store(url)
    await follower.open()
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    children = [
        await asyncio.create_subprocess_exec(
            sys.executable, "-c", CHILD, url, str(number * 1000 + 1), str(EACH), cwd=ROOT, env=env
        )
        for number in range(WRITERS)
    ]
    over = asyncio.gather(*(child.wait() for child in children))
    seen = []
    last = 0
    while True:
        ended = over.done()
        news = await follower.changes(last, limit=20)
        seen += news
        last = news[-1].seq if news else last
        if not news and ended:
            break
        if not news and waits:
            await follower.wait(0.5)
    assert await over == [0] * WRITERS
    assert [change.seq for change in seen] == sorted({change.seq for change in seen})
    ids = [number * 1000 + n for number in range(WRITERS) for n in range(1, EACH + 1)]
    expected = [("put", n) for n in ids]
    expected += [("reject", n) for n in ids if n % 10 == 0]
    expected += [("delete", n) for n in ids if n % 7 == 0]
    assert sorted((change.kind.value, change.entry_id) for change in seen) == sorted(expected)
    assert seen == await follower.changes(0, limit=10**6)
    living = [n for n in ids if n % 7]
    assert [found.id for found in await follower.get(living) if found] == living
    assert (await follower.get([1]))[0] == entry(1)
    await follower.close()
