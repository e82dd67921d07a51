"""Templates have a cap for each tenant, and what is taken out of their index leaves nothing behind."""

from __future__ import annotations

import random
from itertools import count
from typing import Any

import pytest

from semcache.agents import plan_library
from semcache.agents.template_search import TemplateIndex
from semcache.storage.indexes.flat import FlatIndex
from semcache.storage.stores.plan_rows import MemoryPlans
from tests.agents.worlds import asked, finished, opened, tool

PLACES = ("atrium", "basement", "canteen", "darkroom", "elevator", "foyer", "garage", "hangar")


TOOLS = [tool(f"look_in_{place}", reads=True, user_id="string") for place in PLACES]


def run(place: str) -> list[dict[str, Any]]:
    call = (f"look_in_{place}", {"user_id": "ann_lee_1"}, {"note": "none"})
    return finished(f"Look for user ann_lee_1 in the {place}, please", call)


async def test_the_stalest_templates_of_a_tenant_make_room_and_those_of_others_stay(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(plan_library, "_MOST", 4)
    now, store = count(1000), MemoryPlans()
    plans = opened(store, clock=lambda: float(next(now)))
    mine = [await plans.record(run(place), tools=TOOLS) for place in PLACES[:4]]
    other = await plans.record(run(PLACES[0]), tools=TOOLS, tenant="other")
    assert len(set(mine)) == 4
    # Confirmed just now: the second is the stalest.
    await plans.outcome(mine[0] or "", success=True)
    for place in PLACES[4:6]:
        assert await plans.record(run(place), tools=TOOLS) is not None
    left = {one["id"] for one in plans.library.summaries(None, 2000.0)}
    assert len(plans.library.templates("default")) == 4
    assert {mine[0], other} <= left
    assert not {mine[1], mine[2]} & left
    again = opened(store)
    await again.library.refresh()
    assert {one["id"] for one in again.library.summaries(None, 2000.0)} == left


@pytest.mark.parametrize("vectors", [False, True])
async def test_an_index_that_templates_come_to_and_leave_is_as_one_that_never_had_them(*, vectors: bool) -> None:
    plans = opened()
    for place in PLACES:
        await plans.record(run(place), tools=TOOLS)
    templates, rng = plans.library.templates(), random.Random(1)
    assert len(templates) == len(PLACES)
    index = TemplateIndex(FlatIndex(4) if vectors else None)
    vector = [1.0, 0.0, 0.0, 0.0]
    for _ in range(300):
        one = rng.choice(templates)
        if rng.random() < 0.5:
            index.put(one, [vector] * vectors)  # type: ignore[list-item]
        else:
            index.remove(one.id)
    left = set(index.templates)
    assert 0 < len(left) < len(templates)
    for one, place in zip(templates, PLACES, strict=True):
        found = index.search(asked(run(place)[1]["content"])[1]["content"])
        assert (found != [] and found[0].template.id == one.id and found[0].score == 1.0) == (one.id in left)
    for one in templates:
        index.remove(one.id)
    assert len(index._rows) <= len(templates)
    assert not any([index._having, index._arrays, index._keys, index._bags, index._using, index._of])
