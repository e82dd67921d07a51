"""Learning in the background: fresh answers are compared with cached ones, and the verdicts become labels.

Knows the judge, the queue of judgements and the label log; nothing of how requests arrive or what is made of labels.
Invariant: nothing here fails or delays a request. What the judge fails at is put to it again, for up to a day. A
comparison that cannot be judged is counted, and yields no label that teaches: of an audit, one that says that it is
undecided, so that none drops out of a certificate by its outcome.
"""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from semcache.errors import IntegrityError
from semcache.learning import labelling
from semcache.learning.corroboration import REPORT
from semcache.learning.label_log import LabelLog
from semcache.learning.recent_requests import RecentRequests
from semcache.learning.timed_judge import Failure, NoVerdict, TimedJudge
from semcache.learning.verdict_effects import GREY, VerdictEffects
from semcache.matching.wording_tier import also_wording
from semcache.protocols import JudgementQueue
from semcache.runtime.bill import BilledFor
from semcache.runtime.bounded_queue import BoundedQueue
from semcache.runtime.guarded_calls import SURVIVED
from semcache.runtime.task_set import completed, end
from semcache.runtime.telemetry import Meter
from semcache.storage.live_entries import LiveEntries
from semcache.types import Assembled, Entry, Lookup, Outcome, Serve
from semcache.types.evidence import Comparison, Judgement, Label, LabelSource

TRIES = 3
PATIENCE = 86400.0  # seconds for which comparisons wait for a judge that fails
_REMEMBERED = 10_000
_IDLE = 5.0
_INTERVAL = 0.25  # seconds between writes
_JUDGING = "semcache-judge"
_log = logging.getLogger(__name__)


