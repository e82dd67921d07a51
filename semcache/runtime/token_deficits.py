"""Fair turns among tenants by deficit counters: DLPM and D2LPM (2501.14312, sections 4 and 5).

A party's work is taken off its counter when it is given; while the counter is not positive, others go first; when no
counter of those who want a turn is positive, all get as many quanta as make one so. The engine and the router have
counters of tenants; the router's second ones, of a tenant and a replica each, keep a tenant's locality from taking a
replica for itself.
Knows neither prompts nor replicas: a party is any hashable name. Invariant: among parties that always want a turn, no
two have been given work that differs by more than `quantum + the largest single charge`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

P = TypeVar("P", bound=Hashable)


class TokenDeficits(Generic[P]):
    """Counters of at most `most` parties, in tokens; the one that was charged longest ago is forgotten first."""

    def __init__(self, quantum: float = 65_536.0, *, most: int = 10_000) -> None:
        self._quantum = quantum
        self._most = most
        self._left: OrderedDict[P, float] = OrderedDict()

    def left(self, party: P) -> float:
        """The tokens that a party may still be given before others go first; a new one starts with a quantum."""
        return self._left.get(party, self._quantum)

    def charge(self, party: P, tokens: float) -> None:
        """Take work off a party's counter."""
        self._left[party] = self.left(party) - tokens
        self._left.move_to_end(party)
        if len(self._left) > self._most:
            self._left.popitem(last=False)

    def allowed(self, wanting: Iterable[P]) -> set[P]:
        """Those of `wanting` whose turn it is; never empty unless `wanting` is."""
        parties = set(wanting)
        # More than once only where the sum of a debt and its quanta is rounded to 0.
        while parties and (short := -max(self.left(party) for party in parties)) >= 0:
            quanta = (short // self._quantum + 1) * self._quantum
            for party in parties:
                self._left[party] = self.left(party) + quanta
        return {party for party in parties if self.left(party) > 0}
