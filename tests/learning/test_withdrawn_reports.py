"""Reports that are withdrawn: beliefs are rebuilt without them, in the background and seldom, and lose nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from semcache.learning import standing_labels
from semcache.learning.withdrawn_labels import withdrawal
from semcache.types.evidence import Label, LabelSource, State
from tests.learning.test_changed_promises import audit, certified, opened, standing, taught
from tests.waiting import soon


def report(number: int) -> Label:
    return replace(audit(number), source=LabelSource.FEEDBACK, correct=False)


def means(cache: Any) -> list[float]:
    return [float(one) for one in certified(cache).beliefs.without_verifier.belief.mean]


async def test_a_withdrawn_report_is_forgotten_though_the_process_ends_before_beliefs_are_rebuilt(
    tmp_path: Path,
) -> None:
    (tmp_path / "without").mkdir()
    async with opened(tmp_path / "without") as cache:
        await taught(cache, [audit(number) for number in range(30)])
        expected = means(cache)
    async with opened(tmp_path) as cache:
        await taught(cache, [*[audit(number) for number in range(30)], report(30)])
        reported = means(cache)
        for task in cache.components.learner._tasks:
            task.cancel()
        await taught(cache, [withdrawal(report(30), at=31.0)])
        assert means(cache) == reported
    async with opened(tmp_path) as again:
        assert means(again) == pytest.approx(expected)
        assert standing(again).audits == 30


async def test_withdrawals_one_after_the_other_rebuild_beliefs_once_in_some_minutes(tmp_path: Path) -> None:
    # Each made every worker read the whole log twice and learn up to a hundred thousand labels again.
    async with opened(tmp_path) as cache:
        log, times = cache.components.learner.log, 0
        await taught(cache, [*[audit(number) for number in range(30)], *[report(number) for number in range(30, 50)]])

        def counted(_: Sequence[Label]) -> None:
            nonlocal times
            times += 1

        log.strategy.relearn = counted  # type: ignore[attr-defined]
        for number in range(30, 50):
            await taught(cache, [withdrawal(report(number), at=100.0)])
            await log.relearn(1000.0 + number)
        assert times == 1
        await log.relearn(2000.0)
        await log.relearn(3000.0)
        assert times == 2


async def test_labels_are_learned_while_the_log_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Closing by audits stood still meanwhile.
    async with opened(tmp_path) as cache:
        log, store = cache.components.learner.log, cache.components.store
        await taught(cache, [*[audit(number) for number in range(30)], report(30), withdrawal(report(30), at=31.0)])
        reading, go_on, labels = asyncio.Event(), asyncio.Event(), store.labels

        async def slowly(after: int, *given: Any) -> list[Label]:
            if after == 0:
                reading.set()
                await go_on.wait()
            return await labels(after, *given)

        monkeypatch.setattr(store, "labels", slowly)
        again = asyncio.create_task(log.relearn())
        await soon(reading.wait())
        await soon(taught(cache, [audit(number, correct=False) for number in range(40, 60)]))
        assert standing(cache).state is State.CLOSED
        go_on.set()
        await soon(again)
        assert standing(cache).state is State.CLOSED


async def test_what_is_withdrawn_while_the_log_is_read_again_is_forgotten_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened(tmp_path) as cache:
        log, store = cache.components.learner.log, cache.components.store
        await taught(cache, [*[audit(number) for number in range(30)], report(30), report(31)])
        await taught(cache, [withdrawal(report(30), at=40.0)])
        labels, told = store.labels, False

        async def meanwhile(after: int, *given: Any) -> list[Label]:
            nonlocal told
            if not told and log._rebuilding.locked():
                told = True
                await taught(cache, [withdrawal(report(31), at=41.0)])
            return await labels(after, *given)

        monkeypatch.setattr(store, "labels", meanwhile)
        for _ in range(2):
            await soon(log.relearn())
        rebuilt = means(cache)
    (tmp_path / "without").mkdir()
    async with opened(tmp_path / "without") as plain:
        await taught(plain, [audit(number) for number in range(30)])
        assert rebuilt == pytest.approx(means(plain))


@pytest.mark.parametrize("strategy", ["vcache", "per-category"])
async def test_a_withdrawal_takes_nothing_else_from_a_strategy_that_never_forgets(
    tmp_path: Path, strategy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standing_labels, "_RELEARNED", 10)
    known = []
    for name, last in (("plain", ()), ("withdrawn", (report(50), withdrawal(report(50), at=51.0)))):
        folder = tmp_path / name
        folder.mkdir()
        async with opened(folder, strategy=strategy) as cache:
            await taught(cache, [*[audit(number) for number in range(50)], *last])
            await cache.components.learner.log.relearn()
            known.append(cache.components.strategy.state())
    assert known[0] == known[1]
