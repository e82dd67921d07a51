"""Limits of API keys: what goes beyond is refused in the client's own dialect, with the time to come again."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import anthropic
import httpx2
import openai
import pytest
import uvicorn

from semcache.config.settings import Settings
from semcache.protocols import Outbound
from semcache.proxy.application import Proxy
from semcache.proxy.auth import new_key
from semcache.proxy.key_counts import KeyCounts
from tests.proxy.driver import PACK, STREAM, Answer, Call, Clock, Upstream, ask, completion, events, running
from tests.waiting import until

_MESSAGE = b"""{"id":"m1","type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"Hi."}],
"stop_reason":"end_turn","stop_sequence":null,"usage":{"input_tokens":5,"output_tokens":7}}"""


@pytest.fixture
def upstream() -> Upstream:
    return Upstream(lambda _: Answer([completion()]))


async def _key(proxy: Proxy, tenant: str = "acme", **limits: Any) -> str:
    store = proxy.cache.components.store
    made = [0]

    def random(n: int) -> bytes:
        made[0] += 1
        return f"{tenant}{made[0]}".encode().ljust(n, b".")[:n]

    plain, key = new_key(random, 1.0, tenant, "", store.salt)
    await store.add_key(replace(key, **limits))
    keys = await store.keys()
    proxy._process.auth.replace(keys)
    proxy._process.limiter.replace(keys)
    return plain


async def test_a_key_is_held_to_its_requests_of_a_minute_and_comes_back_when_told(
    tmp_path: Path, upstream: Upstream
) -> None:
    clock = Clock()
    async with running(upstream, tmp_path, clock=clock) as proxy:
        bound = {"x_semcache_key": await _key(proxy, requests_per_minute=3)}
        free = {"x_semcache_key": await _key(proxy, "other")}
        for number in range(3):
            clock.now += 1
            assert (await Call(proxy, ask(f"question {number}"), **bound).reply()).status == 200
        refused = await Call(proxy, ask("one more"), **bound).reply()
        assert refused.status == 429
        assert refused.json["error"]["code"] == "rate_limit_exceeded"
        assert refused.cache == {"detail": "rate_limit_exceeded"}
        after = int(refused.header("retry-after") or "")
        assert 55 <= after <= 60, "an SDK waits no longer"
        assert refused.header("x-should-retry") is None
        assert (await Call(proxy, ask("one more"), **free).reply()).status == 200
        assert (await Call(proxy, ask("question 0"), **bound).reply()).cache["hit"], "hits do not count"
        clock.now += after - 8
        assert (await Call(proxy, ask("one more"), **bound).reply()).status == 429, "not sixty seconds have passed"
        clock.now += 8
        again = await Call(proxy, ask("another"), **bound).reply()
        if again.status == 429:  # seconds are forgotten five at a time
            assert int(again.header("retry-after") or "") <= 5
            clock.now += 5
            again = await Call(proxy, ask("another"), **bound).reply()
        assert again.status == 200
        metrics = (await Call(proxy, path="/metrics", method="GET", x_semcache_key=await _admin(proxy)).reply()).body
        assert b'semcache_limited_total{limit="requests"}' in metrics
        assert b'why="limited"}' in metrics


async def _admin(proxy: Proxy) -> str:
    store = proxy.cache.components.store
    plain, key = new_key(lambda n: b"a" * n, 2.0, "ops", "", store.salt, admin=True)
    await store.add_key(key)
    proxy._process.auth.replace(await store.keys())
    return plain


async def test_hits_count_where_a_setting_says_so(tmp_path: Path, upstream: Upstream) -> None:
    async with running(upstream, tmp_path, clock=Clock(), limits__hits=True, limits__requests=2) as proxy:
        assert (await Call(proxy, ask("hello")).reply()).status == 200
        assert (await Call(proxy, ask("hello")).reply()).cache["hit"]
        assert (await Call(proxy, ask("hello")).reply()).status == 429
        assert (await Call(proxy, path="/v1/models", method="GET").reply()).status == 200, "looking costs nothing"
        assert (await Call(proxy, {}, path="/v1/audio/speech").reply()).status == 429


@pytest.mark.parametrize("stream", [False, True])
async def test_tokens_are_counted_when_they_are_known(tmp_path: Path, stream: bool) -> None:
    pieces = [
        *events("Hi", end=False),
        b'data: {"id":"c1","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}\n\n',
    ]
    streamed = Answer([*pieces, b"data: [DONE]\n\n"], headers=STREAM)
    upstream = Upstream(lambda _: replace(streamed) if stream else Answer([completion()]))
    clock = Clock()
    async with running(upstream, tmp_path, clock=clock, limits__tokens=20) as proxy:
        for number in range(2):
            assert (await Call(proxy, ask(f"q{number}", stream=stream)).reply()).status == 200
        refused = await Call(proxy, ask("q3", stream=stream)).reply()
        assert (refused.status, refused.json["error"]["code"]) == (429, "rate_limit_exceeded")
        assert "20 tokens" in refused.json["error"]["message"]
        clock.now += int(refused.header("retry-after") or "") + 5  # seconds are forgotten five at a time
        assert (await Call(proxy, ask("q3", stream=stream)).reply()).status == 200


@pytest.mark.parametrize("tokens", [-(10**6), 2**63, 10**30, 10**400])
async def test_a_number_of_tokens_that_none_can_be_costs_nobody_anything(tmp_path: Path, tokens: int) -> None:
    """Neither the key, nor the accounts of those whose requests are written down with this one."""
    absurd = json.loads(completion())
    absurd["usage"] = {"prompt_tokens": tokens, "completion_tokens": tokens}
    upstream = Upstream(lambda sent: Answer([json.dumps(absurd).encode() if b"odd" in sent.body else completion()]))
    async with running(upstream, tmp_path, clock=Clock(), limits__tokens=20, limits__dollars=5.0) as proxy:
        for _ in range(3):
            reply = await Call(proxy, ask("odd"), cache_control="no-cache").reply()
            assert (reply.status, reply.cache.get("stored")) == (200, True)
        assert (await Call(proxy, ask("even")).reply()).status == 200
        await proxy.cache.event_log.flush()
        total = (await proxy.cache.stats())["total"]
        assert (total["requests"], total["spent_usd"]) == (4, 0.0)


async def test_the_dollars_of_a_day_are_used_up_until_midnight(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer([completion(model="gpt-4o")]))
    clock = Clock()
    prices = tmp_path / "prices.yaml"
    prices.write_text("m: [100, 100]\n")
    async with running(upstream, tmp_path, clock=clock, limits__dollars=0.002, prices=str(prices)) as proxy:
        assert (await Call(proxy, ask("one")).reply()).status == 200
        assert (await Call(proxy, ask("two")).reply()).status == 200
        refused = await Call(proxy, ask("three")).reply()
        assert (refused.status, refused.json["error"]["code"]) == (429, "insufficient_quota")
        assert refused.header("x-should-retry") == "false", "no SDK waits until midnight"
        clock.now += int(refused.header("retry-after") or "") - 2
        assert (await Call(proxy, ask("three")).reply()).status == 429
        clock.now += 2
        assert (await Call(proxy, ask("three")).reply()).status == 200


async def test_a_refusal_has_the_shape_of_the_clients_api(tmp_path: Path, upstream: Upstream) -> None:
    async with running(upstream, tmp_path, clock=Clock(), limits__requests=1) as proxy:
        assert (await Call(proxy, ask("one")).reply()).status == 200
        body = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}
        refused = await Call(proxy, body, path="/v1/messages").reply()
        assert refused.status == 429
        assert refused.json["error"]["type"] == "rate_limit_error"
        assert refused.json["type"] == "error"
        for path, body in (
            ("/v1/responses", {"model": "m", "input": "hi", "store": False}),
            ("/v1/embeddings", {"model": "m", "input": "hi"}),
            ("/v1/completions", {"model": "m", "prompt": "hi"}),
        ):
            refused = await Call(proxy, body, path=path).reply()
            assert (refused.status, refused.json["error"]["code"]) == (429, "rate_limit_exceeded")
            assert refused.header("retry-after")
    assert len(upstream.calls) == 1


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
async def test_tokens_of_a_call_that_a_client_left_are_its_own(tmp_path: Path, newline: str) -> None:
    import asyncio

    gate = asyncio.Event()
    said = events(*["word"] * 30, end=False, newline=newline)
    upstream = Upstream(lambda _: Answer([*said, gate], headers=STREAM))
    async with running(upstream, tmp_path, clock=Clock(), limits__tokens=25) as proxy:
        call = Call(proxy, ask("a long story", stream=True))
        for _ in range(20):
            await call.message()
        await call.leave()
        await until(lambda: upstream.replies[0].closed)
        assert (await Call(proxy, ask("another")).reply()).status == 429


async def test_a_refusal_that_repeats_the_request_ends_no_counting(tmp_path: Path) -> None:
    """FastAPI's refusals hold the body that was sent, and with it what this proxy asked for."""

    def answer(sent: Outbound) -> Answer:
        body = json.loads(sent.body)
        if body["messages"] == [{"role": "user", "content": "odd"}]:
            said = {"detail": [{"type": "missing", "loc": ["body", "x"], "msg": "Field required", "input": body}]}
            return Answer([json.dumps(said).encode()], status=422)
        pieces = events("Hi", end=False)
        if body.get("stream_options", {}).get("include_usage"):
            pieces.append(b'data: {"id":"c1","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}\n\n')
        return Answer([*pieces, b"data: [DONE]\n\n"], headers=STREAM)

    async with running(Upstream(answer), tmp_path, clock=Clock(), limits__tokens=20) as proxy:
        refused = await Call(proxy, ask("odd", stream=True)).reply()
        assert (refused.status, b"include_usage" in refused.body) == (422, False)
        for number in range(2):
            assert (await Call(proxy, ask(f"q{number}", stream=True)).reply()).status == 200
        assert (await Call(proxy, ask("q3", stream=True)).reply()).status == 429


