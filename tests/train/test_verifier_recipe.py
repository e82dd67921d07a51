"""The recipe of the verifier: teachers, students that learn their word, and the folder that comes of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from semcache.errors import InvalidArgument
from semcache.models.cross_encoder import CrossEncoder
from semcache.train.bert_graph import WEIGHT_LEVELS
from semcache.train.pairs import Pair
from semcache.train.recipe import authored, unlabelled, verifier_recipe
from semcache.train.recipe.mixture import MinedPair
from semcache.train.recipe.verifier_recipe import Course, VerifierParts, course_of
from semcache.train.verifier import verifier_folder
from semcache.train.verifier.training_loop import TrainingExample, TrainingStep, VerifierTrainingOptions
from tests.train import tiny

pytest.importorskip("torch", reason="needs the train extra")

PLAIN = Course(VerifierTrainingOptions(batch=8, rate=1e-3), 16)
AS_WRITTEN = replace(PLAIN.options, half=True, both_orders=True, levels=WEIGHT_LEVELS)
TAUGHT = Course(replace(AS_WRITTEN, grid_from=0.5), 24, word=0.5)
COURSES = (PLAIN, replace(PLAIN, pairs=40), TAUGHT, replace(TAUGHT, options=AS_WRITTEN))


def pairs(said: str) -> list[MinedPair]:
    texts = [f"what is the {one} of my {two}" for one in ("card", "capital") for two in ("password", "france", "spain")]
    return [
        MinedPair(Pair(text, f"{text} {more}", same, "reworded", said), 0.98, False)
        for text in texts
        for more, same in (("please", True), ("not", False))
    ]


LABELLED = [*pairs("authored:one"), *pairs("natural:public")[:4]]
PARTS = VerifierParts(LABELLED, [("the card", "the card please"), ("france", "spain")], pairs("authored:check"))


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """An encoder's folder, of three layers."""
    from safetensors.numpy import save_file

    folder = tmp_path / "base"
    folder.mkdir()
    save_file(tiny.weights(), folder / "model.safetensors")
    (folder / "tokenizer.json").write_text(tiny.tokenizer(), encoding="utf-8")
    shape = {"num_hidden_layers": tiny.SHAPE.layers, "num_attention_heads": tiny.SHAPE.heads}
    (folder / "config.json").write_text(json.dumps(shape), encoding="utf-8")
    return folder


@pytest.fixture(autouse=True)
def two_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifier_recipe, "LAYERS", 2)


def made(base: Path, work: Path) -> tuple[list[int], verifier_recipe.TrainedVerifier]:
    """The steps of each training, and what was made."""
    work.mkdir(exist_ok=True)
    ends: list[int] = []

    def told(step: TrainingStep) -> None:
        if step.done == step.of:
            ends.append(step.of)

    return ends, verifier_recipe.make(base, work, PARTS, seed=7, courses=COURSES, told=told)


def weights(work: Path, name: str) -> dict[str, np.ndarray]:
    """The weights that a training left in its folder."""
    import torch

    state = torch.load(work / f"verifier-{name}.pt", weights_only=True)
    return {key.removeprefix("bert."): value.numpy() for key, value in state["weights"].items()}


def test_teachers_come_first_and_the_first_student_last(base: Path, tmp_path: Path) -> None:
    ends, trained = made(base, tmp_path / "work")
    assert ends == [2, 2, 2, *[5, 3] * 2, 3]
    states = {path.stem.removeprefix("verifier-") for path in (tmp_path / "work").iterdir()}
    assert states == {
        *("teacher-1", "teacher-2", "teacher-3", "student-1", "student-2"),
        *("taught-1", "taught-2", "last"),
    }
    assert trained.shape.layers == 2
    assert np.array_equal(trained.weights["classifier.weight"], weights(tmp_path / "work", "last")["classifier.weight"])
    kept = {name: {one for one in weights(tmp_path / "work", name) if "layer.2." in one} for name in states}
    assert {name for name, layers in kept.items() if layers} == {"teacher-1", "teacher-2", "teacher-3"}


