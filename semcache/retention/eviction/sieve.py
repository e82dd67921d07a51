"""SIEVE: one queue in order of arrival, a bit for each id that was used, and a hand that spares those once.

Invariant: `victim` changes nothing but bits and the place of the hand, and the id that it names is unused.
"""

from __future__ import annotations

from semcache.retention.eviction.worth import PLAIN, Worth


class Sieve:
    """`protocols.Eviction` after Zhang et al., "SIEVE is simpler than LRU" (NSDI 2024), Algorithm 1.

    The list is linked through two dicts, which say None beyond its ends.
    """

    __slots__ = ("_hand", "_head", "_newer", "_older", "_tail", "_used")

    def __init__(self) -> None:
        self._newer: dict[int, int | None] = {}
        self._older: dict[int, int | None] = {}
        self._used: set[int] = set()
        self._head: int | None = None
        self._tail: int | None = None
        self._hand: int | None = None

    def insert(self, id: int, weight: float, worth: Worth = PLAIN) -> None:  # noqa: ARG002
        """Take an id in."""
        self._older[id] = self._head
        self._newer[id] = None
        if self._head is not None:
            self._newer[self._head] = id
        else:
            self._tail = id
        self._head = id

    def touch(self, id: int) -> None:
        """Note a use of an id that is tracked."""
        self._used.add(id)

    def forget(self, id: int) -> None:
        """Drop a tracked id that is gone."""
        newer, older = self._newer.pop(id), self._older.pop(id)
        if newer is None:
            self._head = older
        else:
            self._older[newer] = older
        if older is None:
            self._tail = newer
        else:
            self._newer[older] = newer
        if self._hand == id:
            self._hand = newer
        self._used.discard(id)

    def __contains__(self, id: object) -> bool:
        return id in self._newer

    def __len__(self) -> int:
        return len(self._newer)

    def victim(self) -> int | None:
        """The id to give up next, None without any."""
        at = self._hand if self._hand is not None else self._tail
        while at is not None and at in self._used:
            self._used.discard(at)
            newer = self._newer[at]
            at = newer if newer is not None else self._tail
        self._hand = at
        return at