async def test_one_model_that_cannot_tell_its_usage_leaves_the_others_counted(tmp_path: Path) -> None:
    """A gateway in front of servers old and new; otherwise one request for an old model would lift every limit."""
    refuses = {"old", "older"}

    def answer(sent: Outbound) -> Answer:
        body = json.loads(sent.body)
        if body.get("stream_options") and body["model"] in refuses:
            return Answer([b'{"error":{"message":"unknown field: stream_options"}}'], status=400)
        pieces = events("Hi", end=False)
        if body.get("stream_options"):
            pieces.append(b'data: {"id":"c1","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":999}}\n\n')
        return Answer([*pieces, b"data: [DONE]\n\n"], headers=STREAM)

    upstream, clock = Upstream(answer), Clock()

    def asked() -> list[bool]:
        sent, upstream.calls[:] = [b"stream_options" in call.body for call in upstream.calls], []
        return sent

    async with running(upstream, tmp_path, clock=clock, limits__tokens=900) as proxy:
        for number, model in enumerate(["old", "old", "older"]):
            assert (await Call(proxy, ask(f"q{number}", stream=True) | {"model": model}).reply()).status == 200
        assert asked() == [True, False, False, True, False], "a refusal is remembered, for its model"
        refuses.clear()
        clock.now += 3600
        assert (await Call(proxy, ask("later", stream=True) | {"model": "old"}).reply()).status == 200
        assert asked() == [True], "and not for ever"
        assert (await Call(proxy, ask("q3", stream=True)).reply()).status == 429
        clock.now += 100
        assert (await Call(proxy, ask("q3", stream=True)).reply()).status == 200
        assert (await Call(proxy, ask("q4", stream=True)).reply()).status == 429


