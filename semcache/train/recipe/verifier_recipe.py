"""The step of the recipe that makes the verifier: mix, train, calibrate, write.

Knows the order of the work and its sizes; what a pair is worth is `mixture`'s and `authored`'s. Invariant: equal data,
sizes and seed give an equal folder on equal software, however often the step was interrupted.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.train.export import WORD_EMBEDDINGS, load_weights
from semcache.train.recipe import authored, mixture, sources, vocabulary
from semcache.train.recipe.mixture import Embed, MinedPair
from semcache.train.recipe.verifier_card import BASE
from semcache.train.verifier import cross_encoder_network, logit_calibration, training_loop, verifier_folder
from semcache.train.verifier.cross_encoder_network import NetworkShape
from semcache.train.verifier.training_loop import TrainingExample, VerifierTrainingOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = "semcache-verifier"
LONGEST = 140  # characters of a text of a data set that is trained on
WORDS = 20_000
LAYERS = 8  # of the encoder, from below: the others take a third of the time and of the size
COURSE = VerifierTrainingOptions(rate=5e-5, last=2.5e-6, fresh=4.0)


@dataclass(frozen=True, slots=True)
class MixtureSizes:
    """Pairs of each origin beside the authored ones, the `prompts` that they are of, and how many to `train` on."""

    train: int = 80_000
    prompts: int = 20_000
    synthetic: int = 6_000
    found: int = 4_000
    paws: int = 1_000
    each: int = 2


@dataclass(frozen=True, slots=True)
class VerifierParts:
    """The training pairs and the calibration pairs."""

    train: Sequence[MinedPair]
    check: Sequence[MinedPair]


def mixed(data: Path, embed: Embed, sizes: MixtureSizes, seed: int) -> VerifierParts:
    """The pairs of all origins. Raises StoreError for a data set that is missing."""
    from semcache.train.synthesize import synthesize

    prompts = list(sources.prompts(data))
    random.Random(seed).shuffle(prompts)
    prompts = [prompt for prompt in prompts[: sizes.prompts] if len(prompt.text) <= LONGEST]
    pool = [
        *mixture.synthetic(prompts, lambda texts: synthesize(texts, seed=seed, each=sizes.each)),
        *mixture.neighbours(prompts, embed, seed),
        *mixture.swapped(sources.paraphrases(data)),
    ]
    pool = [one for one in pool if max(len(one.pair.one), len(one.pair.two)) <= LONGEST or one.pair.kind == "paws"]
    counts = {"synthetic": sizes.synthetic, "found": sizes.found, "paws": sizes.paws}
    parts: list[list[MinedPair]] = []
    for held in (False, True):
        part = []
        for name, count in counts.items():
            of = [one for one in pool if one.held is held and origin(one) == name]
            part += mixture.balanced(of, count // 4 if held else count, seed)
        parts.append(part)
    written = list(authored.paired(authored.groups()))
    known = list(dict.fromkeys([*parts[0], *(one for one in written if not one.held)]))
    random.Random(seed).shuffle(known)
    return VerifierParts(known[: sizes.train], _even([*parts[1], *(one for one in written if one.held)], seed))


@dataclass(frozen=True, slots=True)
class TrainedVerifier:
    """A trained verifier that has not been written yet; `held` are its figures on what it was calibrated with."""

    weights: verifier_folder.Arrays
    shape: NetworkShape
    tokenizer: str
    scale: logit_calibration.LogitScale
    held: Mapping[str, Mapping[str, float]]

    def write(self, out: Path, *, seed: int) -> dict[str, Any]:
        """Write the folder `out` and return what its model.json says. Raises StoreError."""
        card = {"source": BASE, "licence": "Apache-2.0", "seed": seed}
        return verifier_folder.write(out, self.weights, self.shape, self.tokenizer, self.scale, name=NAME, card=card)


def make(
    base: Path,
    work: Path,
    parts: VerifierParts,
    *,
    seed: int,
    course: VerifierTrainingOptions = COURSE,
    told: Callable[[training_loop.TrainingStep], None] = lambda _: None,
) -> TrainedVerifier:
    """Train from the encoder in `base` and calibrate; what was done so far lies in `work`."""
    from tokenizers import Tokenizer

    module, shape, words = started(base, seed)
    tokenizer = Tokenizer.from_str(words)
    training_loop.fit(
        module, tokenizer, examples(parts.train), replace(course, seed=seed), saved=work / "verifier.pt", told=told
    )
    found = training_loop.logits(module, tokenizer, [(one.pair.one, one.pair.two) for one in parts.check])
    same = [one.pair.same for one in parts.check]
    scale = logit_calibration.fit(found, same)
    held = {}
    for name in ("authored", "synthetic", "found", "paws"):
        of = [place for place, one in enumerate(parts.check) if origin(one) == name]
        held[name] = _figures(found[of], scale, [same[place] for place in of])
    return TrainedVerifier(cross_encoder_network.arrays(module), shape, words, scale, held)


def started(base: Path, seed: int) -> tuple[cross_encoder_network.Module, NetworkShape, str]:
    """A network before its training, of the lower layers of the encoder in the folder `base`, and its tokenizer's JSON.

    Raises InvalidArgument for a folder without weights.
    """
    words, ids = vocabulary.trimmed((base / "tokenizer.json").read_text(encoding="utf-8"), WORDS)
    config = json.loads((base / "config.json").read_text(encoding="utf-8"))
    shape = NetworkShape(min(LAYERS, int(config["num_hidden_layers"])), int(config["num_attention_heads"]))
    known = cross_encoder_network.renamed(load_weights(base))
    known[WORD_EMBEDDINGS] = known[WORD_EMBEDDINGS][ids]
    return cross_encoder_network.begin(known, shape, seed), shape, words


def examples(some: Sequence[MinedPair]) -> list[TrainingExample]:
    """The training examples: labels as far as they are sure."""
    return [TrainingExample(one.pair.one, one.pair.two, one.sure if one.pair.same else 1.0 - one.sure) for one in some]


def _even(some: Sequence[MinedPair], seed: int) -> list[MinedPair]:
    """As many pairs of either label: P(same) is to be that on even odds."""
    rng = random.Random(seed)
    of = [[one for one in some if one.pair.same is same] for same in (True, False)]
    chosen = [one for part in of for one in rng.sample(part, min(map(len, of)))]
    rng.shuffle(chosen)
    return chosen


def origin(one: MinedPair) -> str:
    """Where a pair is from: "synthetic", "found", "paws" or "authored"."""
    if one.pair.made.startswith("authored"):
        return "authored"
    return "synthetic" if one.pair.made.startswith("rule") else "paws" if one.pair.kind == "paws" else "found"


def _figures(
    logits: NDArray[np.float32], scale: logit_calibration.LogitScale, same: Sequence[bool]
) -> dict[str, float]:
    from semcache.train.metrics import measure

    quality = measure(logits.astype(np.float64), np.array(same))
    return {
        "pairs": len(same),
        "average precision": quality.average_precision,
        "ROC-AUC": quality.roc_auc,
        "recall at precision 0.95": quality.recall_95,
        "recall at precision 0.99": quality.recall_99,
        "calibration error": logit_calibration.expected_error(scale.of(logits), same),
    }
