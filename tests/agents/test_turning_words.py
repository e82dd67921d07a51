"""A plan is not carried out for who forbids it, asks about it, puts it off, or means other amounts."""

from __future__ import annotations

import pytest

from semcache.agents.forms import write
from semcache.agents.pattern import fit, learned
from semcache.agents.result_signs import reservations
from semcache.agents.template import ValueForm
from semcache.agents.turning_words import turning
from tests.agents.worlds import TOOLS as WORLD
from tests.agents.worlds import asked, called, cancelling, finished, opened, taught, tool

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
        ({"in_stock": False}, {"in_stock"}),
        ({"status": "declined"}, {"status: declined"}),
        ({"status": 503}, {"status: 503"}),
        ({"errors": ["no such account"]}, {"errors"}),
        ("Insufficient funds", {"insufficient"}),
        ("HTTP 500", {"http"}),
        ("The order could not be cancelled, because it was shipped.", {"not"}),
        ({"message": "The room isn't free"}, {"message: n't"}),
        ({"result": {"error_code": 17}}, {"result.error_code"}),
        ({"orders": []}, {"orders is empty"}),
        ([{"type": "text", "text": "No such ticket"}], {"no"}),
        ({"title": "Login page", "body": "It does not open. " * 40}, set()),
        (None, {"empty"}),
        ([], {"empty"}),
        ({}, {"empty"}),
        ({"status": "shipped", "id": 7, "errors": []}, set()),
        ("done", set()),
        ("450 EUR", set()),
        ([1], set()),
        (0, set()),
    ],
)
def test_a_result_that_says_no_is_told(result: object, says_no: set[str]) -> None:
    assert reservations(result) == says_no


@pytest.mark.parametrize(
    ("task", "values", "other"),
    [
        ("Walk from Carnegie Hall to Penn Station", {"to": "Penn Station"}, "Walk from Carnegie Hall to Schenley park"),
        ("Open the page of Best Buy", {"page": "Best Buy"}, "Open the page of Whole Foods near Carnegie Mellon"),
        ("Set my status to Out There", {"status": "Out There"}, "Set my status to Out of Office"),
        ("Report the price in the Blue Mall", {"shop": "Blue Mall"}, "Report the price in the One Stop Market"),
        ("Count the orders of the week 2023-04-01", {"week": "2023-04-01"}, "Count the orders of the week May 1, 2023"),
        ("Make the repository old_name", {"name": "old_name"}, "Make the repository fun_thing_to_do"),
        ("Which train leaves in the morning", {"at": "in the morning"}, "Which train leaves from the harbour"),
        ("Buy a ticket for the tram", {"ride": "tram"}, "Buy a ticket for the bus stop"),
    ],
)
def test_words_of_a_name_a_date_or_an_identifier_turn_nothing(task: str, values: dict[str, str], other: str) -> None:
    pattern = learned(task, values)
    found = fit(pattern, other)
    assert found is not None
    assert turning(other, pattern, found, writes=True) == ()


@pytest.mark.parametrize(
    "payee", ["Frank Gina on Monday", "Frank Jones weekly", "Frank Jones in euros", "Frank Jones's brother", "the boss"]
)
def test_small_words_beside_a_name_are_none_where_they_say_when_how_or_who_else(payee: str) -> None:
    pattern = learned("Wire 50 to the supplier Bob Smith", {"payee": "Bob Smith", "amount": "50"})
    task = f"Wire 60 to the supplier {payee}"
    found = fit(pattern, task)
    assert found is not None
    assert turning(task, pattern, found, writes=True)


@pytest.mark.parametrize("piece", ["all", "of flights", "BK-1 BK-2", "and rebook"])
def test_what_is_no_one_identifier_is_not_taken_for_one(piece: str) -> None:
    found = fit(CANCEL, f"Cancel booking {piece}")
    assert found is not None
    assert turning(f"Cancel booking {piece}", CANCEL, found, writes=True)


def test_a_list_is_no_name_where_names_were_single() -> None:
    pattern = learned("Compare the weather in Paris and Rome", {"city": "Paris", "other": "Rome"})
    task = "Compare the weather in Tokyo, Lima and Oslo"
    found = fit(pattern, task)
    assert found is not None
    assert turning(task, pattern, found, writes=True)


