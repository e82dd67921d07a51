"""Tasks of one word beside names or identifiers: used for others only where two runs show that the word is enough."""

from __future__ import annotations

from typing import Any

import pytest

from semcache.agents.template import decode, encode
from tests.agents.worlds import asked, finished, opened, tool

DEPLOYING = tool("deploy", env={"type": "string", "enum": ["staging", "production", "qa"]})
TOOLS = [
    tool("call", person="string"),
    tool("close_ticket", id="string"),
    tool("delete_file", file="string"),
    tool("track", order="string"),
    tool("remind", who="string", what="string", when="string"),
    tool("reschedule", event="string", day="string", time="string"),
    tool("fork", repo="string"),
    tool("pause_ticket", id="string"),
    tool("pause_job", id="string"),
    DEPLOYING,
]
# The task, the tool, and two sets of values by argument.
KINDS: list[tuple[str, str, list[dict[str, str]]]] = [
    ("Call {person}", "call", [{"person": "Ann Lee"}, {"person": "Bob Ray"}]),
    ("Close {id}", "close_ticket", [{"id": "INC-101"}, {"id": "INC-102"}]),
    ("Delete {file}", "delete_file", [{"file": "notes.txt"}, {"file": "draft.txt"}]),
    ("Track {order}", "track", [{"order": "#1001"}, {"order": "#1002"}]),
    (
        "Remind {who} to {what} at {when}",
        "remind",
        [
            {"who": "Ann", "what": "call the bank", "when": "5pm"},
            {"who": "Bob", "what": "water the plants", "when": "9am"},
        ],
    ),
    (
        "Move my {event} to {day} at {time}",
        "reschedule",
        [
            {"event": "dentist appointment", "day": "Friday", "time": "3pm"},
            {"event": "dentist appointment", "day": "Monday", "time": "9am"},
        ],
    ),
    (
        "Postpone the {event} to {day} at {time}",
        "reschedule",
        [
            {"event": "team lunch", "day": "2026-05-03", "time": "3pm"},
            {"event": "town hall", "day": "2026-05-04", "time": "9am"},
        ],
    ),
    ("Fork {repo}", "fork", [{"repo": "ChatGPT"}, {"repo": "MetaSeq"}]),
    ("Pause {id}", "pause_ticket", [{"id": "INC-1"}, {"id": "INC-2"}]),
    ("Pause {id}", "pause_job", [{"id": "JOB-1"}, {"id": "JOB-2"}]),
    ("Deploy to {env}", "deploy", [{"env": "staging"}, {"env": "production"}]),
]
OTHERS = [
    "Call Uber",
    "Call Tom Baker's wife",
    "Call Tom Baker tomorrow",
    "Call Tom Baker and Ann Lee",
    "Call Tom Baker back",
    "Call off Tom Baker",
    "Call Support",
    "Call Berlin",
    "Call Craig Street",
    "Called Tom Baker",
    "Call Tom Baker?",
    "Don't call Tom Baker",
    "Call a taxi for Tom Baker",
    "Call everyone",
    "Close PR-55",
    "Close #77",
    "Close report.pdf",
    "Close INC-200 as duplicate",
    "Close INC-200 and INC-201",
    "Close INC-200 on Friday",
    "Close INC-200's parent",
    "Close everything but INC-200",
    "Reopen INC-200",
    "Close Tom Baker",
    "Delete users.sql",
    "Delete INC-300",
    "Delete todo.txt and list.txt",
    "Delete todo.txt from the trash",
    "Delete all but todo.txt",
    "Delete the branch todo.txt",
    "Delete lines of todo.txt",
    "Undelete todo.txt",
    "Track #general",
    "Track UPS-77",
    "Track Tom Baker",
    "Track #2001 by email",
    "Track my #2001 calories",
    "Remind Tom not to send the invoice at 4pm",
    "Remind me to send the invoice at 4pm",
    "Remind Tom to send the invoice before 4pm",
    "Remind Tom and Ann to send the invoice at 4pm",
    "Remind Finance to send the invoice at 4pm",
    "Remind Tom of the invoice at 4pm",
    "Move my doctor appointment to Tuesday at 4pm",
    "Move my wife's dentist appointment to Tuesday at 4pm",
    "Move my dentist appointment to Tom at 4pm",
    "Move my sofa to Ann at 4pm",
    "Postpone the launch of Atlas to 2026-05-05 at 4pm",
    "Postpone the payment to 2026-05-05 at 4pm",
    "Fork PyTorch",
    "Fork all repos from facebook",
    "Fork it",
    "Pause INC-7",
    "Pause JOB-9",
    "Pause Spotify",
    "Deploy to mars",
    "Deploy to Tom Baker",
    "Deploy to qa tonight",
    "Deploy from qa",
    "Do not deploy to qa",
]


