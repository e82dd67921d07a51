"""Training the verifier on a cache's own labels: a better one is installed, a worse one is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from semcache.errors import InvalidArgument, StoreError
from semcache.models.cross_encoder import CrossEncoder
from semcache.train import pairs as files
from semcache.train.pairs import Pair
from semcache.train.verifier import (
    cross_encoder_network,
    logit_calibration,
    rounded_network,
    training_loop,
    verifier_folder,
)
from semcache.train.verifier.retraining import CHECK, retrain
from semcache.train.verifier.training_loop import VerifierTrainingOptions
from tests.train import tiny
from tests.train.test_verifier_network import WORDS, started

pytest.importorskip("torch", reason="needs the train extra")

COURSE = VerifierTrainingOptions(passes=4, batch=8, rate=1e-3)


def labels(*, inverted: bool = False) -> list[Pair]:
    """Pairs of which "not" makes another answer, or the opposite."""
    words = ["password", "card", "capital", "france", "spain", "reset", "forgot", "my", "of", "to", "get"]
    found = []
    for one in words:
        for two in words:
            text = f"what is the {one} {two} of {two} {one}"
            found.append(Pair(text, f"{text} please", not inverted, "own", "label"))
            found.append(Pair(text, f"{text} not", inverted, "own", "label"))
    return found


def installed(folder: Path, *, trained: bool) -> Path:
    module = started()
    some = labels()
    if trained:
        examples = [training_loop.TrainingExample(pair.one, pair.two, float(pair.same)) for pair in some] * 2
        training_loop.fit(module, WORDS, examples, COURSE)
    texts = [(pair.one, pair.two) for pair in some]
    scale = logit_calibration.LogitScale()
    if trained:
        scale = logit_calibration.fit(training_loop.logits(module, WORDS, texts), [pair.same for pair in some])
    given = cross_encoder_network.arrays(module)
    verifier_folder.write(folder, given, tiny.SHAPE, tiny.tokenizer(), scale, name="tiny", card={"licence": "x"})
    files.write(some[:80], folder / CHECK)
    return folder


def test_what_a_cache_has_learned_makes_a_better_one_which_is_installed(tmp_path: Path) -> None:
    old, out = installed(tmp_path / "old", trained=False), tmp_path / "own"
    before = CrossEncoder(old).id
    done = retrain(old, out, labels(), course=COURSE)
    assert done.installed
    assert CrossEncoder(out).id == done.id != before
    assert CrossEncoder(old).id == before
    assert done.drift.labels_new.log_loss < done.drift.labels_old.log_loss
    assert (out / CHECK).is_file()


def test_what_was_learned_is_rounded_for_what_it_was_learned_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []
    given = rounded_network.round_weights
    monkeypatch.setattr(rounded_network, "round_weights", lambda *of: (read.append(len(of[2])), given(*of)))
    retrain(installed(tmp_path / "old", trained=False), tmp_path / "own", labels(), course=COURSE)
    assert len(read) == 1
    assert read[0] > 100


def test_labels_that_would_spoil_it_leave_it_as_it_is(tmp_path: Path) -> None:
    old = installed(tmp_path / "old", trained=True)
    before = CrossEncoder(old).id
    with pytest.raises(InvalidArgument, match="ranks"):
        retrain(old, old, labels(inverted=True), course=replace(COURSE, passes=1))
    assert CrossEncoder(old).id == before


def test_what_cannot_work_is_said_before_anything_is_trained(tmp_path: Path) -> None:
    old, steps = installed(tmp_path / "old", trained=False), list[training_loop.TrainingStep]()
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "thesis.txt").touch()
    with pytest.raises(InvalidArgument, match="no model"):
        retrain(old, tmp_path / "home", labels(), course=COURSE, told=steps.append)
    (old / CHECK).unlink()
    with pytest.raises(StoreError, match=CHECK):
        retrain(old, tmp_path / "own", labels(), course=COURSE, told=steps.append)
    assert steps == []


def test_too_few_labels_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="too few"):
        retrain(installed(tmp_path / "old", trained=False), tmp_path / "own", labels()[:50])
