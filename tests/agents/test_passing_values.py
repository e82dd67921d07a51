"""Dates and times that two runs of one day have in common become no part of a plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from semcache.agents.passing_values import is_passing
from semcache.storage.stores.plan_rows import MemoryPlans
from tests.agents.worlds import finished, opened, tool

TOOLS = [
    tool("book", place="string", date="string", people="integer"),
    tool("enter_leave", who="string", week="integer", note="string"),
]


def booking(place: str, people: int, date: str) -> list[dict[str, Any]]:
    arguments = {"place": place, "people": people, "date": date}
    return finished(f"Book a table for {people} at {place} for tomorrow", ("book", arguments, "ok"))


def leaving(who: str, note: str) -> list[dict[str, Any]]:
    arguments = {"who": who, "week": 49, "note": note}
    return finished(f"Enter the leave of {who} for next week", ("enter_leave", arguments, "ok"))


@pytest.mark.parametrize("date", ["2026-12-01", "1 December 2026", "12/01/2026", "20261201", "tomorrow at 19:00"])
async def test_the_date_of_two_runs_of_one_day_is_said_by_the_model(date: str) -> None:
    plans = opened()
    for place, people in (("Luigi's", 4), ("Mario's", 6)):
        await plans.record(booking(place, people, date), tools=TOOLS)
    found = await plans.lookup(booking("Chez Anne", 5, "")[:2], tools=TOOLS)
    assert (found.why, found.detail) == ("open-slot", "book.date")


async def test_a_number_of_a_week_is_said_by_the_model_and_what_stays_is_not() -> None:
    plans = opened()
    for who in ("Ann Lee", "Tom Baker"):
        await plans.record(leaving(who, "asked by chat"), tools=TOOLS)
    found = await plans.lookup(leaving("Eve Young", "")[:2], tools=TOOLS)
    assert (found.why, found.detail) == ("open-slot", "enter_leave.week")


async def test_a_plan_of_an_earlier_version_with_a_date_is_put_aside() -> None:
    store = MemoryPlans()
    plans = opened(store)
    for place, people in (("Luigi's", 4), ("Mario's", 6)):
        await plans.record(booking(place, people, "soon"), tools=TOOLS)
    (kept,) = plans.library.templates()
    step = kept.steps[0]
    dated = replace(step.actions[0], arguments={**step.actions[0].arguments, "date": "2026-12-01"})
    await plans.library.keep(replace(kept, steps=(replace(step, actions=(dated,)),)))
    later = opened(store)
    await later.library.refresh()
    (read,) = later.library.templates()
    assert read.retired
    assert (await later.lookup(booking("Chez Anne", 5, "")[:2], tools=TOOLS)).outcome == "miss"


@pytest.mark.parametrize(
    ("value", "argument"),
    [
        (7, "days"), (100, "requests_per_day"), (60, "timeout"), (3, "level"), ("medium", "date"), (True, "today"),
        ("march band", "q"), ("may", "q"), ("daily", "every"), (None, "date"), (0.5, "share"),
    ],
)  # fmt: skip
def test_what_does_not_pass_stays(value: Any, argument: str) -> None:
    assert not is_passing(value, argument)


@pytest.mark.parametrize(
    ("value", "argument"),
    [
        (2026, "fiscalYear"), (1764547200, "since"), (1764547200000, "x"), (12, "month"), ("12", "month"),
        ("Monday", "q"), ("mon", "day"), ("report of November", "title"), ("2026-12-01T10:00:00Z", "x"),
    ],
)  # fmt: skip
def test_what_passes(value: Any, argument: str) -> None:
    assert is_passing(value, argument)
