"""Cold caches with what ships: a text that looks alike and asks something else is found out by the local verifier."""

from __future__ import annotations

import pytest

from semcache import AsyncSemanticCache
from semcache.types import Card, Verify


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        ("Who designed the evening gown?", "Who designed the gown?"),
        ("Must I register a second home with the town hall?", "How do I register a second home with the town hall?"),
    ],
)
async def test_a_question_that_looks_alike_is_not_answered_by_another_cold(kept: str, asked: str) -> None:
    async with await AsyncSemanticCache.open("memory://", seed=7, timeout=60.0) as cache:
        await cache.record(await cache.lookup(kept), "An answer.")
        await cache.settle()
        told = await cache.explain(asked)
        assert "is not served unread" in told["meaning"]
        assert told["neighbours"][0]["against"] is None, "nothing but what the verifier may say"
        assert (await cache.lookup(asked)).answer is None


async def test_whoever_asks_why_hears_what_becomes_of_a_text_that_the_verifier_does_not_read() -> None:
    async with await AsyncSemanticCache.open("memory://", seed=7, timeout=60.0) as cache:
        await cache.record(await cache.lookup("My card is still showing as inactive."), "An answer.")
        await cache.settle()
        assert "likeness alone is sure enough" in (await cache.explain("My card still shows as inactive."))["meaning"]
        assert (await cache.lookup("My card still shows as inactive.")).answer == "An answer."


async def test_a_rewording_to_which_the_verifier_does_not_object_is_served_cold() -> None:
    async with await AsyncSemanticCache.open("memory://", seed=7, timeout=60.0) as cache:
        await cache.record(await cache.lookup("How many calories are in an egg?"), "An answer.")
        await cache.settle()
        assert (await cache.lookup("How many calories does an egg have?")).answer == "An answer."


@pytest.mark.parametrize(
    ("coming", "joined"),
    [("How many calories are in an egg?", True), ("How many calories are in an egg white?", False)],
)
async def test_a_call_in_the_air_is_joined_where_the_verifier_has_read_both(coming: str, joined: bool) -> None:
    async with await AsyncSemanticCache.open("memory://", seed=7, timeout=60.0) as cache:
        lookup = (await cache.lookup("How many calories does an egg have?")).lookup
        card = Card(0, b"x", lookup.partition, "default", coming, 0.0, float("inf"))
        assert isinstance(cache.components.lookup.of_coming(lookup, card, 0.93), Verify)
        assert await cache.acceptable(lookup, card, 0.93) is joined
        cache.components.verifiers._known.clear()
        assert not await cache.acceptable(lookup, card, 0.93), "where nobody reads them, nobody joins"
