"""The entries that this process can find: their cards, hot entries and vectors, kept in step.

Knows the registry, the hot entries, the index and the store that holds them all; decides nothing. Invariant: an entry
that was hidden is found by no tier, and an entry that leaves the registry leaves the hot entries with it.
"""

from __future__ import annotations

from semcache.protocols import Entries
from semcache.runtime.guarded_calls import surviving
from semcache.storage.entry_registry import EntryRegistry
from semcache.storage.hot_entries import HotEntries
from semcache.storage.indexes.owner import IndexOwner
from semcache.types import Card, Entry


class LiveEntries:
    """The entries of a store that one process holds: `registry` of cards, `hot` entries, and `index` of vectors."""

    def __init__(self, store: Entries, registry: EntryRegistry, hot: HotEntries, index: IndexOwner) -> None:
        self.registry, self.hot, self.index = registry, hot, index
        self._store = store

    def list(self, card: Card) -> list[int]:
        """Make a card of the store known; return the ids that it displaced, which have to leave the index."""
        displaced = [gone.id for gone in self.registry.add(card)]
        for entry_id in displaced:
            self.hot.remove(entry_id)
        return displaced

    def share(self, entry_id: int, answer: int) -> None:
        """Put an entry into an answer class; unknown ids are ignored."""
        card = self.registry.get(entry_id)
        if card is not None and card.answer_class != answer:
            self.registry.regroup(entry_id, answer)

    async def hide(self, *ids: int) -> None:
        """Make entries unfindable. Never raises."""
        for entry_id in ids:
            self.registry.remove(entry_id)
            self.hot.remove(entry_id)
        with surviving("removing vectors"):
            await self.index.remove(*ids)

    async def read(self, entry_id: int) -> Entry | None:
        """Return an entry, hot or from the store; None when it is gone. Raises StoreError or IntegrityError."""
        entry = self.hot.get(entry_id)
        if entry is None:
            [entry] = await self._store.get([entry_id])
        return entry
