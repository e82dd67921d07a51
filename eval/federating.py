"""Federated training beside central training: `python -m eval.federating [NAME...] [--pairs N]`.

Quora pairs are shared among clients by topic (k-means over components), or dealt at random; the simulator of
`semcache embedder federate simulate` trains in every way on the same pairs. What is there is not made again.

Knows data sets and figures. Invariant: test pairs share no text with what was learned from; thresholds come from pairs
that clients hold back.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from eval import markdown
from eval.decisions import data
from eval.distilling import quora
from eval.embedded import FOLDER, embedded
from semcache.models.embedders import DEFAULT_MODEL
from semcache.models.embedders.onnx import OnnxEmbedder
from semcache.train import card, splits
from semcache.train.federate import averaging, comparison, federated_model
from semcache.train.federate.local_training import FederationPlan

RESULTS = Path(__file__).parent / "results"
WORK = FOLDER / "federating"
SEEDS = (7, 8, 9)
WAYS = ("none", "alone", "federated", "central")


@dataclass(frozen=True, slots=True)
class Case:
    """`plan` holds what differs from the defaults."""

    clients: int
    alike: bool
    plan: Mapping[str, Any]


CASES: Mapping[str, Case] = {
    "20 by topic": Case(20, False, {}),
    "20 at random": Case(20, True, {}),
    "100 by topic": Case(100, False, {}),
    "20 by topic, rank 16": Case(20, False, {"rank": 16}),
    "200 at random, private": Case(200, True, {"rank": 4, "rounds": 10, "clip": 0.5, "noise": 4.0}),
}


def main(argv: Sequence[str]) -> int:
    """Make what is missing, then write the page and the facts; 1 without data."""
    parser = argparse.ArgumentParser("python -m eval.federating", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default="all", choices=["all", *CASES])
    parser.add_argument("--pairs", type=int, default=16_000, help="Quora pairs, a quarter of them to report on")
    chosen = parser.parse_args(argv)
    if not data.available():
        print(f"no data in {data.DATA}: set EVAL_DATA to their folder", file=sys.stderr)
        return 1
    WORK.mkdir(parents=True, exist_ok=True)
    pairs = quora(chosen.pairs)
    for name in CASES if "all" in chosen.names else chosen.names:
        for seed in SEEDS:
            path = WORK / f"{name.replace(' ', '-').replace(',', '')}-{seed}.json"
            if not path.is_file():
                card.write_json(path, _made(pairs, CASES[name], seed))
                print(f"{name}, seed {seed}: done", file=sys.stderr, flush=True)
        page(argv)
    return 0


def _made(pairs: Sequence[Any], case: Case, seed: int) -> dict[str, Any]:
    parts = splits.split(pairs, check=0.0, test=0.25, seed=seed)
    base = OnnxEmbedder(DEFAULT_MODEL)
    plan = FederationPlan(base.id, base.dim, seed=seed, **case.plan)
    owners = comparison.divide_pairs(parts.train, case.clients, None if case.alike else embedded, seed=seed)
    since = time.perf_counter()
    found = comparison.compare(owners, parts.test, embedded, plan)
    return {
        "seconds": round(time.perf_counter() - since, 1),
        "samples": sorted(found.samples),
        "test": len(parts.test),
        "figures": found.figures,
        "privacy": federated_model.privacy_spent(plan),
        "sends": 8 * averaging.size(found.model),
    }


def page(argv: Sequence[str]) -> None:
    """Write what has been made so far."""
    made: dict[str, list[dict[str, Any]]] = {}
    for name in CASES:
        paths = [WORK / f"{name.replace(' ', '-').replace(',', '')}-{seed}.json" for seed in SEEDS]
        if found := [json.loads(path.read_text()) for path in paths if path.is_file()]:
            made[name] = found
    RESULTS.mkdir(exist_ok=True)
    facts = json.dumps({"seeds": SEEDS, "cases": made}, sort_keys=True, separators=(",", ":"))
    (RESULTS / "federating.json").write_text(facts + "\n")
    (RESULTS / "federating.md").write_text(_page(made, argv), encoding="utf-8")
    print((RESULTS / "federating.md").read_text())


def _page(made: Mapping[str, Sequence[Mapping[str, Any]]], argv: Sequence[str]) -> str:
    figures = ("f1", "precision", "recall", "average_precision", "recall_95")
    rows, judged = [], []
    for name, runs in made.items():
        for way in WAYS:
            cells = [_spread([run["figures"][way][figure] for run in runs]) for figure in figures]
            rows.append([name, way, *cells])
        gaps = [100 * (run["figures"]["federated"]["f1"] - run["figures"]["central"]["f1"]) for run in runs]
        gain = [100 * (run["figures"]["federated"]["f1"] - run["figures"]["none"]["f1"]) for run in runs]
        bound = runs[0]["privacy"]
        judged.append([
            name, f"{runs[0]['samples'][0]} to {runs[0]['samples'][-1]}", f"{runs[0]['sends'] / 1e6:.2f}",
            f"{mean(run['seconds'] for run in runs):.0f}", _spread(gain, 1), _spread(gaps, 1),
            "met" if mean(gaps) >= -2 else "missed", f"{bound['epsilon']:g} at {bound['delta']:g}" if bound else "none",
        ])  # fmt: skip
    first = next(iter(made.values()))[0]
    lines = [
        "# Federated training",
        "",
        f"Made by `python -m eval.federating {' '.join(argv)}`".rstrip() + f", seeds {', '.join(map(str, SEEDS))} (of "
        "the split, the clients and the training).",
        f"Quora pairs, apart by component: about {sum(first['samples'])} to learn from, {first['test']} to report. A "
        "map of the shipped embedder's vectors is learned; every F1 is at a threshold found on pairs that clients hold "
        "back, not in hindsight. `none` learns only the threshold, `alone` is the mean of clients by themselves, "
        "`central` has everybody's pairs. Mean and standard deviation over seeds.",
        "",
        markdown.table(["clients", "", "F1", "P", "R", "AP", "R at P 0.95"], rows),
        "",
        "Goal: federated within 2 points of F1 of central.",
        "",
        markdown.table(
            ["clients", "pairs of a client", "MB sent a round", "s, all ways", "F1 points over none",
             "F1 points to central", "", "epsilon"],
            judged,
        ),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _spread(values: Sequence[float], digits: int = 3) -> str:
    spread = stdev(values) if len(values) > 1 else 0.0
    return f"{mean(values):.{digits}f} ± {spread:.{digits}f}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
