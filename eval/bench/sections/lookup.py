"""A lookup without its embedding: the cache's `consult` beside the bare graph query, in one process, in turns.

Each size is measured in a process of its own, so that its memory can be read from outside. Texts, keys, categories and
guards are the real ones; vectors are made up and clustered, and the embedder is a dictionary.
"""

from __future__ import annotations

import argparse
import asyncio
import ctypes
import gc
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.bench import filling, machine, prompts
from eval.bench.measure import Check, Row, Section, Series, percentile
from eval.bench.options import Options

SIZES = (1_000, 10_000, 100_000)
FULL = 1_000_000
EF, LINKS, EF_CONSTRUCTION = 64, 16, 100
STAGES = ("key", "embed", "search", "guard")


def measure(folder: Path, options: Options) -> Section:
    """Compare at every size. Raises RuntimeError where one cannot be measured."""
    section = Section("lookup", "Lookup without embedding")
    sizes = SIZES[:2] if options.quick else (*SIZES, FULL) if options.full else SIZES
    for size in sizes:
        command = [sys.executable, "-m", "eval.bench.sections.lookup", "--size", str(size), "--folder", str(folder)]
        command += ["--rounds", str(options.rounds), "--seed", str(options.seed)]
        command += ["--queries", str(300 if options.quick else 1000)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"{size:,} entries were not measured: {done.stderr.strip()[-300:]}")
        _add(section, size, json.loads(done.stdout))
    section.notes += [
        "384 dimensions, clustered; the bare query is hnswlib's knn_query for 8 neighbours with the same M, "
        f"ef_construction and ef={EF}, one thread; below 4,096 entries the cache searches exactly, without a graph",
        "memory an entry: growth of the process from a half full cache to a full one, graphs built, less 1,536 bytes "
        "of vector. It counts card with prompt text, catalogue, quota, shelf and graph links; no answer is in it",
    ]
    return section


def _add(section: Section, size: int, found: dict[str, Any]) -> None:
    def series(name: str, unit: str = "us") -> Series:
        values = found[name]
        return Series(tuple(values) if isinstance(values, list) else (float(values),), unit)

    label = f"{size:,} entries"
    consult, bare = series("consult_p50"), series("bare_p50")
    stages = {f"{stage} p50": series(stage) for stage in STAGES}
    values = {"p50": consult, "p99": series("consult_p99"), **stages, "recall@1": series("recall", "")}
    if found["memory"] is not None:
        values["memory/entry"] = series("memory", "B")
        label_of_memory = f"memory beside vector and answer, {label}"
        section.checks.append(Check(label_of_memory, values["memory/entry"], 1024))
    section.rows.append(Row(f"{label}, cache", values))
    section.rows.append(
        Row(
            f"{label}, hnswlib",
            {"p50": bare, "p99": series("bare_p99"), "recall@1": series("bare_recall", "")},
        )
    )
    section.checks.append(Check(f"p50 beyond the bare query, {label}", consult.less(bare), 200))
    section.about[f"served_{size}"] = found["served"]


class Precomputed:
    """An embedder that knows the vectors of the queries."""

    id, dim, max_tokens = "precomputed/384", filling.DIM, 256

    def __init__(self) -> None:
        self.vectors: dict[str, Any] = {}

    async def embed(self, texts: Sequence[str]) -> Any:
        return self.vectors[texts[0]]

    async def close(self) -> None:
        return None


