"""Least expected cost: how often a cluster is asked times its certain cost, by weight.

Invariant: the memory for clusters that are not held is bounded by the number of those held.
"""

from __future__ import annotations

import math

from semcache.retention.eviction.ranking import Ranking
from semcache.retention.eviction.worth import PLAIN, Worth

_DOUBT = 0.05
_MEMORY = 8
_SMALLEST = 1024


class Lec:
    """`protocols.Eviction` after Zhu et al., "On optimal caching and model multiplexing" (NeurIPS 2023), Algorithm 1.

    The victim has the least count * cost / weight. The cost of a cluster is a lower confidence bound on its mean,
    mean - sd * sqrt(ln(1/doubt) / n), with n its calls and sd the spread of costs within clusters; counts and costs of
    clusters outlive their entries.
    """

    __slots__ = ("_clusters", "_deviations", "_history", "_ranking", "_repeats", "_weights")

    def __init__(self) -> None:
        self._ranking = Ranking()
        self._clusters: dict[int, int] = {}
        self._weights: dict[int, float] = {}
        # By cluster: requests, calls, mean cost of a call.
        self._history: dict[int, tuple[int, int, float]] = {}
        self._deviations = 0.0
        self._repeats = 0

    def insert(self, id: int, weight: float, worth: Worth = PLAIN) -> None:
        """Take an id in."""
        cluster = worth.counted(id)
        requests, calls, mean = self._history.pop(cluster, (0, 0, 0.0))
        fresh = mean + (worth.cost - mean) / (calls + 1)
        if calls:
            self._repeats += 1
            self._deviations += (worth.cost - mean) * (worth.cost - fresh)
        self._history[cluster] = requests + 1, calls + 1, fresh
        self._clusters[id] = cluster
        self._weights[id] = weight if weight > 0 else 1.0
        self._rank(id)
        while len(self._history) > max(_SMALLEST, _MEMORY * len(self._clusters)):
            del self._history[next(iter(self._history))]

    def touch(self, id: int) -> None:
        """Note a use of an id that is tracked."""
        requests, calls, mean = self._history.get(self._clusters[id], (0, 1, 1.0))
        self._history[self._clusters[id]] = requests + 1, calls, mean
        self._rank(id)

    def forget(self, id: int) -> None:
        """Drop a tracked id that is gone."""
        self._ranking.drop(id)
        del self._clusters[id], self._weights[id]

    def __contains__(self, id: object) -> bool:
        return id in self._clusters

    def __len__(self) -> int:
        return len(self._clusters)

    def victim(self) -> int | None:
        """The id to give up next, None without any."""
        return self._ranking.lowest()

    def _rank(self, id: int) -> None:
        requests, calls, mean = self._history[self._clusters[id]]
        spread = math.sqrt(self._deviations / self._repeats) if self._repeats else 0.0
        surely = max(0.0, mean - spread * math.sqrt(math.log(1.0 / _DOUBT) / calls))
        self._ranking.put(id, requests * surely / self._weights[id])
