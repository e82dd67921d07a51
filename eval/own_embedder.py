"""An embedder trained on the authored pairs alone, beside the shipped one: `python -m eval.own_embedder [--pairs N]`.

Trained by the very steps of `semcache embedder finetune` on the groups that the recipe does not hold out, and kept in
`.eval/finetuning/authored`, so that a run that was broken off goes on. Measured on held-out groups and on pairs of sets
that it has not seen: by cosine alone, and in a cache with the shipped pack, a tenant for each pair.

Knows data sets and figures. Invariant: nothing that is reported was trained or chosen on.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from eval import finetuning, markdown
from eval.decisions import data
from eval.embedded import embedded
from semcache import AsyncSemanticCache
from semcache.models.embedders import DEFAULT_MODEL
from semcache.models.embedders.onnx import OnnxEmbedder
from semcache.train import card, metrics, splits
from semcache.train.finetune import FinetuneOptions
from semcache.train.pairs import Pair
from semcache.train.recalibrate import recalibrate
from semcache.train.recipe import authored
from semcache.types import Serve

RESULTS = Path(__file__).parent / "results"
SEED = 7
_HELD = 4000  # held-out authored pairs that are measured
_PLAN = FinetuneOptions(loss="ranking", max_tokens=48, mined=0, seed=SEED)


def main(argv: Sequence[str]) -> int:
    """Make the model unless it is there, measure, and write the page; 1 without data."""
    parser = argparse.ArgumentParser("python -m eval.own_embedder", description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=82_000, help="authored pairs to train on")
    parser.add_argument("--base", default="default", help="weights of all-MiniLM-L6-v2, where their package is absent")
    chosen = parser.parse_args(argv)
    if not data.available():
        print(f"no data in {data.DATA}: set EVAL_DATA to their folder", file=sys.stderr)
        return 1
    train, held = _authored(chosen.pairs)
    own = finetuning.make("authored", train, held, chosen.base, _PLAN)
    specs = {
        "shipped": "default",
        "own, prior of its check pairs": f"onnx:{own}",
        "own, prior of the held-out groups": f"onnx:{_recalibrated(own, held)}",
    }
    facts = {"training": _training(own), "cosine": _ranked(own, held), "served": asyncio.run(_served(specs))}
    (RESULTS / "own-embedder.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (RESULTS / "own-embedder.md").write_text(_page(facts, argv), encoding="utf-8")
    return 0


def _authored(count: int) -> tuple[list[Pair], list[Pair]]:
    train: list[Pair] = []
    held: list[Pair] = []
    for one in authored.paired(authored.groups()):
        (held if one.held else train).append(one.pair)
    rng = random.Random(SEED)
    rng.shuffle(train)
    rng.shuffle(held)
    held = splits.distinct(held)[:_HELD]
    return splits.without(splits.distinct(train[:count]), held), held


def _recalibrated(own: Path, held: Sequence[Pair]) -> Path:
    """The model once more, with a prior that was learned from groups that it has not seen."""
    told = own.with_name(f"{own.name}-told")
    if not (told / card.PRIOR).is_file():
        shutil.copytree(own, told, ignore=shutil.ignore_patterns(card.PRIOR), dirs_exist_ok=True)
        learned = recalibrate(held, partial(embedded, model=told), seed=SEED)
        prior = {"embedder": OnnxEmbedder(told).id, "seed": SEED, "profiles": learned.priors}
        card.write_json(told / card.PRIOR, prior)
    return told


def _training(own: Path) -> dict[str, Any]:
    told = json.loads((own / card.MEASURED).read_text(encoding="utf-8"))
    return {"pairs": told["pairs"]["train"], "steps": told["training"]["steps"], "share": told["mixing"]["share"]}


def _ranked(own: Path, held: Sequence[Pair]) -> dict[str, Any]:
    """Average precision by cosine alone, with 95% intervals."""
    found: dict[str, Any] = {}
    for name, pairs in {"authored, held out": held, **finetuning.elsewhere("")}.items():
        same = np.array([pair.same for pair in pairs])
        rows = {
            which: card.scores(pairs, partial(embedded, model=model))
            for which, model in (("shipped", DEFAULT_MODEL), ("own", own))
        }
        found[name] = {
            "pairs": len(pairs),
            **{
                which: {
                    "ap": metrics.measure(row, same).average_precision,
                    "interval": metrics.interval(row, same, seed=SEED),
                }
                for which, row in rows.items()
            },
        }
    return found


async def _served(specs: Mapping[str, str]) -> dict[str, Any]:
    """Pairs served in a cache with the shipped pack, each embedder with the prior that belongs to it."""
    pairs = {"fow_cache": data.pairs("fow_cache"), "paws_wiki": data.pairs("paws_wiki")[:600]}
    return {name: {which: await _counted(some, spec) for which, spec in specs.items()} for name, some in pairs.items()}


async def _counted(pairs: Sequence[Any], spec: str) -> dict[str, int]:
    counts = {"rightful": 0, "rightful served": 0, "traps": 0, "traps served": 0}
    with tempfile.TemporaryDirectory() as folder:
        async with await AsyncSemanticCache.open(folder, embedder=spec, seed=SEED, timeout=60.0) as cache:
            for number, pair in enumerate(pairs):
                kept = await cache.lookup(pair.cached, tenant=f"t{number}")
                await cache.record(kept, f"The answer to question {number}.")
                told = await cache.lookup(pair.asked, tenant=f"t{number}")
                kind = "rightful" if pair.same else "traps"
                counts[kind] += 1
                counts[f"{kind} served"] += isinstance(told.lookup.decision, Serve)
    return counts


def _page(facts: Mapping[str, Any], argv: Sequence[str]) -> str:
    made = facts["training"]
    lines = ["# An embedder of authored pairs", ""]
    lines += [f"- `{' '.join(['python -m eval.own_embedder', *argv])}`, seed {SEED}"]
    lines += [
        f"- {made['pairs']:,} authored pairs, {made['steps']:,} steps of 64, ranking loss; {made['share']:.0%} of"
    ]
    lines += ["  the way from the base's weights to the trained ones, chosen on check pairs; int8 as it would run", ""]
    lines += [
        "It ranks such pairs better and intents worse, and a cache serves no more by it: it does not ship.",
        "",
        "## By cosine alone",
        "",
    ]
    rows = [
        (
            name,
            f"{one['pairs']:,}",
            *(
                f"{one[which]['ap']:.3f} ({one[which]['interval'][0]:.3f} to {one[which]['interval'][1]:.3f})"
                for which in ("shipped", "own")
            ),
        )
        for name, one in facts["cosine"].items()
    ]
    lines.append(markdown.table(("set", "pairs", "AP, shipped", "AP, own"), rows))
    lines += ["", "## In a cache", ""]
    lines += ["The shipped pack, a tenant for each pair, no language model; a prior belongs to one embedder.", ""]
    served = [
        (
            name,
            which,
            *(f"{one[f'{kind} served']} of {one[kind]}" for kind in ("rightful", "traps")),
        )
        for name, both in facts["served"].items()
        for which, one in both.items()
    ]
    lines.append(markdown.table(("set", "embedder", "rightful pairs served", "traps served"), served))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
