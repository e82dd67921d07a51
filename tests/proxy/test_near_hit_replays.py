"""In quiet times the best examples are answered anew: never while requests come, and never with a client's key."""

from __future__ import annotations

import asyncio
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from semcache.agents.multiplex import PricedModel
from semcache.agents.nearhits import NearExample, NearHits, NearSettings
from semcache.dialects import dialects
from semcache.errors import SemcacheError, UpstreamError
from semcache.learning.judges.by_text import ExactJudge
from semcache.protocols import Outbound
from semcache.proxy import near_hit_replays
from semcache.proxy.near_hit_calls import NearHitEnvironment, WithoutClientHeaders
from semcache.proxy.near_hit_replays import QUIET, ExampleReplays
from semcache.storage.indexes.flat import FlatIndex
from semcache.types import Endpoint, Usage
from semcache.types.evidence import Comparison
from tests.proxy.driver import Answer, Upstream
from tests.proxy.test_near_hit_service import looked_up, says
from tests.proxy.test_near_hits_served import world
from tests.waiting import PATIENCE

SETTINGS = NearSettings(PricedModel("small", 1.0, 1.0), PricedModel("large", 20.0, 20.0), target=0.1)
CHAT = dialects()[Endpoint.CHAT]
HEADERS = [("authorization", "Bearer sk-client"), ("cookie", "c"), ("content-type", "application/json")]


class World:
    """An example whose uses failed, and a large model that says something else by now."""

    def __init__(self, answer: Any = lambda _: Answer([says("right")]), *, rate: float = 3600.0) -> None:
        self.now, self.elapsed, self.load, self.spent = 1000.0, 50.0, 0.0, list[tuple[Usage, float]]()
        self.large, self.judge = Upstream(answer), ExactJudge()
        self.near = NearHits(SETTINGS, FlatIndex)
        example = NearExample(1, b"p", "How do I reset it?", "wrong", np.eye(4, dtype=np.float32)[0], 0.0)
        self.near.pool.put(example.after(self.now, 0.0), self.now)
        self.replays = ExampleReplays(
            self.near,
            WithoutClientHeaders(self.large),
            self.judge,
            NearHitEnvironment(
                b"s" * 32,
                lambda: self.now,
                random.Random(0),
                spent=lambda _, usage, paid: self.spent.append((usage, paid)),
                load=lambda: self.load,
                monotonic=lambda: self.elapsed,
            ),
            rate=rate,
            patience=PATIENCE,
        )

    def noted(self, **fields: Any) -> World:
        lookup = looked_up("What else?", **fields)
        call = Outbound("POST", "/v1/chat/completions", HEADERS, lookup.request.raw, "key=1", "acme")
        self.replays.remember(b"p", lookup, CHAT, call)
        return self

    async def quiet(self, seconds: float = QUIET) -> World:
        self.now += seconds
        self.elapsed += seconds
        await self.replays.step()
        return self

    @property
    def example(self) -> NearExample:
        held = self.near.pool.get(1)
        assert held is not None
        return held


async def test_an_example_that_does_not_help_gets_the_answer_that_most_give() -> None:
    here = await World().noted().quiet()
    assert (here.example.answer, here.example.gain, here.example.replays) == ("right", 0.0, 1)
    assert here.example.quality == pytest.approx(2 / 3)
    assert here.replays.counts == {"refined": 1}
    assert here.spent == [(Usage(10, 10), 20 * 20 / 1e6)] * 2
    assert here.near.pool.bytes == here.example.size


async def test_an_answer_that_holds_up_stays_and_so_does_one_on_which_nobody_agrees() -> None:
    here = await World(lambda _: Answer([says("wrong")])).noted().quiet()
    assert (here.example.answer, here.example.quality, here.replays.counts) == ("wrong", 1.0, {"kept": 1})
    answers = iter("abcdef")
    here = await World(lambda _: Answer([says(next(answers))])).noted().quiet()
    assert (here.example.answer, here.replays.counts) == ("wrong", {"kept": 1})


async def test_what_is_asked_is_the_examples_request_and_nobodys() -> None:
    system = {"role": "system", "content": "Be brief."}
    messages = [system, {"role": "user", "content": "What else?"}]
    here = await World().noted(messages=messages, user="u1", metadata={"a": "b"}, temperature=0.5).quiet()
    for call in here.large.calls:
        assert (call.headers, call.query) == ([("content-type", "application/json")], "")
        body = {"model": "large", "messages": [system, {"role": "user", "content": "How do I reset it?"}]}
        assert json.loads(call.body) == {**body, "temperature": 0.5}


async def test_nothing_is_asked_while_requests_come_under_load_or_when_no_request_was_seen() -> None:
    here = World().noted()
    await here.quiet(QUIET - 1.0)
    here.replays.give_way()
    await here.quiet(QUIET - 1.0)
    here.load = 0.5
    await here.quiet()
    assert not here.large.calls
    here.load = 0.0
    await here.quiet()
    assert len(here.large.calls) == 2
    assert not (await World().quiet()).large.calls
    assert not (await World(rate=0.0).noted().quiet()).large.calls


