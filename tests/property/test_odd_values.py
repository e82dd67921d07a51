"""Whatever a client or an upstream writes in a field, the other is given it, and no part of the cache fails."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semcache.dialects import dialects
from semcache.proxy.application import Proxy
from semcache.types import Endpoint
from semcache.upstream.backends.echo import echo_app
from semcache.upstream.backends.inprocess import InProcessBackend
from tests.dialects.odd import ANSWERS, EMBEDDINGS, REQUESTS, changed, mutants
from tests.proxy.driver import STREAM, Answer, Call, Clock, Upstream, running

pytestmark = pytest.mark.hypothesis  # strategies are drawn from inside the tests

FEW = settings(max_examples=settings.default.max_examples // 4)  # each is a request or two
JSON = {"content-type": "application/json"}
PATHS = {endpoint: dialect.path for endpoint, dialect in dialects().items()}
ASKED = [(PATHS[endpoint], body) for endpoint, bodies in REQUESTS.items() for body in bodies]
ASKED += [("/v1/embeddings", body) for body in EMBEDDINGS]
PLANS = {"plans__mode": "answer", "plans__rule": "finished"}


def faults(proxy: Proxy) -> dict[str, float]:
    """What went wrong inside, by component."""
    counted = [sample for metric in proxy.cache.meter.faults.collect() for sample in metric.samples]
    return {one.labels["component"]: one.value for one in counted if one.name.endswith("_total") and one.value}


def echo() -> InProcessBackend:
    return InProcessBackend(echo_app(ids=lambda: "1", clock=lambda: 1.0))


async def check_request(proxy: Proxy, path: str, document: Any) -> None:
    reply = await Call(proxy, document, path, **JSON).reply()
    assert reply.whole
    assert reply.status in (200, 400), reply.body
    assert not faults(proxy)


async def check_answer(proxy: Proxy, upstream: Upstream, clock: Clock, endpoint: Endpoint, answer: Answer) -> None:
    """Ask twice: forwarded is what came, byte for byte, and replayed no more than a whole answer."""
    clock.now += 1
    upstream.answer = lambda _: answer
    [body] = REQUESTS[endpoint][-1:]
    if endpoint in (Endpoint.CHAT, Endpoint.COMPLETIONS) and answer.headers is STREAM:
        # Else the proxy asks for the usage itself, and takes it out of what it hands on.
        body = {**body, "stream_options": {"include_usage": True}}
    body = {**body, "stream": answer.headers is STREAM, "cache": {"namespace": str(clock.now)}}
    sent = b"".join(piece for piece in answer.pieces if isinstance(piece, bytes))
    first = await Call(proxy, body, PATHS[endpoint], **JSON).reply()
    assert first.whole
    assert first.body == sent
    again = await Call(proxy, body, PATHS[endpoint], **JSON).reply()
    assert again.whole
    assert again.body == sent or again.cache.get("hit")
    assert not faults(proxy)


def streams(endpoint: Endpoint) -> list[bytes]:
    return list(dialects()[endpoint].stream(json.dumps(ANSWERS[endpoint]).encode(), {"include_usage": True}))


def replaced(event: bytes, payload: Any) -> bytes:
    head = event[: event.index(b"data: ")]
    return head + b"data: " + json.dumps(payload).encode() + b"\n\n"


def payload(event: bytes) -> Any:
    return json.loads(event[event.index(b"data: ") + 6 :])


def odd_streams(endpoint: Endpoint) -> Iterator[Answer]:
    events = streams(endpoint)
    for at, event in enumerate(events):
        if b"[DONE]" not in event:
            for _, odd in changed(payload(event)):
                yield Answer([*events[:at], replaced(event, odd), *events[at + 1 :]], headers=STREAM)


@pytest.mark.parametrize(("path", "body"), ASKED, ids=lambda value: value if isinstance(value, str) else "")
def test_a_request_with_anything_in_a_field_is_answered(tmp_path: Path, path: str, body: dict[str, Any]) -> None:
    with asyncio.Runner() as runner:
        opened = running(echo(), tmp_path, **PLANS)
        proxy = runner.run(opened.__aenter__())

        @FEW
        @given(mutants([body]))
        def check(document: Any) -> None:
            runner.run(check_request(proxy, path, document))

        try:
            check()
        finally:
            runner.run(opened.__aexit__(None, None, None))


@pytest.mark.parametrize("endpoint", ANSWERS, ids=str)
def test_an_answer_with_anything_in_a_field_reaches_the_client(tmp_path: Path, endpoint: Endpoint) -> None:
    events = streams(endpoint)
    spoken = [at for at, event in enumerate(events) if b"[DONE]" not in event]
    with asyncio.Runner() as runner:
        upstream, clock = Upstream(lambda _: Answer([])), Clock()
        opened = running(upstream, tmp_path, clock=clock, **PLANS)
        proxy = runner.run(opened.__aenter__())

        @FEW
        @given(mutants([ANSWERS[endpoint]]))
        def check_whole(odd: Any) -> None:
            runner.run(check_answer(proxy, upstream, clock, endpoint, Answer([json.dumps(odd).encode()])))

        @FEW
        @given(st.data())
        def check_stream(data: st.DataObject) -> None:
            at = data.draw(st.sampled_from(spoken))
            odd = replaced(events[at], data.draw(mutants([payload(events[at])])))
            answer = Answer([*events[:at], odd, *events[at + 1 :]], headers=STREAM)
            runner.run(check_answer(proxy, upstream, clock, endpoint, answer))

        try:
            check_whole()
            check_stream()
        finally:
            runner.run(opened.__aexit__(None, None, None))


@pytest.mark.slow
@pytest.mark.parametrize(("path", "body"), ASKED, ids=lambda value: value if isinstance(value, str) else "")
async def test_every_field_of_a_request_may_hold_every_odd_value(
    tmp_path: Path, path: str, body: dict[str, Any]
) -> None:
    async with running(echo(), tmp_path, **PLANS) as proxy:
        for where, odd in changed(body):
            try:
                await check_request(proxy, path, odd)
            except AssertionError as error:
                raise AssertionError(where) from error


@pytest.mark.slow
@pytest.mark.parametrize("endpoint", ANSWERS, ids=str)
async def test_every_field_of_an_answer_may_hold_every_odd_value(tmp_path: Path, endpoint: Endpoint) -> None:
    upstream, clock = Upstream(lambda _: Answer([])), Clock()
    async with running(upstream, tmp_path, clock=clock, **PLANS) as proxy:
        for where, odd in changed(ANSWERS[endpoint]):
            try:
                await check_answer(proxy, upstream, clock, endpoint, Answer([json.dumps(odd).encode()]))
            except AssertionError as error:
                raise AssertionError(where) from error
        for answer in odd_streams(endpoint):
            await check_answer(proxy, upstream, clock, endpoint, answer)
