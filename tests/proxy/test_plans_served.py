"""An agent behind the proxy: its first run is planned by the model, the next of its kind by the plan of the first.

The model is scripted: it looks the user of the task up, cancels the reservation it finds, and says so.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from semcache.dialects import dialects
from semcache.errors import StoreError
from semcache.protocols import Outbound
from semcache.proxy.application import Proxy
from semcache.types import Endpoint
from tests.agents.worlds import TOOLS, asked, called
from tests.proxy.driver import STREAM, Answer, Call, Clock, Received, Upstream, running
from tests.proxy.test_plan_service import body as request_body
from tests.waiting import settled

OUTCOME = "/semcache/plans/outcome"
BOOKED = {"ann_lee_1": "AB12CD", "bo_ray_2": "EF34GH", "cy_fox_3": "IJ56KL", "di_moe_4": "MN78OP"}


def task(user: str) -> str:
    return f"Cancel the first reservation of user {user}, please"


def plan(outbound: Outbound) -> Answer:
    """What the model says next."""
    body = json.loads(outbound.body)
    done = sum(one["role"] == "tool" for one in body["messages"])
    [user] = re.findall(r"\w+_\w+_\d", next(one["content"] for one in body["messages"] if one["role"] == "user"))
    steps = [("find_user", {"user_id": user}), ("cancel", {"reservation_id": BOOKED[user], "reason": "change of plan"})]
    message: dict[str, Any] = {"role": "assistant", "content": "Done."}
    if done < len(steps) and "Chat" not in str(body["messages"]):
        message = called((*steps[done], ""), start=done)[0]
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    usage = {"prompt_tokens": 50, "completion_tokens": 30, "total_tokens": 80}
    raw = json.dumps(
        {"id": "c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    ).encode()
    if body.get("stream"):
        return Answer(list(dialects()[Endpoint.CHAT].stream(raw, {})), headers=STREAM)
    return Answer([raw])


@dataclass
class World:
    """A proxy, the model behind it, and what tools were called with."""

    proxy: Proxy
    model: Upstream
    executed: list[tuple[str, Any]] = field(default_factory=list)

    async def ask(self, messages: list[dict[str, Any]], *, body: Any = None, **headers: str) -> Received:
        asking = {"model": "gpt-4o", "messages": messages, "tools": TOOLS, **(body or {})}
        return await Call(self.proxy, asking, **headers).reply()

    async def run(self, user: str, *, body: Any = None, **headers: str) -> list[Received]:
        """A whole run of the agent; every reply that it got."""
        messages, replies = asked(task(user)), []
        while True:
            reply = await self.ask(messages, body=body, **headers)
            replies.append(reply)
            if body and body.get("stream"):
                assembler = dialects()[Endpoint.CHAT].assembler()
                assembler.feed(reply.body)
                said = json.loads(assembler.finish().body)["choices"][0]["message"]
            else:
                said = reply.json["choices"][0]["message"]
            messages.append(said)
            if not said.get("tool_calls"):
                return replies
            for one in said["tool_calls"]:
                given = json.loads(one["function"]["arguments"])
                self.executed.append((one["function"]["name"], given))
                found = {"reservations": [BOOKED[user]]} if one["function"]["name"] == "find_user" else "ok"
                messages.append({"role": "tool", "tool_call_id": one["id"], "content": json.dumps(found)})

    async def outcome(self, *, path: str = OUTCOME, **body: Any) -> int:
        reply = await Call(self.proxy, body, path, content_type="application/json").reply()
        return reply.status

    async def learned(self, **headers: str) -> None:
        """Let two runs be a plan: what the task does not say, the reason, is taken for fixed when it comes again."""
        for user in ("ann_lee_1", "di_moe_4"):
            replies = await self.run(user, **headers)
            assert await self.outcome(run=replies[-1].header("x-semcache-run"), success=True) == 200


@asynccontextmanager
async def world(folder: Path, answer: Callable[[Outbound], Any] = plan, mode: str = "answer", **settings: Any):
    model = Upstream(answer)
    async with running(model, folder, plans__mode=mode, **settings) as proxy:
        yield World(proxy, model)


def details(replies: list[Received]) -> list[str]:
    return [reply.cache["detail"] for reply in replies]


@pytest.mark.parametrize("body", [{}, {"stream": True}], ids=["whole", "stream"])
async def test_a_task_of_a_known_kind_is_planned_without_the_model(tmp_path: Path, body: Any) -> None:
    async with world(tmp_path) as here:
        first = await here.run("ann_lee_1", body=body)
        [run] = {reply.header("x-semcache-run") for reply in first}
        assert (len(here.model.calls), "plan" in details(first)) == (3, False)
        assert await here.outcome(run=run, success=True) == 200
        # The reason stands nowhere in the task: the model has to say it, until a second run has said the same.
        second = await here.run("di_moe_4", body=body)
        assert [detail == "plan" for detail in details(second)] == [True, False, False]
        assert second[0].header("x-semcache-run") == second[2].header("x-semcache-run") != run
        assert await here.outcome(run=second[0].header("x-semcache-run"), success=True) == 200
        third = await here.run("cy_fox_3", body=body)
        assert [detail == "plan" for detail in details(third)] == [True, True, False]
        assert len(here.model.calls) == 3 + 2 + 1
        # The write is executed anew, with what belongs to the new task alone.
        assert here.executed[4:] == [
            ("find_user", {"user_id": "cy_fox_3"}),
            ("cancel", {"reservation_id": "IJ56KL", "reason": "change of plan"}),
        ]
        assert third[0].header("x-request-id")
        assert third[0].header("age") is None


async def test_what_a_plan_answered_is_counted_as_a_plan(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        await here.learned()
        await here.run("cy_fox_3")
        metrics = (await Call(here.proxy, path="/metrics", method="GET").reply()).body.decode()
        assert re.search(r'semcache_requests_total\{.*outcome="plan",why="plan"\} 3\.0', metrics)
        assert 'semcache_plan_lookups_total{why="key"} 3.0' in metrics
        assert 'semcache_plan_lookups_total{why="open-slot"} 1.0' in metrics
        assert 'semcache_plan_lookups_total{why="plan-done"} 2.0' in metrics
        # Three turns of the first run took ninety tokens; three such turns were spared since.
        assert 'semcache_saved_tokens_total{kind="completion"} 90.0' in metrics
        stats = await here.proxy.cache.stats()
        assert (stats["total"]["requests"], stats["total"]["saved_tokens"]) == (9, 90)


async def test_without_an_outcome_nothing_is_learned_and_the_rule_may_say_otherwise(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        await here.run("ann_lee_1")
        assert "plan" not in details(await here.run("cy_fox_3"))
    async with world(tmp_path, plans__rule="finished") as here:
        for user in ("ann_lee_1", "di_moe_4"):
            await here.run(user)
            await here.proxy.generation.plans.close()
        assert details(await here.run("cy_fox_3"))[:2] == ["plan", "plan"]


async def test_a_plan_that_failed_is_not_served_to_such_a_task_again(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        await here.learned()
        session = {"x_semcache_session": "s1"}
        assert details(await here.run("cy_fox_3", **session))[0] == "plan"
        assert await here.outcome(session="s1", success=False) == 200
        assert "plan" not in details(await here.run("bo_ray_2"))


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        ({"x_semcache_agent": "other"}, {}),
        ({"x_semcache_namespace": "other"}, {}),
        ({"cache_control": "no-cache"}, {}),
        ({"x_semcache_max_error": "0.01"}, {}),
        ({"x_semcache_category": "disabled"}, {}),
        ({}, {"tools": TOOLS[:2]}),
        ({}, {"tool_choice": "none"}),
        ({}, {"temperature": 2.0}),
    ],
    ids=str,
)
async def test_who_is_another_or_asks_for_more_is_not_answered_by_a_plan(
    tmp_path: Path, headers: dict[str, str], body: dict[str, Any]
) -> None:
    async with world(tmp_path) as here:
        await here.learned()
        assert (await here.ask(asked(task("cy_fox_3")))).cache["detail"] == "plan"
        refused = await here.ask(asked(task("bo_ray_2")), body=body, **headers)
        assert refused.status == 200
        assert refused.cache["detail"] != "plan"


async def test_only_if_cached_takes_a_plan_and_has_no_model_asked(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        await here.learned()
        calls = len(here.model.calls)
        cached = {"cache_control": "only-if-cached"}
        assert (await here.ask(asked(task("cy_fox_3")), **cached)).cache["detail"] == "plan"
        assert (await here.ask(asked("Refund order 7, please"), **cached)).status == 504
        assert len(here.model.calls) == calls


async def test_a_reply_without_a_plan_says_why_and_of_which_argument(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        assert (await here.ask(asked(task("ann_lee_1")))).header("x-semcache-plan-why") == "cold"
        await here.outcome(run=(await here.run("ann_lee_1"))[0].header("x-semcache-run"), success=True)
        first, second, last = await here.run("cy_fox_3")
        assert [one.header("x-semcache-plan-why") for one in (second, last)] == [
            "open-slot; cancel.reason",
            "plan-done",
        ]
        assert first.header("x-semcache-plan-why") is None
        forced = await here.ask(asked(task("di_moe_4")), body={"tool_choice": "none"})
        assert forced.header("x-semcache-plan-why") == "tool-choice"


async def test_an_equal_run_that_plans_carried_out_ends_with_the_stored_answer(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        await here.learned()
        assert details(await here.run("cy_fox_3"))[:2] == ["plan", "plan"]
        calls = len(here.model.calls)
        assert details(await here.run("cy_fox_3")) == ["plan", "plan", "exact"]
        assert len(here.model.calls) == calls


async def test_a_run_that_the_cache_answered_has_an_outcome_too(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        for _ in range(2):
            replies = await here.run("ann_lee_1")
            assert await here.outcome(run=replies[-1].header("x-semcache-run"), success=True) == 200
            assert len({reply.header("x-semcache-run") for reply in replies}) == 1
        assert details(replies)[0] == "exact"


@pytest.mark.parametrize("endpoint", [Endpoint.RESPONSES, Endpoint.MESSAGES])
async def test_a_plan_answers_every_dialect_unless_the_provider_is_to_keep_the_answer(
    tmp_path: Path, endpoint: Endpoint
) -> None:
    path = dialects()[endpoint].path
    async with world(tmp_path) as here:
        await here.learned()
        asking = request_body(endpoint, asked(task("cy_fox_3")))
        served = await Call(here.proxy, asking, path).reply()
        assert served.cache["detail"] == "plan"
        assert b"cy_fox_3" in served.body
        asking.pop("store", None)
        kept = await Call(here.proxy, asking, path, cache_control="only-if-cached").reply()
        assert kept.status == (504 if endpoint is Endpoint.RESPONSES else 200)


async def test_as_a_hint_the_plan_goes_to_the_model_in_its_system_prompt(tmp_path: Path) -> None:
    async with world(tmp_path, mode="hint") as here:
        await here.learned()
        replies = await here.run("cy_fox_3")
        assert "plan" not in details(replies)
        sent = json.loads(here.model.calls[3].body)
        assert [one["role"] for one in sent["messages"]] == ["system", "system", "user"]
        assert "1. call find_user(user_id)" in sent["messages"][1]["content"]
        assert "ann_lee_1" not in here.model.calls[3].body.decode()
        assert replies[0].header("x-semcache-run")


async def test_requests_without_tools_never_meet_the_plans(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        await here.learned()

        async def never(*_: Any, **__: Any) -> Any:
            raise AssertionError("plans were asked")

        here.proxy.generation.plans.serve = here.proxy.generation.plans.learn = never
        reply = await here.ask([{"role": "user", "content": f"Chat: {task('bo_ray_2')}"}], body={"tools": []})
        assert (reply.status, reply.header("x-semcache-run")) == (200, None)
        assert here.proxy.cache.meter.faults.labels("plans")._value.get() == 0


@pytest.mark.parametrize("broken", ["run", "serve", "with_hint", "learn"])
@pytest.mark.parametrize("mode", ["answer", "hint"])
async def test_a_fault_of_the_plans_only_forwards(tmp_path: Path, broken: str, mode: str) -> None:
    async with world(tmp_path, mode=mode) as here:
        await here.learned()

        def fault(*_: Any, **__: Any) -> Any:
            raise KeyError("a fault")

        setattr(here.proxy.generation.plans, broken, fault)
        replies = await here.run("cy_fox_3")
        assert [reply.status for reply in replies] == [200, 200, 200]
        assert replies[-1].json["choices"][0]["message"]["content"] == "Done."


@pytest.mark.parametrize(("mode", "part"), [("answer", "serve"), ("hint", "with_hint")])
async def test_plans_that_do_not_come_back_are_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, part: str
) -> None:
    monkeypatch.setattr("semcache.proxy.plan_turn._PATIENCE", 0.01)
    async with world(tmp_path, mode=mode) as here:

        async def hang(*_: Any) -> Any:
            await asyncio.Event().wait()

        setattr(here.proxy.generation.plans, part, hang)
        assert (await here.ask(asked(task("cy_fox_3")))).status == 200
        assert here.proxy.cache.meter.faults.labels("plans")._value.get() == 1


async def test_an_outcome_that_comes_before_the_end_of_its_run_waits_for_it(tmp_path: Path) -> None:
    end = asyncio.Event()

    def slow(outbound: Outbound) -> Answer:
        answer = plan(outbound)
        return (
            answer if len(answer.pieces) == 1 else Answer([*answer.pieces[:-1], end, answer.pieces[-1]], headers=STREAM)
        )

    async with world(tmp_path, slow) as here:
        messages = [*asked(task("ann_lee_1")), *called(
            ("find_user", {"user_id": "ann_lee_1"}, {"reservations": ["AB12CD"]}),
            ("cancel", {"reservation_id": "AB12CD", "reason": "change of plan"}, "ok"),
        )]  # fmt: skip
        asking = {"model": "m", "messages": messages, "tools": TOOLS, "stream": True}
        call = Call(here.proxy, asking, x_semcache_session="s1")
        assert (await call.message() or {})["status"] == 200
        outcome = asyncio.create_task(here.outcome(session="s1", success=True))
        await settled()
        assert not outcome.done()
        end.set()
        assert await outcome == 200
        await call.task
        assert (await here.ask(asked(task("cy_fox_3")))).cache["detail"] == "plan"


async def test_an_outcome_that_the_store_could_not_take_can_be_said_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with world(tmp_path) as here:
        run = (await here.run("ann_lee_1"))[-1].header("x-semcache-run")
        library = here.proxy.cache.plans.library

        async def down(_: Any) -> None:
            raise StoreError("the store is down")

        with monkeypatch.context() as patch:
            patch.setattr(library, "keep", down)
            assert await here.outcome(run=run, success=True) == 503
        assert await here.outcome(run=run, success=True) == 200
        assert await here.outcome(run=run, success=True) == 404


async def test_runs_that_wait_for_their_outcome_are_bounded_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("semcache.proxy.pending_runs.BYTES", 100_000)
    async with world(tmp_path) as here:
        for number in range(30):
            await here.ask(asked(task("bo_ray_2"), system="You help. " + "x" * 10_000 + str(number)))
        service = here.proxy.generation.plans
        assert 0 < service.pending.size <= 100_000
        assert len(service.pending) < 30


async def test_expired_plans_leave_the_store_and_the_memory(tmp_path: Path) -> None:
    clock = Clock()
    async with world(tmp_path, clock=clock, plans__life="1000", store__url=f"sqlite:///{tmp_path}/s.db") as here:
        await here.learned()
        (*_, sweep), library = here.proxy.cache.components.maintenance._sweepers, here.proxy.cache.plans.library
        clock.now += 2000.0
        await sweep(clock.now)
        assert len(library.templates()) == 1, "one that has just expired may still have a run under way"
        clock.now += 4000.0
        await sweep(clock.now)
        assert library.templates() == []


async def test_what_one_worker_learned_another_serves(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/shared.db"
    async with world(tmp_path, store__url=store) as one, world(tmp_path, store__url=store) as two:
        await one.learned()
        await two.proxy.cache.catch_up()
        assert (await two.ask(asked(task("cy_fox_3")))).cache["detail"] == "plan"


async def test_an_outcome_that_reaches_another_worker_is_heard_by_the_one_that_knows_the_run(tmp_path: Path) -> None:
    shared = {"store__url": f"sqlite:///{tmp_path}/shared.db", "server__workers": 2}
    async with world(tmp_path, **shared) as one, world(tmp_path, **shared) as two:
        for user in ("ann_lee_1", "di_moe_4"):
            run = (await one.run(user))[-1].header("x-semcache-run")
            assert await two.outcome(run=run, success=True) == 200
            await one.proxy.cache.catch_up()
            await one.proxy.generation.plans.close()
        await two.proxy.cache.catch_up()
        assert (await two.ask(asked(task("cy_fox_3")))).cache["detail"] == "plan"
        # Who says that it failed is heard as well, and once: the last worker knows a part of this run, too.
        run = (await one.run("cy_fox_3"))[-1].header("x-semcache-run")
        assert await two.outcome(run=run, success=False) == 200
        for _ in range(2):
            await one.proxy.cache.catch_up()
            await one.proxy.generation.plans.close()
        [template] = one.proxy.cache.plans.library.templates()
        assert template.bad == pytest.approx(1.0)


async def test_another_tenants_word_on_a_run_counts_for_nothing(tmp_path: Path) -> None:
    shared = {"store__url": f"sqlite:///{tmp_path}/shared.db", "server__workers": 2}
    async with world(tmp_path, **shared) as one, world(tmp_path, **shared) as two:
        run = (await one.run("ann_lee_1"))[-1].header("x-semcache-run")
        assert await two.proxy.generation.plans.outcome(run, success=True, tenant="stranger")
        assert await two.outcome(run="no run", success=True) == 404
        await one.proxy.cache.catch_up()
        await one.proxy.generation.plans.close()
        assert one.proxy.cache.plans.library.templates() == []


async def test_without_a_mode_there_are_no_plans(tmp_path: Path) -> None:
    async with world(tmp_path, mode="off") as here:
        replies = await here.run("ann_lee_1")
        assert {reply.header("x-semcache-run") for reply in replies} == {None}
        assert await here.outcome(session="s", success=True) == 404