class Learner:
    """Judges and learns. `read` gives the local verifier's P(same) of two texts, None for none."""

    def __init__(
        self,
        queue: JudgementQueue,
        log: LabelLog,
        judge: TimedJudge,
        effects: VerdictEffects,
        live: LiveEntries,
        meter: Meter,
        *,
        clock: Callable[[], float],
        read: Callable[[str, str], Awaitable[float | None]],
    ) -> None:
        self.log = log
        self._read = read
        self._queue = queue
        self._judge = judge
        self._effects = effects
        self._live = live
        self._meter = meter
        self._clock = clock
        self._missed: BoundedQueue[tuple[Lookup, Entry, float]] = BoundedQueue()
        self._waiting: BoundedQueue[tuple[Judgement, Entry]] = BoundedQueue()
        # The old entry is gone by then, so these cannot wait in the store's queue.
        self._reasked: BoundedQueue[tuple[Lookup, Entry, Entry]] = BoundedQueue()
        self._served: OrderedDict[int, Label] = OrderedDict()
        self._compared = RecentRequests()
        self._working, self._judging = asyncio.Lock(), asyncio.Lock()
        self._owing = asyncio.Event()
        self._closing = False
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
        self._closing = True
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
        if not self._missed.offer((_lean(lookup), fresh, self._clock()), fresh.size):
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
        model = self._judge.second_model(lookup) if served.audit else ""
        if answer is None:
            self._meter.unlabelled("no-answer")
            self._leave_undecided(label)
        elif self._judge.instant:
            entry = cached or await self._entry(served.card.id)
            if entry is None:
                self._meter.unlabelled("lapsed")
                self._leave_undecided(label)
                return
            comparison = Comparison(lookup.request.text, served.card.text, labelling.said(entry), answer.text)
            verdict = await self._judge.agree(comparison, since=label.at, billed_for=_billed_for(label), model=model)
            found = self._decided(label, fresh.id if fresh else 0, verdict)
            if found is not None:
                self._add(found)
        elif fresh is None:
            self._meter.unlabelled("not-stored")
            self._leave_undecided(label)
        else:
            self._owe(Judgement(0, fresh.id, label, model=model), fresh)

    def reasked(self, lookup: Lookup, old: Entry, fresh: Entry) -> None:
        """Learn if the `old` answer to a request that was answered anew still held."""
        if fresh.created <= old.created:
            return
        if self._reasked.offer((_lean(lookup), old, fresh), old.size + fresh.size):
            self._owing.set()
        else:
            self._meter.unlabelled("full")

    def remember(self, lookup: Lookup, served: Serve) -> None:
        """Note a hit, so that feedback on it teaches more than that it came."""
        if served.how is Outcome.SEMANTIC and lookup.key is not None:
            self._served[served.card.id] = labelling.of_hit(lookup, served, at=self._clock())
            if len(self._served) > _REMEMBERED:
                self._served.popitem(last=False)

    async def feedback(self, entry_id: int, *, correct: bool, change: int = 0) -> bool:
        """Learn a person's report about an entry, durably; False if not lately served here. Raises StoreError.

        `change` is the number of one that another worker has heard: all that have served the entry label their hits,
        and one of these labels teaches.
        """
        known = self._served.pop(entry_id, None)
        if known is None:
            return False
        origin = f"{REPORT}{change}" if change else ""
        label = replace(
            known, at=self._clock(), source=LabelSource.FEEDBACK, chance=0.0, correct=correct, origin=origin
        )
        try:
            await self.log.append([label])
        except Exception:
            # Whoever says so again is to be heard; who is cancelled was heard.
            self._served.setdefault(entry_id, known)
            raise
        self._meter.labelled(label)
        return True

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
            lookup, fresh, at = self._missed.take()
            for label in labelling.of_miss(lookup, self.log.strategy, self.log.pack.of(lookup.category), at=at):
                # A judge that costs is asked where it may matter.
                if self._judge.instant or label.p_correct >= GREY:
                    self._owe(Judgement(0, fresh.id, await self._with_verdict(label, lookup)), fresh)
            # Requests come first.
            await asyncio.sleep(0)

    async def _with_verdict(self, label: Label, lookup: Lookup) -> Label:
        """The label with what the local verifier would have said, where that teaches what its verdict is worth."""
        card = self._live.registry.get(label.entry_id)
        if self._closing or card is None or not labelling.is_unread(label, self.log.pack.of(lookup.category)):
            return label
        p_same = await self._read(lookup.request.text, card.text)
        return label if p_same is None else labelling.read(label, p_same)

    async def _take_waiting(self) -> None:
        instant = self._judge.instant
        while self._waiting:
            if not instant:
                await completed(self._enqueue())
                continue
            owed, fresh = self._waiting.take()
            try:
                found = await self._judged(owed, fresh)
            except Exception:
                self._meter.unlabelled("lapsed")
                raise
            label = self._left(owed.label, found) if isinstance(found, str) else found
            if label is not None:
                self._add(label)
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
            lookup, old, fresh = self._reasked.take()
            comparison = labelling.shown(fresh, old)
            if comparison is None:
                continue
            same = comparison.cached == comparison.fresh
            billed_for = BilledFor(lookup.request.scope.tenant, lookup.category)
            verdict = same or await self._judge.agree(comparison, since=fresh.created, billed_for=billed_for)
            if not isinstance(verdict, bool):
                self._meter.unlabelled(verdict)
                continue
            kind = self.log.freshness.kind(lookup.request.text, lookup.vector)
            label = labelling.of_reasked(lookup, old, fresh.created - old.created, kind, at=fresh.created)
            self._add(self._effects.apply(label, fresh.id, correct=verdict))

    async def _work_off(self) -> None:
        judge = self._judge
        while not judge.rests and (
            claimed := await self._queue.claim(judge.at_once, now=self._clock(), lease=judge.lease)
        ):
            found = await asyncio.gather(*(self._judged(owed) for owed in claimed))
            await completed(self._finish(list(zip(claimed, found, strict=True))))
            await self.work()
            await self._judge_reasked()
        await self._judge_reasked()

    async def _finish(self, judged: Sequence[tuple[Judgement, Label | Failure | None]]) -> None:
        """Write the labels, and then mark them as done: after a crash in between they are judged again, not lost.

        What the judge failed at stays in the queue, where it can be claimed again once its lease has ended.
        """
        labels: list[Label | None] = []
        done: list[int] = []
        renewed: list[Judgement] = []
        for owed, found in judged:
            if isinstance(found, str) and self._is_asked_again(owed):
                if owed.tries >= TRIES:
                    renewed.append(owed)
                    done.append(owed.id)
                continue
            labels.append(self._left(owed.label, found) if isinstance(found, str) else found)
            done.append(owed.id)
        await self.log.append([label for label in labels if label is not None])
        # Tries are those of a comparison that ends its workers or its judge, not those while the judge is away.
        await self._queue.enqueue(renewed)
        await self._queue.finish(done)

    def _is_asked_again(self, owed: Judgement) -> bool:
        return (owed.tries < TRIES or self._judge.rests) and self._clock() - owed.label.at < PATIENCE

    async def _judged(self, owed: Judgement, fresh: Entry | None = None) -> Label | Failure | None:
        """Return the label that a judgement yields, None if none, or how the judge failed."""
        if owed.tries > TRIES:
            self._meter.unlabelled("given-up")
            return labelling.undecided(owed.label)
        if owed.tries > 1 and await self.log.holds(owed.label):
            # Whoever wrote the label ended before it could say so.
            return None
        cached = await self._entry(owed.label.entry_id)
        fresh = fresh or await self._entry(owed.fresh_id)
        comparison = labelling.shown(fresh, cached) if fresh is not None and cached is not None else None
        if comparison is None:
            self._meter.unlabelled("lapsed")
            return labelling.undecided(owed.label)
        billed_for = _billed_for(owed.label)
        verdict = await self._judge.agree(comparison, since=owed.label.at, billed_for=billed_for, model=owed.model)
        if not isinstance(verdict, bool) and verdict != "undecided":
            return verdict
        label = self._decided(owed.label, owed.fresh_id, verdict)
        wording = None if label is None else also_wording(label, comparison.question, comparison.cached_question)
        if wording is not None:
            self._add(wording)
        return label

    def _decided(self, label: Label, fresh_id: int, verdict: bool | NoVerdict) -> Label | None:
        """The label with its verdict, which takes effect; that of an undecided audit, or None, if there is none."""
        if not isinstance(verdict, bool):
            return self._left(label, verdict)
        return self._effects.apply(label, fresh_id, correct=verdict)

    def _left(self, label: Label, why: NoVerdict) -> Label | None:
        """The label of an audit that stays undecided, None of any other comparison; it is counted."""
        self._meter.unlabelled(why)
        return labelling.undecided(label)

    def _leave_undecided(self, label: Label) -> None:
        """Write down that an audit stays undecided; any other comparison that nobody can judge is left out."""
        found = labelling.undecided(label)
        if found is not None:
            self._add(found)

    async def _write(self) -> None:
        await self._effects.write(self._clock())
        await self.log.write()

    async def _entry(self, entry_id: int) -> Entry | None:
        with suppress(IntegrityError):
            return await self._live.read(entry_id)
        return None

    def _owe(self, owed: Judgement, fresh: Entry) -> None:
        if not self._waiting.offer((owed, fresh), fresh.size):
            self._meter.unlabelled("full")
            self._leave_undecided(owed.label)

    def _add(self, label: Label) -> None:
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


def _billed_for(label: Label) -> BilledFor:
    return BilledFor(label.tenant, label.category, label.served)


def _lean(lookup: Lookup) -> Lookup:
    """Return the lookup without what no label is made of: a request may be as large as a body may."""
    return replace(lookup, request=replace(lookup.request, raw=b"", identity={}))
