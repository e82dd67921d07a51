"""A stream is one by what it says: servers that name it otherwise, or not at all, are streamed, counted and kept."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from semcache.proxy.reply_body import ReplyAhead
from tests.proxy.driver import Answer, Call, Upstream, ask, completion, events, running, spoken
from tests.waiting import settled

PROMPT = "How do I reset the password of the router?"
USAGE = b'data: {"id":"c1","choices":[],"usage":{"prompt_tokens":5,"completion_tokens":7}}\n\n'


@pytest.mark.parametrize("kind", ["text/plain; charset=utf-8", "application/json", "application/x-ndjson", ""])
async def test_events_under_another_name_come_as_they_are_sent_without_what_nobody_asked_for(
    tmp_path: Path, kind: str
) -> None:
    gate, (*said, done) = asyncio.Event(), events("Off.", end=True)
    headers = (("content-type", kind),) if kind else ()
    upstream = Upstream(lambda _: Answer([*said[:2], gate, *said[2:], USAGE, done], headers=headers))
    async with running(upstream, tmp_path, limits__tokens=12) as proxy:
        call = Call(proxy, ask(PROMPT, stream=True))
        first = [await call.message() for _ in range(3)]
        assert [message["type"] for message in first if message] == ["http.response.start", *["http.response.body"] * 2]
        assert first[2] is not None
        assert b"Off." in first[2]["body"]
        gate.set()
        rest = await call.reply()
        assert b"".join(message.get("body", b"") for message in first if message) + rest.body == b"".join([*said, done])
        again = await Call(proxy, ask(PROMPT, stream=True)).reply()
        assert (again.cache.get("hit"), spoken(again.body)) == (True, "Off.")
        assert (await Call(proxy, ask("another")).reply()).status == 429, "what it cost was told"


@pytest.mark.parametrize("beginning", [b"", b"\n\n"])
async def test_an_answer_that_is_no_stream_stays_one(tmp_path: Path, beginning: bytes) -> None:
    body = beginning + completion("Off.")
    upstream = Upstream(lambda _: Answer([body[:1], body[1:]], headers=(("content-type", "text/plain"),)))
    async with running(upstream, tmp_path) as proxy:
        first = await Call(proxy, ask(PROMPT, stream=True)).reply()
        assert (first.body, first.header("content-length")) == (body, str(len(body)))
        assert (await Call(proxy, ask(PROMPT, stream=True)).reply()).cache.get("hit") is True


@pytest.mark.parametrize(
    ("body", "are"),
    [
        (b"data: {}\n\n", True),
        (b"\xef\xbb\xbf\r\n\r\nevent: x\ndata: 1\n\n", True),
        (b": ping\n\n", True),
        (b"id: 7\ndata: 1\n\n", True),
        (b"retry: 7\n\n", True),
        (b'{"data": 1}', False),
        (b"database", False),
        (b"dat", False),
        (b"\n\n", False),
        (b"", False),
    ],
)
@pytest.mark.parametrize("size", [1, 100])
async def test_the_first_field_tells_wherever_it_is_cut(body: bytes, are: bool, size: int) -> None:
    ahead = ReplyAhead(Answer([body[at : at + size] for at in range(0, len(body), size)]))
    assert await ahead.begins_as_events() is are
    assert b"".join([chunk async for chunk in ahead.chunks()]) == body


async def test_a_client_that_leaves_before_the_first_byte_ends_the_call(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer([asyncio.Event()], headers=()))
    async with running(upstream, tmp_path) as proxy:
        call = Call(proxy, ask(PROMPT, stream=True))
        await settled()
        await call.leave()
        await settled()
        assert upstream.replies[0].closed
