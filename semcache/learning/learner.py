"""Learning in the background: fresh answers are compared with cached ones, and the verdicts become labels.

Knows what waits to be compared and when it is, the queue of judgements and the label log; nothing of how requests
arrive or what is made of labels. `missed_neighbours` and `judged_comparisons` make the labels, `served_hits` those of
people's reports. Invariant: nothing here fails or delays a request. What the judge fails at is put to it again, for up
to a day.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from semcache.learning import labelling
from semcache.learning.judged_comparisons import TRIES, JudgedComparisons
from semcache.learning.label_log import LabelLog
from semcache.learning.missed_neighbours import MissedNeighbours, lean
from semcache.learning.recent_requests import RecentRequests
from semcache.learning.served_hits import ServedHits
from semcache.learning.timed_judge import Failure
from semcache.learning.verdict_effects import GREY
from semcache.protocols import JudgementQueue
from semcache.runtime.bounded_queue import BoundedQueue
from semcache.runtime.guarded_calls import SURVIVED
from semcache.runtime.task_set import completed, end
from semcache.runtime.telemetry import Meter
from semcache.types import Assembled, Entry, Lookup, Serve
from semcache.types.evidence import Judgement, Label

PATIENCE = 86400.0  # seconds for which comparisons wait for a judge that fails
_IDLE = 5.0
_INTERVAL = 0.25  # seconds between writes
_JUDGING = "semcache-judge"
_log = logging.getLogger(__name__)


class Learner:
    """Judges and learns. `served` are the hits that people may report on."""

    def __init__(
        self,
        queue: JudgementQueue,
        log: LabelLog,
        missed: MissedNeighbours,
        comparisons: JudgedComparisons,
        served: ServedHits,
        meter: Meter,
        *,
        clock: Callable[[], float],
    ) -> None:
        self.log, self.served = log, served
        self._queue = queue
        self._missed = missed
        self._comparisons = comparisons
        self._judge = comparisons.judge
        self._meter = meter
        self._clock = clock
        self._waiting: BoundedQueue[tuple[Judgement, Entry]] = BoundedQueue()
        # The old entry is gone by then, so these cannot wait in the store's queue.
        self._reasked: BoundedQueue[tuple[Lookup, Entry, Entry]] = BoundedQueue()
        self._compared = RecentRequests()
        self._working, self._judging = asyncio.Lock(), asyncio.Lock()
        self._owing = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        """Begin working in the running event loop."""
        works = (
            ("semcache-labels", self._run),
            (_JUDGING, self._run_queue),
            ("semcache-relearning", self._run_relearning),
        )
        for name, work in works:
            self._tasks.append(asyncio.create_task(work(), name=name))

    def leave_queue(self) -> None:
        """From now on judge nothing of what the store's queue holds: other workers have the judge that is meant."""
        for task in self._tasks:
            if task.get_name() == _JUDGING:
                task.cancel()

    async def close(self) -> None:
        """Stop, write what is pending and save the learned state.

        Comparisons in the queue stay for the next worker. Answers that replaced others before a slow judge compared
        them teach nothing. The local verifier is not asked any more: after a burst of misses that would take minutes.
        """
        self._missed.close()
        await end(*self._tasks)
        await self.work()
        await self._survive(self.log.save())

    async def settle(self) -> None:
        """Wait until everything that can be judged is, and is written and learned from."""
        await self.work()
        await self.judge_queue()
        await self.work()
        await self._survive(self.log.relearn())

    def compare(self, lookup: Lookup, fresh: Entry) -> None:
        """After a miss that was stored: have the neighbours' answers compared with the fresh one, once a request."""
        if self._compared.is_repeated(lookup.request_id, served=False):
            return
        if not self._missed.offer(lookup, fresh, self._clock()):
            self._meter.unlabelled("full")

    async def audit(
        self, lookup: Lookup, served: Serve, answer: Assembled | None, *, cached: Entry | None, fresh: Entry | None
    ) -> None:
        """Judge the served answer of an audited hit by the backend's `answer`, None for one that says nothing.

        `cached` is the entry that was served, None if it has to be read; `fresh` is the entry that holds `answer`, None
        if it was not stored. A hit is one sample, however often it is judged.
        """
        if self._compared.is_repeated(lookup.request_id, served=True):
            return
        label = labelling.of_hit(lookup, served, at=self._clock())
        label = replace(label, origin=self.log.marks.of(label.category))
        if answer is None:
            self._add(self._comparisons.left(label, "no-answer"))
        elif self._judge.instant:
            fresh_id = fresh.id if fresh else 0
            self._add(await self._comparisons.of_hit(label, lookup, served, answer, cached=cached, fresh_id=fresh_id))
        elif fresh is None:
            self._add(self._comparisons.left(label, "not-stored"))
        else:
            self._owe(Judgement(0, fresh.id, label, model=self._comparisons.model_for(lookup, served)), fresh)

    def reasked(self, lookup: Lookup, old: Entry, fresh: Entry) -> None:
        """Learn if the `old` answer to a request that was answered anew still held."""
        if fresh.created <= old.created:
            return
        if self._reasked.offer((lean(lookup), old, fresh), old.size + fresh.size):
            self._owing.set()
        else:
            self._meter.unlabelled("full")

    async def work(self) -> None:
        """Judge or enqueue what waits, and write. Never raises."""
        async with self._working:
            await self._survive(self._take_missed())
            await self._survive(self._take_waiting())
            await self._survive(self._write())

    async def judge_queue(self) -> None:
        """Judge the comparisons in the queue that no other worker has taken. Never raises."""
        async with self._judging:
            await self._survive(self._work_off())

    # Inside

    async def _take_missed(self) -> None:
        """Name what misses leave to be compared; those that come meanwhile wait until the rest is written."""
        for _ in range(len(self._missed)):
            labels, fresh = await self._missed.take()
            for label in labels:
                # A judge that costs is asked where it may matter.
                if self._judge.instant or label.p_correct >= GREY:
                    self._owe(Judgement(0, fresh.id, label), fresh)
            # Requests come first.
            await asyncio.sleep(0)

    async def _take_waiting(self) -> None:
        instant = self._judge.instant
        while self._waiting:
            if not instant:
                await completed(self._enqueue())
                continue
            owed, fresh = self._waiting.take()
            try:
                found = await self._comparisons.of_owed(owed, fresh)
            except Exception:
                self._meter.unlabelled("lapsed")
                raise
            self._add(self._comparisons.left(owed.label, found) if isinstance(found, str) else found)
        if instant:
            await self._judge_reasked()

    async def _enqueue(self) -> None:
        batch = list(self._waiting)
        await self._queue.enqueue([owed for owed, _ in batch])
        for _ in batch:
            self._waiting.take()
        self._owing.set()

    async def _judge_reasked(self) -> None:
        while self._reasked and not self._judge.rests:
            self._add(await self._comparisons.of_reasked(*self._reasked.take()))

    async def _work_off(self) -> None:
        judge = self._judge
        while not judge.rests and (
            claimed := await self._queue.claim(judge.at_once, now=self._clock(), lease=judge.lease)
        ):
            found = await asyncio.gather(*(self._comparisons.of_owed(owed) for owed in claimed))
            await completed(self._finish(list(zip(claimed, found, strict=True))))
            await self.work()
            await self._judge_reasked()
        await self._judge_reasked()

    async def _finish(self, judged: Sequence[tuple[Judgement, list[Label] | Failure]]) -> None:
        """Write the labels, and then mark them as done: after a crash in between they are judged again, not lost.

        What the judge failed at stays in the queue, where it can be claimed again once its lease has ended.
        """
        labels: list[Label] = []
        done: list[int] = []
        renewed: list[Judgement] = []
        for owed, found in judged:
            if isinstance(found, str) and self._is_asked_again(owed):
                if owed.tries >= TRIES:
                    renewed.append(owed)
                    done.append(owed.id)
                continue
            labels += self._comparisons.left(owed.label, found) if isinstance(found, str) else found
            done.append(owed.id)
        await self.log.append(labels)
        # Tries are those of a comparison that ends its workers or its judge, not those while the judge is away.
        await self._queue.enqueue(renewed)
        await self._queue.finish(done)

    def _is_asked_again(self, owed: Judgement) -> bool:
        return (owed.tries < TRIES or self._judge.rests) and self._clock() - owed.label.at < PATIENCE

    async def _write(self) -> None:
        await self._comparisons.write()
        await self.log.write()

    def _owe(self, owed: Judgement, fresh: Entry) -> None:
        if not self._waiting.offer((owed, fresh), fresh.size):
            self._add(self._comparisons.left(owed.label, "full"))

    def _add(self, labels: Sequence[Label]) -> None:
        for label in labels:
            if not self.log.add(label):
                self._meter.unlabelled("full")

    async def _survive(self, work: Awaitable[None]) -> None:
        try:
            await work
        except SURVIVED:
            self._meter.faults.labels("store").inc()
        except Exception:
            _log.exception("learning failed")
            self._meter.faults.labels("learning").inc()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(_INTERVAL)
            await self.work()

    async def _run_relearning(self) -> None:
        while True:
            await asyncio.sleep(_IDLE)
            await self._survive(self.log.relearn(self._clock()))

    async def _run_queue(self) -> None:
        while True:
            # `wait_for` may swallow a cancellation that comes together with the event.
            with suppress(TimeoutError):
                async with asyncio.timeout(_IDLE):
                    await self._owing.wait()
            self._owing.clear()
            await self.judge_queue()
