"""A plant of any style that is measured is not served to who asks the plain question."""

from __future__ import annotations

from eval.plants import BASES, HONEST, STYLES
from semcache import AsyncSemanticCache


async def test_no_style_of_plant_is_served_for_the_plain_question() -> None:
    async with await AsyncSemanticCache.open("memory://", seed=7) as cache:
        asked = [(name, base, style(base)) for name, style in STYLES.items() for base in BASES[:3]]
        for place, (_, _, planted) in enumerate(asked):
            await cache.record(await cache.lookup(planted, tenant=f"{place}"), "planted")
        found = [(name, await cache.lookup(base, tenant=f"{place}")) for place, (name, base, _) in enumerate(asked)]
    assert [(name, one.why) for name, one in found if one.answer is not None] == []


async def test_honest_writings_of_the_question_are_served() -> None:
    async with await AsyncSemanticCache.open("memory://", seed=7) as cache:
        for base in BASES[:3]:
            await cache.record(await cache.lookup(base), f"the answer to {base}")
        for name, style in HONEST.items():
            for base in BASES[:3]:
                assert (await cache.lookup(style(base))).answer == f"the answer to {base}", name
