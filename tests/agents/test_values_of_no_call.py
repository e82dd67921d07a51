"""A value of the task that no call took up may be what the plan was chosen by: another one is left to the planner."""

from __future__ import annotations

from typing import Any

import pytest

from semcache.agents.pattern import fit, learned
from semcache.agents.plans import Plans
from semcache.agents.template import decode, encode, view
from tests.agents.worlds import finished, opened, tool

TOOLS = [tool("wipe", order="integer"), tool("post", text="string"), tool("refund", order="string")]


async def taught(*runs: tuple[str, str, dict[str, Any]]) -> Plans:
    plans = opened()
    for task, name, given in runs:
        await plans.record(finished(task, (name, given, "ok"), system=""), tools=TOOLS)
    return plans


@pytest.mark.parametrize(
    ("task", "name", "given", "same", "other"),
    [
        (
            "Delete Slack notifications of order 5",
            "wipe",
            {"order": 5},
            "Delete the Slack notifications of order 7",
            "Delete Teams notifications of order 7",
        ),
        (
            'Post the note "fine" in Slack',
            "post",
            {"text": "fine"},
            'Post the note "x" in SLACK',
            'Post the note "x" in Jira',
        ),
        (
            "Refund 2 items of order A-17",
            "refund",
            {"order": "A-17"},
            "Refund 2 items of order A-18",
            "Refund 3 items of order A-18",
        ),
        (
            "Refund $50 of order A-17",
            "refund",
            {"order": "A-17"},
            "Refund $50 of order A-18",
            "Refund €50 of order A-18",
        ),
    ],
)
async def test_the_same_value_is_served_and_another_is_not(
    task: str, name: str, given: dict[str, Any], same: str, other: str
) -> None:
    plans = await taught((task, name, given))
    assert (await plans.lookup(same, tools=TOOLS)).outcome == "plan"
    assert (await plans.lookup(other, tools=TOOLS)).outcome == "miss"


async def test_two_runs_with_different_values_show_that_the_plan_does_not_depend_on_it() -> None:
    plans = await taught(
        ("Delete Slack notifications of order 5", "wipe", {"order": 5}),
        ("Delete Teams notifications of order 6", "wipe", {"order": 6}),
    )
    found = await plans.lookup("Delete Zoom notifications of order 9", tools=TOOLS)
    assert [one.arguments for one in found.calls] == [{"order": 9}]


async def test_the_verb_at_the_beginning_is_no_part_of_a_name() -> None:
    plans = await taught(
        ("Delete Slack notifications of order 5", "wipe", {"order": 5}),
        ("Delete Teams notifications of order 6", "wipe", {"order": 6}),
    )
    assert (await plans.lookup("Enable Slack notifications of order 9", tools=TOOLS)).outcome == "miss"


async def test_values_in_another_order_must_be_the_same_too() -> None:
    plans = await taught(('Post the note "fine" in Slack', "post", {"text": "fine"}))
    assert (await plans.lookup('In Slack post the note "x"', tools=TOOLS)).outcome == "plan"
    assert (await plans.lookup('In Jira post the note "x"', tools=TOOLS)).outcome == "miss"


async def test_a_template_keeps_a_digest_under_the_salt_and_survives_its_encoding() -> None:
    plans = await taught(("Refund 7731 items of order A-17", "refund", {"order": "A-17"}))
    [template] = plans.library.templates()
    assert b"7731" not in encode(template)
    assert decode(view(template)) == template
    one, two = (learned("Refund 7731 items", {}, salt=salt) for salt in (b"one", b"two"))
    assert one != two
    fitted = fit(one, "Refund 7731 items", salt=b"two")
    assert fitted is not None
    assert not fitted.whole


async def test_no_value_with_digits_is_kept_as_the_unit_of_a_number() -> None:
    plans = await taught(("Refund order a11yproject today", "refund", {"order": "a11yproject"}))
    assert [one.unit for one in plans.library.templates()[0].slots] == [""]


async def test_a_template_of_before_can_be_read() -> None:
    plans = await taught(("Refund 2 items of order A-17", "refund", {"order": "A-17"}))
    shown = view(plans.library.templates()[0])
    shown["patterns"] = [[one[:4] if isinstance(one, list) else one for one in each] for each in shown["patterns"]]
    assert [one.text() for one in decode(shown).patterns] == ["refund <number> items of order <id>"]
