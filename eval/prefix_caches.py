"""Prefix caches of one replica by trace: how many prompt tokens each eviction policy saves at a capacity.

A prompt is a chain of blocks; what counts is the beginning that is held. Knows block ids, no tokens but their number.
Invariant: every policy sees the same requests, holds at most `capacity` blocks, and pins what is in flight where it
says so. The bound is Belady's MIN with bypass: as a block's next use is never after that of the blocks behind it, MIN
(ties: the deeper block goes) keeps whole prefixes, so no policy, not even one that knows the future, finds more blocks.
"""

from __future__ import annotations

import gzip
import heapq
import json
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

BLOCK = 512
PREFILL_RATE = 25_000.0
TOKEN_SECONDS = 0.025
_ATTENTION = 1 / 64  # at 64 blocks (32,768 tokens) attention costs as much as the rest (an 8B model's shape)


@dataclass(frozen=True, slots=True)
class Arrival:
    """One request of a trace: seconds since its start, lengths in tokens, and its blocks."""

    at: float
    tokens: int
    output: int
    blocks: tuple[int, ...]

    @property
    def seconds(self) -> float:
        """How long it is in flight on a replica of `PREFILL_RATE` tokens a second, all of it computed."""
        return self.tokens / PREFILL_RATE + self.output * TOKEN_SECONDS

    def saved(self, held: int) -> int:
        """Tokens of the first `held` blocks; the last block is shorter than the others."""
        return min(held * BLOCK, self.tokens)


def read_trace(path: Path) -> list[Arrival]:
    """A trace of Mooncake: JSON lines with timestamp (ms), input_length, output_length, hash_ids."""
    with gzip.open(path, "rt") as lines:
        rows = [json.loads(line) for line in lines]
    return [
        Arrival(row["timestamp"] / 1e3, row["input_length"], row["output_length"], tuple(row["hash_ids"]))
        for row in rows
    ]


class Lru:
    """Least recently used block first. With `leaves`, a chain is touched from its end, so that ends go before
    beginnings; with `pinning`, what is in flight stays."""

    def __init__(self, capacity: float, *, leaves: bool = True, pinning: bool = True) -> None:
        self.capacity, self._leaves, self._pinning = capacity, leaves, pinning
        self.held: OrderedDict[int, None] = OrderedDict()
        self._pins: Counter[int] = Counter()

    def match(self, blocks: Sequence[int]) -> int:
        """How many leading blocks are held."""
        return next((at for at, block in enumerate(blocks) if block not in self.held), len(blocks))

    def use(self, blocks: Sequence[int]) -> list[int]:
        """Hold these blocks as far as there is room; returns what went for them."""
        for block in reversed(blocks) if self._leaves else blocks:
            self.held[block] = None
            self.held.move_to_end(block)
        gone: list[int] = []
        if len(self.held) > self.capacity:
            need = len(self.held) - int(self.capacity)
            gone = list(islice((block for block in self.held if not self._pins[block]), need))
            # Where more is in flight than fits, pins give way.
            gone += list(islice((block for block in self.held if self._pins[block]), need - len(gone)))
            for block in gone:
                del self.held[block]
        return gone

    def pin(self, blocks: Sequence[int]) -> None:
        """These are in flight."""
        if self._pinning:
            self._pins.update(blocks)

    def unpin(self, blocks: Sequence[int]) -> None:
        """They no longer are."""
        if self._pinning:
            self._pins.subtract(blocks)


