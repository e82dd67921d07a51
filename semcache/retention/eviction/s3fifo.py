"""S3-FIFO: a small queue for newcomers, a main queue for what was used there, and a memory of what left too early.

Invariant: an id is in exactly one of the two queues, and the ghosts are no more than the ids that are held.
"""

from __future__ import annotations

from semcache.retention.eviction.queue import Queue
from semcache.retention.eviction.worth import PLAIN, Worth

_SMALL = 0.1
_MOST = 3


class S3Fifo:
    """`protocols.Eviction` after Yang et al., "FIFO queues are all you need for cache eviction" (SOSP 2023), section 4.

    Ghosts are remembered by cluster, since a new answer to the same request has a new id.
    """

    __slots__ = ("_clusters", "_ghosts", "_main", "_small", "_uses", "_victim")

    def __init__(self) -> None:
        self._small = Queue()
        self._main = Queue()
        self._uses: dict[int, int] = {}
        self._clusters: dict[int, int] = {}
        self._ghosts: dict[int, None] = {}
        self._victim: int | None = None

    def insert(self, id: int, weight: float, worth: Worth = PLAIN) -> None:
        """Take an id in."""
        cluster = worth.counted(id)
        self._clusters[id] = cluster
        self._uses[id] = 0
        if cluster in self._ghosts:
            del self._ghosts[cluster]
            self._main.push(id, weight)
        else:
            self._small.push(id, weight)

    def touch(self, id: int) -> None:
        """Note a use of an id that is tracked."""
        self._uses[id] = min(_MOST, self._uses[id] + 1)

    def forget(self, id: int) -> None:
        """Drop a tracked id that is gone."""
        cluster = self._clusters.pop(id)
        del self._uses[id]
        if id not in self._small:
            self._main.take(id)
            return
        self._small.take(id)
        if id == self._victim:
            self._ghosts[cluster] = None
            while len(self._ghosts) > len(self._clusters) + 1:
                del self._ghosts[next(iter(self._ghosts))]

    def __contains__(self, id: object) -> bool:
        return id in self._clusters

    def __len__(self) -> int:
        return len(self._clusters)

    def victim(self) -> int | None:
        """The id to give up next, None without any."""
        self._victim = self._from_small()
        if self._victim is None:
            self._victim = self._from_main()
        return self._victim

    def _from_small(self) -> int | None:
        small, main = self._small, self._main
        while (oldest := small.oldest()) is not None:
            if len(main) and small.weight <= _SMALL * (small.weight + main.weight):
                return None
            if self._uses[oldest] <= 1:
                return oldest
            self._uses[oldest] = 0
            main.push(oldest, small.take(oldest))
        return None

    def _from_main(self) -> int | None:
        while (oldest := self._main.oldest()) is not None and self._uses[oldest]:
            self._uses[oldest] -= 1
            self._main.renew(oldest)
        return oldest
