"""Work beside the requests is bounded in every direction, and ends with the process."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semcache.proxy.background import BackgroundWork
from semcache.runtime.token_bucket import TokenBucket


@given(
    rate=st.floats(0.1, 50),
    burst=st.floats(1, 20),
    gaps=st.lists(st.floats(0, 3), min_size=1, max_size=60),
)
def test_a_bucket_never_gives_more_than_its_rate_and_what_it_saved(
    rate: float, burst: float, gaps: list[float]
) -> None:
    bucket, now, given_out = TokenBucket(rate, burst, 0.0), 0.0, 0
    for gap in gaps:
        now += gap
        given_out += bucket.take(now)
        assert given_out <= burst + rate * now + 1e-6


def test_a_bucket_fills_again() -> None:
    bucket = TokenBucket(2.0, 2.0, 10.0)
    assert [bucket.take(10.0) for _ in range(3)] == [True, True, False]
    assert not bucket.take(10.4)
    assert bucket.take(10.6)
    assert not bucket.take(10.6)
    assert not bucket.take(5.0), "a clock that goes back gives nothing"


def test_a_rate_of_zero_is_never() -> None:
    bucket = TokenBucket(0.0, 1.0, 0.0)
    assert not any(bucket.take(float(second)) for second in range(1000))


class Work:
    """Pieces of work that end when they are told to."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.begun: list[str] = []
        self.ended: list[str] = []
        self.most = 0

    async def piece(self, name: str) -> None:
        self.begun.append(name)
        self.most = max(self.most, len(self.begun) - len(self.ended))
        try:
            await self.gate.wait()
        finally:
            self.ended.append(name)


async def test_so_much_runs_so_much_waits_and_the_rest_is_refused() -> None:
    work, background = Work(), BackgroundWork(concurrency=2, waiting=3)
    taken = [background.offer(name, lambda name=name: work.piece(name)) for name in "abcdefg"]  # type: ignore[misc]
    assert taken == [True] * 5 + [False] * 2
    assert background.refuses("z") == "full"
    await asyncio.sleep(0)
    assert work.begun == ["a", "b"]
    work.gate.set()
    await background.settle()
    assert sorted(work.ended) == ["a", "b", "c", "d", "e"]
    assert work.most == 2
    assert background.refuses("z") is None


async def test_the_same_piece_is_done_once_at_a_time() -> None:
    work, background = Work(), BackgroundWork(concurrency=1, waiting=9)
    assert background.offer("a", lambda: work.piece("a"))
    assert background.offer("b", lambda: work.piece("b"))
    assert [background.refuses(key) for key in "ab"] == ["known", "known"]
    assert not background.offer("b", lambda: work.piece("b"))
    work.gate.set()
    await background.settle()
    assert work.begun == ["a", "b"]
    assert background.offer("a", lambda: work.piece("a"))
    await background.settle()
    assert work.begun == ["a", "b", "a"]


async def test_work_that_waited_runs_with_the_credentials_of_whoever_offered_it() -> None:
    whose: ContextVar[str] = ContextVar("whose", default="nobody")
    background, gate, seen = BackgroundWork(concurrency=1), asyncio.Event(), []

    async def piece(name: str) -> None:
        await gate.wait()
        seen.append((name, whose.get()))

    async def caller(name: str) -> None:
        whose.set(name)
        background.offer(name, lambda: piece(name))

    for name in ("acme", "globex", "initech"):
        await asyncio.create_task(caller(name))
    gate.set()
    await background.settle()
    assert seen == [("acme", "acme"), ("globex", "globex"), ("initech", "initech")]


async def test_what_fails_is_logged_and_holds_nothing_up(caplog: pytest.LogCaptureFixture) -> None:
    async def broken() -> None:
        raise ValueError("no luck")

    work, background = Work(), BackgroundWork(concurrency=1)
    work.gate.set()
    background.offer("a", broken)
    background.offer("b", lambda: work.piece("b"))
    await background.settle()
    assert work.ended == ["b"]
    assert "no luck" in caplog.text


async def test_closing_drops_what_waits_and_cancels_what_will_not_end() -> None:
    work, background = Work(), BackgroundWork(concurrency=1)
    background.offer("a", lambda: work.piece("a"))
    background.offer("b", lambda: work.piece("b"))
    await asyncio.sleep(0)
    await background.close(0.01)
    assert (work.begun, work.ended) == (["a"], ["a"])
    assert not background.offer("c", lambda: work.piece("c"))


async def test_closing_lets_what_is_nearly_done_end() -> None:
    background, done = BackgroundWork(), []

    async def piece() -> None:
        await asyncio.sleep(0)
        done.append(True)

    background.offer("a", piece)
    await background.close(5.0)
    assert done
