"""The worker thread that owns the engine, and its asyncio interface.

Knows threads, queues and event loops, nothing of HTTP. Invariant: only this thread touches the engine after `start`; a
job whose ticket is no longer read is cancelled; a fault of the engine ends the open jobs with an error and not the
thread.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import AsyncIterator, Sequence
from types import TracebackType
from typing import TypeAlias

from semcache.engine.engine import Engine
from semcache.engine.job import Delta, FinishReason, Job
from semcache.errors import RequestRejected, UpstreamError

_log = logging.getLogger(__name__)
_Event: TypeAlias = Delta | Exception | None  # None: accepted


class Ticket:
    """A job in the engine. Iterate over its deltas to the end, or close it."""

    def __init__(self, worker: Worker, job: Job) -> None:
        self.job = job
        self.events: asyncio.Queue[_Event] = asyncio.Queue()
        self.loop = asyncio.get_running_loop()
        self._worker, self._ended = worker, False

    async def __aenter__(self) -> Ticket:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def accepted(self) -> None:
        """Return when the engine has queued the job. Raises the error of `Engine.submit`."""
        event = await self.events.get()
        if isinstance(event, Exception):
            self._ended = True
            raise event

    async def deltas(self) -> AsyncIterator[Delta]:
        """The deltas of the job, to the end. Raises UpstreamError when the engine fails.

        Raises RequestRejected where it turns out that the engine cannot do what was asked.
        """
        while not self._ended:
            event = await self.events.get()
            if isinstance(event, Exception):
                self._ended = True
                raise event
            assert event is not None
            if event.refused:
                raise RequestRejected(400, event.error, code="invalid_value")
            if event.finish is FinishReason.ERROR:
                raise UpstreamError(event.error)
            self._ended = event.spent is not None
            yield event

    def close(self) -> None:
        """Cancel the job unless it has ended."""
        if not self._ended:
            self._ended = True
            self._worker.cancel(self.job.id)


class Worker:
    """Runs an engine in a thread of its own from `start` to `close`."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self._inbox: queue.SimpleQueue[Ticket | str | None] = queue.SimpleQueue()
        self._tickets: dict[str, Ticket] = {}
        self._thread = threading.Thread(target=self._work, name="semcache-engine", daemon=True)
        self._closing = False
        self._door = threading.Lock()  # no job comes in behind the one who closes

    def start(self) -> Worker:
        """Start the thread."""
        self._thread.start()
        return self

    @property
    def alive(self) -> bool:
        """True if jobs are worked on."""
        return self._thread.is_alive() and not self._closing

    async def run(self, job: Job) -> Ticket:
        """Hand a job over. Raises RequestRejected or Overloaded; UpstreamError when the worker is closed."""
        ticket = Ticket(self, job)
        with self._door:
            if not self.alive:
                raise UpstreamError("the engine is closed")
            self._inbox.put(ticket)
        try:
            await ticket.accepted()
        except BaseException:
            ticket.close()
            raise
        return ticket

    def cancel(self, job_id: str) -> None:
        """Stop working on a job, soon."""
        self._inbox.put(job_id)

    def close(self) -> None:
        """End the open jobs with an error, and the thread. Idempotent."""
        with self._door:
            if not self._closing:
                self._closing = True
                self._inbox.put(None)
        if self._thread.ident is not None:
            self._thread.join()

    def _work(self) -> None:
        while not self._closing:
            try:
                self._take_orders(wait=self.engine.idle)
                self._tell(self.engine.step())
            except Exception as error:
                _log.exception("the engine failed; the jobs at hand end with an error")
                self.engine.reset()
                self._end_all(UpstreamError(f"the engine failed: {error!r}"))
        closed = UpstreamError("the engine was closed")
        self._end_all(closed)
        while not self._inbox.empty():
            order = self._inbox.get()
            if isinstance(order, Ticket):
                self._send([(order, closed)])
        self.engine.close()

    def _take_orders(self, *, wait: bool) -> None:
        try:
            order = self._inbox.get(block=wait)
            while order is not None:
                self._obey(order)
                order = self._inbox.get_nowait()
        except queue.Empty:
            return

    def _obey(self, order: Ticket | str) -> None:
        if isinstance(order, str):
            if self._tickets.pop(order, None) is not None:
                self.engine.cancel(order)
            return
        self._tickets[order.job.id] = order  # first, so that it is told of whatever fails from here on
        try:
            self.engine.submit(order.job)
        except RequestRejected as error:
            del self._tickets[order.job.id]
            self._send([(order, error)])
            return
        self._send([(order, None)])

    def _tell(self, deltas: list[Delta]) -> None:
        events = [(self._tickets[delta.job], delta) for delta in deltas if delta.job in self._tickets]
        for delta in deltas:
            if delta.spent is not None:
                self._tickets.pop(delta.job, None)
        self._send(events)

    def _end_all(self, error: Exception) -> None:
        self._send([(ticket, error) for ticket in self._tickets.values()])
        self._tickets.clear()

    def _send(self, events: Sequence[tuple[Ticket, _Event]]) -> None:
        by_loop: dict[asyncio.AbstractEventLoop, list[tuple[Ticket, _Event]]] = {}
        for ticket, event in events:
            by_loop.setdefault(ticket.loop, []).append((ticket, event))
        for loop, some in by_loop.items():
            try:
                loop.call_soon_threadsafe(_deliver, some)
            except RuntimeError:  # the loop is closed: nobody reads any more
                for ticket, _ in some:
                    if self._tickets.pop(ticket.job.id, None) is not None:
                        self.engine.cancel(ticket.job.id)


def _deliver(events: list[tuple[Ticket, _Event]]) -> None:
    for ticket, event in events:
        ticket.events.put_nowait(event)
