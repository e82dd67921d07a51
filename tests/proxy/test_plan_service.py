"""Behind the proxy an agent's finished run becomes a plan, which answers the next task in the client's own dialect."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI, Response

from semcache.dialects import dialects
from semcache.errors import RequestRejected
from semcache.proxy import plan_dialects
from semcache.proxy.auth import Authenticator, new_key
from semcache.proxy.plan_routes import plan_routes
from semcache.proxy.plan_service import PlanReply, PlanService, Unplanned
from semcache.types import Endpoint, Scope, public_id
from tests.agents.worlds import SALT, TOOLS, asked, called, cancelling, opened

ANN, BO = cancelling("ann_lee_1", "AB12CD"), cancelling("bo_ray_2", "EF34GH")
TASK = asked("Cancel the first reservation of user cy_fox_3, please")
CALLED = [*TASK, *called(("find_user", {"user_id": "cy_fox_3"}, {"reservations": ["IJ56KL"]}))]
PATHS = {Endpoint.CHAT: "chat", Endpoint.MESSAGES: "messages", Endpoint.RESPONSES: "responses"}


def body(endpoint: Endpoint, messages: list[dict[str, Any]], **fields: Any) -> dict[str, Any]:
    """A request of this dialect with this conversation."""
    if endpoint is Endpoint.CHAT:
        return {"model": "m", "messages": messages, "tools": TOOLS, **fields}
    flat = [{**one["function"], "annotations": one["annotations"]} for one in TOOLS]
    if endpoint is Endpoint.MESSAGES:
        tools = [{**one, "input_schema": one.pop("parameters")} for one in flat]
        turns = [blocks(one) for one in messages[1:]]
        return {
            "model": "m",
            "max_tokens": 9,
            "system": messages[0]["content"],
            "messages": turns,
            "tools": tools,
            **fields,
        }
    items = [item for one in messages[1:] for item in entries(one)]
    tools = [{"type": "function", **one} for one in flat]
    return {
        "model": "m",
        "instructions": messages[0]["content"],
        "input": items,
        "tools": tools,
        "store": False,
        **fields,
    }


def blocks(one: dict[str, Any]) -> dict[str, Any]:
    if one["role"] == "tool":
        return {
            "role": "user",
            "content": [{"type": "tool_result", "tool_use_id": one["tool_call_id"], "content": one["content"]}],
        }
    if not one.get("tool_calls"):
        return one
    uses = [
        {
            "type": "tool_use",
            "id": call["id"],
            "name": call["function"]["name"],
            "input": json.loads(call["function"]["arguments"]),
        }
        for call in one["tool_calls"]
    ]
    return {"role": "assistant", "content": uses}


def entries(one: dict[str, Any]) -> list[dict[str, Any]]:
    if one["role"] == "tool":
        return [{"type": "function_call_output", "call_id": one["tool_call_id"], "output": one["content"]}]
    if not one.get("tool_calls"):
        return [one]
    return [
        {
            "type": "function_call",
            "call_id": call["id"],
            "name": call["function"]["name"],
            "arguments": call["function"]["arguments"],
        }
        for call in one["tool_calls"]
    ]


def said(endpoint: Endpoint, text: str) -> bytes:
    """A model's last answer in this dialect."""
    if endpoint is Endpoint.CHAT:
        return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()
    if endpoint is Endpoint.MESSAGES:
        return json.dumps({"content": [{"type": "text", "text": text}]}).encode()
    message = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}
    return json.dumps({"output": [message]}).encode()


def request(endpoint: Endpoint, messages: list[dict[str, Any]], tenant: str = "default", **fields: Any):
    read = dialects()[endpoint].read(json.dumps(body(endpoint, messages, **fields)).encode())
    return replace(read, scope=Scope(tenant))


async def _why(service: PlanService, dialect: Any, asking: Any) -> str:
    """The reason that no plan answered this request for; "served" where one did."""
    served = await service.serve(dialect, asking, [], "8")
    return served.found.why if isinstance(served, Unplanned) else "served"


