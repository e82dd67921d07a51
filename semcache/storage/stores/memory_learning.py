"""The label log, saved states and the queue of comparisons of the store in memory.

Knows nothing of entries. Invariant: it behaves as `learning_rows`.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from semcache.types import Entry
from semcache.types.evidence import Judgement, Label

LABELS = 100_000


class MemoryLearning:
    """`LabelStore`, `SavedStates` and `JudgementQueue` in lists; the newest 100,000 labels stay."""

    def __init__(self) -> None:
        self._entries: dict[int, Entry] = {}
        self._labels: list[Label] = []
        self._label_seq = 0
        self._learned: dict[str, tuple[int, bytes]] = {}
        self._owed: dict[int, tuple[Judgement, float]] = {}
        self._owed_seq = 0

    async def ping(self) -> None:
        """Raise StoreError unless open."""

    async def label(self, labels: Sequence[Label]) -> None:
        """Append to the label log, in this order."""
        await self.ping()
        for label in labels:
            self._label_seq += 1
            self._labels.append(replace(label, seq=self._label_seq))
        if len(self._labels) > 2 * LABELS:
            del self._labels[:-LABELS]

    async def labels(self, since: int, *, limit: int = 1000) -> list[Label]:
        """Labels after `since`, by ascending `seq`."""
        await self.ping()
        first = bisect_right(self._labels, since, key=lambda label: label.seq)
        return self._labels[first : first + limit]

    async def trim_labels(self, *, keep_rows: int) -> int:
        """Forget all but the newest `keep_rows` labels; returns how many went."""
        await self.ping()
        gone = max(0, len(self._labels) - max(0, keep_rows))
        del self._labels[:gone]
        return gone

    async def learned(self, name: str) -> tuple[int, bytes] | None:
        """The newest saved state of that name, and the `seq` of the last label in it."""
        await self.ping()
        return self._learned.get(name)

    async def learn(self, name: str, seq: int, state: bytes) -> None:
        """Save a state, unless a newer one is saved already."""
        await self.ping()
        if seq >= self._learned.get(name, (seq, b""))[0]:
            self._learned[name] = seq, state

    async def enqueue(self, judgements: Sequence[Judgement]) -> None:
        """Put comparisons into the queue, those of entries that are gone too."""
        await self.ping()
        for owed in judgements:
            self._owed_seq += 1
            label = replace(owed.label, correct=False, seq=0)
            self._owed[self._owed_seq] = Judgement(self._owed_seq, owed.fresh_id, label, model=owed.model), 0.0

    async def claim(self, limit: int, *, now: float, lease: float) -> list[Judgement]:
        """Take the oldest comparisons that nobody holds at `now`; `tries` counts this time."""
        await self.ping()
        free = [owed for owed, free_at in self._owed.values() if free_at <= now]
        # What was served is known to be right or wrong before what was not.
        first = sorted(free, key=lambda owed: (not owed.label.served, owed.id))[:limit]
        claimed = [replace(owed, tries=owed.tries + 1) for owed in sorted(first, key=lambda owed: owed.id)]
        self._owed |= {owed.id: (owed, now + lease) for owed in claimed}
        return claimed

    async def finish(self, ids: Sequence[int]) -> None:
        """Take comparisons out of the queue; unknown ones are ignored."""
        await self.ping()
        for number in ids:
            self._owed.pop(number, None)
