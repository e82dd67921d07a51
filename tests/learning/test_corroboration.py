"""A tenant's reports, however many, do not switch off what others are served."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from semcache import AsyncSemanticCache
from semcache.learning.corroboration import Corroboration
from semcache.types import Label, LabelSource

LABEL = Label(1.0, "default", "b", 1, 1, b"e", 0.9, (1.0,), 0.9, False, LabelSource.FEEDBACK, True)
PLACES = ("France", "Chile", "Ghana")
ASKED = [f"What is the {thing} of {place}?" for thing in ("capital", "currency") for place in PLACES]


def test_one_tenant_alone_is_heard_and_one_of_several_as_far_as_another_says_so_too() -> None:
    alone = Corroboration()
    assert all(alone.counts(LABEL) for _ in range(5))
    several = Corroboration()
    several.saw("a")
    assert not any(several.counts(LABEL) for _ in range(5))
    other = replace(LABEL, tenant="c")
    assert [several.counts(other) for _ in range(3)] == [True, True, True]
    assert sum(several.counts(LABEL) for _ in range(10)) == 3
    assert several.counts(replace(LABEL, source=LabelSource.AUDIT))
    elsewhere = replace(LABEL, category="other")
    assert not several.counts(elsewhere), "reports of another category corroborate nothing"


def test_what_taught_nothing_takes_nothing_back() -> None:
    several = Corroboration()
    several.saw("a")
    assert not several.counts(LABEL)
    assert not several.counts(replace(LABEL, source=LabelSource.WITHDRAWN))


async def test_false_reports_of_one_tenant_cost_another_none_of_its_hits(tmp_path: Path) -> None:
    async with await AsyncSemanticCache.open(str(tmp_path), seed=1) as cache:
        for tenant in ("a", "b"):
            for text in ASKED:
                await cache.record(await cache.lookup(text, tenant=tenant), "an answer")
        await cache.settle()

        async def hits() -> int:
            found = [await cache.lookup("Could you tell me: " + text, tenant="a") for text in ASKED]
            return sum(one.answer is not None for one in found)

        before = await hits()
        for _ in range(6):
            for text in ASKED:
                found = await cache.lookup("I would like to know: " + text, tenant="b")
                if found.answer is not None:
                    await cache.feedback(found.entry_id, correct=False)
                    await cache.record(await cache.lookup(text, tenant="b"), "an answer")
        await cache.settle()
        assert before >= 5
        assert await hits() >= 0.9 * before
