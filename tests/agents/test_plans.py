"""Templates are learned, filled in step by step, doubted after failures, and given up in time."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from semcache.agents.plan_terms import PlanTerms
from semcache.agents.template import decode, encode, view
from semcache.errors import InvalidArgument
from semcache.storage.stores.plan_rows import MemoryPlans
from semcache.types import public_id
from tests.agents.worlds import SALT, TOOLS, asked, called, cancelling, finished, opened, taught, tool
from tests.waiting import PATIENCE

ANN, BO = cancelling("ann_lee_1", "AB12CD"), cancelling("bo_ray_2", "EF34GH")
TASK = asked("Cancel the first reservation of user cy_fox_3, please")
LOOKED = [*TASK, *called(("find_user", {"user_id": "cy_fox_3"}, {"reservations": ["IJ56KL"]}))]


async def test_a_plan_is_served_step_by_step_from_the_results_of_this_run() -> None:
    plans = await taught(ANN, BO)
    first = await plans.lookup(TASK, tools=TOOLS)
    assert (first.outcome, first.tier) == ("plan", "key")
    assert [(call.tool, call.arguments, call.reads) for call in first.calls] == [
        ("find_user", {"user_id": "cy_fox_3"}, True)
    ]
    second = await plans.lookup(LOOKED, tools=TOOLS)
    assert [(call.tool, call.arguments, call.reads) for call in second.calls] == [
        ("cancel", {"reservation_id": "IJ56KL", "reason": "change of plan"}, False)
    ]
    done = [*LOOKED, *called(("cancel", second.calls[0].arguments, "ok"), start=1)]
    # The answer is the model's: it depends on what the tools said. Nothing is called twice.
    assert (await plans.lookup(done, tools=TOOLS)).why == "plan-done"
    again = [*done, *called(("cancel", second.calls[0].arguments, "ok"), start=2)]
    assert (await plans.lookup(again, tools=TOOLS)).why == "off-plan"


@pytest.mark.parametrize(
    "turn",
    [
        ("find_user", {"user_id": "someone_else_9"}, {"reservations": ["IJ56KL"]}),
        ("find_user", {"user_id": "cy_fox_3"}, "Error: user not found"),
        ("refund", {"order": 1, "amount": 2.0}, "ok"),
    ],
)
async def test_a_run_that_left_the_plan_is_the_planners(turn) -> None:
    plans = await taught(ANN, BO)
    assert (await plans.lookup([*TASK, *called(turn)], tools=TOOLS)).why == "off-plan"


async def test_results_without_the_place_of_a_value_leave_it_to_the_planner() -> None:
    plans = await taught(ANN, BO)
    empty = [*TASK, *called(("find_user", {"user_id": "cy_fox_3"}, {"reservations": []}))]
    assert (await plans.lookup(empty, tools=TOOLS)).why == "off-plan"
    several = [*TASK, *called(("find_user", {"user_id": "cy_fox_3"}, {"reservations": ["IJ56KL", "KL78MN"]}))]
    assert (await plans.lookup(several, tools=TOOLS)).why == "open-slot"
    assert plans.counts["open-slot"] == 1


async def test_a_value_that_nothing_explains_is_a_constant_only_once_two_tasks_had_it() -> None:
    plans = await taught(ANN)
    assert (await plans.lookup(LOOKED, tools=TOOLS)).why == "open-slot"
    await plans.record(BO, tools=TOOLS)
    assert (await plans.lookup(LOOKED, tools=TOOLS)).outcome == "plan"
    await plans.record(cancelling("dee_low_4", "MN78OP", reason="weather"), tools=TOOLS)
    assert [one.runs for one in plans.library.templates()] == [2, 1]


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ('Sure: {"reason": "weather"}', "key"),
        ("I would rather not", "small-model-garbage"),
        ('{"reason": ["weather"]}', "small-model-garbage"),
        ('{"other": "weather"}', "small-model-garbage"),
        ('{"reason": 7}', "invalid-arguments"),
        (None, "small-model-garbage"),
        (float("inf"), "small-model-timeout"),
    ],
)
async def test_a_small_model_fills_what_is_open_or_the_planner_is_asked(said, why) -> None:
    prompts: list[str] = []

    async def small(prompt: str) -> str:
        prompts.append(prompt)
        if said is None:
            raise ConnectionError("gone")
        if isinstance(said, float):
            await asyncio.Event().wait()
        return str(said)

    plans = await taught(ANN, small=small, terms=PlanTerms(small_seconds=0.05 if isinstance(said, float) else PATIENCE))
    found = await plans.lookup(LOOKED, tools=TOOLS)
    assert found.why == why
    assert plans.counts[why] == 1
    assert "ann_lee_1" not in prompts[0]
    assert "AB12CD" not in prompts[0]
    if found.outcome == "plan":
        assert found.calls[0].arguments == {"reservation_id": "IJ56KL", "reason": "weather"}
        assert (found.filled, found.asked) == (2, 1)


async def test_references_in_schemas_are_followed_inside_and_never_outside() -> None:
    amount = {"$ref": "#/$defs/money"}
    inside = tool("pay", amount=amount)
    inside["function"]["parameters"]["$defs"] = {"money": {"type": "integer", "maximum": 100}}
    outside = tool("pay", amount={"$ref": "http://127.0.0.1:9/schema.json"})
    for declared, task, outcome in (
        (inside, "Pay 30 coins to the waiter", "key"),
        (inside, "Pay 300 coins to the waiter", "invalid-arguments"),
        (outside, "Pay 30 coins to the waiter", "invalid-arguments"),
        (
            {**inside, "function": {"name": "pay", "parameters": {"type": 7}}},
            "Pay 30 coins to the waiter",
            "invalid-arguments",
        ),
    ):
        plans = opened()
        await plans.record(finished("Pay 20 coins to the waiter", ("pay", {"amount": 20}, "ok")), tools=[declared])
        assert (await plans.lookup(asked(task), tools=[declared])).why == outcome


async def test_the_same_words_in_another_order_are_the_same_task() -> None:
    plans = opened()
    act = [tool("remind", who="string", when="string")]
    run = finished(
        "Remind Ann Lee on 3/5/2023 about the dentist", ("remind", {"who": "Ann Lee", "when": "3/5/2023"}, "ok")
    )
    await plans.record(run, tools=act)
    found = await plans.lookup(asked("On 4/6/2024 remind Bo Ray about the dentist"), tools=act)
    assert found.tier == "slots"
    assert found.calls[0].arguments == {"who": "Bo Ray", "when": "4/6/2024"}


async def test_a_failure_stops_a_new_template_and_an_old_one_survives_it_elsewhere() -> None:
    plans = await taught(ANN, BO)
    found = await plans.lookup(TASK, tools=TOOLS)
    before = found.p_success
    await plans.outcome(found, success=False)
    after = await plans.lookup(TASK, tools=TOOLS)
    assert (after.outcome, after.why) == ("miss", "below-target")
    assert after.p_success < before
    for _ in range(40):
        await plans.outcome(found.plan_id, success=True)
    template = plans.library.templates()[0]
    assert plans.predicted(template) > plans.terms.target
    # It failed at this kind of task: there it stays out.
    assert (await plans.lookup(TASK, tools=TOOLS)).why == "below-target"


async def test_only_success_makes_a_template_and_unknown_plans_have_no_outcome() -> None:
    plans = opened()
    assert await plans.record(ANN, tools=TOOLS, success=False) is None
    assert plans.library.templates() == []
    assert not await plans.outcome("0" * 16, success=True)
    assert not await plans.outcome("no id", success=True)


async def test_templates_age_expire_and_are_versioned() -> None:
    now = [1000.0]
    plans = await taught(ANN, BO, clock=lambda: now[0], terms=PlanTerms(life=100.0))
    [one] = plans.library.templates()
    assert (one.version, one.runs, one.expires) == (2, 2, 1100.0)
    now[0] = 1099.0
    found = await plans.lookup(TASK, tools=TOOLS)
    await plans.outcome(found, success=True)
    now[0] = 1150.0
    assert (await plans.lookup(TASK, tools=TOOLS)).outcome == "plan"
    now[0] = 1200.0
    assert (await plans.lookup(TASK, tools=TOOLS)).why == "expired"


async def test_a_plan_is_for_the_schemas_that_it_was_learned_with() -> None:
    plans = await taught(ANN)
    changed = [TOOLS[0], tool("cancel", reservation_id="string", reason="string", notify="boolean"), TOOLS[2]]
    arguments = {"reservation_id": "EF34GH", "reason": "x9", "notify": True}
    other = finished(
        "Cancel the first reservation of user bo_ray_2, please",
        ("find_user", {"user_id": "bo_ray_2"}, {"reservations": ["EF34GH"]}),
        ("cancel", arguments, "ok"),
    )
    await plans.record(other, tools=changed)
    old, new = plans.library.templates()
    # Another program of the same tenant may have the tool as it was.
    for tools, plan in ((TOOLS, old), (changed, new)):
        found = await plans.lookup(TASK, tools=tools)
        assert (found.outcome, found.plan_id) == ("plan", public_id(plan.id))
    assert (await plans.lookup(TASK, tools=changed[:2])).why == "cold"


async def test_workers_that_share_a_store_share_templates_and_deletions() -> None:
    store = MemoryPlans()
    mine, theirs = opened(store), opened(store)
    await mine.record(ANN, tools=TOOLS)
    await mine.record(BO, tools=TOOLS)
    assert (await theirs.lookup(TASK, tools=TOOLS)).why == "cold"
    assert await theirs.library.refresh() == 1
    assert (await theirs.lookup(LOOKED, tools=TOOLS)).outcome == "plan"
    gone = await mine.library.purge(None, tenant=None, agent=None, now=1000.0, dry_run=False)
    assert gone == ["0000000000000001"]
    await theirs.library.refresh()
    assert (await theirs.lookup(TASK, tools=TOOLS)).why == "cold"


async def test_an_edited_template_keeps_its_owner_and_nonsense_is_refused() -> None:
    plans = await taught(ANN, BO)
    [old] = plans.library.templates()
    shown = view(old)
    shown["steps"][1]["actions"][0]["arguments"]["reason"] = "by request"
    shown["tenant"] = "other"
    new = await plans.library.edit("0000000000000001", shown)
    assert (new.tenant, new.version) == ("default", old.version + 1)
    assert (await plans.lookup(LOOKED, tools=TOOLS)).calls[0].arguments["reason"] == "by request"
    with pytest.raises(InvalidArgument, match="0000000000000001"):
        await plans.library.edit("0000000000000001", {"steps": [{"actions": 3}]})
    with pytest.raises(InvalidArgument, match="no plan"):
        await plans.library.edit("0000000000000002", {})
    for nonsense in (
        {"judged": "yesterday"}, {"good": -1}, {"bad": float("nan")}, {"expires": None}, {"runs": []}, {"patterns": []},
        {"steps": []}, {"requires": [5]}, {"retired": "\ud800"},
    ):  # fmt: skip
        with pytest.raises(InvalidArgument, match="no plan template"):
            await plans.library.edit("0000000000000001", nonsense)
    strange = [{"tool": "find_user", "arguments": {"user_id": {"$slot": "whose"}}, "reads": True, "yields": "object"}]
    other = [{"tool": "rm", "arguments": {}, "reads": True, "yields": "object"}]
    for given, named in (
        ({"steps": [{"actions": strange, "text": None}]}, "slot 'whose'"),
        ({"steps": [{"actions": other, "text": None}]}, "tool 'rm'"),
        ({"slots": []}, "slot '"),
        ({"patterns": [["cancel", "it", ["gone", "name", 1, False]]]}, "slot 'gone'"),
    ):
        with pytest.raises(InvalidArgument, match=named):
            await plans.library.edit("0000000000000001", given)
    assert plans.library.templates() == [new]
    assert 0.0 < plans.library.predicted(new, 0.0) <= 1.0


async def test_a_template_survives_its_json() -> None:
    plans = await taught(ANN, BO, cancelling("dee_low_4", "MN78OP", reason="weather"))
    odd = tool("odd", data="object")
    await plans.record(
        finished(
            'Store the {$slot} of "A b" twice', ("odd", {"data": {"$slot": "A b", "x": ["go to A b", None]}}, "ok")
        ),
        tools=[odd],
    )
    for one in plans.library.templates():
        assert decode(encode(one)) == one
        assert decode(view(one)) == one


async def test_a_broken_library_is_a_reason_to_plan_and_never_an_error() -> None:
    plans = await taught(ANN, BO)
    template = plans.library.templates()[0]
    await plans.library.keep(replace(template, steps=template.steps[:0]))
    assert (await plans.lookup(TASK, tools=TOOLS)).why == "fault"
    assert (await plans.lookup([], tools=TOOLS)).why == "no-task"
    assert (await plans.lookup(TASK, tools=[{"name": object()}])).why == "unreadable"
    assert len(SALT) == 32


async def test_a_task_with_a_table_in_it_is_the_planners_and_costs_nothing_to_tell() -> None:
    plans = await taught(ANN, BO)
    table = "Cancel what stands in this table, please\n" + "12 34.50 2024-05-20\n" * 20_000
    assert (await plans.lookup(asked(table), tools=TOOLS)).why == "too-large"
    run = finished(table, ("find_user", {"user_id": "12"}, {"reservations": ["AB12CD"]}))
    assert await plans.record(run, tools=TOOLS) is None
    assert len(plans.library.templates()) == 1


async def test_a_step_whose_argument_was_put_together_from_the_task_is_followed() -> None:
    tools = [tool("note", text="string"), tool("close", user_id="string")]

    def run(user: str) -> list[dict[str, object]]:
        steps = [("note", {"text": f"Close account of {user}"}, "ok"), ("close", {"user_id": user}, "ok")]
        return finished(f"Close the account of {user}", *steps)

    plans = opened()
    await plans.record(run("ann_lee_1"), tools=tools)
    task = asked("Close the account of bo_ray_2")
    found = await plans.lookup(task, tools=tools)
    assert [one.arguments for one in found.calls] == [{"text": "Close account of bo_ray_2"}]
    made = called(("note", {"text": "Close account of bo_ray_2"}, "ok"))
    found = await plans.lookup([*task, *made], tools=tools)
    assert [(one.tool, one.arguments) for one in found.calls] == [("close", {"user_id": "bo_ray_2"})]
    other = called(("note", {"text": "Close account of cy_fox_3"}, "ok"))
    assert (await plans.lookup([*task, *other], tools=tools)).why == "off-plan"


async def test_a_small_model_is_told_what_the_schema_lists() -> None:
    prompts: list[str] = []

    async def small(prompt: str) -> str:
        prompts.append(prompt)
        return '{"why": "weather"}'

    tools = [tool("cancel", user_id="string", why={"type": "string", "enum": ["weather", "illness"]})]
    plans = opened(small=small)
    step = ("cancel", {"user_id": "ann_lee_1", "why": "illness"}, "ok")
    await plans.record(finished("Cancel the trip of user ann_lee_1", step), tools=tools)
    found = await plans.lookup(asked("Cancel the trip of user bo_ray_2"), tools=tools)
    assert [one.arguments for one in found.calls] == [{"user_id": "bo_ray_2", "why": "weather"}]
    assert '"one_of":["weather","illness"]' in prompts[0]


async def test_runs_that_leave_an_argument_out_are_another_plan() -> None:
    tools = [
        {"type": "function", "function": {"name": "book", "parameters": {"type": "object"}}},
        tool("find_user", user_id="string"),
    ]
    plans = opened()
    for user, more in (("ann_lee_1", {"seat": "aisle"}), ("bo_ray_2", {}), ("cy_fox_3", {"meal": "none"})):
        step = ("book", {"user_id": user, **more}, "ok")
        assert await plans.record(finished(f"Book a flight for user {user}", step), tools=tools) is not None
    assert len(plans.library.templates()) == 3


async def test_an_argument_of_which_the_task_speaks_by_its_name_is_a_name_still() -> None:
    tools = [tool("set_options", user="string", options={"type": "object", "properties": {"color": {}}})]
    step = ("set_options", {"user": "ann_lee_1", "options": {"color": "red"}}, "ok")
    plans = opened()
    run = finished('Set the color of user ann_lee_1 to "red"', step)
    assert await plans.record(run, tools=tools) is not None
    found = await plans.lookup(asked('Set the color of user bo_ray_2 to "dark blue"'), tools=tools)
    assert [one.arguments for one in found.calls] == [{"user": "bo_ray_2", "options": {"color": "dark blue"}}]
