"""Stale-while-revalidate: one refetch at a time of an entry that is served after its time.

Pure; the clock is the caller's. `Card.staleness` tells how long an entry may be served. Invariant: of one entry at most
one refetch is out at a time.
"""

from __future__ import annotations


class Refetches:
    """Which entries are being asked anew, so that a popular stale entry costs one backend call and not one a hit."""

    __slots__ = ("_lease", "_until")

    def __init__(self, lease: float = 60.0) -> None:
        """`lease`: seconds after which a refetch that was never finished may be tried again."""
        self._lease = lease
        self._until: dict[int, float] = {}

    def claim(self, entry_id: int, now: float) -> bool:
        """Return True if the caller is to ask for this entry anew: once, until `finish` or the end of the lease."""
        if now < self._until.get(entry_id, now):
            return False
        self._until = {one: until for one, until in self._until.items() if now < until}
        self._until[entry_id] = now + self._lease
        return True

    def finish(self, entry_id: int) -> None:
        """The refetch is done, whatever came of it; unknown ids are ignored."""
        self._until.pop(entry_id, None)

    def __len__(self) -> int:
        return len(self._until)
