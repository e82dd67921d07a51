"""Search of stored entries for operators: by the words of their prompts, by meaning, and by their fields.

Knows the cards in memory, the vectors and the store; changes nothing. Invariant: every result matches the selector, and
the event loop stays free while a hundred thousand prompts are searched.
"""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING

from semcache.types import Card, Entry, Selector

if TYPE_CHECKING:
    from semcache.cache.components import Components
    from semcache.types import Vector

_WIDER = 20  # neighbours that are looked at for each that is shown, where a selector leaves some out
_PARTITIONS = 20_000
_AT_ONCE = 2_000  # vectors that are read at once
_age = attrgetter("created", "id")


@dataclass(frozen=True, slots=True)
class FoundEntries:
    """Entries with their scores (None where nothing was compared), how many match in all, None where not counted."""

    entries: Sequence[tuple[Entry, float | None]]
    matching: int | None
    following: tuple[float, int] | None = None  # the `before` of the next page


class EntrySearch:
    """Searches the entries of one process."""

    def __init__(self, components: Components) -> None:
        self._parts = components

    async def by_words(
        self, where: Selector, words: str = "", *, limit: int = 50, before: tuple[float, int] | None = None
    ) -> FoundEntries:
        """Entries whose prompts hold all of these words, newest first. Raises StoreError.

        `before` is the creation and the id of an entry: of a log, many entries are of the same moment.
        """
        meant = await self._meant(where)
        cards = self._parts.live.registry.cards()
        found, matching = await asyncio.to_thread(_newest, cards, meant, words, limit + 1, before)
        entries = await self._read([card.id for card in found[:limit]])
        following = _age(found[limit - 1]) if len(found) > limit else None
        return FoundEntries([(entry, None) for entry in entries], matching, following)

    async def ids_of_words(self, where: Selector, words: str) -> tuple[int, ...]:
        """The ids of all entries whose prompts hold all of these words. Raises StoreError."""
        meant = await self._meant(where)
        cards = self._parts.live.registry.cards()
        found, _ = await asyncio.to_thread(_newest, cards, meant, words, len(cards) or 1, None)
        return tuple(card.id for card in found)

    async def by_meaning(self, where: Selector, text: str, *, limit: int = 50) -> FoundEntries:
        """Entries that mean about the same as a text, nearest first. Raises StoreError or CacheUnavailable."""
        live = self._parts.live
        [vector] = await self._parts.embedder.embed([text])
        meant = await self._meant(where)
        if meant is None:
            partitions: Iterable[bytes] = await live.index.partitions()
        else:
            partitions = await asyncio.to_thread(_partitions_of, live.registry.cards(), meant)
        k = limit if meant is None else limit * _WIDER
        near = await live.index.search_all(list(partitions)[:_PARTITIONS], vector, k)
        scores = {one.entry_id: one.score for one in near if meant is None or one.entry_id in meant}
        if meant is not None and len(scores) < limit and len(near) == k:
            scores = await self._compared(meant, vector, limit)
        entries = await self._read(list(scores)[:limit])
        return FoundEntries([(entry, scores[entry.id]) for entry in entries], None)

    async def _compared(self, meant: Collection[int], vector: Vector, limit: int) -> dict[int, float]:
        """The scores of the nearest of a few entries, which all neighbours that were looked at may hide."""
        best: list[tuple[float, int]] = []
        ids = sorted(meant)
        for start in range(0, len(ids), _AT_ONCE):
            batch = await self._parts.store.vectors_of(ids[start : start + _AT_ONCE], self._parts.embedder.id)
            if batch.cards:
                pairs = zip((batch.matrix @ vector).tolist(), [card.id for card in batch.cards], strict=True)
                best = heapq.nlargest(limit, [*best, *pairs])
        return {entry_id: score for score, entry_id in best}

    async def _meant(self, where: Selector) -> frozenset[int] | None:
        """The entries that a selector means; None for all of them."""
        if where == Selector(everything=True):
            return None
        ids = await self._parts.store.delete(where, now=self._parts.clock(), dry_run=True)
        return await asyncio.to_thread(frozenset, ids)

    async def _read(self, ids: Sequence[int]) -> list[Entry]:
        return [entry for entry in await self._parts.store.get(ids) if entry is not None] if ids else []


def _newest(
    cards: Sequence[Card], meant: frozenset[int] | None, words: str, limit: int, before: tuple[float, int] | None
) -> tuple[list[Card], int]:
    """The newest cards that hold all words, and how many do."""
    wanted = words.casefold().split()
    found = []
    for card in cards:
        if meant is not None and card.id not in meant:
            continue
        if wanted:
            text = card.text.casefold()
            if not all(word in text for word in wanted):
                continue
        found.append(card)
    older = found if before is None else [card for card in found if _age(card) < before]
    return heapq.nlargest(limit, older, key=_age), len(found)


def _partitions_of(cards: Sequence[Card], meant: frozenset[int]) -> set[bytes]:
    return {card.partition for card in cards if card.partition and card.id in meant}
