"""What to give up when a category is full. A policy picks victims; `Quota` does the accounting for all of them.

Pure: knows ids and weights, not entries. Invariant: after `admit`, the weight held never exceeds the capacity.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from semcache.eviction.lru import Lru
from semcache.protocols import Eviction

POLICIES: Mapping[str, Callable[[], Eviction]] = {"lru": Lru}


class Quota:
    """The ids of one category and their weights (1 each counts entries), held to a capacity."""

    __slots__ = ("_capacity", "_held", "_policy", "_weights")

    def __init__(self, capacity: float, policy: Eviction) -> None:
        self._capacity = capacity
        self._policy = policy
        # Of the ids that weigh something else than 1: most quotas count entries, and there are many of those.
        self._weights: dict[int, float] = {}
        self._held = 0.0

    def admit(self, id: int, weight: float = 1.0) -> list[int]:
        """Take an id in and return those that had to go. One that exceeds the whole capacity comes straight back."""
        self.forget(id)
        if weight > self._capacity:
            return [id]
        gone: list[int] = []
        while self._held + weight > self._capacity:
            victim = self._policy.victim()
            if victim is None:
                break
            self.forget(victim)
            gone.append(victim)
        self._policy.insert(id, weight)
        if weight != 1.0:
            self._weights[id] = weight
        self._held += weight
        return gone

    def touch(self, id: int) -> None:
        """Note a hit; unknown ids are ignored."""
        if id in self._policy:
            self._policy.touch(id)

    def forget(self, id: int) -> None:
        """Drop an id that is gone; unknown ids are ignored."""
        if id in self._policy:
            self._policy.forget(id)
            self._held -= self._weights.pop(id, 1.0)

    def __len__(self) -> int:
        return len(self._policy)
