"""Least frequently used while held; among equals the one that reached its count first.

Invariant: every tracked id is in the bucket of its count, and no bucket is empty.
"""

from __future__ import annotations

from semcache.retention.eviction.worth import PLAIN, Worth


class Lfu:
    """`protocols.Eviction` with one insertion-ordered bucket for each count of uses (Shah, Mitra, Matani 2010)."""

    __slots__ = ("_buckets", "_counts")

    def __init__(self) -> None:
        self._counts: dict[int, int] = {}
        self._buckets: dict[int, dict[int, None]] = {}

    def insert(self, id: int, weight: float, worth: Worth = PLAIN) -> None:  # noqa: ARG002
        """Take an id in."""
        self._count(id, 1)

    def touch(self, id: int) -> None:
        """Note a use of an id that is tracked."""
        self._count(id, self._leave(id) + 1)

    def forget(self, id: int) -> None:
        """Drop a tracked id that is gone."""
        self._leave(id)

    def __contains__(self, id: object) -> bool:
        return id in self._counts

    def __len__(self) -> int:
        return len(self._counts)

    def victim(self) -> int | None:
        """The id to give up next, None without any."""
        return next(iter(self._buckets[min(self._buckets)])) if self._buckets else None

    def _count(self, id: int, count: int) -> None:
        self._counts[id] = count
        self._buckets.setdefault(count, {})[id] = None

    def _leave(self, id: int) -> int:
        count = self._counts.pop(id)
        bucket = self._buckets[count]
        del bucket[id]
        if not bucket:
            del self._buckets[count]
        return count
