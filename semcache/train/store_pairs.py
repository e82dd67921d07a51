"""Pairs from the labels of a cache.

Knows the store's label log and cards; trains nothing. Invariant: a label becomes a pair only if
the words of both prompts are still there, and no pair crosses a tenant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from semcache.learning.withdrawn_labels import standing_labels
from semcache.protocols import LabelStore, Vectors
from semcache.train.pairs import Pair
from semcache.train.text_identity import caseless
from semcache.types.evidence import Label, LabelSource

if TYPE_CHECKING:
    from semcache.types import Card


class LabelledStore(LabelStore, Vectors, Protocol):
    """A store with the label log and the cards that its labels are about."""


class LabelCounts(NamedTuple):
    """Labels that were read, and those among them whose prompts are gone."""

    labels: int
    gone: int


async def pairs_of(store: LabelledStore) -> tuple[list[Pair], LabelCounts]:
    """A pair for every label of feedback, audits and misses, the cached prompt second. Raises StoreError.

    The label names the request by its digest: its words are those of the entry that its answer became, if it is there.
    """
    by_id: dict[int, Card] = {}
    by_exact: dict[bytes, Card] = {}
    async for cards in store.cards("", now=0.0):
        by_id |= {card.id: card for card in cards}
        by_exact |= {card.exact: card for card in cards}
    found: dict[tuple[str, str], Pair] = {}
    every: list[Label] = []
    while batch := await store.labels(every[-1].seq if every else 0):
        every += batch
    labels = gone = 0
    for label in standing_labels(every):
        if label.source in (LabelSource.REASKED, LabelSource.VERDICT, LabelSource.UNDECIDED):
            # Neither tells by a fresh answer if two prompts share one.
            continue
        labels += 1
        cached, asked = by_id.get(label.entry_id), by_exact.get(label.exact)
        if cached is None or asked is None:
            gone += 1
        elif caseless(cached.text) != caseless(asked.text):
            pair = Pair(asked.text, cached.text, label.correct, made=label.source.value)
            found[pair.one, pair.two] = pair  # the newest verdict counts
    return list(found.values()), LabelCounts(labels, gone)
