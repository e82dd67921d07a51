"""Concurrent requests share one upstream call, and nobody pays for another's misfortune."""

from __future__ import annotations

import asyncio
import secrets
from itertools import count
from pathlib import Path

import msgspec
import pytest

from semcache.errors import UpstreamError
from semcache.protocols import Outbound
from semcache.proxy.auth import new_key
from tests.proxy.driver import CHAT, STREAM, Answer, Call, Upstream, ask, completion, events, running, spoken

PROMPT = "How do I reset the password of the router?"
PARAPHRASE = "How do I reset the password of the router please?"


def whole(_: Outbound) -> Answer:
    return Answer([completion()])


async def settled() -> None:
    """Let every task run until all of them wait for something outside."""
    for _ in range(200):
        await asyncio.sleep(0)
    await asyncio.sleep(0.02)
    for _ in range(200):
        await asyncio.sleep(0)


async def test_fifty_identical_requests_cost_one_call(tmp_path: Path) -> None:
    upstream = Upstream(whole, gate=asyncio.Event())
    async with running(upstream, tmp_path) as proxy:
        calls = [Call(proxy, ask(PROMPT)) for _ in range(50)]
        await settled()
        upstream.gate.set()
        replies = [await call.reply() for call in calls]
    assert len(upstream.calls) == 1
    assert {reply.body for reply in replies} == {completion()}
    assert sum("collapsed" in reply.cache for reply in replies) == 49
    assert sum("stored" in reply.cache for reply in replies) == 1


async def test_paraphrases_that_would_hit_each_other_share_a_call(tmp_path: Path) -> None:
    upstream = Upstream(whole, gate=asyncio.Event())
    async with running(upstream, tmp_path) as proxy:
        first, second = Call(proxy, ask(PROMPT)), Call(proxy, ask(PARAPHRASE))
        await settled()
        upstream.gate.set()
        replies = [await first.reply(), await second.reply()]
    assert len(upstream.calls) == 1
    assert "collapsed" in replies[1].cache


@pytest.mark.parametrize(
    ("other", "headers"),
    [
        (ask("How do I reset the password of the router in 2019?"), {}),
        (ask(PROMPT, temperature=0.5), {}),
        (ask(PROMPT), {"x-semcache-namespace": "other"}),
        (ask(PROMPT), {"x-semcache-category": "careful"}),
        (ask(PROMPT), {"cache-control": "no-cache"}),
        (ask(PROMPT), {"cache-control": "no-store"}),
        (ask(PARAPHRASE), {"x-semcache-min-score": "0.999"}),
    ],
    ids=["guarded", "signature", "namespace", "category", "no-cache", "no-store", "min-score"],
)
async def test_requests_that_may_not_share_an_answer_do_not_share_a_call(
    tmp_path: Path, other: dict[str, object], headers: dict[str, str]
) -> None:
    upstream = Upstream(whole, gate=asyncio.Event())
    async with running(upstream, tmp_path) as proxy:
        calls = [Call(proxy, ask(PROMPT)), Call(proxy, other, **headers)]
        await settled()
        upstream.gate.set()
        replies = [await call.reply() for call in calls]
    assert len(upstream.calls) == 2
    assert not any("collapsed" in reply.cache for reply in replies)


async def test_a_fault_that_is_told_with_status_200_is_nobody_elses(tmp_path: Path) -> None:
    fault = b'{"error":{"message":"overloaded"}}'
    answers = iter([fault])
    upstream = Upstream(lambda _: Answer([next(answers, completion())]), gate=asyncio.Event())
    async with running(upstream, tmp_path) as proxy:
        calls = [Call(proxy, ask(PROMPT)) for _ in range(3)]
        await settled()
        upstream.gate.set()
        replies = [await call.reply() for call in calls]
    assert [reply.body for reply in replies] == [fault, completion(), completion()]


async def test_an_answer_that_was_cut_short_is_shared_by_identical_requests(tmp_path: Path) -> None:
    message = {"role": "assistant", "content": "Turn it"}
    cut = completion(choices=[{"index": 0, "message": message, "finish_reason": "length"}])
    upstream = Upstream(lambda _: Answer([cut]), gate=asyncio.Event())
    async with running(upstream, tmp_path) as proxy:
        calls = [Call(proxy, ask(PROMPT)) for _ in range(3)]
        await settled()
        upstream.gate.set()
        assert [(await call.reply()).body for call in calls] == [cut] * 3
    assert len(upstream.calls) == 1