async def test_a_clock_that_is_set_makes_no_quiet_time_and_ends_none() -> None:
    here = World().noted()
    here.now += 10 * QUIET
    await here.quiet(0.0)
    assert not here.large.calls
    here.now -= 20 * QUIET
    await here.quiet()
    assert len(here.large.calls) == 2


async def test_there_are_no_more_than_the_rate_allows() -> None:
    here = World(lambda _: Answer([says("wrong")]), rate=6.0).noted()
    for _ in range(60):
        here.near.pool.put(here.example.after(here.now, 0.0), here.now)
        await here.quiet(60.0)
        here.near.pool.put(NearExample(1, b"p", "How?", "wrong", here.example.vector, 0.0), here.now)
    assert 5 <= len(here.large.calls) / 2 <= 7


async def test_a_request_interrupts_what_is_under_way() -> None:
    gate = asyncio.Event()
    replies: list[Answer] = []

    def hangs(_: Outbound) -> Answer:
        replies.append(Answer([gate]))
        return replies[-1]

    here = World(hangs).noted()
    here.elapsed += QUIET
    step = asyncio.create_task(here.replays.step())
    while not replies:
        await asyncio.sleep(0)
    here.replays.give_way()
    await step
    assert replies[0].closed
    assert here.replays.counts == {"interrupted": 1}
    assert here.example.replays == 0


@pytest.mark.parametrize(
    ("broken", "reason", "replays"),
    [
        (lambda _: UpstreamError("gone"), "failed", 0),
        (lambda _: Answer([b"{}"], status=401), "refused", 0),
        (lambda _: Answer([b"{", UpstreamError("broke off")]), "failed", 0),
        (lambda _: Answer([b"not json"]), "unusable", 1),
        (lambda _: Answer([says("cut", finish_reason="length")]), "unusable", 1),
    ],
)
async def test_a_large_model_that_gives_no_answer_leaves_the_example_as_it_is(
    broken: Any, reason: str, replays: int
) -> None:
    here = await World(broken).noted().quiet()
    assert (here.example.answer, here.example.replays, here.replays.counts) == ("wrong", replays, {reason: 1})
    asked = len(here.large.calls)
    await here.quiet(QUIET)
    assert (len(here.large.calls) == asked) is (replays == 0)  # one that is down is left alone


async def test_an_example_that_is_gone_by_then_stays_gone() -> None:
    here = World().noted()

    def purged(_: Outbound) -> Answer:
        here.near.pool.remove(1)
        return Answer([says("right")])

    here.large.answer = purged
    await here.quiet()
    assert (len(here.near.pool), here.replays.counts) == (0, {"gone": 1})
    here.replays.prune()
    assert not here.replays._patterns


async def test_what_must_not_be_shown_takes_no_examples_place() -> None:
    here = await World(lambda _: Answer([says("the key is sk-proj-abcdefghijklmnop1234")])).noted().quiet()
    assert (here.example.answer, here.replays.counts) == ("wrong", {"kept": 1})


async def test_a_judge_that_fails_or_breaks_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(near_hit_replays, "_EVERY", 0.0)
    here = World().noted()
    faults: list[Exception] = [RuntimeError("a fault"), SemcacheError("no word")]

    async def agree(_: Comparison) -> bool:
        raise faults.pop(0) if len(faults) > 1 else faults[0]

    monkeypatch.setattr(here.judge, "agree", agree)
    running = asyncio.create_task(here.replays.run())
    while not here.replays.counts["kept"]:
        here.elapsed += QUIET
        await asyncio.sleep(0)
    running.cancel()
    assert here.replays.counts["fault"] == 1
    assert here.example.answer == "wrong"


async def test_through_the_proxy_replays_are_counted_and_paid_for(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        await here.certified()
        opened = here.proxy.generation.near
        assert opened is not None
        replays = opened.service._replays
        assert replays is not None
        assert replays._patterns
        before = len(here.upstream.calls)
        spent = (await here.stats())["outcomes"]["total"]["spent_usd"]
        # Some of its uses failed, and the requests have been away for a while.
        pool = opened.service.near.pool
        pool.put(next(one for one in pool if one.uses).after(0.0, 0.0), 0.0)
        replays._last -= QUIET
        await replays.step()
        assert len(here.upstream.calls) - before == 2
        stats = await here.stats()
        assert sum(stats["near"]["replays"].values()) == 1
        assert stats["outcomes"]["total"]["spent_usd"] - spent == pytest.approx(2 * 3000 / 1e6)
        assert stats["outcomes"]["total"]["requests"] == here.asked


async def test_the_routers_load_is_the_upstreams(tmp_path: Path) -> None:
    async with world(tmp_path, upstream__busy_at=2) as here:
        here.upstream.gate = asyncio.Event()
        waiting = []
        for _ in range(2):
            waiting += [asyncio.create_task(here.ask(settle=False)) for _ in range(12)]
            while len(here.upstream.calls) < len(waiting):
                await asyncio.sleep(0.01)
        assert (await here.stats())["near"]["load_bias"] > 0.1
        here.upstream.gate.set()
        await asyncio.gather(*waiting)
    async with world(tmp_path) as here:
        await asyncio.gather(*[here.ask(settle=False) for _ in range(20)])
        assert (await here.stats())["near"]["load_bias"] == 0.0
