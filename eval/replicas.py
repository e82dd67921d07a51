"""Simulated replicas behind a router, in virtual time: where each request of a trace goes and what it finds there.

A replica computes one prompt after the other at a fixed rate, decodes any number beside it, and keeps blocks by
leaf-LRU with pinning. The router's side is the real one: `PromptTree`, `choose` and `TokenDeficits` of `semcache`, with
`WaitingLine`'s order; the baselines are written from their descriptions. Knows no tokens, only block ids.
Invariant: a run is a function of its arguments; every policy gets the same arrivals.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from eval.prefix_caches import BLOCK, TOKEN_SECONDS, Arrival, Lru
from semcache.runtime.token_deficits import TokenDeficits
from semcache.upstream.routing.choice import ReplicaView, RoutingWeights, choose, rank
from semcache.upstream.routing.tree import PromptTree

Policy = Literal["round-robin", "random", "least-load", "hash", "cache-aware", "semcache", "semcache+events"]
POLICIES: tuple[Policy, ...] = (
    "round-robin",
    "random",
    "least-load",
    "hash",
    "cache-aware",
    "semcache",
    "semcache+events",
)
Order = Literal["fcfs", "lpm", "deficit"]
_HALF_LIFE = 60.0
_RUNNING_TOKENS = 128
_IN_LINE = 16


@dataclass(slots=True, eq=False)
class Job:
    """A request under way. `found` is the tokens it did not have to compute, `first` when its first token came."""

    arrival: Arrival
    tenant: str
    keys: list[bytes]
    found: int = 0
    first: float = 0.0
    fresh: float = 0.0
    at: str = ""


@dataclass(slots=True, eq=False)
class Server:
    """One replica, and what the router knows of it."""

    name: str
    cache: Lru
    rate: float
    tree: PromptTree
    queue: deque[Job] = field(default_factory=deque)
    busy: bool = False
    waiting: float = 0.0
    running: int = 0
    placed: float = 0.0
    placed_at: float = 0.0

    @property
    def load(self) -> float:
        return self.waiting + _RUNNING_TOKENS * self.running

    def place(self, now: float, tokens: float = 0.0) -> float:
        self.placed = self.placed * 2 ** ((self.placed_at - now) / _HALF_LIFE) + tokens
        self.placed_at = now
        return self.placed


@dataclass(frozen=True, slots=True)
class Run:
    """The figures of the requests from a moment on.

    Share of prompt tokens found; tokens computed by the busiest replica against the mean; seconds to the first token
    (all, and by tenant); and of all requests when they were sent on, whose they were and the tokens that had to be
    computed and decoded for them.
    """

    share: float
    imbalance: float
    p50: float
    p95: float
    seconds: float
    given: Sequence[tuple[float, str, float]]
    first: dict[str, list[float]]


def key_of(block: int) -> bytes:
    """A block id as the router names blocks."""
    return block.to_bytes(16, "big")


class Simulation:
    """Replicas, a router and a clock."""

    def __init__(
        self,
        replicas: int,
        capacity: float,
        rate: float,
        policy: Policy,
        *,
        weights: RoutingWeights | None = None,
        max_running: int | None = None,
        order: Order = "deficit",
        quantum: float = 65_536.0,
        seed: int = 0,
    ) -> None:
        self.servers = [
            Server(f"replica-{number}", Lru(capacity), rate, PromptTree(10_000_000)) for number in range(replicas)
        ]
        self._policy, self._weights = policy, weights or RoutingWeights()
        self._most, self._order = max_running, order
        self._turns: TokenDeficits[str] = TokenDeficits(quantum)
        self._places: TokenDeficits[tuple[str, str]] = TokenDeficits(quantum)
        self._rng = random.Random(seed)
        self._turn = 0
        self._events: list[tuple[float, int, str, object]] = []
        self._number = 0
        self._line: list[Job] = []
        self._leads: dict[bytes, Job] = {}
        self._held: dict[int, list[Job]] = {}
        self._given: list[tuple[float, str, float]] = []

    def run(self, arrivals: Sequence[tuple[Arrival, str]], *, counted: float = 0.0) -> Run:
        """Serve them all. Each comes with its tenant; those that arrive before `counted` seconds are not counted."""
        jobs = [Job(arrival, tenant, [key_of(block) for block in arrival.blocks]) for arrival, tenant in arrivals]
        for job in jobs:
            self._at(job.arrival.at, "arrive", job)
        now = 0.0
        while self._events:
            now, _, what, about = heapq.heappop(self._events)
            getattr(self, f"_{what}")(now, about)
        jobs = [job for job in jobs if job.arrival.at >= counted]
        firsts = sorted(job.first - job.arrival.at for job in jobs)
        first: dict[str, list[float]] = {}
        for job in jobs:
            first.setdefault(job.tenant, []).append(job.first - job.arrival.at)
        computed = [
            sum(job.arrival.tokens - job.found for job in jobs if job.at == server.name) for server in self.servers
        ]
        return Run(
            sum(job.found for job in jobs) / sum(job.arrival.tokens for job in jobs),
            max(computed) / (sum(computed) / len(computed)),
            firsts[len(firsts) // 2],
            firsts[int(len(firsts) * 0.95)],
            now,
            self._given,
            first,
        )

    def _at(self, time: float, what: str, about: object) -> None:
        self._number += 1
        heapq.heappush(self._events, (time, self._number, what, about))

    def _arrive(self, now: float, job: Job) -> None:
        lead = self._lead(now, job) if self._policy.startswith("semcache") else None
        if lead is not None:
            self._held.setdefault(id(lead), []).append(job)
        else:
            self._line.append(job)
            self._call_up(now)

    def _lead(self, now: float, job: Job) -> Job | None:
        depth, lead = 0, None
        for at, key in enumerate(job.keys, 1):
            if key in self._leads:
                depth, lead = at, self._leads[key]
        warm = max(server.tree.match(job.keys, now, confirmed=True).blocks for server in self.servers)
        return lead if self._weights.matters((depth - warm) * BLOCK, job.arrival.tokens) else None

    def _call_up(self, now: float) -> None:
        while self._line:
            room = [server for server in self.servers if self._most is None or server.running < self._most]
            if not room:
                return
            job = self._line.pop(self._next(now))
            self._send(now, self._choose(now, job, room), job)

    def _next(self, now: float) -> int:
        if self._order == "fcfs" or len(self._line) == 1:
            return 0
        count: Counter[str] = Counter()
        front: list[int] = []
        for number, job in enumerate(self._line):
            count[job.tenant] += 1
            if count[job.tenant] <= _IN_LINE:
                front.append(number)
        if self._order == "deficit":
            allowed = self._turns.allowed(self._line[number].tenant for number in front)
            front = [number for number in front if self._line[number].tenant in allowed]
        return max(front, key=lambda number: (self._warm(now, self._line[number]), -number))

    def _warm(self, now: float, job: Job) -> int:
        return max(server.tree.match(job.keys, now).blocks for server in self.servers)

    def _choose(self, now: float, job: Job, room: list[Server]) -> Server:
        name = b"".join(job.keys[:2])
        match self._policy:
            case "round-robin":
                self._turn += 1
                return room[self._turn % len(room)]
            case "random":
                return self._rng.choice(room)
            case "least-load":
                return min(room, key=lambda server: server.load)
            case "hash":
                return max(room, key=lambda server: rank(name, server.name))
            case "cache-aware":
                return self._cache_aware(now, job, room)
        allowed = self._places.allowed((job.tenant, server.name) for server in room)
        views = [
            ReplicaView(
                server.name,
                min(server.tree.match(job.keys, now).credit * BLOCK, job.arrival.tokens),
                server.load,
                server.place(now),
                owing=(job.tenant, server.name) not in allowed
                and any(other.tenant != job.tenant for other in server.queue),
            )
            for server in room
        ]
        chosen, _ = choose(views, job.arrival.tokens, self._weights, name)
        return next(server for server in room if server.name == chosen.name)

    def _cache_aware(self, now: float, job: Job, room: list[Server]) -> Server:
        """SGLang's and vLLM's router of that name, with its defaults: shortest queue when out of balance, else the
        longest match if it is over 0.3 of the prompt, else the smallest tree."""
        loads = [server.running for server in room]
        if max(loads) - min(loads) > 64 and max(loads) > 1.5 * min(loads):
            return min(room, key=lambda server: server.running)
        best = max(room, key=lambda server: server.tree.match(job.keys, now)[0])
        if best.tree.match(job.keys, now)[0] > 0.3 * len(job.keys):
            return best
        return min(room, key=lambda server: len(server.tree))

    def _send(self, now: float, server: Server, job: Job) -> None:
        matched = min(server.tree.match(job.keys, now)[0] * BLOCK, job.arrival.tokens)
        job.fresh = job.arrival.tokens - matched
        unseen = job.keys[matched // BLOCK :]
        for key in unseen:
            self._leads.setdefault(key, job)
        self._turns.charge(job.tenant, job.fresh)
        self._places.charge((job.tenant, server.name), job.fresh)
        self._given.append((now, job.tenant, job.fresh + job.arrival.output))
        server.waiting += job.fresh
        server.running += 1
        server.place(now, job.fresh)
        server.tree.expect(job.keys, now + 120.0)
        server.queue.append(job)
        if not server.busy:
            self._prefill(now, server)

    def _prefill(self, now: float, server: Server) -> None:
        job = server.queue[0]
        server.busy = True
        job.found = job.arrival.saved(server.cache.match(job.arrival.blocks))
        server.cache.pin(job.arrival.blocks)
        self._at(now + (job.arrival.tokens - job.found) / server.rate, "computed", server)

    def _computed(self, now: float, server: Server) -> None:
        job = server.queue.popleft()
        job.first, job.at = now, server.name
        server.waiting -= job.fresh
        gone = server.cache.use(job.arrival.blocks)
        server.tree.confirm(job.keys)
        if self._policy == "semcache+events":
            server.tree.remove([key_of(block) for block in gone])
        for key in job.keys:
            if self._leads.get(key) is job:
                del self._leads[key]
        self._at(now + job.arrival.output * TOKEN_SECONDS, "finish", (server, job))
        for waiting in self._held.pop(id(job), []):
            self._arrive(now, waiting)
        server.busy = False
        if server.queue:
            self._prefill(now, server)

    def _finish(self, now: float, about: tuple[Server, Job]) -> None:
        server, job = about
        server.running -= 1
        server.cache.unpin(job.arrival.blocks)
        self._turns.charge(job.tenant, job.arrival.output)
        self._call_up(now)