async def learned(endpoint: Endpoint, **given: Any) -> PlanService:
    """A service through which two runs have passed that ended well."""
    service = PlanService(opened(), salt=SALT, clock=lambda: 1000.0, **given)
    for run in (ANN, BO):
        name = await service.learn(request(endpoint, run[:-1]), [], said(endpoint, "Done."))
        if not given:
            assert service.plans.library.templates()[1:] == []
            assert await service.outcome(name, success=True, tenant="default")
            assert not await service.outcome(name, success=True, tenant="default")
    return service


@pytest.mark.parametrize("endpoint", PATHS)
@pytest.mark.parametrize("stream", [False, True])
async def test_a_plan_answers_in_the_dialect_of_the_client(endpoint: Endpoint, stream: bool) -> None:
    service, dialect = await learned(endpoint), dialects()[endpoint]
    for messages, expected in (
        (TASK, {"user_id": "cy_fox_3"}),
        (CALLED, {"reservation_id": "IJ56KL", "reason": "change of plan"}),
    ):
        served = await service.serve(dialect, request(endpoint, messages, stream=stream), [], "7")
        assert served is not None
        if stream:
            assembler = dialect.assembler()
            assembler.feed(served.payload)
            answer = assembler.finish()
        else:
            answer = dialect.parse(served.payload)
        assert (answer.complete, answer.tool_calls) == (True, True)
        spoken = plan_dialects.read_answer(endpoint, answer.body)
        assert spoken is not None
        [call] = spoken["tool_calls"]
        arguments = call["function"]["arguments"]
        assert (json.loads(arguments) if isinstance(arguments, str) else arguments) == expected
        assert (b"cache-status", b"semcache; hit; detail=plan") in served.headers
    assert await _why(service, dialect, request(endpoint, TASK, "other")) in ("cold", "stored-response")


@pytest.mark.parametrize(
    "fields",
    [{"tool_choice": "none"}, {"tool_choice": {"type": "function", "function": {"name": "refund"}}}, {"tools": []}],
)
async def test_who_leaves_no_choice_of_tools_is_not_answered_by_a_plan(fields: dict[str, Any]) -> None:
    service, dialect = await learned(Endpoint.CHAT), dialects()[Endpoint.CHAT]
    assert await _why(service, dialect, request(Endpoint.CHAT, TASK, **fields)) in ("tool-choice", "unreadable")


@pytest.mark.parametrize(
    ("endpoint", "fields"),
    [(Endpoint.CHAT, {"n": 2}), (Endpoint.MESSAGES, {"thinking": {"type": "enabled", "budget_tokens": 1024}})],
)
async def test_who_wants_an_answer_of_another_shape_is_not_answered_by_a_plan(
    endpoint: Endpoint, fields: dict[str, Any]
) -> None:
    """After a call without its thinking, the API refuses the conversation."""
    service, dialect = await learned(endpoint), dialects()[endpoint]
    assert isinstance(await service.serve(dialect, request(endpoint, TASK), [], "7"), PlanReply)
    assert await _why(service, dialect, request(endpoint, TASK, **fields)) == "tool-choice"


@pytest.mark.parametrize(
    ("endpoint", "fields"),
    [
        (Endpoint.CHAT, {"parallel_tool_calls": False}),
        (Endpoint.RESPONSES, {"parallel_tool_calls": False}),
        (Endpoint.MESSAGES, {"tool_choice": {"type": "auto", "disable_parallel_tool_use": True}}),
    ],
)
async def test_who_takes_one_call_at_a_time_is_not_sent_several(endpoint: Endpoint, fields: dict[str, Any]) -> None:
    def run(user: str, *reservations: str) -> list[dict[str, Any]]:
        task = asked(f"Cancel both reservations of user {user}, please")
        held = dict(zip(("out", "back"), reservations, strict=True))
        found = called(("find_user", {"user_id": user}, {"reservations": held}))
        done = [called(("cancel", {"reservation_id": one, "reason": "change of plan"}, "ok")) for one in reservations]
        for number, (turn, result) in enumerate(done):
            turn["tool_calls"][0]["id"] = result["tool_call_id"] = f"cancel_{number}"
        both = {**done[0][0], "tool_calls": [turn["tool_calls"][0] for turn, _ in done]}
        return [*task, *found, both, *(result for _, result in done)]

    service, dialect = PlanService(opened(), salt=SALT, clock=lambda: 1000.0), dialects()[endpoint]
    for one in (run("ann_lee_1", "AB12CD", "AB13CD"), run("bo_ray_2", "EF34GH", "EF35GH")):
        name = await service.learn(request(Endpoint.CHAT, one), [], said(Endpoint.CHAT, "Done."))
        assert await service.outcome(name, success=True, tenant="default")
    begun = run("cy_fox_3", "IJ56KL", "IJ57KL")[:4]
    served = await service.serve(dialect, request(endpoint, begun), [], "7")
    assert served is not None
    assert served.payload.count(b"change of plan") == 2
    assert await _why(service, dialect, request(endpoint, begun, **fields)) == "one-at-a-time"
    first = await service.serve(dialect, request(endpoint, begun[:2], **fields), [], "9")
    assert first is not None
    assert b"find_user" in first.payload


