"""Requests for the same embeddings share one upstream call, and nobody pays for another's misfortune."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from semcache.errors import UpstreamError, UpstreamTimeout
from semcache.protocols import Outbound
from semcache.proxy.embedding_coalescing import EmbeddingsCalls, EmbeddingsResult
from tests.proxy.driver import Answer, Call, Received, Upstream, running
from tests.proxy.test_coalesced_requests import settled
from tests.waiting import PATIENCE

PATH = "/v1/embeddings"


def asked(outbound: Outbound) -> list[str]:
    texts = msgspec.json.decode(outbound.body)["input"]
    return [texts] if isinstance(texts, str) else texts


def embedded(outbound: Outbound) -> Answer:
    texts = asked(outbound)
    data = [{"object": "embedding", "index": i, "embedding": [float(len(text))]} for i, text in enumerate(texts)]
    tokens = sum(map(len, texts))
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return Answer([msgspec.json.encode({"object": "list", "data": data, "model": "m", "usage": usage})])


def request(texts: str | Sequence[str], **fields: Any) -> dict[str, Any]:
    return {"model": "m", "input": texts, **fields}


def lengths(reply: Received) -> list[float]:
    assert [item["index"] for item in reply.json["data"]] == list(range(len(reply.json["data"])))
    return [item["embedding"][0] for item in reply.json["data"]]


async def test_fifty_requests_for_the_same_input_cost_one_call(tmp_path: Path) -> None:
    upstream = Upstream(embedded, gate=asyncio.Event())
    async with running(upstream, tmp_path) as proxy:
        calls = [Call(proxy, request("one"), PATH) for _ in range(50)]
        await settled()
        upstream.gate.set()
        replies = [await call.reply() for call in calls]
        stats = await proxy.cache.stats()
        again = await Call(proxy, request("one"), PATH).reply()
    assert len(upstream.calls) == 1
    assert {tuple(lengths(reply)) for reply in replies} == {(3.0,)}
    assert sum("collapsed" in reply.cache for reply in replies) == 49
    assert sum("stored" in reply.cache for reply in replies) == 1
    assert again.cache["hit"] is True
    assert stats["total"]["saved_tokens"] == 49 * 3


async def test_each_input_is_asked_for_once_whatever_it_comes_with(tmp_path: Path) -> None:
    upstream = Upstream(embedded, gate=asyncio.Event())
    async with running(upstream, tmp_path) as proxy:
        first = Call(proxy, request(["a", "bb", "ccc"]), PATH)
        await settled()
        second = Call(proxy, request(["dddd", "ccc", "a"]), PATH)
        await settled()
        third = Call(proxy, request(["dddd", "bb"]), PATH)
        await settled()
        upstream.gate.set()
        replies = [await call.reply() for call in (first, second, third)]
    assert [asked(outbound) for outbound in upstream.calls] == [["a", "bb", "ccc"], ["dddd"]]
    assert [lengths(reply) for reply in replies] == [[1.0, 2.0, 3.0], [4.0, 3.0, 1.0], [4.0, 2.0]]
    assert [reply.json["usage"]["prompt_tokens"] for reply in replies] == [6, 8, 6]
    assert ["collapsed" in reply.cache for reply in replies] == [False, True, True]


@pytest.mark.parametrize(
    ("other", "headers"),
    [
        (request("one", dimensions=8), {}),
        (request("one"), {"x-semcache-namespace": "other"}),
        (request("one"), {"cache-control": "no-cache"}),
        (request("one"), {"cache-control": "no-store"}),
    ],
    ids=["identity", "namespace", "no-cache", "no-store"],
)
async def test_requests_that_may_not_share_an_answer_do_not_share_a_call(
    tmp_path: Path, other: dict[str, Any], headers: dict[str, str]
) -> None:
    upstream = Upstream(embedded, gate=asyncio.Event())
    async with running(upstream, tmp_path) as proxy:
        calls = [Call(proxy, request("one"), PATH), Call(proxy, other, PATH, **headers)]
        await settled()
        upstream.gate.set()
        replies = [await call.reply() for call in calls]
    assert len(upstream.calls) == 2
    assert not any("collapsed" in reply.cache for reply in replies)


@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (UpstreamError("no route"), 502),
        (UpstreamTimeout("too slow"), 504),
        (Answer([b"{}"], status=400), 400),
        (Answer([b"no JSON"]), 200),
    ],
    ids=["unreachable", "timeout", "status", "unreadable"],
)
async def test_a_failing_call_fails_nobody_else(tmp_path: Path, failure: Answer | Exception, status: int) -> None:
    """The other request's inputs may be what the upstream refuses."""

    def answer(outbound: Outbound) -> Answer | Exception:
        return failure if "bad" in asked(outbound) else embedded(outbound)

    upstream = Upstream(answer, gate=asyncio.Event())
    async with running(upstream, tmp_path) as proxy:
        leader = Call(proxy, request(["bad", "one"]), PATH)
        await settled()
        follower = Call(proxy, request(["two words", "one"]), PATH)
        await settled()
        upstream.gate.set()
        failed, fine = await leader.reply(), await follower.reply()
    assert failed.status == status
    assert [asked(outbound) for outbound in upstream.calls] == [["bad", "one"], ["two words"], ["one"]]
    assert fine.status == 200
    assert lengths(fine) == [9.0, 3.0]
    assert "stored" in fine.cache


