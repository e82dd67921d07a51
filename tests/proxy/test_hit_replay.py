"""Replays: what is asked for now and then is told to the eviction policy every time, a flood only in part."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from semcache.proxy.hit_replay import HitReplayer, RenderedHit
from semcache.types import Card


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