async def test_a_failed_run_is_a_negative_of_the_plan_that_it_was_served() -> None:
    service, dialect = await learned(Endpoint.CHAT), dialects()[Endpoint.CHAT]
    session = [(b"x-semcache-session", b"s1")]
    served = await service.serve(dialect, request(Endpoint.CHAT, TASK), session, "7")
    run = dict(served.headers)[b"x-semcache-run"].decode()
    assert run == service.run_of(Scope("default"), "", "s1", [])
    await service.learn(request(Endpoint.CHAT, CALLED), session, said(Endpoint.CHAT, "I could not."))
    assert not await service.outcome(run, success=False, tenant="other")
    assert await service.outcome(run, success=False, tenant="default")
    refused = await service.serve(dialect, request(Endpoint.CHAT, TASK), session, "8")
    assert isinstance(refused, Unplanned)
    assert refused.found.why == "below-target"


async def test_the_rule_may_take_every_whole_run_and_never_a_broken_one() -> None:
    service = await learned(Endpoint.CHAT, rule="finished")
    assert [one.runs for one in service.plans.library.templates()] == [2]
    broken = [*asked("Refund order 7 with 3 coins"), *called(("refund", {"order": 7, "amount": 3}, "Error: no"))]
    await service.learn(request(Endpoint.CHAT, broken), [], said(Endpoint.CHAT, "Sorry."))
    assert len(service.plans.library.templates()) == 1
    half = [
        *asked("Refund order 8 with 4 coins"),
        *called(("find_user", {"user_id": "cy_fox_3"}, {"name": "Cy"})),
        *called(("refund", {"order": 8, "amount": 4}, {"error": "gateway down"})),
    ]
    run = await service.learn(request(Endpoint.CHAT, half), [], said(Endpoint.CHAT, "Sorry."))
    assert len(service.plans.library.templates()) == 1
    assert await service.outcome(run or "", success=True, tenant="default")
    # A plan without the refund would be none for the next order.
    assert len(service.plans.library.templates()) == 1
    mended = [*half, *called(("refund", {"order": 8, "amount": 4}, {"refunded": 4}), start=2)]
    run = await service.learn(request(Endpoint.CHAT, mended), [], said(Endpoint.CHAT, "Refunded."))
    assert await service.outcome(run or "", success=True, tenant="default")
    assert len(service.plans.library.templates()) == 2


@pytest.mark.parametrize("endpoint", PATHS)
async def test_a_hint_is_put_into_the_system_prompt_and_nothing_else_changes(endpoint: Endpoint) -> None:
    service = await learned(endpoint)
    asking = request(endpoint, TASK, metadata={"a": 1.50})
    raw = await service.with_hint(asking, [])
    assert raw is not None
    new, old = json.loads(raw), json.loads(asking.raw)
    assert "1. call find_user(user_id)" in json.dumps(new)
    changed = {name for name in new if new[name] != old.get(name)}
    assert changed == {{Endpoint.CHAT: "messages", Endpoint.MESSAGES: "system"}.get(endpoint, "instructions")}


