"""Stale-while-revalidate: what may still be served after its time, and who asks anew.

Pure; the clock is the caller's. Invariant: nothing here changes when an entry was created or when it expires, and of
one entry at most one refetch is out at a time.
"""

from __future__ import annotations

from typing import Literal

from semcache.types import Card

Age = Literal["fresh", "stale", "expired"]


def usable(card: Card, now: float, revalidate: float) -> Age:
    """Whether a card may be served at `now` (Unix time): freely, while it is asked anew, or no more.

    `revalidate` is how many seconds after its expiry it may still be served; as `stale-while-revalidate` of RFC 5861.
    An entry is expired from the very second of its expiry on.
    """
    if now < card.expires:
        return "fresh"
    return "stale" if now < card.expires + revalidate else "expired"


class Refetches:
    """Which entries are being asked anew, so that a popular stale entry costs one backend call and not one a hit."""

    __slots__ = ("_lease", "_until")

    def __init__(self, lease: float = 60.0) -> None:
        """`lease`: seconds after which a refetch that was never finished may be tried again."""
        self._lease = lease
        self._until: dict[int, float] = {}

    def claim(self, entry_id: int, now: float) -> bool:
        """Whether the caller is to ask for this entry anew; True once, until `finish` or the end of the lease."""
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
