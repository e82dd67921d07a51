"""Compare eviction policies: `python -m eval.eviction [--quick] [--seeds N] [--results DIR]`.

Prompts of clinc150, banking77 and QQP with Zipf repetition, and the Mooncake and Azure traces, at 1 to 50% of what is
asked for; then a step overload with and without a stretched error target. What is reported was chosen on other classes,
other seeds and the first halves of the traces. Writes eviction.md, eviction.json and, where matplotlib is installed,
eviction.png.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from eval import overload
from eval.eviction_workloads import DATA, TEXTS, Workload, azure, mooncake, texts, vectors_of, zipf
from semcache.retention.eviction import POLICIES, Policy, Worth

CAPACITIES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
COUNT_CLUSTERS = ("s3-fifo", "w-tinylfu", "lec")
BLOCKS = 20
HALF = 1
RESULTS = Path(__file__).parent / "results"


@dataclass(frozen=True, slots=True)
class Row:
    """One workload at one capacity: the share of cost that each policy saved, and a bound on any policy's.

    `lead` is how much the default saves beyond the best of the others, with a 95% interval (bootstrap over blocks
    of the streams).
    """

    workload: str
    capacity: float
    saved: dict[str, float]
    bound: float
    best: str
    lead: tuple[float, float, float]


def replay(make: Callable[[], Policy], workload: Workload, capacity: float, *, clusters: bool = True) -> np.ndarray:
    """The cost saved in each of `BLOCKS` parts of a stream by a cache of so many bytes; what returns has a new id."""
    policy, ids = make(), count(1)
    entry_of: dict[int, int] = {}
    item_of: dict[int, int] = {}
    held = 0.0
    size, cost, group = workload.size.tolist(), workload.cost.tolist(), workload.group.tolist()
    saved = np.zeros(len(workload.requests))
    for at, item in enumerate(workload.requests.tolist()):
        servers = workload.servers[item] if workload.servers is not None else (item,)
        found = next((entry_of[server] for server in servers if server in entry_of), None)
        if found is not None:
            policy.touch(found)
            saved[at] = cost[item]
            continue
        if size[item] > capacity:
            continue
        while held + size[item] > capacity:
            victim = policy.victim()
            assert victim is not None
            policy.forget(victim)
            gone = item_of.pop(victim)
            del entry_of[gone]
            held -= size[gone]
        entry = next(ids)
        cluster = group[item] + 1 if clusters else 0
        policy.insert(entry, size[item], Worth(cost[item], item + 1, cluster, created=float(at)))
        entry_of[item], item_of[entry] = entry, item
        held += size[item]
    return np.array([part.sum() for part in np.array_split(saved, BLOCKS)])


def bound(workload: Workload, capacity: float) -> float:
    """The most that any policy can save, as a share of all cost; it may know the future.

    A hit needs some server of the prompt to be held since the last request for one of its span. The intervals between
    such requests are chosen by cost per byte and time until they fill capacity * time, the last one in part: an
    upper bound because capacity is only kept on average (PFOO-U; Berger, Beckmann, Harchol-Balter, SIGMETRICS 2018).
    """
    last: dict[int, int] = {}
    gaps: list[tuple[float, float]] = []
    span = workload.span.tolist()
    for at, item in enumerate(workload.requests.tolist()):
        before = last.get(span[item])
        if before is not None:
            gaps.append((float(workload.size[item]) * (at - before), float(workload.cost[item])))
        last[span[item]] = at
    space, worth = np.array(gaps).T
    order = np.argsort(space / worth)
    filled = np.cumsum(space[order])
    fits = np.clip((capacity * len(workload.requests) - (filled - space[order])) / space[order], 0.0, 1.0)
    return float((fits * worth[order]).sum() / workload.cost[workload.requests].sum())


def measure(name: str, streams: Sequence[Workload], share: float) -> Row:
    """All policies on the streams of one kind, which differ in their seeds."""
    paid = np.concatenate(
        [[part.sum() for part in np.array_split(stream.cost[stream.requests], BLOCKS)] for stream in streams]
    )
    runs: dict[str, np.ndarray] = {}
    for policy, make in POLICIES.items():
        parts = [replay(make, stream, share * stream.footprint) for stream in streams]
        runs[policy] = np.concatenate(parts)
        if policy in COUNT_CLUSTERS and streams[0].servers is not None:
            narrow = [replay(make, stream, share * stream.footprint, clusters=False) for stream in streams]
            runs[f"{policy} by key"] = np.concatenate(narrow)
    saved = {policy: float(parts.sum() / paid.sum()) for policy, parts in runs.items()}
    best = max((policy for policy in saved if policy != "value"), key=saved.__getitem__)
    rng = np.random.default_rng(0)
    draws = rng.integers(0, len(paid), (2000, len(paid)))
    differences = (runs["value"] - runs[best])[draws].sum(1) / paid[draws].sum(1)
    low, high = np.quantile(differences, [0.025, 0.975])
    limit = float(np.mean([bound(stream, share * stream.footprint) for stream in streams]))
    return Row(name, share, saved, limit, best, (saved["value"] - saved[best], float(low), float(high)))


def streams(name: str, seeds: int) -> list[Workload]:
    """The streams of one kind: a trace has one, a set of prompts one a seed."""
    family, _, kind = name.partition(" ")
    if family == "mooncake":
        return [mooncake(kind, HALF)]
    if family == "azure":
        return [azure(kind, HALF)]
    source = texts(family, HALF)
    return [zipf(source, seed, drift=kind == "drifting") for seed in range(1, seeds + 1)]


NAMES = (
    *[f"{name}{kind}" for name in TEXTS for kind in ("", " drifting")],
    "mooncake conversation",
    "mooncake synthetic",
    "azure code",
    "azure conv",
)


def measured(job: tuple[str, int, Sequence[float]]) -> list[Row]:
    """All capacities of one kind of stream."""
    name, seeds, capacities = job
    kind = streams(name, seeds)
    return [measure(name, kind, share) for share in capacities]


def load_test(name: str, seeds: int, relax_to: float) -> dict[str, Any]:
    """Calls of an overloaded model with and without relaxation; scores are set on one half, measured on the other."""
    targets = np.linspace(overload.TARGET, overload.CERTIFIED, 9)
    (other, its), (source, own) = [(texts(name, half), vectors_of(name, half)) for half in (1 - HALF, HALF)]
    scale = targets, overload.thresholds(overload.neighbours(other, its, 0), targets)
    pairs = []
    for seed in range(1, 4 * seeds + 1):
        known = overload.neighbours(source, own, seed)
        pairs.append([overload.overload(known, scale, seed, limit) for limit in (None, relax_to)])
    cuts = [1.0 - (on.calls / on.requests) / (off.calls / off.requests) for off, on in pairs]
    half_width = 1.96 * float(np.std(cuts, ddof=1)) / len(cuts) ** 0.5
    return {
        "stream": name,
        "relax_to": relax_to,
        "calls": float(np.mean([off.calls / off.requests for off, _ in pairs])),
        "calls_relaxed": float(np.mean([on.calls / on.requests for _, on in pairs])),
        "cut": float(np.mean(cuts)),
        "cut_interval": [float(np.mean(cuts)) - half_width, float(np.mean(cuts)) + half_width],
        "error": float(np.mean([off.error for off, _ in pairs])),
        "error_relaxed": float(np.mean([on.error for _, on in pairs])),
        "p95": float(np.mean([off.p95 for off, _ in pairs])),
        "p95_relaxed": float(np.mean([on.p95 for _, on in pairs])),
    }


def main(argv: Sequence[str]) -> int:
    """Measure and keep what was measured; 1 where the data is not there."""
    arguments = argparse.ArgumentParser("python -m eval.eviction", description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="one seed, three capacities; keeps nothing by itself")
    arguments.add_argument("--seeds", type=int, default=2, help="streams of each set of prompts")
    arguments.add_argument("--workers", type=int, default=1)
    arguments.add_argument("--results", type=Path, help="where to keep the results")
    chosen = arguments.parse_args(argv)
    if not DATA.is_dir():
        print(f"no data at {DATA}: set EVAL_DATA to the folder of the data sets", file=sys.stderr)
        return 1
    from eval import eviction_report

    seeds, capacities = (1, CAPACITIES[::2]) if chosen.quick else (chosen.seeds, CAPACITIES)
    rows: list[Row] = []
    with ProcessPoolExecutor(chosen.workers) as pool:
        for number, found in enumerate(pool.map(measured, [(name, seeds, capacities) for name in NAMES]), 1):
            rows += found
            print(f"{number} of {len(NAMES)}: {found[0].workload}", file=sys.stderr)
    loads = [load_test(name, seeds, relax_to) for name in TEXTS for relax_to in (0.02, 0.05)]
    page = eviction_report.page(rows, loads, seeds)
    print(page)
    folder = chosen.results or (None if chosen.quick else RESULTS)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "eviction.md").write_text(page, encoding="utf-8")
        kept = {"rows": [eviction_report.plain(row) for row in rows], "load": loads, "seeds": seeds}
        (folder / "eviction.json").write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
        eviction_report.figure(rows, folder / "eviction.png")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