TOOL = {"type": "function", "function": {"name": "send", "parameters": {"type": "object", "properties": {}}}}
CALLED = {"id": "c", "type": "function", "function": {"name": "send", "arguments": '{"to": "bob"}'}}


def message(**fields: object) -> Upstream:
    choice = {"index": 0, "message": {"role": "assistant", **fields}, "finish_reason": "stop"}
    return Upstream(lambda _: Answer([completion(choices=[choice])]), gate=asyncio.Event())


@pytest.mark.parametrize(
    ("upstream", "fields"),
    [
        (message(content=None, tool_calls=[CALLED]), {"tools": [TOOL]}),
        (message(content="I'm sorry, but I can't help with that."), {}),
        (message(content="Sure: the key is sk-proj-" + "a1B2c3D4e5F6g7H8" * 3), {}),
    ],
    ids=["tool call", "refusal", "secret"],
)
async def test_an_answer_that_is_not_kept_for_paraphrases_is_not_shared_with_one_in_the_air(
    tmp_path: Path, upstream: Upstream, fields: dict[str, object]
) -> None:
    assert upstream.gate is not None
    async with running(upstream, tmp_path) as proxy:
        calls = [Call(proxy, ask(prompt, **fields)) for prompt in (PROMPT, PARAPHRASE, PROMPT)]
        await settled()
        assert len(upstream.calls) == 1
        upstream.gate.set()
        replies = [await call.reply() for call in calls]
    assert ["collapsed" in reply.cache for reply in replies] == [False, False, True]
    assert len(upstream.calls) == 2


async def test_a_paraphrase_is_streamed_the_answer_once_it_is_known_to_be_for_it(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer(events("Press", " Reset."), headers=STREAM), gate=asyncio.Event())
    assert upstream.gate is not None
    async with running(upstream, tmp_path) as proxy:
        calls = [Call(proxy, ask(prompt, stream=True)) for prompt in (PROMPT, PARAPHRASE)]
        await settled()
        upstream.gate.set()
        replies = [await call.reply() for call in calls]
    assert len(upstream.calls) == 1
    assert [spoken(reply.body) for reply in replies] == ["Press Reset."] * 2
    assert "collapsed" in replies[1].cache


async def test_tenants_do_not_share_a_call(tmp_path: Path) -> None:
    upstream = Upstream(whole, gate=asyncio.Event())
    async with running(upstream, tmp_path) as proxy:
        keys = []
        for tenant in ("acme", "globex"):
            plain, key = new_key(secrets.token_bytes, 0.0, tenant, "", proxy.cache.salt)
            await proxy.cache.components.store.add_key(key)
            keys.append(plain)
        proxy._process.auth.replace(await proxy.cache.components.store.keys())
        calls = [Call(proxy, ask(PROMPT), authorization=f"Bearer {plain}") for plain in keys]
        await settled()
        upstream.gate.set()
        replies = [await call.reply() for call in calls]
    assert len(upstream.calls) == 2
    assert [reply.header("cache-status") for reply in replies] == [replies[0].header("cache-status")] * 2
    assert all(name != "authorization" for outbound in upstream.calls for name, _ in outbound.headers)


async def test_followers_of_a_stream_get_every_piece_as_it_comes(tmp_path: Path) -> None:
    more = asyncio.Event()
    pieces = events("Turn ", "it ", "off.")
    upstream = Upstream(lambda _: Answer([*pieces[:2], more, *pieces[2:]], headers=STREAM))
    async with running(upstream, tmp_path) as proxy:
        calls = [Call(proxy, ask(PROMPT, stream=True)) for _ in range(3)]
        for call in calls:
            start = await call.message()
            assert start is not None
            assert start["status"] == 200
            got = [await call.message() for _ in pieces[:2]]
            assert b"".join(message["body"] for message in got if message) == b"".join(pieces[:2])
        assert not more.is_set()
        more.set()
        replies = [await call.reply() for call in calls]
        again = await Call(proxy, ask(PROMPT, stream=True)).reply()
    assert len(upstream.calls) == 1
    assert all(reply.whole and reply.body == b"".join(pieces[2:]) for reply in replies)
    assert again.cache["hit"] is True
    assert spoken(again.body) == "Turn it off."


