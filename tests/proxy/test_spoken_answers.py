"""Spoken answers: kept no longer than the provider knows them by the id under which later turns name them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from semcache.dialects import dialects
from semcache.types import Endpoint
from tests.proxy.driver import Answer, Call, Clock, Upstream, ask, completion, running

HOUR = 3600


def spoken(**audio: Any) -> bytes:
    sound = {"id": "audio_1", "data": "UklGRg==", "transcript": "Hi", **audio}
    message = {"role": "assistant", "content": None, "audio": sound}
    return completion(choices=[{"index": 0, "message": message, "finish_reason": "stop"}])


async def test_a_spoken_answer_is_asked_for_again_once_the_provider_has_forgotten_it(tmp_path: Path) -> None:
    clock = Clock()
    upstream = Upstream(lambda _: Answer([spoken(expires_at=int(clock.now) + HOUR)]))
    body = ask("Say hi.", modalities=["text", "audio"], audio={"voice": "alloy", "format": "wav"})
    async with running(upstream, tmp_path, clock=clock) as proxy:
        await Call(proxy, body).reply()
        clock.now += HOUR - 10
        known = await Call(proxy, body).reply()
        clock.now += 20
        forgotten = await Call(proxy, body).reply()
    assert known.cache["hit"] is True
    assert known.cache["ttl"] == 10
    assert "hit" not in forgotten.cache
    assert len(upstream.calls) == 2


async def test_a_spoken_answer_that_is_forgotten_already_is_not_kept(tmp_path: Path) -> None:
    clock = Clock()
    upstream = Upstream(lambda _: Answer([spoken(expires_at=int(clock.now))]))
    async with running(upstream, tmp_path, clock=clock) as proxy:
        replies = [await Call(proxy, ask("Say hi.")).reply() for _ in range(2)]
    assert len(upstream.calls) == 2
    assert all("stored" not in reply.cache for reply in replies)


@pytest.mark.parametrize(
    ("audio", "until"),
    [({"expires_at": 5}, 5), ({"expires_at": None}, None), ({"expires_at": "soon"}, None), ({}, None)],
    ids=["number", "null", "text", "absent"],
)
def test_an_answer_says_until_when_it_is_known(audio: dict[str, Any], until: float | None) -> None:
    assert dialects()[Endpoint.CHAT].parse(spoken(**audio)).until == until


def test_of_several_sounds_the_first_that_is_forgotten_counts() -> None:
    two = [msgspec.json.decode(spoken(expires_at=when))["choices"][0] for when in (9, 7)]
    body = completion(choices=[{**choice, "index": index} for index, choice in enumerate(two)])
    assert dialects()[Endpoint.CHAT].parse(body).until == 7