async def taught(runs: int) -> Any:
    plans = opened()
    for task, name, values in KINDS:
        for given in values[:runs]:
            await plans.record(finished(task.format(**given), (name, given, "ok")), tools=TOOLS)
    return plans


@pytest.mark.parametrize(
    ("task", "arguments"),
    [
        ("Call Tom Baker", {"person": "Tom Baker"}),
        ("Please call Priya Sharma.", {"person": "Priya Sharma"}),
        ("Could you call Tom Baker?", {"person": "Tom Baker"}),
        ("Close INC-200", {"id": "INC-200"}),
        ("delete todo.txt please", {"file": "todo.txt"}),
        ("Track #2001", {"order": "#2001"}),
        ("Remind Tom to send the invoice at 4pm", {"who": "Tom", "what": "send the invoice", "when": "4pm"}),
        (
            "Move my dentist appointment to Thursday at 4pm",
            {"event": "dentist appointment", "day": "Thursday", "time": "4pm"},
        ),
        ("Deploy to qa", {"env": "qa"}),
    ],
)
async def test_two_runs_with_other_values_free_a_short_task(task: str, arguments: dict[str, Any]) -> None:
    assert (await (await taught(1)).lookup(asked(task), tools=TOOLS)).outcome == "miss"
    found = await (await taught(2)).lookup(asked(task), tools=TOOLS)
    assert [one.arguments for one in found.calls] == [arguments]


@pytest.mark.parametrize("runs", [1, 2])
async def test_what_is_merely_like_a_short_task_is_left_to_the_model(runs: int) -> None:
    plans = await taught(runs)
    for task in OTHERS:
        found = await plans.lookup(asked(task), tools=TOOLS)
        assert found.outcome == "miss", (task, found.calls)


async def test_one_run_is_used_for_its_own_values() -> None:
    found = await (await taught(1)).lookup(asked("Please close INC-101"), tools=TOOLS)
    assert [one.arguments for one in found.calls] == [{"id": "INC-101"}]


async def test_a_second_plan_for_the_same_word_ends_the_use_of_the_first_for_other_values() -> None:
    plans = await taught(2)
    await plans.record(finished("Close JOB-7", ("pause_job", {"id": "JOB-7"}, "ok")), tools=TOOLS)
    assert (await plans.lookup(asked("Close INC-200"), tools=TOOLS)).outcome == "miss"
    assert (await plans.lookup(asked("Close INC-101"), tools=TOOLS)).outcome == "plan"


async def test_a_freed_short_task_is_kept_as_it_is() -> None:
    for one in (await taught(2)).library.templates():
        assert decode(encode(one)) == one


@pytest.mark.parametrize(
    ("task", "outcome"),
    [
        ("Unlock tom.baker", "plan"),
        ("Unlock eve_young", "plan"),
        ("Unlock report.pdf", "miss"),
        ("Unlock tom.baker's team", "miss"),
        ("Unlock web.config", "miss"),
    ],
)
async def test_logins_of_people_are_of_one_family(task: str, outcome: str) -> None:
    plans, tools = opened(), [tool("unlock", user="string")]
    for user in ("ann.lee", "bob.ray"):
        await plans.record(finished(f"Unlock {user}", ("unlock", {"user": user}, "ok")), tools=tools)
    assert (await plans.lookup(asked(task), tools=tools)).outcome == outcome
