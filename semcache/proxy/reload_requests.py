"""Requests that every worker of a store reload, and what came of them in each.

Invariant: requests are numbered in ascending order; a result is that of the newest request that a worker has done, with
the workers that have done it, and the mistake of each that refused it.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, Protocol

import msgspec

from semcache.protocols import SavedStates

_REQUEST, _RESULT = "reload", "reloaded"
_LOOKS = 5  # after a result was written: one that others overwrote at the same time is written again
_EVERY = 0.1  # seconds, between two looks at what others have reported
WAIT = 30.0  # seconds
_log = logging.getLogger(__name__)


class ReloadStore(SavedStates, Protocol):
    """The part of a store by which requests reach the workers."""


async def request_reload(store: ReloadStore, who: str) -> int:
    """Have every worker of a store reload; return the number of this request. Raises StoreError."""
    number = await last_request(store) + 1
    await store.learn(_REQUEST, number, msgspec.json.encode({"who": who}))
    return number


async def last_request(store: ReloadStore) -> int:
    """Return the number of the last request, 0 where there was none. Raises StoreError."""
    saved = await store.learned(_REQUEST)
    return saved[0] if saved is not None else 0


async def last_requester(store: ReloadStore) -> str:
    """Return who made the last request. Raises StoreError."""
    saved = await store.learned(_REQUEST)
    return str(msgspec.json.decode(saved[1])["who"]) if saved is not None else "nobody"


@dataclass(frozen=True, slots=True)
class ReloadingWorker:
    """A worker, by its process id, of a server that has `of` of them."""

    server: str
    of: int
    pid: int


class ReloadReports:
    """The reports of one worker about what came of requests."""

    def __init__(self, worker: ReloadingWorker, is_alive: Callable[[int], bool] | None = None) -> None:
        self._worker, self._is_alive = worker, is_alive or _is_alive
        self._last: tuple[int, Mapping[str, Any]] | None = None
        self._looks = 0

    async def write(self, store: ReloadStore, number: int, result: Mapping[str, Any]) -> None:
        """Write what came of a request here, beside what came of it in others. Raises StoreError."""
        self._last, self._looks = (number, result), _LOOKS
        await self._write(store, number, result)

    async def take_place(self, store: ReloadStore, number: int) -> None:
        """Stand for a worker of this server that died, where this one began with what a request had read.

        Raises StoreError.
        """
        saved = await store.learned(_RESULT)
        if saved is None or saved[0] != number:
            return
        known = msgspec.json.decode(saved[1])
        own = [one for one in known.get("workers", ()) if one["server"] == self._worker.server]
        if not own:
            return
        dead = [one for one in own if not self._is_alive(one["pid"])]
        if dead:
            known["workers"] = [one for one in known["workers"] if one not in dead]
            await store.learn(_RESULT, number, msgspec.json.encode(known))
        await self.write(store, number, {key: said for key, said in known.items() if key not in ("workers", "error")})

    async def look(self, store: ReloadStore) -> None:
        """Write the last report again if it was lost, for some looks. Raises StoreError."""
        if self._last is not None and self._looks > 0:
            self._looks -= 1
            await self._write(store, *self._last)

    async def _write(self, store: ReloadStore, number: int, result: Mapping[str, Any]) -> None:
        saved = await store.learned(_RESULT)
        if saved is not None and saved[0] > number:
            return
        known = msgspec.json.decode(saved[1]) if saved is not None and saved[0] == number else dict(result)
        known = {**result, **known}  # one that refused it has said nothing of what changes
        done, mine = known.setdefault("workers", []), asdict(self._worker)
        if any(mine.items() <= one.items() for one in done):
            return
        if "error" in result:
            mine["error"] = result["error"]
        done.append(mine)
        await store.learn(_RESULT, number, msgspec.json.encode(known))


def _is_alive(pid: int) -> bool:
    if sys.platform == "win32":  # there, signal 0 would end it
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def owing(workers: Iterable[Mapping[str, Any]]) -> int:
    """Return how many workers of the servers that have reported have not."""
    of: dict[str, int] = {}
    for one in workers:
        of[one["server"]] = of.get(one["server"], one["of"]) - 1
    return sum(max(0, left) for left in of.values())


def refusals(workers: Iterable[Mapping[str, Any]]) -> list[str]:
    """Return why workers refused, a line for each."""
    return [f"worker {one['pid']} of {one['server']}: {one['error']}" for one in workers if "error" in one]


async def result_of(store: ReloadStore, number: int) -> dict[str, Any] | None:
    """Return what came of a request, None until a worker has written it. Raises StoreError."""
    saved = await store.learned(_RESULT)
    if saved is None or saved[0] < number:
        return None
    result: dict[str, Any] = msgspec.json.decode(saved[1])
    return result


async def reported(store: ReloadStore, number: int, wait: float) -> dict[str, Any] | None:
    """Return what came of a request in the workers that report within `wait` seconds; `late` says how many did not.

    Servers that have not reported at all, as on other machines, are not known here. None if no worker has reported.
    Raises StoreError.
    """
    until = time.monotonic() + wait
    while (result := await result_of(store, number)) is None or owing(result["workers"]):
        if time.monotonic() >= until:
            break
        await asyncio.sleep(_EVERY)
    return None if result is None else result | {"late": owing(result["workers"])}


def log_workers(result: Mapping[str, Any]) -> None:
    """Log which of several workers have not reloaded, or that all have."""
    refused, workers = refusals(result["workers"]), len(result["workers"]) + result["late"]
    for line in refused:
        _log.error("not reloaded by every worker: %s", line)
    if result["late"]:
        _log.warning("%d of %d workers have not reloaded yet", result["late"], workers)
    elif workers > 1 and not refused:
        _log.info("all %d workers have reloaded", workers)