async def test_a_follower_whose_own_call_fails_says_so(tmp_path: Path) -> None:
    def answer(outbound: Outbound) -> Answer:
        return (
            Answer([b'{"error":{"message":"too long"}}'], status=400)
            if "bad" in asked(outbound)
            else embedded(outbound)
        )

    upstream = Upstream(answer, gate=asyncio.Event())
    async with running(upstream, tmp_path) as proxy:
        leader = Call(proxy, request("one"), PATH)
        await settled()
        follower = Call(proxy, request(["one", "bad"]), PATH)
        await settled()
        upstream.gate.set()
        fine, failed = await leader.reply(), await follower.reply()
    assert fine.status == 200
    assert failed.status == 400
    assert failed.json == {"error": {"message": "too long"}}


async def test_the_leader_may_leave_while_others_wait(tmp_path: Path) -> None:
    upstream = Upstream(embedded, gate=asyncio.Event())
    async with running(upstream, tmp_path) as proxy:
        leader, follower = Call(proxy, request("one"), PATH), Call(proxy, request("one"), PATH)
        await settled()
        await leader.leave()
        upstream.gate.set()
        reply = await follower.reply()
        again = await Call(proxy, request("one"), PATH).reply()
    assert len(upstream.calls) == 1
    assert lengths(reply) == [3.0]
    assert again.cache["hit"] is True


async def test_when_the_last_client_leaves_the_call_ends_and_nobody_joins_it(tmp_path: Path) -> None:
    class Slow(Answer):
        async def close(self) -> None:
            self.closed = True
            await closing.wait()

    closing, never = asyncio.Event(), asyncio.Event()
    upstream = Upstream(lambda _: Slow([never]))
    async with running(upstream, tmp_path) as proxy:
        clients = [Call(proxy, request("one"), PATH) for _ in range(2)]
        await settled()
        for client in clients:
            await client.leave()
        await settled()
        assert upstream.replies[0].closed
        upstream.answer = embedded
        fresh = await Call(proxy, request("one"), PATH).reply()
        closing.set()
        await settled()
        again = await Call(proxy, request("one"), PATH).reply()
        assert len(proxy.generation.embeddings._calls) == 0
    assert len(upstream.calls) == 2
    assert fresh.status == 200
    assert "collapsed" not in fresh.cache
    assert again.cache["hit"] is True


async def test_a_cookie_goes_to_the_client_whose_call_brought_it(tmp_path: Path) -> None:
    def answer(outbound: Outbound) -> Answer:
        return Answer(embedded(outbound).pieces, headers=(("set-cookie", "session=1"),))

    upstream = Upstream(answer, gate=asyncio.Event())
    async with running(upstream, tmp_path) as proxy:
        leader, follower = Call(proxy, request("one"), PATH), Call(proxy, request("one"), PATH)
        await settled()
        upstream.gate.set()
        replies = [await leader.reply(), await follower.reply()]
    assert [reply.header("set-cookie") for reply in replies] == ["session=1", None]


async def test_an_input_that_holds_a_secret_is_not_kept(tmp_path: Path) -> None:
    upstream = Upstream(embedded)
    async with running(upstream, tmp_path) as proxy:
        texts = ["my key is sk-proj-Zq4Lx8Wm2Vb7Nc5Td9Rf", "plain"]
        for _ in range(2):
            assert (await Call(proxy, request(texts), PATH).reply()).status == 200
    assert [asked(one) for one in upstream.calls] == [texts, texts[:1]], "the plain one alone is a hit"


async def test_a_call_that_ends_late_takes_nobody_from_the_call_in_its_place() -> None:
    calls, name = EmbeddingsCalls(), (b"digest", "default")
    left, ended = asyncio.Event(), asyncio.Event()

    async def slow() -> EmbeddingsResult:
        try:
            await asyncio.sleep(PATIENCE)
        finally:
            await asyncio.shield(ended.wait())
        raise AssertionError

    async def answering() -> EmbeddingsResult:
        await left.wait()
        return EmbeddingsResult(200, [], b"", [b"item"])

    with calls.begin(slow(), [name]):
        await settled()
    second = calls.begin(answering(), [name])
    ended.set()
    await settled()
    joined = calls.in_flight(name)
    assert joined is not None, "the first call ended, and the second one is still to be joined"
    assert joined.call is second
    with second:
        left.set()
        assert (await second.result()).items == [b"item"]
    await settled()
    assert len(calls) == 0


@pytest.mark.parametrize("joined", [False, True])
async def test_a_reply_to_some_inputs_that_cannot_be_read_is_asked_for_whole(tmp_path: Path, joined: bool) -> None:
    def unnumbered(outbound: Outbound) -> Answer:
        items = [{"object": "embedding", "index": 0, "embedding": [float(len(text))]} for text in asked(outbound)]
        return Answer([msgspec.json.encode({"object": "list", "model": "e", "data": items, "usage": {}})])

    texts, upstream = ["one", "three", "seven"], Upstream(unnumbered)
    async with running(upstream, tmp_path) as proxy:
        if joined:
            upstream.gate = asyncio.Event()
            first = Call(proxy, request("one"), PATH)
            await settled()
            second = Call(proxy, request(texts), PATH)
            await settled()
            upstream.gate.set()
            await first.reply()
        else:
            await Call(proxy, request("one"), PATH).reply()
            second = Call(proxy, request(texts), PATH)
        reply = await second.reply()
    assert [item["embedding"] for item in reply.json["data"]] == [[float(len(text))] for text in texts]
    assert asked(upstream.calls[-1]) == texts
