"""The step of the recipe that makes the verifier: mix, train, calibrate, write.

Knows the order of the work and its sizes; what a pair is worth is `mixture`'s and `authored`'s. Invariant: equal data,
sizes and seed give an equal folder on equal software, however often the step was interrupted.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semcache.train.export import WORD_EMBEDDINGS, load_weights
from semcache.train.recipe import authored, mixture, natural, sources, vocabulary
from semcache.train.recipe.mixture import Embed, MinedPair
from semcache.train.recipe.verifier_card import BASE
from semcache.train.verifier import (
    cross_encoder_network,
    logit_calibration,
    rounded_network,
    training_loop,
    verifier_folder,
)
from semcache.train.verifier.cross_encoder_network import NetworkShape
from semcache.train.verifier.training_loop import TrainingExample, VerifierTrainingOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = "semcache-verifier"
LONGEST = 140  # characters of a text of a data set that is trained on
WORDS = 20_000
LAYERS = 8  # of the encoder, from below: the others take a third of the time and of the size
COURSES = (
    VerifierTrainingOptions(rate=5e-5, last=2.5e-6, fresh=4.0),
    VerifierTrainingOptions(rate=4e-5, last=1e-6, fresh=1.0, half=True),
    *[VerifierTrainingOptions(rate=3e-5, last=5e-7, fresh=1.0, half=True)] * 4,
)
GO_ON = 2  # of the courses, the last ones: those that `--go-on` trains a folder's verifier in
# The topics of written groups that the courses after the first are the first to see. The fifth course is the first to
# see natural questions, the sixth reads all again.
TOPICS = (
    frozenset(
        [
            *("aspects", "close", "company", "expert", "explanations", "facts", "forum", "helpdesk", "loose"),
            *("one_word", "practical", "products", "services", "technical", "who_whom"),
        ]
    ),
    frozenset(("conditions", "counter", "directions", "doing", "general", "terse")),
    frozenset(
        [
            *("apps", "brief_asking", "chores", "customers", "household", "money", "office", "particulars"),
            *("programming", "public_questions", "reasons", "studies", "synonyms", "wellbeing", "world"),
        ]
    ),
)
BESIDE = (1, 2, 2, 2)  # rewordings that each different text stands beside, beside the prompt, in each course


@dataclass(frozen=True, slots=True)
class MixtureSizes:
    """Pairs of each origin beside the authored ones, and the `prompts` that they are of.

    Each course is of so many pairs of its own (`fresh`), and of so many of every earlier one (`again`).
    What comes of them is calibrated and measured on `check` pairs.
    """

    fresh: tuple[int, ...] = (80_000, 40_000, 24_000, 40_000, 24_000, 0)
    again: tuple[tuple[int, ...], ...] = (
        (),
        (8_000,),
        (3_000, 12_000),
        (2_000, 2_000, 0),
        (4_000, 3_000, 0, 4_000),
        (4_000, 4_000, 6_000, 12_000, 8_000),
    )
    check: int = 8_000
    prompts: int = 20_000
    synthetic: int = 6_000
    found: int = 4_000
    paws: int = 1_000
    each: int = 2


@dataclass(frozen=True, slots=True)
class VerifierParts:
    """The training pairs of each course, and the calibration pairs."""

    courses: Sequence[Sequence[MinedPair]]
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
        part: list[MinedPair] = []
        for name, count in counts.items():
            of = [one for one in pool if one.held is held and origin(one) == name]
            part += mixture.balanced(of, count // 4 if held else count, seed)
        parts.append(part)
    groups = list(authored.groups())
    courses = [list(authored.paired(_of(groups, place), beside=beside)) for place, beside in enumerate(BESIDE)]
    courses.append(list(natural.paired()))
    courses[0] = [*parts[0], *parts[1], *courses[0]]
    pools = [_shuffled(dict.fromkeys(pair for pair in pairs if not pair.held), seed) for pairs in courses]
    check = _even([pair for pairs in courses for pair in pairs if pair.held and pair.sure > 0.5], seed)
    return VerifierParts(in_courses(pools, sizes, seed), check[: sizes.check])


def _of(groups: Iterable[authored.AuthoredGroup], course: int) -> Iterator[authored.AuthoredGroup]:
    """Those groups that a course is the first to see."""
    first = {topic: place for place, topics in enumerate(TOPICS, 1) for topic in topics}
    return (group for group in groups if first.get(group.topic, 0) == course)


def in_courses(pools: Sequence[Sequence[MinedPair]], sizes: MixtureSizes, seed: int) -> list[list[MinedPair]]:
    """The pairs of each course, of the shuffled pairs that each is the first to see.

    What no course has read comes first; a pool of which nothing is left is read from its beginning again.
    """
    left = [list(pool) for pool in pools]
    made = []
    for place, (fresh, again) in enumerate(zip(sizes.fresh, sizes.again, strict=True)):
        some: list[MinedPair] = []
        for earlier, count in (*enumerate(again), *([(place, fresh)] if fresh else ())):
            left[earlier] = left[earlier] or list(pools[earlier])
            some += left[earlier][:count]
            del left[earlier][:count]
        made.append(_shuffled(some, seed) if place else some)
    return made


def _shuffled(some: Iterable[MinedPair], seed: int) -> list[MinedPair]:
    found = list(some)
    random.Random(seed).shuffle(found)
    return found


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
        card = {"source": BASE, "licence": "Apache-2.0", "language": "en", "seed": seed}
        return verifier_folder.write(out, self.weights, self.shape, self.tokenizer, self.scale, name=NAME, card=card)


def make(
    begun: StartedNetwork,
    work: Path,
    parts: VerifierParts,
    *,
    seed: int,
    courses: Sequence[VerifierTrainingOptions] = COURSES,
    told: Callable[[training_loop.TrainingStep], None] = lambda _: None,
) -> TrainedVerifier:
    """Train in the last `courses` and calibrate; what was done so far lies in `work`."""
    from tokenizers import Tokenizer

    module, shape, words = begun
    tokenizer = Tokenizer.from_str(words)
    for place, course in enumerate(courses, len(parts.courses) - len(courses)):
        some, saved = examples(parts.courses[place]), work / f"verifier-{place + 1}.pt"
        training_loop.fit(module, tokenizer, some, replace(course, seed=seed), saved=saved, told=told)
    read = [(one.pair.one, one.pair.two) for one in parts.courses[-1]]
    rounded_network.round_weights(module, tokenizer, read)
    found = training_loop.logits(module, tokenizer, [(one.pair.one, one.pair.two) for one in parts.check])
    same = [one.pair.same for one in parts.check]
    scale = logit_calibration.fit(found, same)
    held = {}
    for name in ("unread", "natural", "authored", "synthetic", "found", "paws"):
        if of := [place for place, one in enumerate(parts.check) if origin(one) == name]:
            held[name] = _figures(found[of], scale, [same[place] for place in of])
    return TrainedVerifier(cross_encoder_network.arrays(module), shape, words, scale, held)


class StartedNetwork(NamedTuple):
    """A network to train, its shape, and its tokenizer's JSON."""

    module: cross_encoder_network.Module
    shape: NetworkShape
    words: str


