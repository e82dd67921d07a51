"""The neighbours that misses passed over: what is to be learned of each, once the fresh answer is there.

Knows decisions, the strategy and the local verifier, nothing of judges. Invariant: texts are read in the scope of their
request, where most were read when it was looked up. A miss that was not named to the end waits on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

from semcache.learning import labelling
from semcache.learning.label_log import LabelLog
from semcache.runtime.bounded_queue import BoundedQueue
from semcache.runtime.memo_scopes import MemoScopes
from semcache.storage.entry_registry import EntryRegistry
from semcache.types import Entry, Lookup
from semcache.types.evidence import Label


class MissedNeighbours:
    """Misses that wait for their labels. `read` gives the local verifier's P(same) of two texts, None for none."""

    def __init__(
        self,
        log: LabelLog,
        registry: EntryRegistry,
        memos: MemoScopes,
        read: Callable[[str, str], Awaitable[float | None]],
    ) -> None:
        self._log = log
        self._registry = registry
        self._memos = memos
        self._read = read
        self._waiting: BoundedQueue[tuple[Lookup, Entry, float]] = BoundedQueue()
        self._closing = False

    def __len__(self) -> int:
        return len(self._waiting)

    def offer(self, lookup: Lookup, fresh: Entry, at: float) -> bool:
        """Queue a miss that was answered by `fresh` at that Unix time; False when there is no room for it."""
        return self._waiting.offer((lean(lookup), fresh, at), fresh.size)

    def close(self) -> None:
        """From now on, leave the local verifier alone: after a burst of misses that would take minutes."""
        self._closing = True

    async def take(self) -> tuple[list[Label], Entry]:
        """Fetch the labels of the miss that has waited longest, which lack the verdict, and its fresh answer.

        Raises IndexError when none waits.
        """
        lookup, fresh, at = self._waiting.take()
        try:
            with self._memos.within(lookup.request.scope):
                labels = labelling.of_miss(lookup, self._log.strategy, self._log.pack.of(lookup.category), at=at)
                return [await self._with_verdict(label, lookup) for label in labels], fresh
        except asyncio.CancelledError:
            # The last round before the end takes it, and has nothing read.
            self._waiting.give_back((lookup, fresh, at), fresh.size)
            raise

    async def _with_verdict(self, label: Label, lookup: Lookup) -> Label:
        """The label with what the local verifier would have said, where that teaches what its verdict is worth."""
        card = self._registry.get(label.entry_id)
        if self._closing or card is None or not labelling.is_unread(label, self._log.pack.of(lookup.category)):
            return label
        p_same = await self._read(lookup.request.text, card.text)
        return label if p_same is None else labelling.read(label, p_same)


def lean(lookup: Lookup) -> Lookup:
    """Return the lookup without what no label is made of: a request may be as large as a body may."""
    return replace(lookup, request=replace(lookup.request, raw=b"", identity={}))
