"""The worth of an entry when it is kept, and the shape of a policy that makes use of it.

Knows no prompt, answer or clock: a policy's present is the newest `created` that it was told of.
Invariant: a policy that is told nothing beyond an id and a weight still works; all entries are then worth the same.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from semcache.protocols import Eviction


@dataclass(frozen=True, slots=True)
class Worth:
    """The facts that a choice of victims may rest on.

    `cost` is what one hit saves: the price of the model call less that of a hit, in any unit that is the same for all
    entries of a quota. `p_serve` is the probability that the next request like the one that brought it in is served by
    it. `created` and `expires` are Unix seconds. `key` names what identical requests have in common and `cluster` what
    requests of the same answer have, both in the same way before and after an eviction. 0 stands for unknown: a cluster
    is then as narrow as the key, and a key as the entry itself, of which nothing is known once it is gone.
    """

    cost: float = 1.0
    key: int = 0
    cluster: int = 0
    p_serve: float = 1.0
    created: float = 0.0
    expires: float = math.inf

    def counted(self, id: int) -> int:
        """The key under which uses are counted: the widest that is known."""
        return self.cluster or self.key or id


PLAIN = Worth()


class Policy(Eviction, Protocol):
    """An `Eviction` that takes an entry's worth."""

    def insert(self, id: int, weight: float, worth: Worth = PLAIN) -> None:
        """Take an id in, with its worth."""
