"""A client of a stream that breaks off is told why, in the error that its SDK raises, and never takes it for whole."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import anthropic
import httpx2
import openai
import pytest

from semcache.dialects import dialects
from semcache.errors import UpstreamTimeout
from semcache.proxy.relay import broken_stream
from semcache.types import Endpoint
from tests.proxy.driver import STREAM, Answer, Call, Upstream, ask, events, running

SAID = "http://upstream was silent in the midst of a stream for more than 20 s"


def _told(endpoint: Endpoint) -> httpx2.Client:
    """A connection to a proxy whose stream ends with the event of this endpoint."""
    told = broken_stream(dialects()[endpoint], SAID)
    return httpx2.Client(
        transport=httpx2.MockTransport(lambda _: httpx2.Response(200, headers=dict(STREAM), content=told))
    )


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["lf", "crlf"])
async def test_the_last_event_says_why_and_the_connection_is_cut_all_the_same(tmp_path: Path, newline: str) -> None:
    said = events("Half of an", end=False, newline=newline)[:-1]
    upstream = Upstream(lambda _: Answer([*said, UpstreamTimeout(SAID)], headers=STREAM))
    async with running(upstream, tmp_path) as proxy:
        reply = await Call(proxy, ask("How tall is the old lighthouse?", stream=True)).reply()
    whole = b"".join(said)
    assert reply.body.startswith(whole)
    assert json.loads(reply.body[len(whole) :].removeprefix(b"data: "))["error"]["message"] == SAID
    assert not reply.whole


async def test_within_an_event_nothing_is_said(tmp_path: Path) -> None:
    upstream = Upstream(lambda _: Answer([b'data: {"id": "half', UpstreamTimeout(SAID)], headers=STREAM))
    async with running(upstream, tmp_path) as proxy:
        reply = await Call(proxy, ask("How tall is the old lighthouse?", stream=True)).reply()
    assert reply.body == b'data: {"id": "half'
    assert not reply.whole


async def test_a_server_that_stops_says_so_in_the_streams_that_it_cuts(tmp_path: Path) -> None:
    said = events("Half of an", end=False)[:-1]
    upstream = Upstream(lambda _: Answer([*said, asyncio.Event()], headers=STREAM))
    async with running(upstream, tmp_path) as proxy:
        call = Call(proxy, ask("How tall is the old lighthouse?", stream=True))
        for _ in ("the head", *said):
            await call.message()
        # As the HTTP server does when the time for its requests is over.
        call.task.cancel()
        told = await call.message()
        assert await call.message() is None
        with pytest.raises(asyncio.CancelledError):
            await call.task
    assert told is not None
    assert told["more_body"]
    error = json.loads(told["body"].removeprefix(b"data: "))["error"]
    assert "is stopping" in error["message"]
    assert error["code"] == "server_stopping"


@pytest.mark.parametrize("endpoint", [Endpoint.CHAT, Endpoint.COMPLETIONS, Endpoint.RESPONSES], ids=str)
def test_the_sdk_of_openai_raises_what_was_said(endpoint: Endpoint) -> None:
    client = openai.OpenAI(api_key="k", base_url="http://proxy/v1", http_client=_told(endpoint))
    with pytest.raises(openai.APIError, match="silent in the midst"):
        match endpoint:
            case Endpoint.CHAT:
                list(
                    client.chat.completions.create(model="m", messages=[{"role": "user", "content": "?"}], stream=True)
                )
            case Endpoint.COMPLETIONS:
                list(client.completions.create(model="m", prompt="?", stream=True))
            case _:
                list(client.responses.create(model="m", input="?", stream=True))


def test_the_sdk_of_anthropic_raises_what_was_said() -> None:
    client = anthropic.Anthropic(api_key="k", base_url="http://proxy", http_client=_told(Endpoint.MESSAGES))
    asked = client.messages.create(model="m", max_tokens=9, messages=[{"role": "user", "content": "?"}], stream=True)
    with pytest.raises(anthropic.APIStatusError, match="silent in the midst"):
        list(asked)
