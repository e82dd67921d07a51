"""Where a run can be read in two ways, or the user says more than the task, the planner is asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from typing import Any

import pytest

from semcache.agents.run import turns_of
from semcache.agents.template import decode, encode, view
from semcache.proxy import plan_dialects
from semcache.storage.stores.plan_rows import MemoryPlans, StoredPlan
from semcache.types import Endpoint
from tests.agents.worlds import asked, called, finished, opened, tool

TOOLS = [tool("act", a={}, b={}), tool("pay", c={}), tool("look", reads=True, c={})]
REFUND = finished("Refund order A-1001, please", ("look", {"c": "A-1001"}, {"paid": 40.0}), ("pay", {"c": 40.0}, "ok"))
OTHER = [*asked("Refund order B-2002, please"), *called(("look", {"c": "B-2002"}, {"paid": 15.0}))]


def said(*texts: str) -> list[dict[str, Any]]:
    """The agent and the user in turns, the agent first."""
    return [{"role": ("assistant", "user")[place % 2], "content": text} for place, text in enumerate(texts)]


async def served(learned: Sequence[Sequence[dict[str, Any]]], messages: Sequence[dict[str, Any]]) -> Any:
    """The calls that come next, None where the planner is asked."""
    plans = opened()
    for run in learned:
        await plans.record(run, tools=TOOLS)
    found = await plans.lookup(messages, tools=TOOLS)
    return [(one.tool, one.arguments) for one in found.calls] if found.outcome == "plan" else None


async def test_a_user_who_speaks_up_in_the_midst_of_a_plan_is_heard_by_the_planner() -> None:
    assert await served([REFUND], OTHER) == [("pay", {"c": 15.0})]
    assert await served([REFUND], [*OTHER, *said("It is 15 dollars. Shall I?", "No, do not refund it")]) is None
    assert await served([REFUND], [*asked("Refund order B-2002, please"), *said("Sure?", "No, forget it")]) is None
    assert await served([REFUND], [*asked("Refund order B-2002, please"), *said("", "I mean C-3003")[1:]]) is None


async def test_a_run_that_the_user_had_to_confirm_is_no_plan_for_those_who_did_not() -> None:
    confirmed = [
        *asked("Pay order A-1001 now please"),
        *said("Are you sure?", "yes"),
        *called(("pay", {"c": "A-1001"}, "ok")),
    ]
    assert await served([[*confirmed, *said("Done.")]], asked("Pay order B-2002 now please")) is None
    thanked = finished("Pay order A-1001 now please", ("pay", {"c": "A-1001"}, "ok"))
    thanked += [*said("", "thanks")[1:], *said("You are welcome.")]
    assert await served([thanked], asked("Pay order B-2002 now please")) == [("pay", {"c": "B-2002"})]


@pytest.mark.parametrize("endpoint", [Endpoint.CHAT, Endpoint.MESSAGES])
async def test_a_task_with_a_picture_is_not_served_what_another_picture_asked_for(endpoint: Endpoint) -> None:
    shown = {"type": "image_url", "image_url": {"url": "data:1"}} if endpoint is Endpoint.CHAT else {"type": "image"}
    task = {"role": "user", "content": [{"type": "text", "text": "Press the button that is shown here"}, shown]}
    read = plan_dialects.conversation(endpoint, json.dumps({"messages": [task], "tools": TOOLS}).encode())
    assert read is not None
    words = asked("Press the button that is shown here")[1:]
    run = [*words, *called(("look", {}, "ok")), *said("Done.")]
    plans, tools = opened(), [tool("look")]
    await plans.record(run, tools=tools)
    assert (await plans.lookup(words, tools=tools)).outcome == "plan"
    assert (await plans.lookup(read[0], tools=tools)).why == "no-task"


@pytest.mark.parametrize(
    ("learned", "value", "task"),
    [
        ("Refund order A-1001 please", "A-1001", "Refund order B-2002 and order C-3003 please"),
        ("Book a flight to Paris", "Paris", "Book a flight to Rome without luggage"),
        ("Book a flight to Paris", "Paris", "Book a flight to Rome or Milan"),
        ("Delete all files in folder drafts", "drafts", "Delete all files in folder archive except budget"),
        ("Send the report to Bob Lee", "Bob Lee", "Send the report to Ann but not to Tim"),
    ],
)
async def test_a_slot_takes_neither_a_second_value_nor_a_reservation(learned: str, value: str, task: str) -> None:
    assert await served([finished(learned, ("pay", {"c": value}, "ok"))], asked(task)) is None


async def test_what_comes_first_in_a_task_is_not_turned_round() -> None:
    run = finished(
        "Copy A-1.txt and then delete B-2.txt",
        ("pay", {"c": "A-1.txt"}, "ok"),
        ("act", {"a": "B-2.txt", "b": ""}, "ok"),
    )
    assert await served([run], asked("Copy C-3.txt and then delete D-4.txt")) == [("pay", {"c": "C-3.txt"})]
    assert await served([run], asked("Delete C-3.txt and then copy D-4.txt")) is None


@pytest.mark.parametrize(
    ("learned", "given", "task", "wanted"),
    [
        # 20.0 and 20 are one number in two places of the task, which say it in different words.
        ("Pay $20.00 to account 20 now", {"a": 20.0, "b": 20}, "Pay $35.00 to account 77 now", None),
        ("Pay $20.50 to account 20 now", {"a": 20.5, "b": 20}, "Pay $35.10 to account 77 now", {"a": 35.1, "b": 77}),
    ],
)
async def test_a_number_said_twice_in_different_words_is_nobodys(
    learned: str, given: Any, task: str, wanted: Any
) -> None:
    found = await served([finished(learned, ("act", given, "ok"))], asked(task))
    assert found == (None if wanted is None else [("act", wanted)])


async def test_a_number_is_not_put_into_the_middle_of_another_one() -> None:
    task = "Buy {} units of copper now please"
    look = ("look", {"c": "copper"}, {"price": 5.5})
    run = finished(task.format(5), look, ("act", {"a": 5, "b": "5 units at 5.5"}, "ok"))
    assert await served([run], [*asked(task.format(7)), *called(look)]) is None


def refunded(order: str, result: Any, amount: Any) -> list[dict[str, Any]]:
    return finished(f"Refund order {order}, please", ("look", {"c": order}, result), ("pay", {"c": amount}, "ok"))


async def test_of_two_places_that_had_the_value_neither_is_guessed_until_a_run_tells_them_apart() -> None:
    both = refunded("A-1001", {"subtotal": 40.0, "total": 40.0}, 40.0)
    look = called(("look", {"c": "C-3003"}, {"subtotal": 50.0, "total": 45.0}))
    messages = [*asked("Refund order C-3003, please"), *look]
    assert await served([both], messages) is None
    same = [*messages[:-1], {**messages[-1], "content": json.dumps({"subtotal": 45.0, "total": 45.0})}]
    assert await served([both], same) == [("pay", {"c": 45.0})]
    told = refunded("B-2002", {"subtotal": 30.0, "total": 20.0}, 20.0)
    assert await served([both, told], messages) == [("pay", {"c": 45.0})]


async def test_an_item_of_several_is_the_planners_to_choose() -> None:
    def found(*items: str) -> dict[str, Any]:
        return {"flights": [{"id": one} for one in items]}

    new = asked("Refund order B-2002, please")
    several, one = (called(("look", {"c": "B-2002"}, found(*items))) for items in (("G1", "G2"), ("G3",)))
    chosen, only = refunded("A-1001", found("F1", "F2"), "F2"), refunded("A-1001", found("F1"), "F1")
    assert await served([chosen], [*new, *several]) is None
    assert await served([only], [*new, *several]) is None
    assert await served([only], [*new, *one]) == [("pay", {"c": "G3"})]


def test_ids_that_every_turn_uses_anew_take_the_results_of_their_own_turn() -> None:
    messages = asked("Compare them")
    for turn in "ab":
        calls = [
            {"id": f"call_{at}", "function": {"name": "look", "arguments": json.dumps({"c": f"{turn}{at}"})}}
            for at in range(2)
        ]
        messages.append({"role": "assistant", "tool_calls": calls})
        messages += [{"role": "tool", "tool_call_id": f"call_{at}", "content": f"{turn}{at}"} for at in (1, 0)]
    turns, _ = turns_of(messages)
    assert [(call.arguments["c"], call.result) for turn in turns for call in turn.calls] == [
        (name, name) for name in ("a0", "a1", "b0", "b1")
    ]


async def test_a_template_with_several_places_survives_its_json() -> None:
    plans = opened()
    await plans.record(refunded("A-1001", {"subtotal": 40.0, "total": 40.0}, 40.0), tools=TOOLS)
    [template] = plans.library.templates()
    assert any(slot.also for slot in template.slots)
    assert decode(encode(template)) == template


async def test_a_template_whose_tools_were_edited_can_be_purged() -> None:
    plans = opened()
    plan_id = await plans.record(REFUND, tools=TOOLS)
    old = view(plans.library.templates()[0])
    await plans.library.edit(str(plan_id), {"tools": {**old["tools"], "act": "00" * 16}})
    assert await plans.library.purge(tenant=None, agent=None, now=0.0, dry_run=False) == [plan_id]


class SlowPlans(MemoryPlans):
    """Rows that take their time to be written."""

    async def put_plans(self, plans: Sequence[StoredPlan]) -> None:
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        await super().put_plans(plans)


@pytest.mark.parametrize("workers", [1, 2])
async def test_a_failure_is_not_forgotten_for_a_success_that_is_told_at_the_same_time(workers: int) -> None:
    store = SlowPlans()
    plans = [opened(store) for _ in range(workers)]
    await plans[0].record(REFUND, tools=TOOLS)
    for one in plans:
        await one.library.refresh()
    task = asked("Refund order B-2002, please")
    for _ in range(40):
        await plans[0].outcome(await plans[0].lookup(task, tools=TOOLS), success=True)
    bad, good = [await one.lookup(task, tools=TOOLS) for one in (plans[0], plans[-1])]
    if workers == 1:
        await asyncio.gather(plans[0].outcome(bad, success=False), plans[0].outcome(good, success=True))
    else:
        await plans[0].outcome(bad, success=False)
        await plans[1].outcome(good, success=True)
    [kept] = [template for one in plans[-1:] for template in one.library.templates()]
    assert (kept.bad, kept.refused) == (1.0, (bad.key,))


async def test_what_is_over_is_kept_neither_in_the_store_nor_in_memory() -> None:
    store, at = MemoryPlans(), [1000.0]
    plans = opened(store, clock=lambda: at[0])
    for number in range(3):
        await plans.record([{"role": "system", "content": f"It is {number}."}, *REFUND[1:]], tools=TOOLS)
        at[0] += 40 * 86400.0
        await plans.library.sweep(at[0], grace=3600.0)
    at[0] += 2 * 86400.0
    await plans.library.sweep(at[0], grace=3600.0)
    assert plans.library.templates() == []
    assert len(await store.plans(0)) == 1, "the newest stays, so that numbers go on from it"
    assert len(plans.library._indexes) == 0
