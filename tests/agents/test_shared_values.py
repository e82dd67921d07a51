"""A value that two unlike arguments hold is not guessed from one run."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.worlds import asked, finished, opened, tool

TOOLS = [
    tool("set_speed", device="string", level="integer", retries="integer"),
    tool("get_order", order_id="string"),
    tool("refund", order_id="string", order_ref="string"),
    tool("update", ticket="string", priority={"enum": ["low", "high"]}, notify={"enum": ["none", "high"]}),
    tool("assign", person="string", guest="string"),
]


async def calls_after(task: str, *runs: tuple[str, str, dict[str, Any]]) -> list[dict[str, Any]] | str:
    plans = opened()
    for said, name, arguments in runs:
        await plans.record(finished(said, (name, arguments, {"done": 1})), tools=TOOLS)
    found = await plans.lookup(asked(task), tools=TOOLS)
    return [one.arguments for one in found.calls] if found.outcome == "plan" else found.why


def speed(level: int, retries: int) -> tuple[str, str, dict[str, Any]]:
    return (
        f'Switch the speed of fan "A-1" to {level}',
        "set_speed",
        {"device": "A-1", "level": level, "retries": retries},
    )


@pytest.mark.parametrize(
    ("runs", "expected"),
    [
        ([speed(3, 3)], "open-slot"),
        ([speed(3, 3), speed(3, 3)], "open-slot"),
        ([speed(3, 3), speed(4, 4)], {"level": 5, "retries": 5}),
        # The third run settles it: the first had one value by chance.
        ([speed(3, 3), speed(4, 3), speed(2, 3)], {"level": 5, "retries": 3}),
    ],
    ids=["once", "the same again", "together", "apart"],
)
async def test_a_small_number_in_two_arguments_waits_for_a_run_that_tells_them_apart(runs: Any, expected: Any) -> None:
    given = await calls_after('Switch the speed of fan "A-1" to 5', *runs)
    assert given == (expected if isinstance(expected, str) else [{"device": "A-1", **expected}])


async def test_a_choice_in_two_arguments_waits_too() -> None:
    def raised(ticket: str, priority: str, notify: str) -> tuple[str, str, dict[str, Any]]:
        told = f"Raise the priority of ticket {ticket} to {priority}"
        return told, "update", {"ticket": ticket, "priority": priority, "notify": notify}

    task = "Raise the priority of ticket T-9 to low"
    assert await calls_after(task, raised("T-7", "high", "high")) == "open-slot"


async def test_names_and_related_arguments_are_filled_in_at_once() -> None:
    both = ("Make Ann Lee the person and guest in charge", "assign", {"person": "Ann Lee", "guest": "Ann Lee"})
    given = await calls_after("Make Tom Baker the person and guest in charge", both)
    assert given == [{"person": "Tom Baker", "guest": "Tom Baker"}]
    named = ("Refund order 17 in full", "refund", {"order_id": "17", "order_ref": "17"})
    given = await calls_after("Refund order 18 in full", named)
    assert given == [{"order_id": "18", "order_ref": "18"}]
