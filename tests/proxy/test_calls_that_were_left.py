"""A client pays for the call that it started, although it has left and others got the answer."""

from __future__ import annotations

import asyncio
import json
import secrets
from pathlib import Path
from typing import Any

import pytest

from semcache.errors import UpstreamError
from semcache.protocols import Outbound
from semcache.proxy.application import Proxy
from semcache.proxy.auth import new_key
from tests.proxy.driver import STREAM, Answer, Call, Clock, Upstream, ask, completion, events, running
from tests.waiting import settled, soon, until

TOLD = b'data: {"id":"c1","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}\n\n'


async def key(proxy: Proxy) -> str:
    store = proxy.cache.components.store
    plain, made = new_key(secrets.token_bytes, 1.0, "acme", "", store.salt)
    await store.add_key(made)
    proxy._process.auth.replace(await store.keys())
    return plain


async def spent(proxy: Proxy) -> int:
    await proxy.cache.event_log.flush()
    rows = await proxy.cache.components.store.usage(since=0.0, until=1e12, by=["model"])
    return sum(row["spent_completion_tokens"] for row in rows)


@pytest.mark.parametrize("stream", [False, True])
async def test_tokens_of_a_call_are_its_own_although_it_left_and_others_got_the_answer(
    tmp_path: Path, stream: bool
) -> None:
    gate = asyncio.Event()
    said = [*events("word", end=False), TOLD]

    def answer(sent: Outbound) -> Answer:
        return Answer([gate, *said, b"data: [DONE]\n\n"], headers=STREAM) if stream else Answer([gate, completion()])

    async with running(Upstream(answer), tmp_path, clock=Clock(), limits__tokens=5) as proxy:
        bound, other = [{"x_semcache_key": await key(proxy)} for _ in range(2)]
        leader = Call(proxy, ask("a long story", stream=stream), **bound)
        await settled()
        follower = Call(proxy, ask("a long story", stream=stream), **other)
        await settled()
        await leader.leave()
        gate.set()
        reply = await follower.reply()
        assert (reply.status, "collapsed" in reply.cache) == (200, True)
        assert (await Call(proxy, ask("another"), **bound).reply()).status == 429
        assert (await Call(proxy, ask("another"), **other).reply()).status == 200
        assert await spent(proxy) == 14, "once for the two that shared it, and once for the other question"


async def test_tokens_of_an_answer_that_is_there_are_charged_to_a_client_that_does_not_read_it(tmp_path: Path) -> None:
    class Unread(Call):
        async def _send(self, message: dict[str, Any]) -> None:
            coming.set()
            await asyncio.Event().wait()

    coming = asyncio.Event()

    upstream = Upstream(lambda _: Answer([completion()]))
    async with running(upstream, tmp_path, clock=Clock(), limits__tokens=5) as proxy:
        call = Unread(proxy, ask("a long story"))
        await soon(coming.wait())
        await call.leave()
        assert (await Call(proxy, ask("another")).reply()).status == 429


@pytest.mark.parametrize("joins", [False, True])
async def test_tokens_of_embeddings_are_charged_to_a_client_that_left(tmp_path: Path, joins: bool) -> None:
    gates = {b"one": asyncio.Event(), b"two": asyncio.Event()}

    def answer(sent: Outbound) -> Answer:
        named = json.loads(sent.body)["input"]
        item = {"object": "embedding", "index": 0, "embedding": [1.0]}
        usage = {"prompt_tokens": 7, "total_tokens": 7}
        body = {"object": "list", "model": "e", "data": [item], "usage": usage}
        return Answer([gates[b"two" if "two" in named else b"one"], json.dumps(body).encode()])

    async with running(Upstream(answer), tmp_path, clock=Clock(), limits__tokens=5) as proxy:
        bound, other = [{"x_semcache_key": await key(proxy)} for _ in range(2)]

        def embed(inputs: Any, headers: dict[str, str]) -> Call:
            return Call(proxy, {"model": "e", "input": inputs}, path="/v1/embeddings", **headers)

        if joins:
            first = embed("two", other)
            await settled()
            leader = embed(["one", "two"], bound)
            await settled()
            gates[b"one"].set()
            await settled()
            await leader.leave()
        else:
            leader = embed("one", bound)
            await settled()
            first = embed("one", other)
            await settled()
            await leader.leave()
            gates[b"one"].set()
        gates[b"two"].set()
        assert (await first.reply()).status == 200
        await settled()
        assert (await embed("three", bound).reply()).status == 429


@pytest.mark.parametrize("kind", ["told, not ended", "not told", "told, broken off", "not told, broken off"])
async def test_a_stream_is_paid_for_however_it_ends(tmp_path: Path, kind: str) -> None:
    """Otherwise a backend that sends no end, tells no usage or breaks off often lifts the limits of every key."""
    said = events(*["word"] * 30, end=False)
    if kind.startswith("told"):
        said.append(b'data: {"id":"c1","choices":[],"usage":{"prompt_tokens":30,"completion_tokens":30}}\n\n')
    end = UpstreamError("reset") if "broken" in kind else b"" if "not ended" in kind else b"data: [DONE]\n\n"
    upstream = Upstream(lambda _: Answer([*said, end], headers=STREAM))
    async with running(upstream, tmp_path, clock=Clock(), limits__tokens=31) as proxy:
        first = await Call(proxy, ask("a long story", stream=True)).reply()
        assert (first.status, first.whole) == (200, "broken" not in kind)
        await settled()
        assert (await Call(proxy, ask("another", stream=True)).reply()).status == 429
        assert 30 <= await spent(proxy) <= 40


async def test_a_call_that_broke_off_is_paid_for_once_by_the_client_that_had_left_it(tmp_path: Path) -> None:
    gate, said = asyncio.Event(), events(*["word"] * 30, end=False)
    upstream = Upstream(lambda _: Answer([gate, *said, UpstreamError("reset")], headers=STREAM))
    async with running(upstream, tmp_path, clock=Clock(), limits__tokens=20) as proxy:
        bound, other = [{"x_semcache_key": await key(proxy)} for _ in range(2)]
        leader = Call(proxy, ask("a long story", stream=True), **bound)
        await settled()
        follower = Call(proxy, ask("a long story", stream=True), **other)
        await settled()
        await leader.leave()
        gate.set()
        assert not (await follower.reply()).whole
        assert (await Call(proxy, ask("another"), **bound).reply()).status == 429
        assert (await Call(proxy, ask("another"), **other).reply()).status == 200


async def test_an_error_in_the_place_of_a_stream_costs_nothing(tmp_path: Path) -> None:
    said = [b'data: {"error":{"message":"overloaded"}}\n\n', b"data: [DONE]\n\n"]
    upstream = Upstream(lambda _: Answer(said, headers=STREAM))
    async with running(upstream, tmp_path, clock=Clock(), limits__tokens=5) as proxy:
        for number in range(3):
            assert (await Call(proxy, ask(f"question {number}", stream=True)).reply()).status == 200


async def test_a_call_that_everybody_left_is_paid_for_once(tmp_path: Path) -> None:
    said = events(*["word"] * 30, end=False)
    upstream = Upstream(lambda _: Answer([*said, asyncio.Event()], headers=STREAM))
    async with running(upstream, tmp_path, clock=Clock()) as proxy:
        call = Call(proxy, ask("a long story", stream=True))
        for _ in range(20):
            await call.message()
        await call.leave()
        await until(lambda: upstream.replies[0].closed)
        assert 30 <= await spent(proxy) <= 40
