"""Values that a plan may keep, and values of results that a plan may go on with: who said them first decides."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.worlds import asked, called, finished, opened, tool

TOOLS = [
    tool("airport", city="string"),
    tool("offers", origin="string", sort="string", limit="integer"),
    tool("book", offer="string"),
    tool("save", title="string"),
    tool("find_room", title="string"),
    tool("reserve", room="string"),
]


def booking(city: str, code: str, *, sort: str = "price", early: str = "", limit: int = 10) -> tuple[str, list[Any]]:
    found = {"offers": 210, "price": 99, "cheapest": f"F-{code}"}
    return f"Book the cheapest flight from {city}", [
        ("airport", {"city": city}, {"code": code, "hint": early}),
        ("offers", {"origin": code, "sort": sort, "limit": limit}, found),
        ("book", {"offer": f"F-{code}"}, "ok"),
    ]


async def offered(*runs: tuple[str, list[Any]], at: int, result: Any = None) -> Any:
    """The calls that are offered in the last of the runs after `at` calls, once the others are learned."""
    plans = opened()
    for task, calls in runs[:-1]:
        await plans.record(finished(task, *calls), tools=TOOLS)
    task, calls = runs[-1]
    done = [*calls[: at - 1], (*calls[at - 1][:2], result)] if result is not None else calls[:at]
    found = await plans.lookup([*asked(task), *called(*done)], tools=TOOLS)
    return [(one.tool, one.arguments) for one in found.calls] or found.why


async def test_the_result_of_a_call_explains_none_of_its_own_values() -> None:
    """ "price" is a field of the offers that were asked for by it, and 10 a part of 210."""
    runs = booking("Oslo", "OSL"), booking("Bern", "BRN"), booking("Cork", "ORK")
    assert await offered(*runs, at=1) == [("offers", {"origin": "ORK", "sort": "price", "limit": 10})]


async def test_what_an_earlier_result_said_stays_with_the_model() -> None:
    runs = [booking(city, code, early="sort by price") for city, code in (("Oslo", "OSL"), ("Bern", "BRN"))]
    assert await offered(*runs, booking("Cork", "ORK", early="sort by time", sort="time"), at=1) == "open-slot"


async def test_a_name_of_a_file_is_filled_in_though_the_tool_repeats_it() -> None:
    runs = [
        (f"Save the title {one}", [("save", {"title": f"{one}.pdf"}, {"path": f"/tmp/{one}.pdf"})])
        for one in ("A-100", "A-200", "A-300")
    ]
    assert await offered(*runs, at=0) == [("save", {"title": "A-300.pdf"})]


@pytest.mark.parametrize(
    ("result", "goes_on"),
    [
        ({"code": "ORK", "hint": ""}, True),
        ({"code": "ORK", "hint": "", "status": "closed"}, False),
        ({"code": 404}, False),
    ],
    ids=["a code that is taken", "a state", "a number"],
)
async def test_a_code_that_a_later_call_takes_is_no_state(result: Any, goes_on: bool) -> None:
    runs = booking("Oslo", "OSL"), booking("Bern", "BRN"), booking("Cork", "ORK")
    assert (await offered(*runs, at=1, result=result) != "off-plan") is goes_on


async def test_a_code_that_no_later_call_takes_is_a_state() -> None:
    runs = [
        (f"Reserve the room {one}", [("find_room", {"title": one}, {"code": code}), ("reserve", {"room": one}, "ok")])
        for one, code in (("A-100", "OK"), ("A-200", "OK"), ("A-300", "ERR"))
    ]
    assert await offered(*runs, at=1) == "off-plan"


@pytest.mark.parametrize(("said", "served"), [("Hotel Zen", True), ("the Hotel Zen", False)])
async def test_an_article_in_front_of_a_name_is_left_to_the_model(said: str, served: bool) -> None:
    """Whether "the" is a part of the name, no run has shown."""
    runs = [
        (
            f"Reserve a room at {one}",
            [("find_room", {"title": one}, {"room": f"R-{one[-3:]}"}), ("reserve", {"room": f"R-{one[-3:]}"}, "ok")],
        )
        for one in ("Hotel Sol", "Hotel Mar", said)
    ]
    assert (await offered(*runs, at=0) == [("find_room", {"title": said})]) is served
