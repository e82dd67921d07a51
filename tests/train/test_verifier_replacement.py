"""Retraining: a worse verifier is not installed, a better one is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from semcache.errors import InvalidArgument
from semcache.models.cross_encoder import CrossEncoder
from semcache.train import pairs as files
from semcache.train.pairs import Pair
from semcache.train.verifier import replacement, retraining, verifier_folder
from semcache.train.verifier.logit_calibration import LogitScale
from semcache.train.verifier.training_loop import VerifierTrainingOptions
from tests.train import tiny

THOROUGH = VerifierTrainingOptions(passes=6, batch=8, rate=5e-3)
SAME = [True, False] * 50


def words(right: float, wrong: float) -> np.ndarray:
    return np.array([right if same else wrong for same in SAME])


GOOD, BETTER, BAD = words(0.9, 0.1), words(0.99, 0.02), words(0.6, 0.5)


def test_a_better_one_is_let_in() -> None:
    assert replacement.compare(SAME, (GOOD, BETTER), SAME, (GOOD, BETTER)).against == ()


def test_one_that_is_worse_here_is_refused() -> None:
    assert any("held-out labels" in why for why in replacement.compare(SAME, (GOOD, BAD), SAME, (GOOD, BETTER)).against)


def test_one_that_forgot_what_shipped_is_refused() -> None:
    assert any("check set" in why for why in replacement.compare(SAME, (GOOD, BETTER), SAME, (GOOD, BAD)).against)


def test_one_that_lets_a_trap_through_is_refused_however_good_its_loss() -> None:
    careless = BETTER.copy()
    careless[1] = 0.99
    found = replacement.compare(SAME, (GOOD, BETTER), SAME, (GOOD, careless))
    assert found.check_new.log_loss < found.check_old.log_loss
    assert any("let through" in why for why in found.against)


def installed(folder: Path) -> Path:
    pytest.importorskip("torch", reason="needs the train extra")
    verifier_folder.write(
        folder, tiny.weights(), tiny.SHAPE, tiny.tokenizer(), LogitScale(0.5, 0.0), name="tiny", card={}
    )
    files.write(labels("xyz")[:60], folder / retraining.CHECK)
    return folder


def labels(letters: str = "abcdefgh") -> list[Pair]:
    """A 7 against an 8 is another answer; enough of them to compare by."""
    names = [f"{one}{two}" for one in letters for two in "abcdefghijklmn"]
    found = []
    for name in names:
        found.append(Pair(f"what is the card {name} 7", f"the card {name} 7 please", True))
        found.append(Pair(f"what is my password {name} 7", f"my password {name} 8 please", False))
    return found


@pytest.fixture(scope="module")
def taught(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, retraining.RetrainingOutcome]:
    """The shipped verifier, the place of the cache's own, and what came of training on its labels."""
    folder = tmp_path_factory.mktemp("verifiers")
    old, place = installed(folder / "shipped"), folder / "data" / "verifier"
    return old, place, retraining.retrain(old, place, labels(), seed=1, course=THOROUGH)


def test_labels_that_teach_something_replace_the_verifier(
    taught: tuple[Path, Path, retraining.RetrainingOutcome],
) -> None:
    old, place, outcome = taught
    assert outcome.installed, outcome.drift.against
    assert CrossEncoder(place).id == outcome.id != CrossEncoder(old).id
    assert (place / retraining.CHECK).is_file()
    assert outcome.drift.labels_new.log_loss < outcome.drift.labels_old.log_loss


def test_labels_that_lie_do_not(taught: tuple[Path, Path, retraining.RetrainingOutcome]) -> None:
    _, place, good = taught
    rng = np.random.default_rng(0)
    lies = [Pair(pair.one, pair.two, bool(rng.random() < 0.5)) for pair in labels()]
    outcome = retraining.retrain(place, place, lies, seed=2, course=THOROUGH)
    assert not outcome.installed
    assert any("check set" in why for why in outcome.drift.against)
    assert CrossEncoder(place).id == outcome.id == good.id


def test_too_few_labels_are_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="too few"):
        retraining.retrain(tmp_path, tmp_path, labels()[:10])
