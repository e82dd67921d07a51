"""An agent behind the proxy with a scripted large and a scripted small model: who is asked what, and what that costs.

The task names a user; the reason of a cancellation stands nowhere but in the user's own words, so that the second step
of the plan has an open slot, which the small model fills once it is certified to; so it has the last word.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from semcache.dialects import dialects
from semcache.errors import ConfigError, UpstreamError
from semcache.protocols import Outbound
from semcache.proxy.application import Proxy
from semcache.types import Endpoint
from tests.agents.worlds import TOOLS, asked, called
from tests.proxy.driver import STREAM, Answer, Call, Received, Upstream, running

PACK = """
name: small plans
defaults: {strategy: static, threshold: 0.999, wording: off}
models:
  large: {prompt: 20, completion: 20}
  small: {prompt: 1, completion: 1}
  dear: {prompt: 30, completion: 30}
"""
USAGE = {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150}
PRICES = {"large": 20, "small": 1, "dear": 30}
REASONS = {"no longer needed": "cancelled trip", "a storm": "weather"}


def task(number: int) -> str:
    why = list(REASONS)[number % 2]
    return f"Cancel the first reservation of user ann_lee_{number}, please, because of {why}"


def reason_of(text: str) -> str:
    return next(reason for word, reason in REASONS.items() if word in text)


def reply(body: Any, message: Any) -> Answer:
    reason = "tool_calls" if message.get("tool_calls") else "stop"
    choice = {"index": 0, "message": message, "finish_reason": reason}
    made = {
        "id": "c", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [choice],
        "usage": USAGE,
    }  # fmt: skip
    raw = json.dumps(made).encode()
    if body.get("stream"):
        return Answer(list(dialects()[Endpoint.CHAT].stream(raw, {})), headers=STREAM)
    return Answer([raw])


def models(outbound: Outbound, *, wrong: bool = False) -> Answer:
    """The large model plans and says what was done; the small one fills in and says the same, or is `wrong`."""
    body = json.loads(outbound.body)
    text = body["messages"][-1]["content"] or ""
    if text.startswith("Fill in the missing values"):
        names = re.findall(r'"(\w+)":\{"for"', text)
        value = "nonsense" if wrong else reason_of(text)
        return reply(body, {"role": "assistant", "content": json.dumps(dict.fromkeys(names, value))})
    said = next(one["content"] for one in body["messages"] if one["role"] == "user")
    user = re.findall(r"ann_lee_\d+", said)[0]
    done = sum(one["role"] == "tool" for one in body["messages"])
    cancel = {"reservation_id": f"R{user}", "reason": reason_of(said)}
    if done < 2:
        step = [("find_user", {"user_id": user}), ("cancel", cancel)][done]
        return reply(body, called((*step, ""), start=done)[0])
    last = "Who knows." if wrong and body["model"] == "small" else f"Cancelled for {user}."
    return reply(body, {"role": "assistant", "content": last})


class World:
    """A proxy with plans and a small model, and the two models behind it."""

    def __init__(self, proxy: Proxy, upstream: Upstream) -> None:
        self.proxy, self.upstream, self.runs, self.executed = proxy, upstream, 0, []

    async def ask(self, messages: list[Any], *, model: str = "large", body: Any = None, **headers: str) -> Received:
        asking = {"model": model, "messages": messages, "tools": TOOLS, **(body or {})}
        return await Call(self.proxy, asking, **headers).reply()

    async def run(self, *, body: Any = None, judged: bool = True, **given: str) -> list[Received]:
        """One run of the agent and, if it is judged, its outcome; every reply that it got."""
        self.runs += 1
        messages, replies = asked(task(self.runs)), []
        while True:
            got = await self.ask(messages, body=body, **given)
            replies.append(got)
            if body and body.get("stream"):
                assembler = dialects()[Endpoint.CHAT].assembler()
                assembler.feed(got.body)
                said = json.loads(assembler.finish().body)["choices"][0]["message"]
            else:
                said = got.json["choices"][0]["message"]
            messages.append(said)
            if not said.get("tool_calls"):
                break
            for one in said["tool_calls"]:
                arguments = json.loads(one["function"]["arguments"])
                self.executed.append(arguments)
                result = {"reservations": [f"R{arguments['user_id']}"]} if "user_id" in arguments else "ok"
                messages.append({"role": "tool", "tool_call_id": one["id"], "content": json.dumps(result)})
        right = [("reason", reason_of(task(self.runs)))] if self.executed[-1].get("reason") else []
        assert all(self.executed[-1][name] == value for name, value in right)
        if judged:
            outcome = {"run": replies[-1].header("x-semcache-run"), "success": True}
            await Call(self.proxy, outcome, "/semcache/plans/outcome", content_type="application/json").reply()
        if self.proxy.generation.small_plans is not None:
            await self.proxy.generation.small_plans.background.settle()
        return replies

    async def certified(self) -> World:
        for _ in range(160):
            await self.run()
            standing = self.service.planner.standing()
            if all(standing[work]["state"] == "open" for work in ("slots", "last-word")):
                return self
        raise AssertionError(self.service.standing())

    @property
    def service(self) -> Any:
        assert self.proxy.generation.small_plans is not None
        return self.proxy.generation.small_plans.service

    def bill(self, since: int = 0) -> dict[str, float]:
        names = [json.loads(call.body)["model"] for call in self.upstream.calls[since:]]
        return {name: names.count(name) * 150 * PRICES[name] / 1e6 for name in sorted(set(names))}


@asynccontextmanager
async def world(folder: Path, answer: Callable[[Outbound], Any] = models, **settings: Any) -> AsyncIterator[World]:
    chosen = {"plans__mode": "answer", "plans__small__model": "small", "cache__judge": "exact", "cache__seed": 1}
    upstream = Upstream(answer)
    folder.mkdir(exist_ok=True)
    given = {name: value for name, value in {**chosen, **settings}.items() if value is not None}
    async with running(upstream, folder, pack=PACK, **given) as proxy:
        yield World(proxy, upstream)


def details(replies: list[Received]) -> list[str]:
    return [one.header("cache-status") or "" for one in replies]


PLANNED = ["semcache; hit; detail=plan", "semcache; hit; detail=plan", "semcache; fwd=miss; detail=plan"]


async def test_the_bill_before_and_after(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with world(tmp_path / "before", plans__small__model=None) as here:
        for _ in range(4):
            await here.run()
        since = len(here.upstream.calls)
        for _ in range(20):
            await here.run()
        before = here.bill(since)
    async with world(tmp_path / "after") as here:
        await here.certified()
        since, stats = len(here.upstream.calls), await here.proxy.cache.stats()
        for _ in range(20):
            assert details(await here.run()) == PLANNED
        after, stats_after = here.bill(since), await here.proxy.cache.stats()
    with capsys.disabled():
        print(f"\n20 runs of a known kind, US dollars: before {before}, after {after}")
    # Before, the large model was asked for the open slot and for the last word of each run.
    assert before == {"large": pytest.approx(2 * 20 * 0.003)}
    assert after["small"] >= 2 * 20 * 0.00015
    assert sum(after.values()) < 0.35 * sum(before.values())
    rows = [one["outcomes"]["total"] for one in (stats, stats_after)]
    assert rows[1]["spent_usd"] - rows[0]["spent_usd"] == pytest.approx(sum(after.values()))
    assert rows[1]["always_usd"] - rows[0]["always_usd"] >= 20 * 0.003
    assert stats_after["plans"]["slots"]["state"] == "open"


async def test_until_it_is_certified_the_large_model_plans_and_the_small_one_is_compared(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        for _ in range(20):
            assert "semcache; fwd=miss; detail=plan" not in details(await here.run())
        standing = here.service.planner.standing()
        assert {one["state"] for one in standing.values()} == {"learning"}
        assert all(standing[work]["comparisons"] > 10 for work in ("slots", "last-word"))
        assert not any(one["worse"] for one in standing.values())


async def test_a_small_model_that_errs_is_never_served(tmp_path: Path) -> None:
    async with world(tmp_path, lambda one: models(one, wrong=json.loads(one.body)["model"] == "small")) as here:
        for _ in range(90):
            assert "semcache; fwd=miss; detail=plan" not in details(await here.run())
        standing = here.service.planner.standing()
        assert all(one["worse"] == one["comparisons"] or one["state"] != "open" for one in standing.values())
        assert not here.service.planner.may("slots")


async def test_a_certified_small_model_fills_in_and_has_the_last_word(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        await here.certified()
        for body in ({}, {"stream": True}):
            replies = await here.run(body=body)
            assert details(replies) == PLANNED, body
            assert f"Cancelled for ann_lee_{here.runs}." in replies[-1].body.decode()
            reservation = f"Rann_lee_{here.runs}"
            assert here.executed[-1] == {"reservation_id": reservation, "reason": reason_of(task(here.runs))}
            assert len({one.header("x-semcache-run") for one in replies}) == 1


async def unplanned(here: World, runs: int = 60) -> World:
    """Run tasks that nobody judges, so that there never is a plan."""
    for _ in range(runs):
        await here.run(judged=False)
    return here


@pytest.mark.parametrize("body", [{}, {"stream": True}], ids=["whole", "stream"])
async def test_a_run_without_a_plan_is_ended_by_a_small_model_that_is_certified_for_that(
    tmp_path: Path, body: Any
) -> None:
    async with world(tmp_path) as here:
        await unplanned(here)
        assert here.service.planner.standing()["ending"]["state"] == "open"
        since = len(here.upstream.calls)
        replies = await here.run(body=body, judged=False)
        assert [one.endswith("detail=plan") for one in details(replies)] == [False, False, True]
        assert details(replies)[2] == PLANNED[2]
        assert f"Cancelled for ann_lee_{here.runs}." in replies[-1].body.decode()
        names = [json.loads(call.body)["model"] for call in here.upstream.calls[since:]]
        assert names[:4] == ["large", "small", "large", "small"], "asked after a step, the small one had more to do"
        # Such a run becomes a plan like any other, for the next task of its wording, which is the next but one.
        outcome = {"run": replies[-1].header("x-semcache-run"), "success": True}
        await Call(here.proxy, outcome, "/semcache/plans/outcome", content_type="application/json").reply()
        await here.run(judged=False)
        assert details(await here.run(judged=False))[0] == PLANNED[0]


async def test_a_small_model_that_ends_runs_too_early_never_does_so(tmp_path: Path) -> None:
    def early(outbound: Outbound) -> Answer:
        body = json.loads(outbound.body)
        if body["model"] == "small" and body["messages"][-1]["role"] == "tool":
            return reply(body, {"role": "assistant", "content": "Cancelled for ann_lee_1."})
        return models(outbound)

    async with world(tmp_path, early) as here:
        await unplanned(here)
        standing = here.service.planner.standing()["ending"]
        assert standing["state"] != "open"
        assert PLANNED[2] not in details(await here.run(judged=False))


async def test_a_small_model_that_never_ends_a_run_is_soon_asked_no_more(tmp_path: Path) -> None:
    def endless(outbound: Outbound) -> Answer:
        body = json.loads(outbound.body)
        if body["model"] == "small":
            return reply(body, called(("find_user", {"user_id": "x"}, ""))[0])
        return models(outbound)

    async with world(tmp_path, endless) as here:
        await unplanned(here)
        asked_for = [json.loads(call.body)["model"] for call in here.upstream.calls].count("small")
        # At a twentieth of the price it may go on twenty times for one end; the other calls are of last words.
        assert 20 <= asked_for <= 2 * 60


async def test_who_asks_for_more_or_pays_no_more_is_not_answered_by_the_small_model(tmp_path: Path) -> None:
    cases: list[tuple[str, Any, dict[str, str]]] = [
        ("small", {}, {}),
        ("unpriced", {}, {}),
        ("large", {}, {"cache_control": "no-cache"}),
        ("large", {}, {"x_semcache_max_error": "0.05"}),
        ("large", {"tool_choice": "required"}, {}),
    ]
    async with world(tmp_path) as here:
        await here.certified()
        for number, (model, body, headers) in enumerate(cases, 1001):
            messages = asked(task(number))
            since = len(here.upstream.calls)
            await here.ask(messages, model=model, body=body, **headers)
            user = f"ann_lee_{number}"
            messages += called(("find_user", {"user_id": user}, {"reservations": [f"R{user}"]}))
            reply = await here.ask(messages, model=model, body=body, **headers)
            names = {json.loads(call.body)["model"] for call in here.upstream.calls[since:]}
            assert names == {model}, (model, body, headers)
            assert "tool_calls" in reply.body.decode()


@pytest.mark.parametrize("fault", ["error", "status", "garbage", "calls"])
async def test_what_the_small_model_does_not_do_the_large_one_does(tmp_path: Path, fault: str) -> None:
    broken: list[bool] = []

    def answer(outbound: Outbound) -> Answer | Exception:
        body = json.loads(outbound.body)
        if broken and body["model"] == "small":
            if fault == "error":
                return UpstreamError("down")
            if fault == "status":
                return Answer([b'{"error": {"message": "no"}}'], status=429)
            if fault == "calls":
                return reply(body, called(("find_user", {"user_id": "x"}, ""))[0])
            return reply(body, {"role": "assistant", "content": ""})
        return models(outbound)

    async with world(tmp_path, answer) as here:
        await here.certified()
        broken.append(True)
        replies = await here.run()
        assert [one.status for one in replies] == [200, 200, 200]
        assert details(replies)[0] == PLANNED[0]
        assert PLANNED[2] not in details(replies)
        assert f"Cancelled for ann_lee_{here.runs}." in replies[-1].body.decode()


async def test_certificates_outlive_a_restart_and_not_another_model(tmp_path: Path) -> None:
    kept = {"store__url": f"sqlite:///{tmp_path / 'kept.db'}"}
    async with world(tmp_path, **kept) as here:
        await here.certified()
        runs = here.runs
    async with world(tmp_path, **kept) as here:
        here.runs = runs
        assert details(await here.run()) == PLANNED
    async with world(tmp_path, **kept, plans__small__target=0.05) as here:
        assert not here.service.planner.may("last-word")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"plans__small__model": "nobody-knows"}, "no price of 'nobody-knows'"),
        ({"plans__mode": "off"}, "plans.small needs plans"),
    ],
)
async def test_settings_that_cannot_work_are_refused_at_start(tmp_path: Path, settings: Any, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        async with world(tmp_path, **settings):
            pass


async def test_what_the_small_model_says_for_a_key_is_paid_from_its_dollars(tmp_path: Path) -> None:
    # Turns that a plan answers are no forwards, and would otherwise cost what they like.
    async with world(tmp_path, limits__dollars=1000.0) as here:
        await here.certified()
        limiter, now = here.proxy.context.limiter, here.proxy.cache.clock()
        before = limiter._counts.used("nobody", now).dollars
        assert details(await here.run()) == PLANNED
        spent = limiter._counts.used("nobody", now).dollars - before
        assert spent == pytest.approx(2 * 0.00015)
        limiter._counts.add("nobody", now, tokens=0, dollars=1000.0)
        since = len(here.upstream.calls)
        refused = await here.ask(asked(task(here.runs + 1)))
        assert details([refused]) == PLANNED[:1], "a step without an open slot costs nothing"
        messages = [*asked(task(here.runs + 1)), refused.json["choices"][0]["message"]]
        found = json.dumps({"reservations": ["R1"]})
        messages.append({"role": "tool", "tool_call_id": messages[-1]["tool_calls"][0]["id"], "content": found})
        refused = await here.ask(messages)
        assert (refused.status, len(here.upstream.calls)) == (429, since)


async def test_a_clock_that_is_set_back_does_not_prolong_the_pause_of_a_small_model(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        service, elapsed = here.service, [50.0]
        service._environment = replace(service._environment, monotonic=lambda: elapsed[0], clock=lambda: 0.0)
        await here.certified()
        service._breaker.failed(elapsed[0], UpstreamError("gone"))
        assert details(await here.run())[2] != PLANNED[2]
        elapsed[0] += 100.0
        assert details(await here.run()) == PLANNED
