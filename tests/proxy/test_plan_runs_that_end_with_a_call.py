"""Agents whose result is the argument of a last call, as that of structured output, get plans like others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from semcache.dialects import dialects
from semcache.proxy.plan_service import PlanReply, PlanService, Unplanned
from semcache.types import Endpoint
from tests.agents.worlds import SALT, asked, called, cancelling, opened
from tests.proxy.test_plan_service import PATHS, request, said

ANY: dict[Endpoint, Any] = {
    Endpoint.CHAT: "required",
    Endpoint.RESPONSES: "required",
    Endpoint.MESSAGES: {"type": "any"},
}


def calling(endpoint: Endpoint, name: str, **arguments: Any) -> bytes:
    """A model's answer that is one call."""
    if endpoint is Endpoint.MESSAGES:
        return json.dumps({"content": [{"type": "tool_use", "id": "t1", "name": name, "input": arguments}]}).encode()
    raw = json.dumps(arguments)
    if endpoint is Endpoint.RESPONSES:
        item = {"type": "function_call", "call_id": "t1", "name": name, "arguments": raw}
        return json.dumps({"output": [item]}).encode()
    call = {"id": "t1", "type": "function", "function": {"name": name, "arguments": raw}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return json.dumps({"choices": [{"message": message}]}).encode()


async def taught(endpoint: Endpoint, last: str, **given: Any) -> tuple[PlanService, list[str]]:
    """A service that has seen two runs end with a call of the tool `last`, and what the reports of both became."""
    service = PlanService(opened(), salt=SALT, clock=lambda: 1000.0, **given)
    became: list[str] = []
    for run in (cancelling("ann_lee_1", "AB12CD"), cancelling("bo_ray_2", "EF34GH")):
        asking = request(endpoint, run[:-1], tool_choice=ANY[endpoint])
        name = await service.learn(asking, [], calling(endpoint, last, text=f"{run[1]['content']}: done"))
        ended = await service.outcome(name or "", success=True, tenant="default")
        became.append(ended.why if ended is not None else "")
    return service, became


@pytest.mark.parametrize("endpoint", PATHS)
@pytest.mark.parametrize("last", ["final_answer", "final_result_Cancelled", "Cancelled"])
async def test_a_run_that_ends_with_a_call_becomes_a_plan_without_that_call(endpoint: Endpoint, last: str) -> None:
    service, became = await taught(endpoint, last)
    assert became == ["learned", "known"]
    task = asked("Cancel the first reservation of user cy_fox_3, please")
    found = called(("find_user", {"user_id": "cy_fox_3"}, {"reservations": ["IJ56KL"]}))
    done = called(("cancel", {"reservation_id": "IJ56KL", "reason": "change of plan"}, "ok"), start=1)
    dialect = dialects()[endpoint]
    for messages, name in ((task, "find_user"), ([*task, *found], "cancel")):
        served = await service.serve(dialect, request(endpoint, messages, tool_choice=ANY[endpoint]), [], "7")
        assert isinstance(served, PlanReply)
        assert f'"name":"{name}"' in served.payload.decode()
    end = request(endpoint, [*task, *found, *done], tool_choice=ANY[endpoint])
    left = await service.serve(dialect, end, [], "7")
    assert isinstance(left, Unplanned)
    assert left.found.why == "plan-done"


@pytest.mark.parametrize("last", ["final_answer", "final_result", "final_result_Cancelled"])
async def test_without_reports_the_names_of_libraries_tell_the_call_that_ends_a_run(last: str) -> None:
    service, became = await taught(Endpoint.CHAT, last, rule="finished")
    assert became == ["", ""]
    [template] = service.plans.library.templates()
    assert (template.runs, len(template.steps)) == (2, 2)


async def test_a_run_of_which_nothing_but_its_last_call_was_seen_becomes_no_plan() -> None:
    service = PlanService(opened(), salt=SALT, clock=lambda: 1000.0)
    asking = request(Endpoint.CHAT, asked("Cancel reservation AB12CD of user ann_lee_1"), tool_choice="required")
    run = await service.learn(asking, [], calling(Endpoint.CHAT, "final_answer", text="No."))
    became = await service.outcome(run or "", success=True, tenant="default")
    assert became is not None
    assert became.why == "no-steps"


async def test_a_run_that_might_have_ended_in_words_is_not_learned_without_its_last_call() -> None:
    service = PlanService(opened(), salt=SALT, clock=lambda: 1000.0)
    run = await service.learn(
        request(Endpoint.CHAT, cancelling("ann_lee_1", "AB12CD")[:-1]), [], calling(Endpoint.CHAT, "refund", order=1)
    )
    became = await service.outcome(run or "", success=True, tenant="default")
    assert became is not None
    assert became.why == "truncated"
    assert service.plans.library.templates() == []


async def test_a_call_that_is_none_ends_no_run() -> None:
    service = PlanService(opened(), salt=SALT, clock=lambda: 1000.0)
    odd = json.dumps({"choices": [{"message": {"role": "assistant", "tool_calls": [{"id": 1}]}}]}).encode()
    run = await service.learn(request(Endpoint.CHAT, asked("Cancel it")), [], odd)
    became = await service.outcome(run or "", success=True, tenant="default")
    assert became is not None
    assert service.plans.library.templates() == []


async def test_words_end_a_run_in_which_a_tool_had_to_be_called_as_ever() -> None:
    service = PlanService(opened(), salt=SALT, clock=lambda: 1000.0)
    asking = request(Endpoint.CHAT, cancelling("ann_lee_1", "AB12CD")[:-1], tool_choice="required")
    run = await service.learn(asking, [], said(Endpoint.CHAT, "Done."))
    became = await service.outcome(run or "", success=True, tenant="default")
    assert became is not None
    assert became.why == "learned"
