"""The recipe of the verifier: courses one after the other, gone on with from a folder that is there."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from semcache.errors import ConfigError
from semcache.models.cross_encoder import CrossEncoder
from semcache.train.export import WEIGHT_LEVELS
from semcache.train.pairs import Pair
from semcache.train.recipe import verifier_recipe
from semcache.train.recipe.mixture import MinedPair
from semcache.train.recipe.verifier_recipe import VerifierParts
from semcache.train.verifier import cross_encoder_network, verifier_folder
from semcache.train.verifier.logit_calibration import LogitScale
from semcache.train.verifier.training_loop import TrainingStep, VerifierTrainingOptions
from tests.train import tiny

pytest.importorskip("torch", reason="needs the train extra")

COURSES = tuple(VerifierTrainingOptions(batch=8, rate=1e-3, half=half) for half in (False, True))


def pairs(said: str) -> list[MinedPair]:
    texts = [f"what is the {one} of my {two}" for one in ("card", "capital") for two in ("password", "france", "spain")]
    return [
        MinedPair(Pair(text, f"{text} {more}", same, "reworded", f"authored:{said}"), 0.98, False)
        for text in texts
        for more, same in (("please", True), ("not", False))
    ]


PARTS = VerifierParts((pairs("one") * 4, pairs("two") * 2), pairs("check"))


def folder(path: Path) -> Path:
    module = cross_encoder_network.begin(tiny.weights(), tiny.SHAPE, 0)
    given = cross_encoder_network.arrays(module)
    verifier_folder.write(path, given, tiny.SHAPE, tiny.tokenizer(), LogitScale(), name="tiny", card={"licence": "x"})
    return path


def made(begun: Path, work: Path, courses: tuple[VerifierTrainingOptions, ...]) -> tuple[list[int], Path]:
    """The steps of each course, and the folder of what was made."""
    work.mkdir()
    ends: list[int] = []

    def told(step: TrainingStep) -> None:
        if step.done == step.of:
            ends.append(step.of)

    trained = verifier_recipe.make(verifier_recipe.resumed(begun, 7), work, PARTS, seed=7, courses=courses, told=told)
    trained.write(work / "made", seed=7)
    return ends, work / "made"


def test_courses_follow_each_other_and_the_last_can_go_on_alone(tmp_path: Path) -> None:
    begun = folder(tmp_path / "begun")
    both, one = made(begun, tmp_path / "both", COURSES)
    assert both == [6, 3]
    last, two = made(begun, tmp_path / "last", COURSES[1:])
    assert last == [3]
    asked = [("what is the card of my france", "what is the card of my france please")]
    found = [float(CrossEncoder(where).logits(asked)[0]) for where in (begun, one, two)]
    assert len({round(value, 4) for value in found}) == 3


@pytest.mark.parametrize("levels", [0, WEIGHT_LEVELS])
def test_the_folder_holds_the_weights_that_were_calibrated(levels: int, tmp_path: Path) -> None:
    begun = verifier_recipe.resumed(folder(tmp_path / "begun"), 7)
    course = replace(COURSES[1], levels=levels)
    trained = verifier_recipe.make(begun, tmp_path, PARTS, seed=7, courses=[COURSES[0], course])
    trained.write(tmp_path / "made", seed=7)
    back, _ = verifier_folder.read(tmp_path / "made")
    layers = [name for name in back if name.startswith("encoder.layer") and back[name].ndim == 2]
    assert all(np.allclose(back[name], trained.weights[name], atol=1e-6) for name in layers)


def test_a_course_that_is_done_is_not_taken_again(tmp_path: Path) -> None:
    begun = folder(tmp_path / "begun")
    _, first = made(begun, tmp_path / "work", COURSES)
    steps: list[TrainingStep] = []
    again = verifier_recipe.make(
        verifier_recipe.resumed(begun, 7), tmp_path / "work", PARTS, seed=7, courses=COURSES, told=steps.append
    )
    assert steps == []
    kept = verifier_folder.read(first)[0]
    assert all(np.allclose(value, kept[name], atol=0.02) for name, value in again.weights.items())


def test_a_folder_without_a_verifier_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no verifier's folder"):
        verifier_recipe.resumed(tmp_path, 7)
