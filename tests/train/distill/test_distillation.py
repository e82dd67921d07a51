"""Students made for real from a tiny teacher: folders that load, and reports that say what they are worth."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sentence_transformers", reason="the train extra is not installed")
pytest.importorskip("sklearn", reason="the train extra is not installed")

from semcache.errors import ConfigError, InvalidArgument, StoreError
from semcache.models.embedders import open_embedder
from semcache.models.embedders.onnx import OnnxEmbedder
from semcache.models.embedders.static_table import StaticEmbedder
from semcache.train import card, finetune
from semcache.train.distill import distillation, projection, student, student_metrics, vector_matching
from semcache.train.distill.distillation import DistillationSpec
from tests.train.bases import tiny, traffic

pytestmark = pytest.mark.filterwarnings("ignore")  # of libraries, about each other
TEXTS = ["where is my card 9", "I cannot find my card, number 9", "", "🙂 東京", "lone \ud800", "word " * 900]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny(tmp_path_factory.mktemp("base"))


@pytest.fixture(scope="module")
def teacher(weights: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model folder as `finetune` writes it."""
    folder = tmp_path_factory.mktemp("made") / "teacher"
    finetune.save(finetune.load(str(weights)), folder / card.WEIGHTS)
    card.export_checked(folder, name="teacher", origin="drawn at random", licence="none", language="en")
    return folder


@pytest.fixture
def wish(teacher: Path, tmp_path: Path) -> DistillationSpec:
    return DistillationSpec(tmp_path / "student", str(teacher), dim=4, check=0.2, test=0.2)


def make(wish: DistillationSpec) -> dict[str, object]:
    ticks = itertools.count()
    return distillation.make(traffic(), wish, clock=lambda: next(ticks) * 1e-3)


def test_fewer_dimensions_are_those_of_the_teacher_behind_a_map(wish: DistillationSpec, teacher: Path) -> None:
    report = make(replace(wish, labels=False))
    short, whole = OnnxEmbedder(wish.out), OnnxEmbedder(teacher)
    assert (short.dim, short.id, short.language) == (4, report["embedder"], "en")
    assert report["storage"] == 0.75
    names = [row["name"] for row in report["rows"]]  # type: ignore[attr-defined]
    assert names == ["teacher", "student"]
    both = short._model.session.run(None, {
        name: np.array([[101, 2003, 102]]) if name == "input_ids" else np.ones((1, 3), np.int64)
        for name in short._inputs
    })  # fmt: skip
    assert both[1] == pytest.approx(whole._run([[101, 2003, 102]]), abs=1e-5), "the whole vector is the second output"
    near = report["nearest"]
    assert 0 < near["alone"] <= near["rescored"] <= 1  # type: ignore[index]
    assert str(wish.out.parent) not in (wish.out / "README.md").read_text() + (wish.out / card.MEASURED).read_text()


def test_a_map_upon_a_map_reads_what_the_first_one_gave(wish: DistillationSpec, teacher: Path, tmp_path: Path) -> None:
    one, two = np.eye(16, dtype=np.float32)[:6], np.eye(6, dtype=np.float32)[::-1][:3]
    projection.project(teacher, tmp_path / "one", one, name="one", how="cut")
    projection.project(tmp_path / "one", tmp_path / "two", np.ascontiguousarray(two), name="two", how="turned")
    whole = OnnxEmbedder(teacher).encode(TEXTS[:2])[:, [5, 4, 3]]
    found = OnnxEmbedder(tmp_path / "two").encode(TEXTS[:2])
    assert found == pytest.approx(whole / np.linalg.norm(whole, axis=1, keepdims=True), abs=1e-5)


