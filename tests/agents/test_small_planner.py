"""The small model of plans: what it may do, and when it is asked in a run that has no plan."""

from __future__ import annotations

import json

import pytest

from semcache.agents.small_planner import SmallPlanner, SmallTerms, SmallWork
from tests.agents.worlds import TOOLS, asked, called, cancelling, taught


def certified(*works: SmallWork) -> SmallPlanner:
    planner = SmallPlanner()
    for work in works:
        while not planner.may(work):
            planner.compared(work, right=True)
    return planner


@pytest.mark.parametrize("work", list(SmallWork))
def test_a_certificate_is_for_its_own_work_alone(work: SmallWork) -> None:
    planner = certified(work)
    assert [one for one in SmallWork if planner.may(one)] == [work]
    for _ in range(200):
        planner.compared(work, right=False)
    assert not planner.may(work)


def test_until_it_is_certified_every_turn_is_compared_and_then_a_sample() -> None:
    planner = SmallPlanner(SmallTerms(rate=0.1))
    assert planner.compares(SmallWork.ENDING, 0.99)
    planner = certified(SmallWork.ENDING)
    assert planner.compares(SmallWork.ENDING, 0.0)
    assert not planner.compares(SmallWork.ENDING, 0.1)


@pytest.mark.parametrize(("price", "turns"), [(0.5, 1), (0.1, 9), (0.05, 19)])
def test_who_never_ends_a_run_is_asked_as_often_as_one_end_would_pay_for(price: float, turns: int) -> None:
    planner = SmallPlanner()
    for _ in range(turns):
        assert planner.pays(price)
        planner.asked(spoke=False)
    assert not planner.pays(price)


def test_who_ends_runs_is_asked_and_what_was_long_ago_counts_less() -> None:
    planner = SmallPlanner()
    for turn in range(1000):
        planner.asked(spoke=turn % 4 == 3)
        assert planner.pays(0.2)
    for _ in range(600):
        planner.asked(spoke=False)
    assert not planner.pays(0.2)
    for _ in range(200):
        planner.asked(spoke=True)
    assert planner.pays(0.2)


def test_a_state_of_before_there_was_ending_is_taken_up() -> None:
    planner, fresh = certified(SmallWork.SLOTS, SmallWork.LAST_WORD), SmallPlanner()
    kept = json.loads(json.dumps(planner.state()))
    del kept["ending"]
    fresh.restore(kept)
    assert (fresh.may(SmallWork.LAST_WORD), fresh.may(SmallWork.ENDING)) == (True, False)
    with pytest.raises(KeyError):
        fresh.restore({"ending": kept["slots"]})
    assert fresh.may(SmallWork.SLOTS), "what cannot be read changes nothing"


TASK = asked("Book a table for two at the harbour")
STEP = called(("find_user", {"user_id": "ann"}, "ok"))


async def test_a_run_without_a_plan_may_be_ended_where_its_calls_have_results() -> None:
    plans = await taught(cancelling("ann_lee_1", "AB12CD"))
    plans.planner = certified(SmallWork.ENDING)
    begun = await plans.lookup(TASK, tools=TOOLS)
    assert (begun.outcome, begun.unplanned, begun.last_word) == ("miss", False, False), "nothing was done yet"
    later = await plans.lookup([*TASK, *STEP], tools=TOOLS)
    assert (later.outcome, later.unplanned, later.last_word) == ("miss", True, True)
    plans.planner = certified(SmallWork.LAST_WORD)
    assert not (await plans.lookup([*TASK, *STEP], tools=TOOLS)).last_word
    plans.planner = None
    assert not (await plans.lookup([*TASK, *STEP], tools=TOOLS)).last_word


async def test_a_run_whose_plan_has_a_next_step_is_not_ended() -> None:
    plans = await taught(cancelling("ann_lee_1", "AB12CD"))
    plans.planner = certified(SmallWork.ENDING)
    task = asked("Cancel the first reservation of user cy_fox_3, please")
    looked = called(("find_user", {"user_id": "cy_fox_3"}, {"reservations": ["ZZ"]}))
    found = await plans.lookup([*task, *looked], tools=TOOLS)
    assert (found.why, found.unplanned, found.last_word) == ("open-slot", False, False)
    done = called(("cancel", {"reservation_id": "ZZ", "reason": "change of plan"}, "ok"), start=1)
    found = await plans.lookup([*task, *looked, *done], tools=TOOLS)
    assert (found.why, found.unplanned, found.last_word) == ("plan-done", False, False), "that is another work"
