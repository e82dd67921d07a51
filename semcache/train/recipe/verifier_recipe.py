"""The step of the recipe that makes the verifier: mix, teach, train, calibrate, write.

Teachers, which have all layers of the encoder, learn from the labelled pairs. Students, which have fewer, learn from
them too and then from the teachers' predictions on these pairs and on others that nobody labelled; the first of them
learns from the predictions of all at last (Hinton et al. 2015, "Distilling the knowledge in a neural network").
Knows the order of the work and its sizes; what a pair is worth is `mixture`'s and `authored`'s. Invariant: equal data,
sizes and seed give an equal folder on equal software, however often the step was interrupted; a GPU adds in another
order each time, and gives one that is nearly equal.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from semcache.train.bert_graph import WEIGHT_LEVELS, WORD_EMBEDDINGS
from semcache.train.export import load_weights
from semcache.train.recipe import authored, mixture, natural, sources, unlabelled, vocabulary
from semcache.train.recipe.mixture import Embed, MinedPair
from semcache.train.recipe.unlabelled import TextPair
from semcache.train.recipe.verifier_card import BASE
from semcache.train.verifier import cross_encoder_network, logit_calibration, training_loop, verifier_folder
from semcache.train.verifier.cross_encoder_network import NetworkShape
from semcache.train.verifier.grid_weights import round_nearest
from semcache.train.verifier.training_loop import TrainingExample, VerifierTrainingOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAME = "semcache-verifier"
LONGEST = 140  # characters of a text of a data set that is trained on
WORDS = 20_000
MISLEADING = ("unread_sly", "unread_contrasts")  # hands that wrote to mislead, as no traffic does
LAYERS = 8  # of the encoder, from below, that a student has: the others take a third of the time and of the size
TEACHERS, STUDENTS = 3, 2
# Topics of which each different text stands beside one rewording, beside the prompt; in others beside two.
ONE_BESIDE = frozenset(
    [
        *("asking_life", "asking_loosely", "asking_work", "asking_world", "business", "code", "edits", "everyday"),
        *("health", "knowledge", "long", "requests", "roles", "short", "sly", "support", "tasks", "workplace"),
    ]
)
# Topics written against a verifier, whose every pair was meant: each different text stands beside all rewordings.
AGAINST_IT = frozenset(
    [
        *("at_the_counter", "colloquial_english", "customers_write", "developers_ask", "engineers_and_offices"),
        *("hardly_a_word_shared", "idiom_regional", "knowledge_in_other_words", "long_briefs", "order_and_figures"),
        *("paraphrased_freely", "second_language", "situations_told", "small_words_matter", "typed_carelessly"),
        *("typed_on_phones", "word_problems", "formulas_and_queries", "code_asked_for", "instructions_over_text"),
        *("briefs_and_situations", "freely_reworded"),
    ]
)


@dataclass(frozen=True, slots=True)
class Course:
    """One training of a network: how, and on how many pairs, drawn at random until none is left, and then again.

    `word` is the share of the teachers' word in the target of a labelled pair; of a pair without a label it is all of
    it. Where no teachers are heard, no such pair is read, and natural questions are drawn `natural` times as often.
    """

    options: VerifierTrainingOptions
    pairs: int
    natural: int = 1
    word: float = 0.0


FIRST = Course(VerifierTrainingOptions(batch=64, rate=5e-5, last=1e-6, fresh=4.0, half=True), 272_000, natural=2)
TEACHING = Course(replace(FIRST.options, batch=192, rate=7e-5), 623_000, natural=2)
_AS_WRITTEN = VerifierTrainingOptions(batch=128, fresh=1.0, half=True, both_orders=True, levels=WEIGHT_LEVELS)
SECOND = Course(replace(_AS_WRITTEN, rate=5e-5, last=5e-7, grid_from=0.6), 1_237_000, word=0.6)
THIRD = Course(replace(_AS_WRITTEN, rate=2.5e-5, last=2e-7), 631_000, word=0.65)


@dataclass(frozen=True, slots=True)
class MixtureSizes:
    """How many pairs there are of each origin beside the written ones and the natural questions.

    The pairs of the data sets are of so many `prompts`. What comes of the training is calibrated and measured on
    `check` pairs.
    """

    check: int = 8_000
    prompts: int = 20_000
    synthetic: int = 6_000
    found: int = 4_000
    paws: int = 1_000
    each: int = 2


@dataclass(frozen=True, slots=True)
class VerifierParts:
    """The labelled pairs to train on, those without a label, and the calibration pairs."""

    labelled: Sequence[MinedPair]
    unlabelled: Sequence[TextPair]
    check: Sequence[MinedPair]


def mixed(data: Path, embed: Embed, sizes: MixtureSizes, seed: int) -> VerifierParts:
    """The pairs of all origins. Raises StoreError for a data set that is missing."""
    prompts = list(sources.prompts(data))
    random.Random(seed).shuffle(prompts)
    prompts = [prompt for prompt in prompts[: sizes.prompts] if len(prompt.text) <= LONGEST]
    groups = list(authored.groups())
    pairs = _of_data_sets(prompts, data, embed, sizes, seed)
    for group in groups:
        pairs += authored.paired([group], beside=rewordings_beside(group))
    pairs += natural.paired()
    labelled = list(dict.fromkeys(one for one in pairs if not one.held))
    check = _even([one for one in pairs if one.held and one.sure > 0.5], seed)[: sizes.check]
    trained = [group for group in groups if not group.held]
    rng = random.Random(seed)
    asked = [text for group in trained for text in (group.prompt, rng.choice(group.same or (group.prompt,)))]
    near = [
        *unlabelled.within(trained, seed),
        *unlabelled.near([one.text for one in natural.questions() if not one.held], embed, count=10, least=0.55),
        *unlabelled.near(list(dict.fromkeys(asked)), embed, count=6, least=0.6),
        *unlabelled.near([prompt.text for prompt in prompts if not prompt.held], embed, count=4, least=0.6),
    ]
    return VerifierParts(labelled, unlabelled.unknown(near, labelled, seed), check)


def rewordings_beside(group: authored.AuthoredGroup) -> int:
    """How many rewordings each different text of a group stands beside, next to the prompt."""
    if group.topic in AGAINST_IT:
        return len(group.same)
    return 1 if group.topic in ONE_BESIDE else 2


def _of_data_sets(
    prompts: Sequence[sources.SourcePrompt], data: Path, embed: Embed, sizes: MixtureSizes, seed: int
) -> list[MinedPair]:
    """Pairs of the data sets, as many of each origin as `sizes` says, and a quarter of it that is held out."""
    from semcache.train.synthesize import synthesize

    pool = [
        *mixture.synthetic(prompts, lambda texts: synthesize(texts, seed=seed, each=sizes.each)),
        *mixture.neighbours(prompts, embed, seed),
        *mixture.swapped(sources.paraphrases(data)),
    ]
    pool = [one for one in pool if max(len(one.pair.one), len(one.pair.two)) <= LONGEST or one.pair.kind == "paws"]
    chosen: list[MinedPair] = []
    for held in (False, True):
        for name, count in {"synthetic": sizes.synthetic, "found": sizes.found, "paws": sizes.paws}.items():
            of = [one for one in pool if one.held is held and origin(one) == name]
            chosen += mixture.balanced(of, count // 4 if held else count, seed)
    return chosen


def course_of(
    parts: VerifierParts, course: Course, seed: int, word: NDArray[np.float32] | None = None
) -> list[TrainingExample]:
    """The examples of a course, in order. `word` are logits of the labelled pairs and then of those without a label."""
    known = examples(parts.labelled)
    order = list(range(len(known)))
    if word is None:
        order += [place for place in order if origin(parts.labelled[place]) == "natural"] * (course.natural - 1)
    else:
        p = 1.0 / (1.0 + np.exp(-word.astype(np.float64)))
        for place, one in enumerate(known):
            target = (1.0 - course.word) * one.target + course.word * float(p[place])
            known[place] = replace(one, target=target)
        of_others = zip(parts.unlabelled, p[len(known) :], strict=True)
        known += [TrainingExample(one, two, float(target)) for (one, two), target in of_others]
        order = list(range(len(known)))
    random.Random(seed).shuffle(order)
    return [known[place] for place in islice(cycle(order), course.pairs)]


@dataclass(frozen=True, slots=True)
class TrainedVerifier:
    """A trained verifier that has not been written yet; `held` are its figures on the check pairs, by origin."""

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
    base: Path,
    work: Path,
    parts: VerifierParts,
    *,
    seed: int,
    told: Callable[[training_loop.TrainingStep], None] = lambda _: None,
    device: str = "cpu",
    courses: tuple[Course, Course, Course, Course] = (TEACHING, FIRST, SECOND, THIRD),
) -> TrainedVerifier:
    """Train teachers and students from the encoder in the folder `base`, and calibrate; what was done lies in `work`.

    `device` is torch's. Raises InvalidArgument for a folder without weights.
    """
    teaching, first, second, third = courses

    def train(name: str, network: StartedNetwork, course: Course, drawn: int, word: Any = None) -> None:
        some, options = course_of(parts, course, drawn, word), replace(course.options, seed=drawn)
        saved = work / f"verifier-{name}.pt"
        training_loop.fit(network.module, _tokenizer(network), some, options, saved=saved, told=told, device=device)

    teachers, students = [], []
    for place in range(TEACHERS):
        network = started(base, seed + place, layers=None)
        train(f"teacher-{place + 1}", network, teaching, seed + place)
        teachers.append(_word(network, parts))
    for place in range(STUDENTS):
        network = started(base, seed + place, layers=LAYERS)
        train(f"student-{place + 1}", network, first, seed + place)
        train(f"taught-{place + 1}", network, second, seed + place, np.mean(teachers, axis=0))
        students.append(network)
    words = [_word(network, parts) for network in students]
    train("last", students[0], third, seed, np.mean([*words, np.mean(teachers, axis=0)], axis=0))
    module = students[0].module.to("cpu")
    round_nearest(cross_encoder_network.linear_weights(module), WEIGHT_LEVELS)
    return calibrated(students[0], parts)


def _word(of: StartedNetwork, parts: VerifierParts) -> NDArray[np.float32]:
    """The logits of a network for the labelled pairs and then for those without a label."""
    texts = [*((one.pair.one, one.pair.two) for one in parts.labelled), *parts.unlabelled]
    return training_loop.logits(of.module, _tokenizer(of), texts)


def calibrated(trained: StartedNetwork, parts: VerifierParts) -> TrainedVerifier:
    """A network whose weights are on the grid of the folder, with the scale of its word and its figures.

    The scale is that of the pairs of hands of which nothing was read, where there are any: they are nearest to what
    strangers send, while held-out groups of the other hands were written to be hard.
    """
    module, shape, words = trained
    tokenizer = _tokenizer(trained)
    found = training_loop.logits(module, tokenizer, [(one.pair.one, one.pair.two) for one in parts.check])
    same = [one.pair.same for one in parts.check]
    strangers = [place for place, one in enumerate(parts.check) if by_stranger(one)] or list(range(len(same)))
    scale = logit_calibration.fit(found[strangers], [same[place] for place in strangers])
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


def started(base: Path, seed: int, *, layers: int | None = LAYERS) -> StartedNetwork:
    """A network before its training, of so many layers of the encoder in the folder `base`, from below; None: of all.

    Raises InvalidArgument for a folder without weights.
    """
    words, ids = vocabulary.trimmed((base / "tokenizer.json").read_text(encoding="utf-8"), WORDS)
    config = json.loads((base / "config.json").read_text(encoding="utf-8"))
    has = int(config["num_hidden_layers"])
    shape = NetworkShape(min(layers or has, has), int(config["num_attention_heads"]))
    known = cross_encoder_network.renamed(load_weights(base))
    known[WORD_EMBEDDINGS] = known[WORD_EMBEDDINGS][ids]
    return StartedNetwork(cross_encoder_network.begin(known, shape, seed), shape, words)


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


def by_stranger(one: MinedPair) -> bool:
    """Return True for a pair of a hand of which nothing is trained on, and which did not write to mislead."""
    return origin(one) in ("unread", "natural") and not one.pair.made.endswith(MISLEADING)


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
