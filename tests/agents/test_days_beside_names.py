"""Days of a calendar in tasks: "next Friday" beside a name."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.worlds import asked, called, finished, opened, tool

CALENDAR = [tool("find_person", who="string"), tool("resolve", text="string"), tool("meet", who="string", day="string")]


def meeting(who: str, day: str, date: str) -> tuple[str, list[tuple[str, Any, Any]]]:
    return f"Schedule a meeting with {who} {day}", [
        ("find_person", {"who": who}, {"id": f"u-{date[-2:]}"}),
        ("resolve", {"text": day}, {"date": date}),
        ("meet", {"who": f"u-{date[-2:]}", "day": date}, "ok"),
    ]


@pytest.mark.parametrize(
    ("said", "served"),
    [
        ("next Tuesday", True), ("last Tuesday", True), ("every Tuesday", False), ("and Bo Ray next Tuesday", False),
    ],
)  # fmt: skip
async def test_the_day_after_a_name_begins_with_next(said: str, served: bool) -> None:
    """No word stands between the name and the day: "next" belongs to the day, as in the runs before."""
    plans = opened()
    for task, calls in (
        meeting("Ann Lee", "next Friday", "2026-12-11"),
        meeting("Bo Ray", "next Monday", "2026-12-07"),
    ):
        await plans.record(finished(task, *calls), tools=CALENDAR)
    task, calls = meeting("Cy Fox", said, "2026-12-08")
    for at, (name, given, _) in enumerate(calls):
        found = await plans.lookup([*asked(task), *called(*calls[:at])], tools=CALENDAR)
        assert [(one.tool, one.arguments) for one in found.calls] == ([(name, given)] if served else []), found.why
