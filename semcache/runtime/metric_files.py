"""Files of metrics that several processes share, with their room on the disk taken beforehand.

Knows how prometheus_client writes them: into memory that is mapped to a file, where a full disk is no error that could
be caught but a signal that ends the process. Invariant: nothing is written where there is no room; what cannot be
written is counted by its process alone, and that is said once.
"""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from functools import cache
from pathlib import Path

from semcache.runtime.disk_space import allocate

FOLDER = "PROMETHEUS_MULTIPROC_DIR"
_SIZE = 1 << 16  # of a new file of prometheus_client, which doubles it
_OVERHEAD = 32  # bytes beside the name of a value, at most
_log = logging.getLogger(__name__)


def take_room_beforehand() -> None:
    """Have this process make its files of metrics with room. To be called before there is a metric."""
    from prometheus_client import values

    setattr(values, "MmapedDict", MetricFile)  # noqa: B010 - of another type, with the same methods


def take(path: Path, size: int) -> None:
    """Make a file of `size` bytes at least that are really there. Raises OSError if the disk has no room."""
    found = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        allocate(found, max(size, os.fstat(found).st_size))
    finally:
        os.close(found)


class MetricFile:
    """The values of one process by name, in a file while there is room for them, otherwise in memory."""

    def __init__(self, filename: str) -> None:
        from prometheus_client.mmap_dict import MmapedDict

        self._path = Path(filename)
        self._memory: dict[str, tuple[float, float]] = {}
        self._known: set[str] = set()
        self._used, self._size = 8, _SIZE
        self._file: MmapedDict | None = None
        is_new = not self._path.exists()
        try:
            take(self._path, _SIZE)
            self._file = MmapedDict(filename)  # type: ignore[no-untyped-call]
        except OSError as error:
            self._full(error)
            if is_new:
                with suppress(OSError):
                    self._path.unlink()
            return
        self._size = self._path.stat().st_size
        for key, *_ in self._file.read_all_values():  # type: ignore[no-untyped-call]
            self._note(key)

    def read_value(self, key: str) -> tuple[float, float]:
        """Return a value and its time, 0 for what was never written."""
        if self._file is None or not self._has_room(key):
            return self._memory.get(key, (0.0, 0.0))
        found: tuple[float, float] = self._file.read_value(key)  # type: ignore[no-untyped-call]
        return found

    def write_value(self, key: str, value: float, timestamp: float) -> None:
        """Write a value and its time."""
        if self._file is None or not self._has_room(key):
            self._memory[key] = value, timestamp
        else:
            self._file.write_value(key, value, timestamp)  # type: ignore[no-untyped-call]

    def close(self) -> None:
        """Release the file."""
        if self._file is not None:
            self._file.close()  # type: ignore[no-untyped-call]
            self._file = None

    def _has_room(self, key: str) -> bool:
        """Return True if a value is in the file, or can be."""
        if key in self._known:
            return True
        if key in self._memory:
            return False
        try:
            while self._used + _length(key) > self._size:
                take(self._path, 2 * self._size)
                self._size *= 2
        except OSError as error:
            self._full(error)
            self._memory[key] = 0.0, 0.0
            return False
        self._note(key)
        return True

    def _note(self, key: str) -> None:
        self._known.add(key)
        self._used += _length(key)

    def _full(self, error: OSError) -> None:
        _say_full(os.getpid(), self._path.parent, error.strerror or str(error))


@cache
def _say_full(process: int, folder: Path, why: str) -> None:
    """Log that a process counts for itself, once."""
    _log.warning(
        "metrics of process %s are not all in /metrics: %s: %s; free some space, or name another folder with %s, "
        "and restart",
        process,
        folder,
        why,
        FOLDER,
    )


def _length(key: str) -> int:
    return len(key.encode()) + _OVERHEAD
