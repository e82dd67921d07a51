"""The step of the recipe that makes the verifier: mix, train, calibrate, write.

Knows the order of the work and its sizes; what a pair is worth is `mixture`'s. Invariant: equal data, sizes and seed
give an equal folder on equal software, however often the step was interrupted.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.errors import InvalidArgument
from semcache.train.recipe import mixture, sources, vocabulary
from semcache.train.recipe.cards import BASE
from semcache.train.recipe.mixture import Embed, Found
from semcache.train.verifier import calibrating, fitting, graph, network
from semcache.train.verifier.fitting import Course, Example
from semcache.train.verifier.reading import Reader

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = "semcache-verifier"
LONGEST = 140  # characters of a text that is trained on
TAPPED = 4
WORDS = 20_000


@dataclass(frozen=True, slots=True)
class Sizes:
    """Pairs of each origin that are trained on, a quarter as many calibrate; and `prompts` that they are made from."""

    prompts: int = 14_000
    synthetic: int = 7_000
    found: int = 7_000
    paws: int = 500
    each: int = 2


def mixed(
    data: Path, embed: Embed, sizes: Sizes, seed: int, *, kinds: Sequence[str] | None = None
) -> tuple[list[Found], list[Found]]:
    """What is trained on and what calibrates. `kinds` are those of the synthetic edits, None for all."""
    from semcache.train.synthesize import synthesize

    prompts = list(sources.prompts(data))
    random.Random(seed).shuffle(prompts)
    prompts = [prompt for prompt in prompts[: sizes.prompts] if len(prompt.text) <= LONGEST]
    pool = [
        *mixture.synthetic(prompts, lambda texts: synthesize(texts, seed=seed, each=sizes.each, kinds=kinds)),
        *mixture.neighbours(prompts, embed, seed),
        *mixture.swapped(sources.paraphrases(data)),
    ]
    pool = [one for one in pool if max(len(one.pair.one), len(one.pair.two)) <= LONGEST or one.pair.kind == "paws"]
    counts = {"synthetic": sizes.synthetic, "found": sizes.found, "paws": sizes.paws}
    parts: list[list[Found]] = []
    for held in (False, True):
        part = []
        for name, count in counts.items():
            of = [one for one in pool if one.held is held and origin(one) == name]
            part += mixture.balanced(of, count // 4 if held else count, seed)
        random.Random(seed).shuffle(part)
        parts.append(part)
    return parts[0], parts[1]


@dataclass(frozen=True, slots=True)
class Made:
    """A trained verifier that has not been written yet; `held` are its figures on what it was calibrated with."""

    weights: graph.Arrays
    shape: network.Shape
    tokenizer: str
    scale: calibrating.Scale
    held: Mapping[str, float]

    def write(self, out: Path, *, seed: int) -> dict[str, Any]:
        """Write the folder `out` and return what its model.json says. Raises StoreError."""
        card = {"source": BASE, "licence": "Apache-2.0", "seed": seed}
        return graph.write(out, self.weights, self.shape, self.tokenizer, self.scale, name=NAME, card=card)


def make(
    base: Path,
    work: Path,
    parts: tuple[Sequence[Found], Sequence[Found]],
    *,
    seed: int,
    threads: int,
    told: Callable[[fitting.Step], None] = lambda _: None,
    read: Callable[[int, int], None] = lambda _, __: None,
) -> Made:
    """Train from the encoder in `base` and calibrate; what was done so far lies in `work`."""
    from tokenizers import Tokenizer

    words, ids = vocabulary.trimmed((base / "tokenizer.json").read_text(encoding="utf-8"), WORDS)
    encoder = encoder_of(base)
    encoder["embeddings.word_embeddings.weight"] = encoder["embeddings.word_embeddings.weight"][ids]
    shape = network.Shape(6, TAPPED, 12)
    tokenizer = Tokenizer.from_str(words)
    reader = Reader(graph.reading(encoder, shape), tokenizer, heads=shape.heads, threads=threads, told=read)
    weights = network.begin(encoder["embeddings.word_embeddings.weight"].shape[1], seed)
    train, check = parts
    examples = [Example(one.pair.one, one.pair.two, one.sure if one.pair.same else 1.0 - one.sure) for one in train]
    fitting.fit(weights, reader, examples, Course(seed=seed), saved=work / "verifier.pt", told=told)
    logits = fitting.logits(weights, reader, [(one.pair.one, one.pair.two) for one in check])
    same = [one.pair.same for one in check]
    scale = calibrating.fit(logits, same)
    arrays = {**encoder, **{name: value.numpy() for name, value in weights.items()}}
    return Made(arrays, shape, words, scale, _figures(logits, scale, same))


def encoder_of(base: Path) -> dict[str, NDArray[np.float32]]:
    """The weights of a sentence-transformers folder by their names in BERT."""
    from safetensors.numpy import load_file

    path = base / "model.safetensors"
    if not path.is_file():
        raise InvalidArgument(f"{path} is missing: save the model with safetensors first")
    return {name.removeprefix("bert."): value for name, value in load_file(path).items() if "position_ids" not in name}


def origin(one: Found) -> str:
    """Where a pair is from: "synthetic", "found" or "paws"."""
    return "synthetic" if one.pair.made.startswith("rule") else "paws" if one.pair.kind == "paws" else "found"


def _figures(logits: NDArray[np.float32], scale: calibrating.Scale, same: Sequence[bool]) -> dict[str, float]:
    from semcache.train.metrics import measure

    quality = measure(logits.astype(np.float64), np.array(same))
    return {
        "average precision": quality.average_precision,
        "ROC-AUC": quality.roc_auc,
        "recall at precision 0.95": quality.recall_95,
        "recall at precision 0.99": quality.recall_99,
        "calibration error": calibrating.expected_error(scale.of(logits), same),
    }
