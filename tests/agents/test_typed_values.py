"""A slot takes what is of its type alone: no noun for an identifier, no 25:00, no bound for a value."""

from __future__ import annotations

from typing import Any

import pytest

from semcache.agents.forms import write
from semcache.agents.slots import SlotKind, find, impossible
from semcache.agents.template import ValueForm, decode, encode
from tests.agents.worlds import asked, finished, opened, tool

_ANY: dict[str, Any] = {"a": {}, "b": {}}
ACT = {"function": {"name": "act", "parameters": {"type": "object", "properties": _ANY, "required": ["a"]}}}
MILK = ("Add milk, eggs and bread to my list", ["milk", "eggs", "bread"])


async def calls(task: str, *learned: tuple[str, Any]) -> Any:
    """The argument that is served for a task, None where the planner is asked; `learned` are tasks and arguments."""
    plans = opened()
    for text, value in learned:
        given = value if isinstance(value, dict) else {"a": value}
        await plans.record(finished(text, ("act", given, "ok")), tools=[ACT])
    found = await plans.lookup(asked(task), tools=[ACT])
    return found.calls[0].arguments if found.outcome == "plan" else None


@pytest.mark.parametrize(
    ("learned", "value", "task", "served"),
    [
        # An identifier is no ordinary word, unless it was one before.
        ("Cancel booking BK-123", "BK-123", "Cancel booking BK-456", "BK-456"),
        ("Cancel booking BK-123", "BK-123", "Cancel booking fees", None),
        ("Cancel booking BK-123", "BK-123", "Cancel booking Fees", None),
        ("Clone the repository dot_files", "dot_files", "Clone the repository metaseq", "metaseq"),
        # Times and dates that there are.
        ("Book the table at 18:00 now", "18:00", "Book the table at 19:30 now", "19:30"),
        ("Book the table at 18:00 now", "18:00", "Book the table at 25:00 now", None),
        ("Book the table at 18:00 now", "18:00", "Book the table at the bar now", None),
        ("Schedule the demo on 2026-03-04", "2026-03-04", "Schedule the demo on 2026-05-06", "2026-05-06"),
        ("Schedule the demo on 2026-03-04", "2026-03-04", "Schedule the demo on 2026-02-30", None),
        # A tool that was given 18:00 may not take 7pm, and nobody said whether the month of 05/06 comes first.
        ("Book the table at 18:00 now", "18:00", "Book the table at 7pm now", None),
        ("Schedule the demo on 2026-03-04", "2026-03-04", "Schedule the demo on 05/06/2026", None),
        ("Book the table at 7pm now", "19:00", "Book the table at 8:15 pm now", "20:15"),
        ("Book the table at 7pm now", "19:00", "Book the table at 8:15 now", None),
        # A bound is no part of a value.
        ("Find shoes under $50", 50, "Find shoes under $30", 30),
        ("Find shoes under $50", 50, "Find shoes over $30", None),
        ("Set the budget to fifty", "fifty", "Set the budget to at most 30", None),
        ("Set the alarm for bedtime", "bedtime", "Set the alarm for bedtime or earlier", None),
        ("Look for shoes in the shop", "shoes", "Look for shoes under $30 in the shop", None),
        # What a number counts belongs to the plan.
        ("Find files larger than 5 MB there", 5, "Find files larger than 8 MB there", 8),
        ("Find files larger than 5 MB there", 5, "Find files larger than 8 GB there", None),
        # That $40 is a whole number says nothing of the next sum.
        ("Refund $40 on order A-1001", 40, "Refund $15.50 on order A-1001", 15.5),
        ("Refund $15.50 on order A-1001", 15.5, "Refund $40 on order A-1001", 40),
        # One thing is not several, and what only refers to something is no value.
        ("Add milk to my list", "milk", "Add eggs to my list", "eggs"),
        ("Add milk to my list", "milk", "Add milk, eggs and bread to my list", None),
        ("Add milk to my list", "milk", "Add everything to my list", None),
        ("Send bob the report", "bob", "Send everyone the report", None),
    ],
)
async def test_a_slot_takes_what_is_of_its_type(learned: str, value: Any, task: str, served: Any) -> None:
    found = await calls(task, (learned, value))
    assert found == (None if served is None else {"a": served})


@pytest.mark.parametrize(
    ("task", "items"),
    [
        ("Add tea, rice and salt to my list", ["tea", "rice", "salt"]),
        ("Add tea and rice to my list", ["tea", "rice"]),
        ("Add tea, rice, salt, and oat milk to my list", ["tea", "rice", "salt", "oat milk"]),
        ("Add tea to my list", ["tea"]),
    ],
)
async def test_a_list_of_a_call_takes_as_many_items_as_the_task_lists(task: str, items: list[str]) -> None:
    assert await calls(task, MILK) == {"a": items}


