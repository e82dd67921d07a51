"""The content of a store: entries, their vectors, rejections, and the feed of their changes.

Knows only the values of `types`. Invariant: every write is atomic and durable when it returns, and is announced in
the change feed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from semcache.types import Card, Change, Entry, Rejection, Selector

if TYPE_CHECKING:
    from semcache.types import Matrix, Vector


@dataclass(frozen=True, slots=True)
class VectorBatch:
    """A slice of a store's vectors: `cards[i]` belongs to row i of `matrix` (shape (n, dim))."""

    cards: Sequence[Card]
    matrix: Matrix


class Entries(Protocol):
    """Stored answers by id. Raises StoreError; IntegrityError for an entry that cannot be decrypted."""

    async def put(self, entry: Entry, vector: Vector | None) -> None:
        """Store an entry; one with the same exact digest is deleted in the same transaction.

        The new entry gets that one's rejections but the one for its own digest, announced after it.
        """
        ...

    async def put_all(self, entries: Sequence[tuple[Entry, Vector | None]]) -> None:
        """Store several entries in one transaction."""
        ...

    async def get(self, ids: Sequence[int]) -> list[Entry | None]:
        """Entries in the order of `ids`, None for those that are gone. One indexed read."""
        ...

    async def select(self, where: Selector, *, limit: int = 100, after: int = 0) -> list[Entry]:
        """Entries that match, by ascending id greater than `after`. An empty selector matches nothing."""
        ...

    async def delete(self, where: Selector, *, now: float, dry_run: bool = False) -> list[int]:
        """Delete what matches and return the ids; with `dry_run` only return them."""
        ...

    async def sweep(self, now: float, grace: float = 0.0) -> list[int]:
        """Delete entries that expired more than `grace` seconds ago and return their ids."""
        ...

    async def counts(self) -> dict[str, int]:
        """Live entries per category."""
        ...

    async def alias(self, entry_id: int, answer: int, *, now: float) -> None:
        """Put an entry into the answer class `answer`; announced in the change feed. Unknown ids are ignored."""
        ...


class Vectors(Protocol):
    """Cards and vectors in bulk, by embedder: the content of a vector index and of the entry registry. StoreError."""

    def vectors(self, embedder_id: str, *, now: float, batch: int = 4096) -> AsyncIterator[VectorBatch]:
        """All unexpired entries that carry a vector of this embedder."""
        ...

    def cards(self, embedder_id: str, *, now: float, batch: int = 4096) -> AsyncIterator[Sequence[Card]]:
        """All unexpired entries without a vector of this embedder: the exact tier alone can find them."""
        ...

    async def vectors_of(self, ids: Sequence[int], embedder_id: str) -> VectorBatch:
        """Those of these entries that carry a vector of this embedder, in any order."""
        ...

    async def embedders(self) -> dict[str, int]:
        """Entries with a vector, by embedder."""
        ...


@runtime_checkable
class WordingStore(Protocol):
    """Digests of canonical wordings beside entries: those of `Entry.wording`, and those that are read later.

    A store may lack it: then wordings are read anew after every start. Raises StoreError.
    """

    async def reword(self, digests: Mapping[int, bytes]) -> None:
        """Keep these digests, by entry, in place of earlier ones; not announced. Unknown ids are ignored."""
        ...


class Rejections(Protocol):
    """Pairs of an entry and a request that it is known to be wrong for. Raises StoreError."""

    async def reject(self, rejections: Sequence[Rejection], *, now: float) -> None:
        """Remember that these entries are wrong for these keys; they are announced in the change feed."""
        ...

    async def rejections(self, entry_id: int | None = None) -> list[Rejection]:
        """Every rejection of living entries, or of one of them, oldest first."""
        ...

    async def alike(self, entry_id: int) -> dict[int, bytes]:
        """The exact digests of the other entries of its tenant that are in an entry's answer class, by id."""
        ...


class ChangeFeed(Protocol):
    """Changes of entries in the order of their sequence numbers, from every worker. Raises StoreError."""

    async def head(self) -> int:
        """The sequence number of the newest change."""
        ...

    async def changes(self, since: int, *, limit: int = 1000) -> list[Change]:
        """Changes after `since`, oldest first, from any worker."""
        ...

    async def wait(self, timeout: float) -> None:
        """Return when another worker may have written, or after `timeout` seconds."""
        ...

    async def said(self, entry_id: int, *, correct: bool, now: float) -> None:
        """Announce a person's verdict on a served answer. Unknown ids are ignored."""
        ...

    async def trim_changes(self, *, keep_rows: int) -> int:
        """Forget all but about the newest `keep_rows` changes, at least one; a follower that lags more must reload."""
        ...
