"""Labels of several writers are seen once and in order by whoever follows the log."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from semcache.storage.stores import open_store
from semcache.types.evidence import Label
from tests.fixtures_pg import postgres_url  # noqa: F401
from tests.storage.stores.values import entry, label, owed

PLACES = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
WRITERS, EACH = 4, 40


@pytest.fixture
def url(request, tmp_path: Path) -> str:
    return request.getfixturevalue("postgres_url") if request.param == "postgres" else str(tmp_path / "semcache.db")


@pytest.mark.parametrize("url", PLACES, indirect=True)
async def test_a_follower_never_sees_a_later_label_before_an_earlier_one(url: str):
    follower, *writers = [open_store(url) for _ in range(WRITERS + 1)]
    for store in (follower, *writers):
        await store.open()

    async def append(store, writer: int) -> None:
        for n in range(EACH):
            await store.label([label(writer, score=n / EACH), label(writer, score=(n + 0.5) / EACH)])

    appending = asyncio.gather(*(append(store, number) for number, store in enumerate(writers)))
    seen: list[Label] = []
    while not appending.done() or len(seen) < 2 * WRITERS * EACH:
        seen += await follower.labels(seen[-1].seq if seen else 0, limit=7)
    await appending
    assert seen == await follower.labels(0, limit=10**6)
    for writer in range(WRITERS):
        scores = [one.score for one in seen if one.entry_id == writer]
        assert scores == [n / (2 * EACH) for n in range(2 * EACH)]
    for store in (follower, *writers):
        await store.close()


async def test_no_table_of_learning_holds_a_text(tmp_path: Path):
    secret = "the launch is on Tuesday"
    store = open_store(str(tmp_path / "semcache.db"))
    await store.open()
    for n in (1, 2):
        await store.put(entry(n, f"{secret} {n}", body=f'{{"answer":"{secret}"}}'.encode()), None)
    await store.label([label(1)])
    await store.enqueue([owed(2, 1)])
    await store.close()
    with closing(sqlite3.connect(tmp_path / "semcache.db")) as raw:
        rows = [row for table in ("labels", "judgements", "learned") for row in raw.execute(f"SELECT * FROM {table}")]
    assert len(rows) == 2
    assert not [cell for row in rows for cell in row if b"Tuesday" in str(cell).encode()]
