"""Stale-while-revalidate: a stale answer is served at once, and the backend is asked anew once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from semcache.errors import UpstreamError
from semcache.proxy.application import Proxy
from tests.proxy.driver import Answer, Call, Clock, Received, Upstream, ask, completion, running
from tests.waiting import soon

PROMPT = "How do I reset the password of the router?"
PARAPHRASE = "How do I reset the password of the router please?"
PACK = """
name: test
defaults:
  strategy: static
  wording: off
  threshold: 0.8
  ttl: 60s
  revalidate: 60s
"""


def numbered() -> Upstream:
    upstream = Upstream(lambda _: Answer([completion(f"Answer {len(upstream.calls)}.")]))
    return upstream


@asynccontextmanager
async def ageing(upstream: Upstream, folder: Path, clock: Clock) -> AsyncIterator[Proxy]:
    async with running(upstream, folder, pack=PACK, clock=clock) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        clock.now += 70
        yield proxy


async def done(proxy: Proxy) -> None:
    await soon(proxy.context.follow_ups.background.settle())


def said(reply: Received) -> str:
    text: str = reply.json["choices"][0]["message"]["content"]
    return text


async def test_a_stale_answer_is_served_at_once_and_says_that_it_is_stale(tmp_path: Path) -> None:
    upstream, clock = numbered(), Clock()
    async with ageing(upstream, tmp_path, clock) as proxy:
        upstream.gate = asyncio.Event()
        stale = [await Call(proxy, ask(PROMPT)).reply() for _ in range(3)]
        upstream.gate.set()
        await done(proxy)
        fresh = await Call(proxy, ask(PROMPT)).reply()
        near = await Call(proxy, ask(PARAPHRASE)).reply()
    assert [said(reply) for reply in stale] == ["Answer 1."] * 3
    assert stale[0].cache == {"hit": True, "ttl": -10, "detail": "exact"}
    assert len(upstream.calls) == 2, "one call for a popular entry, not one a hit"
    assert said(fresh) == "Answer 2."
    assert fresh.cache["ttl"] == 60
    assert near.cache["detail"] == "semantic", "the fresh answer is found by meaning too"
    assert said(near) == "Answer 2."


async def test_what_asking_anew_costs_is_spent_once(tmp_path: Path) -> None:
    upstream = numbered()
    async with ageing(upstream, tmp_path, Clock()) as proxy:
        upstream.gate = asyncio.Event()
        for _ in range(2):
            await Call(proxy, ask(PROMPT)).reply()
        upstream.gate.set()
        await done(proxy)
        total = (await proxy.cache.stats())["total"]
        results = {
            result: proxy.cache.meter.registry.get_sample_value(
                "semcache_revalidations_total", {"category": "default", "result": result}
            )
            for result in ("done", "skipped-known")
        }
    assert (total["requests"], total["exact"], total["misses"]) == (3, 2, 1)
    assert total["saved_tokens"] == 12, "of two hits one was paid for"
    assert results == {"done": 1, "skipped-known": 1}


async def test_a_backend_that_is_down_leaves_the_stale_answer_and_is_asked_again_later(tmp_path: Path) -> None:
    upstream, clock = numbered(), Clock()
    async with ageing(upstream, tmp_path, clock) as proxy:
        good, upstream.answer = upstream.answer, lambda _: UpstreamError("gone")
        first = await Call(proxy, ask(PROMPT)).reply()
        await done(proxy)
        upstream.answer = good
        proxy.context.follow_ups._breaker.succeeded()
        second = await Call(proxy, ask(PROMPT)).reply()
        await done(proxy)
        third = await Call(proxy, ask(PROMPT)).reply()
    assert [said(reply) for reply in (first, second, third)] == ["Answer 1.", "Answer 1.", "Answer 3."]


async def test_an_answer_that_may_not_be_kept_is_asked_for_once(tmp_path: Path) -> None:
    upstream, clock = numbered(), Clock()
    async with ageing(upstream, tmp_path, clock) as proxy:
        upstream.answer = lambda _: Answer([b'{"choices": []}'])
        for _ in range(3):
            assert said(await Call(proxy, ask(PROMPT)).reply()) == "Answer 1."
            await done(proxy)
    assert len(upstream.calls) == 2


@pytest.mark.parametrize("control", ["no-store", "only-if-cached"])
async def test_who_may_not_leave_a_trace_asks_nothing_anew(tmp_path: Path, control: str) -> None:
    upstream, clock = numbered(), Clock()
    async with ageing(upstream, tmp_path, clock) as proxy:
        reply = await Call(proxy, ask(PROMPT), **{"cache-control": control}).reply()
        await done(proxy)
    assert said(reply) == "Answer 1."
    assert len(upstream.calls) == 1


async def test_stale_embeddings_are_asked_for_with_the_rest(tmp_path: Path) -> None:
    body = b'{"object":"list","model":"m","data":[{"object":"embedding","index":0,"embedding":[1.0]}],"usage":{}}'
    upstream, clock = Upstream(lambda _: Answer([body])), Clock()
    async with running(upstream, tmp_path, pack=PACK, clock=clock) as proxy:
        ask_for = {"model": "m", "input": "one"}
        await Call(proxy, ask_for, "/v1/embeddings").reply()
        clock.now += 70
        reply = await Call(proxy, ask_for, "/v1/embeddings").reply()
        await done(proxy)
    assert reply.cache["fwd"] == "stale"
    assert len(upstream.calls) == 2
