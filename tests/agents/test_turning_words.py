"""A plan is not carried out for who forbids it, asks about it, puts it off, or means other amounts."""

from __future__ import annotations

import pytest

from semcache.agents.forms import write
from semcache.agents.pattern import fit, learned
from semcache.agents.run import disappoints
from semcache.agents.template import ValueForm
from semcache.agents.turning_words import turning
from tests.agents.worlds import TOOLS as WORLD
from tests.agents.worlds import asked, called, cancelling, finished, opened, taught, tool

CANCEL = learned("Cancel booking BK-100", {"booking": "BK-100"})
WIRE = learned("Wire the amount of 50 to the supplier Bob", {"payee": "Bob", "amount": "50"})


@pytest.mark.parametrize(
    "task",
    [
        "Never cancel booking BK-200",
        "Don't cancel booking BK-200",
        "Was booking BK-200 cancelled?",
        "Can I cancel booking BK-201",
        "I have cancelled booking BK-202",
        "Cancel booking BK-200 if it rains",
        "Cancel booking BK-200 tomorrow",
        "Simulate cancel booking BK-200",
    ],
)
def test_a_task_that_is_turned_is_left_to_the_model(task: str) -> None:
    found = fit(CANCEL, task)
    assert found is not None
    assert turning(task, CANCEL, found, writes=True)


@pytest.mark.parametrize("task", ["Cancel booking BK-300", "Please cancel booking BK-300", "Cancel the booking BK-300"])
def test_the_same_task_is_not(task: str) -> None:
    found = fit(CANCEL, task)
    assert found is not None
    assert turning(task, CANCEL, found, writes=True) == ()


@pytest.mark.parametrize("payee", ["nobody", "Frank on Monday", "Frank and Gina", "everyone"])
def test_who_is_no_name_is_paid_nothing(payee: str) -> None:
    task = f"Wire the amount of 60 to the supplier {payee}"
    found = fit(WIRE, task)
    assert found is not None
    assert turning(task, WIRE, found, writes=True)


@pytest.mark.parametrize("text", ["60k", "$2b", "1,5", "22,50", "1.5 million"])
def test_an_amount_that_may_be_another_is_not_written(text: str) -> None:
    assert write(ValueForm.NUMBER, text) is None


def test_thousands_are_read() -> None:
    assert write(ValueForm.INTEGER, "$1,500") == 1500


@pytest.mark.parametrize(
    ("result", "says_no"),
    [
        ({"in_stock": False}, True),
        ({"status": "declined"}, True),
        (None, True),
        ([], True),
        ({}, True),
        ({"status": "shipped", "id": 7}, False),
        ("done", False),
        ([1], False),
    ],
)
def test_a_result_that_says_no_is_told(result: object, says_no: bool) -> None:
    assert disappoints(result) is says_no  # type: ignore[arg-type]


@pytest.mark.parametrize("first", ["Never", "Don't", "Simulate", "Who may"])
async def test_plans_are_not_carried_out_for_a_task_that_is_turned(first: str) -> None:
    tools, plans = [tool("delete_branch", branch="string")], opened()
    for word, branch in (("Kindly", "feature-A1"), ("Quickly", "feature-B2")):
        task = f"{word} delete the git branch {branch} today"
        await plans.record(finished(task, ("delete_branch", {"branch": branch}, "ok")), tools=tools)
    plain = await plans.lookup(asked("Kindly delete the git branch feature-C3 today"), tools=tools)
    assert plain.outcome == "plan"
    turned = await plans.lookup(asked(f"{first} delete the git branch feature-C3 today"), tools=tools)
    assert (turned.outcome, turned.why) == ("miss", "turned")


async def test_a_result_that_says_no_ends_a_plan_before_it_changes_something() -> None:
    plans = await taught(cancelling("ann_lee_1", "AB12CD"), cancelling("bo_ray_2", "EF34GH"))
    task = asked("Cancel the first reservation of user cy_fox_3, please")
    for result, outcome in (
        ({"reservations": ["IJ56KL"]}, "plan"),
        ({"reservations": ["IJ56KL"], "open": False}, "miss"),
    ):
        looked = called(("find_user", {"user_id": "cy_fox_3"}, result))
        assert (await plans.lookup([*task, *looked], tools=WORLD)).outcome == outcome


@pytest.mark.parametrize(
    ("first", "second", "other"),
    [
        (
            "Find me a hotel in Paris for 2 nights",
            "Find me a hotel in Paris for 3 nights",
            "Find me a hotel in Rome for 5 nights",
        ),
        ("Find a hotel for 2 nights", "Find a hotel for 3 nights", None),
    ],
)
async def test_what_may_follow_from_a_value_of_the_task_never_becomes_a_constant(
    first: str, second: str, other: str | None
) -> None:
    tools = [tool("hotels", reads=True, airport="string", nights="integer")]
    plans = opened()
    for task, nights in ((first, 2), (second, 3)):
        await plans.record(finished(task, ("hotels", {"airport": "CDG", "nights": nights}, "one")), tools=tools)
    found = await plans.lookup(asked(other or "Find a hotel for 5 nights"), tools=tools)
    assert found.outcome == ("plan" if other is None else "miss")
