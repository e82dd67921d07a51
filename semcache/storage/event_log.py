"""Outcomes, written behind: requests append, one task turns them into metrics, log lines and rows of the event log.

Knows nothing of requests. Invariant: `note` and `repeat` never block, never fail and never grow past `capacity`; what a
failing store could not take is counted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

import msgspec

from semcache.protocols import OutcomeLog
from semcache.runtime.guarded_calls import surviving
from semcache.runtime.task_set import end
from semcache.runtime.telemetry import Meter, log_fields
from semcache.types import Recorded, Timings, Usage

EVERY = 0.25  # seconds between two flushes
_log = logging.getLogger(__name__)
_NO_STAGES = Timings()


class EventLog:
    """Collects outcomes and flushes them every `interval` seconds.

    `sink` takes the log lines of a flush as bytes; None logs nothing.
    """

    def __init__(
        self,
        store: OutcomeLog,
        meter: Meter,
        *,
        sink: Callable[[bytes], object] | None = None,
        interval: float = EVERY,
        capacity: int = 200_000,
    ) -> None:
        self._store = store
        self._meter = meter
        self._sink = sink
        self._interval = interval
        self._capacity = capacity
        self._events: list[Recorded] = []
        self._repeats: list[tuple[Recorded, float, float]] = []
        self._flushed = 0
        self.fault: str | None = None  # why the store did not take the last ones
        self._dropped = 0  # rows since the store took the last ones
        self._refused: list[Recorded] = []  # the last one that the store did not take
        self._also: list[Callable[[], Awaitable[object]]] = []
        self._task: asyncio.Task[None] | None = None
        self._flushing = asyncio.Lock()
        self._waiting = asyncio.Event()  # something is noted; a process that nobody asks does not wake up

    def start(self) -> None:
        """Begin flushing in the running event loop."""
        self._task = asyncio.create_task(self._run(), name="semcache-event-log")

    @property
    def noted(self) -> int:
        """How many outcomes were noted so far; while it stands still, nobody asks."""
        return self._flushed + len(self._events) + len(self._repeats)

    def note(self, event: Recorded) -> None:
        """Record one outcome."""
        if len(self._events) < self._capacity:
            self._events.append(event)
            self._waiting.set()
        else:
            self._meter.dropped_events.inc()

    def repeat(self, template: Recorded, at: float, seconds: float) -> None:
        """Record an outcome that equals `template` but for its time and duration, and went through none of its stages.

        Far cheaper than `note`.
        """
        if len(self._repeats) < self._capacity:
            self._repeats.append((template, at, seconds))
            self._waiting.set()
        else:
            self._meter.dropped_events.inc()

    def attach(self, flush: Callable[[], Awaitable[object]]) -> None:
        """Have something else written out with every flush from now on; a fault of it is logged and no more."""
        self._also.append(flush)

    async def flush(self) -> None:
        """Write out everything noted so far. Returns when the store has it, or has refused it."""
        async with self._flushing:
            for also in self._also:
                with surviving("writing what goes with the event log"):
                    await also()
            self._flushed = self.noted
            events, self._events = self._events, []
            repeats, self._repeats = self._repeats, []
            rows = events + _fold(repeats)
            if not rows:
                await self._retry()
                return
            for event in rows:
                self._meter.observe(event)
            if self._sink is not None:
                lines = [msgspec.json.encode(log_fields(event)) for event in events]
                lines += _repeated_lines(repeats)
                try:
                    self._sink(b"\n".join(lines) + b"\n")
                except (OSError, ValueError):
                    # Nobody reads the log any more.
                    self._sink = None
            try:
                await self._store.record(rows)
            except Exception as error:
                # Whatever it is, the outcomes that come after these are written.
                if self.fault is None:
                    _log.warning("outcomes cannot be written, and are counted as dropped until they can: %r", error)
                self.fault = f"outcomes cannot be written: {error}"
                self._dropped += len(rows)
                self._meter.dropped_events.inc(len(rows))
                self._refused = rows[-1:]
                return
            self._works_again()

    async def _retry(self) -> None:
        """Try the last outcome again that was refused: while nobody asks, that alone tells if the store takes them."""
        refused, self._refused = self._refused, []
        if not refused:
            return
        try:
            await self._store.record(refused)
        except Exception:
            if self.fault is not None:  # otherwise others were written meanwhile, and no store takes this one
                self._refused = refused
            return
        self._dropped -= 1
        self._works_again()

    def _works_again(self) -> None:
        if self.fault is not None:
            _log.warning("outcomes are written again; %d were dropped", self._dropped)
        self.fault, self._dropped = None, 0

    async def close(self) -> None:
        """Stop the task and write out what is left."""
        await end(self._task)
        await self.flush()

    async def _run(self) -> None:
        while True:
            await self._waiting.wait()
            await asyncio.sleep(self._interval)
            self._waiting.clear()
            await self.flush()


def _fold(repeats: Sequence[tuple[Recorded, float, float]]) -> list[Recorded]:
    groups: dict[int, tuple[Recorded, int, float, float]] = {}
    for template, at, seconds in repeats:
        _, count, total, _ = groups.get(id(template), (template, 0, 0.0, at))
        groups[id(template)] = (template, count + 1, total + seconds, at)
    return [
        replace(
            template,
            at=at,
            count=count,
            seconds=total,
            saved=Usage(template.saved.prompt_tokens * count, template.saved.completion_tokens * count),
            saved_cost=template.saved_cost * count,
            overhead=template.overhead * count,
            timings=_NO_STAGES,
        )
        for template, count, total, at in groups.values()
    ]


def _repeated_lines(repeats: Sequence[tuple[Recorded, float, float]]) -> list[bytes]:
    tails: dict[int, bytes] = {}
    lines = []
    for template, at, seconds in repeats:
        tail = tails.get(id(template))
        if tail is None:
            fields = log_fields(replace(template, timings=_NO_STAGES))
            tail = tails[id(template)] = (
                b","
                + msgspec.json.encode({name: value for name, value in fields.items() if name not in ("at", "ms")})[1:]
            )
        lines.append(b'{"at":%.3f,"ms":%.3f' % (at, seconds * 1e3) + tail)
    return lines
