"""Outages of the judge: what was drawn meanwhile is judged once it is back, and it is left alone while it fails."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from semcache import AsyncSemanticCache
from semcache.errors import UpstreamError
from semcache.learning import learner
from semcache.matching import strategies
from semcache.types.evidence import Comparison, Label, LabelSource
from tests.clock import Clock
from tests.learned import Pupil

PACK = """
name: test
defaults:
  wording: off
  strategy: static
  threshold: 0.8
  audit: 1.0
"""
ROUTERS = 12


class Away:
    """A judge elsewhere that fails at whatever mentions a word of `bad`, and at everything while it is `down`."""

    name = "away"
    instant = False

    def __init__(self, *bad: str, down: bool = True) -> None:
        self.bad, self.down = bad, down
        self.asked: list[str] = []

    async def agree(self, comparison: Comparison) -> bool | None:
        self.asked.append(comparison.question)
        if self.down or any(word in comparison.question for word in self.bad):
            raise UpstreamError("503 from the model that judges")
        return True


@pytest.fixture(autouse=True)
def pupils(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategies, "STRATEGIES", {**strategies.STRATEGIES, "static": Pupil})


@asynccontextmanager
async def audited(folder: Path, judge: Away, clock: Clock) -> AsyncIterator[AsyncSemanticCache]:
    """A cache in which an audit of each router waits for the judge."""
    file = folder / "pack.yaml"
    file.write_text(PACK)
    async with await AsyncSemanticCache.open(
        str(folder / "data"), policies=str(file), judge=judge, embedder="hashing", seed=1, clock=clock
    ) as cache:
        for task in cache.components.learner._tasks:
            task.cancel()
        for number in range(ROUTERS):
            asked = f"How do I reset the password of router{number} of the {number} kind?"
            await cache.record(await cache.lookup(asked, partition={"n": str(number)}), "Hold the button.")
            found = await cache.lookup(asked.replace("?", " please?"), partition={"n": str(number)})
            assert found.audit
            await cache.record(found, "Press the button.")
        await cache.components.learner.work()
        yield cache


async def labels(cache: AsyncSemanticCache) -> list[Label]:
    return [one for one in await cache.components.store.labels(0) if one.source is not LabelSource.REASKED]


async def wait(cache: AsyncSemanticCache, clock: Clock, seconds: float) -> None:
    """Let so much time pass, with a look at the queue every five seconds."""
    for _ in range(int(seconds / 5.0)):
        clock.now += 5.0
        await cache.components.learner.judge_queue()


@pytest.mark.parametrize("hours", [0.05, 1, 12])
async def test_audits_that_are_drawn_while_the_judge_is_down_are_judged_once_it_is_back(
    tmp_path: Path, hours: float
) -> None:
    # As undecided ones they would count as wrong: a hundred of them keep a certificate away for ten thousand audits.
    clock = Clock()
    async with audited(tmp_path, judge := Away(), clock) as cache:
        await wait(cache, clock, 3600.0 * hours)
        assert await labels(cache) == []
        judge.down = False
        await wait(cache, clock, 1800.0)
        found = await labels(cache)
        assert [(one.source, one.correct) for one in found] == [(LabelSource.AUDIT, True)] * ROUTERS
        assert await cache.components.store.claim(99, now=1e12, lease=1.0) == []


async def test_a_judge_that_is_down_is_left_alone_but_for_a_look_now_and_then(tmp_path: Path) -> None:
    clock = Clock()
    async with audited(tmp_path, judge := Away(), clock) as cache:
        await wait(cache, clock, 12 * 3600.0)
        assert 12 <= len(judge.asked) <= 80


async def test_what_a_judge_fails_at_that_works_otherwise_is_undecided_after_a_few_tries(tmp_path: Path) -> None:
    clock = Clock()
    async with audited(tmp_path, judge := Away("router3", "router7", down=False), clock) as cache:
        await wait(cache, clock, 1800.0)
        found = await labels(cache)
        assert sorted(one.source for one in found) == [LabelSource.AUDIT] * 10 + [LabelSource.UNDECIDED] * 2
        assert len([one for one in judge.asked if "router3" in one]) == learner.TRIES
        assert cache.meter.registry.get_sample_value("semcache_dropped_labels_total", {"reason": "failed"}) == 2


async def test_after_a_day_of_failures_what_waits_is_undecided(tmp_path: Path) -> None:
    clock = Clock()
    async with audited(tmp_path, Away(), clock) as cache:
        await wait(cache, clock, learner.PATIENCE + 6 * 3600.0)
        assert [one.source for one in await labels(cache)] == [LabelSource.UNDECIDED] * ROUTERS