def _count(file: Path, allowed: Any, most: int) -> None:
    counts = KeyCounts(file)
    for _ in range(50):
        counts.take("key", 1000.0, lambda used: sum(used.requests) < most and _add(allowed))
    counts.close()


def _add(allowed: Any) -> bool:
    with allowed.get_lock():
        allowed.value += 1
    return True


def test_processes_count_together(tmp_path: Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    allowed = spawn.Value("i", 0)
    workers = [spawn.Process(target=_count, args=(tmp_path / "counts", allowed, 60)) for _ in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert allowed.value == 60


@pytest.mark.parametrize("held", [0, 1 << 20])
def test_on_a_full_disk_each_worker_counts_on_its_own_and_none_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, held: int
) -> None:
    file = tmp_path / "counts"
    with file.open("wb") as made:
        made.truncate(held)

    def full(*_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full, raising=False)
    counts = KeyCounts(file)
    counts.add("key", 1000.0, tokens=5, dollars=1.5)
    assert counts.used("key", 1000.0).dollars == 1.5
    counts.close()
    assert "each worker on its own" in caplog.text


@pytest.mark.parametrize("known", [True, False])
def test_the_file_of_counts_has_no_holes_that_a_full_disk_could_not_fill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: bool
) -> None:
    def unknown(*_: int) -> None:
        raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    if not known:
        monkeypatch.setattr(os, "posix_fallocate", unknown, raising=False)
    file = tmp_path / "counts"
    file.write_bytes(b"")
    os.truncate(file, 1 << 20)
    counts = KeyCounts(file)
    counts.add("key", 1000.0, tokens=5, dollars=1.5)
    counts.close()
    assert file.stat().st_blocks * 512 >= 1 << 19
    counts = KeyCounts(file)
    assert counts.used("key", 1000.0).dollars == 1.5


