"""Short tasks about things: "cancel my yoga class" frees the word for classes, and for nothing of another name."""

from __future__ import annotations

from typing import Any

import pytest

from semcache.agents.template import decode, encode
from semcache.agents.value_heads import head_of
from tests.agents.worlds import asked, finished, opened, tool

TOOLS = [
    tool("cancel_event", event="string", day="string"),
    tool("cancel_flight", flight="string", day="string"),
    tool("delete_list", title="string"),
    tool("show_report", report="string"),
]


def cancelled(event: str, day: int = 1, by: str = "cancel_event", about: str = "event") -> list[dict[str, Any]]:
    date = f"2026-05-{day:02}"
    return finished(f"Cancel my {event} on {date}", (by, {about: event, "day": date}, "ok"))


async def taught(*runs: list[dict[str, Any]]) -> Any:
    plans = opened()
    for run in runs:
        await plans.record(run, tools=TOOLS)
    return plans


async def outcome(plans: Any, task: str) -> Any:
    found = await plans.lookup(asked(task), tools=TOOLS)
    return [one.arguments for one in found.calls] if found.outcome == "plan" else found.outcome


CLASSES = [cancelled("yoga class", 1), cancelled("spin class", 2)]
LISTS = [finished(f"Delete the {one}", ("delete_list", {"title": one}, "ok")) for one in ("grocery list", "wish list")]


@pytest.mark.parametrize(
    ("task", "expected"),
    [
        ("Cancel my karate class on 2026-06-01", {"event": "karate class", "day": "2026-06-01"}),
        ("Please cancel my dance class on 2026-06-02.", {"event": "dance class", "day": "2026-06-02"}),
        ("Could you delete the packing list?", {"title": "packing list"}),
    ],
)
async def test_two_things_of_one_name_free_a_short_task_for_others_of_that_name(
    task: str, expected: dict[str, str]
) -> None:
    assert await outcome(await taught(CLASSES[0], LISTS[0]), task) == "miss"
    assert await outcome(await taught(*CLASSES, *LISTS), task) == [expected]


@pytest.mark.parametrize(
    "task",
    [
        "Cancel my flight on 2026-06-01",
        "Cancel my gym membership on 2026-06-01",
        "Cancel my class on 2026-06-01",
        "Cancel my first class on 2026-06-01",
        "Cancel my other class on 2026-06-01",
        "Cancel my upcoming class on 2026-06-01",
        "Cancel my cancelled class on 2026-06-01",
        "Cancel my wife's karate class on 2026-06-01",
        "Cancel my karate class fee on 2026-06-01",
        "Cancel my karate classes on 2026-06-01",
        "Cancel my karate class and my dance class on 2026-06-01",
        "Cancel my place in the karate class on 2026-06-01",
        "Cancel my karate class before 2026-06-01",
        "Don't cancel my karate class on 2026-06-01",
        "Delete the list",
        "Delete the oldest list",
        "Delete the shared list",
        "Delete the third list",
        "Delete the list of Ann Lee",
        "Delete the packing list items",
        "Delete the packing list tomorrow",
        "Delete the database",
    ],
)
async def test_what_is_called_otherwise_or_says_more_is_left_to_the_model(task: str) -> None:
    assert await outcome(await taught(*CLASSES, *LISTS), task) == "miss"


async def test_three_things_of_two_names_free_a_short_task_for_both_names() -> None:
    plans = await taught(cancelled("yoga class", 1), cancelled("piano lesson", 2))
    for event in ("karate class", "guitar lesson"):
        assert await outcome(plans, f"Cancel my {event} on 2026-06-01") == "miss"
    await plans.record(cancelled("team lunch", 3), tools=TOOLS)
    for event in ("karate class", "guitar lesson", "birthday lunch"):
        assert await outcome(plans, f"Cancel my {event} on 2026-06-01") == [{"event": event, "day": "2026-06-01"}]
    for event in ("flight", "gym membership", "birthday party"):
        assert await outcome(plans, f"Cancel my {event} on 2026-06-01") == "miss"


async def test_many_names_of_things_are_one_pattern() -> None:
    names = [
        "class",
        "lesson",
        "lunch",
        "meeting",
        "exam",
        "visit",
        "call",
        "party",
        "trip",
        "session",
        "game",
        "dinner",
    ]
    events = [f"{first} {name}" for name in names for first in ("family", "music")]
    plans = await taught(*[cancelled(event, 1 + day) for day, event in enumerate(events)])
    for name in names:
        assert await outcome(plans, f"Cancel my school {name} on 2026-06-01") != "miss"
    [template] = plans.library.templates()
    assert len(template.patterns) <= 2
    assert decode(encode(template)) == template


async def test_a_plan_for_other_things_of_the_same_word_leaves_those_of_a_known_name_alone() -> None:
    flight = cancelled("flight", 3, "cancel_flight", "flight")
    plans = await taught(*CLASSES, flight)
    assert await outcome(plans, "Cancel my karate class on 2026-06-01") != "miss"
    await plans.record(cancelled("online class", 4, "cancel_flight", "flight"), tools=TOOLS)
    assert await outcome(plans, "Cancel my karate class on 2026-06-01") == "miss"


async def test_things_and_logins_do_not_free_a_word_for_each_other() -> None:
    tools = [tool("unlock", account="string")]
    for known, like, other in (
        (("guest login", "admin login"), "shop login", "tom.baker"),
        (("ann.lee", "bob.ray"), "tom.baker", "shop login"),
    ):
        plans = opened()
        for one in known:
            await plans.record(finished(f"Unlock {one}", ("unlock", {"account": one}, "ok")), tools=tools)
        assert (await plans.lookup(asked(f"Unlock {like}"), tools=tools)).outcome == "plan"
        assert (await plans.lookup(asked(f"Unlock {other}"), tools=tools)).outcome == "miss"


async def test_a_word_that_says_nothing_is_freed_by_no_name() -> None:
    runs = [
        finished(f"Show the {one}", ("show_report", {"report": one}, "ok")) for one in ("sales report", "tax report")
    ]
    assert await outcome(await taught(*runs), "Show the bug report") == "miss"


@pytest.mark.parametrize(
    ("value", "head"),
    [
        ("yoga class", "class"),
        ("the front door", "door"),
        ("class", ""),
        ("Ann Lee", ""),
        ("old list", ""),
        ("renamed list", ""),
        ("second list", ""),
        ("second-to-last list", ""),
        ("biggest list", ""),
        ("older list", ""),
        ("unpaid bill", ""),
        ("list of names", ""),
        ("call mum again", ""),
        ("whole thing", ""),
        ("my list", ""),
        ("list 3", ""),
        ("bob's list", ""),
        ("Summer List", ""),
    ],
)
def test_the_head_of_a_value_is_the_word_that_says_what_it_is(value: str, head: str) -> None:
    assert head_of(value) == head