def test_fewer_layers_and_words_come_nearer_to_the_teacher(
    wish: DistillationSpec, weights: Path, tmp_path: Path
) -> None:
    course = vector_matching.MatchingOptions(epochs=8, batch=16, rate=2e-2)
    asked = replace(wish, dim=None, layers=1, vocabulary=8000, course=course)
    report = make(asked)
    found, full = OnnxEmbedder(wish.out), OnnxEmbedder(wish.out / "float32")
    assert np.einsum("ij,ij->i", found.encode(TEXTS), full.encode(TEXTS)).min() > 0.9
    assert found.language == full.language == "en", "as the teacher: scores for other languages serve nothing alone"
    assert student_metrics.size(wish.out) < report["rows"][0]["size"]  # type: ignore[index]
    assert "8000 words" in str(report["how"])
    assert (wish.out / "weights" / "model.safetensors").is_file(), "training can go on from it"
    student.cut(weights, tmp_path / "cut", layers=1, vocabulary=8000)
    finetune.save(finetune.load(str(tmp_path / "cut")), tmp_path / "raw" / card.WEIGHTS)
    raw = card.export_checked(tmp_path / "raw", name="raw", origin="", licence="", language=None)
    exported = tmp_path / "whole"
    finetune.save(finetune.load(str(weights)), exported / card.WEIGHTS)
    teaches = card.export_checked(exported, name="whole", origin="", licence="", language=None)
    texts = card.texts_of(traffic())
    away = [float(np.square(one.encode(texts) - teaches.encode(texts)).sum(axis=1).mean()) for one in (raw, found)]
    assert away[1] <= away[0] + 1e-3


def test_matching_that_was_broken_off_ends_as_if_it_had_not_been(weights: Path, tmp_path: Path) -> None:
    texts = card.texts_of(traffic())
    targets = np.random.default_rng(0).normal(size=(len(texts), 16)).astype(np.float32)
    targets /= np.linalg.norm(targets, axis=1, keepdims=True)
    course, whole = vector_matching.MatchingOptions(epochs=1, batch=16, rate=1e-2), finetune.load(str(weights))
    vector_matching.match(whole, texts, targets, course, tmp_path / "whole.pt")

    class Broken(Exception):
        pass

    def stop(done: int, *_: object) -> None:
        if done == 4:
            raise Broken

    ticks = itertools.count(0, 100)  # every step is long enough to be kept
    with pytest.raises(Broken):
        vector_matching.match(
            finetune.load(str(weights)), texts, targets, course, tmp_path / "a.pt", clock=lambda: next(ticks), told=stop
        )
    told: list[int] = []
    again = finetune.load(str(weights))
    vector_matching.match(again, texts, targets, course, tmp_path / "a.pt", told=lambda done, *_: told.append(done))
    assert told[0] == 4
    for name, value in whole.state_dict().items():
        if "pooler" not in name:  # unused, and drawn at random where the base has none
            assert np.array_equal(value.numpy(), again.state_dict()[name].numpy()), name


