"""The entry store: the event log, API keys and the life cycle, and the protocol of a store that has every part.

Knows only the values of `types`. Invariant: `EntryStore` adds nothing to the parts that it is made of, so one can be
given to whoever asks for some of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from semcache.protocols.store_content import ChangeFeed, Entries, Rejections, Vectors
from semcache.protocols.store_learning import JudgementQueue, LabelStore, SavedStates
from semcache.types import ApiKey, Recorded


class OutcomeLog(Protocol):
    """The event log: one row for every outcome. Raises StoreError."""

    async def record(self, events: Sequence[Recorded]) -> None:
        """Append outcomes to the event log."""
        ...

    async def served_keys(self, entry_id: int) -> list[bytes]:
        """Exact digests of the requests that this entry was served to, newest first, at most 1,000."""
        ...

    async def tally(self) -> list[Mapping[str, object]]:
        """Event counts and sums grouped by category and outcome.

        Keys: category, outcome, requests, saved_prompt_tokens, saved_completion_tokens, saved_cost, spent_cost,
        seconds.
        """
        ...

    async def trim_events(self, *, keep_rows: int | None = None, before: float | None = None) -> int:
        """Drop all but the newest `keep_rows` events, and those before a Unix time; their sums stay in `tally`."""
        ...


class KeyStore(Protocol):
    """The API keys that map callers to tenants. Raises StoreError."""

    async def add_key(self, key: ApiKey) -> None:
        """Store a key. Raises StoreError when its id or digest is taken."""
        ...

    async def keys(self) -> list[ApiKey]:
        """Every key, revoked and expired ones included, oldest first."""
        ...

    async def revoke_key(self, id: str, *, now: float) -> bool:
        """Revoke a key; False when there is none, or it is revoked already."""
        ...


@runtime_checkable
class KeyLimitStore(Protocol):
    """The limits of API keys. A store may lack them: every key has those of the settings then. Raises StoreError."""

    async def limit_key(self, id: str, *, requests: int | None, tokens: int | None, dollars: float | None) -> bool:
        """Set the limits of a key, None for those of the settings; False when there is no such key."""
        ...


@runtime_checkable
class KeyExpiryStore(Protocol):
    """The ends of API keys. A store may lack them: a key is in force until it is revoked then. Raises StoreError."""

    async def expire_key(self, id: str, *, expires: float | None) -> bool:
        """Set the end of a key, None for none; False when there is no such key, or it is revoked."""
        ...

    async def note_expired(self, *, since: float, now: float) -> None:
        """Write into the administrators' log which keys have expired since then, each once."""
        ...


class StoreLifecycle(Protocol):
    """Opening, probing, re-encrypting and closing a store. Raises StoreError."""

    @property
    def salt(self) -> bytes:
        """32 random bytes made when the store was created: the key of all digests. Known after `open`."""
        ...

    async def open(self) -> None:
        """Connect and bring the schema up to date."""
        ...

    async def close(self) -> None:
        """Finish running writes and disconnect; may be called twice."""
        ...

    async def ping(self) -> None:
        """Raise StoreError unless the store can be read and written."""
        ...

    async def reseal(self, batch: int = 500) -> int:
        """Encrypt every entry that the newest key does not encrypt yet, `batch` a transaction; return how many."""
        ...


class EntryStore(
    StoreLifecycle,
    Entries,
    Vectors,
    Rejections,
    ChangeFeed,
    LabelStore,
    SavedStates,
    JudgementQueue,
    OutcomeLog,
    KeyStore,
    Protocol,
):
    """Entries, their vectors, and what must survive a restart. Every write is atomic and durable when it returns.

    Raises StoreError; IntegrityError for an entry that cannot be decrypted.
    """
