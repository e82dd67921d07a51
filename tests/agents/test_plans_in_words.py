"""An answer in words is a plan only where its agent says so; lines that were taken for plans before are not used."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from semcache.agents.template import encode, view
from semcache.storage.stores.plan_rows import MemoryPlans, StoredPlan
from semcache.types import public_id
from tests.agents.worlds import TOOLS, asked, opened

TASK, OTHER = (
    asked("Write down the steps of a refund for order 4711"),
    asked("Write down the steps of a refund for order 4822"),
)
RUN = [*TASK, {"role": "assistant", "content": "Look order 4711 up\nRefund order 4711"}]
LINES = "Look order 4822 up\nRefund order 4822"


async def test_only_lines_that_are_said_to_be_a_plan_are_one() -> None:
    plans = opened()
    assert await plans.record(RUN, tools=TOOLS) is None
    assert plans.counts["no-steps"] == 1
    assert (await plans.lookup(OTHER, tools=TOOLS)).why == "cold"
    assert await plans.record(RUN, tools=TOOLS, in_words=True) is not None
    found = await plans.lookup(OTHER, tools=TOOLS)
    assert (found.outcome, found.text) == ("plan", LINES)


async def test_lines_of_which_nobody_said_so_are_kept_and_not_used() -> None:
    store = MemoryPlans()
    plan_id = await opened(store).record(RUN, tools=TOOLS, in_words=True)
    [row] = await store.plans(0, limit=9)
    [template] = await _templates(store)
    old = replace(template, expects="string")
    await store.put_plans([StoredPlan(row.id, row.tenant, encode(old), row.expires)])
    plans = opened(store)
    await plans.library.refresh()
    found = await plans.lookup(OTHER, tools=TOOLS)
    assert (found.outcome, found.text, found.hint) == ("miss", "", "")
    [kept] = plans.library.templates()
    assert kept.retired
    # Whoever brings it back says that it is a plan, to every process.
    await plans.library.edit(plan_id or "", {**view(kept), "retired": ""})
    again = opened(store)
    await again.library.refresh()
    assert (await again.lookup(OTHER, tools=TOOLS)).text == LINES
    assert public_id(kept.id) == plan_id


async def _templates(store: MemoryPlans) -> list[Any]:
    plans = opened(store)
    await plans.library.refresh()
    return plans.library.templates()
