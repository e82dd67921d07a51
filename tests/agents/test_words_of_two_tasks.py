"""Two tasks with the same plan in other words: a third word in the place of theirs leads to no plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from semcache.agents.pattern import TaskPattern
from semcache.agents.pattern_gap import PatternGap
from semcache.agents.plans import Plans
from semcache.agents.slots import SlotKind
from semcache.storage.stores.plan_rows import MemoryPlans
from tests.agents.worlds import asked, finished, opened, tool

TOOLS = [tool("create", title="string", private="boolean")]


def creating(kind: str, title: str) -> list[dict[str, Any]]:
    arguments = {"title": title, "private": True}
    return finished(f"Create a {kind} repository called {title} for the team", ("create", arguments, "ok"))


async def taught(store: Any = None) -> Plans:
    plans = opened(store)
    for kind, title in (("private", "alpha"), ("hidden", "beta")):
        await plans.record(creating(kind, title), tools=TOOLS)
    return plans


async def outcome(plans: Plans, kind: str) -> str:
    return (await plans.lookup(asked(f"Create a {kind} repository called gamma for the team"), tools=TOOLS)).outcome


@pytest.mark.parametrize(
    ("kind", "served"), [("private", "plan"), ("hidden", "plan"), ("public", "miss"), ("shared", "miss")]
)
async def test_a_word_that_no_run_had_leads_to_no_plan(kind: str, served: str) -> None:
    assert await outcome(await taught(), kind) == served


async def test_a_plan_of_an_earlier_version_forgets_that_any_word_will_do() -> None:
    store = MemoryPlans()
    plans = await taught(store)
    (kept,) = plans.library.templates()
    said = kept.patterns[0].elements
    place = said.index("private")
    loose = TaskPattern((*said[:place], PatternGap("", SlotKind.TEXT), *said[place + 1 :]))
    await plans.library.keep(replace(kept, patterns=(*kept.patterns, loose)))
    assert await outcome(plans, "public") == "plan"
    later = opened(store)
    await later.library.refresh()
    assert [await outcome(later, kind) for kind in ("public", "private", "hidden")] == ["miss", "plan", "plan"]
