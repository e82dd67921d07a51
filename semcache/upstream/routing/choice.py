"""The choice of a replica: matched tokens minus load; prompts that no replica holds are spread.

Knows replicas as numbers. Invariant: a function of its arguments, and equal ones give equal choices in every process.

With `matched` tokens m, load l (tokens that wait to be computed there), both in tokens, a replica's score is
`overlap * m - l`. At `overlap` 1 that is least tokens before the first token; what is above 1 prices in that a prefix
computed twice also takes room and time from others (Dynamo's overlap credit, Preble's exploit cost 2407.00023).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Literal

RoutingReason = Literal["only", "prefix", "session", "spread", "hash"]


@dataclass(frozen=True, slots=True)
class ReplicaView:
    """A replica at one moment, for one prompt; everything but the flags is in tokens.

    `placed` is what was newly computed there lately; `home` says that the prompt's session was there last; `owing`
    that the tenant has had its turn on this busy replica (see `runtime.token_deficits`).
    """

    name: str
    matched: float
    load: float
    placed: float
    home: bool = False
    owing: bool = False


@dataclass(frozen=True, slots=True)
class RoutingWeights:
    """The weights of a choice: `overlap` tokens of waiting are accepted for each matched token.

    Having fewer than `least_gain` tokens, or less than `least_share` of the prompt, more than some other replica is no
    reason to go there: a system prompt that all share would draw everything to the replica that saw it first.
    """

    overlap: float = 32.0
    least_gain: int = 256
    least_share: float = 0.05

    def matters(self, gain: float, tokens: float) -> bool:
        """Return True if `gain` tokens more than elsewhere count, of a prompt of `tokens`."""
        return gain >= max(self.least_gain, self.least_share * tokens)


def choose(
    views: Sequence[ReplicaView], tokens: float, weights: RoutingWeights, name: bytes
) -> tuple[ReplicaView, RoutingReason]:
    """Choose among `views`, of which there is at least one, for a prompt of `tokens` tokens.

    `name` names the prompt where replicas are equal.
    """
    if len(views) == 1:
        return views[0], "only"
    open_to = [view for view in views if not view.owing] or views
    gain = max(view.matched for view in open_to) - min(view.matched for view in views)
    if weights.matters(gain, tokens):
        return max(open_to, key=lambda v: (weights.overlap * v.matched - v.load, v.home, rank(name, v.name))), "prefix"
    home = next((view for view in open_to if view.home), None)
    if home is not None:
        return home, "session"
    return min(open_to, key=lambda v: (v.load + v.placed, -rank(name, v.name))), "spread"


def rank(name: bytes, replica: str) -> int:
    """Rendezvous hashing (Thaler & Ravishankar 1998): the replica of the highest rank is the prompt's own.

    When a replica leaves, only its prompts move.
    """
    return int.from_bytes(blake2b(name + b"\0" + replica.encode(), digest_size=8).digest(), "big")
