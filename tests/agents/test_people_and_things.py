"""People and things in a task: a plan never takes the one for the other, whatever order or preposition says so."""

from __future__ import annotations

from typing import Any

import pytest

from semcache.agents.value_sorts import has_manner, is_person, is_thing, shape
from tests.agents.worlds import asked, called, finished, opened, tool

TOOLS = [
    tool("add_member", person="string", team="string"),
    tool("hand_over", file="string", folder="string", person="string"),
    tool("assign", ticket="string", person="string"),
    tool("coupon", code="string", order="string"),
    tool("copy", file="string", folder="string"),
    tool("convert", amount="integer", currency="string"),
    tool("alarm", time="string", day="string"),
    tool("delete_branch", branch="string", repo="string"),
    tool("mark", deal="string", stage="string"),
    tool("query", reads=True, table="string", column="string"),
]
RUNS = [
    ("Add the member Ann Lee to Marketing", "add_member", {"person": "Ann Lee", "team": "Marketing"}),
    (
        "Hand the file budget over from Archive to Ann Lee",
        "hand_over",
        {"file": "budget", "folder": "Archive", "person": "Ann Lee"},
    ),
    ("Assign the ticket OPS-1 to Nora", "assign", {"ticket": "OPS-1", "person": "Nora"}),
    ("Apply the coupon SAVE10 to order #1001", "coupon", {"code": "SAVE10", "order": "#1001"}),
    ("Copy the document notes.txt into /backup", "copy", {"file": "notes.txt", "folder": "/backup"}),
    ("Convert the amount of 100 to USD", "convert", {"amount": 100, "currency": "USD"}),
    ("Set a new alarm for 7am on Monday", "alarm", {"time": "7am", "day": "Monday"}),
    (
        "Delete the branch feature/login from the repo web-app",
        "delete_branch",
        {"branch": "feature/login", "repo": "web-app"},
    ),
    ("Mark the deal Acme Renewal as won", "mark", {"deal": "Acme Renewal", "stage": "won"}),
    ("Select the column total of the table orders", "query", {"column": "total", "table": "orders"}),
]


async def served(task: str) -> list[dict[str, Any]]:
    plans = opened()
    for said, name, arguments in RUNS:
        await plans.record(finished(said, (name, arguments, "ok")), tools=TOOLS)
    return [one.arguments for one in (await plans.lookup(asked(task), tools=TOOLS)).calls]


@pytest.mark.parametrize(
    "task",
    [
        "Add the member Marketing to Ann Lee",
        "Add the member Sales to Tom Baker",
        "Add to Tom Baker the member Sales",
        "Hand the file budget over from Tom Baker to Archive",
        "Hand the file report over to Drafts from Tom Baker",
        "Hand the file report over from Tom Baker to Priya Sharma",
        "Assign the ticket Maria to OPS-7",
        "Assign the ticket OPS-7 to Support",
        "Assign the ticket OPS-7 to Omar temporary",
        "Apply the coupon #2001 to order FALL20",
        "Apply to order FALL20 the coupon #2001",
        "Copy the document /data into x.csv",
        "Convert the amount of 70 to miles",
        "Convert the amount of 70 to Lira",
        "Set a new alarm for 8am on Tuesdays",
        "On Tuesdays set a new alarm for 8am",
        "Delete the branch chore/deps from the repo billing-svc locally",
        "Delete the branch chore/deps from the repo billing-svc and web-app",
        "Delete the branch chore/deps from the repo billing-svc as admin",
        "Delete the branch chore/deps from the repo billing-svc in 2 hours",
        "Delete the branch chore/deps from the repo billing-svc twice",
        "Mark the deal Initech Upgrade as probably won",
        "Mark the deal owner Initech Upgrade as won",
        "Mark the deal Initech Upgrade as whatever fits",
        "Select the column total and name of the table orders",
        "Select the column distinct name of the table orders",
    ],
)
async def test_what_is_of_another_sort_is_left_to_the_model(task: str) -> None:
    assert await served(task) == []


@pytest.mark.parametrize(
    ("task", "arguments"),
    [
        ("Add the member Tom Baker to Sales", {"person": "Tom Baker", "team": "Sales"}),
        ("Add to Sales the member Tom Baker", {"person": "Tom Baker", "team": "Sales"}),
        ("Assign the ticket OPS-7 to Omar", {"ticket": "OPS-7", "person": "Omar"}),
        ("Assign the ticket OPS-7 to Xiu", {"ticket": "OPS-7", "person": "Xiu"}),
        ("Apply the coupon FALL20 to order #2001", {"code": "FALL20", "order": "#2001"}),
        ("Copy the document x.csv into /data", {"file": "x.csv", "folder": "/data"}),
        ("Convert the amount of 70 to JPY", {"amount": 70, "currency": "JPY"}),
        ("Set a new alarm for 8am on Tuesday", {"time": "8am", "day": "Tuesday"}),
        ("Mark the deal Initech Upgrade as lost", {"deal": "Initech Upgrade", "stage": "lost"}),
    ],
)
async def test_what_is_of_the_same_sort_is_served(task: str, arguments: dict[str, Any]) -> None:
    assert await served(task) == [arguments]


async def test_places_of_one_sort_may_be_exchanged() -> None:
    trip, fly = "Book a cheap flight from {} to {}", [tool("fly", start="string", end="string")]
    plans = opened()
    await plans.record(
        finished(trip.format("Paris", "Rome"), ("fly", {"start": "Paris", "end": "Rome"}, "ok")), tools=fly
    )
    found = await plans.lookup(asked(trip.format("Rome", "Paris")), tools=fly)
    assert [one.arguments for one in found.calls] == [{"start": "Rome", "end": "Paris"}]


async def test_a_sort_that_a_right_run_had_is_accepted_from_then_on() -> None:
    plans = opened()
    for name in ("Nora", "Support"):
        task = f"Assign the ticket OPS-1 to {name}"
        call = ("assign", {"ticket": "OPS-1", "person": name}, "ok")
        await plans.record([*asked(task), *called(call), {"role": "assistant", "content": "Done."}], tools=TOOLS)
    assert (await plans.lookup(asked("Assign the ticket OPS-1 to Finance"), tools=TOOLS)).outcome == "plan"
    assert (await plans.lookup(asked("Assign the ticket OPS-1 to Omar"), tools=TOOLS)).outcome == "plan"


@pytest.mark.parametrize("name", ["Tom Baker", "tom", "Dr. Young", "José García", "Priya", "Grace Hopper"])
def test_a_person_is_known_by_the_name(name: str) -> None:
    assert is_person(name)
    assert not is_thing(name)


@pytest.mark.parametrize("name", ["Archive", "Budget Meeting", "Sales", "Marketing", "kitchen"])
def test_a_thing_is_known_by_its_ordinary_words(name: str) -> None:
    assert is_thing(name)
    assert not is_person(name)


@pytest.mark.parametrize(
    "name", ["Globex", "Craig Street", "Antonia Racer Tank", "Grace Period", "The Beatles", "", "a b c d e"]
)
def test_what_may_be_either_is_no_person(name: str) -> None:
    assert not is_person(name)


def test_shapes_and_manners_of_values() -> None:
    said = ["#general", "/tmp/a", "notes.txt", "OPS-12", "USD", "jdoe7", "kitchen"]
    assert [shape(one) for one in said] == ["tag", "path", "file", "numbered", "capitals", "code", ""]
    assert has_manner("probably won")
    assert not any(map(has_manner, ["early bird", "family room", "Emily Rose", "quickly"]))
