"""Evictions of the engine's prefix tree: leaf-LRU and cost-aware replacement on lists of documents and on a trace.

The tree is the engine's, over page numbers without a model. Knows requests as chains of blocks. Invariant: both
policies see the same requests; the bound is that of `prefix_caches.bound`, which knows the future.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path

from eval.engine_asking import Json, spread
from eval.prefix_caches import BLOCK, Arrival, bound, read_trace
from semcache.engine.page_pool import PagePool
from semcache.engine.prefix_tree import PrefixTree, Worth, cost_aware, uniform

TRACE = Path(__file__).parents[1].parent / "shared" / "data" / "mooncake_traces" / "conversation_trace.jsonl.gz"
Chain = tuple[int, ...]  # a request's blocks; a block's number stands for itself and all before it
_SLOPE = 1 / 32_768  # at so many tokens attention costs as much as the rest (an 8B model's shape)
_DOCUMENTS, _REQUESTS = 1_000, 4_000


def retrievals(seed: int) -> list[Chain]:
    """Requests over a collection of documents of 13 blocks of 32 tokens (median; log-normal, sigma 0.6), drawn by
    Zipf's law: a system prompt of four blocks, two documents in order, and a question of one block that is new."""
    rng = random.Random(seed)
    sizes = [max(1, round(rng.lognormvariate(2.5, 0.6))) for _ in range(_DOCUMENTS)]
    popularity = [1 / rank for rank in range(1, _DOCUMENTS + 1)]
    numbers: dict[object, int] = {}
    chains = []
    for request in range(_REQUESTS):
        path: tuple[int, ...] = ()
        blocks: list[object] = [("system", at) for at in range(4)]
        while len(path) < 2:
            (document,) = rng.choices(range(_DOCUMENTS), popularity)
            if document not in path:
                path = (*path, document)
                blocks += [(path, at) for at in range(sizes[document])]
        blocks.append(("question", request))
        chains.append(tuple(numbers.setdefault(block, len(numbers)) for block in blocks))
    return chains


def found(chains: Sequence[Chain], capacity: int, worth: Worth) -> float:
    """The share of all blocks that a tree of `capacity` pages holds when they are wanted, one request at a time."""
    pool = PagePool(capacity)
    tree = PrefixTree(pool, worth)
    hits = 0
    for blocks in chains:
        keys = [block.to_bytes(16, "big") for block in blocks]
        chain = tree.match(keys, blocks)
        hits += len(chain)
        tree.hit(chain)
        for block in chain:
            pool.share(block.page)
        for at in range(len(chain), len(keys)):
            while (page := pool.take()) is None and (victim := tree.victim()) is not None:
                tree.remove(victim)
            if page is None:  # a request longer than the cache
                break
            added = tree.add(keys[at], b"", chain[-1] if chain else None, [blocks[at]], page)
            assert added is not None
            chain.append(added)
        for block in chain:
            pool.drop(block.page)
        tree.release(chain)
    return hits / sum(map(len, chains))


def eviction(folder: Path, rounds: int) -> Json:
    """Eviction: share of the prompt tokens that are found, by capacity"""
    del folder
    rows, better = [], []
    traces = [("documents", [retrievals(seed) for seed in range(1, rounds + 1)], 32, (200, 500, 1_000, 2_000, 5_000))]
    notes = [f"documents: {retrievals.__doc__}".replace("\n   ", "")]
    if TRACE.is_file():
        conversations = [arrival.blocks for arrival in read_trace(TRACE)]
        traces.append(("conversations", [conversations], BLOCK, (1_000, 3_000, 10_000, 30_000, 100_000)))
        notes.append("conversations: Mooncake's trace of 9,023 requests, blocks of 512 tokens")
    for name, runs, block, capacities in traces:
        for capacity in capacities:
            shares = [[found(run, capacity, worth) for run in runs] for worth in (uniform, cost_aware(block * _SLOPE))]
            better += [cost > recent for recent, cost in zip(*shares, strict=True)] if name == "documents" else []
            shares.append([bound([Arrival(0.0, BLOCK * len(run), 0, run) for run in one], capacity) for one in runs])
            rows.append([name, f"{capacity:,}", *(spread(values, " %", 100) for values in shares)])
    notes.append(f"documents: cost-aware found more in {sum(better)} of {len(better)} cases (seeds 1 to {rounds})")
    return {"columns": ["requests", "blocks", "leaf-LRU", "cost-aware", "offline bound"], "rows": rows, "notes": notes}
