"""The entries that this process can find: their cards, hot entries and vectors, kept in step.

Knows the registry, the hot entries, the index and the store that holds them all; decides nothing. Invariant: an entry
that was hidden is found by no tier, and an entry that leaves the registry leaves the hot entries with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from semcache.protocols import Entries
from semcache.runtime.guarded_calls import surviving
from semcache.storage.entry_registry import EntryRegistry
from semcache.storage.hot_entries import HotEntries
from semcache.storage.indexes.owner import IndexOwner
from semcache.storage.wording_index import WordingIndex
from semcache.types import Card, Entry

_GIVEN_UP = 100_000  # evicted entries that are remembered until the change feed is past them


class LiveEntries:
    """The entries of a store that one process holds: cards, hot entries, vectors and canonical wordings.

    `salt` is the store's.
    """

    def __init__(
        self, store: Entries, registry: EntryRegistry, hot: HotEntries, index: IndexOwner, *, salt: bytes
    ) -> None:
        self.registry, self.hot, self.index = registry, hot, index
        self.wordings = WordingIndex(salt)
        self._store = store
        self._given_up: dict[int, None] = {}
        self._watchers: dict[int, tuple[set[int], frozenset[int] | None]] = {}

    def add(self, card: Card, *, cost: float = 1.0) -> list[Card]:
        """Make a card known; return those that it displaced, which have to leave the index.

        `cost` is what a hit on it saves, as in `EntryRegistry.add`.
        """
        displaced = self._displacing(card, cost)
        if self.registry.get(card.id) is card:
            self.wordings.add(card)
        return displaced

    def add_stored(self, card: Card) -> list[int]:
        """Make a card of the store known, its wording when `read_wordings` comes to it if the card lacks its digest.

        Return the ids that it displaced, which have to leave the index.
        """
        displaced = self._displacing(card, 1.0)
        if self.registry.get(card.id) is card:
            self.wordings.add_stored(card)
        return [gone.id for gone in displaced]

    def read_wordings(self, characters: int) -> int:
        """Read the wordings of cards that wait for it, up to so many characters; return how many still wait."""
        return self.wordings.work(characters, self._is_there)

    def share(self, entry_id: int, answer: int) -> None:
        """Put an entry into an answer class; unknown ids are ignored."""
        card = self.registry.get(entry_id)
        if card is not None and card.answer_class != answer:
            self.registry.regroup(entry_id, answer)

    def give_up(self, ids: Iterable[int]) -> None:
        """Remember entries that this process evicted: the store's change feed may still tell of their arrival."""
        self._given_up |= dict.fromkeys(ids)
        while len(self._given_up) > _GIVEN_UP:
            del self._given_up[next(iter(self._given_up))]

    def wants(self, entry_id: int) -> bool:
        """Return True for an entry that is neither known nor given up."""
        return entry_id not in self._given_up and self.registry.get(entry_id) is None

    @contextmanager
    def hidden_meanwhile(self, among: Iterable[int] | None = None) -> Iterator[set[int]]:
        """Collect the ids that are hidden while the block runs: what was read of the store before may have them.

        With `among` only those of them. Many blocks may run at a time, and a purge may hide all entries meanwhile.
        """
        hidden: set[int] = set()
        self._watchers[id(hidden)] = hidden, None if among is None else frozenset(among)
        try:
            yield hidden
        finally:
            del self._watchers[id(hidden)]

    async def hide(self, *ids: int) -> None:
        """Make entries unfindable. Never raises."""
        gone = frozenset(ids)
        for hidden, among in self._watchers.values():
            hidden.update(gone if among is None else gone & among)
        for entry_id in ids:
            card = self.registry.remove(entry_id)
            if card is not None:
                self.wordings.remove(card)
            self.hot.remove(entry_id)
        with surviving("removing vectors"):
            await self.index.remove(*ids)

    async def read(self, entry_id: int) -> Entry | None:
        """Return an entry, hot or from the store; None when it is gone. Raises StoreError or IntegrityError."""
        entry = self.hot.get(entry_id)
        if entry is None:
            [entry] = await self._store.get([entry_id])
        return entry

    def _is_there(self, card: Card) -> bool:
        """Return True if an entry is known still, in the partition that this card says."""
        known = self.registry.get(card.id)
        return known is not None and known.partition == card.partition

    def _displacing(self, card: Card, cost: float) -> list[Card]:
        before = self.registry.get(card.id)
        displaced = self.registry.add(card, cost=cost)
        if before is not None and before.partition != card.partition:
            # Read again after it was moved, or taken out of its partition.
            self.hot.remove(card.id)
            self.wordings.remove(before)
        for gone in displaced:
            self.hot.remove(gone.id)
            self.wordings.remove(gone)
        return displaced
