"""Retraining of the installed verifier on a cache's own labels, and its replacement if that made it better.

Knows the order of the work: split, train, calibrate, compare, install. Rehearses with synthetic pairs of the same
prompts, so that the skills of the shipped verifier are not forgotten. Invariant: the place of the verifier holds the
old one or a new one that `replacement.compare` does not object to; held-out labels were neither trained on nor
calibrated with.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from semcache.errors import InvalidArgument
from semcache.train import pairs as files
from semcache.train import splits
from semcache.train.atomic_folder import vacant
from semcache.train.verifier import (
    cross_encoder_network,
    logit_calibration,
    rounded_network,
    training_loop,
    verifier_folder,
)
from semcache.train.verifier import replacement as drift

if TYPE_CHECKING:
    from semcache.train.pairs import Pair

LEAST = 200  # labelled pairs below which there is nothing to learn, and too little to compare by
CHECK = "check.jsonl"
_GENTLE = training_loop.VerifierTrainingOptions(passes=2, rate=2e-5)
_SHARE = 0.2  # of the labels, to calibrate with, and again to compare by


@dataclass(frozen=True, slots=True)
class RetrainingOutcome:
    """The result of a retraining.

    `id` is that of the verifier now in place: the old one where `drift.against` objects.
    """

    drift: drift.ReplacementDecision
    id: str
    trained: int
    rehearsed: int

    @property
    def installed(self) -> bool:
        """True if the new verifier took the old one's place."""
        return not self.drift.against


def retrain(
    old: Path,
    out: Path,
    labels: Sequence[Pair],
    *,
    seed: int = 7,
    course: training_loop.VerifierTrainingOptions = _GENTLE,
    told: Callable[[training_loop.TrainingStep], None] = lambda _: None,
) -> RetrainingOutcome:
    """Train the verifier in `old` on `labels` and install it in `out`, if it is better.

    Raises InvalidArgument for fewer than `LEAST` pairs or one class, ConfigError for a folder that is no verifier,
    StoreError for a full disk.
    """
    from tokenizers import Tokenizer

    from semcache.models.cross_encoder import CrossEncoder
    from semcache.train.synthesize import synthesize

    vacant(out, replace=True)
    labels = splits.distinct(labels)
    if len(labels) < LEAST:
        raise InvalidArgument(f"{len(labels)} labelled pairs are too few to train a verifier: {LEAST} at least")
    parts = splits.split(labels, check=_SHARE, test=_SHARE, seed=seed)
    for part, name in zip(parts, ("to train on", "to calibrate with", "to compare by"), strict=True):
        files.both_classes(part, f"the labels {name}")
    rehearsed = [_rehearsal(part, synthesize, seed) for part in parts[:2]]
    before, check = CrossEncoder(old), files.read(old / CHECK)
    arrays, shape = verifier_folder.read(old)
    module = cross_encoder_network.begin(arrays, shape, seed)
    words = (old / "tokenizer.json").read_text(encoding="utf-8")
    tokenizer = Tokenizer.from_str(words)
    train = [*parts.train, *rehearsed[0]]
    training_loop.fit(module, tokenizer, [_example(pair) for pair in train], replace(course, seed=seed), told=told)
    rounded_network.round_weights(module, tokenizer, _texts(train))
    known = [*parts.check, *rehearsed[1]]
    scale = logit_calibration.fit(training_loop.logits(module, tokenizer, _texts(known)), [pair.same for pair in known])
    card = json.loads((old / "model.json").read_text(encoding="utf-8"))
    kept = {name: card[name] for name in ("source", "licence") if name in card}
    with tempfile.TemporaryDirectory() as folder:
        fresh = Path(folder) / "verifier"
        told_of = {**kept, "retrained_from": before.id, "labels": len(parts.train)}
        verifier_folder.write(
            fresh, cross_encoder_network.arrays(module), shape, words, scale, name="semcache-verifier-own", card=told_of
        )
        after = CrossEncoder(fresh)
        both = [(before.probabilities(_texts(some)), after.probabilities(_texts(some))) for some in (parts.test, check)]
        found = drift.compare([pair.same for pair in parts.test], both[0], [pair.same for pair in check], both[1])
        if not found.against:
            verifier_folder.install(fresh, out, beside=[old / CHECK])
    return RetrainingOutcome(found, before.id if found.against else after.id, len(parts.train), len(rehearsed[0]))


def _rehearsal(part: Sequence[Pair], synthesize: Callable[..., object], seed: int) -> list[Pair]:
    """Synthetic pairs of the prompts of labelled pairs, as many as there are of these."""
    prompts = list(dict.fromkeys(text for pair in part for text in (pair.one, pair.two)))
    made: list[Pair] = list(synthesize(prompts, seed=seed, each=2))  # type: ignore[call-overload]
    return random.Random(seed).sample(made, min(len(made), len(part)))


def _example(pair: Pair) -> training_loop.TrainingExample:
    return training_loop.TrainingExample(pair.one, pair.two, float(pair.same))


def _texts(pairs: Sequence[Pair]) -> list[tuple[str, str]]:
    return [(pair.one, pair.two) for pair in pairs]