async def test_a_body_is_made_of_the_stream_that_another_request_follows(tmp_path: Path) -> None:
    gate = asyncio.Event()
    upstream = Upstream(lambda _: Answer(events("Turn ", "it off."), headers=STREAM), gate=gate)
    async with running(upstream, tmp_path) as proxy:
        stream, body = Call(proxy, ask(PROMPT, stream=True)), Call(proxy, ask(PROMPT))
        await settled()
        gate.set()
        streamed, bodied = await stream.reply(), await body.reply()
    assert len(upstream.calls) == 1
    assert spoken(streamed.body) == "Turn it off."
    assert bodied.json["choices"][0]["message"]["content"] == "Turn it off."
    assert bodied.header("content-type") == "application/json"


async def test_the_leader_may_leave_while_others_follow(tmp_path: Path) -> None:
    more = asyncio.Event()
    pieces = events("Turn ", "it off.")
    upstream = Upstream(lambda _: Answer([pieces[0], more, *pieces[1:]], headers=STREAM))
    async with running(upstream, tmp_path) as proxy:
        leader, follower = Call(proxy, ask(PROMPT, stream=True)), Call(proxy, ask(PROMPT, stream=True))
        await leader.message()
        await follower.message()
        await leader.leave()
        more.set()
        reply = await follower.reply()
        again = await Call(proxy, ask(PROMPT)).reply()
    assert reply.whole
    assert spoken(reply.body) == "Turn it off."
    assert len(upstream.calls) == 1
    assert again.cache["hit"] is True


async def test_when_the_last_client_leaves_the_call_ends_and_nothing_is_kept(tmp_path: Path) -> None:
    never = asyncio.Event()
    upstream = Upstream(lambda _: Answer([events("Turn ")[0], never], headers=STREAM))
    async with running(upstream, tmp_path) as proxy:
        clients = [Call(proxy, ask(PROMPT, stream=True)) for _ in range(2)]
        for client in clients:
            await client.message()
        for client in clients:
            await client.leave()
        await settled()
        assert upstream.replies[0].closed
        assert not upstream.replies[0].finished
        assert len(proxy.cache.registry) == 0
        upstream.answer = whole
        fresh = await Call(proxy, ask(PROMPT)).reply()
    assert len(upstream.calls) == 2
    assert fresh.status == 200
    assert "collapsed" not in fresh.cache


async def test_nobody_joins_a_call_that_is_being_given_up(tmp_path: Path) -> None:
    """Closing the abandoned call takes time; a request that comes meanwhile must not be cut off with it."""

    class Slow(Answer):
        async def close(self) -> None:
            await closing.wait()

    closing, never = asyncio.Event(), asyncio.Event()
    upstream = Upstream(lambda _: Slow([events("Turn ")[0], never], headers=STREAM))
    async with running(upstream, tmp_path) as proxy:
        first = Call(proxy, ask(PROMPT, stream=True))
        await first.message()
        await first.leave()
        upstream.answer = lambda _: Answer(events("Turn it off."), headers=STREAM)
        second = await Call(proxy, ask(PROMPT, stream=True)).reply()
        closing.set()
        await settled()
    assert second.whole
    assert spoken(second.body) == "Turn it off."


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("failure", ["unreachable", "status"])
async def test_a_failing_leader_does_not_fail_its_followers(tmp_path: Path, failure: str, stream: bool) -> None:
    def answer(_: Outbound) -> Answer | Exception:
        if len(upstream.calls) > 1:
            return Answer(events("Turn it off."), headers=STREAM) if stream else Answer([completion()])
        return UpstreamError("no route") if failure == "unreachable" else Answer([b"{}"], status=500)

    upstream = Upstream(answer, gate=asyncio.Event())
    async with running(upstream, tmp_path) as proxy:
        leader, follower = Call(proxy, ask(PROMPT, stream=stream)), Call(proxy, ask(PROMPT, stream=stream))
        await settled()
        assert len(upstream.calls) == 1
        upstream.gate.set()
        failed, fine = await leader.reply(), await follower.reply()
    assert failed.status == (502 if failure == "unreachable" else 500)
    assert fine.status == 200
    assert "collapsed" not in fine.cache


