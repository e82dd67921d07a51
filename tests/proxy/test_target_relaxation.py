"""While the backend is overloaded targets are stretched, and only then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest

from semcache.errors import UpstreamError
from semcache.protocols import Outbound
from semcache.proxy import target_relaxation
from semcache.proxy.target_relaxation import LoadCountingBackend, relax_under_load

CALL = Outbound("POST", "/v1/chat/completions", [], b"{}")


class Said:
    headers: Sequence[tuple[str, str]] = [("x", "y")]

    def __init__(self, status: int) -> None:
        self.status = status

    async def chunks(self) -> AsyncIterator[bytes]:
        yield b"body"

    async def close(self) -> None:
        return


class Scripted:
    def __init__(self, *statuses: int) -> None:
        self.statuses = list(statuses)

    async def send(self, outbound: Outbound) -> Said:
        status = self.statuses.pop(0)
        if not status:
            raise UpstreamError("gone")
        return Said(status)

    async def close(self) -> None:
        return


async def test_calls_count_from_their_start_until_their_replies_are_closed() -> None:
    watched = LoadCountingBackend(Scripted(200, 200, 0))
    one, two = await watched.send(CALL), await watched.send(CALL)
    assert (one.status, one.headers, [chunk async for chunk in one.chunks()]) == (200, [("x", "y")], [b"body"])
    assert watched.running == 2
    await one.close()
    await one.close()
    assert watched.running == 1
    with pytest.raises(UpstreamError):
        await watched.send(CALL)
    await two.close()
    assert watched.running == 0
    assert not watched.refused


@pytest.mark.parametrize("status", [429, 503, 529])
async def test_a_refusal_is_noted(status: int) -> None:
    watched = LoadCountingBackend(Scripted(status))
    await (await watched.send(CALL)).close()
    assert watched.refused


async def test_targets_are_stretched_while_too_many_calls_are_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target_relaxation, "_EVERY", 0.0)
    watched, told = LoadCountingBackend(Scripted(200, 200)), list[float]()
    seconds = iter(range(0, 10_000, 5))
    clock: Any = lambda: float(next(seconds))  # noqa: E731
    task = asyncio.create_task(relax_under_load(watched, 2, told.append, clock=clock))
    replies = [await watched.send(CALL), await watched.send(CALL)]
    while not told or told[-1] < 1.0:
        await asyncio.sleep(0)
    for reply in replies:
        await reply.close()
    while told[-1] > 0.0:
        await asyncio.sleep(0)
    task.cancel()
