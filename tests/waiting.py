"""Waiting for what comes by itself: no test depends on how soon, and only what never comes fails."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

PATIENCE = 240.0  # seconds; below the time limit of a test, so that what hangs is told by name

_T = TypeVar("_T")


def eventually(check: Callable[[], _T], *, within: float = PATIENCE) -> _T:
    """The first true result of `check`."""
    deadline = time.monotonic() + within
    while not (result := check()):
        assert time.monotonic() < deadline, "this never became true"
        time.sleep(0.02)
    return result


async def until(check: Callable[[], object]) -> None:
    """Wait until `check` is true, while this loop goes on."""
    async with asyncio.timeout(PATIENCE):
        while not check():
            await asyncio.sleep(0.005)


async def soon(thing: Awaitable[_T]) -> _T:
    """What comes of `thing`, which does not hang."""
    return await asyncio.wait_for(thing, PATIENCE)


async def settled(turns: int = 200) -> None:
    """Let every task of this loop run until all of them wait for something outside it."""
    for _ in range(turns):
        await asyncio.sleep(0)
