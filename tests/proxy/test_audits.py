"""Audits: the backend is asked about served answers in the background, and no client ever notices."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest

from semcache.agents.library import AsyncSemanticCache
from semcache.errors import UpstreamError
from semcache.protocols import Outbound
from semcache.proxy.application import Proxy
from semcache.types import Assembled, Lookup
from tests.components import replace_strategy
from tests.proxy.driver import STREAM, Answer, Call, Received, Upstream, ask, completion, events, running, spoken
from tests.proxy.strategies import Scripted
from tests.waiting import soon

PROMPT = "How do I reset the password of the router?"
PARAPHRASE = "How do I reset the password of the router please?"
PACK = """
name: test
defaults:
  wording: off
  threshold: 0.8
  audit: 1.0
categories:
  rarely:
    audit: 0.0
"""
Audited = list[tuple[Lookup, Assembled]]


@pytest.fixture
def audited(monkeypatch: pytest.MonkeyPatch) -> Audited:
    """What the cache was told."""
    told: Audited = []

    async def learn(_: AsyncSemanticCache, lookup: Lookup, answer: Assembled) -> None:
        told.append((lookup, answer))

    monkeypatch.setattr(AsyncSemanticCache, "audited", learn, raising=False)
    return told


@asynccontextmanager
async def auditing(upstream: Upstream, folder: Path, **settings: Any) -> AsyncIterator[Proxy]:
    async with running(upstream, folder, pack=PACK, **settings) as proxy:
        replace_strategy(proxy.cache, Scripted(proxy.cache.pack))
        yield proxy


async def done(proxy: Proxy) -> None:
    await soon(proxy.context.follow_ups.background.settle())


def count(proxy: Proxy, name: str, **labels: str) -> float:
    return proxy.cache.meter.registry.get_sample_value(name, {"category": "default", **labels}) or 0.0


def numbered() -> Upstream:
    upstream = Upstream(lambda _: Answer([completion(f"Answer {len(upstream.calls)}.")]))
    return upstream


async def totals(proxy: Proxy) -> dict[str, Any]:
    total: dict[str, Any] = (await proxy.cache.stats())["total"]
    return total


async def test_the_client_gets_the_cached_answer_while_the_backend_is_still_being_asked(
    tmp_path: Path, audited: Audited
) -> None:
    upstream = numbered()
    async with auditing(upstream, tmp_path) as proxy:
        first = await Call(proxy, ask(PROMPT)).reply()
        upstream.gate = asyncio.Event()
        near = await Call(proxy, ask(PARAPHRASE)).reply()
        assert near.body == first.body
        assert near.cache["detail"] == "semantic"
        assert audited == []
        upstream.gate.set()
        await done(proxy)
    [(lookup, answer)] = audited
    assert (lookup.request.text, answer.text) == (PARAPHRASE, "Answer 2.")
    assert answer.complete


async def test_an_audited_reply_is_the_reply_without_audits(tmp_path: Path, audited: Audited) -> None:
    def plain(reply: Received) -> tuple[int, bytes, list[tuple[str, str]]]:
        volatile = {"x-request-id", "x-semcache-id", "x-semcache-category"}
        return reply.status, reply.body, [pair for pair in reply.headers if pair[0] not in volatile]

    seen = []
    for category in ("default", "rarely"):
        async with auditing(numbered(), tmp_path) as proxy:
            headers = {"x-semcache-category": category}
            prompts = (PROMPT, PARAPHRASE, PARAPHRASE)
            seen.append([plain(await Call(proxy, ask(prompt), **headers).reply()) for prompt in prompts])
            await done(proxy)
    assert seen[0] == seen[1]
    assert audited


async def test_exact_hits_are_never_audited(tmp_path: Path, audited: Audited) -> None:
    upstream = numbered()
    async with auditing(upstream, tmp_path) as proxy:
        replies = [await Call(proxy, ask(PROMPT)).reply() for _ in range(5)]
        await done(proxy)
    assert replies[-1].cache["detail"] == "exact"
    assert len(upstream.calls) == 1
    assert audited == []


async def test_the_backend_is_asked_the_same_request_with_the_same_credentials_and_no_stream(
    tmp_path: Path, audited: Audited
) -> None:
    upstream = Upstream(
        lambda out: Answer(events("Hello."), headers=STREAM) if b'"stream":true' in out.body else Answer([completion()])
    )
    headers = {"authorization": "Bearer theirs", "x-custom": "1", "x-semcache-tags": "t"}
    body = ask(PARAPHRASE, stream=True, stream_options={"include_usage": True}, temperature=0.25, seed=7)
    async with auditing(upstream, tmp_path) as proxy:
        first = body | {"messages": [{"role": "user", "content": PROMPT}]}
        await Call(proxy, first, query="v=1", **headers).reply()
        near = await Call(proxy, body, query="v=1", **headers).reply()
        await done(proxy)
    assert spoken(near.body) == "Hello."
    audit = upstream.calls[1]
    sent = msgspec.json.decode(audit.body)
    assert sent == {key: value for key, value in body.items() if key != "stream_options"} | {"stream": False}
    assert (audit.path, audit.query) == ("/v1/chat/completions", "v=1")
    assert dict(audit.headers)["authorization"] == "Bearer theirs"
    assert dict(audit.headers)["x-custom"] == "1"
    assert not any(name.startswith("x-semcache") for name, _ in audit.headers)
    assert audited[0][1].text == "An answer."


async def test_a_backend_that_streams_all_the_same_is_understood(tmp_path: Path, audited: Audited) -> None:
    upstream = Upstream(lambda _: Answer(events("It ", "streams."), headers=STREAM))
    async with auditing(upstream, tmp_path) as proxy:
        for prompt in (PROMPT, PARAPHRASE):
            await Call(proxy, ask(prompt, stream=True)).reply()
        await done(proxy)
    assert [(answer.text, answer.complete) for _, answer in audited] == [("It streams.", True)]


async def test_an_audit_joins_no_flight_and_nobody_joins_an_audit(tmp_path: Path, audited: Audited) -> None:
    upstream = numbered()
    async with auditing(upstream, tmp_path) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        upstream.gate = asyncio.Event()
        asking = Call(proxy, ask(PARAPHRASE), **{"cache-control": "no-cache"})
        while len(upstream.calls) < 2:
            await asyncio.sleep(0)
        await Call(proxy, ask(PARAPHRASE)).reply()
        while len(upstream.calls) < 3:
            await asyncio.sleep(0)
        assert len(proxy.context.forwarder._flights) == 0
        anew = Call(proxy, ask(PARAPHRASE), **{"x-semcache-min-score": "1"})
        while len(upstream.calls) < 4:
            await asyncio.sleep(0)
        upstream.gate.set()
        assert "collapsed" not in (await asking.reply()).cache
        assert "collapsed" not in (await anew.reply()).cache
        await done(proxy)
    assert len(audited) == 1


@pytest.mark.parametrize(
    ("broken", "result"),
    [
        (lambda _: UpstreamError("gone"), "failed"),
        (lambda _: Answer([b"x", UpstreamError("cut")]), "failed"),
        (lambda _: Answer([b"{}"], status=500), "refused"),
        (lambda _: Answer([b"{}"], status=401), "refused"),
    ],
    ids=["down", "breaks-off", "500", "401"],
)
async def test_a_broken_backend_harms_nothing(
    tmp_path: Path, audited: Audited, broken: Callable[[Outbound], Any], result: str
) -> None:
    upstream = numbered()
    async with auditing(upstream, tmp_path) as proxy:
        first = await Call(proxy, ask(PROMPT)).reply()
        upstream.answer = broken
        near = [await Call(proxy, ask(PARAPHRASE)).reply() for _ in range(2)]
        await done(proxy)
        assert count(proxy, "semcache_audits_total", result=result) >= 1
        spent = await totals(proxy)
    assert {reply.body for reply in near} == {first.body}
    assert audited == []
    assert spent["saved_tokens"] == 24, "a hit whose audit failed has spared its call"
    assert (spent["semantic"], spent["misses"]) == (2, 1)


async def test_a_backend_that_fails_is_left_alone_for_a_while(tmp_path: Path, audited: Audited) -> None:
    upstream = numbered()
    async with auditing(upstream, tmp_path) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        upstream.answer = lambda _: Answer([b"{}"], status=429)
        for _ in range(4):
            await Call(proxy, ask(PARAPHRASE)).reply()
            await done(proxy)
        resting = count(proxy, "semcache_audits_total", result="skipped-resting")
    assert len(upstream.calls) == 2
    assert resting == 3
    assert audited == []


async def test_audits_beyond_the_rate_are_skipped_and_counted(tmp_path: Path, audited: Audited) -> None:
    prompts = [f"How do I reset the password of the router {word}?" for word in ("please", "now", "again", "today")]
    async with auditing(numbered(), tmp_path, background__audit_rate=0.0001) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        replies = [await Call(proxy, ask(prompt), **{"x-semcache-min-score": "0.8"}).reply() for prompt in prompts]
        await done(proxy)
        semantic = sum(reply.cache.get("detail") == "semantic" for reply in replies)
        skipped = count(proxy, "semcache_audits_total", result="skipped-rate")
    assert semantic >= 2
    assert (len(audited), skipped) == (1, semantic - 1)


async def test_audits_that_pile_up_are_skipped_and_counted(tmp_path: Path, audited: Audited) -> None:
    upstream = numbered()
    async with auditing(upstream, tmp_path, background__concurrency=1, background__waiting=0) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        upstream.gate = asyncio.Event()
        for prompt in (PARAPHRASE, PARAPHRASE, PROMPT.replace("reset", "now reset")):
            assert (await Call(proxy, ask(prompt)).reply()).cache["detail"] == "semantic"
        assert count(proxy, "semcache_audits_total", result="skipped-known") == 1
        assert count(proxy, "semcache_audits_total", result="skipped-full") == 1
        upstream.gate.set()
        await done(proxy)
    assert len(audited) == 1


async def test_who_wants_nothing_but_the_cache_is_not_audited(tmp_path: Path, audited: Audited) -> None:
    upstream = numbered()
    async with auditing(upstream, tmp_path) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        near = await Call(proxy, ask(PARAPHRASE), **{"cache-control": "only-if-cached"}).reply()
        await done(proxy)
    assert near.cache["detail"] == "semantic"
    assert len(upstream.calls) == 1
    assert audited == []


async def test_what_an_audit_costs_is_spent_and_not_saved(tmp_path: Path, audited: Audited) -> None:
    async with auditing(numbered(), tmp_path) as proxy:
        for prompt in (PROMPT, PARAPHRASE):
            await Call(proxy, ask(prompt) | {"model": "gpt-4o"}).reply()
        await done(proxy)
        total = await totals(proxy)
        result = count(proxy, "semcache_audits_total", result="done")
    price = (5 * 2.5 + 7 * 10.0) / 1e6
    assert total["requests"] == 2
    assert total["semantic"] == 1
    assert total["spent_usd"] == pytest.approx(2 * price, abs=1e-6)
    assert total["saved_usd"] == 0.0
    assert result == 1


async def test_a_cache_that_cannot_learn_is_survived(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def broken(*_: object) -> None:
        raise RuntimeError("judge")

    monkeypatch.setattr(AsyncSemanticCache, "audited", broken, raising=False)
    async with auditing(numbered(), tmp_path) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        near = await Call(proxy, ask(PARAPHRASE)).reply()
        await done(proxy)
        faults = proxy.cache.meter.registry.get_sample_value("semcache_faults_total", {"component": "cache"})
    assert near.status == 200
    assert faults == 1


async def test_stopping_waits_for_no_backend(tmp_path: Path, audited: Audited, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("semcache.proxy.audits_and_revalidation._GRACE", 0.01)
    upstream = numbered()
    async with auditing(upstream, tmp_path) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        upstream.gate = asyncio.Event()
        await Call(proxy, ask(PARAPHRASE)).reply()
        while len(upstream.calls) < 2:
            await asyncio.sleep(0)
    assert audited == []
    assert not [task for task in asyncio.all_tasks() if task.get_name().startswith("semcache-")]
