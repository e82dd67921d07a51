"""Answers that are too long to be kept are relayed piece by piece, and never in memory as a whole."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from semcache.errors import UpstreamError
from semcache.proxy import forward, stream_reading
from semcache.proxy.reply_body import ReplyAhead
from semcache.types import Card
from semcache.upstream import coalescing
from semcache.upstream.coalescing import Flight, Flights
from tests.proxy.driver import STREAM, Answer, Call, Upstream, ask, completion, events, running
from tests.waiting import settled, soon

PROMPT = "How do I reset the password of the router?"
LONG = 4000
WORD = "word " * 200


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((forward, "LONGEST"), (stream_reading, "LONGEST"), (coalescing, "HELD")):
        monkeypatch.setattr(module, name, LONG)


@pytest.mark.parametrize("stream", [False, True])
async def test_a_long_answer_is_relayed_as_it_comes_and_not_kept(tmp_path: Path, stream: bool) -> None:
    gate, body = asyncio.Event(), completion(WORD * 10)
    said = events(*[WORD] * 10) if stream else [body[at : at + 1000] for at in range(0, len(body), 1000)]
    upstream = Upstream(
        lambda _: Answer([*said[:7], gate, *said[7:]], headers=STREAM if stream else Answer([]).headers)
    )
    async with running(upstream, tmp_path) as proxy:
        call = Call(proxy, ask(PROMPT, stream=stream))
        first = [await call.message() for _ in range(8)]
        gate.set()
        rest = await call.reply()
        assert b"".join(message.get("body", b"") for message in first if message) + rest.body == b"".join(said)
        assert rest.whole
        assert "hit" not in (await Call(proxy, ask(PROMPT, stream=stream)).reply()).cache
        metrics = (await Call(proxy, path="/metrics", method="GET").reply()).body.decode()
    assert 'semcache_stores_total{category="default",result="too-large"} 2.0' in metrics


@pytest.mark.parametrize("broken", [False, True])
async def test_who_waits_for_the_same_long_answer_asks_for_it_itself(tmp_path: Path, broken: bool) -> None:
    body = completion(WORD * 10)
    gate, end = asyncio.Event(), [UpstreamError("reset")] if broken else []
    upstream = Upstream(lambda _: Answer([gate, body[:5000], *(end or [body[5000:]])]))
    async with running(upstream, tmp_path) as proxy:
        calls = [Call(proxy, ask(PROMPT)) for _ in range(2)]
        await settled()
        gate.set()
        replies = [await call.reply() for call in calls]
    assert [reply.whole for reply in replies] == [not broken] * 2
    assert [reply.body for reply in replies] == [body[:5000] if broken else body] * 2
    assert not any("collapsed" in reply.cache for reply in replies)


async def test_a_long_refusal_is_relayed_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forward, "_REFUSAL", 10)
    upstream = Upstream(lambda _: Answer([b'{"error": ', b'"stream_options ', b'and more"}'], status=400))
    async with running(upstream, tmp_path) as proxy:
        reply = await Call(proxy, ask(PROMPT, stream=True)).reply()
    assert (reply.status, reply.body) == (400, b'{"error": "stream_options and more"}')
    assert upstream.replies[0].closed


@dataclass
class Counted:
    """A reply of ten pieces. `read` of them were."""

    read: int = 0
    status: int = 200
    headers: list[tuple[str, str]] = field(default_factory=list)

    async def chunks(self) -> AsyncIterator[bytes]:
        for number in range(10):
            self.read += 1
            yield b"%d" % number * 10

    async def close(self) -> None:
        return None


async def test_no_more_is_read_than_the_bound_and_one_piece() -> None:
    reply = Counted()
    ahead = ReplyAhead(reply)
    assert await ahead.read(25) is None
    assert reply.read == 3
    assert len([chunk async for chunk in ahead.chunks()]) == 10
    assert await ReplyAhead(Counted()).read(100) == b"".join(b"%d" % number * 10 for number in range(10))


async def test_of_a_long_body_only_what_nobody_has_taken_is_held_and_nobody_new_comes() -> None:
    flight, flights, read = Flight(Card(0, b"x", b"", "", "", 0.0, 1.0), None, None), Flights(), asyncio.Event()
    flights.take_off(flight)
    flight.open(200, [], stored=False)
    assert flights.same(b"x") is flight
    with flight:
        taken = []

        async def reader() -> None:
            async for chunk in flight.chunks():
                taken.append(chunk)
                if len(taken) == 10:
                    read.set()

        task = asyncio.create_task(reader())
        for number in range(10):
            flight.publish(b"%d" % number * 1000)
        await soon(read.wait())
        flight.publish(b"end")
        flight.land()
        await soon(task)
    assert b"".join(taken) == b"".join(b"%d" % number * 1000 for number in range(10)) + b"end"
    assert sum(map(len, flight._chunks)) == 0
    assert flights.same(b"x") is None
