"""A task in other words that are equal for the cache is served the plan, and one that only looks like it is not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.worlds import asked, finished, opened, tool

TOOLS = [
    tool("book_table", restaurant="string", people="integer"),
    tool("get_email", ticket="string"),
    tool("dim", room="string", percent="integer"),
    tool("rent_car", city="string", days="integer"),
    tool("buy_car", city="string", days="integer"),
]
RUNS = [
    ("Book a table for 4 at Luigi's", "book_table", {"restaurant": "Luigi's", "people": 4}),
    ("What is the email of the requester of INC-1001?", "get_email", {"ticket": "INC-1001"}),
    ("Dim the light of the attic to 40 percent", "dim", {"room": "attic", "percent": 40}),
]
RENT = ("Rent a car in Rome for 3 days", "rent_car", {"city": "Rome", "days": 3})
BUY = ("Buy a car in Rome for 3 days", "buy_car", {"city": "Rome", "days": 3})


async def served(task: str, *runs: tuple[str, str, dict[str, Any]]) -> dict[str, Any] | None:
    plans = opened()
    for said, name, arguments in runs or RUNS:
        await plans.record(finished(said, (name, arguments, {"done": 1})), tools=TOOLS)
    found = await plans.lookup(asked(task), tools=TOOLS)
    return found.calls[0].arguments if found.outcome == "plan" else None


@pytest.mark.parametrize(
    ("task", "arguments"),
    [
        ("I'd like a table for 6 at Mario's, please", {"restaurant": "Mario's", "people": 6}),
        ("We need a table for 6 at Mario's", {"restaurant": "Mario's", "people": 6}),
        ("Hi, could you please book a table for 6 at Mario's? Thanks!", {"restaurant": "Mario's", "people": 6}),
        ("I'd like you to book a table for 6 at Mario's", {"restaurant": "Mario's", "people": 6}),
        ("What's the email of the requester of INC-2002?", {"ticket": "INC-2002"}),
        ("Can you tell me what the email of the requester of INC-2002 is?", {"ticket": "INC-2002"}),
    ],
)
async def test_a_wording_that_was_never_seen_is_served(task: str, arguments: dict[str, Any]) -> None:
    assert await served(task) == arguments


@pytest.mark.parametrize(
    "task",
    [
        "I'd like a table for 6 at Mario's if it has a terrace",
        "I'd like a table for 6 at Mario's or El Toro",
        "I'd like no table for 6 at Mario's",
        "I wouldn't like a table for 6 at Mario's",
        "I'd like a table for 6 near Mario's",
        "I'd like a table for 6 hours at Mario's",
        "I'd like two tables for 6 at Mario's",
        "I'd like to cancel a table for 6 at Mario's",
        "I'd like to know if there is a table for 6 at Mario's",
        "I'd like a refund for 6 at Mario's",
        "I had a table for 6 at Mario's",
        "What was the email of the requester of INC-2002?",
        "What isn't the email of the requester of INC-2002?",
        "What's the email of the agent of INC-2002?",
        "What's the email of the requester of INC-2002 and INC-3003?",
        "Dim the light of the attic by 40 percent",
        "Don't dim the light of the attic to 40 percent",
        "Dim the light of the attic and the hallway to 40 percent",
        "Dim the light of the attic to at least 40 percent",
    ],
)
async def test_a_task_that_only_looks_like_one_is_the_models(task: str) -> None:
    assert await served(task) is None


async def test_a_wish_that_two_plans_would_fulfil_is_the_models() -> None:
    wish = "I'd like a car in Oslo for 5 days"
    assert await served(wish, RENT) == {"city": "Oslo", "days": 5}
    assert await served(wish, RENT, BUY) is None
    assert await served("Please rent a car in Oslo for 5 days", RENT, BUY) == {"city": "Oslo", "days": 5}


async def test_a_gap_that_took_more_than_the_value_is_not_taken_at_its_word() -> None:
    """The second run had "Archive" for "the Archive folder": the wording of the first does not know that."""
    tools = [tool("move_mail", subject="string", folder="string")]
    plans = opened()
    for said, folder in (("to Clients", "Clients"), ("to the Archive folder", "Archive")):
        arguments = {"subject": "Printer lease", "folder": folder}
        task = f'Move the mail "Printer lease" {said}'
        await plans.record(finished(task, ("move_mail", arguments, {"moved": 1})), tools=tools)
    found = await plans.lookup(asked('Move the mail "Trip" to the Receipts folder'), tools=tools)
    assert [one.arguments for one in found.calls] in ([], [{"subject": "Trip", "folder": "Receipts"}])


async def test_free_text_is_never_called_with_a_part_of_it() -> None:
    tools = [tool("send", text="string", user="string")]
    plans = opened()
    for text, user in (("lunch at noon", "di_ann_1"), ("see you", "di_bob_2")):
        run = finished(f"Send the note {text} to user {user}", ("send", {"text": text, "user": user}, {"sent": 1}))
        await plans.record(run, tools=tools)
    for text in ("\N{SLIGHTLY SMILING FACE} hi", "see you", "hi team, see you"):
        found = await plans.lookup(asked(f"Send the note {text} to user di_moe_4, please"), tools=tools)
        assert found.outcome != "plan" or found.calls[0].arguments == {"text": text, "user": "di_moe_4"}
