"""Tasks in another order than a plan has, or with more than a value in the place of one: whose value is whose."""

from __future__ import annotations

import pytest

from tests.agents.worlds import asked, finished, opened, tool

TOOLS = [
    tool("find", reads=True, title="string", day="string"),
    tool("move", title="string", day="string", time="string"),
    tool("account", who="string"),
    tool("pay", payer="string", payee="string", amount="integer"),
    tool("wire", amount="integer", currency="string", payee="string"),
    tool("disable", user="string"),
    tool("shift", count="integer", item="string"),
    tool("reassign", old="string", new="string"),
]


async def found(run, task):
    plans = opened()
    await plans.record(run, tools=TOOLS)
    return await plans.lookup(asked(task), tools=TOOLS)


MOVING = finished(
    'Move "retro" from 2026-05-01 to 2026-05-08 at 10:30',
    ("find", {"title": "retro", "day": "2026-05-01"}, {"event": "E-1"}),
    ("move", {"title": "retro", "day": "2026-05-08", "time": "10:30"}, "ok"),
)


@pytest.mark.parametrize(
    ("task", "outcome"),
    [
        ('Move "demo" from 2026-06-02 to 2026-06-09 at 11:15', "plan"),
        ('At 11:15 move "demo" from 2026-06-02 to 2026-06-09', "plan"),
        ('Move "demo" from 2026-06-02 at 11:15 to 2026-06-09', "miss"),
    ],
)
async def test_a_time_belongs_to_the_date_that_it_stands_behind(task, outcome) -> None:
    assert (await found(MOVING, task)).outcome == outcome


async def test_a_time_behind_all_dates_is_not_that_of_the_first() -> None:
    run = finished(
        'Move "retro" to 2026-05-08 from 2026-05-01 at 10:30',
        ("find", {"title": "retro", "day": "2026-05-01"}, {"event": "E-1"}),
        ("move", {"title": "retro", "day": "2026-05-08", "time": "10:30"}, "ok"),
    )
    assert (await found(run, 'Move "demo" from 2026-06-02 at 11:15 to 2026-06-09')).outcome == "miss"


PAYING = finished(
    'Pay Ann Lee 40 CHF from the account of Bob Ray for "rent", mail Ann Lee the receipt',
    ("account", {"who": "Bob Ray"}, {"id": "AC-1"}),
    ("pay", {"payer": "Bob Ray", "payee": "Ann Lee", "amount": 40}, "ok"),
)


async def test_a_name_that_stands_twice_has_one_value_or_no_plan() -> None:
    task = 'Pay Cy Fox 55 CHF from the account of Dee Poe for "rent", mail Dee Poe the receipt'
    assert (await found(PAYING, task)).outcome == "miss"


DISABLING = finished("Disable the user jsmith now", ("disable", {"user": "jsmith"}, "ok"))


@pytest.mark.parametrize(
    ("user", "outcome"),
    [
        ("mlopez", "plan"),
        ("mlopez 2026-04-07", "miss"),
        ("mlopez on 2026-04-07", "miss"),
        ("mlopez on Monday", "miss"),
        ("mlopez for two weeks", "miss"),
    ],
)
async def test_what_is_said_of_a_value_is_no_part_of_it(user, outcome) -> None:
    assert (await found(DISABLING, f"Disable the user {user} now")).outcome == outcome


SHIFTING = finished("Shift 3 pieces of SKU-1", ("shift", {"count": 3, "item": "SKU-1"}, "ok"))


@pytest.mark.parametrize("task", ["Shift all but 4 pieces of SKU-7", "Shift each of 4 pieces of SKU-7"])
async def test_a_share_of_a_number_is_another_number(task) -> None:
    assert (await found(SHIFTING, task)).outcome == "miss"


SENDING = finished(
    "Transfer 50 USD to the account of Ann Lee", ("wire", {"amount": 50, "currency": "USD", "payee": "Ann Lee"}, "ok")
)


@pytest.mark.parametrize(
    ("said", "currency"), [("70 EUR", "EUR"), ("70 CHF", "CHF"), ("70 thousand USD", None), ("70 euros", None)]
)
async def test_a_currency_that_is_an_argument_is_a_value_of_its_own(said, currency) -> None:
    plan = await found(SENDING, f"Transfer {said} to the account of Bob Ray")
    calls = [{"amount": 70, "currency": currency, "payee": "Bob Ray"}] if currency else []
    assert [one.arguments for one in plan.calls] == calls


async def test_a_name_is_not_parted_between_two_values() -> None:
    run = finished(
        "Send a memo to Ann Lee, Bo Ray and Cy Fox today",
        ("account", {"who": "Ann Lee"}, "ok"),
        ("account", {"who": "Bo Ray"}, "ok"),
        ("account", {"who": "Cy Fox"}, "ok"),
    )
    plan = await found(run, "Send a memo to Maria Lopez, Nina Petrova and Aiko Tanaka today")
    assert [one.arguments for one in plan.calls] in ([], [{"who": "Maria Lopez"}])


@pytest.mark.parametrize(
    "task", ["Who was the owner of the ticket OPS-3?", "Who has been the owner of the ticket OPS-3?"]
)
async def test_what_was_is_another_question_than_what_is(task: str) -> None:
    tools = [tool("get_owner", reads=True, ticket="string")]
    plans = opened()
    run = finished("Who is the owner of the ticket OPS-1?", ("get_owner", {"ticket": "OPS-1"}, "Ann Lee"))
    await plans.record(run, tools=tools)
    assert (await plans.lookup(asked("Who is the owner of the ticket OPS-3?"), tools=tools)).outcome == "plan"
    assert (await plans.lookup(asked(task), tools=tools)).outcome == "miss"


ASSIGNING = finished(
    "Reassign all open leads of Ann Lee to Bob Ray",
    ("reassign", {"old": "Ann Lee", "new": "Bob Ray"}, "ok"),
)


async def test_an_owner_is_a_person_without_the_sign_of_owning() -> None:
    served = await found(ASSIGNING, "Reassign all of Eve Stone's open leads to Dan Cole")
    assert [one.arguments for one in served.calls] == [{"old": "Eve Stone", "new": "Dan Cole"}]


async def test_somebody_of_a_person_is_somebody_else_though_a_plan_only_asks() -> None:
    run = finished("What is the phone number of Ann Lee?", ("account", {"who": "Ann Lee"}, "1"))
    assert (await found(run, "What is the phone number of Tom Baker?")).outcome == "plan"
    assert (await found(run, "What is the phone number of Tom Baker's boss?")).outcome == "miss"