async def test_a_result_that_was_empty_before_ends_no_plan() -> None:
    tools, plans = [tool("ring", door="string"), tool("wait", door="string")], opened()
    taught_with = {"open": False, "note": ""}
    for result, other in (("", {"status": "failed"}), (taught_with, {"open": False, "locked": False})):
        run = finished(
            "Ring at the door D-1 of Ann", ("ring", {"door": "D-1"}, result), ("wait", {"door": "D-1"}, "ok")
        )
        await plans.record(run, tools=tools, agent=str(result))
        task = asked("Ring at the door D-2 of Ann")
        for seen, outcome in ((result, "plan"), (other, "miss")):
            looked = called(("ring", {"door": "D-2"}, seen))
            found = await plans.lookup([*task, *looked], tools=tools, agent=str(result))
            assert found.outcome == outcome


@pytest.mark.parametrize("first", ["Never", "Don't", "Simulate", "Who may"])
async def test_plans_are_not_carried_out_for_a_task_that_is_turned(first: str) -> None:
    tools, plans = [tool("delete_branch", branch="string")], opened()
    for word, branch in (("Kindly", "feature-A1"), ("Quickly", "feature-B2")):
        task = f"{word} delete the git branch {branch} today"
        await plans.record(finished(task, ("delete_branch", {"branch": branch}, "ok")), tools=tools)
    plain = await plans.lookup(asked("Kindly delete the git branch feature-C3 today"), tools=tools)
    assert plain.outcome == "plan"
    turned = await plans.lookup(asked(f"{first} delete the git branch feature-C3 today"), tools=tools)
    assert turned.outcome == "miss"


async def test_a_result_that_says_no_ends_a_plan_before_it_changes_something() -> None:
    plans = await taught(cancelling("ann_lee_1", "AB12CD"), cancelling("bo_ray_2", "EF34GH"))
    task = asked("Cancel the first reservation of user cy_fox_3, please")
    for result, outcome in (
        ({"reservations": ["IJ56KL"]}, "plan"),
        ({"reservations": ["IJ56KL"], "open": False}, "miss"),
    ):
        looked = called(("find_user", {"user_id": "cy_fox_3"}, result))
        assert (await plans.lookup([*task, *looked], tools=WORLD)).outcome == outcome


@pytest.mark.parametrize(
    ("first", "second", "other"),
    [
        (
            "Find me a hotel in Paris for 2 nights",
            "Find me a hotel in Paris for 3 nights",
            "Find me a hotel in Rome for 5 nights",
        ),
        ("Find a hotel for 2 nights", "Find a hotel for 3 nights", None),
    ],
)
async def test_what_may_follow_from_a_value_of_the_task_never_becomes_a_constant(
    first: str, second: str, other: str | None
) -> None:
    tools = [tool("hotels", reads=True, airport="string", nights="integer")]
    plans = opened()
    for task, nights in ((first, 2), (second, 3)):
        await plans.record(finished(task, ("hotels", {"airport": "CDG", "nights": nights}, "one")), tools=tools)
    found = await plans.lookup(asked(other or "Find a hotel for 5 nights"), tools=tools)
    assert found.outcome == ("plan" if other is None else "miss")


PAY = [tool("pay", payee="string", amount="number"), tool("wire", payee="string", amount="number", currency="string")]


@pytest.mark.parametrize(
    ("taught_with", "amount", "served"),
    [
        ("60 dollars", "$70", True),
        ("60 dollars", "70 USD", True),
        ("60 dollars", "€70", False),
        ("60 dollars", "70 euros", False),
        ("60 dollars", "70", False),
        ("$60", "A$70", False),
        ("$60", "70%", False),
        ("60", "70", True),
        ("60", "$70", False),
    ],
)
async def test_an_amount_is_filled_in_where_it_counts_what_it_counted(
    taught_with: str, amount: str, served: bool
) -> None:
    plans = opened()
    task = "Pay the sum of {} to the supplier {}"
    await plans.record(
        finished(task.format(taught_with, "Bob"), ("pay", {"payee": "Bob", "amount": 60}, "ok")), tools=PAY
    )
    found = await plans.lookup(asked(task.format(amount, "Ann")), tools=PAY)
    assert (found.outcome == "plan") is served
    assert not served or found.calls[0].arguments == {"payee": "Ann", "amount": 70}


