"""Streams whose upstream sends no `[DONE]` are kept if they are whole, and not said to be kept if they never are."""

from __future__ import annotations

import logging
from pathlib import Path

import msgspec
import pytest

from semcache.dialects.chat import DIALECT
from semcache.errors import UpstreamError
from semcache.proxy.recent_models import RecentModels
from tests.proxy.driver import STREAM, Answer, Call, Clock, Upstream, ask, events, running, spoken

PROMPT = "How do I reset the password of the router?"


async def test_a_stream_without_its_last_event_is_kept_once_it_said_why_it_ends(tmp_path: Path) -> None:
    said = events("Off.", end=False)
    upstream = Upstream(lambda _: Answer(said, headers=STREAM))
    async with running(upstream, tmp_path) as proxy:
        first = await Call(proxy, ask(PROMPT, stream=True)).reply()
        again = await Call(proxy, ask(PROMPT, stream=True)).reply()
    assert (first.body, first.cache["stored"]) == (b"".join(said), True)
    assert (again.cache.get("hit"), spoken(again.body)) == (True, "Off.")


@pytest.mark.parametrize("fields", [{}, {"n": 2}], ids=["one", "several"])
async def test_a_stream_that_may_lack_something_is_not_kept(tmp_path: Path, fields: dict[str, int]) -> None:
    """It broke off, or one choice of several may never have begun."""
    broken = [] if fields else [UpstreamError("reset")]
    upstream = Upstream(lambda _: Answer([*events("Off.", end=False), *broken], headers=STREAM))
    async with running(upstream, tmp_path) as proxy:
        for _ in range(2):
            reply = await Call(proxy, ask(PROMPT, stream=True, **fields)).reply()
            assert "hit" not in reply.cache
            assert spoken(reply.body) == "Off."


async def test_a_model_whose_streams_have_no_end_is_named_and_not_said_to_be_kept(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cut, whole = events("Off.", end=False)[:-1], events("Off.")
    upstream, clock = Upstream(lambda sent: Answer(cut if b"odd" in sent.body else whole, headers=STREAM)), Clock()
    async with running(upstream, tmp_path, clock=clock) as proxy:

        async def stored(prompt: str, model: str = "m") -> bool:
            reply = await Call(proxy, ask(prompt, stream=True) | {"model": model}).reply()
            assert "hit" not in reply.cache, reply.cache
            return reply.cache.get("stored", False)

        with caplog.at_level(logging.WARNING, "semcache.proxy.forward"):
            assert [await stored(f"odd {number}") for number in range(3)] == [True, False, False]
        [record] = caplog.records
        assert "'m'" in record.getMessage()
        assert "[DONE]" in record.getMessage()
        assert await stored("What is a fjord?", "other"), "another model's are kept"
        assert not await stored("even 1"), "it was kept all the same"
        assert await stored("even 2"), "and from then on it is said"
        assert await stored("odd 4")
        clock.now += 3600
        assert await stored("odd 5"), "and an old one says nothing"


def test_so_many_models_are_remembered_and_no_more() -> None:
    """Their names are the clients': whoever makes them up must not fill the memory."""
    models = RecentModels(Clock())
    asked = [DIALECT.read(msgspec.json.encode(ask(PROMPT) | {"model": f"m{number}"})) for number in range(1025)]
    for request in asked:
        models.add(request)
    assert [request in models for request in (asked[0], asked[1], asked[-1])] == [False, True, True]
