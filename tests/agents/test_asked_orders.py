"""An order that is put as a question without courtesy may ask whether to: until a run has done it, the model says."""

from __future__ import annotations

from typing import Any

import pytest

from semcache.agents.template import decode, encode
from tests.agents.worlds import asked, finished, opened, tool

TOOLS = [tool("cancel_order", order="string", customer="string"), tool("forecast", reads=True, city="string")]


def cancelled(task: str, number: int) -> list[dict[str, Any]]:
    given = {"order": f"A-{number}", "customer": f"C-{number}"}
    return finished(task.format(**given), ("cancel_order", given, "ok"))


async def taught(*tasks: str) -> Any:
    plans = opened()
    for number, task in enumerate(tasks, 1):
        await plans.record(cancelled(task, number), tools=TOOLS)
    return plans


ORDER = "Cancel order {order} of customer {customer}"
ASKED = "Cancel order A-9 of customer C-9?"


@pytest.mark.parametrize(
    ("task", "outcome"),
    [
        (ASKED, "miss"),
        ("Cancel order A-9 of customer C-9??", "miss"),
        ("cancel order A-9 of customer C-9?", "miss"),
        ("hi, cancel order A-9 of customer C-9?", "miss"),
        ("Cancel order A-9 of customer C-9", "plan"),
        ("Can you cancel order A-9 of customer C-9?", "plan"),
        ("Could you please cancel order A-9 of customer C-9?", "plan"),
    ],
)
async def test_an_order_with_a_question_mark_is_no_order_yet(task: str, outcome: str) -> None:
    assert (await (await taught(ORDER, ORDER)).lookup(asked(task), tools=TOOLS)).outcome == outcome


async def test_once_a_run_has_done_what_was_asked_so_it_is_done() -> None:
    plans = await taught(ORDER, ORDER, f"{ORDER}?")
    found = await plans.lookup(asked(ASKED), tools=TOOLS)
    assert [one.arguments for one in found.calls] == [{"order": "A-9", "customer": "C-9"}]
    [template] = plans.library.templates()
    assert decode(encode(template)) == template


async def test_a_question_without_a_verb_in_front_is_one_question_with_and_without_its_sign() -> None:
    plans = opened()
    for city in ("Paris", "Rome"):
        run = finished(f"Weather forecast for {city}?", ("forecast", {"city": city}, "sunny"))
        await plans.record(run, tools=TOOLS)
    for task in ("Weather forecast for Oslo?", "Weather forecast for Oslo"):
        assert (await plans.lookup(asked(task), tools=TOOLS)).outcome == "plan"