@pytest.mark.parametrize(
    ("task", "served"),
    [
        ("send ann the report", "ann"),
        ("Send ann the report", "ann"),
        ("send everybody the report", None),
        ("send customers the report", None),
        ("send the boss the report", None),
        # Who writes one name with a capital writes another so, too.
        ("Send ann the report on Acme", None),
    ],
)
async def test_where_nothing_has_a_capital_a_name_needs_none(task: str, served: str | None) -> None:
    taught = [("Send Bob the report", "Bob"), ("Send Bob the report on Initech", {"a": "Bob", "b": "Initech"})]
    found = await calls(task, *taught)
    assert found == (None if served is None else {"a": served})


@pytest.mark.parametrize(
    ("learned", "second", "third"),
    [
        (
            ("Add Rohan as a member", "Rohan"),
            ("Add Ann and Bob as a member", "Ann and Bob"),
            "Add Cy and Di as a member",
        ),
        (("Open a ticket for BK-1", "BK-1"), ("Open a ticket for fees", "fees"), "Open a ticket for seats"),
        (("Invite Rohan to the team", "Rohan"), ("Invite primer to the team of Bob", "primer"), None),
    ],
)
async def test_what_a_confirmed_run_had_in_a_slot_is_no_reason_to_ask_again(
    learned: Any, second: Any, third: str | None
) -> None:
    assert await calls(second[0], learned) is None
    if third is not None:
        assert await calls(third, learned, second) is not None
        assert await calls(third.replace("Cy and Di", "nobody").replace("seats", "all"), learned, second) is None


@pytest.mark.parametrize(
    ("people", "served"),
    [
        ("Di Poe and Ed Orr", ["Di Poe", "Ed Orr"]),
        ("Di Poe", ["Di Poe"]),
        ("everyone", None),
        ("Di Poe and the whole team", None),
        ("Di Poe or Ed Orr", None),
    ],
)
async def test_each_of_several_names_is_a_name(people: str, served: list[str] | None) -> None:
    taught = ("Invite Ann Lee, Bob Ray and Cy Fox to the launch party", ["Ann Lee", "Bob Ray", "Cy Fox"])
    found = await calls(f"Invite {people} to the launch party", taught)
    assert found == (None if served is None else {"a": served})


async def test_a_whole_number_stays_one_where_the_tool_takes_no_other() -> None:
    plans, tools = opened(), [tool("book", seats="integer")]
    await plans.record(finished("Book 4 seats in the hall", ("book", {"seats": 4}, "ok")), tools=tools)
    assert (await plans.lookup(asked("Book 5 seats in the hall"), tools=tools)).outcome == "plan"
    assert (await plans.lookup(asked("Book 5.5 seats in the hall"), tools=tools)).why == "invalid-arguments"


async def test_sums_with_and_without_cents_are_one_plan() -> None:
    plans = opened()
    for amount in (15.5, 40, 7):
        task = finished(f"Refund ${amount} on order A-1001", ("act", {"a": amount}, "ok"))
        await plans.record(task, tools=[ACT])
    assert [template.runs for template in plans.library.templates()] == [3]
    found = await plans.lookup(asked("Refund $9 on order A-1001"), tools=[ACT])
    assert isinstance(found.calls[0].arguments["a"], int)


async def test_how_the_values_of_a_gap_were_written_survives_its_json() -> None:
    plans = opened()
    await plans.record(finished(MILK[0], ("act", {"a": MILK[1]}, "ok")), tools=[ACT])
    [template] = plans.library.templates()
    assert any(gap.took for gap in template.patterns[0].elements if not isinstance(gap, str))
    assert decode(encode(template)) == template


@pytest.mark.parametrize(
    ("text", "is_so"),
    [
        ("2026-02-29", True),
        ("2028-02-29", False),
        ("2026-13-01", True),
        ("25:00", True),
        ("12:75", True),
        ("13pm", True),
        ("0:30 am", True),
        ("23:59", False),
        ("9 a.m.", False),
        ("10:1000", False),
        ("version 2.99", False),
    ],
)
def test_dates_and_times_that_there_are_not(text: str, is_so: bool) -> None:
    assert impossible(text) is is_so


def test_a_time_is_one_value() -> None:
    assert [(one.kind, one.text) for one in find("Wake me at 7:30 pm, not 25:00, on port 8080")] == [
        (SlotKind.TIME, "7:30 pm"),
        (SlotKind.NUMBER, "8080"),
    ]


@pytest.mark.parametrize(
    ("text", "value"), [("12 am", "00:00"), ("12:05pm", "12:05"), ("7", None), ("7 a.m.", "07:00")]
)
def test_a_time_of_day_is_written_as_a_clock_has_it(text: str, value: str | None) -> None:
    assert write(ValueForm.CLOCK, text) == value
