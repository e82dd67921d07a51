"""Keeping answers: how long one lives, and which entry gives way when there is no room.

Knows only the values of `types`. Invariant: pure; a time to live counts from creation and is never extended by reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

from semcache.types import Request, Volatility

if TYPE_CHECKING:
    from semcache.types import Vector


class Freshness(Protocol):
    """Decides how long an answer lives, and learns from answers that were asked for again.

    TTL counts from creation and is never extended by reads. Pure: two instances that observed the same, in the same
    order, give the same TTLs.
    """

    def kind(self, text: str, vector: Vector | None = None) -> Volatility:
        """How fast the answer to a prompt changes; `vector` is its embedding, where that is known."""
        ...

    def ttl(self, request: Request, category: str, vector: Vector | None = None) -> float:
        """Seconds; 0 means do not store."""
        ...

    def observe(self, category: str, exposure: float, changed: bool, kind: Volatility = ...) -> None:
        """Learn from an answer that was asked for again when it was `exposure` seconds old."""
        ...

    def state(self) -> dict[str, Any]:
        """Everything it has learned, as JSON has it; {} when nothing."""
        ...

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take up what `state` gave. Raises ValueError for a state that is not its own."""
        ...


class Eviction(Protocol):
    """Picks victims; the owner does the accounting."""

    def insert(self, id: int, weight: float) -> None:
        """Track an entry of this weight, which is not tracked yet."""
        ...

    def touch(self, id: int) -> None:
        """Note a hit on a tracked entry."""
        ...

    def forget(self, id: int) -> None:
        """Stop tracking an entry."""
        ...

    def __contains__(self, id: object) -> bool: ...
    def __len__(self) -> int: ...

    def victim(self) -> int | None:
        """The id to evict next, which stays tracked until `forget`; None when empty."""
        ...