async def test_routes_keep_to_the_callers_tenant() -> None:
    service = await learned(Endpoint.CHAT)
    key, mine = new_key(lambda n: b"k" * n, 0.0, "default", "mine", SALT, trusted=True)
    other, theirs = new_key(lambda n: b"o" * n, 0.0, "other", "theirs", SALT, trusted=True)
    app = FastAPI()
    app.include_router(plan_routes(service, Authenticator([mine, theirs], SALT)))

    @app.exception_handler(RequestRejected)
    async def refused(_request: Any, error: RequestRejected) -> Response:
        return Response(error.message, error.status)

    transport = httpx2.ASGITransport(app=app)
    async with httpx2.AsyncClient(transport=transport, base_url="http://proxy") as client:

        async def call(method: str, path: str, plain: str = key, **sent: Any) -> httpx2.Response:
            return await client.request(method, f"/semcache/plans{path}", headers={"x-semcache-key": plain}, **sent)

        assert (await client.get("/semcache/plans")).status_code == 401
        [row] = (await call("GET", "")).json()
        assert (row["runs"], row["writes"]) == (2, ["cancel"])
        assert (await call("GET", "", other)).json() == []
        place = f"/{row['id']}"
        shown = (await call("GET", place)).json()
        shown["steps"][1]["actions"][0]["arguments"]["reason"] = "by request"
        assert (await call("PUT", place, other, json=shown)).status_code == 404
        assert (await call("PUT", place, json={"steps": 3})).status_code == 400
        assert (await call("PUT", place, json=shown)).json()["version"] == shown["version"] + 1
        said_so = {"plan": row["id"], "success": False}
        assert (await call("POST", "/outcome", other, json=said_so)).status_code == 404
        assert (await call("POST", "/outcome", json=said_so)).status_code == 200
        assert (await call("POST", "/outcome", json={"success": True})).status_code == 400
        assert (await call("GET", "")).json()[0]["success"] < row["success"]
        assert (await call("POST", "/purge", json={})).status_code == 400
        assert (await call("POST", "/purge", json={"tenant": "other"})).status_code == 403
        assert (await call("POST", "/purge", json={"tenant": "default"})).status_code == 400
        assert (await call("POST", "/purge", other, json={"everything": True})).json()["count"] == 0
        assert (await call("POST", "/purge", json={"ids": [row["id"]]})).json()["ids"] == [row["id"]]
        assert (await call("GET", place)).status_code == 404


@pytest.mark.parametrize("raw", [b"[]", b"{", b"{}", b'{"tools": [1], "messages": 3}', b'{"tools": [1], "input": [7]}'])
def test_what_is_no_conversation_is_none(raw: bytes) -> None:
    assert plan_dialects.conversation(Endpoint.MESSAGES, raw) is None
    assert plan_dialects.conversation(Endpoint.RESPONSES, raw) is None
    assert plan_dialects.read_answer(Endpoint.CHAT, raw) is None


async def test_the_outcome_of_a_run_says_what_it_became() -> None:
    service, chat = PlanService(opened(), salt=SALT, clock=lambda: 1000.0), dialects()[Endpoint.CHAT]

    async def ended(messages: list[dict[str, Any]], *, success: bool = True) -> str:
        run = await service.learn(request(Endpoint.CHAT, messages), [], said(Endpoint.CHAT, "Done."))
        became = await service.outcome(run or "", success=success, tenant="default")
        assert became is not None
        assert (became.plan_id is None) == (became.why not in ("learned", "known", "counted"))
        return became.why

    failing = [*asked("Refund order 8 with 4 coins"), *called(("refund", {"order": 8, "amount": 4}, "Error: no"))]
    vague = [*asked("AB12CD, please"), *called(("cancel", {"reservation_id": "AB12CD", "reason": "AB12CD"}, "ok"))]
    assert [await ended(one) for one in (ANN[:-1], BO[:-1], failing)] == ["learned", "known", "tool-error"]
    assert await ended(vague) == "vague"
    assert await ended(failing, success=False) == "failed"
    served = await service.serve(chat, request(Endpoint.CHAT, TASK), [], "7")
    assert isinstance(served, PlanReply)
    became = await service.outcome(dict(served.headers)[b"x-semcache-run"].decode(), success=True, tenant="default")
    assert became is not None
    assert (became.why, became.plan_id) == ("counted", public_id(service.plans.library.templates()[0].id))


CHOICES: dict[Endpoint, list[Any]] = {
    Endpoint.CHAT: ["none", {"type": "function", "function": {"name": "refund"}}],
    Endpoint.RESPONSES: [{"type": "function", "name": "refund"}],
    Endpoint.MESSAGES: [{"type": "tool", "name": "refund"}, {"type": "none"}],
}


