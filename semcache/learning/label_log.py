"""The label log as one worker follows it: written in the background, and applied to its strategy and freshness.

Knows the store and the learners, nothing of how labels arise. Invariant: strategy and freshness observe every label of
the log that is meant for them once, in the order of its `seq`, whichever worker wrote it, also across restarts. A saved
state only saves reading its labels again.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Container, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import msgspec

from semcache.config.packs import Pack
from semcache.learning import labelling
from semcache.learning.changed_promises import NOTHING_CHANGED, ChangedPromises, LabelOrigins, PromiseMarks, promises
from semcache.learning.corroboration import Corroboration, Reach
from semcache.learning.saved_states import encoded, labels_between
from semcache.learning.standing_labels import StandingLabels, about_meaning
from semcache.matching.judged_tier import JudgedTier
from semcache.matching.model_verdict import without_model_verdict
from semcache.matching.strategies import ByCategory
from semcache.matching.wording_tier import WordingTier
from semcache.protocols import Freshness, LabelStore, SavedStates, Threshold
from semcache.request import wording
from semcache.runtime.guarded_calls import surviving
from semcache.runtime.task_set import completed
from semcache.runtime.telemetry import Meter
from semcache.types.evidence import Label, LabelSource

STRATEGY = "threshold"  # saved states have the name
FRESHNESS = "freshness"
WORDING = "wording"
JUDGED = "judged"
SAVE_EVERY = 500
KEEP = 500_000
_CAPACITY = 20_000
_REMEMBERED = 4_000  # labels of a saved state by which tenants are known again
_LATELY = 5_000  # labels among which one of a judgement is sought that was broken off
_PAUSE = 300.0  # seconds between rebuilding beliefs without what was withdrawn
_BREATH = 4  # labels that are learned from between which others get the event loop
_GLANCE = 250  # labels that are only looked at, likewise
_log = logging.getLogger(__name__)


class LearningStore(LabelStore, SavedStates, Protocol):
    """The part of a store that holds labels and learned states."""


@dataclass(frozen=True, slots=True)
class LearningTiers:
    """The tiers beside the strategy that labels teach."""

    wordings: WordingTier
    judged: JudgedTier


class LabelLog:
    """Follows the log of `store` and has `strategy` and `freshness` observe it.

    `seq` is the last label that both have observed. State that was learned about the scores of another embedder, or
    from the verdicts of another judge or model, is not restored where it depends on them. A category whose promises
    have changed is learned anew from its labels, but earlier audits do not count for its certificate, because other
    answers were served then.
    """

    def __init__(
        self,
        store: LearningStore,
        strategy: Threshold,
        freshness: Freshness,
        tiers: LearningTiers,
        pack: Pack,
        meter: Meter,
        *,
        origins: LabelOrigins,
    ) -> None:
        self.strategy, self.freshness, self.pack = strategy, freshness, pack
        self.wordings, self.judged = tiers.wordings, tiers.judged
        self._store = store
        self._meter = meter
        self._origins = origins
        self.marks = PromiseMarks(pack, origins.judge)
        self.corroboration = Corroboration()
        self._pending: list[Label] = []
        self._folding = asyncio.Lock()
        self._taken = dict.fromkeys((STRATEGY, FRESHNESS, WORDING, JUDGED), 0)
        self._changed = NOTHING_CHANGED  # while labels of before are learned from
        self._anew: Container[str] = ()  # categories that are learned anew then
        self._foreign: set[str] = set()  # learners to whom labels of before say nothing
        self._since = 0  # the last label about the scores of another embedder
        self._saved = self._size = 0
        self._wrote = False
        self._choked = False
        self._taken_back = False  # a report was withdrawn, and beliefs still know it
        self._rebuilding, self._rebuilt = asyncio.Lock(), -_PAUSE

    @property
    def seq(self) -> int:
        """0 before there was a label."""
        return min(self._taken.values())

    async def restore(self, anew: Callable[[], Threshold]) -> None:
        """Restore the newest saved states, and read the labels after them.

        If a state is damaged, the log is folded into a strategy made `anew` instead. Call it before anything else holds
        the strategy. Raises StoreError.
        """
        if not await self._take_up(STRATEGY, self._restore_strategy, "embedder"):
            self.strategy = anew()
        await self._take_up(FRESHNESS, lambda kept: self._plainly(self.freshness.restore, kept, {}))
        version = self._wording_promises()
        await self._take_up(WORDING, lambda kept: self._plainly(self.wordings.restore, kept, version), "judge")
        await self._take_up(JUDGED, self._restore_judged, "embedder", "judge", "words")
        # Saved states alone say what was promised: one that says so is saved with the first label.
        self._saved = 0 if self._changed or self._foreign else self.seq
        await self._remember_tenants()
        if self._changed:
            await self._learn_changed()
        await self.fold()
        await self.relearn()
        if STRATEGY in self._foreign:
            self._since = self.seq
        self._changed = NOTHING_CHANGED
        self._foreign.clear()

    def add(self, label: Label) -> bool:
        """Append a label soon; False when too many wait already."""
        if len(self._pending) >= _CAPACITY:
            return False
        self._wrote = True
        self._pending.append(label)
        return True

    async def write(self) -> None:
        """Append the added labels, and fold. Raises StoreError; labels that were not written stay."""
        pending, self._pending = self._pending, []
        writing = asyncio.ensure_future(self._store.label(pending))
        try:
            await asyncio.shield(writing)
        except BaseException:
            # A store ends what it has begun, whoever is cancelled: what it wrote must not be written again.
            await asyncio.wait([writing])
            if writing.cancelled() or writing.exception() is not None:
                self._pending = pending + self._pending
            raise
        await self.fold()

    async def append(self, labels: Sequence[Label]) -> None:
        """Append labels, which are durable when this returns, and fold. Raises StoreError."""
        self._wrote = self._wrote or bool(labels)
        await completed(self._store.label(labels))
        with surviving("folding the label log"):
            await self.fold()

    async def holds(self, label: Label) -> bool:
        """Return True if a label on the same pair at the same time is among the recent ones. Raises StoreError."""
        place = label.at, label.exact, label.entry_id, label.features
        async for one in self._log(max(0, self.seq - _LATELY)):
            if (one.at, one.exact, one.entry_id, one.features) == place:
                return True
        return False

    async def fold(self) -> None:
        """Have the learners observe new labels, and save their states now and then. Raises StoreError."""
        async with self._folding:
            while labels := await self._store.labels(self.seq):
                for number, label in enumerate(labels, 1):
                    self._observe(label)
                    if number % _BREATH == 0:
                        await asyncio.sleep(0)
            due = labels_between(self._size, SAVE_EVERY) if self._saved else 1
            if self.seq - self._saved >= due and self._saves:
                await self._save()

    async def save(self) -> None:
        """Save the states, as far as the store does not hold them as they are. Raises StoreError."""
        async with self._folding:
            if self._saves:
                await self._save(again=False)

    @property
    def _saves(self) -> bool:
        """True if this process has served or learned: who only looks on, maybe by another pack, saves nothing.

        Nor does who has yet to forget what was withdrawn.
        """
        tiers = (self.strategy, self.wordings, self.judged)
        return not self._taken_back and (self._wrote or any(getattr(one, "served", 0) for one in tiers))

    async def trim(self) -> None:
        """Forget labels that are in every saved state and beyond what is worth keeping. Raises StoreError."""
        saved = [await self._store.learned(name) for name in self._taken]
        if all(one is not None and one[0] > KEEP for one in saved):
            await self._store.trim_labels(keep_rows=KEEP)

    async def _remember_tenants(self) -> None:
        """Take notice of the tenants of the last labels that are in the states, and of those after. Raises StoreError.

        All of them before the first is learned from: a report of one tenant alone teaches where there is no other.
        """
        first = max(0, self.seq - _REMEMBERED)
        async for label in self._log(first):
            self.corroboration.saw(label.tenant)
        async for label in self._log(first, self.seq):
            self.corroboration.take(label)
        # The saved states know of it.
        self.corroboration.disowned()

    async def _log(self, after: int, last: int | None = None, *, breath: int = _GLANCE) -> AsyncIterator[Label]:
        """The labels after one number and up to another, or to the end; others get the event loop after so many."""
        while (last is None or after < last) and (batch := await self._store.labels(after)):
            for number, label in enumerate(batch, 1):
                if last is not None and label.seq > last:
                    return
                yield label
                if number % breath == 0:
                    await asyncio.sleep(0)
            after = batch[-1].seq

    async def _take_up(self, name: str, restore: Callable[[dict[str, Any]], bool], *origins: str) -> bool:
        """Restore a saved state, if there is one; False when it may have been taken up in part.

        One that was learned from others of these `origins` is left aside together with its labels.
        """
        saved = await self._store.learned(name)
        if saved is None:
            return True
        try:
            kept = msgspec.json.decode(saved[1])
            if self._origins.differ(kept, *origins):
                self._foreign.add(name)
                self._taken[name] = saved[0]
            elif restore(kept):
                self._taken[name] = saved[0]
        except (msgspec.MsgspecError, ValueError, TypeError, LookupError, AttributeError) as error:
            _log.warning("what was learned cannot be taken up, it is learned anew from the log: %r", error)
            return False
        return True

    @staticmethod
    def _plainly(restore: Callable[[Any], None], kept: dict[str, Any], promised: dict[str, Any]) -> bool:
        if kept["promises"] == promised:
            restore(kept["state"])
            return True
        return False

    def _restore_strategy(self, kept: dict[str, Any]) -> bool:
        """Restore what the strategy knows of categories whose promises and judge are as they were."""
        changed = ChangedPromises(kept["promises"], promises(self.pack), entirely=self._origins.differ(kept, "judge"))
        differs = bool(changed)
        if isinstance(self.strategy, ByCategory):
            self._anew = self.strategy.restore_but(kept["state"], changed)
        elif differs:
            return False
        else:
            self.strategy.restore(kept["state"])
        self._changed = changed if differs else NOTHING_CHANGED
        self._since = int(kept.get("since", 0))
        return True

    def _restore_judged(self, kept: dict[str, Any]) -> bool:
        """Restore what verdicts are worth, and the strata of categories whose promises are as they were."""
        self.judged.restore(kept["state"], ChangedPromises(kept["promises"], promises(self.pack)))
        if self._origins.words is None:
            # Who asks no model for verdicts keeps what those of another one were worth.
            self._origins = replace(self._origins, words=kept.get("words"))
        return True

    async def _learn_changed(self) -> None:
        """Have the strategy learn anew about categories whose promises have changed. Raises StoreError."""
        last, counts = self._taken[STRATEGY], Corroboration()
        async for label in self._log(0, last):
            counts.saw(label.tenant)
        async for label in self._log(0, last, breath=_BREATH):
            reach = counts.take(label)
            if label.seq > self._since and label.category in self._anew:
                self._taken_back = self._taken_back or label.source is LabelSource.WITHDRAWN
                self._teach(STRATEGY, label, reach, self._teach_strategy, self._teach_strategy_of_tenant)

    async def relearn(self, now: float | None = None) -> None:
        """Rebuild the strategy's beliefs from the log, without labels that were withdrawn since. Raises StoreError.

        At most every few minutes, by `now`; at once without it. New labels wait only while beliefs are made of what was
        read. Until then no state is saved: it would know the withdrawal, and still what was withdrawn.
        """
        async with self._rebuilding:
            rebuild = getattr(self.strategy, "relearn", None)
            if not self._taken_back or (now is not None and now - self._rebuilt < _PAUSE):
                return
            self._rebuilt = now or self._rebuilt
            standing, last = StandingLabels(self.pack, self._since), self.seq
            async for label in self._log(0, last):
                standing.saw(label)
            async for label in self._log(0, last):
                standing.take(label)
            async with self._folding:
                further = [label async for label in self._log(last, self.seq)]
                for label in further:
                    standing.saw(label)
                    standing.take(label)
                if rebuild is not None:
                    await completed(asyncio.to_thread(rebuild, standing.found()))
                # It may be among those that were taken before.
                self._taken_back = any(label.source is LabelSource.WITHDRAWN for label in further)
                if self._saves:
                    await self._save()

    def _observe(self, label: Label) -> None:
        if label.source is LabelSource.WITHDRAWN:
            self._taken_back = True
        reach, disowned = self.corroboration.take(label), self.corroboration.disowned()
        learners: Sequence[tuple[str, Callable[[Label], None], Callable[[Label], None] | None]] = (
            (STRATEGY, self._teach_strategy, self._teach_strategy_of_tenant),
            (FRESHNESS, self._age, None),
            (WORDING, self.wordings.observe, self.wordings.observe_own),
            (JUDGED, self.judged.observe, self.judged.observe_own),
        )
        for name, learn, learn_own in learners:
            if label.seq > self._taken[name]:
                if name not in self._foreign:
                    self._teach(name, label, reach, learn, learn_own)
                    self._disown(name, disowned)
                self._taken[name] = label.seq

    def _teach(
        self,
        name: str,
        label: Label,
        reach: Reach,
        learn: Callable[[Label], None],
        learn_own: Callable[[Label], None] | None,
    ) -> None:
        if name in (STRATEGY, JUDGED):
            certain = self.marks.taught(label, self._changed)
            if certain is None:
                return
            label = certain
        try:
            if reach is Reach.ALL:
                learn(label)
            elif reach is Reach.OWN and learn_own is not None:
                learn_own(label)
        except Exception as error:
            # Every worker will fail at it alike; the labels after it still count. A log line for each would be a flood.
            if not self._choked:
                _log.warning("label %d teaches nothing, and others may not: %r", label.seq, error, exc_info=True)
            self._choked = True
            self._meter.faults.labels(name).inc()

    def _disown(self, name: str, labels: Sequence[Label]) -> None:
        """Have who learns take back what these labels have cost, whose tenant is set aside."""
        takers = {STRATEGY: self._disown_meaning, WORDING: self.wordings.disown, JUDGED: self.judged.disown}
        for label in labels if name in takers else ():
            # What was learned anew under other promises has cost nothing.
            if name == WORDING or label.category not in self._changed:
                takers[name](label)

    def _disown_meaning(self, label: Label) -> None:
        disown = getattr(self.strategy, "disown", None)
        if disown is not None and about_meaning(label) and (plain := without_model_verdict(label)) is not None:
            disown(plain)

    def _teach_strategy(self, label: Label) -> None:
        if about_meaning(label) and (plain := without_model_verdict(label)) is not None:
            self.strategy.observe(plain)

    def _teach_strategy_of_tenant(self, label: Label) -> None:
        """Have the class of its tenant alone learn from a label."""
        learn = getattr(self.strategy, "observe_own", None)
        if learn is not None and about_meaning(label) and (plain := without_model_verdict(label)) is not None:
            learn(plain)

    def _age(self, label: Label) -> None:
        if label.source is LabelSource.REASKED:
            exposure, kind = labelling.exposed(label)
            self.freshness.observe(label.category, exposure, not label.correct, kind)

    def _wording_promises(self) -> dict[str, Any]:
        """The promises of the wording tier's learned state: the version of canonical wordings."""
        return {"version": wording.VERSION}

    async def _save(self, *, again: bool = True) -> None:
        """Save the states; not `again` what the store holds as it is."""
        seq, sizes, more = self.seq, [], {"since": self._since, **self._origins.kept()}
        for name, learner, promised in (
            (STRATEGY, self.strategy, promises(self.pack)),
            (FRESHNESS, self.freshness, {}),
            (WORDING, self.wordings, self._wording_promises()),
            (JUDGED, self.judged, promises(self.pack)),
        ):
            state = await encoded(learner, promises=promised, **more)
            sizes.append(len(state))
            if again or await self._store.learned(name) != (seq, state):
                await self._store.learn(name, seq, state)
        self._saved, self._size = seq, sum(sizes)
