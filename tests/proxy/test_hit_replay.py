"""Replays: what is asked for now and then is told to the eviction policy every time, a flood only in part."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from semcache.proxy.hit_replay import HitReplayer, RenderedHit, memo_key
from semcache.types import Card
from tests.proxy.driver import Call, ask, numbered_upstream, running


async def test_a_flood_of_one_request_is_not_told_to_the_eviction_policy_one_by_one() -> None:
    touched: list[int] = []
    clock = SimpleNamespace(now=1000.0)
    cache: Any = SimpleNamespace(
        clock=lambda: clock.now,
        registry=SimpleNamespace(touch=lambda card: touched.append(card.id)),
    )
    replays = HitReplayer(cache, worker="w")
    card = Card(7, b"x", b"", "default", "a prompt", 900.0, 2000.0)
    replay = RenderedHit(card, b"{}", [], "exact", None, b"x-request-id")  # type: ignore[arg-type]
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    for number in range(200):
        clock.now = 1000.0 + number
        await replays.send(replay, send, f"req_{number}")
    assert touched == [7] * 200
    for number in range(200):
        await replays.send(replay, send, f"req_{number}")
    assert 10 <= len(touched) - 200 < 50
    assert len(sent) == 800
    clock.now += 1
    before = len(touched)
    await replays.send(replay, send, "req")
    assert len(touched) == before + 1


async def test_a_trace_that_is_new_with_each_request_makes_no_new_entry_of_the_memo(tmp_path: Path) -> None:
    async with running(numbered_upstream(), tmp_path) as proxy:
        for number in range(20):
            await Call(
                proxy,
                ask("What is a heap?"),
                **{"cf-ray": f"{number}-FRA", "x-amzn-trace-id": f"Root={number}", "sentry-trace": f"{number}"},
                **{"baggage": f"id={number}", "x-forwarded-for": f"10.0.0.{number}", "x-datadog-trace-id": f"{number}"},
            ).reply()
        assert len(proxy.context.replayer._memo) == 1


async def test_the_memo_holds_no_more_than_its_share_of_memory_whatever_the_headers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("semcache.proxy.hit_replay._MEMO_BYTES", 100_000)
    async with running(numbered_upstream(), tmp_path) as proxy:
        replayer = proxy.context.replayer
        replayer.clear()
        for number in range(40):
            await Call(proxy, ask("What is a heap?"), x_padding=f"{number}" + "y" * 20_000).reply()
            await Call(proxy, ask("What is a heap?"), x_padding=f"{number}" + "y" * 20_000).reply()
        held = sum(len(value) for key in replayer._memo for _, value in key[3])
    assert 0 < held <= 100_000


@pytest.mark.parametrize(
    "name",
    [
        *("authorization", "x-api-key", "api-key", "x-semcache-key", "x-semcache-namespace", "x-semcache-user"),
        *("cache-control", "pragma", "cf-aig-skip-cache", "helicone-cache-enabled", "x-portkey-cache-namespace"),
        *("x-openrouter-cache", "x-bf-cache-key", "x-bf-no-cache", "x-higress-skip-ai-cache", "anthropic-beta"),
    ],
)
def test_who_asks_and_what_is_wished_is_part_of_the_memos_key(name: str) -> None:
    plain = {"path": "/v1/chat/completions", "query_string": b"", "headers": [(b"host", b"localhost")]}
    other = {**plain, "headers": [*plain["headers"], (name.encode(), b"1")]}  # type: ignore[misc]
    assert memo_key(plain, b"{}") != memo_key(other, b"{}")
