"""Prefix caches and routing by trace: what eviction saves at a capacity, and what routing keeps of it over replicas.

    python -m eval.routing [--part capacity|routing|fairness] [--anew] [--data FOLDER]

Reads Mooncake's conversation trace (FAST'25; hash ids of 512-token blocks) and writes `routing.{json,md,png}` in
`eval/results`. Every row is kept as soon as it is measured, and only missing ones are measured. The weights of the
router were chosen on Mooncake's synthetic trace and the first 30% of this one, by time; routing is reported on the
other 70%.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from eval.prefix_caches import BLOCK, POLICIES, Arrival, Lru, bound, read_trace, share
from eval.replicas import POLICIES as ROUTERS
from eval.replicas import Order, Run, Simulation

RESULTS = Path(__file__).parent / "results"
DATA = Path(__file__).parents[2] / "shared" / "data" / "mooncake_traces"
CAPACITIES = (1_000, 3_000, 10_000, 20_000, 30_000, 50_000, 100_000)
REPLICAS = (2, 4, 16)
TOTAL = 30_000  # blocks of all replicas together, where memory is short
UTILISATION = 0.6  # of the replicas' prefill, were everything found that can be
TUNED = 0.3
SEEDS = 5
EVERYTHING = float("inf")
_FAIR_REPLICAS, _FAIR_RUNNING, _FAIR_RATE, _QUANTUM, _OUTPUT = 4, 8, 8_000.0, 65_536.0, 200


def capacity(trace: Sequence[Arrival], blocks: int) -> dict[str, Any]:
    """Token hit rate of each policy and of the offline bound, in one cache of so many blocks."""
    found = {name: share(trace, make(blocks)) for name, make in POLICIES.items()}
    return {"blocks": blocks, **found, "offline bound": bound(trace, blocks)}


def routing(trace: Sequence[Arrival], total: float, replicas: int) -> list[dict[str, Any]]:
    """The tokens that each router finds on replicas with `total` blocks in all."""
    counted = trace[int(len(trace) * TUNED)].at
    demand = sum(arrival.tokens for arrival in trace) / trace[-1].at * (1 - share(trace, Lru(EVERYTHING)))
    rate = demand / replicas / UTILISATION
    pooled = share(trace, Lru(total), counted=counted)
    rows = []
    for router in ROUTERS:
        runs = [
            Simulation(replicas, total / replicas, rate, router, seed=seed).run(
                [(arrival, "") for arrival in trace], counted=counted
            )
            for seed in range(SEEDS if router == "random" else 1)
        ]
        shares = [run.share for run in runs]
        rows.append(
            {
                "blocks": None if total == EVERYTHING else total,
                "replicas": replicas,
                "router": router,
                "best": pooled,
                "share": sum(shares) / len(runs),
                "spread": max(shares) - min(shares),
                "imbalance": sum(run.imbalance for run in runs) / len(runs),
                "p50": sum(run.p50 for run in runs) / len(runs),
                "p95": sum(run.p95 for run in runs) / len(runs),
            }
        )
        print(rows[-1], flush=True)
    return rows


def contest(seed: int) -> list[tuple[Arrival, str]]:
    """Two tenants that want more than there is for two minutes, one with long prompts of its own each time, one with
    conversations, and a third one that asks little."""
    rng = random.Random(seed)
    fresh = iter(range(1, 1 << 30))
    chats = [[next(fresh) for _ in range(8)] for _ in range(24)]
    small = [next(fresh) for _ in range(4)]
    arrivals: list[tuple[Arrival, str]] = []

    def come(tenant: str, rate: float, blocks: list[int]) -> None:
        at = clock[tenant] = clock.get(tenant, 0.0) + rng.expovariate(rate)
        arrivals.append((Arrival(at, len(blocks) * BLOCK, _OUTPUT, tuple(blocks)), tenant))

    clock: dict[str, float] = {}
    while clock.get("adversary", 0.0) < 120.0:
        come("adversary", 6.0, [next(fresh) for _ in range(32)])
    while clock.get("conversations", 0.0) < 120.0:
        come("conversations", 30.0, [*rng.choice(chats), next(fresh), next(fresh)])
    while clock.get("polite", 0.0) < 120.0:
        come("polite", 1.0, [*small, next(fresh)])
    return sorted(arrivals, key=lambda pair: pair[0].at)


def fairness() -> list[dict[str, Any]]:
    """The largest gap in work given to the two tenants that want more than there is, and what it costs."""
    rows = []
    for order in ("fcfs", "lpm", "deficit"):
        runs = [_contested(order, seed) for seed in range(SEEDS)]
        polite = [sorted(run.first["polite"])[int(len(run.first["polite"]) * 0.95)] for run in runs]
        rows.append(
            {
                "order": order,
                "gap": max(map(_gap, runs)),
                "share": sum(run.share for run in runs) / SEEDS,
                "seconds": sum(run.seconds for run in runs) / SEEDS,
                "polite p95": sum(polite) / SEEDS,
                "polite p95 spread": max(polite) - min(polite),
            }
        )
        print(rows[-1], flush=True)
    return rows


def _contested(order: Order, seed: int) -> Run:
    made = Simulation(
        _FAIR_REPLICAS, 4_000, _FAIR_RATE, "semcache", max_running=_FAIR_RUNNING, order=order, quantum=_QUANTUM
    )
    return made.run(contest(seed))


def _gap(run: Run) -> float:
    """The largest difference in work given, while both have prompts waiting (from 20 to 100 seconds)."""
    given = {"adversary": 0.0, "conversations": 0.0}
    apart = [0.0]
    for at, tenant, tokens in run.given:
        if 20.0 <= at <= 100.0 and tenant in given:
            given[tenant] += tokens
            apart.append(given["adversary"] - given["conversations"])
    return max(apart) - min(apart)


def fair_bound() -> float:
    """The bound that `token_deficits.py` promises between any two moments.

    Twice a quantum and the largest prompt (the first moment may find the two that far apart the other way), and the
    answers under way, which are charged when they end.
    """
    return 2 * (_QUANTUM + 32 * BLOCK) + 2 * _FAIR_REPLICAS * _FAIR_RUNNING * _OUTPUT


def page(found: dict[str, Any]) -> str:
    """The report."""
    lines = [
        "# Prefix caches and routing",
        "",
        "Made by `python -m eval.routing`; what is simulated, and from which data, is said there, in "
        "`prefix_caches.py` and in `replicas.py`. Mooncake's conversation trace: 9,023 requests, 110 million prompt "
        "tokens, 45 minutes.",
    ]
    if found.get("capacity"):
        names = [name for name in found["capacity"][0] if name != "blocks"]
        lines += [
            "",
            "## Token hit rate against capacity",
            "",
            "Share of prompt tokens that one cache of so many 512-token blocks finds. The bound knows the future.",
            "",
            "| blocks | " + " | ".join(names) + " |",
            "|---" * (len(names) + 1) + "|",
        ]
        lines += [
            f"| {row['blocks']:,} | " + " | ".join(f"{row[name]:.1%}" for name in names) + " |"
            for row in found["capacity"]
        ]
    if found.get("routing"):
        lines += [
            "",
            "## Routing",
            "",
            "Cached share of prompt tokens over the last 70% of the trace. `of best` is the share against one cache "
            "with the memory of all replicas (leaf-LRU, pinned); `imbalance` is the busiest replica's computed tokens "
            f"against the mean. Replicas would be {UTILISATION:.0%} busy if all were found that can be. "
            f"`random` is the mean of {SEEDS} seeds, the largest spread of its share "
            f"{max(row['spread'] for row in found['routing']):.1%}; the others draw nothing.",
            "",
            "| blocks in all | replicas | router | cached share | of best | imbalance | first token p50 s | p95 s |",
            "|---|---|---|---|---|---|---|---|",
        ]
        for row in found["routing"]:
            blocks = "no limit" if row["blocks"] is None else f"{row['blocks']:,}"
            lines.append(
                f"| {blocks} | {row['replicas']} | {row['router']} | {row['share']:.1%} "
                f"| {row['share'] / row['best']:.1%} | {row['imbalance']:.2f} | {row['p50']:.2f} | {row['p95']:.2f} |"
            )
        ours = [row for row in found["routing"] if row["router"].startswith("semcache")]
        worst = min(row["share"] / row["best"] for row in ours)
        lines += ["", f"The router's worst share of the best possible is {worst:.1%}."]
    if found.get("fairness"):
        lines += [
            "",
            "## Fairness",
            "",
            f"{_FAIR_REPLICAS} replicas with {_FAIR_RUNNING} requests each; an adversary with unique prompts of 16,384 "
            "tokens and a tenant with conversations both want more than there is, a polite tenant asks once a second. "
            "`gap` is the largest difference in work given to the two from 20 to 100 s, the largest of "
            f"{SEEDS} seeds; the deficits promise at most {fair_bound():,.0f} tokens.",
            "",
            "| order | gap, tokens | cached share | seconds for all | polite first token p95 s | spread over seeds |",
            "|---|---|---|---|---|---|",
        ]
        lines += [
            f"| {row['order']} | {row['gap']:,.0f} | {row['share']:.1%} | {row['seconds']:.0f} "
            f"| {row['polite p95']:.1f} | {row['polite p95 spread']:.1f} |"
            for row in found["fairness"]
        ]
    return "\n".join(lines) + "\n"


def plot(found: dict[str, Any], path: Path) -> None:
    """Both figures in one file. Needs matplotlib."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, (left, right) = pyplot.subplots(1, 2, figsize=(12, 4.5))
    rows = found["capacity"]
    for name in [name for name in rows[0] if name != "blocks"]:
        style = "--" if name == "offline bound" else "-"
        left.plot([row["blocks"] for row in rows], [row[name] for row in rows], style, marker="o", label=name)
    left.set(xscale="log", xlabel="blocks of 512 tokens", ylabel="token hit rate", title="One cache")
    left.legend()
    short = [row for row in found["routing"] if row["blocks"] is not None]
    for router in dict.fromkeys(row["router"] for row in short):
        mine = [row for row in short if row["router"] == router]
        style = "-" if router.startswith("semcache") else ":"
        right.plot([row["replicas"] for row in mine], [row["share"] / row["best"] for row in mine], style, marker="o",
                   label=router)  # fmt: skip
    right.set(xscale="log", xticks=REPLICAS, xticklabels=REPLICAS, xlabel="replicas", title=f"{TOTAL:,} blocks in all")
    right.set_ylabel("cached share, of the best possible")
    right.minorticks_off()
    right.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def main() -> None:
    """Measure the parts that are asked for, all by default, and write what is known."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else None)
    parser.add_argument("--part", choices=("capacity", "routing", "fairness"))
    parser.add_argument("--anew", action="store_true", help="forget what was measured before")
    parser.add_argument("--data", type=Path, default=DATA, help="folder of Mooncake's traces")
    chosen = parser.parse_args()
    path = chosen.data / "conversation_trace.jsonl.gz"
    if chosen.part != "fairness" and not path.exists():
        raise SystemExit(
            f"{path} is missing: pass --data the folder of Mooncake's traces (kvcache-ai/Mooncake, FAST25)"
        )
    kept = RESULTS / "routing.json"
    found: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() and not chosen.anew else {}
    for part in (chosen.part,) if chosen.part else ("capacity", "routing", "fairness"):
        for _ in measured(path, part, found.setdefault(part, [])):
            kept.write_text(json.dumps(_rounded(found), indent=1) + "\n")
            print(f"{part}: {len(found[part])} rows", flush=True)
    found = _rounded(found)  # the page is the same whenever it is written
    (RESULTS / "routing.md").write_text(page(found))
    if found.get("capacity") and found.get("routing"):
        plot(found, RESULTS / "routing.png")


def measured(path: Path, part: str, rows: list[dict[str, Any]]) -> Iterator[None]:
    """Add the rows of a part that are missing. Pauses after each measurement, so that it can be kept."""
    if part == "capacity":
        for blocks in CAPACITIES:
            if not any(row["blocks"] == blocks for row in rows):
                rows.append(capacity(read_trace(path), blocks))
                yield
    elif part == "routing":
        for total in (EVERYTHING, TOTAL):
            for replicas in REPLICAS:
                cell = None if total == EVERYTHING else total, replicas
                if not any((row["blocks"], row["replicas"]) == cell for row in rows):
                    rows += routing(read_trace(path), total, replicas)
                    yield
    elif not rows:
        rows += fairness()
        yield


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _rounded(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return round(value, 4) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
