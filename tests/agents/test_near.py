"""What is merely near is served only if the threshold says so, and success or failure is what it learns from."""

from __future__ import annotations

from itertools import count

import pytest

from semcache.agents.plan_library import PlanLibrary
from semcache.agents.plan_terms import NearMatching
from semcache.agents.plans import Plans
from semcache.config.packs import load
from semcache.matching.strategies import StaticThreshold
from semcache.models.embedders import open_embedder
from semcache.storage.indexes.flat import FlatIndex
from semcache.storage.stores.plan_rows import MemoryPlans
from semcache.types import Verdict, Why
from semcache.types.evidence import Label, LabelSource
from tests.agents.worlds import SALT, TOOLS, asked, cancelling, finished, tool

NEAR = asked("Please cancel the very first reservation of user cy_fox_3 today, please")


class Threshold(StaticThreshold):
    """Serves everything or nothing, and remembers its labels."""

    def __init__(self, *, serve: bool) -> None:
        super().__init__(load("default"))
        self.serve, self.seen = serve, list[Label]()

    def floor(self, *_args, **_given) -> float:
        return 0.0

    def judge(self, *_args, **_given) -> Verdict:
        return Verdict(self.serve, 0.97, why=Why.SEMANTIC if self.serve else Why.UNCERTAIN)

    def observe(self, label: Label) -> None:
        self.seen.append(label)


async def opened(threshold: Threshold, store: MemoryPlans) -> Plans:
    ids = count(1)
    library = PlanLibrary(store, salt=SALT, embedder=open_embedder("hashing"), index=FlatIndex)
    await library.refresh()
    return Plans(library, salt=SALT, new_id=lambda: next(ids), clock=lambda: 1000.0, near=NearMatching(threshold))


async def test_a_near_task_is_served_by_leave_of_the_threshold_and_its_outcome_is_a_label() -> None:
    store = MemoryPlans()
    first = await opened(Threshold(serve=True), store)
    await first.record(cancelling("ann_lee_1", "AB12CD"), tools=TOOLS)
    # Another worker, which has the vectors from the store.
    threshold = Threshold(serve=True)
    plans = await opened(threshold, store)
    found = await plans.lookup(NEAR, tools=TOOLS)
    assert (found.outcome, found.tier) == ("plan", "near")
    assert found.calls[0].arguments == {"user_id": "cy_fox_3"}
    assert found.p_success < 0.97
    await plans.outcome(found, success=False)
    [label] = threshold.seen
    assert (label.correct, label.source, label.served, label.category) == (False, LabelSource.AUDIT, True, "plan")
    assert (await plans.lookup(NEAR, tools=TOOLS)).outcome == "miss"


@pytest.mark.parametrize(
    ("task", "outcome"),
    [
        ("Please pack /data/run7 and then finally delete /data/run7", "plan"),
        # Another path, a list, and a bound are no values of the plan, whatever the threshold makes of the words.
        ("Please pack /data/run7 and then finally delete /data/run8", "miss"),
        ("Please pack /data/run7 /data/run8 and then finally delete /data/run7", "miss"),
        ("Please pack at most 30 of /data/run7 up and then delete /data/run7", "miss"),
    ],
)
async def test_what_is_near_is_not_served_with_values_that_cannot_be_relied_on(task: str, outcome: str) -> None:
    plans = await opened(Threshold(serve=True), MemoryPlans())
    path = {"path": "/data/run1"}
    run = finished("Pack /data/run1 and then delete /data/run1", ("pack", path, "ok"), ("delete", path, "ok"))
    tools = [tool("pack", path="string"), tool("delete", path="string")]
    await plans.record(run, tools=tools)
    assert (await plans.lookup(asked(task), tools=tools)).outcome == outcome


async def test_what_was_not_served_is_labelled_by_the_plan_that_the_planner_made() -> None:
    threshold = Threshold(serve=False)
    plans = await opened(threshold, MemoryPlans())
    await plans.record(cancelling("ann_lee_1", "AB12CD"), tools=TOOLS)
    found = await plans.lookup(NEAR, tools=TOOLS)
    assert (found.outcome, found.why) == ("miss", "uncertain")
    assert "call find_user" in found.hint
    run = cancelling("cy_fox_3", "IJ56KL")
    run[1] = NEAR[1]
    await plans.record(run, tools=TOOLS, found=found)
    [label] = threshold.seen
    assert (label.correct, label.source, label.served) == (True, LabelSource.MISS, False)
    # By now it is known in these words too.
    assert (await plans.lookup(asked(NEAR[1]["content"].replace("cy_fox_3", "dee_low_4")), tools=TOOLS)).tier == "key"
