"""Audits of which no verdict comes: they are written down, and a certificate takes them for wrong."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from semcache import AsyncSemanticCache
from semcache.learning.corroboration import Corroboration, Reach
from semcache.matching import features, strategies
from semcache.matching.model_verdict import model_verdict_about, with_model_verdict
from semcache.matching.wording_tier import features_of
from semcache.request.wording import Edit
from semcache.types import Assembled, Outcome, Selector
from semcache.types.evidence import Comparison, Label, LabelSource
from tests.learned import Pupil

PACK = """
name: test
defaults:
  wording: {wording}
  strategy: {strategy}
  threshold: 0.8
  audit: 1.0
"""
ASKED = "How do I reset the password of the router?"
AGAIN = "How do I reset the password of the router please?"
RIGHT = tuple([0.0] * len(features.NAMES))


class Unsure:
    """A judge that cannot tell."""

    name = "unsure"

    def __init__(self, *, instant: bool) -> None:
        self.instant = instant

    async def agree(self, comparison: Comparison) -> bool | None:
        return None


@pytest.fixture(autouse=True)
def pupils(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strategies, "STRATEGIES", {**strategies.STRATEGIES, "static": Pupil})


@asynccontextmanager
async def opened(
    folder: Path, judge: Any = "exact", *, strategy: str = "static", wording: str = "off", **more: Any
) -> AsyncIterator[AsyncSemanticCache]:
    file = folder / "pack.yaml"
    file.write_text(PACK.format(strategy=strategy, wording=wording))
    data = str(folder / "data")
    async with await AsyncSemanticCache.open(
        data, policies=str(file), judge=judge, embedder="hashing", seed=1, **more
    ) as cache:
        yield cache


async def served(cache: AsyncSemanticCache) -> Any:
    await cache.record(await cache.lookup(ASKED), "Wait 14 days.")
    found = await cache.lookup(AGAIN)
    assert (found.outcome, found.audit) == (Outcome.SEMANTIC, True)
    return found


async def labels(cache: AsyncSemanticCache) -> list[Label]:
    return [one for one in await cache.components.store.labels(0) if one.source is not LabelSource.REASKED]


def audited(number: int, source: LabelSource, *, values: tuple[float, ...] = RIGHT, tenant: str = "t") -> Label:
    at, exact = float(number), b"%d" % number
    correct = source is LabelSource.AUDIT
    return Label(at, "default", tenant, number, number, exact, 0.95, values, 0.999, correct, source, True, chance=0.1)


@pytest.mark.parametrize("instant", [True, False])
async def test_an_audit_that_the_judge_cannot_decide_is_written_down_and_changes_no_answer(
    tmp_path: Path, instant: bool
) -> None:
    async with opened(tmp_path, Unsure(instant=instant)) as cache:
        await cache.record(await served(cache), "Wait 30 days.")
        await cache.settle()
        [label] = await labels(cache)
        assert (label.source, label.served, label.chance) == (LabelSource.UNDECIDED, True, 1.0)
        assert label.origin == cache.components.learner.log.marks.of("default")
        assert await cache.components.store.rejections() == []


@pytest.mark.parametrize("judge", ["exact", Unsure(instant=False)])
@pytest.mark.parametrize(
    "answer",
    [Assembled(b"", "", complete=False), Assembled(b"{}", "I cannot.", complete=True, refusal=True)],
)
async def test_an_audit_that_gets_no_answer_to_compare_is_undecided(
    tmp_path: Path, judge: Any, answer: Assembled
) -> None:
    async with opened(tmp_path, judge) as cache:
        found = await served(cache)
        for _ in range(2):
            await cache.audited(found.lookup, answer)
        await cache.settle()
        assert [one.source for one in await labels(cache)] == [LabelSource.UNDECIDED]


async def test_an_audit_whose_entry_is_reported_or_purged_before_it_is_judged_is_undecided(tmp_path: Path) -> None:
    async with opened(tmp_path, Unsure(instant=False)) as cache:
        found = await served(cache)
        cache.components.learner.leave_queue()
        await cache.record(found, "Wait 30 days.")
        await cache.components.learner.work()
        await cache.invalidate(Selector(everything=True))
        await cache.settle()
        assert [one.source for one in await labels(cache)] == [LabelSource.UNDECIDED]


async def test_undecided_audits_keep_a_certificate_from_being_given_and_teach_nothing_else(tmp_path: Path) -> None:
    found = {}
    for name, every in (("all decided", 0), ("some undecided", 20)):
        folder = tmp_path / name
        folder.mkdir()
        async with opened(folder, strategy="certified", target=0.02) as cache:
            for number in range(400):
                await cache.components.learner.log.append([audited(number, LabelSource.AUDIT)])
                if every and number % every == 0:
                    await cache.components.learner.log.append([audited(1000 + number, LabelSource.UNDECIDED)])
            stats = await cache.stats()
        async with opened(folder, strategy="certified", target=0.02) as again:
            assert (await again.stats())["categories"] == stats["categories"]
        found[name] = stats["categories"]["default"]
    all_decided, some = found["all decided"], found["some undecided"]
    assert (all_decided["state"], all_decided["undecided"]) == ("certified", 0)
    assert (some["state"], some["undecided"], some["audits"], some["wrong"]) == ("provisional", 20, 400, 0)
    assert (some["certified"] or 1.0) > 0.05 >= all_decided["certified"]
    assert "20 without a verdict counted as wrong" in some["note"]
    assert (some["risk"], some["labels"], some["audit_rate"]) == (
        all_decided["risk"],
        all_decided["labels"],
        all_decided["audit_rate"],
    )
    assert [one["undecided"] for one in some["classes"]] == [20]


@pytest.mark.parametrize("strategy", ["per-category", "vcache"])
async def test_a_strategy_without_certificates_does_not_see_undecided_audits(tmp_path: Path, strategy: str) -> None:
    async with opened(tmp_path, strategy=strategy) as cache:
        await cache.components.learner.log.append([audited(1, LabelSource.UNDECIDED)])
        assert cache.components.strategy.standing("default").labels == 0


async def test_undecided_audits_count_where_the_hit_was_served(tmp_path: Path) -> None:
    judged = with_model_verdict(RIGHT, model_verdict_about(0.5, 0.9, sampled=True))
    async with opened(tmp_path, strategy="certified", wording="[typo]") as cache:
        undecided = LabelSource.UNDECIDED
        await cache.components.learner.log.append(
            [
                audited(1, undecided, values=judged),
                audited(2, undecided, values=features_of(Edit.TYPO)),
                audited(3, undecided),
            ]
        )
        stats = await cache.stats()
        assert stats["judged"]["default"].undecided == 1
        assert [one.undecided for one in stats["wording"]["default"]] == [1]
        assert stats["categories"]["default"]["undecided"] == 1


def test_whom_an_undecided_audit_tells_does_not_depend_on_its_verdict() -> None:
    apart = Corroboration()
    for number in range(60):
        apart.take(replace(audited(number, LabelSource.AUDIT, tenant="good"), p_correct=0.9))
        apart.take(replace(audited(number, LabelSource.AUDIT, tenant="bad"), p_correct=0.9, correct=False))
    assert apart.take(audited(1, LabelSource.UNDECIDED, tenant="bad")) is Reach.OWN
    assert apart.take(audited(1, LabelSource.UNDECIDED, tenant="good")) is Reach.ALL
    assert Corroboration().take(audited(1, LabelSource.UNDECIDED)) is Reach.ALL


async def test_an_undecided_audit_is_no_pair_to_train_on(tmp_path: Path) -> None:
    from semcache.train.store_pairs import pairs_of

    async with opened(tmp_path, Unsure(instant=True)) as cache:
        await cache.record(await served(cache), "Wait 30 days.")
        await cache.settle()
        assert len(await labels(cache)) == 1
        assert (await pairs_of(cache.components.store))[0] == []
