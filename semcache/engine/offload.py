"""Offload tiers behind the KV cache: evicted blocks in host memory, and all blocks on disk.

A block is loaded only where that is expected to be quicker than computing it, from the bytes of its file and the
bandwidth (decoding included) and speed that were measured (CacheGen's controller: Liu et al. 2024, section 5.3). A
thread of its own writes. Knows blocks, bytes and seconds, nothing of sequences. Invariant: a tier that fails costs time
and never an answer.
"""

from __future__ import annotations

import logging
import queue
import threading
from collections.abc import Callable, Sequence

from semcache.engine.disk_tier import DiskTier, StoredBlock
from semcache.engine.engine_metrics import EngineMetrics
from semcache.engine.host_tier import HostTier

_log = logging.getLogger(__name__)
_QUEUED = 512  # blocks that wait to be written
_MEMORY = 0.8
_AGAIN = 64  # refused loads after which the disk is tried once more: it may have become quicker


class OffloadTiers:
    """`host_bytes` of host memory, and `disk` where there is one. `clock` gives seconds."""

    def __init__(
        self, *, host_bytes: int, disk: DiskTier | None, clock: Callable[[], float], metrics: EngineMetrics
    ) -> None:
        self._host = HostTier(host_bytes, count=lambda event: metrics.tier("host", event))
        self._disk, self._clock, self._metrics = disk, clock, metrics
        self._pace: dict[bool, float] = {}  # seconds to load a byte from disk, of exact blocks and of lossy ones
        self._refused = 0
        self._lock = threading.Lock()  # of the disk's index, which the writer and the engine share
        self._queue: queue.Queue[StoredBlock | None] = queue.Queue(_QUEUED)
        self._queued: set[bytes] = set()
        self._writer = threading.Thread(target=self._write, name="semcache-engine-disk", daemon=True)
        if disk is not None:
            self._writer.start()

    def wants(self, key: bytes) -> bool:
        """True if a block that was just computed should be given to `keep`."""
        return self._disk is not None and key not in self._queued and key not in self._disk

    def keep(self, block: StoredBlock, *, wait: bool = False) -> None:
        """Write a block to disk, soon; it is dropped when too many wait, unless the caller waits as well."""
        self._queued.add(block.key)  # first, as the writer may have written it before `put` returns
        try:
            self._queue.put(block, block=wait)
        except queue.Full:
            self._queued.discard(block.key)
            self._metrics.tier("disk", "dropped")

    @property
    def hosts(self) -> bool:
        """True if blocks that leave the cache should be given to `host`."""
        return self._host.most > 0

    def host(self, block: StoredBlock, worth: float) -> list[bytes]:
        """Keep a block that leaves the cache in host memory, if there is room; `worth` ranks it for eviction.

        Returns the keys that were given up for it, its own among them where there is no room.
        """
        return self._host.keep(block, worth)

    def touch(self, keys: Sequence[bytes]) -> None:
        """Note that blocks of host memory are about to be fetched, one after the other."""
        self._host.touch(keys)

    def fetch(
        self, key: bytes, parent: bytes, ids: Sequence[int], *, compute: float, lossy: bool = False
    ) -> StoredBlock | None:
        """Return a block that some tier holds; None where it has to be computed, in about `compute` seconds."""
        held = self._host.find(key, parent, ids)
        if held is not None:
            return held
        if self._disk is None or key not in self._disk:
            return None
        size, pace = self._disk.size(key), self._pace.get(lossy, 0.0)
        if compute and pace * size > compute and self._refused < _AGAIN:
            self._refused += 1
            self._metrics.tier("disk", "recomputed")
            return None
        self._refused = 0
        began = self._clock()
        with self._lock:
            block = self._disk.read(key, parent, ids)
        took = (self._clock() - began) / max(1, size)
        self._pace[lossy] = _MEMORY * pace + (1 - _MEMORY) * took if pace else took
        if block is not None:
            self._metrics.tier("disk", "loaded")
        return block

    def close(self) -> None:
        """Write the blocks that wait, and end the thread."""
        if self._writer.is_alive():
            self._queue.put(None)
            self._writer.join()

    def _write(self) -> None:
        assert self._disk is not None
        while (block := self._queue.get()) is not None:
            try:
                with self._lock:
                    kept = self._disk.write(block)
                self._metrics.tier("disk", "stored" if kept else "failed")
            except Exception:
                _log.exception("a block cannot be kept on disk")
                self._metrics.tier("disk", "failed")
            self._queued.discard(block.key)
