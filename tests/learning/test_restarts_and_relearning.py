"""What learning costs others while it reads the log again, and what a restart may not bring back or forget."""

from __future__ import annotations

import asyncio
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from semcache import AsyncSemanticCache
from semcache.cache.opening import open_components
from semcache.cache.opening_choices import Opening, VerdictTerms
from semcache.learning.withdrawn_labels import withdrawal
from semcache.matching.model_verdict import model_verdict_about, with_model_verdict
from semcache.storage.stores import open_store
from semcache.types.evidence import Label, LabelSource
from tests.learning.test_changed_promises import Renamed, audit, opened, standing, taught
from tests.learning.test_learner import AGAIN, ASKED, told
from tests.learning.test_learner import opened as opened_for_prompts


def report(number: int) -> Label:
    return replace(audit(number), source=LabelSource.FEEDBACK, correct=False)


async def test_learning_again_does_not_wait_for_requests_every_few_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy server each time that others get the event loop is a whole round of requests."""
    async with opened(tmp_path) as cache:
        log = cache.components.learner.log
        await taught(cache, [*[audit(number) for number in range(3000)], report(3000)])
        rounds = 0
        sleep = asyncio.sleep

        async def counted(seconds: float, *given: Any) -> None:
            nonlocal rounds
            rounds += seconds == 0
            await sleep(seconds, *given)

        monkeypatch.setattr(asyncio, "sleep", counted)
        await log._store.label([withdrawal(report(3000), at=3001.0)])
        await log.fold()
        await log.relearn()
        assert not log._taken_back
        assert rounds < 100


async def test_a_report_is_learned_once_though_its_caller_gave_up_and_says_it_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with opened_for_prompts(tmp_path) as cache:
        await told(cache, ASKED, "Hold the button.")
        served = await cache.lookup(AGAIN)
        assert served.entry_id is not None
        async with cache.components.learner.log._folding:
            first = asyncio.create_task(cache.feedback(served.entry_id, correct=False))
            while not await cache.components.store.labels(0):
                await asyncio.sleep(0.01)
            first.cancel()
            with pytest.raises(asyncio.CancelledError):
                await first
        await cache.feedback(served.entry_id, correct=False)
        assert [one.source for one in await cache.components.store.labels(0)] == [LabelSource.FEEDBACK]


async def test_what_words_are_worth_outlives_a_while_in_which_no_model_is_asked(tmp_path: Path) -> None:
    def worded(number: int) -> Label:
        label = audit(number)
        return replace(
            label, features=with_model_verdict(label.features, model_verdict_about(0.95, 0.98, sampled=True))
        )

    async def asking(model: str | None) -> AsyncSemanticCache:
        opening = Opening(data=str(tmp_path / "data"), embedder="hashing", seed=1, verdicts=VerdictTerms(model=model))
        return AsyncSemanticCache(await open_components(opening))

    async with await asking("one") as cache:
        await taught(cache, [worded(number) for number in range(30)])
    async with await asking(None) as cache:
        await taught(cache, [audit(30)])
    async with await asking("one") as again:
        assert again.components.judged.tier.standing()["default"].audits == 30
    async with await asking("other") as foreign:
        assert not foreign.components.judged.tier.standing()


@pytest.mark.parametrize("target", [0.01, 0.02])
async def test_labels_of_another_embedder_are_not_learned_from_later_either(tmp_path: Path, target: float) -> None:
    async with opened(tmp_path) as cache:
        await taught(cache, [audit(number) for number in range(20)])
    async with opened(tmp_path, embedder=Renamed()) as again:
        await taught(again, [audit(20), report(21)])
    async with opened(tmp_path, embedder=Renamed(), target=target) as again:
        assert standing(again).labels == 2
        log = again.components.learner.log
        taken: list[Any] = []
        log.strategy.relearn = taken.extend  # type: ignore[attr-defined]
        await taught(again, [withdrawal(report(21), at=22.0)])
        await log.relearn()
        assert [one.entry_id for one in taken] == [20]


async def test_a_state_without_promises_does_not_keep_a_cache_from_opening(tmp_path: Path) -> None:
    async with opened(tmp_path):
        pass
    store = open_store(str(tmp_path / "data" / "semcache.db"))
    await store.open()
    await store.learn("threshold", 1, msgspec.json.encode({"promises": None, "state": {}}))
    await store.close()
    async with opened(tmp_path) as again:
        assert standing(again).labels == 0


@pytest.mark.parametrize("before", [0.05, None])
async def test_audits_of_a_process_that_was_killed_early_certify_no_other_target(
    tmp_path: Path, before: float | None
) -> None:
    """Before the first save the log alone holds them, and a label does not say what was promised when it was made."""
    if before is not None:
        async with opened(tmp_path, target=before) as cache:
            await taught(cache, [audit(number) for number in range(100)])
    async with opened(tmp_path, target=0.2) as cache:
        await taught(cache, [audit(number) for number in range(100, 150)])
        assert standing(cache).audits == 50
        shutil.copytree(tmp_path / "data", tmp_path / "killed" / "data")
    async with opened(tmp_path / "killed", target=0.2) as again:
        assert standing(again).audits == 50
    async with opened(tmp_path / "killed", target=0.1) as again:
        assert standing(again).audits == 0


@pytest.mark.parametrize("changed", ["target", "judge"])
async def test_audits_of_hits_under_another_promise_that_are_written_later_certify_nothing(
    tmp_path: Path, changed: str
) -> None:
    """As those of a generation that retires, or that wait for a slow judge."""
    async with opened(tmp_path, target=0.05, judge="exact") as before:
        old = before.components.learner.log.marks.of("default")
        await taught(before, [replace(audit(number), origin=old) for number in range(20)])
        assert standing(before).audits == 20
    kept = {"target": 0.05, "judge": "exact"}
    async with opened(
        tmp_path, **kept | ({"target": 0.2} if changed == "target" else {"judge": "normalised"})
    ) as cache:
        new = cache.components.learner.log.marks.of("default")
        assert new != old
        late = [replace(audit(number), origin=old) for number in range(20, 40)]
        await taught(cache, [*late, replace(audit(40), origin=old, source=LabelSource.UNDECIDED)])
        await taught(cache, [replace(audit(number), origin=new) for number in range(50, 55)])
        assert (standing(cache).audits, standing(cache).undecided) == (5, 0)
        assert standing(cache).labels == 45
    async with opened(tmp_path, **kept) as again:
        assert standing(again).audits == 0
