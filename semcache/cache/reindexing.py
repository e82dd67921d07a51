"""Moving a cache to another embedder while it is in use: new vectors are computed beside the old, then exchanged.

Knows the store, an embedder and how entries are placed in partitions; no model folder and no settings. Invariant: until
the exchange nothing changes that a running or starting cache reads. If the move is interrupted at any moment, the same
call continues it. An entry whose place cannot be determined stays with the old embedder and is found only by identical
requests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from semcache.errors import EmbedError
from semcache.request import conversation, keys
from semcache.types import Entry

if TYPE_CHECKING:
    from semcache.protocols import Embedder
    from semcache.storage.stores.sql import SqlStore
    from semcache.types import Matrix, Vector

BATCH = 256  # entries of one transaction: what a break costs at most


@dataclass(frozen=True, slots=True)
class Moved:
    """Counts of the entries: `embedded` now, `switched` in all, `left` with the old embedder."""

    embedded: int = 0
    switched: int = 0
    left: int = 0


@dataclass(frozen=True, slots=True)
class Place:
    """The place of an entry: the signature of its partition, and the texts whose vectors make its own.

    `questions` are the user's earlier turns of a conversation that is stored by meaning, else empty.
    """

    signature: bytes
    questions: tuple[str, ...] = ()


async def gather(
    store: SqlStore, embedder: Embedder, *, now: float, batch: int = BATCH, told: Callable[[int], None] | None = None
) -> Moved:
    """Embed every entry that lacks a vector of `embedder`, beside its old one; `told` is called with each number done.

    Raises StoreError or EmbedError; vectors that were computed until then stay.
    """
    embedded = left = 0
    after: int | None = -1
    while after is not None:
        found, after = await store.owing(embedder.id, now=now, after=after, limit=batch)
        placed = [(entry, place) for entry in found if (place := place_of(entry, store.salt)) is not None]
        left += len(found) - len(placed)
        if placed:
            matrix = await _vectors(embedder, placed)
            partitions = [
                keys.partitions_of(place.signature, [entry.category], embedder.id, store.salt)[0]
                for entry, place in placed
            ]
            await store.reembed(embedder.id, [entry.id for entry, _ in placed], partitions, matrix)
            embedded += len(placed)
        if told is not None:
            told(len(found))
    return Moved(embedded=embedded, left=left)


async def move(
    store: SqlStore, embedder: Embedder, *, now: float, batch: int = BATCH, told: Callable[[int], None] | None = None
) -> Moved:
    """Gather, then exchange in one transaction. Raises StoreError or EmbedError; then nothing was exchanged."""
    done = await gather(store, embedder, now=now, batch=batch, told=told)
    return Moved(done.embedded, await store.switch(embedder.id), done.left)


def place_of(entry: Entry, salt: bytes) -> Place | None:
    """The place of an entry, None if it was not made by the rules of this version.

    The entry's partition shows which of its two signatures it was stored under: that of its whole request, or that of a
    conversation whose earlier turns may be in other words.
    """

    def partition(signature: bytes) -> bytes:
        return keys.partitions_of(signature, [entry.category], entry.embedder_id, salt)[0]

    if entry.partition == partition(entry.key.signature):
        return Place(entry.key.signature)
    chain = conversation.stored_chain(entry.key.canonical)
    if chain is None or not chain.turns:
        return None
    scope, endpoint, *_ = keys.unframe(entry.key.canonical)
    loose = keys.digest(salt, b"context", scope, endpoint, keys.canonical(chain.rest))
    return Place(loose, chain.questions) if entry.partition == partition(loose) else None


async def _vectors(embedder: Embedder, placed: Sequence[tuple[Entry, Place]]) -> Matrix:
    """The vectors under which these entries are kept, shape (len(placed), dim). Raises EmbedError."""
    texts = list(dict.fromkeys(text for entry, place in placed for text in (entry.key.text, *place.questions)))
    rows = await embedder.embed(texts)
    if rows.shape != (len(texts), embedder.dim) or not np.isfinite(rows).all():
        raise EmbedError(
            f"embedder {embedder.id!r} says {embedder.dim} dimensions and returned an array of shape {rows.shape}: "
            "nothing was exchanged"
        )
    vector = dict(zip(texts, rows, strict=True))
    kept: list[Vector] = [
        conversation.blended_vector(vector[entry.key.text], np.stack([vector[text] for text in place.questions]))
        if place.questions
        else vector[entry.key.text]
        for entry, place in placed
    ]
    return np.stack(kept).astype(np.float32)
