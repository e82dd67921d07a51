"""A first-in-first-out queue from whose middle ids may leave, and which knows its weight.

Invariant: `weight` is the sum of the weights of what is queued, and 0 when nothing is.
"""

from __future__ import annotations

from collections.abc import Iterator


class Queue:
    """Ids with weights in order of arrival; the oldest is the first."""

    __slots__ = ("_weights", "weight")

    def __init__(self) -> None:
        self._weights: dict[int, float] = {}
        self.weight = 0.0

    def push(self, id: int, weight: float) -> None:
        """Put a new id at the end."""
        self._weights[id] = weight
        self.weight += weight

    def renew(self, id: int) -> None:
        """Move an id to the end. Raises KeyError for one that is not queued."""
        self._weights[id] = self._weights.pop(id)

    def take(self, id: int) -> float:
        """Remove an id and return its weight. Raises KeyError for one that is not queued."""
        weight = self._weights.pop(id)
        # Sums of floats drift; an empty queue is the moment to forget it.
        self.weight = self.weight - weight if self._weights else 0.0
        return weight

    def oldest(self) -> int | None:
        """The first id, None when nothing is queued."""
        return next(iter(self._weights), None)

    def __iter__(self) -> Iterator[int]:
        return iter(self._weights)

    def __contains__(self, id: object) -> bool:
        return id in self._weights

    def __len__(self) -> int:
        return len(self._weights)
