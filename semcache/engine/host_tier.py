"""Host memory behind the cache: blocks that were evicted from it, and the eviction of these.

Eviction is as in the cache (`prefix_tree`): of the blocks behind which no other is held here, the one worth least, of
several the one used longest ago. A block is of no use without those before it. Knows blocks and bytes, nothing of pages
or sequences. Invariant: at most `most` bytes; no block goes before one that is held behind it; a block that is given
back was kept under that key, for those tokens and that parent.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from semcache.engine.disk_tier import StoredBlock


@dataclass(slots=True)
class _Held:
    """A block, what it is worth to keep it, and its rank among others when it was used for the `used`th time of all."""

    block: StoredBlock
    worth: float
    rank: float = 0.0
    used: int = 0


class HostTier:
    """Blocks in at most `most` bytes. `count(event)` is called for each block stored and evicted."""

    def __init__(self, most: int, *, count: Callable[[str], None]) -> None:
        self.most, self._count = most, count
        self._held: dict[bytes, _Held] = {}
        self._behind: Counter[bytes] = Counter()  # how many are held behind a key
        self._leaves: list[tuple[float, int, bytes]] = []  # a heap; entries may be out of date
        self._clock = 0.0  # the highest rank given up so far: what is not used any more falls behind it
        self._bytes = self._uses = 0

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, key: object) -> bool:
        return key in self._held

    def keep(self, block: StoredBlock, worth: float) -> list[bytes]:
        """Keep a block that leaves the cache, as long as there is room; returns the keys that were given up for it.

        Its own is among them where there is no room for it.
        """
        if block.data.nbytes > self.most:
            return [block.key]
        held = self._held.get(block.key)
        if held is None:
            held = self._held[block.key] = _Held(block, worth)
            self._behind[block.parent] += 1
            self._bytes += block.data.nbytes
            self._count("stored")
        held.worth = worth
        self._use(held)
        gone = []
        while self._bytes > self.most:
            gone += self._give_up()
        return gone

    def find(self, key: bytes, parent: bytes, ids: Sequence[int]) -> StoredBlock | None:
        """The block under a key, None when there is none that is right."""
        held = self._held.get(key)
        if held is None or held.block.parent != parent or held.block.ids != tuple(ids):
            return None
        self._use(held)
        self._count("loaded")
        return held.block

    def touch(self, keys: Sequence[bytes]) -> None:
        """Note that those of these blocks that are here were used."""
        for key in keys:
            if key in self._held:
                self._use(self._held[key])

    def _use(self, held: _Held) -> None:
        self._uses += 1
        held.used, held.rank = self._uses, self._clock + held.worth
        self._offer(held)

    def _offer(self, held: _Held) -> None:
        if self._behind[held.block.key]:
            return
        if len(self._leaves) > 4 * len(self._held) + 64:
            leaves = [one for one in self._held.values() if not self._behind[one.block.key] and one is not held]
            self._leaves = [(one.rank, one.used, one.block.key) for one in leaves]
            heapq.heapify(self._leaves)
        heapq.heappush(self._leaves, (held.rank, held.used, held.block.key))

    def _give_up(self) -> list[bytes]:
        rank, used, key = heapq.heappop(self._leaves)
        held = self._held.get(key)
        if held is None or held.used != used or self._behind[key]:
            return []  # out of date: it is offered again, with every use and by the last one behind it
        self._clock = max(self._clock, rank)
        del self._held[key]
        self._bytes -= held.block.data.nbytes
        self._count("evicted")
        above = held.block.parent
        self._behind[above] -= 1
        if not self._behind[above]:
            del self._behind[above]
            if above in self._held:
                self._offer(self._held[above])
        return [key]
