"""Hot entries: those read or written most recently, held in memory up to a number of bytes.

No I/O. Invariant: what is held weighs at most `capacity` bytes.
"""

from __future__ import annotations

from semcache.retention.eviction import Quota
from semcache.retention.eviction.lru import Lru
from semcache.types import Entry

_OVERHEAD = 600


class HotEntries:
    """Entries by id. A cold one costs its owner one indexed read."""

    def __init__(self, capacity: int) -> None:
        self._quota = Quota(capacity, Lru())
        self._entries: dict[int, Entry] = {}

    def get(self, entry_id: int) -> Entry | None:
        """The entry if it is hot."""
        entry = self._entries.get(entry_id)
        if entry is not None:
            self._quota.touch(entry_id)
        return entry

    def put(self, entry: Entry) -> None:
        """Hold an entry, giving up the coldest ones."""
        self._entries[entry.id] = entry
        weight = len(entry.body) + len(entry.key.canonical) + _OVERHEAD
        for victim in self._quota.admit(entry.id, weight):
            self._entries.pop(victim, None)

    def remove(self, entry_id: int) -> None:
        """Forget an entry; unknown ids are ignored."""
        self._entries.pop(entry_id, None)
        self._quota.forget(entry_id)
