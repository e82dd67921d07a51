"""Learning from misses in the background reads texts where they were read when the request was looked up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from semcache import AsyncSemanticCache
from semcache.learning import judged_comparisons, labelling
from semcache.matching import guards
from semcache.runtime import scoped_memo

ASKED = "How do I reset the password of the router?"
OTHER = "Should the router of my office share its password with the router of my flat?"


async def test_texts_of_a_miss_are_read_in_the_scope_of_its_request(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Outside of it they were read anew, which took up to a fifth of the processor time of a miss."""
    seen: list[tuple[str, str]] = []

    def spied(name: str, function: Any) -> Any:
        def spy(*args: Any) -> Any:
            seen.append((name, scoped_memo.current()))
            return function(*args)

        return spy

    monkeypatch.setattr(labelling, "NEAR", 0.4)
    monkeypatch.setattr(guards, "conflicts", spied("guards", guards.conflicts))
    monkeypatch.setattr(judged_comparisons, "also_wording", spied("wording", judged_comparisons.also_wording))
    async with await AsyncSemanticCache.open(str(tmp_path), embedder="hashing", seed=1) as cache:
        learner = cache.components.learner
        for task in learner._tasks:
            task.cancel()
        for tenant in ("one", "two"):
            for prompt in (ASKED, OTHER):
                found = await cache.lookup(prompt, tenant=tenant, namespace="here")
                await cache.record(found, f"The answer to: {prompt}")
            assert not found.lookup.decision.nearest.features  # type: ignore[union-attr]
        seen.clear()
        scoped_memo.enter("mine")
        await learner.work()
        both = ["one\0\0here", "two\0\0here"]
        assert seen == [(name, scope) for name in ("guards", "wording") for scope in both]
        assert scoped_memo.current() == "mine"
