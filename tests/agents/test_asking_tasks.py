"""Orders and questions: two wordings of an order lead to no third one, those of a question do where no word decides."""

from __future__ import annotations

from dataclasses import replace

import pytest

from semcache.agents import common_patterns
from semcache.agents.asking_tasks import only_asks
from semcache.agents.pattern import TaskPattern, learned
from semcache.agents.pattern_merge import merge
from semcache.agents.plans import Plans
from semcache.storage.stores.plan_rows import MemoryPlans
from tests.agents.worlds import asked, finished, opened, tool

TOOLS = [tool("act", reads=False, id="string")]
REFUNDING = [tool("refund", order="string")]


async def taught(*tasks: str, store: MemoryPlans | None = None) -> Plans:
    """Plans of these tasks, which call one tool with the identifier that each of them names."""
    plans = opened(store)
    for number, task in enumerate(tasks):
        await plans.record(finished(task.format(f"X-{number}"), ("act", {"id": f"X-{number}"}, "ok")), tools=TOOLS)
    return plans


async def outcome(plans: Plans, task: str) -> str:
    return (await plans.lookup(asked(task.format("X-9")), tools=TOOLS)).outcome


_VERBS = ["show", "list", "give", "fetch", "print", "display", "read", "name", "tell", "report", "describe", "explain"]
REBOOTING = [
    f"{verb} the application server {{}} in the Frankfurt data centre" for verb in ("Reboot", "Restart", "Bounce")
]
CUTTING = [f"Cut the {kind} database {{}} off the network" for kind in ("sandbox", "testing", "playground")]
PHOTOS = [f"Remove the {one} from the profile page of member {{}}" for one in ("picture", "photo", "image")]
APPLES = [f"How many {one} does the box {{}} of the warehouse hold?" for one in ("apples", "pears", "plums")]
TRAINS = [
    f"On the timetable {{}}, which of the trains {one} first in the morning?" for one in ("runs", "stops", "arrives")
]


@pytest.mark.parametrize("runs", [2, 3])
@pytest.mark.parametrize(
    ("tasks", "near"),
    [
        (REBOOTING, "Wipe the application server {} in the Frankfurt data centre"),
        (REBOOTING, "Rename the application server {} in the Frankfurt data centre"),
        (CUTTING, "Cut the production database {} off the network"),
        (PHOTOS, "Remove the address from the profile page of member {}"),
    ],
)
async def test_an_order_in_two_or_three_wordings_is_no_order_in_a_fourth(
    tasks: list[str], near: str, runs: int
) -> None:
    plans = await taught(*tasks[:runs])
    assert await outcome(plans, near) == "miss"
    assert [await outcome(plans, one) for one in tasks[:runs]] == ["plan"] * runs


async def test_what_a_question_is_about_may_be_something_else_once_two_had_one_plan() -> None:
    plans = await taught(*APPLES[:2])
    assert await outcome(plans, "How many lemons does the box {} of the warehouse hold?") == "plan"
    assert await outcome(plans, "How many lemons did the box {} of the warehouse hold?") == "miss"
    assert await outcome(plans, "Count the lemons in the box {} of the warehouse and throw them away") == "miss"


async def test_another_tense_of_a_question_is_another_question() -> None:
    plans = await taught(
        "What should I pay for the parcel {} from Oslo?", "What must I pay for the parcel {} from Oslo?"
    )
    assert await outcome(plans, "What did I pay for the parcel {} from Oslo?") == "miss"
    assert await outcome(plans, "What must I pay for the parcel {} from Oslo?") == "plan"


async def test_a_word_with_an_opposite_may_differ_once_three_questions_had_one_plan() -> None:
    departing = "On the timetable {}, which of the trains departs first in the morning?"
    store = MemoryPlans()
    plans = await taught(TRAINS[0], TRAINS[2], store=store)
    assert await outcome(plans, departing) == "miss"
    plans = await taught(*TRAINS, store=store)
    assert await outcome(plans, departing) == "plan"
    later = opened(store)
    await later.library.refresh()
    assert await outcome(later, departing) == "plan"


@pytest.mark.parametrize(
    ("task", "asks"),
    [
        ("What is the balance of account 5?", True),
        ("what is the balance of account 5", True),
        ("Show me the customers who complained about Oak chairs", True),
        ("Is the door of room 5 shut", True),
        ("Do the backup of room 5", False),
        ("Have Ann call me", False),
        ("Look at the schedule. When does the class end?", True),
        ("Mia wants to buy 2 pounds of rice. How much will she spend?", True),
        ("In Berlin, how many shops are open?", True),
        ("Reboot the server web-1", False),
        ("Reboot the server web-1. Is it up?", False),
        ("The server web-1 is slow, restart it. Is it up?", False),
        ("Show me the invoice 5 and pay it", False),
        ("What is the balance of account 5? Please close it", False),
        ("When it is done, reboot the server", False),
        ("The server is down", False),
    ],
)
def test_a_task_only_asks_where_it_orders_nothing(task: str, asks: bool) -> None:
    assert only_asks(task) is asks


@pytest.mark.parametrize(
    ("task", "detail"),
    [
        ("Refund half of order A-2 to the buyer", "half, of"),
        ("Refund order A-2", "without to, without buyer"),
        ("Refund order A-2 and B-3 to the buyer", "a value"),
    ],
)
async def test_a_miss_names_the_words_that_make_a_task_another(task: str, detail: str) -> None:
    plans = opened()
    await plans.record(finished("Refund order A-1 to the buyer", ("refund", {"order": "A-1"}, "ok")), tools=REFUNDING)
    found = await plans.lookup(asked(task), tools=REFUNDING)
    assert (found.outcome, found.why, found.detail) == ("miss", "uncertain", detail)


@pytest.mark.parametrize(
    ("task", "served"),
    [
        ("Delete the draft of report {} from the archive", "plan"),
        ("Delete the drafts of report {} from the archive", "miss"),
        ("Deleted the draft of report {} from the archive", "miss"),
        ("Deleting the draft of report {} from the archive", "miss"),
    ],
)
async def test_an_order_in_another_form_is_another(task: str, served: str) -> None:
    assert await outcome(await taught("Delete the draft of report {} from the archive"), task) == served


async def test_a_plan_of_an_earlier_version_learns_that_its_tasks_only_ask() -> None:
    plans = await taught(APPLES[0])
    (kept,) = plans.library.templates()
    await plans.library.keep(replace(kept, patterns=tuple(replace(one, asks=False) for one in kept.patterns)))
    for number, task in enumerate(APPLES[:2]):
        await plans.record(finished(task.format(f"Y-{number}"), ("act", {"id": f"Y-{number}"}, "ok")), tools=TOOLS)
    assert await outcome(plans, "How many lemons does the box {} of the warehouse hold?") == "plan"


def test_common_patterns_of_many_wordings_are_looked_for_in_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    wordings = [f"What should I {verb} about the order A-1 of the shop?" for verb in _VERBS]
    known = [learned(wording, {"id": "A-1"}) for wording in wordings]
    compared = 0

    def counting(one: TaskPattern, two: TaskPattern, *, doubted: bool = False) -> TaskPattern | None:
        nonlocal compared
        compared += 1
        return merge(one, two, doubted=doubted)

    monkeypatch.setattr(common_patterns, "merge", counting)
    found = common_patterns.in_common(known[:-1], known[-1])
    assert found
    assert compared < 3 * len(known)
    compared = 0
    assert common_patterns.without_loose([*known, found[0]]) == list(range(len(known) + 1))
    assert compared < 3 * len(known)
