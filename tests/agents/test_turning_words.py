"""A plan is not carried out for who forbids it, asks about it, puts it off, or means other amounts."""

from __future__ import annotations

import pytest

from semcache.agents.forms import write
from semcache.agents.pattern import fit, learned
from semcache.agents.run import disappoints
from semcache.agents.template import ValueForm
from semcache.agents.turning_words import turning

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
