"""With a cheaper model in the pack, and any part failing, a client receives one model's whole answer to its question.

The two models say the same with different marks, so that a mixture, another question's answer and a stored answer of
the cheaper model would all be seen.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from semcache.agents.nearhits import NearHits
from semcache.agents.nearhits.example_pool import ExamplePool
from semcache.errors import UpstreamError
from semcache.learning.judges.by_text import NormalisedJudge
from semcache.models.embedders.hashing import HashingEmbedder
from semcache.protocols import Outbound
from semcache.runtime.breaker import Breaker
from tests.property.faulty import broken_answers, failing, said, stored
from tests.proxy.driver import STREAM, Answer, Call, Received, Upstream, events, running, spoken

PACK = """
name: near
defaults: {strategy: static, threshold: 0.999, wording: off}
models:
  large: {prompt: 20, completion: 20, quality: 0.95}
  small: {prompt: 1, completion: 1}
near: {model: small, instead_of: large, target: 0.3, rate: 0.9, strategy: STRATEGY}
"""


class Models:
    """A large and a small model; what `broken` says comes instead of an answer, by model."""

    def __init__(self) -> None:
        self.broken: dict[str, Callable[[], Answer | Exception] | None] = {}

    def __call__(self, outbound: Outbound) -> Answer | Exception:
        asked = json.loads(outbound.body)
        model = asked["model"]
        broken = self.broken.get(model)
        if broken is not None:
            return broken()
        text = answer_of(asked["messages"][-1]["content"], model)
        if asked.get("stream"):
            return Answer(events(*text.split(" ")), headers=STREAM)
        return Answer([json.dumps(said(model, text)).encode()])


def answer_of(question: str, model: str) -> str:
    """Both say the same; a stream loses the spaces, and the judge minds neither them nor the letter's case."""
    word = question.split()[-1]
    return f"ABOUT {word}" if model == "small" else f"about {word}"


class Here:
    """A proxy with near hits, and the questions that were asked so far."""

    def __init__(self, proxy: Any, models: Models) -> None:
        self.proxy, self.models, self.asked = proxy, models, 0

    async def ask(self, *, stream: bool = False, settle: bool = True) -> tuple[str, Received]:
        self.asked += 1
        question = f"What is the capital of region number {self.asked}"
        body = {"model": "large", "messages": [{"role": "user", "content": question}], "stream": stream}
        reply = await Call(self.proxy, body).reply()
        if settle:
            await self.proxy.generation.near._background.settle()
        return question, reply

    async def certified(self) -> None:
        for _ in range(300):
            _, reply = await self.ask()
            if "detail=near" in (reply.header("cache-status") or ""):
                return
        raise AssertionError(self.proxy.generation.near.service.standing())


def text_of(reply: Received) -> str:
    if (reply.header("content-type") or "").startswith("text/event-stream"):
        return spoken(reply.body)
    return str(reply.json["choices"][0]["message"]["content"])


def check(question: str, reply: Received) -> None:
    """The reply is one model's whole answer to this question."""
    near = "detail=near" in (reply.header("cache-status") or "")
    wanted = answer_of(question, "small" if near else "large")
    assert reply.status == 200, reply.body
    assert reply.whole
    assert text_of(reply).replace(" ", "") == wanted.replace(" ", "")


async def check_stored(proxy: Any) -> None:
    """No answer of the small model, and no other question's, is kept."""
    for prompt, body in (await stored(proxy)).items():
        text = body["choices"][0]["message"]["content"]
        assert text.replace(" ", "") == answer_of(prompt, "large").replace(" ", "")


def settings_of(url: str) -> dict[str, Any]:
    return {"store__url": url, "cache__judge": "normalised", "cache__seed": 1, "near__timeout": 0.1}


FAULTY: dict[str, list[tuple[Any, str]]] = {
    "store": [],  # any statement
    "examples": [(ExamplePool, "search"), (ExamplePool, "put"), (ExamplePool, "get")],
    "choice": [(NearHits, "consider"), (NearHits, "compared"), (NearHits, "served"), (NearHits, "offer")],
    "check": [(NearHits, "believes")],
    "judge": [(NormalisedJudge, "agree")],
    "embedder": [(HashingEmbedder, "embed")],
}


@pytest.mark.parametrize("part", FAULTY)
@pytest.mark.parametrize("strategy", ["route", "cascade"])
async def test_with_a_part_failing_every_question_has_its_answer(
    tmp_path: Path, url: str, part: str, strategy: str
) -> None:
    rng, models = random.Random(part), Models()
    pack = PACK.replace("STRATEGY", strategy)
    async with running(Upstream(models), tmp_path, pack=pack, **settings_of(url)) as proxy:
        here = Here(proxy, models)
        for number in range(60):
            with failing(rng, 0.5 if number > 10 else 0.0, *FAULTY[part]):
                check(*await here.ask(stream=number % 2 == 0))
        await check_stored(proxy)
        proxy.cache.components.faults._breakers.update({name: Breaker() for name in ("store", "index", "embedder")})
        for number in range(10):
            check(*await here.ask(stream=number % 2 == 0))


@pytest.mark.parametrize("strategy", ["route", "cascade"])
async def test_with_the_cheaper_model_failing_the_named_one_answers(tmp_path: Path, url: str, strategy: str) -> None:
    models, pack = Models(), PACK.replace("STRATEGY", strategy)
    async with running(Upstream(models), tmp_path, pack=pack, **settings_of(url)) as proxy:
        here = Here(proxy, models)
        await here.certified()
        service = proxy.generation.near.service
        for broken in broken_answers("small"):
            models.broken["small"] = broken
            for stream in (False, True):
                # It would be left alone after its first fault.
                service._breaker = Breaker()
                check(*await here.ask(stream=stream))
        await check_stored(proxy)


@pytest.mark.parametrize("failed", [UpstreamError("gone"), RuntimeError("a backend's own defect")], ids=repr)
async def test_with_both_models_failing_the_client_is_told(tmp_path: Path, url: str, failed: Exception) -> None:
    models = Models()
    async with running(Upstream(models), tmp_path, pack=PACK.replace("STRATEGY", "route"), **settings_of(url)) as proxy:
        here = Here(proxy, models)
        await here.certified()
        kept = len(await stored(proxy))
        models.broken = dict.fromkeys(("small", "large"), lambda: failed)
        for stream in (False, True):
            _, reply = await here.ask(stream=stream)
            assert reply.status == 502
            assert reply.json["error"]["code"] == "upstream_unavailable"
        assert len(await stored(proxy)) == kept