class CostAware:
    """Greedy dual by recomputation cost and frequency, leaves first (RAGCache's PGDSF, 2404.12457 section 5.1)."""

    def __init__(self, capacity: float) -> None:
        self.capacity = capacity
        self.held: dict[int, tuple[float, int, int]] = {}  # block: priority, parent, depth
        self._children: Counter[int] = Counter()
        self._uses: Counter[int] = Counter()
        self._leaves: list[tuple[float, int]] = []
        self._age = 0.0
        self._pins: Counter[int] = Counter()

    def match(self, blocks: Sequence[int]) -> int:
        return next((at for at, block in enumerate(blocks) if block not in self.held), len(blocks))

    def use(self, blocks: Sequence[int]) -> None:
        parent = -1
        for depth, block in enumerate(blocks):
            self._uses[block] += 1
            if block not in self.held:
                self._children[parent] += 1
            priority = self._age + self._uses[block] * (1 + depth * _ATTENTION)
            self.held[block] = (priority, parent, depth)
            heapq.heappush(self._leaves, (priority, block))
            parent = block
        self._shrink(spare_pins=True)
        # Where more is in flight than fits, pins give way.
        self._shrink(spare_pins=False)

    def _shrink(self, *, spare_pins: bool) -> None:
        spared = []
        while len(self.held) > self.capacity and self._leaves:
            priority, block = heapq.heappop(self._leaves)
            if block not in self.held or self.held[block][0] != priority or self._children[block]:
                continue  # an older priority, or a parent: it is pushed again when its last child goes
            if spare_pins and self._pins[block]:
                spared.append((priority, block))
                continue
            self._age = max(self._age, priority)
            _, parent, _ = self.held.pop(block)
            self._children[parent] -= 1
            if parent in self.held:
                heapq.heappush(self._leaves, (self.held[parent][0], parent))
        for item in spared:
            heapq.heappush(self._leaves, item)

    def pin(self, blocks: Sequence[int]) -> None:
        self._pins.update(blocks)

    def unpin(self, blocks: Sequence[int]) -> None:
        self._pins.subtract(blocks)


POLICIES: dict[str, Callable[[float], Lru | CostAware]] = {
    "leaf-LRU, pinned": Lru,
    "leaf-LRU": lambda capacity: Lru(capacity, pinning=False),
    "LRU": lambda capacity: Lru(capacity, leaves=False, pinning=False),
    "cost-aware": CostAware,
}


def share(trace: Sequence[Arrival], cache: Lru | CostAware, *, counted: float = 0.0) -> float:
    """Share of prompt tokens found held, of the requests from `counted` seconds on."""
    flying: list[tuple[float, int, tuple[int, ...]]] = []
    saved = 0
    for number, arrival in enumerate(trace):
        while flying and flying[0][0] <= arrival.at:
            cache.unpin(heapq.heappop(flying)[2])
        if arrival.at >= counted:
            saved += arrival.saved(cache.match(arrival.blocks))
        cache.pin(arrival.blocks)
        heapq.heappush(flying, (arrival.at + arrival.seconds, number, arrival.blocks))
        cache.use(arrival.blocks)
    return saved / sum(arrival.tokens for arrival in trace if arrival.at >= counted)


def bound(trace: Sequence[Arrival], capacity: float) -> float:
    """Share of prompt tokens that a cache finds which knows the future."""
    following = _next_uses(trace)
    held: dict[int, int] = {}
    queue: list[tuple[int, int, int]] = []
    saved = 0
    for arrival, uses in zip(trace, following, strict=True):
        saved += arrival.saved(next((i for i, b in enumerate(arrival.blocks) if b not in held), len(arrival.blocks)))
        for depth, (block, use) in enumerate(zip(arrival.blocks, uses, strict=True)):
            held[block] = use
            heapq.heappush(queue, (-use, -depth, block))
        while len(held) > capacity or (queue and -queue[0][0] >= len(trace)):
            use, _, block = heapq.heappop(queue)
            if held.get(block) == -use:
                del held[block]
    return saved / sum(arrival.tokens for arrival in trace)


def _next_uses(trace: Sequence[Arrival]) -> list[list[int]]:
    """For every block of every request, the number of the next request with it; the length of the trace for none."""

    def backwards() -> Iterator[list[int]]:
        seen: dict[int, int] = {}
        for number in range(len(trace) - 1, -1, -1):
            blocks = trace[number].blocks
            yield [seen.get(block, len(trace)) for block in blocks]
            seen.update(dict.fromkeys(blocks, number))

    return list(backwards())[::-1]
