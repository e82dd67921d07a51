"""Searching entries as operators do: what a selector means is found, however much else is nearer."""

from __future__ import annotations

from pathlib import Path

import pytest

from semcache import AsyncSemanticCache
from semcache.cache.entry_search import EntrySearch
from semcache.types import Selector, parse_id

RARE = ["How do I paint the router?", "How do I travel to the sea at Lisbon?"]


@pytest.mark.parametrize("kept", ["memory", "sqlite"])
async def test_a_rare_entry_is_found_by_meaning_behind_many_that_are_nearer(tmp_path: Path, kept: str) -> None:
    where = "memory://" if kept == "memory" else str(tmp_path)
    pack = tmp_path / "pack.yaml"
    pack.write_text("{name: p, defaults: {strategy: static, threshold: 1.0, guards: [], audit: 0.0}}")
    async with await AsyncSemanticCache.open(where, policies=str(pack), embedder="hashing", seed=1) as cache:
        for prompt in [*(f"How do I reset the password of router {number}?" for number in range(60)), *RARE]:
            await cache.record(await cache.lookup(prompt), "Press the button.")
        await cache.settle()
        ids = [parse_id((await cache.lookup(prompt)).entry_id or "") for prompt in RARE]
        search = EntrySearch(cache.components)
        every = await search.by_meaning(Selector(everything=True), "How do I reset the router?", limit=2)
        rare = await search.by_meaning(Selector(ids=tuple(filter(None, ids))), "How do I reset the router?", limit=2)
    assert not {entry.key.text for entry, _ in every.entries} & set(RARE)
    assert [entry.key.text for entry, _ in rare.entries] == RARE, "the nearest first"