def test_never_more_than_the_limit_in_any_sixty_seconds(tmp_path: Path) -> None:
    counts, admitted = KeyCounts(tmp_path / "counts"), []
    for tick in range(4000):
        now = 1_700_000_000.0 + tick * 0.25

        def within(used: Any, now: float = now) -> bool:
            if sum(used.requests) >= 10:
                return False
            admitted.append(now)
            return True

        counts.take("key", now, within)
    assert all(later - earlier > 60.0 for earlier, later in zip(admitted, admitted[10:], strict=False))
    assert len(admitted) >= 10 * (1000 // 65)


def test_counts_outlive_the_process_and_a_day(tmp_path: Path) -> None:
    day = 86_400.0 * 19_000
    counts = KeyCounts(tmp_path / "counts")
    counts.add("key", day + 10, tokens=5, dollars=1.5)
    counts.close()
    counts = KeyCounts(tmp_path / "counts")
    assert counts.used("key", day + 80_000).dollars == 1.5
    assert sum(counts.used("key", day + 80_000).tokens) == 0
    assert counts.used("key", day + 86_400).dollars == 0.0
    assert counts.used("other", day).dollars == 0.0


# Real SDKs


@contextmanager
def _served(proxy: Proxy) -> Iterator[str]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        server = uvicorn.Server(uvicorn.Config(proxy, log_level="error", lifespan="on"))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        while not server.started:
            threading.Event().wait(0.01)
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


def test_sdks_wait_as_long_as_they_are_told_and_then_succeed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pack.yaml").write_text(PACK)
    clock = Clock(1_700_000_003.0)
    cli = {
        "data": tmp_path / "data",
        "store.url": "memory://",
        "policies": str(tmp_path / "pack.yaml"),
        "embedder": "hashing",
        "limits.requests": 1,
    }
    replies = Upstream(lambda sent: Answer([_MESSAGE if "messages" in sent.path else completion()]))
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        clock.now += seconds

    monkeypatch.setattr("time.sleep", sleep)
    proxy = Proxy(Settings.load(cli, {}, None), backend=replies, clock=clock)
    # Without the environment, which may name an HTTP proxy of this machine.
    with _served(proxy) as url, httpx2.Client(trust_env=False) as plain:
        client = openai.OpenAI(base_url=f"{url}/v1", api_key="k", http_client=plain)
        said = [{"role": "user", "content": "one"}]
        client.chat.completions.create(model="m", messages=said)
        clock.now += 15
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "two"}])
        assert 40 <= slept[0] <= 60, "the SDK slept as long as Retry-After said"
        with pytest.raises(openai.RateLimitError, match="1 requests of a minute"):
            client.with_options(max_retries=0).chat.completions.create(
                model="m", messages=[{"role": "user", "content": "three"}]
            )
        clock.now += 15
        slept.clear()
        claude = anthropic.Anthropic(base_url=url, api_key="k", http_client=plain)
        question: Any = [{"role": "user", "content": "four"}]
        assert claude.messages.create(model="m", max_tokens=9, messages=question).content[0].text == "Hi."
        assert 40 <= slept[0] <= 60
        with pytest.raises(anthropic.RateLimitError) as caught:
            claude.with_options(max_retries=0).messages.create(
                model="m", max_tokens=9, messages=[{"role": "user", "content": "five"}]
            )
        assert caught.value.response.headers["retry-after"]