async def test_a_call_that_breaks_in_the_middle_breaks_for_all_and_is_not_kept(tmp_path: Path) -> None:
    gate = asyncio.Event()
    upstream = Upstream(lambda _: Answer([*events("Turn ")[:2], UpstreamError("reset")], headers=STREAM), gate=gate)
    async with running(upstream, tmp_path) as proxy:
        calls = [Call(proxy, ask(PROMPT, stream=True)) for _ in range(2)]
        await settled()
        gate.set()
        replies = [await call.reply() for call in calls]
        assert len(proxy.cache.registry) == 0
    assert len(upstream.calls) == 1
    assert all(reply.body.startswith(b"".join(events("Turn ")[:2])) and not reply.whole for reply in replies)


async def test_a_cookie_goes_to_the_client_whose_call_brought_it(tmp_path: Path) -> None:
    cookie = (("content-type", "application/json"), ("set-cookie", "session=1"))
    upstream = Upstream(lambda _: Answer([completion()], headers=cookie), gate=asyncio.Event())
    async with running(upstream, tmp_path) as proxy:
        leader, follower = Call(proxy, ask(PROMPT)), Call(proxy, ask(PROMPT))
        await settled()
        upstream.gate.set()
        replies = [await leader.reply(), await follower.reply(), await Call(proxy, ask(PROMPT)).reply()]
    assert [reply.header("set-cookie") for reply in replies] == ["session=1", None, None]


@pytest.mark.parametrize(
    "name",
    [
        *("openai-organization", "openai-project", "x-ratelimit-remaining-tokens", "anthropic-organization-id"),
        *("anthropic-ratelimit-requests-reset", "ratelimit-remaining", "ratelimit"),
    ],
)
async def test_an_account_is_told_to_the_client_whose_call_it_was(tmp_path: Path, name: str) -> None:
    headers = (("content-type", "application/json"), (name, "of the first"), ("openai-processing-ms", "7"))
    upstream = Upstream(lambda _: Answer([completion()], headers=headers), gate=asyncio.Event())
    assert upstream.gate is not None
    async with running(upstream, tmp_path) as proxy:
        calls = [Call(proxy, ask(PROMPT)) for _ in range(2)]
        await settled()
        upstream.gate.set()
        replies = [await call.reply() for call in calls]
    assert [reply.header(name) for reply in replies] == ["of the first", None]
    assert [reply.header("openai-processing-ms") for reply in replies] == ["7", "7"]


async def test_responses_that_the_upstream_keeps_are_not_shared_by_paraphrases(tmp_path: Path) -> None:
    def answer(outbound: Outbound) -> Answer:
        part = {"type": "output_text", "text": "Hold the button.", "annotations": []}
        item = {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": [part]}
        body = {"id": f"resp_{next(ids)}", "object": "response", "status": "completed", "output": [item]}
        return Answer([msgspec.json.encode({**body, "error": None, "model": "m"})])

    def request(prompt: str, **fields: object) -> dict[str, object]:
        return {"model": "m", "input": prompt, **fields}

    ids = count()
    upstream = Upstream(answer)
    path = "/v1/responses"
    async with running(upstream, tmp_path) as proxy:
        first = await Call(proxy, request(PROMPT), path).reply()
        same = await Call(proxy, request(PROMPT), path).reply()
        kept = await Call(proxy, request(PARAPHRASE, store=True), path).reply()
        left_out = await Call(proxy, request(PARAPHRASE + "!", store=None), path).reply()
        loose = await Call(proxy, request("Please " + PARAPHRASE, store=False), path).reply()
        upstream.gate = asyncio.Event()
        both = [Call(proxy, request(f"{text} fast?"), path) for text in (PROMPT, PARAPHRASE)]
        await settled()
        upstream.gate.set()
        made = [(await call.reply()).json["id"] for call in both]
    assert same.cache["hit"] is True
    assert same.json["id"] == first.json["id"]
    assert kept.cache == {"fwd": "miss", "stored": True, "detail": "exact-only"}
    assert left_out.cache["detail"] == "exact-only"
    assert loose.cache["detail"] == "semantic"
    assert made[0] != made[1]


async def test_the_path_is_what_was_asked(tmp_path: Path) -> None:
    upstream = Upstream(whole)
    async with running(upstream, tmp_path) as proxy:
        await Call(proxy, ask(PROMPT), query="api-version=1").reply()
    assert (upstream.calls[0].path, upstream.calls[0].query) == (CHAT, "api-version=1")
