"""The pieces that tasks are written in: lists, sums, numbers to call, files, owners, and how a value begins."""

from __future__ import annotations

from typing import Any

import pytest

from semcache.agents.slots import SlotKind, find
from tests.agents.worlds import finished, opened, tool

ACT = tool("act", a={}) | {"function": {"name": "act", "parameters": {"type": "object"}}}


async def served(task: str, *learned: tuple[str, Any]) -> Any:
    """The argument that is served, None where the planner is asked."""
    plans = opened()
    for text, value in learned:
        await plans.record(finished(text, ("act", {"a": value}, "ok"), system=""), tools=[ACT])
    found = await plans.lookup(task, tools=[ACT])
    return found.calls[0].arguments["a"] if found.outcome == "plan" else None


@pytest.mark.parametrize(
    ("learned", "value", "task", "expected"),
    [
        # A list in brackets is one value, of any length, as an array or with commas.
        ("Add the users ['ann', 'bob'] to it", ["ann", "bob"], "Add the users ['cy'] to it", ["cy"]),
        ('Add the users ["a b"] to it', ["a b"], "Add the users ['c d', 'e'] to it", ["c d", "e"]),
        ("Add the users ['ann', 'bob'] to it", "ann, bob", "Add the users [cy, di, ed] to it", "cy, di, ed"),
        ("Set the role: ['ann', 'bob'] now", ["ann", "bob"], "Set the role: cy now", None),
        # "The" is no part of a value where none had it, and may be left out before what the pattern says.
        ("Export orders to a CSV file", "orders", "Export the events to a CSV file", "events"),
        ("Order 9 units of SKU-1 from Acme", "SKU-1", "Order 9 units of the SKU-2 from Acme", "SKU-2"),
        ("Open the last report of Acme", "Acme", "Open last report of Globex", "Globex"),
        ("Open the report of Acme", "Acme", "Open last report of Globex", None),
        # A few of them are not the whole.
        ("Export orders to a CSV file", "orders", "Export the first 10 carts to a CSV file", None),
        # A piece may begin or end with a sum, or with brackets.
        ("Offer sale prices to all", "sale prices", "Offer $10 discount to all", "$10 discount"),
        ("Offer $15 discount to all", "$15 discount", "Offer $10 vouchers to all", "$10 vouchers"),
        ("Walk from the office to CVS (next one)", "CVS (next one)", "Walk from the office to Aldi", "Aldi"),
        # Telephone numbers, files and versions are identifiers, and of several or of something else none.
        ("Call the number +1 2025550101 now", "+1 2025550101", "Call the number 202-555-0102 now", "202-555-0102"),
        ("Delete the file a.txt now", "a.txt", "Delete the file b.csv now", "b.csv"),
        ("Delete the file a.txt now", "a.txt", "Delete the file b.csv and c.csv now", None),
        ("Delete the file a.txt now", "a.txt", "Delete the file of somebody now", None),
        ("Roll out the version 1.2.3 now", "1.2.3", "Roll out the version 1.2.4 now", "1.2.4"),
        ("Roll out the version 1.2.3 now", "1.2.3", "Roll out the versions 1.2.4 and 1.2.5 now", None),
        # Whose it is, without the sign.
        ("Renew Ann's library card", "Ann", "Renew Bob's library card", "Bob"),
        ("Renew Ann's library card", "Ann", "Library card: renew Bob's", "Bob"),
        # Any of a kind is not the one that has a name.
        ("Add Nivea Soap to the wish list", "Nivea Soap", "Add a soap to the wish list", None),
        ("Show the sales of March", "March", "Show the sales of a month", None),
        # A value that begins with another preposition answers another question.
        ("Show sales figures in March 2026", "in March 2026", "Show sales figures during May 2026", "during May 2026"),
        ("Show sales figures in March 2026", "in March 2026", "Show sales figures to the board", None),
        # A further wish is no part of a value.
        (
            "Search the shop for blue shoes",
            "blue shoes",
            "Search the shop for red hats and gloves",
            "red hats and gloves",
        ),
        ("Search the shop for blue shoes", "blue shoes", "Search the shop for red hats and order the cheapest", None),
        ("Search the shop for blue shoes", "blue shoes", "Search the shop for red hats, show me their prices", None),
        # What is said to be a name is one, whatever it is.
        ("Create a folder named Drafts there", "Drafts", "Create a folder named old stuff there", "old stuff"),
        ("Move my things to Drafts folder", "Drafts", "Move my things to nobody folder", None),
        # "The" may be left out, "my" may not stand for it; forms that agree are one.
        ("Cancel the trip to the lake of user A-1", "A-1", "Cancel trip to lake of the user A-2", "A-2"),
        ("Read the inbox of user A-1", "A-1", "Read my inbox of user A-2", None),
        ("Is the door of room A-1 shut", "A-1", "Are the doors of room A-2 shut", "A-2"),
        # A date without its year is one where a date stood.
        ("Count the commits made on 3/4/2026", "3/4/2026", "Count the commits made on 3/2", "3/2"),
    ],
)
async def test_a_piece_is_read_as_what_it_is(learned: str, value: Any, task: str, expected: Any) -> None:
    assert await served(task, (learned, value)) == expected


async def test_a_question_takes_what_a_deed_would_not() -> None:
    assert await served("How far is it to the old mill", ("How far is it to Rome", "Rome")) == "the old mill"
    assert await served("Send the parcel to the old mill", ("Send the parcel to Rome", "Rome")) is None
    asked = "Show me the way to Rome and book the room"
    assert await served("Show me the way to the old mill and book the room", (asked, "Rome")) is None


async def test_one_verb_and_a_name_tell_no_kind_of_task() -> None:
    assert await served("Cancel Netflix", ("Cancel Friday", "Friday")) is None
    assert await served("Cancel Netflix on Roku", ("Cancel Hulu on Roku", "Hulu")) == "Netflix"
    assert await served("Cancel Netflix on Xbox", ("Cancel Hulu on Roku", "Hulu")) is None


async def test_a_value_that_only_a_later_step_takes_is_looked_at_before_the_first() -> None:
    plans = opened()
    tools = [tool("look", reads=True, order="string"), tool("refund", amount="integer")]
    run = finished(
        "Refund $40 of order A-1", ("look", {"order": "A-1"}, "ok"), ("refund", {"amount": 40}, "ok"), system=""
    )
    await plans.record(run, tools=tools)
    assert (await plans.lookup("Refund $60 of order A-2", tools=tools)).outcome == "plan"
    for task in ("Refund €60 of order A-2", "Refund $60k of order A-2", "Refund 60% of order A-2"):
        assert (await plans.lookup(task, tools=tools)).outcome == "miss", task


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("Delete Slack notices", {"Slack": SlotKind.NAME}),
        ("Make the LICENSE of it", {"LICENSE": SlotKind.NAME}),
        ("Invite Ann Smith", {"Ann Smith": SlotKind.NAME}),
        ("call (202) 555-0101", {"(202) 555-0101": SlotKind.ID}),
        ("rooms 100-200", {"100": SlotKind.NUMBER, "-200": SlotKind.NUMBER}),
        ("see [draft] here", {}),
        ("open ~/a/b.txt", {"~/a/b.txt": SlotKind.ID}),
    ],
)
def test_values_are_found_by_their_spelling(text: str, kinds: dict[str, SlotKind]) -> None:
    assert {one.text: one.kind for one in find(text)} == kinds
