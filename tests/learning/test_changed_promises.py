"""What a restart keeps and forgets: under other promises, another judge or embedder, or with a damaged state."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from semcache import AsyncSemanticCache
from semcache.config.packs import Category, Pack
from semcache.learning.corroboration import Corroboration, Reach
from semcache.learning.reports import withdraw
from semcache.learning.withdrawn_labels import standing_labels, withdrawal
from semcache.matching import features
from semcache.matching.judged_tier import DoubtedNeighbour
from semcache.matching.model_verdict import model_verdict_about, with_model_verdict
from semcache.matching.strategies.certified import CertifiedThreshold
from semcache.matching.wording_tier import WordingTier, features_of
from semcache.request.wording import Edit
from semcache.storage.stores import open_store
from semcache.types import AdminAction, Controls, Rejection, Selector, Why, public_id
from semcache.types.evidence import Label, LabelSource, Standing, State

PACK = "name: test\ntarget: {target}\ncategories:\n  default: {{strategy: {strategy}}}\n"


@asynccontextmanager
async def opened(
    folder: Path, *, target: float = 0.01, strategy: str = "certified", more: str = "", **given: Any
) -> AsyncIterator[AsyncSemanticCache]:
    file = folder / "pack.yaml"
    file.write_text(PACK.format(target=target, strategy=strategy) + more)
    given = {"judge": "exact", "embedder": "hashing", **given}
    cache = await AsyncSemanticCache.open(str(folder / "data"), policies=str(file), seed=1, **given)
    async with cache:
        yield cache


def audit(number: int, *, correct: bool = True, category: str = "default", tenant: str = "default") -> Label:
    values = [0.0] * len(features.NAMES)
    for name, value in (("nearness", 4.0), ("overlap", 1.0), ("spelling", 1.0)):
        values[features.NAMES.index(name)] = value
    return Label(
        at=float(number),
        category=category,
        tenant=tenant,
        entry_id=number,
        answer=number,
        exact=number.to_bytes(16),
        score=0.98,
        features=tuple(values),
        p_correct=0.999,
        correct=correct,
        source=LabelSource.AUDIT,
        served=True,
        chance=0.1,
    )


async def taught(cache: AsyncSemanticCache, labels: Sequence[Label]) -> None:
    await cache.components.learner.log.append(list(labels))


def standing(cache: AsyncSemanticCache, category: str = "default") -> Standing:
    return cache.components.strategy.standing(category)


async def test_audits_under_a_stricter_target_certify_no_looser_one(tmp_path: Path) -> None:
    async with opened(tmp_path, target=0.001) as cache:
        await taught(cache, [audit(number) for number in range(400)])
        assert standing(cache).audits == 400
    async with opened(tmp_path, target=0.1) as again:
        found = standing(again)
        assert (found.labels, found.audits, found.certified, found.state) == (400, 0, None, State.PROVISIONAL)
        await taught(again, [audit(400)])
        assert standing(again).audits == 1
    async with opened(tmp_path, target=0.1) as again:
        assert (standing(again).labels, standing(again).audits) == (401, 1)


async def test_errors_under_a_looser_target_close_no_stricter_one(tmp_path: Path) -> None:
    async with opened(tmp_path, target=0.1) as cache:
        await taught(cache, [audit(number, correct=number % 25 != 0) for number in range(500)])
        assert standing(cache).state is State.CERTIFIED
    async with opened(tmp_path, target=0.005) as again:
        assert standing(again).state is not State.CLOSED
        assert "more errors" not in standing(again).note


async def test_audits_of_another_strategy_certify_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path, target=0.1, strategy="per-category") as cache:
        await taught(cache, [audit(number) for number in range(200)])
    async with opened(tmp_path, target=0.1) as again:
        assert (standing(again).labels, standing(again).audits, standing(again).certified) == (200, 0, None)


async def test_a_new_category_takes_nothing_from_the_others(tmp_path: Path) -> None:
    async with opened(tmp_path, target=0.05) as cache:
        await taught(cache, [audit(number) for number in range(100)])
        cache.components.strategy.note("default", 0.9, served=True, audited=False)
        before, owed = standing(cache), certified(cache).control.budget.overspent()
        assert before.audits == 100
        assert owed > 0.0
    async with opened(tmp_path, target=0.05, more="  more: {target: 0.5}\n") as again:
        assert (standing(again).audits, standing(again).certified) == (before.audits, before.certified)
        assert certified(again).control.budget.overspent() > 0.0
        assert standing(again, "more").labels == 0


async def test_labels_of_a_category_that_a_pack_no_longer_names_are_held_by_the_terms_of_default(
    tmp_path: Path,
) -> None:
    more = "  more: {target: 0.2}\n"
    async with opened(tmp_path, more=more) as cache:
        await taught(cache, [audit(number, category="more") for number in range(60)])
        assert standing(cache, "more").audits == 60
    async with opened(tmp_path) as again:
        assert (standing(again, "more").labels, standing(again, "more").audits) == (60, 0)


async def test_audits_by_another_judge_certify_nothing(tmp_path: Path) -> None:
    async with opened(tmp_path, target=0.05) as cache:
        await taught(cache, [audit(number) for number in range(100)])
    async with opened(tmp_path, target=0.05, judge="normalised") as again:
        assert (standing(again).labels, standing(again).audits) == (100, 0)


async def test_who_only_looks_on_under_other_promises_changes_nothing_for_those_who_serve(tmp_path: Path) -> None:
    async with opened(tmp_path, target=0.05) as cache:
        await taught(cache, [audit(number) for number in range(100)])
    async with opened(tmp_path, target=0.3, judge="normalised") as other:
        await other.settle()
    async with opened(tmp_path, target=0.05) as again:
        assert standing(again).audits == 100


async def test_what_was_spent_without_a_label_is_still_spent_after_a_restart(tmp_path: Path) -> None:
    async with opened(tmp_path) as cache:
        for _ in range(3):
            cache.components.strategy.note("default", 0.95, served=True, audited=False)
        owed = certified(cache).control.budget.overspent()
        assert owed > 0.1
    async with opened(tmp_path) as again:
        assert certified(again).control.budget.overspent() == owed


async def test_hits_of_the_tiers_beside_are_known_after_a_restart_though_nothing_was_learned(tmp_path: Path) -> None:
    async with opened(tmp_path) as cache:
        cache.components.wordings.tier.note("default", "filler", audited=False)
    async with opened(tmp_path) as again:
        tier = again.components.judged.tier
        assert again.components.wordings.tier.standing()["default"][0].served == 1
        tier.note(DoubtedNeighbour("default", 0.9, Controls(), entry_id=1), 0.97, served=True, audited=False)
        owed = tier._of("default").budget.overspent()
        assert owed > 0.0
    async with opened(tmp_path) as third:
        assert third.components.judged.tier._of("default").budget.overspent() == owed


async def test_a_state_of_wordings_that_is_damaged_in_part_counts_no_audit_twice(tmp_path: Path) -> None:
    def worded(number: int) -> Label:
        return replace(audit(number), features=features_of(Edit.FILLER))

    async with opened(tmp_path) as cache:
        await taught(cache, [worded(number) for number in range(50)])
    await spoiled(tmp_path, "wording", lambda state: state.update({"default/unheard-of": {}}))
    async with opened(tmp_path) as again:
        [found] = again.components.wordings.tier.standing()["default"]
        assert found.audits == 50


async def test_a_state_of_words_that_is_damaged_in_part_counts_no_audit_twice(tmp_path: Path) -> None:
    async with opened(tmp_path) as cache:
        await taught(cache, [with_yes(number) for number in range(50)])
        assert cache.components.judged.tier.standing()["default"].audits == 50
    await spoiled(tmp_path, "judged", lambda state: state["strata"].update({"other": {}}))
    async with opened(tmp_path) as again:
        assert again.components.judged.tier.standing()["default"].audits == 50


async def test_a_kind_of_wordings_that_audits_have_closed_stays_closed_with_another_embedder(tmp_path: Path) -> None:
    async with opened(tmp_path) as cache:
        wrong = [replace(audit(number, correct=False), features=features_of(Edit.FILLER)) for number in range(20)]
        await taught(cache, wrong)
        changed = Label(
            **{**as_dict(audit(99, correct=False)), "features": (3600.0, 1.0), "source": LabelSource.REASKED}
        )
        await taught(cache, [changed])
        lives = cache.components.freshness.state()
        assert lives
    async with opened(tmp_path, embedder=Renamed()) as again:
        [found] = again.components.wordings.tier.standing()["default"]
        assert found.closed
        assert again.components.freshness.state() == lives
        assert standing(again).labels == 0


async def test_labels_of_another_embedder_that_no_saved_state_holds_are_not_learned_from(tmp_path: Path) -> None:
    async with opened(tmp_path) as cache:
        await taught(cache, [audit(1)])
    store = open_store(str(tmp_path / "data" / "semcache.db"))
    await store.open()
    await store.label([audit(2)])  # written and not saved: the process was killed
    await store.close()
    async with opened(tmp_path, embedder=Renamed()) as again:
        assert standing(again).labels == 0
        await taught(again, [audit(3)])
        assert standing(again).labels == 1


async def test_reports_before_others_were_heard_of_teach_no_more_when_they_are_learned_again(tmp_path: Path) -> None:
    reports = [
        replace(audit(number, correct=False, tenant="loud"), source=LabelSource.FEEDBACK, chance=0.0)
        for number in range(5)
    ]
    async with opened(tmp_path) as cache:
        for tenant in ("loud", "quiet"):
            cache.components.learner.log.corroboration.saw(tenant)
        await taught(cache, [*reports, audit(9, tenant="quiet")])
        assert standing(cache).labels == 1
    await spoiled(tmp_path, "threshold", lambda state: state.update({"certified": []}))
    async with opened(tmp_path) as again:
        assert standing(again).labels == 1


def test_a_withdrawal_takes_back_what_was_reported_before_it_and_nothing_after() -> None:
    report = replace(audit(1, correct=False), source=LabelSource.FEEDBACK)
    again = replace(report, at=3.0)
    assert standing_labels([withdrawal(report, at=2.0), again]) == [again]
    assert standing_labels([report, withdrawal(report, at=2.0), again]) == [again]


def a_pack(target: float, **more: Any) -> Pack:
    categories = {"default": Category(name="default")}
    return Pack(
        name="test", description="", share="tenant", target=target, min_margin=0.0, categories=categories, **more
    )


class Renamed:
    """The embedder of these tests under another name."""

    def __init__(self) -> None:
        from semcache.models.embedders import open_embedder

        self._embedder = open_embedder("hashing")
        self.id, self.dim = "renamed", self._embedder.dim

    async def embed(self, texts: Sequence[str]) -> Any:
        return await self._embedder.embed(texts)

    async def close(self) -> None:
        await self._embedder.close()


def with_yes(number: int) -> Label:
    label = audit(number)
    return replace(label, features=with_model_verdict(label.features, model_verdict_about(0.5, 0.97, sampled=True)))


def certified(cache: AsyncSemanticCache) -> Any:
    strategy: Any = cache.components.strategy
    return strategy._made["certified"]._of("default")


async def spoiled(folder: Path, name: str, damage: Callable[[Any], None]) -> None:
    store = open_store(str(folder / "data" / "semcache.db"))
    await store.open()
    saved = await store.learned(name)
    assert saved is not None
    kept = msgspec.json.decode(saved[1])
    damage(kept["state"])
    await store.learn(name, saved[0], msgspec.json.encode(kept))
    await store.close()


def as_dict(label: Label) -> dict[str, Any]:
    return {name: getattr(label, name) for name in Label.__slots__}


async def test_the_error_per_hit_that_a_target_for_requests_allows_outlives_a_restart(tmp_path: Path) -> None:
    pack = "  rare: {strategy: certified, contract: request}\n"
    async with opened(tmp_path, more=pack) as cache:
        strategy: Any = cache.components.strategy
        for number in range(400):
            strategy.note("rare", 0.99, served=number % 20 == 0, audited=False)
        before = strategy._made["certified"]._of("rare").control.budget.per_hit()
        assert before > 0.15
    async with opened(tmp_path, more=pack) as again:
        budget = again.components.strategy._made["certified"]._of("rare").control.budget
        assert abs(budget.per_hit() - before) < 0.02
        # Two errors among a few hits are what one in a hundred requests allows.
        await taught(again, [audit(number, correct=number > 1, category="rare") for number in range(12)])
        assert "more errors" not in standing(again, "rare").note


def test_audits_while_a_target_is_stretched_certify_no_more_than_the_target() -> None:
    pack = a_pack(0.005, relax_to=0.2)
    threshold = CertifiedThreshold(pack)
    known = threshold._of("default")
    known.control._stretching._shown = True
    known.control.relax(1.0)
    assert known.control.budget.per_hit() == 0.2
    for number in range(60):
        threshold.observe(audit(number))
    known.control.relax(0.0)
    assert threshold.standing("default").state is not State.CERTIFIED
    for number in range(60, 1500):
        threshold.observe(audit(number))
    assert threshold.standing("default").state is State.CERTIFIED


async def test_evidence_for_a_stretched_target_holds_for_that_target_alone(tmp_path: Path) -> None:
    async with opened(tmp_path, more="relax_to: 0.05\n") as cache:
        await taught(cache, [audit(1)])
        known = certified(cache)
        known.control._stretching._shown = True
        cache.components.strategy.relax(1.0)
        assert known.control.budget.per_hit() == 0.05
    async with opened(tmp_path, more="relax_to: 0.05\n") as again:
        again.components.strategy.relax(1.0)
        assert certified(again).control.budget.per_hit() == 0.05
    async with opened(tmp_path, more="relax_to: 0.3\n") as other:
        other.components.strategy.relax(1.0)
        assert certified(other).control.budget.per_hit() == 0.01


def test_a_report_that_is_withdrawn_after_a_kind_of_wordings_began_again_makes_it_no_surer() -> None:
    tier = WordingTier(a_pack(0.01))

    def told(number: int, source: LabelSource, *, correct: bool, served: bool = True) -> None:
        label = replace(audit(number, correct=correct), features=features_of(Edit.FILLER), source=source, served=served)
        tier.observe(label)

    for number in range(4):
        told(number, LabelSource.FEEDBACK, correct=False)
    assert tier.judge("default", Edit.FILLER, Controls()).why is Why.CLOSED
    number = 4
    while tier.judge("default", Edit.FILLER, Controls()).why is Why.CLOSED:
        told(number, LabelSource.MISS, correct=True, served=False)
        number += 1
        assert number < 2000
    for one in range(4):
        told(one, LabelSource.WITHDRAWN, correct=False)
    never_told = WordingTier(a_pack(0.01))
    doubt, least = (1.0 - one.judge("default", Edit.FILLER, Controls()).p_correct for one in (tier, never_told))
    assert doubt >= least


def test_a_report_that_was_withdrawn_vouches_for_no_other() -> None:
    counts = Corroboration()
    for tenant in ("one", "two"):
        counts.saw(tenant)
    report = replace(audit(1, correct=False, tenant="one"), source=LabelSource.FEEDBACK)
    assert counts.take(report) is Reach.NOBODY
    assert counts.take(withdrawal(report, at=2.0)) is Reach.NOBODY
    assert counts.take(replace(report, tenant="two")) is Reach.NOBODY


async def test_withdrawing_a_report_brings_back_nothing_that_a_fresh_answer_has_shown_wrong(tmp_path: Path) -> None:
    async with opened(tmp_path) as cache:
        kept = await cache.lookup("How do I reset the router?")
        await cache.record(kept, "Hold the button.")
        [entry] = await cache.components.store.select(Selector(everything=True))
        others = [b"shown wrong by an answer", b"only reported as wrong"]
        store: Any = cache.components.store
        action = {"id": public_id(entry.id), "rejected": [one.hex() for one in others]}
        await store.act(AdminAction(1.0, "somebody", "report", "default", action))
        await store.reject([Rejection(entry.id, one) for one in others], now=1.0)
        await store.label([replace(audit(1, correct=False), entry_id=entry.id, exact=others[0])])
        done = await withdraw(store, entry.id, now=2.0)
        assert done is not None
        assert done.allowed == (others[1],)
