"""Entries of one answer: what is reported wrong of one of them is not served from another."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from semcache import AsyncSemanticCache
from semcache.types import Outcome, Selector, Why, parse_id

FIRST, SECOND = "How do I reset my password?", "How can I reset my account password?"
THIRD = "How do I reset the password of my router?"
PACK = "{name: p, defaults: {strategy: static, threshold: 0.6, wording: off, guards: [], audit: 0.0}}"


@pytest.fixture
async def cache(tmp_path: Path) -> AsyncIterator[AsyncSemanticCache]:
    """Two entries with the same answer."""
    (tmp_path / "pack.yaml").write_text(PACK)
    async with await AsyncSemanticCache.open(str(tmp_path), policies=str(tmp_path / "pack.yaml"), seed=1) as opened:
        found = [await opened.lookup(prompt) for prompt in (FIRST, SECOND)]
        for one in found:
            await opened.record(one, "X")
        first, second = [opened.registry.exact(one.lookup.key.exact).id for one in found]
        await opened.components.store.alias(second, first, now=1.0)
        await opened.catch_up()
        yield opened


async def test_an_answer_that_was_wrong_is_not_served_from_another_entry(cache: AsyncSemanticCache) -> None:
    served = await cache.lookup(THIRD)
    assert served.answer == "X"
    assert await cache.feedback(served.entry_id, correct=False)
    assert (await cache.lookup(THIRD)).why == Why.REJECTED
    # Nor after the entry that was reported has gone.
    await cache.invalidate(Selector(ids=(parse_id(served.entry_id),)))
    assert (await cache.lookup(THIRD)).why == Why.REJECTED


async def test_a_withdrawn_report_lets_all_of_them_be_served_again(cache: AsyncSemanticCache) -> None:
    served = await cache.lookup(THIRD)
    assert await cache.feedback(served.entry_id, correct=False)
    assert await cache.components.feedback.withdraw(parse_id(served.entry_id), tenant=None)
    assert await cache.components.store.rejections() == []
    await cache.invalidate(Selector(ids=(parse_id(served.entry_id),)))
    assert (await cache.lookup(THIRD)).answer == "X"


async def test_an_entry_that_is_deleted_as_wrong_is_not_replaced_by_one_of_the_same_answer(
    cache: AsyncSemanticCache,
) -> None:
    replayed = await cache.lookup(FIRST)
    assert replayed.outcome is Outcome.EXACT
    assert await cache.feedback(replayed.entry_id, correct=False)
    assert len(cache.registry) == 1
    assert (await cache.lookup(FIRST)).why == Why.REJECTED
    assert (await cache.lookup(SECOND)).answer == "X"
    await cache.record(await cache.lookup(FIRST), "Y")
    assert (await cache.lookup(FIRST)).answer == "Y"
