"""The accounting around a policy: ids and weights, held to a capacity.

Knows ids and weights, not entries. Invariant: after `admit`, the weight held never exceeds the capacity.
"""

from __future__ import annotations

from semcache.retention.eviction.worth import PLAIN, Policy, Worth


class Quota:
    """The ids of one category and their weights (1 each counts entries), held to a capacity."""

    __slots__ = ("_capacity", "_policy", "_weights", "held")

    def __init__(self, capacity: float, policy: Policy) -> None:
        self._capacity = capacity
        self._policy = policy
        # Of the ids that weigh something else than 1: most quotas count entries, and there are many of those.
        self._weights: dict[int, float] = {}
        self.held = 0.0

    @property
    def fill(self) -> float:
        """The share of the capacity that is held."""
        return self.held / self._capacity if self._capacity > 0 else float(self.held > 0)

    def admit(self, id: int, weight: float = 1.0, worth: Worth = PLAIN) -> list[int]:
        """Take an id in and return those that had to go. One that exceeds the whole capacity comes straight back."""
        self.forget(id)
        if weight > self._capacity:
            return [id]
        gone: list[int] = []
        while self.held + weight > self._capacity and (victim := self.evict()) is not None:
            gone.append(victim)
        self.take(id, weight, worth)
        return gone

    def take(self, id: int, weight: float, worth: Worth) -> None:
        """Take in a new id without regard to the capacity, which is then the caller's business."""
        self._policy.insert(id, weight, worth)
        if weight != 1.0:
            self._weights[id] = weight
        self.held += weight

    def evict(self) -> int | None:
        """Evict the policy's victim and return it; None when nothing is held."""
        victim = self._policy.victim()
        if victim is not None:
            self.forget(victim)
        return victim

    def touch(self, id: int) -> None:
        """Note a hit; unknown ids are ignored."""
        if id in self._policy:
            self._policy.touch(id)

    def forget(self, id: int) -> None:
        """Drop an id that is gone; unknown ids are ignored."""
        if id in self._policy:
            self._policy.forget(id)
            self.held -= self._weights.pop(id, 1.0)

    def __contains__(self, id: object) -> bool:
        return id in self._policy

    def __len__(self) -> int:
        return len(self._policy)
