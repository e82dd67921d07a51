"""Texts that an agent composes around values: served with the new task's values, and never with those of a past run."""

from __future__ import annotations

import pytest

from semcache.agents.composed_text import fits, taken_apart, written
from semcache.agents.template import Hole
from tests.agents.worlds import asked, called, finished, opened, tool

TOOLS = [
    tool("look", reads=True, order="string"),
    tool("refund", order="string", amount="number"),
    tool("mail", to="string", text="string"),
    tool("query", sql="string"),
    tool("airport", code="string"),
    tool("hotel", city="string", day="string"),
]


def steps(order, total, to, text=None, ref="RF-77123"):
    return (
        ("look", {"order": order}, {"total": total, "tier": "gold"}),
        ("refund", {"order": order, "amount": total}, {"ref": ref}),
        ("mail", {"to": to, "text": text or f"Dear customer, {total} went back, number {ref}."}, "ok"),
    )


def refunding(order, total, to, **given):
    return finished(f"Refund order {order} and mail {to}", *steps(order, total, to, **given))


async def served(plans, task, *done):
    return await plans.lookup([*asked(task), *called(*done)], tools=TOOLS)


async def learned(*runs):
    plans = opened()
    for run in runs:
        await plans.record(run, tools=TOOLS)
    return plans


NEXT = "Refund order C-3003 and mail cy@example.org"


async def test_a_text_around_results_is_filled_in_after_two_runs_with_other_values() -> None:
    one = refunding("A-1001", 12.25, "ann@example.org")
    two = refunding("B-2002", 99.75, "bob@example.org", ref="RF-80011")
    done = steps("C-3003", 45.15, "cy@example.org", ref="RF-91919")
    assert (await served(await learned(one), NEXT, *done[:2])).why == "open-slot"
    found = await served(await learned(one, two), NEXT, *done[:2])
    assert [call.arguments for call in found.calls] == [done[2][1]]


@pytest.mark.parametrize("times", [2, 4])
async def test_a_run_that_is_repeated_with_equal_values_shows_nothing_of_other_tasks(times) -> None:
    run = refunding("A-1001", 12.25, "ann@example.org")
    plans = await learned(*[run] * times)
    found = await served(plans, NEXT, *steps("C-3003", 45.15, "cy@example.org")[:2])
    assert (found.outcome, found.why, found.detail) == ("miss", "open-slot", "mail.text")


async def test_an_own_constant_of_equal_runs_is_none_of_another_task() -> None:
    """The code "CDG" follows from Paris: two runs for Paris do not make it that of every city."""

    def flying(city, code, day):
        calls = (("airport", {"code": code}, "ok"), ("hotel", {"city": city, "day": day}, "ok"))
        return finished(f"Fly to {city} on {day} and book a hotel there", *calls)

    plans = await learned(flying("Paris", "CDG", "2026-05-01"), flying("Paris", "CDG", "2026-06-09"))
    assert (await served(plans, "Fly to Rome on 2026-07-07 and book a hotel there")).outcome == "miss"
    found = await served(plans, "Fly to Paris on 2026-07-07 and book a hotel there")
    assert [call.arguments for call in found.calls] == [{"code": "CDG"}]


async def test_a_constant_that_two_cities_had_is_the_plans() -> None:
    def sending(order, to):
        calls = (("look", {"order": order}, {"total": 5.25}), ("mail", {"to": to, "text": "Thanks for waiting"}, "ok"))
        return finished(f"Look at order {order} and write to {to}", *calls)

    plans = await learned(sending("A-1001", "ann@example.org"), sending("B-2002", "bob@example.org"))
    task, to = "Look at order C-3003 and write to cy@example.org", "cy@example.org"
    found = await served(plans, task, ("look", {"order": "C-3003"}, {"total": 7.5}))
    assert [call.arguments for call in found.calls] == [{"to": to, "text": "Thanks for waiting"}]


async def test_words_of_a_result_never_become_the_text_of_a_plan() -> None:
    texts = [f"A gold customer: {total}" for total in (12.25, 99.75)]
    one = refunding("A-1001", 12.25, "ann@example.org", text=texts[0])
    two = refunding("B-2002", 99.75, "bob@example.org", text=texts[1])
    found = await served(await learned(one, two), NEXT, *steps("C-3003", 45.15, "cy@example.org")[:2])
    assert found.outcome == "miss"


@pytest.mark.parametrize("total", [45.1, 4500.25])
async def test_an_amount_that_a_text_may_write_otherwise_is_left_to_the_model(total) -> None:
    one = refunding("A-1001", 12.25, "ann@example.org")
    two = refunding("B-2002", 99.75, "bob@example.org", ref="RF-80011")
    found = await served(await learned(one, two), NEXT, *steps("C-3003", total, "cy@example.org")[:2])
    assert found.outcome == "miss"


@pytest.mark.parametrize(("name", "outcome"), [("Cy Young", "plan"), ("O'Brien", "miss")])
async def test_a_query_is_filled_in_with_values_that_need_no_escape(name, outcome) -> None:
    plans = await learned(*map(lookup_and_count, ("Ann Lee", "Bob Ray")))
    task = f"Look up {name} and count the orders"
    assert (await served(plans, task)).outcome == "plan"
    assert (await served(plans, task, ("look", {"order": name}, {"total": 1.25}))).outcome == outcome


def lookup_and_count(name):
    return finished(
        f"Look up {name} and count the orders",
        ("look", {"order": name}, {"total": 1.25}),
        ("query", {"sql": f"SELECT count(*) FROM t WHERE name = '{name}'"}, "3"),
    )


def test_a_text_is_cut_at_whole_words_and_the_longest_value_first() -> None:
    values = [("A-1", Hole("one")), ("A-1-B", Hole("two"))]
    assert taken_apart("of A-1-B, A-1 and A-12", values) == ("of ", Hole("two"), ", ", Hole("one"), " and A-12")


@pytest.mark.parametrize(
    ("parts", "value", "ok"),
    [
        (("name = '", Hole("a"), "'"), "Ann", True),
        (("name = '", Hole("a"), "'"), "x' OR '1", False),
        (("https://x.org/?q=", Hole("a")), "two words", False),
        (("Hello ", Hole("a"), "!"), "O'Brien", True),
    ],
)
def test_what_has_to_be_escaped_is_not_put_into_code(parts, value, ok) -> None:
    assert fits(parts, parts.index(Hole("a")), value) is ok


def test_numbers_are_written_where_there_is_one_way() -> None:
    assert [written(one) for one in (12.25, 12.5, 1234.25, 7, "x")] == ["12.25", None, None, "7", "x"]


async def test_a_value_that_stands_in_a_query_alone_is_a_value_of_the_task() -> None:
    def deleting(user):
        calls = (("query", {"sql": f"SELECT id FROM users WHERE login = '{user}'"}, "7"),)
        return finished(f"Find the row of {user} in users", *calls)

    plans = await learned(deleting("jsmith"), deleting("mlopez"))
    found = await served(plans, "Find the row of atanaka in users")
    assert [call.arguments for call in found.calls] == [{"sql": "SELECT id FROM users WHERE login = 'atanaka'"}]
