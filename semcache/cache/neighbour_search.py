"""Neighbour search: the live entries near a vector, and the earlier turns of one of them.

Knows the index, cards and hot entries; decides nothing. Invariant: only the partitions that are named are searched.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from semcache.errors import IntegrityError
from semcache.request import conversation
from semcache.request.conversation import TurnChain
from semcache.runtime.guarded_calls import GuardedCalls
from semcache.storage.live_entries import LiveEntries
from semcache.types import Candidate, Card

if TYPE_CHECKING:
    from semcache.types import Vector

NEIGHBOURS = 8


class NeighbourSearch:
    """Searches the `live` entries of one cache."""

    def __init__(self, live: LiveEntries, faults: GuardedCalls) -> None:
        self.live = live
        self._faults = faults

    async def near(self, partitions: Sequence[bytes], vector: Vector) -> list[Candidate]:
        """The nearest entries, best first. Raises CacheUnavailable."""
        index = self.live.index
        neighbours = index.search_now(partitions, vector, NEIGHBOURS)
        if neighbours is None:
            neighbours = await self._faults.guard("index", index.search_all(partitions, vector, NEIGHBOURS))
        card_of = self.live.registry.get
        return [
            Candidate(card, neighbour.score)
            for neighbour in neighbours
            if (card := card_of(neighbour.entry_id)) is not None
        ]

    async def stored_chain(self, card: Card) -> TurnChain | None:
        """The conversation of an entry, which only the entry itself holds; None when it cannot be read."""
        entry = self.live.hot.get(card.id)
        if entry is None:
            try:
                entry = await self._faults.guard("store", self.live.read(card.id))
            except IntegrityError:
                return None
            if entry is None:
                return None
            self.live.hot.put(entry)
        return conversation.stored_chain(entry.key.canonical)
