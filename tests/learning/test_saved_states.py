"""Saving what was learned: requests get the event loop in between, and large states are saved less often."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from semcache.learning import label_log, saved_states
from semcache.learning.saved_states import encoded, labels_between
from semcache.matching.strategies import ByCategory
from tests.learning.test_changed_promises import a_pack, audit, opened, taught

NAMES = ("chat", "code", "facts", "math")


def known(*categories: str) -> ByCategory:
    pack = a_pack(0.05)
    default = pack.categories["default"]
    others = {name: msgspec.structs.replace(default, name=name) for name in NAMES}
    static = msgspec.structs.replace(default, name="fixed", strategy="vcache")
    strategy = ByCategory(msgspec.structs.replace(pack, categories={"default": default, "fixed": static, **others}))
    for number in range(40):
        for name in categories:
            strategy.observe(audit(number, category=name))
    return strategy


@pytest.mark.parametrize("categories", [(), ("chat",), ("fixed", *NAMES)])
async def test_a_state_in_parts_is_the_whole_state(categories: tuple[str, ...]) -> None:
    strategy = known(*categories)
    whole = {"promises": {"a": 1}, "state": strategy.state(), "since": 3}
    assert msgspec.json.decode(await encoded(strategy, promises={"a": 1}, since=3)) == msgspec.json.decode(
        msgspec.json.encode(whole)
    )


async def test_requests_go_on_between_the_categories_of_a_state() -> None:
    # All categories at once held every request of the process up for as long as they took together.
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    running = asyncio.create_task(others())
    await encoded(known(*NAMES), promises={})
    running.cancel()
    assert turns >= len(NAMES)


def test_large_states_are_saved_less_often_but_not_seldom() -> None:
    assert [labels_between(size, 500) for size in (0, 1000, 256 << 10, 512 << 10, 100 << 20)] == [
        *(500, 500, 500, 1000),
        5000,
    ]


async def test_a_large_state_is_written_once_for_several_times_as_many_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(label_log, "SAVE_EVERY", 10)
    written: dict[int, int] = {}
    for plain in (256 << 10, 1):
        monkeypatch.setattr(saved_states, "_PLAIN", plain)
        folder = tmp_path / str(plain)
        folder.mkdir()
        async with opened(folder) as cache:
            store, seqs = cache.components.store, []
            learn = store.learn

            async def noted(name: str, seq: int, state: bytes, learn: Any = learn, seqs: Any = seqs) -> None:
                seqs.append(seq)
                await learn(name, seq, state)

            monkeypatch.setattr(store, "learn", noted)
            for number in range(200):
                await taught(cache, [audit(number)])
            written[plain] = len(set(seqs))
        async with opened(folder) as again:
            assert again.components.strategy.standing("default").audits == 200
    assert written[256 << 10] >= 18
    assert written[1] <= 4
