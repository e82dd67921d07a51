"""Results in memory, up to a number of bytes; the least recently used is dropped first.

Knows keys and bytes, nothing of tools. Safe to use from several threads. Invariant: what is held is at most `limit`
bytes, and nothing is returned at or after its end of life.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock

_OVERHEAD = 250  # bytes of an entry beside its payload


@dataclass(frozen=True, slots=True)
class StoredResult:
    """A result as JSON; times are Unix seconds. `tenant`, `tool` and, if it is one user's alone, `user` say whose."""

    payload: bytes
    created: float
    expires: float
    tenant: str
    tool: str
    user: str | None = None

    @property
    def size(self) -> int:
        """Bytes in memory, about."""
        return len(self.payload) + _OVERHEAD


class ResultMemory:
    """Results by key."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._kept: OrderedDict[bytes, StoredResult] = OrderedDict()
        self._lock = Lock()
        self.held = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: bytes, now: float) -> StoredResult | None:
        """The result under that key, None when there is none that still holds."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            if found.expires <= now:
                self._drop(key)
                return None
            self._kept.move_to_end(key)
            return found

    def put(self, key: bytes, kept: StoredResult) -> bool:
        """Hold a result in the place of the one before; False for one that is larger than all there is."""
        if kept.size > self._limit:
            return False
        with self._lock:
            self._drop(key)
            self._kept[key] = kept
            self.held += kept.size
            while self.held > self._limit:
                self._drop(next(iter(self._kept)))
        return True

    def purge(self, *, tenant: str | None = None, tool: str | None = None, user: str | None = None) -> int:
        """Forget the results of a tenant, of a tool, those that are a user's alone, or all; returns how many."""
        with self._lock:
            gone = [
                key
                for key, one in self._kept.items()
                if tenant in (None, one.tenant) and tool in (None, one.tool) and user in (None, one.user)
            ]
            for key in gone:
                self._drop(key)
        return len(gone)

    def _drop(self, key: bytes) -> None:
        old = self._kept.pop(key, None)
        if old is not None:
            self.held -= old.size
