"""The proxy over two real upstreams: conversations stay together, and a killed upstream costs its clients nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx2
import openai
import pytest

from tests.contract.services import Service, echo, serving
from tests.waiting import PATIENCE

pytestmark = pytest.mark.process


@pytest.fixture
def upstreams() -> Iterator[list[Service]]:
    with echo("--token-seconds", "0.01") as first, echo("--token-seconds", "0.01") as second:
        yield [first, second]


@pytest.fixture
def routed(upstreams: list[Service], tmp_path: Path) -> Iterator[openai.OpenAI]:
    with (
        serving(",".join(one.url for one in upstreams), tmp_path) as proxy,
        openai.OpenAI(base_url=f"{proxy.url}/v1", api_key="k", max_retries=0, timeout=PATIENCE) as client,
    ):
        yield client


def ask(client: openai.OpenAI, family: int, number: int) -> str:
    stream = client.chat.completions.create(
        model="echo",
        messages=[
            {"role": "system", "content": f"These are the rules of house {family}. " * 100},
            {"role": "user", "content": f"What is said of matter {number} in house {family}?"},
        ],
        stream=True,
        extra_headers={"cache-control": "no-cache"},
    )
    return "".join(chunk.choices[0].delta.content or "" for chunk in stream if chunk.choices)


def families(service: Service) -> set[str]:
    newest = service.get("/echo/stats").json()["newest"]
    chats = [json.loads(one["body"]) for one in newest if one["path"] == "/v1/chat/completions"]
    return {chat["messages"][0]["content"] for chat in chats}


def attempt(client: openai.OpenAI, at: int) -> str | None:
    """An answer, None for one that was cut off."""
    try:
        return ask(client, at % 8, at)
    except (openai.APIError, httpx2.RemoteProtocolError):
        return None


def test_conversations_stay_together_and_an_upstream_killed_in_mid_run_costs_only_what_it_was_sending(
    routed: openai.OpenAI, upstreams: list[Service]
) -> None:
    for number in range(3):
        for family in range(6):
            assert f"matter {number}" in ask(routed, family, number)
    first, second = map(families, upstreams)
    assert not first & second
    assert len(first) == len(second) == 3

    with ThreadPoolExecutor(8) as pool:
        under_way = [pool.submit(attempt, routed, at) for at in range(24)]
        under_way[0].result()
        upstreams[0].kill()
        answers = [one.result() for one in under_way]
    assert answers.count(None) <= 8, "more were lost than can have been under way"
    # From now on nobody notices, though half of these conversations had their home at the dead one.
    for at in range(100, 108):
        assert f"matter {at}" in ask(routed, at % 8, at)
