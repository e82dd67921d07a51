"""Counts of API keys in a file that all workers of a data folder share: the last minute, and the dollars of a day.

Knows names and numbers. A slot of the file belongs to one key; a lock of the kernel, which ends with its holder,
guards the reading and writing of it. Invariant: `take` decides and counts in one step, whichever worker asks; a fault
of the file means that this worker counts alone.
"""

from __future__ import annotations

import hashlib
import logging
import mmap
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from semcache.runtime.disk_space import allocate
from semcache.runtime.durations import DAY

BUCKET = 5.0  # seconds
_BUCKETS = 13  # the newest has only begun, so that twelve whole ones and a part are looked at
_SLOT = struct.Struct(f"<16sq{_BUCKETS}q{_BUCKETS}qqd")
_SLOTS = 4096
_PROBES = 64
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Used:
    """The use of one key: requests and tokens by bucket, the newest first, and the dollars of today (UTC)."""

    requests: tuple[int, ...] = (0,) * _BUCKETS
    tokens: tuple[int, ...] = (0,) * _BUCKETS
    dollars: float = 0.0


class KeyCounts:
    """The counts of all keys. `file` is made when a key is first counted; None counts in this process alone."""

    def __init__(self, file: Path | None) -> None:
        self._path, self._file = file, -1
        self._map: mmap.mmap | bytearray = bytearray()

    def _open(self) -> None:
        """Take hold of the file, or of memory where it cannot be had."""
        self._map = bytearray(_SLOT.size * _SLOTS)
        file = self._path
        if file is None:
            return
        try:
            file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            import fcntl  # noqa: F401 - is there a way to lock

            self._file = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            allocate(self._file, _SLOT.size * _SLOTS)
            self._map = mmap.mmap(self._file, _SLOT.size * _SLOTS)
        except (ImportError, OSError, ValueError) as error:
            _log.warning("limits of API keys are counted by each worker on its own, not in %s: %s", file, error)
            if self._file >= 0:
                os.close(self._file)
            self._file = -1

    def take(self, key: str, now: float, within: Callable[[Used], bool]) -> None:
        """Count a request if it is `within` the limits."""
        with self._slot(key, now) as slot:
            if within(slot.used):
                slot.add(1, 0, 0.0)

    def add(self, key: str, now: float, *, tokens: int, dollars: float) -> None:
        """Count tokens and dollars."""
        with self._slot(key, now) as slot:
            slot.add(0, tokens, dollars)

    def used(self, key: str, now: float) -> Used:
        """Return the use of a key."""
        with self._slot(key, now) as slot:
            return slot.used

    def close(self) -> None:
        """Release the file."""
        if isinstance(self._map, mmap.mmap):
            self._map.close()
        self._map = bytearray()
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    @contextmanager
    def _slot(self, key: str, now: float) -> Iterator[_Slot]:
        name = hashlib.blake2b(key.encode(), digest_size=16).digest()
        if not self._map:
            self._open()
        with self._locked():
            slot = _Slot(self._map, self._place(name), name, now)
            yield slot
            slot.write()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if self._file < 0:
            yield
            return
        import fcntl

        fcntl.lockf(self._file, fcntl.LOCK_EX, 1)
        try:
            yield
        finally:
            fcntl.lockf(self._file, fcntl.LOCK_UN, 1)

    def _place(self, name: bytes) -> int:
        """Return the offset of a key's slot: its own, a free one, or that of the key that was longest unused."""
        first = int.from_bytes(name[:8], "little")
        oldest, place = None, 0
        for probe in range(_PROBES):
            offset = (first + probe) % _SLOTS * _SLOT.size
            held = bytes(self._map[offset : offset + 16])
            if held == name or held == bytes(16):
                return offset
            newest = int.from_bytes(self._map[offset + 16 : offset + 24], "little", signed=True)
            if oldest is None or newest < oldest:
                oldest, place = newest, offset
        return place


class _Slot:
    """The slot of one key, moved on to the time that it is."""

    def __init__(self, data: mmap.mmap | bytearray, offset: int, name: bytes, now: float) -> None:
        self._data, self._offset, self._name = data, offset, name
        held, newest, *counts, day, dollars = _SLOT.unpack_from(data, offset)
        if held != name:
            newest, counts, day, dollars = 0, [0] * (2 * _BUCKETS), 0, 0.0
        bucket = int(now // BUCKET)
        # A clock that was set back by less than a minute counts on in the newest bucket. One that was set back by more
        # has been far ahead: what was counted then is of now, for its own time may be years away.
        newest = newest if newest - bucket < _BUCKETS else bucket
        by = min(_BUCKETS, max(0, bucket - newest))
        requests, tokens = counts[:_BUCKETS], counts[_BUCKETS:]
        self._requests = [0] * by + requests[: _BUCKETS - by]
        self._tokens = [0] * by + tokens[: _BUCKETS - by]
        self._newest = max(bucket, newest)
        today = int(now // DAY)
        self._day, self._dollars = today, dollars if day >= today else 0.0

    @property
    def used(self) -> Used:
        return Used(tuple(self._requests), tuple(self._tokens), self._dollars)

    def add(self, requests: int, tokens: int, dollars: float) -> None:
        self._requests[0] += requests
        self._tokens[0] += tokens
        self._dollars += dollars

    def write(self) -> None:
        _SLOT.pack_into(
            self._data,
            self._offset,
            self._name,
            self._newest,
            *self._requests,
            *self._tokens,
            self._day,
            self._dollars,
        )
