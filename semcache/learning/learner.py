"""Learning in the background: fresh answers are compared with cached ones, and the verdicts become labels.

Knows the judge, the store's queue and the label log; nothing of how requests arrive or what is made of labels.
Invariant: nothing here fails or delays a request. A verdict takes effect in this process at once and soon after in the
store; a comparison that cannot be judged yields no label and is counted.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from prometheus_client import Counter

from semcache.errors import IntegrityError, UpstreamTimeout
from semcache.learning import labelling
from semcache.learning.judges.pace import Pace
from semcache.learning.label_log import LabelLog
from semcache.runtime.bounded_queue import Backlog
from semcache.runtime.guarded_calls import SURVIVED
from semcache.types import Assembled, Entry, Lookup, Outcome, Rejection, Serve
from semcache.types.evidence import Comparison, Judgement, Label, LabelSource

if TYPE_CHECKING:
    from semcache.cache.maintenance import Parts

TRIES = 3
GREY = 0.05  # P(correct) from which a neighbour might be served one day
_TOGETHER = 5_000  # rejections that are written at once
_REMEMBERED = 10_000
_AT_ONCE = 8
_IDLE = 5.0
_log = logging.getLogger(__name__)


class Learner:
    """Judges and learns. `patience`: seconds that a judge may take; `interval`: seconds between writes."""

    def __init__(self, parts: Parts, *, patience: float = 30.0, interval: float = 0.25) -> None:
        self._parts = parts
        self._patience = patience
        self._interval = interval
        self.log = LabelLog(parts)
        # A judge that does not say so asks elsewhere, and only waits.
        self._local: bool = getattr(parts.judge, "local", False)
        self._pace = Pace(lambda: parts.journal.noted)
        self._missed: Backlog[tuple[Lookup, Entry, float]] = Backlog()
        self._waiting: Backlog[tuple[Judgement, Entry]] = Backlog()
        # The old entry is gone by then, so these cannot wait in the store's queue.
        self._reasked: Backlog[tuple[Lookup, Entry, Entry]] = Backlog()
        self._aliases: dict[int, int] = {}
        self._rejections: list[Rejection] = []
        self._served: OrderedDict[int, Label] = OrderedDict()
        self._working, self._judging = asyncio.Lock(), asyncio.Lock()
        self._owing = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        registry = parts.meter.registry
        self._labels = Counter(
            "semcache_labels_total", "Labels learned from.", ["category", "source", "correct"], registry=registry
        )
        self._dropped = Counter(
            "semcache_dropped_labels_total", "Comparisons that yielded no label.", ["reason"], registry=registry
        )

    def start(self) -> None:
        """Begin working in the running event loop."""
        for name, work in (("labels", self._run), ("judge", self._run_queue)):
            self._tasks.append(asyncio.create_task(work(), name=f"semcache-{name}"))

    async def close(self) -> None:
        """Stop, write what is pending and save what was learned.

        What the queue holds stays for the next worker. Answers that replaced others before a slow judge compared them
        teach nothing.
        """
        for task in self._tasks:
            task.cancel()
        for task in self._tasks:
            with suppress(asyncio.CancelledError):
                await task
        await self.work()
        await self._survive(self.log.save())

    async def settle(self) -> None:
        """Wait until everything that can be judged is, and is written and learned from."""
        await self.work()
        await self.judge_queue()
        await self.work()

    def compare(self, lookup: Lookup, fresh: Entry) -> None:
        """After a miss that was stored: have the neighbours' answers compared with the fresh one."""
        if not self._missed.offer((_lean(lookup), fresh, self._parts.clock()), _bytes(fresh)):
            self._drop("full")

    async def audit(
        self, lookup: Lookup, served: Serve, answer: Assembled, *, cached: Entry | None, fresh: Entry | None
    ) -> None:
        """After a served hit whose request was put to the backend too: judge the served answer by the `answer`.

        `cached` is the entry that was served, None where it has to be read; `fresh` the one that holds `answer`, None
        if that was not kept.
        """
        label = labelling.of_hit(lookup, served, at=self._parts.clock())
        if not self._parts.judge.instant:
            if fresh is None:
                self._drop("not-stored")
            else:
                self._owe(Judgement(0, fresh.id, label), fresh)
            return
        entry = cached or await self._entry(served.card.id)
        if entry is None:
            self._drop("lapsed")
            return
        comparison = Comparison(lookup.request.text, served.card.text, labelling.said(entry), answer.text)
        verdict = await self._verdict(comparison, since=label.at)
        if verdict is not None and not self.log.add(self._learned(label, fresh.id if fresh else 0, verdict)):
            self._drop("full")

    def reasked(self, lookup: Lookup, old: Entry, fresh: Entry) -> None:
        """After a request was answered anew that had an answer: learn whether the `old` one still held."""
        if fresh.created <= old.created:
            return
        if self._reasked.offer((_lean(lookup), old, fresh), _bytes(old) + _bytes(fresh)):
            self._owing.set()
        else:
            self._drop("full")

    def remember(self, lookup: Lookup, served: Serve) -> None:
        """Note a hit, so that feedback on it teaches more than that it came."""
        if served.how is Outcome.SEMANTIC and lookup.key is not None:
            self._served[served.card.id] = labelling.of_hit(lookup, served, at=self._parts.clock())
            if len(self._served) > _REMEMBERED:
                self._served.popitem(last=False)

    async def feedback(self, entry_id: int, *, correct: bool) -> bool:
        """Learn what a person said of an entry, durably; False if it was not served here of late. Raises StoreError."""
        known = self._served.pop(entry_id, None)
        if known is None:
            return False
        label = replace(known, at=self._parts.clock(), source=LabelSource.FEEDBACK, chance=0.0, correct=correct)
        await self.log.append([label])
        self._count(label)
        return True

    async def work(self) -> None:
        """Judge or enqueue what waits, and write. Never raises."""
        async with self._working:
            await self._survive(self._take_missed())
            await self._survive(self._take_waiting())
            await self._survive(self._write())

    async def judge_queue(self) -> None:
        """Judge what the queue holds and nobody else has taken. Never raises."""
        async with self._judging:
            await self._survive(self._work_off())

    # Inside

    async def _take_missed(self) -> None:
        """Name what misses leave to be compared."""
        parts = self._parts
        while self._missed:
            lookup, fresh, at = self._missed.take()
            for label in labelling.of_miss(lookup, parts.threshold, parts.pack.of(lookup.category), at=at):
                # A judge that costs is asked where it may matter.
                if parts.judge.instant or label.p_correct >= GREY:
                    self._owe(Judgement(0, fresh.id, label), fresh)
            # Requests come first.
            await asyncio.sleep(0)

    async def _take_waiting(self) -> None:
        instant = self._parts.judge.instant
        while self._waiting:
            if not instant:
                batch = list(self._waiting)
                await self._parts.store.enqueue([owed for owed, _ in batch])
                for _ in batch:
                    self._waiting.take()
                self._owing.set()
                continue
            owed, fresh = self._waiting.take()
            try:
                label = await self._judged(owed, fresh)
            except SURVIVED:
                self._drop("lapsed")
                raise
            if label is not None and not self.log.add(label):
                self._drop("full")
        if instant:
            await self._judge_reasked()

    async def _judge_reasked(self) -> None:
        while self._reasked:
            lookup, old, fresh = self._reasked.take()
            comparison = labelling.shown(fresh, old)
            if comparison is None:
                continue
            verdict = comparison.cached == comparison.fresh or await self._verdict(comparison, since=fresh.created)
            if verdict is None:
                continue
            kind = self._parts.freshness.kind(lookup.request.text, lookup.vector)
            label = labelling.of_reasked(lookup, old, fresh.created - old.created, kind, at=fresh.created)
            if not self.log.add(self._learned(label, fresh.id, verdict)):
                self._drop("full")

    async def _work_off(self) -> None:
        store, lease = self._parts.store, 2 * self._patience
        while claimed := await store.claim(_AT_ONCE, now=self._parts.clock(), lease=lease):
            labels = await asyncio.gather(*(self._judged(owed) for owed in claimed))
            # Written before they are finished: what is lost in between is judged again and not lost.
            await self.log.append([label for label in labels if label is not None])
            await store.finish([owed.id for owed in claimed])
            await self.work()
            await self._judge_reasked()
        await self._judge_reasked()

    async def _judged(self, owed: Judgement, fresh: Entry | None = None) -> Label | None:
        """The label that a judgement yields, None if none."""
        if owed.tries > TRIES:
            self._drop("given-up")
            return None
        cached = await self._entry(owed.label.entry_id)
        fresh = fresh or await self._entry(owed.fresh_id)
        comparison = labelling.shown(fresh, cached) if fresh is not None and cached is not None else None
        if comparison is None:
            self._drop("lapsed")
            return None
        verdict = await self._verdict(comparison, since=owed.label.at)
        return None if verdict is None else self._learned(owed.label, owed.fresh_id, verdict)

    async def _verdict(self, comparison: Comparison, *, since: float) -> bool | None:
        """What the judge says of a comparison that has waited since that time."""
        if not self._local:
            return await self._asked(comparison)
        return await self._pace.run(lambda: self._asked(comparison), waited=self._parts.clock() - since)

    async def _asked(self, comparison: Comparison) -> bool | None:
        try:
            async with asyncio.timeout(self._patience):
                verdict = await self._parts.judge.agree(comparison)
        except (TimeoutError, UpstreamTimeout):
            self._drop("late")
            return None
        except Exception as error:
            _log.warning("the judge failed: %r", error)
            self._drop("failed")
            return None
        if verdict is None:
            self._drop("undecided")
        return verdict

    def _learned(self, label: Label, fresh_id: int, correct: bool) -> Label:
        """The label with its verdict, which takes effect at once."""
        label = replace(label, correct=correct)
        self._count(label)
        self._parts.economics.judged(label)
        if correct and fresh_id and fresh_id not in self._aliases:
            card = self._parts.catalogue.get(label.entry_id)
            answer = label.answer if card is None else card.answer_class
            self._aliases[fresh_id] = answer
            self._parts.share(fresh_id, answer)
        elif not correct and label.source is not LabelSource.REASKED and (label.served or label.p_correct >= GREY):
            rejection = Rejection(label.entry_id, label.exact)
            self._rejections.append(rejection)
            self._parts.catalogue.reject([rejection])
            if label.served:
                self._parts.meter.false_hits.labels(label.category, label.source.value).inc()
        return label

    async def _write(self) -> None:
        """Write what verdicts changed; what is not written is tried again the next time."""
        parts, now = self._parts, self._parts.clock()
        rejections = self._rejections[:_TOGETHER]
        if rejections:
            await parts.store.reject(rejections, now=now)
            del self._rejections[: len(rejections)]
        for fresh_id, answer in list(self._aliases.items()):
            await parts.store.alias(fresh_id, answer, now=now)
            del self._aliases[fresh_id]
        await self.log.write()

    async def _entry(self, entry_id: int) -> Entry | None:
        entry = self._parts.answers.get(entry_id)
        if entry is None:
            with suppress(IntegrityError):
                [entry] = await self._parts.store.get([entry_id])
        return entry

    def _owe(self, owed: Judgement, fresh: Entry) -> None:
        if not self._waiting.offer((owed, fresh), _bytes(fresh)):
            self._drop("full")

    def _count(self, label: Label) -> None:
        self._labels.labels(label.category, label.source.value, str(label.correct).lower()).inc()

    def _drop(self, reason: str) -> None:
        self._dropped.labels(reason).inc()

    async def _survive(self, work: Awaitable[None]) -> None:
        try:
            await work
        except SURVIVED:
            self._parts.meter.faults.labels("store").inc()
        except Exception:
            _log.exception("learning failed")
            self._parts.meter.faults.labels("learning").inc()

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(self._interval)
            await self.work()

    async def _run_queue(self) -> None:
        while True:
            # `wait_for` may swallow a cancellation that comes together with the event.
            with suppress(TimeoutError):
                async with asyncio.timeout(_IDLE):
                    await self._owing.wait()
            self._owing.clear()
            await self.judge_queue()


def _lean(lookup: Lookup) -> Lookup:
    """The lookup without what no label is made of: a request may be as large as a body may."""
    return replace(lookup, request=replace(lookup.request, raw=b"", identity={}))


def _bytes(entry: Entry) -> int:
    """What an entry holds, roughly: its answer, its request, and the prompt in it once more."""
    return len(entry.body) + 2 * len(entry.key.canonical) + 1000
