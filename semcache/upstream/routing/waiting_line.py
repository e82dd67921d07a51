"""The line of requests that wait for a replica with room, and whose turn is next.

Knows tenants, their deficits and what is warm where; not how a replica is chosen. Invariants: the next request is one
of a tenant whose turn it is (see `runtime.token_deficits`), of those that are compared the one with the longest warm
prefix, then the oldest; and finding it compares a bounded number of requests, however long the line is.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice

from semcache.runtime.token_deficits import TokenDeficits
from semcache.upstream.routing.attempt import Attempt
from semcache.upstream.routing.prompts import BlockChain, RoutedPrompt
from semcache.upstream.routing.replica import Replica
from semcache.upstream.routing.tree import HeldPrefix

_OF_A_TENANT = 16  # of a tenant's waiting requests, how many are compared
_COMPARED = 64  # about how many are compared at a time, beside the oldest

Tried = frozenset[str]


@dataclass(slots=True, eq=False)
class QueuedRequest:
    """A request that waits for a replica with room. `granted` gets its attempt, or the reason why there is none."""

    prompt: RoutedPrompt
    tried: Tried
    arrived: float
    granted: asyncio.Future[Attempt]
    held: dict[str, tuple[BlockChain, HeldPrefix]] = field(default_factory=dict)  # by replica, when last looked up

    def matched(self, replicas: Sequence[Replica], now: float) -> float:
        """Tokens of the prompt that are warm at the replica that has most of it."""
        most = 0.0
        for replica in replicas:
            chain = replica.chain(self.prompt)
            known = self.held.get(replica.name)
            if known is not None and known[0] is chain:
                prefix = replica.tree.match_again(chain.keys, known[1], now)
            else:
                prefix = replica.tree.match(chain.keys, now)
            self.held[replica.name] = chain, prefix
            most = max(most, prefix.credit * chain.unit_tokens)
        return most


_Lane = OrderedDict[str, dict[QueuedRequest, None]]  # by tenant


class WaitingLine:
    """Requests in line for `replicas`, where tenants take turns by `deficits`."""

    def __init__(self, replicas: Sequence[Replica], deficits: TokenDeficits[str]) -> None:
        self._replicas, self._deficits = replicas, deficits
        # By the replicas that were tried in vain; in each, tenants that were served last are first: they are warm.
        self._lanes: dict[Tried, _Lane] = {}

    def __bool__(self) -> bool:
        return bool(self._lanes)

    def __iter__(self) -> Iterator[QueuedRequest]:
        return (one for lane in self._lanes.values() for waiting in lane.values() for one in waiting)

    def append(self, request: QueuedRequest) -> None:
        """Add a request at the end."""
        self._lanes.setdefault(request.tried, OrderedDict()).setdefault(request.prompt.tenant, {})[request] = None

    def remove(self, request: QueuedRequest) -> None:
        """Take a request out, unless it has gone already."""
        lane = self._lanes.get(request.tried, OrderedDict())
        waiting = lane.get(request.prompt.tenant, {})
        if request not in waiting:
            return
        del waiting[request]
        if waiting:
            lane.move_to_end(request.prompt.tenant, last=False)
        else:
            del lane[request.prompt.tenant]
        if not lane:
            del self._lanes[request.tried]

    def clear(self) -> None:
        """Take all out."""
        self._lanes.clear()

    def next(self, room: Callable[[Tried], object], now: float) -> QueuedRequest | None:
        """The request whose turn it is, of those for which there is `room` at a replica that they have not tried."""
        lanes = [lane for tried, lane in self._lanes.items() if room(tried)]
        near = self._near(lanes)
        if not near and lanes:
            self._deficits.allowed(tenant for lane in lanes for tenant in lane)  # gives each a quantum
            near = self._near(lanes)
        return max(near, key=lambda one: (one.matched(self._replicas, now), -one.arrived), default=None)

    def _near(self, lanes: Sequence[_Lane]) -> list[QueuedRequest]:
        near: list[QueuedRequest] = []
        for lane in lanes:
            in_turn = (waiting for tenant, waiting in lane.items() if self._deficits.left(tenant) > 0)
            most = len(near) + _COMPARED
            for waiting in in_turn:
                near += islice((one for one in waiting if not one.granted.done()), _OF_A_TENANT)
                if len(near) >= most:
                    break
            heads = (one for waiting in in_turn if not (one := next(iter(waiting))).granted.done())
            oldest = min(heads, key=lambda one: one.arrived, default=None)
            if oldest is not None:
                near.append(oldest)
        return near