def test_a_state_that_was_cut_off_is_replaced_instead_of_ending_every_run(
    weights: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    texts, saved, ticks = card.texts_of(traffic())[:32], tmp_path / "a.pt", itertools.count(0, 100)
    targets = np.eye(16, dtype=np.float32)[np.arange(len(texts)) % 16]
    course = vector_matching.MatchingOptions(batch=16)
    vector_matching.match(finetune.load(str(weights)), texts, targets, course, saved, clock=lambda: next(ticks))
    saved.write_bytes(saved.read_bytes()[:-2000])
    told: list[int] = []
    student = finetune.load(str(weights))
    vector_matching.match(student, texts, targets, course, saved, told=lambda at, *_: told.append(at))
    assert told[0] == 1
    assert "starts anew" in caplog.text


def test_the_state_of_another_matching_is_not_taken_up(weights: Path, tmp_path: Path) -> None:
    texts, saved = card.texts_of(traffic())[:32], tmp_path / "a.pt"
    targets = np.eye(16, dtype=np.float32)[np.arange(len(texts)) % 16]
    ticks = itertools.count(0, 100)
    course, model = vector_matching.MatchingOptions(epochs=2, batch=16), finetune.load(str(weights))
    vector_matching.match(model, texts, targets, course, saved, clock=lambda: next(ticks))
    for others, wanted in ((targets[::-1].copy(), course), (targets, replace(course, epochs=1))):
        told: list[int] = []
        student = finetune.load(str(weights))
        vector_matching.match(student, texts, others, wanted, saved, told=lambda at, *_: told.append(at))  # noqa: B023
        assert told[0] == 1


def test_a_full_disk_while_matching_is_an_error_of_ours(
    weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    def full(*_: object) -> None:
        raise RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 9792 vs 9750")

    monkeypatch.setattr(torch, "save", full)
    ticks, one = itertools.count(0, 100), np.eye(16, dtype=np.float32)[:1]
    with pytest.raises(StoreError, match=r"a\.pt cannot be written"):
        vector_matching.match(
            finetune.load(str(weights)),
            ["a"],
            one,
            vector_matching.MatchingOptions(),
            tmp_path / "a.pt",
            clock=lambda: next(ticks),
        )


def test_a_table_needs_no_network_and_gives_unit_vectors_for_anything(wish: DistillationSpec) -> None:
    report = make(replace(wish, static=True, dim=8))
    embedder = StaticEmbedder(wish.out)
    assert (embedder.dim, embedder.id) == (8, report["embedder"])
    assert open_embedder(f"static:{wish.out}").id == embedder.id, "as the command and the card say"
    rows = embedder.encode(TEXTS)
    assert rows.dtype == np.float32
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1.0, abs=1e-4)
    assert rows == pytest.approx(np.concatenate([embedder.encode([text]) for text in TEXTS]), abs=1e-6)
    password, same, other = embedder.encode(["my password", "password my", "quarterly invoice"])
    assert password == pytest.approx(same, abs=1e-6), "order does not matter"
    assert password @ other < 0.999
    assert embedder.encode([]).shape == (0, 8)


def test_a_table_is_no_network_to_install_or_to_start_from(wish: DistillationSpec, tmp_path: Path) -> None:
    make(replace(wish, static=True, dim=8))
    with pytest.raises(ConfigError, match=r"holds a table of words, no network: set `embedder: static:.*student`"):
        OnnxEmbedder(wish.out)
    with pytest.raises(ConfigError, match="table of words"):
        make(replace(wish, base=str(wish.out), out=tmp_path / "again"))


def test_a_table_that_was_tampered_with_is_not_loaded(wish: DistillationSpec) -> None:
    make(replace(wish, static=True, dim=8))
    np.save(wish.out / "vectors.npy", np.ones((3, 8), np.float16))
    with pytest.raises(ConfigError, match=r"vectors\.npy"):
        StaticEmbedder(wish.out)
    told = json.loads((wish.out / "model.json").read_text())
    (wish.out / "model.json").write_text(json.dumps({**told, "sha256": {}}))
    with pytest.raises(ConfigError, match="shape"):
        StaticEmbedder(wish.out)


def test_layers_are_spaced_evenly_and_more_than_there_are_is_refused() -> None:
    assert student.spaced(6, 3) == [0, 2, 5]
    assert student.spaced(6, None) == student.spaced(6, 6) == list(range(6))
    assert student.spaced(12, 1) == [0]
    with pytest.raises(InvalidArgument, match="7 layers"):
        student.spaced(6, 7)


@pytest.mark.parametrize("changes", [{"static": True, "layers": 2}, {"dim": None}])
def test_wishes_that_make_no_sense_are_refused(wish: DistillationSpec, changes: dict[str, object]) -> None:
    with pytest.raises(InvalidArgument):
        replace(wish, **changes)


def test_a_dimension_that_does_not_fit_leaves_what_was_there(wish: DistillationSpec) -> None:
    make(wish)
    before = (wish.out / "model.onnx").read_bytes()
    with pytest.raises(InvalidArgument, match="dimension 17"):
        make(replace(wish, dim=17, force=True))
    assert (wish.out / "model.onnx").read_bytes() == before
    assert [path.name for path in wish.out.parent.iterdir()] == ["student"]
    with pytest.raises(InvalidArgument, match="exists"):
        make(wish)


def test_a_dimension_that_does_not_fit_is_refused_before_layers_are_matched(
    wish: DistillationSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    def matched(*_: object, **__: object) -> float:
        raise AssertionError("hours of work")

    monkeypatch.setattr(vector_matching, "match", matched)
    with pytest.raises(InvalidArgument, match="dimension 17 must be from 2 to 16"):
        make(replace(wish, layers=1, dim=17))
    assert not wish.out.exists()


def test_a_folder_that_is_no_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no model folder"):
        projection.project(tmp_path, tmp_path / "out", np.eye(3, dtype=np.float32), name="x", how="")
