"""Upper bounds on the hits of a trace: those of an oracle, and of offline-optimal eviction.

Knows arrivals, and neither vectors nor decisions. Invariant: a bound is never below the number of right hits of any
simulation of the same trace, at that capacity or a smaller one.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Hashable, Sequence

from semcache.simulate.arrivals import Arrival
from semcache.types import Why


def exact_keys(arrivals: Sequence[Arrival]) -> list[Hashable]:
    """The key that exact hits share, for each arrival that may be looked up."""
    return [(one.tenant, one.signature, one.text) for one in arrivals if _cacheable(one)]


def answer_keys(arrivals: Sequence[Arrival]) -> list[Hashable]:
    """The key that right hits of any kind share, for each arrival that may be looked up."""
    return [(one.tenant, one.signature, one.answer) for one in arrivals if _cacheable(one)]


def belady(keys: Sequence[Hashable], capacity: float) -> int:
    """Hits of Belady's policy, which knows the future: evict the entry needed last, be it the newcomer itself.

    `capacity` counts keys, all of one size. Source: Belady, A study of replacement algorithms for a virtual-storage
    computer (IBM Systems Journal 1966), with the freedom not to admit.
    """
    following = [math.inf] * len(keys)
    seen: dict[Hashable, int] = {}
    for place in range(len(keys) - 1, -1, -1):
        following[place] = seen.get(keys[place], math.inf)
        seen[keys[place]] = place
    held: dict[Hashable, float] = {}
    latest: list[tuple[float, int]] = []  # negated place of next use, and the place whose key it is
    hits = 0
    for place, key in enumerate(keys):
        hits += key in held
        held[key] = following[place]
        heapq.heappush(latest, (-following[place], place))
        while len(held) > capacity:
            use, owner = heapq.heappop(latest)
            # Of a key that was used again since, the older row means nothing.
            if held.get(keys[owner]) == -use:
                del held[keys[owner]]
    return hits


def distinct(arrivals: Sequence[Arrival]) -> int:
    """The number of entries that a cache without limits would hold if it served nothing but exact repeats."""
    return len(set(exact_keys(arrivals)))


def _cacheable(arrival: Arrival) -> bool:
    return arrival.refused in (None, Why.EXACT_ONLY)
