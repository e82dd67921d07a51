"""kill -9 at any moment loses no entry whose put had returned, and leaves a store that opens."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from semcache.storage.stores import open_store
from tests.storage.stores.values import NOW, entry, vector

ROOT = Path(__file__).parents[2]
ROUNDS = 4
CHILD = """
import asyncio, itertools, sys
from semcache.storage.stores import open_store
from semcache.types import Selector
from tests.storage.stores.values import NOW, entry, vector

async def main(path, first):
    store = open_store(path)
    await store.open()
    numbers = itertools.count(first)
    async def writer():
        for n in numbers:
            await store.put(entry(n, body=str(n).encode() * 500), vector(n, 64))
            print(n, flush=True)
    await asyncio.gather(*(writer() for _ in range(4)))

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


def killed_after(lines: int, path: Path, first: int) -> list[int]:
    """Ids that a writer printed before it was killed, the last line only if it is whole."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(path), str(first)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    printed = list(islice(child.stdout, lines))
    child.send_signal(signal.SIGKILL)
    printed += child.stdout
    child.stdout.close()
    assert child.wait() == -signal.SIGKILL
    return [int(line) for line in printed if line.endswith("\n")]


@pytest.mark.process
async def test_what_was_stored_survives_kill_9(tmp_path: Path):
    path = tmp_path / "semcache.db"
    draw = random.Random(7)
    promised: list[int] = []
    for round_number in range(ROUNDS):
        promised += killed_after(draw.randint(1, 400), path, round_number * 1_000_000)
        store = open_store(str(path))
        await store.open()
        found = await store.get(promised)
        assert found == [entry(n, body=str(n).encode() * 500) for n in promised]
        kept = {}
        async for batch in store.vectors("mini", now=NOW):
            kept |= {card.id: row for card, row in zip(batch.cards, batch.matrix, strict=True)}
        assert set(promised) <= set(kept)
        assert all(np.array_equal(kept[n], vector(n, 64)) for n in promised)
        announced = [change.entry_id for change in await store.changes(0, limit=10**9)]
        assert sorted(announced) == sorted(kept)
        await store.close()
        with closing(sqlite3.connect(path)) as raw:
            assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
    assert len(promised) > ROUNDS
