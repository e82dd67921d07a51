"""The cost of each query by model, learned by asking: lower confidence bounds, and the cheapest model by them.

Pure. Invariant: an entry is never worth more than what a miss would cost, and a cost that is not known yet is taken to
be as low as what is known allows.

This is the coupling of Zhu et al., "On optimal caching and model multiplexing" (2306.02003, section 4): the cache gives
up the least P(query) * min over models of its cost, and costs are lower confidence bounds, mean - sqrt(ln(1/delta)/2n)
* range (their Algorithms 1 and 2).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)


class QueryCosts(Generic[Key]):
    """The costs of `models` models for each query, learned by asking. `most` is the range of costs.

    For queries that come again: what is known of one tells nothing of another.
    """

    def __init__(self, models: int, most: float, *, doubt: float = 0.1, deviation: float | None = None) -> None:
        self._models, self._spread = models, most if deviation is None else deviation
        self._log = math.log(1.0 / doubt)
        self._known: dict[Key, list[tuple[int, float]]] = {}

    def learn(self, query: Key, model: int, cost: float) -> None:
        """Take what it cost to have a model answer."""
        known = self._known.setdefault(query, [(0, 0.0)] * self._models)
        count, mean = known[model]
        known[model] = count + 1, mean + (cost - mean) / (count + 1)

    def bounds(self, query: Key) -> Sequence[float]:
        """Lower confidence bounds of the costs, 0 for what was never tried."""
        known = self._known.get(query, [(0, 0.0)] * self._models)
        return [
            max(0.0, mean - self._spread * math.sqrt(self._log / (2 * count))) if count else 0.0
            for count, mean in known
        ]

    def cheapest(self, query: Key) -> int:
        """The model to ask: that of the lowest bound, the first among equals."""
        bounds = self.bounds(query)
        return min(range(self._models), key=bounds.__getitem__)

    def worth(self, query: Key) -> float:
        """The least that a miss is sure to cost: the lowest bound, 0 as long as a model was not tried."""
        return min(self.bounds(query))
