"""The label log as one worker follows it: written behind, and folded into the worker's strategy and freshness.

Knows the store and who learns, nothing of how labels come about. Invariant: both observe every label of the log that is
meant for them once and in the order of its `seq`, whichever worker wrote it, across restarts too; a saved state only
spares reading again what is in it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from semcache.config.packs import Pack
from semcache.learning import labelling
from semcache.learning.corroboration import Corroboration, Reach
from semcache.learning.withdrawn_labels import standing_labels
from semcache.matching.judged_tier import JudgedTier, without_word
from semcache.matching.wording_tier import WordingTier, edit_of
from semcache.protocols import Freshness, LabelStore, SavedStates, Threshold
from semcache.request import wording
from semcache.runtime.guarded_calls import surviving
from semcache.runtime.telemetry import Meter
from semcache.types.evidence import Label, LabelSource

NAME = "threshold"
FRESHNESS = "freshness"
WORDING = "wording"
JUDGED = "judged"
SAVE_EVERY = 500
KEEP = 500_000
_CAPACITY = 20_000
_REMEMBERED = 4_000  # labels of a saved state by which tenants are known again
_RELEARNED = 100_000  # labels that beliefs are rebuilt from; of older ones little is left
_BREATH = 4  # labels between which others get the event loop
_log = logging.getLogger(__name__)


class LearningStore(LabelStore, SavedStates, Protocol):
    """The part of a store that keeps labels and what was learned from them."""


@dataclass(frozen=True, slots=True)
class LearningTiers:
    """The tiers beside the strategy that labels teach."""

    wordings: WordingTier
    judged: JudgedTier


class LabelLog:
    """Follows the log of `store` and has `strategy` and `freshness` observe it.

    `seq` is the last label that both have observed. What was learned under another pack's promises, or about the scores
    of another embedder, is not taken up.
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
        embedder_id: str,
    ) -> None:
        self.strategy, self.freshness, self.pack = strategy, freshness, pack
        self.wordings, self.judged = tiers.wordings, tiers.judged
        self._store = store
        self._meter = meter
        self._embedder_id = embedder_id
        self.corroboration = Corroboration()
        self._pending: list[Label] = []
        self._folding = asyncio.Lock()
        self._taken = dict.fromkeys((NAME, FRESHNESS, WORDING, JUDGED), 0)
        self._saved = 0
        self._choked = False
        self._taken_back = False

    @property
    def seq(self) -> int:
        """0 before there was a label."""
        return min(self._taken.values())

    async def restore(self, anew: Callable[[], Threshold]) -> None:
        """Take up the newest saved states and the labels after them.

        A state that is damaged or was learned under other promises is left aside, and the log folded into a strategy
        made `anew`. Call it before anything else holds the strategy. Raises StoreError.
        """
        if not await self._take_up(NAME, self.strategy, promises(self.pack)):
            self.strategy = anew()
        await self._take_up(FRESHNESS, self.freshness, {})
        await self._take_up(WORDING, self.wordings, self._wording_promises())
        await self._take_up(JUDGED, self.judged, promises(self.pack))
        self._saved = self.seq
        await self._remember_tenants()
        await self.fold()

    def add(self, label: Label) -> bool:
        """Append a label soon; False when too many wait already."""
        if len(self._pending) >= _CAPACITY:
            return False
        self._pending.append(label)
        return True

    async def write(self) -> None:
        """Append what was added, and fold. Raises StoreError; what is not written stays."""
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
        await self._store.label(labels)
        with surviving("folding the label log"):
            await self.fold()

    async def fold(self) -> None:
        """Have what learns observe what it has not, and save its state now and then. Raises StoreError."""
        async with self._folding:
            while labels := await self._store.labels(self.seq):
                for number, label in enumerate(labels, 1):
                    self._observe(label)
                    if number % _BREATH == 0:
                        await asyncio.sleep(0)
            if self._taken_back:
                await self._learn_again()
            if self.seq - self._saved >= SAVE_EVERY:
                await self._save()

    async def save(self) -> None:
        """Save the states if they hold labels that the saved ones do not. Raises StoreError."""
        async with self._folding:
            if self.seq > self._saved:
                await self._save()

    async def trim(self) -> None:
        """Forget labels that are in every saved state and beyond what is worth keeping. Raises StoreError."""
        saved = [await self._store.learned(name) for name in self._taken]
        if all(one is not None and one[0] > KEEP for one in saved):
            await self._store.trim_labels(keep_rows=KEEP)

    async def _remember_tenants(self) -> None:
        """Take notice of the tenants of the last labels that are in the states. Raises StoreError."""
        seq = max(0, self.seq - _REMEMBERED)
        while seq < self.seq and (batch := await self._store.labels(seq)):
            for label in batch:
                if label.seq <= self.seq:
                    self.corroboration.reach(label)
            seq = batch[-1].seq

    async def _take_up(
        self, name: str, learner: Threshold | Freshness | WordingTier | JudgedTier, promised: Mapping[str, Any]
    ) -> bool:
        """Restore a saved state, if there is one; False when it may have been taken up in part."""
        saved = await self._store.learned(name)
        if saved is None:
            return True
        try:
            kept = msgspec.json.decode(saved[1])
            if kept.get("embedder", self._embedder_id) != self._embedder_id:
                # What these labels say is about the scores of another embedder.
                self._taken[name] = saved[0]
            elif kept["promises"] == promised:
                learner.restore(kept["state"])
                self._taken[name] = saved[0]
        except (msgspec.MsgspecError, ValueError, TypeError, LookupError, AttributeError) as error:
            _log.warning("what was learned cannot be taken up, it is learned anew from the log: %r", error)
            return False
        return True

    async def _learn_again(self) -> None:
        """Rebuild the beliefs of the strategy from the log, without what was withdrawn. Raises StoreError."""
        labels: list[Label] = []
        seq = 0
        while seq < self.seq and (batch := await self._store.labels(seq)):
            labels += [label for label in batch if label.seq <= self.seq]
            seq = batch[-1].seq
        about_meaning = [
            one for one in standing_labels(labels) if one.source is not LabelSource.REASKED and edit_of(one) is None
        ]
        counts = Corroboration()
        for label in labels:
            counts.saw(label.tenant)
        heard = [one for one in about_meaning if counts.counts(one)]
        kept = [plain for one in heard if (plain := without_word(one)) is not None]
        relearn = getattr(self.strategy, "relearn", None)
        if relearn is not None:
            await asyncio.to_thread(relearn, kept[-_RELEARNED:])
        self._taken_back = False
        await self._save()

    def _observe(self, label: Label) -> None:
        if label.source is LabelSource.WITHDRAWN:
            self._taken_back = True
        reach = self.corroboration.reach(label)
        learners: Sequence[tuple[str, Callable[[Label], None], Callable[[Label], None] | None]] = (
            (NAME, self._judge, self._judge_own),
            (FRESHNESS, self._age, None),
            (WORDING, self._word, self.wordings.observe_own),
            (JUDGED, self.judged.observe, self.judged.observe_own),
        )
        for name, learn, learn_own in learners:
            if label.seq > self._taken[name]:
                try:
                    if reach is Reach.ALL:
                        learn(label)
                    elif reach is Reach.OWN and learn_own is not None:
                        learn_own(label)
                except Exception as error:
                    # Every worker will fail at it alike; the labels after it still count. A log line for each would be
                    # a flood.
                    if not self._choked:
                        _log.warning(
                            "label %d teaches nothing, and others may not: %r", label.seq, error, exc_info=True
                        )
                    self._choked = True
                    self._meter.faults.labels(name).inc()
                self._taken[name] = label.seq

    def _judge(self, label: Label) -> None:
        if label.source not in (LabelSource.REASKED, LabelSource.WITHDRAWN) and edit_of(label) is None:
            plain = without_word(label)
            if plain is not None:
                self.strategy.observe(plain)

    def _judge_own(self, label: Label) -> None:
        """Have the class of its tenant alone learn from a label."""
        learn = getattr(self.strategy, "observe_own", None)
        if learn is not None and edit_of(label) is None and (plain := without_word(label)) is not None:
            learn(plain)

    def _word(self, label: Label) -> None:
        self.wordings.observe(label)

    def _age(self, label: Label) -> None:
        if label.source is LabelSource.REASKED:
            exposure, kind = labelling.exposed(label)
            self.freshness.observe(label.category, exposure, not label.correct, kind)

    def _wording_promises(self) -> dict[str, Any]:
        """The promises of the wording tier's learned state: the version of canonical wordings."""
        return {"version": wording.VERSION}

    async def _save(self) -> None:
        seq = self.seq
        for name, learner, promised in (
            (NAME, self.strategy, promises(self.pack)),
            (FRESHNESS, self.freshness, {}),
            (WORDING, self.wordings, self._wording_promises()),
            (JUDGED, self.judged, promises(self.pack)),
        ):
            state = {"promises": promised, "state": learner.state(), "embedder": self._embedder_id}
            await self._store.learn(name, seq, msgspec.json.encode(state))
        self._saved = seq


def promises(pack: Pack) -> dict[str, Any]:
    """Return what a learned state depends on besides labels: each category's strategy and promises, as JSON."""
    return {
        name: [category.strategy, category.contract, pack.target_of(name), pack.confidence]
        for name, category in sorted(pack.categories.items())
    }
