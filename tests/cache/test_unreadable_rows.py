"""Rows that a worker cannot read, damaged or of a newer version: it leaves them out, and hears of all others."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from semcache import AsyncSemanticCache
from semcache.types import Rejection, Selector, parse_id
from tests.packs import static
from tests.waiting import PATIENCE

ASKED, OTHER = "What is the capital of Peru?", "How tall is Mount Everest?"
CHANGE = "INSERT INTO changes (kind, entry_id, exact, at) VALUES ('later', ?, x'', 0)"
LABEL = (
    "INSERT INTO labels (at, category, tenant, answer, exact, score, features, p_correct, source, served, chance, "
    "entry_id, correct) VALUES (0, 'default', 't', 0, x'', 0, x'', 0, 'later', 0, 0, 1, 1)"
)


async def opened(folder: Path) -> AsyncSemanticCache:
    return await AsyncSemanticCache.open(str(folder), policies=static(folder), embedder="hashing", seed=1)


async def execute(folder: Path, statement: str, *given: object) -> None:
    """Write to a store beside the event loop, so that a cache that is writing can end."""

    def write() -> None:
        with closing(sqlite3.connect(folder / "semcache.db", timeout=PATIENCE)) as database, database:
            database.execute(statement, given)

    await asyncio.to_thread(write)


@pytest.mark.parametrize("about", ["nothing", "an entry", "all"])
async def test_a_worker_that_cannot_read_a_change_serves_nothing_that_was_purged(tmp_path: Path, about: str) -> None:
    async with await opened(tmp_path) as one, await opened(tmp_path) as two:
        for prompt in (ASKED, OTHER):
            await one.record(await one.lookup(prompt), "So.")
        await two.catch_up()
        number = parse_id((await two.lookup(ASKED)).entry_id)
        if about != "nothing":
            # As a newer version may do it, whose word for it this one does not know.
            await execute(tmp_path, "DELETE FROM entries WHERE id = ?", number)
        await execute(tmp_path, CHANGE, {"nothing": 1, "an entry": number, "all": 0}[about])
        if about == "nothing":
            await one.invalidate(Selector(ids=(number,)))
        await two.catch_up()
        assert (await two.lookup(ASKED)).answer is None
        assert (await two.lookup(OTHER)).answer == "So."
        assert two.components.maintenance.seen == await two.components.store.head()


async def test_what_an_unknown_change_is_about_is_read_again_with_whom_it_is_wrong_for(tmp_path: Path) -> None:
    wrong_for = b"x" * 32
    async with await opened(tmp_path) as one, await opened(tmp_path) as two:
        await one.record(await one.lookup(ASKED), "So.")
        [card] = one.registry.cards()
        await one.components.store.reject([Rejection(card.id, wrong_for)], now=1.0)
        await two.catch_up()
        await execute(tmp_path, CHANGE, card.id)
        await two.catch_up()
        assert (await two.lookup(ASKED)).answer == "So."
        assert card.id in two.registry.rejected(wrong_for)


async def test_a_cache_opens_on_a_log_with_a_label_that_it_cannot_read(tmp_path: Path) -> None:
    async with await opened(tmp_path) as cache:
        await cache.record(await cache.lookup(ASKED), "So.")
    await execute(tmp_path, LABEL)
    async with await opened(tmp_path) as cache:
        assert (await cache.lookup(ASKED)).answer == "So."
