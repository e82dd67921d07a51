"""Ids ranked by the savings expected of them per weight, from how often they were used lately.

All rates decay alike, so that the order of two ids changes only when one is used. Invariant: the memory for ids that
have left is bounded by the number of those held.
"""

from __future__ import annotations

import math

from semcache.retention.eviction.columns import Rated, Table

_FEW = 64
_MEMORY = 8
_SMALLEST = 2048
_LEAST = 1e-9


class Rates:
    """Value = rate of use * cost * share of life left / weight; `reach` sets how fast rates fade.

    A use adds 1 to a rate, and rates halve every `reach` * (ids held) requests. They are kept as their binary logarithm
    at the last use plus that time in half-lives, so that ids compare without being brought up to date (the idea is that
    of LRFU, Lee et al., IEEE Transactions on Computers 2001). The rate of an id that left is remembered under its key,
    and taken up again when the key returns. Life counts as short when less of it is left than an id is usually held.
    """

    __slots__ = ("_gone", "_passed", "_stay", "_table", "held", "now", "reach")

    def __init__(self, reach: float) -> None:
        self.reach = reach
        self.now = 0.0
        self.held = 0.0
        self._passed = 0.0
        self._stay = 0.0
        self._table = Table()
        self._gone: dict[int, float] = {}

    def tick(self) -> None:
        """A request passes."""
        self._passed += 1.0 / (self.reach * max(_FEW, len(self._table)))

    def enter(self, id: int, rated: Rated, start: float = 1.0) -> None:
        """Take in an id; `start` in [0, 1] is the rate of one whose key is not remembered."""
        self.now = max(self.now, rated.created)
        known = self._gone.pop(rated.key, None)
        level = self._passed + math.log2(max(start, _LEAST)) if known is None else self._more(known)
        self._table.add(id, rated, level, self._above(rated))
        self.held += rated.weight

    def use(self, id: int) -> None:
        """Note a use."""
        table, slot = self._table, self._table.slot(id)
        table.set(slot, self._more(table.level(slot)), self._above(table.rated(slot)) if self._stay > 0.0 else None)

    def rated(self, id: int) -> Rated:
        """The columns by which an id that is held is rated."""
        return self._table.rated(self._table.slot(id))

    def leave(self, id: int, *, evicted: bool) -> None:
        """Drop an id and remember how it fared."""
        slot = self._table.slot(id)
        rated, level = self._table.rated(slot), self._table.level(slot)
        self._table.drop(id)
        self.held = self.held - rated.weight if self._table else 0.0
        if evicted:
            self._stay += (self.now - rated.created - self._stay) / 32.0
        self._gone[rated.key] = max(level, self._gone.pop(rated.key, level))
        while len(self._gone) > max(_SMALLEST, _MEMORY * len(self._table)):
            del self._gone[next(iter(self._gone))]

    def lowest(self) -> int | None:
        """The id of the least value, None when there is none."""
        return self._table.lowest() if self._table else None

    def __contains__(self, id: object) -> bool:
        return id in self._table

    def __len__(self) -> int:
        return len(self._table)

    def _more(self, level: float) -> float:
        high, low = max(level, self._passed), min(level, self._passed)
        return high + math.log2(1.0 + 2.0 ** (low - high))

    def _above(self, rated: Rated) -> float:
        """The binary logarithm of the value, less the level."""
        left = 1.0
        if rated.expires < math.inf and self._stay > 0.0:
            left = min(1.0, (rated.expires - self.now) / self._stay)
        return math.log2(max(rated.cost, _LEAST) / max(rated.weight, _LEAST) * max(left, _LEAST))


_POSITIVE = (1 << 63) - 1  # keys may have 64 bits, ids are signed


class Shadow:
    """A cache of keys alone, to see what another reach would have served. Never holds more than it is allowed."""

    __slots__ = ("_rates",)

    def __init__(self, reach: float) -> None:
        self._rates = Rates(reach)

    def ask(self, rated: Rated, limit: float) -> bool:
        """Return True if a request would have been served; the answer is then held, in a weight of at most `limit`."""
        rates, key = self._rates, rated.key & _POSITIVE
        rates.tick()
        if key in rates:
            rates.use(key)
            return True
        while rates.held + rated.weight > limit and (victim := rates.lowest()) is not None:
            rates.leave(victim, evicted=True)
        if rated.weight <= limit:
            rates.enter(key, rated)
        return False