def started(base: Path, seed: int) -> StartedNetwork:
    """A network before its training, of the lower layers of the encoder in the folder `base`.

    Raises InvalidArgument for a folder without weights.
    """
    words, ids = vocabulary.trimmed((base / "tokenizer.json").read_text(encoding="utf-8"), WORDS)
    config = json.loads((base / "config.json").read_text(encoding="utf-8"))
    shape = NetworkShape(min(LAYERS, int(config["num_hidden_layers"])), int(config["num_attention_heads"]))
    known = cross_encoder_network.renamed(load_weights(base))
    known[WORD_EMBEDDINGS] = known[WORD_EMBEDDINGS][ids]
    return StartedNetwork(cross_encoder_network.begin(known, shape, seed), shape, words)


def resumed(folder: Path, seed: int) -> StartedNetwork:
    """The network of a verifier's folder, as precise as its int8 weights are. Raises ConfigError."""
    weights, shape = verifier_folder.read(folder)
    words = (folder / "tokenizer.json").read_text(encoding="utf-8")
    return StartedNetwork(cross_encoder_network.begin(weights, shape, seed), shape, words)


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
    """Where a pair is from: "synthetic", "found", "paws", "natural", "authored", or "unread" if of an unread hand."""
    kind, _, topic = one.pair.made.partition(":")
    if kind == "natural":
        return kind
    if kind == "authored":
        return "unread" if authored.unread(topic) else "authored"
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
