"""Least recently used."""

from __future__ import annotations

from semcache.retention.eviction.worth import PLAIN, Worth


class Lru:
    """`protocols.Eviction` in the insertion order of a dict: the first key is the coldest."""

    __slots__ = ("_order",)

    def __init__(self) -> None:
        self._order: dict[int, None] = {}

    def insert(self, id: int, weight: float, worth: Worth = PLAIN) -> None:  # noqa: ARG002
        """Take an id in."""
        self._order[id] = None

    def touch(self, id: int) -> None:
        """Note a use of an id that is tracked."""
        del self._order[id]
        self._order[id] = None

    def forget(self, id: int) -> None:
        """Drop a tracked id that is gone."""
        del self._order[id]

    def __contains__(self, id: object) -> bool:
        return id in self._order

    def __len__(self) -> int:
        return len(self._order)

    def victim(self) -> int | None:
        """The id to give up next, None without any."""
        return next(iter(self._order), None)
