"""kill -9 at any moment loses no label that was durable, and whoever opens the store learns each label once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from semcache import AsyncSemanticCache
from semcache.matching import strategies
from semcache.storage.stores import open_store
from tests.learned import Pupil

ROOT = Path(__file__).parents[2]
ROUNDS = 4
PACK = "name: test\ndefaults:\n  threshold: 0.8\n  audit: 1.0\n"
CHILD = """
import asyncio, itertools, sys
from semcache import AsyncSemanticCache
from semcache.learning import label_log
from semcache.learning.reports import is_about_one_request
from semcache.matching import strategies
from semcache.types import parse_id
from tests.learned import Pupil

strategies.STRATEGIES = {"static": Pupil, "certified": Pupil}
label_log.SAVE_EVERY = 3

async def main(data, pack, first):
    cache = await AsyncSemanticCache.open(data, policies=pack, embedder="hashing", seed=1)
    for n in itertools.count(first):
        found = await cache.lookup(f"How do I reset the password of the router of customer {n} please?")
        await cache.record(found, f"Answer {n % 3}")
        if n % 5 == 0:
            await cache.settle()
        if found.answer is not None:
            await cache.components.event_log.flush()
            [entry] = await cache.components.store.get([parse_id(found.entry_id)])
            # One about any of several requests is heard, and teaches nothing.
            teaches = await is_about_one_request(cache.components.store, entry)
            if await cache.feedback(found.entry_id, correct=True) and teaches:
                print(n, flush=True)
        print(-n, flush=True)

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


def killed_after(lines: int, folder: Path, first: int) -> list[int]:
    """What a worker printed before it was killed, the last line only if it is whole."""
    child = subprocess.Popen(
        [sys.executable, "-c", CHILD, str(folder / "data"), str(folder / "pack.yaml"), str(first)],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        text=True,
    )
    assert child.stdout is not None
    printed = list(islice(child.stdout, lines))
    child.send_signal(signal.SIGKILL)
    printed += child.stdout
    child.stdout.close()
    assert child.wait() == -signal.SIGKILL
    return [int(line) for line in printed if line.endswith("\n")]


@pytest.mark.process
async def test_what_was_learned_survives_kill_9(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategies, "STRATEGIES", dict.fromkeys(("static", "certified"), Pupil))
    (tmp_path / "pack.yaml").write_text(PACK)
    draw = random.Random(7)
    promised = 0
    known: list[int] = []
    for number in range(ROUNDS):
        printed = killed_after(draw.randint(1, 200), tmp_path, 1 + number * 10_000)
        promised += sum(n > 0 for n in printed)
        store = open_store(str(tmp_path / "data" / "semcache.db"))
        await store.open()
        log = await store.labels(0, limit=10**6)
        saved = await store.learned("threshold")
        await store.close()
        seqs = [label.seq for label in log]
        assert seqs[: len(known)] == known, "a label that was read once is there for ever"
        known = seqs
        assert sum(label.source.value == "feedback" for label in log) >= promised
        assert saved is None or saved[0] <= (seqs[-1] if seqs else 0)
        cache = await AsyncSemanticCache.open(
            str(tmp_path / "data"), policies=str(tmp_path / "pack.yaml"), embedder="hashing"
        )
        learned = cache.components.strategy._made  # type: ignore[attr-defined]
        [pupil] = learned.values()
        expected = [[one.seq, one.entry_id, one.correct, one.source.value, one.features] for one in log]
        assert pupil.taught == expected
        await cache.close()
    assert len(known) > ROUNDS
    assert promised > 0
