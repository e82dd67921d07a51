"""Neighbours in doubt: the client waits for a verifier, and what it lets pass is a hit like any other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from semcache.agents.library import AsyncSemanticCache
from semcache.models.verifiers import verifiers_for_library
from semcache.proxy.application import Proxy
from semcache.types import Assembled, Lookup, Serve
from tests.components import replace_strategy, replace_verifiers
from tests.proxy.driver import Answer, Call, Received, Upstream, ask, completion, running
from tests.proxy.strategies import Scripted

PROMPT = "How do I reset the password of the router?"
PARAPHRASE = "How do I reset the password of the router please?"
PACK = """
name: test
defaults:
  wording: off
  threshold: 0.9999
  verify: llm
  audit: {audit}
"""


class Judge:
    """Says what it is told to say, when the gate is open."""

    def __init__(self, word: float = 1.0) -> None:
        self.word = word
        self.gate = asyncio.Event()
        self.gate.set()
        self.asked: list[tuple[str, str, str]] = []

    async def same(self, query: str, cached_query: str, cached_answer: str) -> float:
        self.asked.append((query, cached_query, cached_answer))
        await self.gate.wait()
        return self.word


@asynccontextmanager
async def doubting(
    upstream: Upstream, judge: Judge, folder: Path, *, audit: float = 0.0, **settings: Any
) -> AsyncIterator[Proxy]:
    async with running(upstream, folder, pack=PACK.format(audit=audit), **settings) as proxy:
        replace_strategy(proxy.cache, Scripted(proxy.cache.pack))
        cache = proxy.cache
        replace_verifiers(cache, verifiers_for_library(judge, cache.pack, None, cache.entry, meter=cache.meter))
        yield proxy


def numbered() -> Upstream:
    upstream = Upstream(lambda _: Answer([completion(f"Answer {len(upstream.calls)}.")]))
    return upstream


def said(reply: Received) -> str:
    text: str = reply.json["choices"][0]["message"]["content"]
    return text


async def test_a_yes_is_a_semantic_hit_and_a_no_a_miss(tmp_path: Path) -> None:
    for word, answer, detail in ((1.0, "Answer 1.", "judged"), (0.0, "Answer 2.", "verify-failed")):
        judge = Judge(word)
        async with doubting(numbered(), judge, tmp_path) as proxy:
            await Call(proxy, ask(PROMPT)).reply()
            reply = await Call(proxy, ask(PARAPHRASE)).reply()
            total = (await proxy.cache.stats())["total"]
        assert (said(reply), reply.cache["detail"]) == (answer, detail)
        assert judge.asked == [(PARAPHRASE, PROMPT, "Answer 1.")]
        assert total["semantic"] == (word == 1.0)


async def test_a_doubt_counts_against_the_budget_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for word in (1.0, 0.0):
        noted: list[bool] = []
        async with doubting(numbered(), Judge(word), tmp_path) as proxy:
            await Call(proxy, ask(PROMPT)).reply()
            threshold = proxy.cache.components.strategy
            monkeypatch.setattr(threshold, "note", lambda *_, served, noted=noted, **__: noted.append(served))
            await Call(proxy, ask(PARAPHRASE)).reply()
        assert noted == [False], "a hit on a word is paid for by its own tier"


async def test_the_reply_shows_what_the_verifier_made_of_it(tmp_path: Path) -> None:
    async with doubting(numbered(), Judge(0.995), tmp_path) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        reply = await Call(proxy, ask(PARAPHRASE)).reply()
    # More than before the word (0.5), and less than the word says of itself: nobody knows the model yet.
    assert 0.8 < float(reply.header("x-semcache-p-correct") or 0) < 0.99
    assert 0.3 < float(reply.header("x-semcache-score") or 0) < 1.0


async def test_requests_at_once_wait_for_one_verdict_or_share_one_call(tmp_path: Path) -> None:
    for word, calls in ((1.0, 1), (0.0, 2)):
        judge, upstream = Judge(word), numbered()
        async with doubting(upstream, judge, tmp_path) as proxy:
            await Call(proxy, ask(PROMPT)).reply()
            judge.gate.clear()
            asking = [Call(proxy, ask(PARAPHRASE)) for _ in range(10)]
            while not judge.asked:
                await asyncio.sleep(0)
            judge.gate.set()
            replies = [await call.reply() for call in asking]
        assert len(judge.asked) == 1
        assert len(upstream.calls) == calls
        assert len({reply.body for reply in replies}) == 1


async def test_what_a_verifier_let_pass_is_audited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[Lookup] = []

    async def learn(_: AsyncSemanticCache, lookup: Lookup, answer: Assembled) -> None:
        assert answer.text == "Answer 2."
        told.append(lookup)

    monkeypatch.setattr(AsyncSemanticCache, "audited", learn)
    async with doubting(numbered(), Judge(0.995), tmp_path, audit=1.0) as proxy:
        await Call(proxy, ask(PROMPT)).reply()
        assert said(await Call(proxy, ask(PARAPHRASE)).reply()) == "Answer 1."
        await proxy.context.follow_ups.background.settle()
    [lookup] = told
    assert isinstance(lookup.decision, Serve)
    assert (lookup.decision.audit, lookup.decision.chance, lookup.decision.word) == (True, 1.0, 0.995)


async def test_an_answer_that_the_upstream_keeps_under_its_id_is_not_verified(tmp_path: Path) -> None:
    answer = (
        b'{"id":"resp_1","object":"response","status":"completed","model":"m","output":[{"type":"message","id":"m1",'
        b'"role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hi.","annotations":[]}]}]}'
    )
    judge = Judge()
    async with doubting(Upstream(lambda _: Answer([answer])), judge, tmp_path) as proxy:
        for prompt in (PROMPT, PARAPHRASE):
            reply = await Call(proxy, {"model": "m", "input": prompt}, "/v1/responses").reply()
    assert reply.cache["detail"] == "exact-only"
    assert judge.asked == []


async def test_a_pack_that_wants_a_verifier_that_nobody_set_up_is_told_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(numbered(), tmp_path, pack=PACK.format(audit=0)) as proxy:
        replace_strategy(proxy.cache, Scripted(proxy.cache.pack))
        await Call(proxy, ask(PROMPT)).reply()
        reply = await Call(proxy, ask(PARAPHRASE)).reply()
    assert reply.cache["detail"] == "no-verdict"
    assert "category default wants a verifier" in caplog.text
    caplog.clear()
    chosen = {"verifier__kind": "llm", "verifier__model": "small"}
    async with running(numbered(), tmp_path, pack=PACK.format(audit=0), **chosen):
        assert "wants a verifier" not in caplog.text


async def test_the_upstream_is_the_judge_where_no_other_is_named(tmp_path: Path) -> None:
    upstream = Upstream(lambda out: Answer([completion("yes" if b'"small"' in out.body else "An answer.")]))
    chosen = {"verifier__kind": "llm", "verifier__model": "small"}
    async with running(upstream, tmp_path, pack=PACK.format(audit=0), **chosen) as proxy:
        replace_strategy(proxy.cache, Scripted(proxy.cache.pack))
        await Call(proxy, ask(PROMPT), authorization="Bearer theirs").reply()
        reply = await Call(proxy, ask(PARAPHRASE), authorization="Bearer theirs").reply()
    assert reply.cache["detail"] == "judged"
    assert "authorization" not in dict(upstream.calls[1].headers), "one client's key does not pay for another's doubts"
