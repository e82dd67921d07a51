"""The quality and cost of smaller embedders: `python -m eval.distilling [NAME...] [--pairs N] [--base DIR]`.

Every student is made by the very steps of `semcache embedder distill` from Quora pairs, apart by component, and kept in
`.eval/distilling`, so that what is there is not made again; the page is written from what is there.

Knows data sets and figures. Invariant: nothing that is reported was trained or chosen on.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from eval import markdown
from eval.decisions import data
from eval.embedded import FOLDER
from semcache.train import card
from semcache.train.distill import distillation
from semcache.train.distill.distillation import DistillationSpec
from semcache.train.distill.vector_matching import MatchingOptions
from semcache.train.pairs import Pair
from semcache.train.splits import components, distinct

RESULTS = Path(__file__).parent / "results"
WORK = FOLDER / "distilling"
SEED = 7
STUDENTS: Mapping[str, DistillationSpec] = {
    "pca-64": DistillationSpec(WORK / "pca-64", dim=64, labels=False),
    "pca-128": DistillationSpec(WORK / "pca-128", dim=128, labels=False),
    "learned-64": DistillationSpec(WORK / "learned-64", dim=64),
    "learned-384": DistillationSpec(WORK / "learned-384", dim=384),
    "static-64": DistillationSpec(WORK / "static-64", dim=64, static=True),
    "static-256": DistillationSpec(WORK / "static-256", dim=256, static=True),
    "layers-3": DistillationSpec(
        WORK / "layers-3", layers=3, vocabulary=16_000, dim=384, course=MatchingOptions(rate=3e-4)
    ),
}


def main(argv: Sequence[str]) -> int:
    """Make what is missing, then write the page and the facts; 1 without data."""
    parser = argparse.ArgumentParser("python -m eval.distilling", description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default="all", choices=["all", *STUDENTS])
    parser.add_argument("--pairs", type=int, default=12_000, help="Quora pairs, with those that are tested on")
    parser.add_argument("--base", default="default", help="weights of all-MiniLM-L6-v2, for fewer layers")
    chosen = parser.parse_args(argv)
    if not data.available():
        print(f"no data in {data.DATA}: set EVAL_DATA to their folder", file=sys.stderr)
        return 1
    pairs = quora(chosen.pairs)
    for name in STUDENTS if "all" in chosen.names else chosen.names:
        wish = STUDENTS[name]
        if not (wish.out / card.MEASURED).is_file():
            WORK.mkdir(parents=True, exist_ok=True)
            wish = replace(wish, base=chosen.base, test=0.25) if wish.layers else replace(wish, test=0.25)
            distillation.make(
                pairs, wish, clock=time.perf_counter, stage=lambda what: print(what, flush=True), told=_told
            )
        page(argv)
    return 0


def quora(count: int) -> list[Pair]:
    """So many Quora pairs, whole components at a time."""
    pairs = distinct([Pair(one.cached, one.asked, one.same) for one in data.pairs("qqp")])
    names = components(pairs)
    order = sorted(set(names))
    random.Random(SEED).shuffle(order)
    place = {name: number for number, name in enumerate(order)}
    ranked = sorted(range(len(pairs)), key=lambda at: (place[names[at]], at))
    return [pairs[at] for at in ranked[:count]]


def _told(done: int, steps: int, loss: float) -> None:
    if done % 10 == 0 or done == steps:
        print(f"step {done} of {steps}, {loss:.4f}", flush=True)


def page(argv: Sequence[str]) -> None:
    """Write what has been made so far."""
    argv = ["DIR" if before == "--base" else word for before, word in zip(["", *argv], argv, strict=False)]
    made = {
        name: json.loads((wish.out / card.MEASURED).read_text())
        for name, wish in STUDENTS.items()
        if (wish.out / card.MEASURED).is_file()
    }
    RESULTS.mkdir(exist_ok=True)
    facts = json.dumps({"seed": SEED, "students": made}, sort_keys=True, separators=(",", ":"))
    (RESULTS / "distilling.json").write_text(facts + "\n")
    (RESULTS / "distilling.md").write_text(_page(made, argv), encoding="utf-8")
    print((RESULTS / "distilling.md").read_text())


def _page(made: Mapping[str, Any], argv: Sequence[str]) -> str:
    figures = ("average_precision", "f1", "precision", "recall", "recall_95", "recall_99")
    heads = ["student", "", "dim", "ms", "times faster", "MB", *(card.TITLES[name] for name in figures)]
    rows = []
    for name, report in made.items():
        teacher = report["rows"][0]
        for row in report["rows"]:
            timed = row["milliseconds"] is not None
            rows.append([
                name, row["name"], str(row["dim"]), f"{row['milliseconds']:.2f}" if timed else "",
                f"{teacher['milliseconds'] / row['milliseconds']:.1f}" if timed else "",
                f"{row['size'] / 1e6:.1f}" if timed else "", *(f"{row[figure]:.3f}" for figure in figures),
            ])  # fmt: skip
    counts = next(iter(made.values()))["pairs"]
    lines = [
        "# Smaller embedders",
        "",
        f"Made by `{' '.join(['python -m eval.distilling', *argv])}`, seed {SEED}.",
        f"Quora pairs, apart by component: {counts['train']} to learn from, {counts['check']} to choose by, "
        f"{counts['test']} to report. Teacher: all-MiniLM-L6-v2 as it ships (int8); where layers are taken out, the "
        "same weights exported anew. By cosine alone; P, R and F1 at the best F1 in hindsight. ms is the median of one "
        "text alone on one thread, teacher and student in turns.",
        "",
        markdown.table(heads, rows),
        "",
        "## Storage and the re-score",
        "",
        "Nearest: the share of texts whose nearest text at full precision is found, by short vectors alone and when "
        "ten candidates are compared again at full precision. Points are those of F1 and AP against the teacher.",
        "",
        markdown.table(
            ["student", "bytes a vector", "storage", "F1 points", "AP points", "nearest, alone", "nearest, re-scored"],
            [
                [
                    name, str(report["rows"][1]["vector_bytes"]), f"{-report['storage']:+.1%}",
                    f"{100 * (report['rows'][1]['f1'] - report['rows'][0]['f1']):+.1f}",
                    f"{100 * (report['rows'][1]['average_precision'] - report['rows'][0]['average_precision']):+.1f}",
                    f"{report['nearest']['alone']:.1%}", f"{report['nearest']['rescored']:.1%}",
                ]
                for name, report in made.items()
            ],
        ),
        "",
        *_judged(made),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _judged(made: Mapping[str, Any]) -> list[str]:
    """The targets beside the results."""
    if "pca-64" not in made:
        return []
    report = made["pca-64"]
    teacher, student = report["rows"][:2]
    f1, ap = (100 * (student[name] - teacher[name]) for name in ("f1", "average_precision"))
    rows = [
        ["PCA to 64 dimensions, points of F1", "-2", f"{f1:+.1f}", "met" if f1 >= -2 else "missed"],
        ["PCA to 64 dimensions, points of AP", "-2", f"{ap:+.1f}", "met" if ap >= -2 else "missed"],
        ["storage of vectors", "-83%", f"{-report['storage']:+.1%}", "met" if report["storage"] >= 0.83 else "missed"],
    ]
    return [markdown.table(["asked for", "goal", "found", ""], rows), ""]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