def test_students_learn_the_word_of_the_teachers_and_the_last_course_that_of_all(
    base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[tuple[Course, int, np.ndarray | None]] = []

    def noted(parts: VerifierParts, course: Course, seed: int, word: np.ndarray | None = None) -> list[TrainingExample]:
        heard.append((course, seed, word))
        return course_of(parts, course, seed, word)

    said: list[np.ndarray] = []
    word = verifier_recipe._word

    def saying(of: verifier_recipe.StartedNetwork, parts: VerifierParts) -> np.ndarray:
        said.append(word(of, parts))
        return said[-1]

    monkeypatch.setattr(verifier_recipe, "course_of", noted)
    monkeypatch.setattr(verifier_recipe, "_word", saying)
    made(base, tmp_path / "work")
    teaching, first, second, third = COURSES
    order = [teaching, teaching, teaching, *[first, second] * 2, third]
    assert [course for course, _, _ in heard] == order
    assert [seed for _, seed, _ in heard] == [7, 8, 9, 7, 7, 8, 8, 7]
    words = [word for course, _, word in heard if word is not None and course is not first]
    assert [len(word) for word in words] == [len(LABELLED) + 2] * 3
    assert np.array_equal(words[1], words[0])
    assert np.allclose(words[0], np.mean(said[:3], axis=0))
    assert np.allclose(words[2], np.mean([*said[3:], words[0]], axis=0))
    assert [word is None for _, _, word in heard] == [course in (teaching, first) for course in order]


def test_the_folder_holds_the_weights_that_were_calibrated(base: Path, tmp_path: Path) -> None:
    _, trained = made(base, tmp_path / "work")
    trained.write(tmp_path / "made", seed=7)
    back, _ = verifier_folder.read(tmp_path / "made")
    layers = [name for name in back if name.startswith("encoder.layer") and back[name].ndim == 2]
    assert layers
    assert all(np.allclose(back[name], trained.weights[name], atol=1e-6) for name in layers)
    assert CrossEncoder(tmp_path / "made").logits([("the card", "the card please")]).shape == (1,)


def test_the_scale_is_that_of_hands_of_which_nothing_was_read(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    strangers, others = pairs("authored:unread_people"), [*pairs("authored:check"), *pairs("authored:unread_sly")]

    def logits(_: object, __: object, texts: Sequence[tuple[str, str]]) -> np.ndarray:
        sure = [2.0 if place < len(strangers) else 6.0 for place in range(len(texts))]
        return np.array([sign if two.endswith("please") else -sign for sign, (_, two) in zip(sure, texts, strict=True)])

    monkeypatch.setattr(verifier_recipe.training_loop, "logits", logits)
    network = verifier_recipe.started(base, 0)

    def scale(check: list[MinedPair]) -> object:
        return verifier_recipe.calibrated(network, replace(PARTS, check=check)).scale

    assert scale([*strangers, *others]) == scale(strangers)


def test_a_training_that_is_done_is_not_taken_again(base: Path, tmp_path: Path) -> None:
    _, first = made(base, tmp_path / "work")
    steps, again = made(base, tmp_path / "work")
    assert steps == []
    assert all(np.allclose(value, again.weights[name], atol=1e-6) for name, value in first.weights.items())


def test_a_folder_without_weights_is_refused(base: Path, tmp_path: Path) -> None:
    (base / "model.safetensors").unlink()
    with pytest.raises(InvalidArgument, match="safetensors"):
        made(base, tmp_path / "work")


def test_a_course_is_read_from_its_beginning_again_once_all_is_read() -> None:
    some = course_of(PARTS, replace(PLAIN, pairs=40), 7)
    assert some == course_of(PARTS, replace(PLAIN, pairs=40), 7)
    assert some != course_of(PARTS, replace(PLAIN, pairs=40), 8)
    assert len({(one.one, one.two) for one in some[:16]}) == 12  # of 16 labelled pairs four are labelled twice
    assert some[16:32] == some[:16]
    often = course_of(PARTS, replace(PLAIN, pairs=20, natural=2), 7)
    assert sum(one in often[:16] for one in often) >= 16
    assert len(often) == 20


def test_the_teachers_word_is_a_share_of_a_label_and_all_that_is_known_of_others() -> None:
    word = np.array([0.0] * len(LABELLED) + [2.0, -2.0], np.float32)
    some = {(one.one, one.two): one.target for one in course_of(PARTS, replace(TAUGHT, pairs=len(word)), 7, word)}
    first = LABELLED[0].pair
    assert some[(first.one, first.two)] == pytest.approx(0.5 * 0.98 + 0.5 * 0.5)
    assert some[("the card", "the card please")] == pytest.approx(1 / (1 + np.exp(-2.0)))
    assert some[("france", "spain")] == pytest.approx(1 / (1 + np.exp(2.0)))


def test_pairs_without_a_label_are_of_one_group_and_have_none() -> None:
    groups = [group for group in authored.groups() if not group.held][:30]
    some = list(unlabelled.within(groups, 7))
    assert some == list(unlabelled.within(groups, 7))
    for group in groups:
        different = {text for _, text in group.different}
        of = [pair for pair in some if set(pair) <= different | set(group.same)]
        assert len([pair for pair in of if set(pair) <= different]) <= unlabelled.AMONG_DIFFERENT
        assert 0 < len([pair for pair in of if set(pair) & set(group.same)]) <= unlabelled.BESIDE_SAME
    labelled = list(authored.paired(groups))
    left = unlabelled.unknown([*some, *((one.pair.two, one.pair.one) for one in labelled)], labelled, 7)
    assert set(left) < set(some)
    assert not {frozenset(pair) for pair in left} & {frozenset((one.pair.one, one.pair.two)) for one in labelled}


def test_near_pairs_are_neighbours_and_not_too_near() -> None:
    angles = {"a": 0.0, "b": 30.0, "b too": 31.0, "c": 80.0, "d": 180.0}

    def embed(texts: Sequence[str]) -> np.ndarray:
        turned = np.radians([angles[text] for text in texts])
        return np.stack([np.cos(turned), np.sin(turned)], axis=1).astype(np.float32)

    found = list(unlabelled.near(list(angles), embed, count=3, least=0.6))
    assert found == [("a", "b"), ("a", "b too"), ("b", "c"), ("b too", "c")]
    assert list(unlabelled.near(list(angles), embed, count=1, least=0.6)) == [("a", "b"), ("b too", "c")]
