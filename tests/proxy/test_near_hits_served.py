"""Through the whole proxy: a cheaper model answers once that is certified, and is paid for as what it is."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from semcache.errors import ConfigError, UpstreamError
from semcache.protocols import Outbound
from semcache.proxy.application import Proxy
from semcache.proxy.near_hit_calls import WithoutClientHeaders
from semcache.upstream.backends.http import HttpBackend
from tests.proxy.driver import CHAT, Answer, Call, Received, Upstream, running

PACK = """
name: near
defaults: {strategy: static, threshold: 0.999, max_chars: 2000, wording: off}
models:
  large: {prompt: 20, completion: 20, quality: 0.95}
  small: {prompt: 1, completion: 1}
near: {model: small, instead_of: large, target: 0.1, rate: 0.5}
"""


def says(outbound: Outbound) -> Answer:
    """Both models: the same word for the same question."""
    asked = json.loads(outbound.body)
    text = "about " + asked["messages"][-1]["content"].split()[-1]
    message = {"role": "assistant", "content": text}
    body = {
        "id": "c", "object": "chat.completion", "created": 1, "model": asked["model"],
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150},
    }  # fmt: skip
    return Answer([json.dumps(body).encode()])


class World:
    """A proxy whose pack names a cheaper model, and the questions that were asked so far."""

    def __init__(self, proxy: Proxy, upstream: Upstream) -> None:
        self.proxy, self.upstream, self.asked = proxy, upstream, 0

    async def ask(self, text: str = "", model: str = "large", *, settle: bool = True, **headers: str) -> Received:
        self.asked += 1
        text = text or f"What is the capital of region number {self.asked}?"
        reply = await Call(
            self.proxy, {"model": model, "messages": [{"role": "user", "content": text}]}, **headers
        ).reply()
        if settle and self.proxy.generation.near is not None:
            await self.proxy.generation.near._background.settle()
        return reply

    async def certified(self) -> World:
        for _ in range(400):
            if near(await self.ask()):
                # Of what is served, some is compared all the same, with an answer of the large model.
                open_hits = self.proxy.generation.near
                assert open_hits is not None
                service = open_hits.service
                service._environment = replace(service._environment, rng=NothingDrawn(1))
                return self
        raise AssertionError(self.proxy.generation.near.service.standing() if self.proxy.generation.near else "off")

    async def stats(self) -> Any:
        return (await Call(self.proxy, path="/semcache/stats", method="GET").reply()).json


class NothingDrawn(random.Random):
    """Draws nothing for a comparison, and tries out no model that is not believed to be the best."""

    def random(self) -> float:
        return 0.999

    def gauss(self, mu: float = 0.0, sigma: float = 1.0) -> float:
        return mu


def near(reply: Received) -> bool:
    return "detail=near" in (reply.header("cache-status") or "")


@asynccontextmanager
async def world(folder: Path, answer: Any = says, *, pack: str = PACK, **settings: Any) -> AsyncIterator[World]:
    settings = {"cache__judge": "exact", "cache__seed": 1, **settings}
    upstream = Upstream(answer)
    async with running(upstream, folder, pack=pack, **settings) as proxy:
        yield World(proxy, upstream)


def models(upstream: Upstream) -> list[str]:
    return [json.loads(call.body)["model"] for call in upstream.calls]


async def test_without_near_in_the_pack_nobody_else_is_asked(tmp_path: Path) -> None:
    async with world(tmp_path, pack=PACK.partition("near:")[0]) as here:
        for _ in range(20):
            assert not near(await here.ask())
        assert set(models(here.upstream)) == {"large"}
        assert "near" not in await here.stats()


async def test_a_server_of_the_cheaper_models_own_is_divided_by_tenant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[dict[str, Any]] = []

    async def send(_: HttpBackend, outbound: Outbound) -> Answer:
        if outbound.method == "GET":
            return Answer([b'{"data": [{"id": "small", "owned_by": "vllm"}]}'])
        sent.append(json.loads(outbound.body))
        return says(outbound)

    monkeypatch.setattr(HttpBackend, "send", send)
    async with world(tmp_path, near__url="http://small:8000") as here:
        await here.certified()
    assert sent
    assert all(body.get("cache_salt") for body in sent)


async def test_a_certified_cheaper_model_is_paid_for_as_itself(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        await here.certified()
        before = (await here.stats())["outcomes"]
        reply = await here.ask()
        assert near(reply)
        assert reply.json["choices"][0]["message"]["content"].startswith("about ")
        assert reply.json["model"] == "small"
        stats = await here.stats()
        row, old = stats["outcomes"]["near"], before["near"]
        assert row["requests"] - old["requests"] == 1
        # What it was paid, and what the large model would have cost without the examples.
        paid = 150 / 1e6
        assert row["spent_usd"] - old["spent_usd"] in (pytest.approx(paid), pytest.approx(paid + 3000 / 1e6))
        assert 1000 / 1e6 <= row["always_usd"] - old["always_usd"] <= 3000 / 1e6
        everything = stats["outcomes"]["total"]
        calls = len(here.upstream.calls)
        assert everything["spent_usd"] == pytest.approx(
            sum({"large": 3000, "small": 150}[model] for model in models(here.upstream)) / 1e6
        )
        assert (everything["requests"], everything["calls"]) == (here.asked, calls)
        assert (everything["prompt_tokens"], everything["completion_tokens"]) == (100 * calls, 50 * calls)
        assert everything["always_usd"] <= here.asked * 3000 / 1e6 + 1e-9
        assert stats["categories"]["default"]["near"] == row["requests"]
        assert stats["near"]["categories"]["default"]["state"] == "open"
        assert calls > here.asked


async def test_a_stream_is_answered_as_a_stream(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        await here.certified()
        asked = {"model": "large", "stream": True, "messages": [{"role": "user", "content": "What is number 7?"}]}
        reply = await Call(here.proxy, asked).reply()
        assert near(reply)
        assert (reply.header("content-type") or "").startswith("text/event-stream")
        assert reply.body.endswith(b"data: [DONE]\n\n")


async def test_a_small_model_that_fails_costs_nobody_an_answer(tmp_path: Path) -> None:
    async with world(tmp_path) as here:
        await here.certified()

        def broken(outbound: Outbound) -> Answer | Exception:
            return UpstreamError("gone") if b'"small"' in outbound.body else says(outbound)

        here.upstream.answer = broken
        reply = await here.ask()
        assert (reply.status, reply.json["model"], near(reply)) == (200, "large", False)
        assert (await here.stats())["near"]["unserved"]["failed"] > 0


async def test_a_fault_of_near_hits_is_survived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with world(tmp_path) as here:
        await here.certified()

        async def fault(*_: Any) -> None:
            raise RuntimeError("a fault")

        monkeypatch.setattr(here.proxy.generation.near.service if here.proxy.generation.near else here, "serve", fault)
        assert (await here.ask()).json["model"] == "large"


async def test_examples_and_certificate_survive_a_restart_and_go_with_their_entries(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/s.db"
    async with world(tmp_path, store__url=store) as here:
        await here.certified()
        opened = here.proxy.generation.near
        assert opened is not None
        known = {one.id: one.prompt for one in opened.service.near.pool}
    async with world(tmp_path, store__url=store) as here:
        opened = here.proxy.generation.near
        assert opened is not None
        await opened.filled()
        pool = opened.service.near.pool
        assert known == {one.id: one.prompt for one in pool}
        assert any(one.uses for one in pool)
        here.asked = 1000
        assert near(await here.ask())
        gone = await Call(
            here.proxy, {"everything": True}, "/semcache/invalidate", content_type="application/json"
        ).reply()
        assert gone.json["count"] >= len(known) > 0
        here.upstream.calls.clear()
        await here.ask()
        assert all(len(json.loads(call.body)["messages"]) == 1 for call in here.upstream.calls)
        *_, sweep = here.proxy.cache.components.maintenance._sweepers
        await sweep(0.0)
        assert {one.id for one in pool}.isdisjoint(known)


async def test_workers_show_each_others_answers_and_share_certificates(tmp_path: Path) -> None:
    shared: dict[str, Any] = {"store__url": f"sqlite:///{tmp_path}/s.db", "server__workers": 2}
    (tmp_path / "other").mkdir()
    async with world(tmp_path, **shared) as one, world(tmp_path / "other", **shared) as two:
        await one.certified()
        opened = [here.proxy.generation.near for here in (one, two)]
        for here in (one, two):
            await here.proxy.cache.catch_up()
            await here.proxy.cache.components.maintenance.sweep()
        pools = [{each.id for each in known.service.near.pool} for known in opened if known is not None]
        assert pools[0] == pools[1] != set()
        two.asked = 1000
        assert near(await two.ask())


async def test_another_promise_is_certified_anew(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path}/s.db"
    async with world(tmp_path, store__url=store) as here:
        await here.certified()
    async with world(tmp_path, store__url=store, pack=PACK.replace("target: 0.1", "target: 0.08")) as here:
        here.asked = 1000
        assert not near(await here.ask())


async def test_a_server_of_its_own_sees_nothing_of_the_client() -> None:
    upstream = Upstream(says)
    headers = [("Authorization", "Bearer sk-client"), ("x-api-key", "k"), ("cookie", "c"), ("content-type", "a/b")]
    body = b'{"model": "small", "messages": [{"role": "user", "content": "x"}]}'
    await WithoutClientHeaders(upstream).send(Outbound("POST", CHAT, headers, body, "key=1"))
    [sent] = upstream.calls
    assert (sent.headers, sent.query) == ([("content-type", "a/b")], "")


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (PACK.replace("  small: {prompt: 1, completion: 1}\n", ""), ["near.model", "'small'", "`models`"]),
        (PACK.replace("instead_of: large", "instead_of: huge"), ["near.instead_of", "'huge'", "`models`"]),
        (PACK.replace("model: small", "model: large"), ["near.model", "not cheaper"]),
    ],
)
async def test_a_pack_that_cannot_work_stops_the_start(tmp_path: Path, changed: str, words: list[str]) -> None:
    with pytest.raises(ConfigError) as caught:
        async with world(tmp_path, pack=changed):
            pass
    assert "pack.yaml" in str(caught.value)
    for word in words:
        assert word in str(caught.value)
    await asyncio.sleep(0)


def telling(outbound: Outbound) -> Answer:
    """The small model doubts itself about even numbers, and is wrong there."""
    answer = says(outbound)
    asked = json.loads(outbound.body)
    digits = "".join(one for one in asked["messages"][-1]["content"] if one.isdigit())
    if asked["model"] == "small" and int(digits or 0) % 2 == 0:
        body = json.loads(answer.pieces[0])
        body["choices"][0]["message"]["content"] = "I am not sure, however it may be unclear"
        return Answer([json.dumps(body).encode()])
    return answer


async def test_a_cascade_serves_what_it_believes_and_asks_the_large_model_for_the_rest(tmp_path: Path) -> None:
    async with world(tmp_path, telling, pack=PACK.replace("rate: 0.5", "rate: 0.9, strategy: cascade")) as here:
        await here.certified()
        for _ in range(20):
            reply = await here.ask()
            text = reply.json["choices"][0]["message"]["content"]
            assert text.startswith("about ")
            assert near(reply) is (reply.json["model"] == "small")
        stats = await here.stats()
        assert stats["near"]["unserved"]["doubted"] > 0
        # Every call is paid for, those whose answer was doubted too.
        spent = sum({"large": 3000, "small": 150}[model] for model in models(here.upstream)) / 1e6
        assert stats["outcomes"]["total"]["spent_usd"] == pytest.approx(spent)
        assert stats["outcomes"]["total"]["requests"] == here.asked
