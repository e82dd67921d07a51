"""How fast the shipped models are, beside sentence-transformers with the same weights: `python -m eval.latency`.

Everything in one process on one thread, in turns, so that both sides meet the same machine. Knows texts and clocks.
Invariant: both sides are given the same texts, and only their ratio is claimed of other machines.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from eval import markdown
from semcache.models.cross_encoder import CrossEncoder
from semcache.models.embedders import DEFAULT_MODEL
from semcache.models.embedders.onnx import OnnxEmbedder
from semcache.train.finetune import base_folder
from semcache.train.recipe import authored

RESULTS = Path(__file__).parent / "results"
SHORT = "how can I change the address that is printed on my bill?"  # 15 tokens
PAIR = (
    "how can i change the address that is printed on my monthly credit card bill please",
    "what do i need to do in order to change the address on my monthly card bill",
)  # 20 tokens each
BATCH = 32


def main(argv: Sequence[str]) -> int:
    """Measure, and write the page and the facts."""
    parser = argparse.ArgumentParser("python -m eval.latency", description=__doc__.partition("\n")[0])
    parser.add_argument("--turns", type=int, default=200)
    chosen = parser.parse_args(argv)
    torch = import_module("torch")
    torch.set_num_threads(1)
    theirs = import_module("sentence_transformers").SentenceTransformer(str(base_folder("default")), device="cpu")
    ours, verifier = OnnxEmbedder(DEFAULT_MODEL, threads=1), CrossEncoder()
    many = [group.prompt for group in authored.groups()][:BATCH]
    pairs = [(group.prompt, group.same[0]) for group in authored.groups()][:BATCH]
    works: dict[str, Callable[[], object]] = {
        "ours, one": lambda: ours.encode([SHORT]),
        "theirs, one": lambda: theirs.encode([SHORT], normalize_embeddings=True),
        "ours, batch": lambda: ours.encode(many),
        "theirs, batch": lambda: theirs.encode(many, batch_size=BATCH, normalize_embeddings=True),
        "verifier, one": lambda: verifier.probabilities([PAIR]),
        "verifier, batch": lambda: verifier.probabilities(pairs),
    }
    taken = _turns(works, chosen.turns)
    facts = {
        "command": " ".join(["python -m eval.latency", *argv]),
        "machine": platform.machine(),
        "vector extensions": _extensions(),
        "milliseconds": {
            name: [round(float(np.quantile(of, q)), 2) for q in (0.25, 0.5, 0.75)] for name, of in taken.items()
        },
        "one": round(float(np.median(taken["theirs, one"]) / np.median(taken["ours, one"])), 1),
        "batch": round(float(np.median(taken["theirs, batch"]) / np.median(taken["ours, batch"])), 1),
    }
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / "latency.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (RESULTS / "latency.md").write_text(_page(facts), encoding="utf-8")
    print(_page(facts))
    return 0


def _turns(works: Mapping[str, Callable[[], object]], turns: int) -> dict[str, list[float]]:
    """Milliseconds of each work, turn by turn, after some to warm up."""
    taken: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(turns + 5):
        for name, work in works.items():
            if "batch" in name and turn % 5:
                continue
            started = time.perf_counter()
            work()
            if turn >= 5:
                taken[name].append((time.perf_counter() - started) * 1e3)
    return taken


def _extensions() -> str:
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("flags")[2].partition("\n")[0].split()
    except OSError:
        return "unknown"
    return ", ".join(sorted(flag for flag in flags if flag.startswith(("avx", "amx")))) or "none"


def _page(facts: Mapping[str, Any]) -> str:
    rows = [[name, *(f"{value:.2f}" for value in of)] for name, of in facts["milliseconds"].items()]
    return "\n".join(
        [
            "# Latency of the shipped models",
            "",
            f"Made by `{facts['command']}`; one process, one thread, in turns, on {facts['machine']} with "
            f"{facts['vector extensions']}. Theirs is sentence-transformers with the same weights in float32. One is a "
            f"text of 15 tokens, or a pair of 20 tokens each; a batch is {BATCH} prompts, or pairs.",
            "",
            markdown.table(["", "lower quartile ms", "median ms", "upper quartile ms"], rows),
            "",
            f"One text: {facts['one']} times faster than sentence-transformers. A batch: {facts['batch']} times.",
            "",
        ]
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
