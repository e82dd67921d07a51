"""Judging in this process leaves the processor to requests, and neither stops nor waits for nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.learning.judges.pace import HURRY, PAUSE, Pace


class Server:
    """Virtual time, in which a request ends every `every` seconds until `until`."""

    def __init__(self, every: float, until: float = float("inf")) -> None:
        self.now = self.worked = 0.0
        self.every, self.until = every, until
        self.pace = Pace(self.ended, clock=lambda: self.now, sleep=self.sleep)

    def ended(self) -> int:
        return int(min(self.now, self.until) / self.every)

    async def sleep(self, seconds: float) -> None:
        self.now += seconds

    async def work(self, pieces: Sequence[float], waited: float = 0.0) -> None:
        async def piece(seconds: float) -> float:
            self.now += seconds
            self.worked += seconds
            return seconds

        for seconds in pieces:
            assert await self.pace.run(lambda seconds=seconds: piece(seconds), waited=waited) == seconds  # type: ignore[misc]


PIECES = st.lists(st.floats(0.001, 2.0), min_size=1, max_size=20)


@given(PIECES, st.floats(0.0, 1e9))
def test_in_traffic_work_takes_no_more_than_its_share_and_more_the_longer_it_has_waited(
    pieces: list[float], waited: float
) -> None:
    # At least one request ends during the shortest piece.
    server = Server(every=0.0004)
    asyncio.run(server.work(pieces, waited))
    expected = min(0.5, 0.1 + 0.1 * waited / HURRY)
    assert server.worked / server.now <= expected + 1e-9
    # Rests are counted in steps, each of which may come out one too long.
    assert server.now <= sum(pieces) / expected + len(pieces) * PAUSE


@given(PIECES)
def test_without_traffic_nothing_waits(pieces: list[float]) -> None:
    server = Server(every=1e9)
    asyncio.run(server.work(pieces))
    assert server.now == pytest.approx(sum(pieces))


async def test_a_pause_in_traffic_ends_a_rest() -> None:
    server = Server(every=0.001, until=1.0)
    await server.work([1.0])
    assert server.now == pytest.approx(1.0 + PAUSE)


async def test_one_piece_at_a_time_and_one_that_fails_frees_the_next() -> None:
    server, running = Server(every=1e9), 0

    async def piece(fails: bool) -> int:
        nonlocal running
        running += 1
        await asyncio.sleep(0)
        busy, running = running, running - 1
        if fails:
            raise ValueError("broken")
        return busy

    asked = [server.pace.run(lambda fails=fails: piece(fails), waited=0.0) for fails in (True, False, False)]  # type: ignore[misc]
    failed, *rest = await asyncio.gather(*asked, return_exceptions=True)
    assert isinstance(failed, ValueError)
    assert rest == [1, 1]
