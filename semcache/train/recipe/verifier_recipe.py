"""The step of the recipe that makes the verifier: mix, train, calibrate, write.

Knows the order of the work and its sizes; what a pair is worth is `mixture`'s and `authored`'s. Invariant: equal data,
sizes and seed give an equal folder on equal software, however often the step was interrupted.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semcache.train.export import WEIGHT_LEVELS, WORD_EMBEDDINGS, load_weights
from semcache.train.recipe import authored, mixture, natural, sources, vocabulary
from semcache.train.recipe.mixture import Embed, MinedPair
from semcache.train.recipe.verifier_card import BASE
from semcache.train.verifier import (
    cross_encoder_network,
    grid_weights,
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
# In three courses of natural neighbours a word that a question lacks hardly ever changes its answer, and such words
# were no longer heard; the last two teach that they may change it.
COURSES = (
    VerifierTrainingOptions(rate=5e-5, last=2.5e-6, fresh=4.0),
    VerifierTrainingOptions(rate=4e-5, last=1e-6, fresh=1.0, half=True),
    *[VerifierTrainingOptions(rate=3e-5, last=5e-7, fresh=1.0, half=True)] * 4,
    *[VerifierTrainingOptions(rate=3e-5, last=1e-5, fresh=1.0, half=True)] * 2,
    *[VerifierTrainingOptions(rate=2e-5, last=5e-7, fresh=1.0, half=True, levels=WEIGHT_LEVELS)] * 3,
)
GO_ON = 5  # of the courses, the last ones: those that `--go-on` trains a folder's verifier in
# The topics of written groups that are read after those of the pool "mixed", with the sets of data.
TOPICS = {
    "written_2": frozenset(
        [
            *("aspects", "close", "company", "expert", "explanations", "facts", "forum", "helpdesk", "loose"),
            *("one_word", "practical", "products", "services", "technical", "who_whom"),
        ]
    ),
    "written_3": frozenset(("conditions", "counter", "directions", "doing", "general", "terse")),
    "written_4": frozenset(
        [
            *("apps", "brief_asking", "chores", "customers", "household", "money", "office", "particulars"),
            *("programming", "public_questions", "reasons", "studies", "synonyms", "wellbeing", "world"),
        ]
    ),
    "contrasts": frozenset(("contrasts_asked", "contrasts_fillers", "contrasts_parts")),
    "contrasts_2": frozenset(
        [
            *("contrasts_compounds", "contrasts_desk", "contrasts_grammar", "contrasts_little"),
            *("contrasts_lookalikes", "contrasts_questions"),
        ]
    ),
    # Written since the last course: no course has read these yet.
    "reworded": frozenset(
        [
            *("desk_reworded", "idiom_colloquial", "knowledge_reworded", "long_restructured"),
            *("spoken_tasks", "synonyms_reworded", "tech_reworded"),
        ]
    ),
    "far": frozenset(("far_attributes", "far_directions", "far_entities", "long_prompts_2", "plain_askers")),
}
BESIDE = {"mixed": 1}  # rewordings that each different text stands beside, beside the prompt; of other pools two
# The hands of natural questions, by pool.
HANDS = {
    "asked": frozenset(("site", "phone", "assistant", "search", "layman", "forum")),
    "asked_2": frozenset(
        [
            *("public", "voice", "board", "box", "staff", "terse", "chat", "hurried"),
            *("tasks", "brief_tasks", "careful_tasks", "long_public", "long_staff"),
            *("careful", "students", "travellers", "keywords"),
        ]
    ),
}


@dataclass(frozen=True, slots=True)
class MixtureSizes:
    """How many pairs of which pool each course reads, and how many of each origin there are beside the written ones.

    The pairs of the data sets are of so many `prompts`. What comes of them is calibrated and measured on `check` pairs.
    """

    courses: tuple[Mapping[str, int], ...] = (
        {"mixed": 80_000},
        {"mixed": 8_000, "written_2": 40_000},
        {"mixed": 3_000, "written_2": 12_000, "written_3": 24_000},
        {"mixed": 2_000, "written_2": 2_000, "written_4": 40_000},
        {"mixed": 4_000, "written_2": 3_000, "written_4": 4_000, "asked": 12_000},
        {"mixed": 4_000, "written_2": 4_000, "written_3": 6_000, "written_4": 12_000, "asked": 12_000},
        {"mixed": 8_000, "written_2": 6_000, "written_3": 6_000, "written_4": 12_000, "asked": 12_000},
        {"mixed": 3_000, "written_2": 4_000, "written_3": 2_000, "written_4": 6_000, "asked": 4_000, "asked_2": 30_000},
        {"mixed": 2_000, "written_2": 3_000, "written_3": 2_000, "written_4": 4_000, "asked": 4_000, "asked_2": 20_000},
        {
            "mixed": 2_000,
            "written_2": 2_000,
            "written_3": 1_000,
            "written_4": 3_000,
            "asked": 2_000,
            "asked_2": 6_000,
            "contrasts": 16_000,
        },
        {
            "mixed": 1_000,
            "written_2": 2_000,
            "written_3": 1_000,
            "written_4": 2_000,
            "asked": 2_000,
            "asked_2": 10_000,
            "contrasts": 2_000,
            "contrasts_2": 14_000,
        },
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
    pools = {"mixed": [*parts[0], *parts[1]], **{name: [] for name in (*TOPICS, *HANDS)}}
    of_topic = {topic: name for name, topics in TOPICS.items() for topic in topics}
    for group in authored.groups():
        name = of_topic.get(group.topic, "mixed")
        pools[name] += authored.paired([group], beside=BESIDE.get(name, 2))
    of_hand = {hand: name for name, hands in HANDS.items() for hand in hands}
    unread: list[MinedPair] = []
    for pair in natural.paired():
        read_in = of_hand.get(pair.pair.made.partition(":")[2])
        (pools[read_in] if read_in else unread).append(pair)
    check = _even([one for pairs in (*pools.values(), unread) for one in pairs if one.held and one.sure > 0.5], seed)
    read = {name: _shuffled(dict.fromkeys(one for one in pairs if not one.held), seed) for name, pairs in pools.items()}
    return VerifierParts(in_courses(read, sizes.courses, seed), check[: sizes.check])


def in_courses(
    pools: Mapping[str, Sequence[MinedPair]], courses: Sequence[Mapping[str, int]], seed: int
) -> list[list[MinedPair]]:
    """The pairs of each course, of the shuffled `pools`.

    What no course has read comes first; a pool that was read to its end is read from its beginning again.
    """
    left = {name: cycle(pool) for name, pool in pools.items()}
    made = []
    for counts in courses:
        some: list[MinedPair] = []
        for name, count in counts.items():
            some += islice(left[name], min(count, len(pools[name])))
        made.append(_shuffled(some, seed))
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
    tokenizer = _tokenizer(begun)
    for place, course in enumerate(courses, len(parts.courses) - len(courses)):
        some, saved = examples(parts.courses[place]), work / f"verifier-{place + 1}.pt"
        training_loop.fit(begun.module, tokenizer, some, replace(course, seed=seed), saved=saved, told=told)
    if courses[-1].levels:
        grid_weights.round_nearest(cross_encoder_network.linear_weights(begun.module), courses[-1].levels)
    else:
        read = [(one.pair.one, one.pair.two) for one in parts.courses[-1]]
        rounded_network.round_weights(begun.module, tokenizer, read)
    return calibrated(begun, parts)


def calibrated(trained: StartedNetwork, parts: VerifierParts) -> TrainedVerifier:
    """A network whose weights are on the grid of the folder, with the scale of its word and its figures."""
    module, shape, words = trained
    tokenizer = _tokenizer(trained)
    found = training_loop.logits(module, tokenizer, [(one.pair.one, one.pair.two) for one in parts.check])
    same = [one.pair.same for one in parts.check]
    scale = logit_calibration.fit(found, same)
    held = {}
    for name in ("unread", "natural", "authored", "synthetic", "found", "paws"):
        if of := [place for place, one in enumerate(parts.check) if origin(one) == name]:
            held[name] = _figures(found[of], scale, [same[place] for place in of])
    return TrainedVerifier(cross_encoder_network.arrays(module), shape, words, scale, held)


def _tokenizer(of: StartedNetwork) -> Any:
    from tokenizers import Tokenizer

    return Tokenizer.from_str(of.words)


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
