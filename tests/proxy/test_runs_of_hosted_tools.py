"""What a plan cannot say is no part of one: tools that the provider runs, questions before the task, begun answers."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from semcache.dialects import dialects
from semcache.proxy.plan_service import PlanService, Unplanned
from semcache.types import Endpoint, Scope
from tests.agents.worlds import SALT, called, opened, tool

ORDER = {"type": "object", "properties": {"order_id": {"type": "string"}}, "required": ["order_id"]}
REFUND: dict[str, Any] = {"type": "function", "name": "refund", "parameters": ORDER}
FREE = {"type": "custom", "name": "fraud_check"}
MCP = {"type": "mcp", "server_label": "risk", "server_url": "https://risk", "require_approval": "never"}
SEARCH = {"type": "web_search_20250305", "name": "web_search"}


def read(endpoint: Endpoint, body: dict[str, Any], user: str | None = None, namespace: str = "") -> Any:
    found = dialects()[endpoint].read(json.dumps({"model": "m", **body}).encode())
    return replace(found, scope=Scope("t", user, namespace))


def responses(tools: list[Any], *items: Any) -> Any:
    body = {"instructions": "You refund.", "input": list(items), "tools": tools, "store": False}
    return read(Endpoint.RESPONSES, body)


def item(order: str) -> list[dict[str, Any]]:
    asked = {"type": "function_call", "call_id": "c", "name": "refund", "arguments": json.dumps({"order_id": order})}
    return [asked, {"type": "function_call_output", "call_id": "c", "output": '{"ok": true}'}]


def task(order: str) -> dict[str, Any]:
    return {"role": "user", "content": f"Refund order {order} please"}


async def served(service: PlanService, request: Any) -> str:
    found = await service.serve(dialects()[request.endpoint], request, [], "1")
    return found.found.why if isinstance(found, Unplanned) else "served"


DONE = json.dumps(
    {"output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Done."}]}]}
)
HOSTED = {
    "custom": (FREE, [{"type": "custom_tool_call", "call_id": "x", "name": "fraud_check", "input": "A-1001"}]),
    "mcp": (MCP, [{"type": "mcp_call", "id": "m", "server_label": "risk", "name": "check", "arguments": "{}"}]),
    "search": ({"type": "web_search"}, [{"type": "web_search_call", "id": "w", "status": "completed"}]),
}


def service_() -> PlanService:
    return PlanService(opened(), salt=SALT, clock=lambda: 1000.0)


@pytest.mark.parametrize("kind", HOSTED)
async def test_a_run_in_which_the_provider_ran_a_tool_is_not_learned_without_it(kind: str) -> None:
    hosted, made = HOSTED[kind]
    service, tools = service_(), [hosted, REFUND]
    for order in ("A-1001", "B-2002"):
        # In the request of a later turn.
        assert await service.learn(responses(tools, task(order), *made, *item(order)), [], DONE.encode()) is None
        # In an answer, which a client may leave out of its next request.
        both = json.dumps({"output": [*made, item(order)[0]]}).encode()
        await service.learn(responses(tools, task(order)), [], both)
        run = await service.learn(responses(tools, task(order), *item(order)), [], DONE.encode())
        became = await service.outcome(run or "", success=True, tenant="t")
        assert became is not None
        assert became.why == "unreadable"
    assert await served(service, responses(tools, task("C-3003"))) == "cold"


async def test_a_run_with_a_server_tool_of_anthropic_is_not_learned_without_it() -> None:
    service, tools = service_(), [SEARCH, {"name": "refund", "input_schema": ORDER}]

    def request(*turns: Any) -> Any:
        return read(
            Endpoint.MESSAGES, {"max_tokens": 9, "system": "You refund.", "messages": list(turns), "tools": tools}
        )

    for order in ("A-1001", "B-2002"):
        used = [
            {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": order}},
            {"type": "web_search_tool_result", "tool_use_id": "s", "content": []},
            {"type": "tool_use", "id": "c", "name": "refund", "input": {"order_id": order}},
        ]
        result = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "ok"}]}
        asked = request(task(order), {"role": "assistant", "content": used}, result)
        assert await service.learn(asked, [], b'{"content": [{"type": "text", "text": "Done."}]}') is None
    assert await served(service, request(task("C-3003"))) == "cold"


async def test_a_plan_is_not_served_to_a_request_with_another_hosted_tool() -> None:
    service = service_()
    for order in ("A-1001", "B-2002"):
        run = await service.learn(responses([REFUND], task(order), *item(order)), [], DONE.encode())
        assert await service.outcome(run or "", success=True, tenant="t")
    assert await served(service, responses([REFUND], task("C-3003"))) == "served"
    assert await served(service, responses([REFUND, MCP], task("C-3003"))) == "cold"
    assert await served(service, responses([REFUND, {"type": "web_search"}], task("C-3003"))) == "cold"


TOOLS = [tool(name, code="string", customer="string") for name in ("cancel_booking", "upgrade_booking")]


def conversation(question: str, code: str, who: str) -> list[dict[str, Any]]:
    told = {"role": "user", "content": f"Booking number {code} of customer {who}"}
    return [{"role": "system", "content": "You serve."}, {"role": "assistant", "content": question}, told]


async def test_a_plan_is_for_the_question_that_stood_before_its_task() -> None:
    plans, cancel = opened(), "Which booking shall I cancel?"
    for code, who in (("AB12CD", "Ann Lee"), ("EF34GH", "Bo Ray")):
        made = called(("cancel_booking", {"code": code, "customer": who}, "ok"))
        run = [*conversation(cancel, code, who), *made, {"role": "assistant", "content": "Cancelled."}]
        assert await plans.record(run, tools=TOOLS) is not None
    upgrade = conversation("Which booking shall I upgrade to first class?", "IJ56KL", "Cy Fox")
    assert (await plans.lookup(upgrade, tools=TOOLS)).why == "cold"
    assert (await plans.lookup(conversation(cancel, "IJ56KL", "Cy Fox"), tools=TOOLS)).outcome == "plan"


async def test_an_answer_that_was_begun_in_words_is_not_gone_on_with_in_calls() -> None:
    plans, cancel = opened(), "Which booking shall I cancel?"
    made = called(("cancel_booking", {"code": "AB12CD", "customer": "Ann Lee"}, "ok"))
    await plans.record(
        [*conversation(cancel, "AB12CD", "Ann Lee"), *made, {"role": "assistant", "content": "x"}], tools=TOOLS
    )
    asked = conversation(cancel, "IJ56KL", "Cy Fox")
    assert (await plans.lookup(asked, tools=TOOLS)).outcome == "plan"
    begun = [*asked, {"role": "assistant", "content": "I will not cancel this, because"}]
    assert (await plans.lookup(begun, tools=TOOLS)).why == "off-plan"


async def test_sessions_of_one_name_are_runs_of_their_own_for_each_user_and_namespace() -> None:
    service, session = service_(), [(b"x-semcache-session", b"s1")]

    def run(user: str | None, order: str, namespace: str = "") -> Any:
        messages = [task(order), *called(("cancel_booking", {"code": order, "customer": "Ann Lee"}, "ok"))]
        return read(Endpoint.CHAT, {"messages": messages, "tools": TOOLS}, user, namespace)

    answer = b'{"choices": [{"message": {"role": "assistant", "content": "Done."}}]}'
    ann = await service.learn(run("ann", "A-1001"), session, answer)
    bo = await service.learn(run("bo", "B-2002"), session, answer)
    other = await service.learn(run("ann", "C-3003", "other"), session, answer)
    assert len({ann, bo, other}) == 3
    assert ann == service.run_of(Scope("t", "ann"), "", "s1", [])
    assert await service.outcome(ann or "", success=True, tenant="t", user="bo") is None
    assert await service.outcome(ann or "", success=True, tenant="t", user="ann")
    assert [one.agent for one in service.plans.library.templates()] == ["/ann/"]
