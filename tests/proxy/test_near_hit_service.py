"""Behind the proxy a small model's answer is served once it is certified, and the large one's whenever it fails."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
import pytest

from semcache.agents.multiplex import PricedModel
from semcache.agents.nearhits import Arm, NearHits, NearSettings, PathState
from semcache.dialects import dialects
from semcache.errors import UpstreamError
from semcache.learning.judges.by_text import ExactJudge
from semcache.protocols import Outbound
from semcache.proxy.background import BackgroundWork
from semcache.proxy.near_hit_calls import NearHitEnvironment, NearHitModels
from semcache.proxy.near_hit_service import NearHitService
from semcache.request.keys import cache_key
from semcache.storage.indexes.flat import FlatIndex
from semcache.types import Endpoint, Forward, Lookup, Scope, Usage, Why
from tests.proxy.driver import Answer, Upstream
from tests.waiting import PATIENCE

SETTINGS = NearSettings(PricedModel("small", 1.0, 1.0), PricedModel("large", 20.0, 20.0), target=0.1, rate=0.5)
VECTOR = np.eye(4, dtype=np.float32)[0]
CHAT = dialects()[Endpoint.CHAT]


def says(text: str, *, tokens: int = 10, **fields: Any) -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop", **fields}
    usage = {"prompt_tokens": tokens, "completion_tokens": tokens, "total_tokens": 2 * tokens}
    body = {"id": "c", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice], "usage": usage}
    return json.dumps(body).encode()


def outbound(body: bytes) -> Outbound:
    return Outbound("POST", "/v1/chat/completions", [], body)


class World:
    """A small and a large model, and near hits between them."""

    forgetful = False  # what was answered is not kept
    now = 1000.0  # of the clock on the wall
    elapsed = 50.0

    def __init__(self, small: Any = None) -> None:
        self.small = Upstream(small or (lambda _: Answer([says("right")])))
        self.large = Upstream(lambda _: Answer([says("right")]))
        self.background, ids, self.compared = BackgroundWork(), count(1), []
        self.near = NearHits(SETTINGS, FlatIndex)
        self.service = NearHitService(
            self.near,
            NearHitModels(self.small, self.large, ExactJudge()),
            NearHitEnvironment(
                b"s" * 32,
                lambda: self.now,
                random.Random(0),
                entry_id=lambda _: None if self.forgetful else next(ids),
                spent=lambda _, usage, paid: self.compared.append((usage, paid)),
                monotonic=lambda: self.elapsed,
            ),
            self.background,
            patience=PATIENCE,
        )

    async def ask(self, text: str = "How do I reset it?", **given: Any) -> str:
        """Who answered: "small", "large", or "untouched" where near hits have no say."""
        lookup = looked_up(text, **given)
        choice = self.service.choose(lookup)
        if choice is None:
            return "untouched"
        served = await self.service.serve(choice, CHAT, lookup, outbound)
        if served is None:
            self.service.large_answered(choice, CHAT, lookup, outbound, CHAT.parse(says("right")))
        await self.background.settle()
        return "large" if served is None else "small"

    async def certified(self) -> World:
        """The same after as many requests as it takes."""
        for _ in range(400):
            if await self.ask() == "small":
                return self
        raise AssertionError(self.near.standing())


def looked_up(text: str, *, tenant: str = "acme", **fields: Any) -> Lookup:
    body = {"model": "large", "messages": [{"role": "user", "content": text}], **fields}
    request = replace(CHAT.read(json.dumps(body).encode()), scope=Scope(tenant))
    key = cache_key(request, b"s" * 32)
    return Lookup("r1", request, key, "default", Forward(Why.UNCERTAIN), vector=VECTOR)


async def test_the_small_model_answers_once_comparisons_have_certified_it() -> None:
    world = await World().certified()
    assert world.near.watch("default").state is PathState.OPEN
    sent = json.loads(world.small.calls[-1].body)
    assert sent["model"] == "small"
    assert sent["messages"][-1] == {"role": "user", "content": "How do I reset it?"}
    assert world.compared
    # Beside answers of the large model the small one was asked; that is what a comparison costs.
    assert (Usage(10, 10), 20 * 1.0 / 1e6) in world.compared


@pytest.mark.parametrize("stream", [False, True])
async def test_the_reply_is_whole_in_the_dialect_of_the_client(stream: bool) -> None:
    world = await World().certified()
    lookup = looked_up("How do I reset it?", stream=stream)
    choice = replace(world.service.choose(lookup), arm=Arm.SMALL)
    served = await world.service.serve(choice, CHAT, lookup, outbound)
    assert (
        "stream" not in json.loads(world.small.calls[-1].body) or not json.loads(world.small.calls[-1].body)["stream"]
    )
    if stream:
        assembler = CHAT.assembler()
        assembler.feed(served.payload)
        read = assembler.finish()
    else:
        read = CHAT.parse(served.payload)
    assert (read.complete, read.text) == (True, "right")
    assert dict(served.headers)[b"content-length"] == str(len(served.payload)).encode()
    await world.background.settle()


async def test_a_model_that_says_otherwise_is_never_served() -> None:
    world = World(lambda _: Answer([says("wrong")]))
    assert {await world.ask() for _ in range(150)} == {"large"}
    assert world.small.calls


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (lambda _: UpstreamError("gone"), "failed"),
        (lambda _: Answer([b"{}"], status=500), "refused"),
        (lambda _: Answer([b"not json"]), "unusable"),
        (lambda _: Answer([says("")]), "unusable"),
        (lambda _: Answer([says("cut", finish_reason="length")]), "unusable"),
        (lambda _: Answer([b"{", UpstreamError("broke off")]), "failed"),
    ],
)
async def test_what_the_small_model_does_not_do_well_is_the_large_models(broken: Any, reason: str) -> None:
    world = await World().certified()
    world.small.answer = broken
    lookup = looked_up("How do I reset it?")
    choice = replace(world.service.choose(lookup), arm=Arm.SMALL)
    assert await world.service.serve(choice, CHAT, lookup, outbound) is None
    assert world.service.counts[reason] == 1
    await world.background.settle()


async def test_a_small_model_that_hangs_costs_its_patience_and_no_more() -> None:
    import asyncio

    world = World()
    await world.certified()
    world.service._patience = 0.05
    world.small.gate = asyncio.Event()
    lookup = looked_up("How do I reset it?")
    choice = replace(world.service.choose(lookup), arm=Arm.SMALL)
    assert await world.service.serve(choice, CHAT, lookup, outbound) is None
    assert world.service.counts["timeout"] == 1


async def test_a_small_model_that_fails_is_left_alone_for_a_while() -> None:
    world = await World().certified()
    world.small.answer = lambda _: UpstreamError("gone")
    lookup = looked_up("How do I reset it?")
    choice = world.service.choose(lookup)
    assert choice is not None
    assert await world.service.serve(replace(choice, arm=Arm.SMALL), CHAT, lookup, outbound) is None
    asked = len(world.small.calls)
    assert await world.ask() == "untouched"
    # A clock that is set back or forth neither prolongs the pause nor ends it.
    world.now += 100.0
    assert await world.ask() == "untouched"
    world.now -= 5000.0
    world.elapsed += 100.0
    world.small.answer = lambda _: Answer([says("right")])
    assert await world.ask() == "small"
    assert len(world.small.calls) == asked + 1


async def test_nothing_is_shown_across_tenants() -> None:
    world = World()
    for _ in range(20):
        await world.ask()
    assert world.service.choose(looked_up("How do I reset it?")).examples
    assert world.service.choose(looked_up("How do I reset it?", tenant="other")).examples == ()


TURNS = [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}, {"role": "user", "content": "c"}]
TOOL = {"type": "function", "function": {"name": "f", "parameters": {}}}


@pytest.mark.parametrize("fields", [{"tools": [TOOL]}, {"messages": TURNS}, {"model": "medium"}])
async def test_agents_conversations_and_other_models_are_left_alone(fields: dict[str, Any]) -> None:
    assert await World().ask(**fields) == "untouched"


async def test_who_accepts_less_error_than_is_certified_is_answered_by_the_large_model() -> None:
    world = await World().certified()
    lookup = looked_up("How do I reset it?")
    for limit, concerned in ((0.05, False), (0.1, True)):
        controls = replace(lookup.request.controls, max_error=limit)
        strict = replace(lookup, request=replace(lookup.request, controls=controls))
        assert (world.service.choose(strict) is not None) is concerned


async def test_what_was_not_kept_is_no_example() -> None:
    world = World()
    world.forgetful = True
    lookup = looked_up("How?")
    world.service.large_answered(world.service.choose(lookup), CHAT, lookup, outbound, CHAT.parse(says("right")))
    await world.background.settle()
    assert len(world.near.pool) == 0