@pytest.mark.parametrize(
    ("endpoint", "choice"), [(one, each) for one, some in CHOICES.items() for each in some], ids=str
)
async def test_a_run_in_which_the_client_chose_the_tool_is_no_plan_for_a_model_that_chooses(
    endpoint: Endpoint, choice: Any
) -> None:
    service = PlanService(opened(), salt=SALT, clock=lambda: 1000.0)
    called_first = json.dumps({"choices": [{"message": ANN[2]}]}).encode()
    first = called_first if endpoint is Endpoint.CHAT and choice != "none" else said(endpoint, "I look.")
    await service.learn(request(endpoint, ANN[:2], tool_choice=choice), [], first)
    run = await service.learn(request(endpoint, ANN[:-1]), [], said(endpoint, "Done."))
    became = await service.outcome(run or "", success=True, tenant="default")
    assert became is not None
    assert became.why == "tool-choice"
    assert service.plans.library.templates() == []


async def test_a_run_that_had_to_call_some_tool_and_then_none_is_a_plan() -> None:
    service = PlanService(opened(), salt=SALT, clock=lambda: 1000.0)
    called_first = json.dumps({"choices": [{"message": ANN[2]}]}).encode()
    await service.learn(request(Endpoint.CHAT, ANN[:2], tool_choice="required"), [], called_first)
    last = request(Endpoint.CHAT, ANN[:-1], tool_choice="none")
    run = await service.learn(last, [], said(Endpoint.CHAT, "Done."))
    became = await service.outcome(run or "", success=True, tenant="default")
    assert became is not None
    assert became.why == "learned"


@pytest.mark.parametrize("fields", [{"logprobs": True}, {"modalities": ["text", "audio"]}, {"n": 2}], ids=str)
async def test_what_no_plan_can_give_is_the_models_to_give(fields: dict[str, Any]) -> None:
    service, chat = await learned(Endpoint.CHAT), dialects()[Endpoint.CHAT]
    assert await _why(service, chat, request(Endpoint.CHAT, TASK)) == "served"
    assert await _why(service, chat, request(Endpoint.CHAT, TASK, **fields)) == "tool-choice"


ANSWERS = (
    ("Which plan is customer Ann Lee on?", "Ann Lee is on the Premium plan.", "Which plan is customer Bo Ray on?"),
    ("What is 15% of 80?", "15% of 80 is 12.", "What is 20% of 50?"),
    ("Summarize ticket INC-7", "I am sorry, I can not open INC-7 right now.", "Summarize ticket INC-8"),
)


@pytest.mark.parametrize("rule", ["explicit", "finished"])
@pytest.mark.parametrize(("task", "text", "other"), ANSWERS)
async def test_an_answer_to_one_task_is_no_answer_to_another(rule: Any, task: str, text: str, other: str) -> None:
    service, chat = PlanService(opened(), salt=SALT, clock=lambda: 1000.0, rule=rule), dialects()[Endpoint.CHAT]
    run = await service.learn(request(Endpoint.CHAT, asked(task)), [], said(Endpoint.CHAT, text))
    if rule == "explicit":
        became = await service.outcome(run or "", success=True, tenant="default")
        assert became is not None
        assert (became.why, became.plan_id) == ("no-steps", None)
    assert await _why(service, chat, request(Endpoint.CHAT, asked(other))) == "cold"
    # Nor where an agent has said that its lines are a plan: they are for whoever plans.
    told = [*asked(task), {"role": "assistant", "content": text}]
    assert await service.plans.record(told, tools=TOOLS, in_words=True) is not None
    assert await _why(service, chat, request(Endpoint.CHAT, asked(other))) == "in-words"


FORMATS: dict[Endpoint, dict[str, Any]] = {
    Endpoint.CHAT: {"response_format": {"type": "json_object"}},
    Endpoint.RESPONSES: {"text": {"format": {"type": "json_schema", "name": "x", "schema": {}}}},
    Endpoint.MESSAGES: {"output_config": {"format": {"type": "json_schema", "schema": {}}}},
}


@pytest.mark.parametrize("endpoint", PATHS)
async def test_calls_of_a_plan_are_served_in_any_format(endpoint: Endpoint) -> None:
    service, dialect = await learned(endpoint), dialects()[endpoint]
    assert await _why(service, dialect, request(endpoint, TASK, **FORMATS[endpoint])) == "served"
