"""A verifier on kinds of traps that it was never shown: `python -m eval.unseen_kinds [--pairs N] [options]`.

Two verifiers are trained alike on as many authored pairs, one on all kinds of differences, the other on all but
`--kinds`; both are small courses, made for the comparison and not the model that ships. On the groups that are held
out, each of those kinds is measured against all pairs of the same answer, beside the cosine of the shipped embedder.

Knows the recipe's pieces and no data set. Invariant: a group is trained on by both or by none.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from eval import markdown
from eval.embedded import FOLDER, embedded
from semcache.train import metrics
from semcache.train.finetune import base_folder
from semcache.train.recipe import authored, verifier_recipe
from semcache.train.recipe.mixture import MinedPair
from semcache.train.verifier import training_loop

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESULTS = Path(__file__).parent / "results"
KINDS = ("negation", "number", "direction", "quantifier", "unit", "tense")
SEED = 7
_SERVED = 0.01  # share of the traps


def main(argv: Sequence[str]) -> int:
    """Train what is missing, measure, and write the page."""
    parser = argparse.ArgumentParser("python -m eval.unseen_kinds", description=__doc__.partition("\n")[0])
    parser.add_argument("--pairs", type=int, default=20_000, help="that each of the two is trained on")
    parser.add_argument("--kinds", nargs="+", default=list(KINDS), help="of differences that one is never shown")
    parser.add_argument("--base", default="default", help="weights of all-MiniLM-L6-v2")
    parser.add_argument("--work", type=Path, default=FOLDER / "unseen-kinds")
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--threads", type=int, default=1)
    chosen = parser.parse_args(argv)
    import torch

    torch.set_num_threads(chosen.threads)
    groups = list(authored.groups())
    held = [one for one in authored.paired(groups) if one.held]
    pairs = [(one.pair.one, one.pair.two) for one in held]
    scores: dict[str, NDArray[np.float64]] = {"cosine": _cosines(pairs)}
    for name, without in (("all kinds shown", []), ("these kinds never shown", chosen.kinds)):
        some = [one for one in authored.paired(groups, without=without) if not one.held]
        shown = random.Random(SEED).sample(some, min(chosen.pairs, len(some)))
        scores[name] = _trained(chosen.base, chosen.work / name.replace(" ", "-"), shown, pairs)
    facts = {
        "command": " ".join(["python -m eval.unseen_kinds", *argv]),
        "seed": SEED,
        "pairs": chosen.pairs,
        "kinds": {kind: _measured(held, scores, {kind}) for kind in chosen.kinds},
        "together": _measured(held, scores, set(chosen.kinds)),
        "all others": _measured(held, scores, {one.pair.kind for one in held} - {*chosen.kinds, "reworded"}),
    }
    chosen.out.mkdir(exist_ok=True)
    (chosen.out / "unseen-kinds.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
    (chosen.out / "unseen-kinds.md").write_text(_page(facts), encoding="utf-8")
    print(_page(facts))
    return 0


def _trained(
    base: str, work: Path, shown: Sequence[MinedPair], pairs: Sequence[tuple[str, str]]
) -> NDArray[np.float64]:
    """The logits for `pairs` of a verifier that was shown `shown`; an unfinished training goes on."""
    from tokenizers import Tokenizer

    module, _, words = verifier_recipe.started(Path(base_folder(base)), SEED)
    tokenizer = Tokenizer.from_str(words)
    work.mkdir(parents=True, exist_ok=True)
    course = replace(verifier_recipe.FIRST.options, seed=SEED)
    training_loop.fit(
        module, tokenizer, verifier_recipe.examples(shown), course, saved=work / "verifier.pt", told=_tell
    )
    return training_loop.logits(module, tokenizer, pairs).astype(np.float64)


def _tell(step: training_loop.TrainingStep) -> None:
    if step.done % 50 == 0:
        sys.stderr.write(f"step {step.done} of {step.of}, loss {step.loss:.3f}\n")


def _cosines(pairs: Sequence[tuple[str, str]]) -> NDArray[np.float64]:
    one, two = (embedded([pair[side] for pair in pairs]) for side in (0, 1))
    found: NDArray[np.float64] = (one * two).sum(axis=1).astype(np.float64)
    return found


def _measured(held: Sequence[MinedPair], scores: Mapping[str, NDArray[np.float64]], kinds: set[str]) -> dict[str, Any]:
    """Traps of these kinds against all pairs of the same answer."""
    same = np.array([one.pair.same for one in held])
    trap = np.array([one.pair.kind in kinds for one in held])
    either = same | trap
    found: dict[str, Any] = {"traps": int(trap.sum()), "same": int(same.sum())}
    for name, score in scores.items():
        bar = np.quantile(score[trap], 1.0 - _SERVED)
        found[name] = {
            "roc_auc": round(metrics.measure(score[either], same[either]).roc_auc, 4),
            "served": round(float((score[same] > bar).mean()), 4),
        }
    return found


def _page(facts: Mapping[str, Any]) -> str:
    rows = [*facts["kinds"].items(), ("these together", facts["together"]), ("all other kinds", facts["all others"])]
    names = [name for name in facts["together"] if name not in ("traps", "same")]
    table = [
        [kind, str(one["traps"]), *(f"{one[name]['roc_auc']:.3f} / {one[name]['served']:.0%}" for name in names)]
        for kind, one in rows
    ]
    return "\n".join(
        [
            "# Kinds of traps that a verifier was never shown",
            "",
            f"Made by `{facts['command']}`, seed {facts['seed']}: two short courses of {facts['pairs']:,} authored",
            "pairs each, made for this comparison, measured on groups that are held out. In each cell: the ROC-AUC of",
            f"traps of the kind against {facts['together']['same']:,} pairs of the same answer, and the share of those",
            "pairs that is served where 1% of the traps of the kind are.",
            "",
            markdown.table(["kind of trap", "traps", *names], table),
            "",
        ]
    )


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
