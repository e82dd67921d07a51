"""Training for real, on a tiny base: what comes out, and what a break or bad input does to it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("sentence_transformers", reason="the train extra is not installed")
pytest.importorskip("sklearn", reason="the train extra is not installed")

from safetensors.numpy import load_file, save_file

from semcache.errors import ConfigError, InvalidArgument, StoreError
from semcache.models.embedders.onnx import OnnxEmbedder
from semcache.train import card, finetune, pipeline
from semcache.train.finetune import FinetuneOptions
from semcache.train.pairs import Pair, read
from tests.train.bases import tiny, traffic

pytestmark = pytest.mark.filterwarnings("ignore")  # of libraries, about each other


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tiny(tmp_path_factory.mktemp("base"))
    (folder / "model.json").write_text(json.dumps({"id": "tiny", "language": "en"}))
    return folder


@pytest.fixture
def wish(base: Path, tmp_path: Path) -> pipeline.FinetuneSpec:
    plan = FinetuneOptions(batch=16, rate=2e-2, max_tokens=16, device="cpu", epochs=2)
    return pipeline.FinetuneSpec(tmp_path / "model", str(base), check=0.2, test=0.2, plan=plan)


def make(wish: pipeline.FinetuneSpec, **changes: object) -> dict[str, object]:
    return pipeline.make(traffic(), None, replace(wish, **changes), stage=lambda _: None)


def test_the_folder_is_a_model_that_learned_and_says_how(wish: pipeline.FinetuneSpec) -> None:
    report = make(wish)
    embedder = OnnxEmbedder(wish.out)
    assert embedder.id == report["embedder"]
    assert embedder.language == "en", "as its base: its scores for other languages serve nothing alone"
    one, same, other = embedder.encode(
        ["where is my card 9", "I cannot find my card, number 9", "how do I get a card 9"]
    )
    assert float(one @ same) > float(one @ other)
    assert report["after"]["average_precision"] > report["before"]["average_precision"]  # type: ignore[index]
    kept = json.loads((wish.out / card.MEASURED).read_text())
    assert kept["pairs"]["test"] == report["after"]["pairs"]  # type: ignore[index]
    words = (wish.out / "README.md").read_text()
    assert "| after | " in words
    share = kept["mixing"]["share"]
    assert f"Weights: {share:.0%} of the way from the base's to the trained ones, chosen on the check pairs" in words
    assert str(wish.out.parent) not in words + json.dumps(kept), "a card must not name a path of this machine"
    exact = OnnxEmbedder(wish.out / "float32").encode(["where is my card 9"])[0]
    assert float(exact @ one) > 0.95
    assert [path.name for path in wish.out.parent.iterdir()] == ["model"], "checkpoints and staging are cleared away"


def test_the_language_of_a_base_is_the_one_that_its_card_names(base: Path, tmp_path: Path) -> None:
    assert finetune.base_language("default") == finetune.base_language(finetune.BASE) == "en"
    assert finetune.base_language(str(base)) == "en"
    assert finetune.base_language(str(tiny(tmp_path / "made" / "weights"))) is None
    (tmp_path / "made" / "model.json").write_text(json.dumps({"id": "made", "language": "de"}))
    for named in (tmp_path / "made", tmp_path / "made" / "weights"):
        assert finetune.base_language(str(named)) == "de"


@pytest.mark.parametrize("base", ["my-embeder", "./my-embeder", "onnx:my-embeder", "made/my-embeder", "a/b/c"])
def test_a_folder_that_is_not_there_is_not_looked_for_in_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, base: str
) -> None:
    (tmp_path / "made").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ConfigError, match=f"there is no folder '{base.removeprefix('onnx:')}': .* OWNER/NAME"):
        finetune.base_folder(base)
    assert finetune.base_folder("owner/name") == "owner/name"


def test_a_share_that_is_asked_for_is_the_share_that_is_made(wish: pipeline.FinetuneSpec) -> None:
    report = make(wish, mix=0.0)
    assert report["mixing"] == {"share": 0.0, "looks": []}
    assert report["after"] == report["before"], "nothing of what was trained"
    assert "0% of the way from the base's to the trained ones, as was asked for" in (wish.out / "README.md").read_text()
    with pytest.raises(InvalidArgument, match=r"mix is 1\.5"):
        replace(wish, mix=1.5)


def test_a_run_that_was_broken_off_ends_as_if_it_had_not_been(
    wish: pipeline.FinetuneSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(finetune, "_AT_RISK", 0.0)
    whole = make(wish, out=wish.out.with_name("whole"), name="model")

    def broken(done: int, steps: int, figures: Mapping[str, float]) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pipeline.make(traffic(), None, wish, stage=lambda _: None, told=broken)
    assert not wish.out.exists()
    seen: list[int] = []
    report = pipeline.make(traffic(), None, wish, stage=lambda _: None, told=lambda done, *_: seen.append(done))
    assert report["training"]["resumed"]
    assert seen[0] > 1, "it must not start from the beginning"
    assert report["embedder"] == whole["embedder"]


def test_two_trainings_of_one_folder_do_not_clear_away_each_others_work(wish: pipeline.FinetuneSpec) -> None:
    beside: list[str] = []

    def other(*_: object) -> None:
        if not beside:
            with pytest.raises(StoreError, match=r"another process is making .*model") as refused:
                make(wish, plan=replace(wish.plan, seed=99))
            beside.append(str(refused.value))

    report = pipeline.make(traffic(), None, wish, stage=lambda _: None, told=other)
    assert beside
    assert OnnxEmbedder(wish.out).id == report["embedder"]


def test_another_training_does_not_take_up_the_broken_run_of_this(wish: pipeline.FinetuneSpec) -> None:
    work = wish.out.parent / ".model.training"
    assert finetune._taken_up(work, "this") is None
    for number in (3, 12):
        (work / f"checkpoint-{number}").mkdir()
        (work / f"checkpoint-{number}" / "trainer_state.json").write_text("{}")
    for number, half in ((20, None), (24, '{"epoch": 1, "log_hist')):  # broken off while they were written
        (work / f"checkpoint-{number}").mkdir()
        if half is not None:
            (work / f"checkpoint-{number}" / "trainer_state.json").write_text(half)
    assert finetune._taken_up(work, "this") == str(work / "checkpoint-12")
    assert finetune._taken_up(work, "another") is None
    assert not (work / "checkpoint-3").exists()


def test_a_training_is_known_by_its_base_its_pairs_and_its_plan(wish: pipeline.FinetuneSpec, tmp_path: Path) -> None:
    model, table = finetune.load(wish.base), {"one": ["a"], "two": ["b"], "label": [1]}
    check = [Pair("c", "d", True)]
    this = finetune._fingerprint(model, wish.plan, table, check)
    assert this == finetune._fingerprint(finetune.load(wish.base), wish.plan, dict(table), list(check))
    other = finetune.load(wish.base)
    next(other.parameters()).data[0] += 1.0
    different = [
        finetune._fingerprint(other, wish.plan, table, check),
        finetune._fingerprint(model, replace(wish.plan, seed=8), table, check),
        finetune._fingerprint(model, wish.plan, {**table, "label": [0]}, check),
        finetune._fingerprint(model, wish.plan, table, [replace(check[0], same=False)]),
    ]
    assert this not in different


@pytest.mark.parametrize("loss", ["contrastive", "mnr"])
def test_the_other_losses_train_too(wish: pipeline.FinetuneSpec, loss: finetune.losses.LossName) -> None:
    before = OnnxEmbedder(_exported(wish)).encode(["where is my card"])[0]
    triplets = [part for p in traffic() if p.same for part in (p, Pair(p.one, f"{p.one} or {p.two[-12:]}", False))]
    plan = replace(wish.plan, loss=loss)
    report = pipeline.make(triplets, None, replace(wish, plan=plan), stage=lambda _: None)
    after = OnnxEmbedder(wish.out).encode(["where is my card"])[0]
    assert float(before @ after) < 0.999
    assert report["training"]["loss"] > 0


def test_triplets_of_a_popular_text_are_not_the_square_of_its_pairs() -> None:
    pairs = [Pair("a", f"{'same' if same else 'other'} {n}", same) for same in (True, False) for n in range(90)]
    rows = finetune.losses.table("mnr", [*pairs, Pair("b", "c", True), Pair("b", "d", False)], {})
    assert rows["anchor"] == ["a"] * 360 + ["b"]
    assert [rows["negative"].count(f"other {n}") for n in range(90)] == [4] * 90, "each of them is used as often"


@pytest.mark.parametrize(("given", "mined"), [(0, 30), (20, 10), (30, 0), (40, 0)])
def test_negatives_are_mined_only_for_those_that_are_lacking(
    wish: pipeline.FinetuneSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: int, mined: int
) -> None:
    same, different = ([pair for pair in traffic() if pair.same is label] for label in (True, False))

    def mine(positives: list[Pair], *_: object, **__: object) -> list[Pair]:
        return [Pair(pair.one, same[0].two, False, made="mined") for pair in positives]

    monkeypatch.setattr(finetune.mining, "mine", mine)
    pairs = [*same[:30], *different[:given]]
    done = finetune.train(finetune.load(wish.base), pairs, [], replace(wish.plan, epochs=1), tmp_path / "work")
    assert done["rows"] == len(pairs) + mined


def _exported(wish: pipeline.FinetuneSpec) -> Path:
    folder = wish.out.with_name("before")
    finetune.save(finetune.load(wish.base), folder / card.WEIGHTS)
    card.export_checked(folder, name="before", origin="", licence="", language=None)
    return folder


def test_a_full_disk_at_the_export_leaves_the_installed_model_alone(
    wish: pipeline.FinetuneSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    wish.out.mkdir()
    (wish.out / "model.json").write_text("the old one")

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(card, "export", full)
    with pytest.raises(StoreError, match=r"No space left on device; what was there is untouched"):
        make(wish, force=True)
    assert (wish.out / "model.json").read_text() == "the old one"
    assert not list(wish.out.parent.glob(".model.staging*"))


def test_texts_shared_with_the_test_are_refused_unless_forced(wish: pipeline.FinetuneSpec) -> None:
    train = traffic()
    test = [Pair("quite another one", "where is my PASSWORD 0", True), Pair("x", "y", False)]
    with pytest.raises(InvalidArgument, match=r"1 texts are in the training .* 'where is my PASSWORD 0'"):
        pipeline.prepared(train, test, wish)
    parts, leaks = pipeline.prepared(train, test, replace(wish, force=True))
    assert (parts.test, len(leaks)) == (test, 1)


def test_pairs_that_cannot_be_used_are_refused_before_anything_is_trained(wish: pipeline.FinetuneSpec) -> None:
    with pytest.raises(InvalidArgument, match="only pairs of the same answer"):
        pipeline.prepared([pair for pair in traffic() if pair.same], None, wish)
    with pytest.raises(InvalidArgument, match=r"the \w+ part \(\d+ of 2 pairs\)"):
        pipeline.prepared([Pair("a", "b", True), Pair("c", "d", False)], None, wish)
    wish.out.mkdir()
    (wish.out / "notes.txt").touch()
    with pytest.raises(InvalidArgument, match="exists"):
        make(wish)


def test_a_base_that_is_no_model_is_an_error_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"holds no config\.json"):
        finetune.load(str(tmp_path))
    with pytest.raises(ConfigError, match="'cuda': torch sees no GPU here; use --device cpu"):
        if finetune.device_of("auto") == "cuda":
            pytest.skip("there is a GPU here")
        finetune.device_of("cuda")


def rewritten(base: Path, folder: Path, **config: object) -> Path:
    shutil.copytree(base, folder)
    told = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(told | config))
    return folder


def test_a_base_that_cannot_be_exported_is_refused_before_anything_is_trained(wish: pipeline.FinetuneSpec) -> None:
    base, stages = rewritten(Path(wish.base), wish.out.with_name("base"), hidden_act="relu"), list[str]()
    with pytest.raises(InvalidArgument, match="hidden_act is 'relu'"):
        pipeline.make(traffic(), None, replace(wish, base=str(base)), stage=stages.append)
    assert "training" not in stages


def test_a_base_in_half_precision_is_trained_in_full(wish: pipeline.FinetuneSpec) -> None:
    base = rewritten(Path(wish.base), wish.out.with_name("base"), dtype="float16")
    weights = load_file(base / "model.safetensors")
    half = {name: value.astype(np.float16) for name, value in weights.items()}
    save_file(half, base / "model.safetensors", metadata={"format": "pt"})
    assert {str(weight.dtype) for weight in finetune.load(str(base)).parameters()} == {"torch.float32"}


def test_training_that_diverges_says_what_to_do(wish: pipeline.FinetuneSpec) -> None:
    with pytest.raises(InvalidArgument, match="choose a smaller one"):
        make(wish, plan=replace(wish.plan, rate=1e30))
    assert not wish.out.exists()


@pytest.mark.parametrize("said", ["I/O error: File too large (os error 27)", "PytorchStreamWriter failed writing file"])
def test_a_full_disk_at_a_checkpoint_is_an_error_of_ours(
    wish: pipeline.FinetuneSpec, monkeypatch: pytest.MonkeyPatch, said: str
) -> None:
    def full(*_: object) -> None:
        raise RuntimeError(said)

    monkeypatch.setattr(finetune, "_run", full)
    with pytest.raises(StoreError, match=r"\.training cannot be written.*; run again to go on"):
        make(wish)


def test_a_made_model_is_a_base_for_the_next(wish: pipeline.FinetuneSpec) -> None:
    make(wish)
    report = make(wish, base=str(wish.out), out=wish.out.with_name("second"))
    assert report["plan"]["base"].startswith("model/mean/int8/")  # type: ignore[index]


def test_the_ranking_loss_ranks_and_spares_relatives() -> None:
    import torch

    from semcache.train.losses import ranking

    def loss(angles_one: list[float], angles_two: list[float], labels: list[list[int]]) -> float:
        def unit(angles: list[float]) -> torch.Tensor:
            return torch.tensor([[np.cos(a), np.sin(a)] for a in angles])

        return float(ranking(unit(angles_one), unit(angles_two), torch.tensor(labels)))

    labels = [[1, 0, 0], [0, 1, 2]]
    assert loss([0.0, 1.5], [0.1, 3.0], labels) < loss([0.0, 1.5], [1.4, 1.6], labels), "a pair out of order costs"
    near = [0.0, 0.5], [0.0, 0.5]
    assert loss(*near, [[1, 5, 5], [1, 5, 5]]) < loss(*near, [[1, 5, 5], [1, 6, 6]]), "one answer is no negative"
    as_near = [0.0, 0.1], [0.0, 0.1]
    unlabelled = loss(*as_near, [[1, 5, 5], [1, 6, 6]])
    assert unlabelled == loss(*as_near, [[1, 5, 5], [1, 5, 5]]), "what is as near as the pair itself is no negative"
    assert loss([0.0], [0.5], [[0, 1, 2]]) == 0.0, "nothing to rank"


def test_a_batch_of_unlabelled_duplicates_moves_nothing() -> None:
    import torch

    from semcache.train.losses import ranking

    one = torch.tensor([[1.0, 0.0], [1.0, 0.0]], requires_grad=True)
    ranking(one, one.detach(), torch.tensor([[1, 0, 0], [1, 1, 1]])).backward()
    assert one.grad is not None
    assert one.grad.isfinite().all()


def test_going_through_in_groups_of_a_length_saves_padding_and_changes_no_vector(base: Path) -> None:
    import torch

    from semcache.train import losses

    model = finetune.load(str(base)).eval()
    part = (getattr(model, "preprocess", None) or model.tokenize)(
        [" ".join(["card"] * (1 + 7 * n % 23)) for n in range(50)]
    )
    whole = model(dict(part))["sentence_embedding"]
    read: list[int] = []
    model[0].register_forward_pre_hook(lambda _, given: read.append(given[0]["input_ids"].numel()))
    assert torch.allclose(losses._embedded(model, part), whole, atol=1e-5)
    assert sum(read) < 0.8 * part["input_ids"].numel()


def test_pairs_of_a_file_train_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text("one,two,same\n" + "\n".join(f'{p.one},"{p.two}",{int(p.same)}' for p in traffic()))
    assert read(path) == traffic()
