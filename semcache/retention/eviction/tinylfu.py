"""W-TinyLFU: a small window for newcomers, and the main part only for what is asked more often than its victim.

Invariant: an id is in exactly one of window, probation and protected.
"""

from __future__ import annotations

from semcache.retention.eviction.queue import Queue
from semcache.retention.eviction.sketch import Sketch
from semcache.retention.eviction.worth import PLAIN, Worth

_WINDOW = 0.01
_PROTECTED = 0.8


class WTinyLfu:
    """`protocols.Eviction` after Einziger, Friedman, Manes, "TinyLFU" (ACM TOS 2017), section 4.

    What is counted is the cluster, so that every paraphrase speaks for the answer that all of them share.
    """

    __slots__ = ("_candidate", "_clusters", "_probation", "_protected", "_sketch", "_window")

    def __init__(self) -> None:
        self._window = Queue()
        self._probation = Queue()
        self._protected = Queue()
        self._clusters: dict[int, int] = {}
        self._sketch = Sketch()
        self._candidate: int | None = None

    def insert(self, id: int, weight: float, worth: Worth = PLAIN) -> None:
        """Take an id in."""
        self._clusters[id] = worth.counted(id)
        self._sketch.fit(len(self._clusters))
        self._sketch.add(self._clusters[id])
        window = self._window
        window.push(id, weight)
        allowed = _WINDOW * (window.weight + self._main)
        while len(window) > 1 and window.weight > allowed:
            oldest = next(iter(window))
            self._probation.push(oldest, window.take(oldest))
            self._candidate = oldest

    def touch(self, id: int) -> None:
        """Note a use of an id that is tracked."""
        self._sketch.add(self._clusters[id])
        for queue in (self._window, self._protected):
            if id in queue:
                queue.renew(id)
                return
        self._protected.push(id, self._probation.take(id))
        while len(self._protected) > 1 and self._protected.weight > _PROTECTED * self._main:
            oldest = next(iter(self._protected))
            self._probation.push(oldest, self._protected.take(oldest))

    def forget(self, id: int) -> None:
        """Drop a tracked id that is gone."""
        del self._clusters[id]
        for queue in (self._window, self._probation, self._protected):
            if id in queue:
                queue.take(id)

    def __contains__(self, id: object) -> bool:
        return id in self._clusters

    def __len__(self) -> int:
        return len(self._clusters)

    def victim(self) -> int | None:
        """The id to give up next, None without any."""
        for queue in (self._probation, self._protected, self._window):
            victim = queue.oldest()
            if victim is not None:
                break
        candidate = self._candidate
        if victim is None or candidate is None or candidate not in self._probation:
            return victim
        return victim if self._often(candidate) > self._often(victim) else candidate

    @property
    def _main(self) -> float:
        return self._probation.weight + self._protected.weight

    def _often(self, id: int) -> int:
        return self._sketch.estimate(self._clusters[id])
