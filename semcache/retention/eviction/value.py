"""The default policy: evicts the entry of least expected savings by weight, with a memory length that is learned.

Invariant: the victim is the id of the least value by the rates in use, which are those of one of `REACHES`.
"""

from __future__ import annotations

import math

from semcache.retention.eviction.columns import Rated
from semcache.retention.eviction.rates import Rates, Shadow
from semcache.retention.eviction.sketch import spread
from semcache.retention.eviction.worth import PLAIN, Worth

REACHES = (1.0, 30.0, 300.0)
_START = 1
_SHADOWED = 2048
_FADES = 20.0
_SURE = 2.0


class ValueEviction:
    """`protocols.Eviction` by rate of use * cost saved * share of life left / weight (see `Rates`).

    How often a cluster is asked times P(an entry serves it) is the rate at which that entry is used, so uses of
    the entry are what is counted; a newcomer starts at its P(serve), one that returns with the rate it left with. How
    fast rates fade decides between frequency and recency, and no pace is best for all traffic: shadow caches of keys
    try three, on a sample of keys where there are many, and the one in use gives way to another as soon as what
    that one would have saved more, over the requests on which they differ, exceeds two standard errors.
    """

    __slots__ = ("_arm", "_evicting", "_gains", "_limit", "_rates", "_shadows", "_squares", "_victim")

    def __init__(self) -> None:
        self._arm = _START
        self._rates = Rates(REACHES[_START])
        self._victim: int | None = None
        self._limit = math.inf
        self._evicting = False
        self._shadows = [Shadow(reach) for reach in REACHES]
        self._gains = [0.0] * len(REACHES)
        self._squares = [0.0] * len(REACHES)

    def insert(self, id: int, weight: float, worth: Worth = PLAIN) -> None:
        """Take an id in."""
        rated = Rated(worth.key or worth.counted(id), weight, worth.cost, worth.created, worth.expires)
        self._evicting = False
        self._rates.tick()
        self._rates.enter(id, rated, min(1.0, worth.p_serve))
        if self._limit < math.inf:
            self._compare(rated)

    def touch(self, id: int) -> None:
        """Note a use of an id that is tracked."""
        self._rates.tick()
        self._rates.use(id)
        if self._limit < math.inf:
            self._compare(self._rates.rated(id))

    def forget(self, id: int) -> None:
        """Drop a tracked id that is gone."""
        self._rates.leave(id, evicted=id == self._victim)

    def __contains__(self, id: object) -> bool:
        return id in self._rates

    def __len__(self) -> int:
        return len(self._rates)

    def victim(self) -> int | None:
        """The id to give up next, None without any."""
        if not self._evicting:
            # Victims are asked for when the owner is full: what is held now is what the shadows may hold.
            self._limit, self._evicting = self._rates.held, True
        self._victim = self._rates.lowest()
        return self._victim

    def _compare(self, rated: Rated) -> None:
        """Feed a request to the shadows, and take another memory length if one of them does surely better."""
        one_in = 1 << max(0, (len(self._rates) - 1) // _SHADOWED).bit_length()
        if spread(rated.key)[0] % one_in:
            return
        hits = [shadow.ask(rated, self._limit / one_in) for shadow in self._shadows]
        fade = 0.5 ** (1.0 / (_FADES * max(64, min(len(self._rates), _SHADOWED))))
        for arm, hit in enumerate(hits):
            gain = rated.cost * (hit - hits[self._arm])
            self._gains[arm] = self._gains[arm] * fade + gain
            self._squares[arm] = self._squares[arm] * fade + gain * gain
        leads = [gain - _SURE * math.sqrt(square) for gain, square in zip(self._gains, self._squares, strict=True)]
        best = max(range(len(leads)), key=leads.__getitem__)
        if leads[best] > 0.0:
            self._arm = best
            self._rates.reach = REACHES[best]
            self._gains = [0.0] * len(REACHES)
            self._squares = [0.0] * len(REACHES)
