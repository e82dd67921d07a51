"""Words beside a value, or in the place of one, that make it another: no plan changes anything for them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from semcache.agents.qualified_values import is_counted, is_indirect, is_qualified, is_token
from tests.agents.worlds import finished, opened, tool

TOOLS = [
    tool("grant", user="string", level="string", repo="string"),
    tool("set_heat", room="string", degrees="integer"),
    tool("assign", ticket="string", who="string"),
    tool("send", who="string", text="string"),
    tool("look", reads=True, room="string"),
]


def granting(user: str, level: str, repo: str) -> list[dict[str, Any]]:
    return finished(
        f"Give {user} {level} access to {repo}", ("grant", {"user": user, "level": level, "repo": repo}, "ok")
    )


def heating(room: str, degrees: int) -> list[dict[str, Any]]:
    return finished(
        f"Set the heat in the {room} to {degrees} degrees", ("set_heat", {"room": room, "degrees": degrees}, "ok")
    )


def assigning(ticket: str, who: str) -> list[dict[str, Any]]:
    return finished(f"Assign the ticket {ticket} to {who}", ("assign", {"ticket": ticket, "who": who}, "ok"))


def sending(who: str, text: str) -> list[dict[str, Any]]:
    return finished(f"Send {who} a message saying {text}", ("send", {"who": who, "text": text}, "ok"))


RUNS = [
    granting("jsmith", "read", "web-app"), granting("mmeyer", "write", "api-core"), heating("kitchen", 20),
    heating("bedroom", 18), assigning("OPS-1", "Ann Lee"), assigning("OPS-2", "Tom Baker"),
    sending("Ann Lee", "the report is ready"), sending("Tom Baker", "lunch is at noon"),
]  # fmt: skip


async def calls(task: str, *runs: list[dict[str, Any]]) -> Any:
    plans = opened()
    for run in (*RUNS, *runs):
        await plans.record(run, tools=TOOLS)
    found = await plans.lookup(task, tools=TOOLS, system="You help.")
    return [one.arguments for one in found.calls] if found.outcome == "plan" else found.why


@pytest.mark.parametrize(
    "task",
    [
        "Give tkahn temporary read access to infra-tools", "Give tkahn more access to infra-tools",
        "Give tkahn's team read access to infra-tools", "Give tkahn read access to infra-tools secrets",
        "Give tkahn read and write access to infra-tools", "Give infra-tools read access to tkahn",
        "Give tkahn read access to infra-tools and its fork", "Give myself read access to infra-tools",
        "Set the heat in the other room to 21 degrees", "Set the heat in the warmest room to 21 degrees",
        "Set the heat in the office upstairs to 21 degrees", "Set the heat in the whole house to 21 degrees",
        "Set the heat in the office (ground floor) to 21 degrees", "Set the heat in the two rooms to 21 degrees",
        "Set the heat in the office and hall to 21 degrees", "Assign the ticket OPS-3 to QA",
        "Assign the ticket OPS-3 to Sprint 12", "Assign the ticket OPS-3 to eve@x.org",
        "Assign the ticket OPS-3 to Eve Young Ltd", "Send Eve Young a message saying that I am late",
        "Send Eve Young a message saying when the report is ready",
        "Send Eve Young a message saying thanks for all the help in Spanish",
    ],
)  # fmt: skip
async def test_what_is_said_beside_a_value_is_the_models(task: str) -> None:
    assert await calls(task) in ("turned", "uncertain", "cold")


@pytest.mark.parametrize(
    ("run", "task"),
    [
        (granting("tkahn", "admin", "infra-tools"), "Give tkahn admin access to infra-tools"),
        (heating("living room", 21), "Set the heat in the living room to 21 degrees"),
        (assigning("OPS-3", "Eve Young"), "Assign the ticket OPS-3 to Eve Young"),
        (sending("Eve Young", "I am on my way to you"), "Send Eve Young a message saying I am on my way to you"),
    ],
)
async def test_other_values_are_served(run: list[dict[str, Any]], task: str) -> None:
    (call,) = run[2]["tool_calls"]
    assert await calls(task) == [json.loads(call["function"]["arguments"])]


async def test_what_a_run_had_is_served_from_then_on() -> None:
    task = "Set the heat in the other room to 21 degrees"
    assert await calls(task) == "turned"
    assert await calls(task, heating("other room", 19)) == [{"room": "other room", "degrees": 21}]


@pytest.mark.parametrize(
    "value",
    ["forest", "test server", "printer jam", "west wing", "Best Practices", "The Next Step", "5 Elm Road"],
)
def test_plain_values_are_not_qualified(value: str) -> None:
    assert not any(one(value) for one in (is_qualified, is_counted, is_indirect, is_token))


async def test_an_order_that_only_measures_or_compares_takes_more_than_a_value() -> None:
    run = finished("Measure the way from Elm Park and Oak Mall", ("route", {"a": "Elm Park", "b": "Oak Mall"}, "ok"))
    plans = opened()
    await plans.record(run, tools=[tool("route", a="string", b="string")])
    found = await plans.lookup(
        "Measure the way from Bar Kiosk (the second one) and Pine Hall",
        tools=[tool("route", a="string", b="string")],
        system="You help.",
    )
    assert [one.arguments for one in found.calls] == [{"a": "Bar Kiosk (the second one)", "b": "Pine Hall"}]


@pytest.mark.parametrize(
    ("said", "served"), [("spam", True), ("duplicate of SUP-9", False), ("spam by b@x.org", False)]
)
async def test_an_identifier_beside_a_word_is_more_than_a_value(said: str, served: bool) -> None:
    tools = [tool("get", ticket="string"), tool("close", ticket="string", how="string")]
    plans = opened()
    for ticket, how in (("SUP-1", "duplicate"), ("SUP-2", "fixed")):
        calls = [("get", {"ticket": ticket}, "ok"), ("close", {"ticket": ticket, "how": how}, "ok")]
        await plans.record(finished(f"Close ticket {ticket} as {how} and tell nobody", *calls), tools=tools)
    task = f"Close ticket SUP-3 as {said} and tell nobody"
    found = await plans.lookup(task, tools=tools, system="You help.")
    assert (found.outcome == "plan") is served