async def test_a_currency_becomes_a_constant_for_its_own_amounts_alone() -> None:
    plans = opened()
    task = "Wire the sum of {} to the supplier {}"
    for sign, currency in (("$", "USD"), ("€", "EUR")):
        for amount, payee in ((60, "Bob"), (75, "Eve")):
            given = {"payee": payee, "amount": amount, "currency": currency}
            await plans.record(finished(task.format(f"{sign}{amount}", payee), ("wire", given, "ok")), tools=PAY)
    for sign, currency in (("$", "USD"), ("€", "EUR")):
        found = await plans.lookup(asked(task.format(f"{sign}80", "Ann")), tools=PAY)
        assert [one.arguments for one in found.calls] == [{"payee": "Ann", "amount": 80, "currency": currency}]
    assert (await plans.lookup(asked(task.format("£80", "Ann")), tools=PAY)).outcome == "miss"


@pytest.mark.parametrize(
    ("task", "served"),
    [
        ("Add the user bob@x.org to the group admins_us", True),
        ("Add to the group admins_us the user bob@x.org", True),
        ("Add the group admins_us to the user bob@x.org", False),
        ("Add the group admins_us for the user bob@x.org", False),
    ],
)
async def test_a_value_behind_another_preposition_is_not_taken_in_another_order(task: str, served: bool) -> None:
    tools, plans = [tool("grant", user="string", group="string")], opened()
    run = finished(
        "Add the user ann@x.org to the group admins_eu", ("grant", {"user": "ann@x.org", "group": "admins_eu"}, "ok")
    )
    await plans.record(run, tools=tools)
    assert ((await plans.lookup(asked(task), tools=tools)).outcome == "plan") is served


@pytest.mark.parametrize("path", ["/etc/passwd", "~/notes/a-b.txt", "./run.sh", "../up/", "src/main.py"])
async def test_a_path_is_filled_in_as_a_whole(path: str) -> None:
    tools, plans = [tool("read", reads=True, path="string")], opened()
    await plans.record(
        finished("Open the file /etc/hosts for reading", ("read", {"path": "/etc/hosts"}, "x")), tools=tools
    )
    found = await plans.lookup(asked(f"Open the file {path} for reading"), tools=tools)
    assert [one.arguments for one in found.calls] == [{"path": path}]


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("see you soon", "plan"),
        ("this page", "miss"),
        ("these two lines", "miss"),
        ("the attached file", "miss"),
        ("this week", "plan"),
    ],
)
async def test_what_the_user_points_at_is_no_value_for_a_tool_that_reads_either(text: str, outcome: str) -> None:
    plans, tools = opened(), [tool("translate", reads=True, text="string", language="string")]
    for one, language in (("good morning", "French"), ("thank you", "German")):
        run = finished(f"Translate {one} into {language}", ("translate", {"text": one, "language": language}, "ok"))
        await plans.record(run, tools=tools)
    assert (await plans.lookup(asked(f"Translate {text} into Polish"), tools=tools)).outcome == outcome
    if outcome == "miss":
        run = finished(f"Translate {text} into Polish", ("translate", {"text": text, "language": "Polish"}, "ok"))
        await plans.record(run, tools=tools)
        assert (await plans.lookup(asked(f"Translate {text} into Greek"), tools=tools)).outcome == "plan"


@pytest.mark.parametrize(("learned_with", "asked_with"), [("and", "or"), ("or", "and")])
def test_one_step_of_two_is_not_both(learned_with: str, asked_with: str) -> None:
    ticket = "Verify the status of ticket {} {} email {} the summary"
    values = {"ticket": "TCK-11", "email": "ann@x.com"}
    pattern = learned(ticket.format("TCK-11", learned_with, "ann@x.com"), values)
    for word in (learned_with, asked_with):
        task = ticket.format("TCK-40", word, "cy@z.net")
        found = fit(pattern, task)
        assert found is not None
        assert ("or" in turning(task, pattern, found, writes=False)) is (word == asked_with)