async def run(size: int, folder: Path, rounds: int, queries: int, seed: int) -> dict[str, Any]:
    """Fill a cache, weigh it, and ask it in turns with a bare graph of the same vectors."""
    import hnswlib
    import numpy as np

    from semcache.agents.library import AsyncSemanticCache
    from semcache.types import Card, Serve

    pack = _roomy(folder)
    cache = await AsyncSemanticCache.open("memory://", policies=str(pack), embedder=f"hashing:{filling.DIM}")
    embedder = Precomputed()
    cache.components.lookup._embedding._embedder = embedder
    placed = _placed(cache)
    number = half = 0
    before = 0
    slices = filling.clustered(size, seed, batch=min(4096, size // 4))
    while number < size:
        matrix = next(slices)
        groups: dict[bytes, list[int]] = {}
        for row, vector in enumerate(matrix):
            text = f"How do I {prompts.task(number + row)}?"
            partition, category, exact = placed(text, vector)
            cache.components.live.add_stored(
                Card(number + row + 1, exact, partition, category, text, time.time(), time.time() + 86400)
            )
            groups.setdefault(partition, []).append(row)
        for partition, rows in groups.items():
            await cache.components.live.index.bulk_add(partition, [number + row + 1 for row in rows], matrix[rows])
        number += len(matrix)
        del vector, matrix
        if not half and number >= size / 2:
            # What is loaded once, whatever the number of entries, is not theirs: the second half is weighed.
            await cache.components.live.index.settle()
            half, before = number, _weigh()
    await cache.components.live.index.settle()
    memory = (_weigh() - before) / (size - half) - 4 * filling.DIM if size > half else None
    everything = np.concatenate(list(filling.clustered(size, seed, batch=min(4096, size // 4))))
    bare = hnswlib.Index(space="ip", dim=filling.DIM)
    bare.init_index(max_elements=size, M=LINKS, ef_construction=EF_CONSTRUCTION, random_seed=100)
    bare.add_items(everything, np.arange(1, size + 1))
    bare.set_ef(EF)
    rng = np.random.default_rng(seed + 1)
    found: dict[str, Any] = {"memory": memory, "served": 0}
    chosen = rng.integers(0, size, rounds * queries)
    asked = filling.near(everything[chosen], seed + 2)
    truth = _nearest(everything, asked[:200])
    wordings = prompts.WORDINGS
    requests = [
        _request(wordings[turn % len(wordings)].format(prompts.task(int(place)))) for turn, place in enumerate(chosen)
    ]
    embedder.vectors = {request.text: vector[None] for request, vector in zip(requests, asked, strict=True)}
    recalled = [0, 0]
    for turn in range(rounds):
        took: dict[str, list[float]] = {name: [] for name in ("consult", "bare", *STAGES)}
        gc.collect()
        for place in range(turn * queries, (turn + 1) * queries):
            started = time.perf_counter()
            lookup = await cache.consult(requests[place], "bench")
            middle = time.perf_counter()
            labels, _ = bare.knn_query(asked[place], k=8, num_threads=1)
            done = time.perf_counter()
            took["consult"].append(middle - started)
            took["bare"].append(done - middle)
            for stage in STAGES:
                took[stage].append(getattr(lookup.timings, stage))
            found["served"] += isinstance(lookup.decision, Serve)
            if place < len(truth):
                recalled[1] += int(labels[0, 0]) == truth[place]
        for name in ("consult", "bare"):
            found.setdefault(f"{name}_p50", []).append(percentile(took[name], 0.5) * 1e6)
            found.setdefault(f"{name}_p99", []).append(percentile(took[name], 0.99) * 1e6)
        for stage in STAGES:
            found.setdefault(stage, []).append(percentile(took[stage], 0.5) * 1e6)
    for place, right in enumerate(truth):
        [*best] = await cache.components.live.index.search(
            placed(requests[place].text, asked[place])[0], asked[place], 1
        )
        recalled[0] += bool(best) and best[0].entry_id == right
    found["recall"], found["bare_recall"] = (count / len(truth) for count in recalled)
    await cache.close()
    return found


def _placed(cache: Any) -> Any:
    """The partition, category and exact digest of a text with a vector, as `consult` would find them."""
    from semcache.request import conversation, keys

    def find(text: str, vector: Any) -> tuple[bytes, str, bytes]:
        request = _request(text)
        categories = cache.components.categorizer
        category = categories.by_rule(request) or categories.near(vector, request.text)[0]
        key = conversation.cache_key(request, cache.salt)
        [partition] = keys.partitions_of(key.signature, [category], cache.components.embedder.id, cache.salt)
        return partition, category, key.exact

    return find


def _request(text: str) -> Any:
    from semcache.dialects import dialects
    from semcache.types import Endpoint

    return dialects()[Endpoint.CHAT].read(prompts.body(text))


def _nearest(everything: Any, asked: Any) -> list[int]:
    import numpy as np

    best: list[int] = []
    for vector in asked:
        best.append(int(np.argmax(np.vecdot(everything, vector))) + 1)
    return best


def _weigh() -> int:
    """Bytes in memory, after everything that can be given back has been."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return machine.resident()


def _roomy(folder: Path) -> Path:
    """The default pack without quotas."""
    from semcache.config.packs import packs_dir

    default = (packs_dir() / "default.yaml").read_text(encoding="utf-8")
    roomy = folder / "roomy.yaml"
    roomy.write_text(re.sub(r"(?m)^( +quota:).*", r"\1 10000000", default), encoding="utf-8")
    return roomy


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    for name in ("size", "rounds", "queries", "seed"):
        arguments.add_argument(f"--{name}", type=int, required=True)
    arguments.add_argument("--folder", type=Path, required=True)
    options = arguments.parse_args()
    with machine.pinned(machine.cores()[0]):
        result = asyncio.run(run(options.size, options.folder, options.rounds, options.queries, options.seed))
    sys.stdout.write(json.dumps(result))
