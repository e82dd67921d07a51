"""Tools whose calls say little ("" or "ok") though they did their work: a plan leaves none of these calls out."""

from __future__ import annotations

from typing import Any

import pytest

from tests.agents.worlds import called, finished, opened, tool

TOOLS = [
    tool("bash", text="string"),
    tool("sql", text="string"),
    tool("click", text="string"),
    tool("find_user", reads=True, user="string"),
    tool("look_up", user="string"),
    tool("close", account="string"),
]
Calls = list[tuple[str, Any, Any]]
RUNS: list[tuple[str, list[tuple[str, str, Any]]]] = [
    (
        "Pack {0} into {0}.tar.gz",
        [("bash", "tar czf {0}.tar.gz {0}", ""), ("bash", "ls -l {0}.tar.gz", "-rw-r--r-- 1 x 99 {0}.tar.gz")],
    ),
    ("Commit {0} and push it", [("bash", "git add {0}", ""), ("bash", "git commit -m {0} {0}", "[main 1f2] {0}")]),
    (
        "Set order {0} to paid and show it",
        [("sql", "UPDATE orders SET paid = 1 WHERE id = '{0}'", []), ("sql", "SELECT * FROM orders", [{"a": 1}])],
    ),
    ("Open the menu entry {0}", [("click", "#menu", "ok"), ("click", "#first", {"title": "First"})]),
    ("Confirm the dialog for {0}", [("click", "#agree", "already agreed"), ("click", "#confirm", "ok")]),
    ("Fill the cart of {0}", [("click", "#tea", {"note": None}), ("click", "#rice", {"note": "2 things"})]),
    ("Update the checkout of {0}", [("bash", "git pull", "Already up to date."), ("bash", "git push", "pushed")]),
]


def run_of(task: str, calls: list[tuple[str, str, Any]], value: str) -> tuple[str, Calls]:
    return task.format(value), [(name, {"text": text.format(value)}, result) for name, text, result in calls]


@pytest.mark.parametrize(("task", "calls"), RUNS, ids=[task for task, _ in RUNS])
async def test_a_call_that_says_nothing_is_no_failed_attempt_of_the_next(
    task: str, calls: list[tuple[str, str, Any]]
) -> None:
    plans = opened()
    for value in ("A-100", "A-200"):
        said, made = run_of(task, calls, value)
        await plans.record(finished(said, *made), tools=TOOLS)
    said, made = run_of(task, calls, "A-300")
    for at in range(len(made)):
        under_way = [*finished(said)[:-1], *called(*made[:at])]
        found = await plans.lookup(under_way, tools=TOOLS)
        offered = [(one.tool, one.arguments) for one in found.calls]
        assert offered in ([], [made[at][:2]]), "a call was left out"
        assert found.why != "plan-done"


@pytest.mark.parametrize(
    ("first", "result"),
    [({"user": "al-7"}, {"error": "no such user"}), ({"user": "al-7"}, "Error: no such user")],
    ids=["field", "text"],
)
async def test_a_guess_that_failed_and_was_made_again_stands_as_it_succeeded(first: Any, result: Any) -> None:
    plans = opened()
    right = ("look_up", {"user": "A-100"}, {"account": "X-1"})
    await plans.record(
        finished("Close the account of A-100", ("look_up", first, result), right, ("close", {"account": "X-1"}, "ok")),
        tools=TOOLS,
    )
    found = await plans.lookup("Close the account of A-200", tools=TOOLS, system="You help.")
    assert [(one.tool, one.arguments) for one in found.calls] == [("look_up", {"user": "A-200"})]


async def test_a_command_that_answers_the_error_of_another_is_no_correction_of_it() -> None:
    plans = opened()
    for value in ("A-100", "A-200"):
        calls = [
            ("bash", {"text": "git pull"}, "Error: local changes would be overwritten"),
            ("bash", {"text": "git stash"}, "saved"),
            ("bash", {"text": f"deploy {value}"}, "deployed"),
        ]
        await plans.record(finished(f"Deploy {value}", *calls), tools=TOOLS)
    found = await plans.lookup("Deploy A-300", tools=TOOLS, system="You help.")
    assert (found.outcome, found.calls) == ("miss", ())


async def test_a_search_that_found_nothing_is_left_out_where_the_tool_reads() -> None:
    plans = opened()
    for value in ("A-100", "A-200"):
        calls = [
            ("find_user", {"user": "al-7"}, []),
            ("find_user", {"user": value}, {"account": f"X{value}"}),
            ("close", {"account": f"X{value}"}, "ok"),
        ]
        await plans.record(finished(f"Close the account of {value}", *calls), tools=TOOLS)
    found = await plans.lookup("Close the account of A-300", tools=TOOLS, system="You help.")
    assert [(one.tool, one.arguments) for one in found.calls] == [("find_user", {"user": "A-300"})]
