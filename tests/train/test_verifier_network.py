"""The verifier's network: what is trained is what is exported, and padding changes nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import onnxruntime
import pytest
from tokenizers import Tokenizer

from semcache.errors import ConfigError, InvalidArgument
from semcache.models.cross_encoder import CrossEncoder
from semcache.train.verifier import cross_encoder_network, grid_weights, training_loop, verifier_folder
from semcache.train.verifier.cross_encoder_network import linear_weights
from semcache.train.verifier.logit_calibration import LogitScale
from semcache.train.verifier.token_rows import MAX_TOKENS, padded, rows
from semcache.train.verifier.training_loop import TrainingExample, TrainingStep, VerifierTrainingOptions
from tests.train import tiny

torch = pytest.importorskip("torch", reason="needs the train extra")

PAIRS = [
    ("how do i reset my password", "i forgot my password how do i get in"),
    ("what is the capital of france", "what is the capital of spain"),
    ("a", "please do not reset the password of my card in france or spain, it is 7 8 7 8"),
]
PLAIN = LogitScale()
COURSE = VerifierTrainingOptions(passes=2, batch=8, rate=1e-3, seed=3)
WORDS = Tokenizer.from_str(tiny.tokenizer())


def started(seed: int = 0) -> Any:
    """A network whose weights above the encoder are drawn by the seed."""
    known = {
        name: value for name, value in tiny.weights().items() if name not in cross_encoder_network.sizes(tiny.HIDDEN)
    }
    return cross_encoder_network.begin(known, tiny.SHAPE, seed)


def written(folder: Path, module: Any, scale: LogitScale = PLAIN) -> Path:
    given = cross_encoder_network.arrays(module)
    verifier_folder.write(folder, given, tiny.SHAPE, tiny.tokenizer(), scale, name="tiny", card={"licence": "x"})
    return folder


def examples() -> list[TrainingExample]:
    """Learnable examples: "not" makes it another answer."""
    words = ["password", "card", "capital", "france", "spain", "reset", "forgot"]
    found = []
    for one in words:
        for two in words:
            text = f"what is the {one} of my {two}"
            found.append(TrainingExample(text, f"{text} please", 1.0))
            found.append(TrainingExample(text, f"{text} not", 0.0))
    return found


both = pytest.mark.parametrize("by_distance", [False, True], ids=["bert", "mpnet"])


@both
def test_a_pair_gets_the_same_logit_alone_and_beside_longer_ones(by_distance: bool) -> None:
    module = cross_encoder_network.begin(tiny.weights(by_distance=by_distance), tiny.SHAPE, 0)
    together = training_loop.logits(module, WORDS, PAIRS)
    alone = [training_loop.logits(module, WORDS, [pair])[0] for pair in PAIRS]
    assert np.allclose(together, alone, atol=1e-4)
    assert np.ptp(together) > 1e-2


@both
def test_the_graph_computes_what_was_trained(by_distance: bool) -> None:
    module = cross_encoder_network.begin(tiny.weights(by_distance=by_distance), tiny.SHAPE, 0)
    model = (
        verifier_folder.JointGraph(cross_encoder_network.arrays(module), tiny.SHAPE, "float32")
        .model()
        .SerializeToString()
    )
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    ids, kinds, mask = padded(rows(WORDS, [(min(pair), max(pair)) for pair in PAIRS]))
    found = session.run(None, {"input_ids": ids, "token_type_ids": kinds, "attention_mask": mask})[0]
    assert np.allclose(found, training_loop.logits(module, WORDS, PAIRS), atol=1e-3)


def test_norms_are_trained_as_the_graph_computes_them() -> None:
    module = cross_encoder_network.begin(tiny.weights(by_distance=True), tiny.SHAPE, 0)
    model = verifier_folder.JointGraph(cross_encoder_network.arrays(module), tiny.SHAPE, "float32").model()
    norms = [node for node in model.graph.node if node.op_type == "LayerNormalization"]
    assert norms
    for node in norms:
        [epsilon] = [one.f for one in node.attribute if one.name == "epsilon"]
        assert epsilon == pytest.approx(module.config.layer_norm_eps)


@both
def test_int8_is_close_to_float32(tmp_path: Path, by_distance: bool) -> None:
    module = cross_encoder_network.begin(tiny.weights(by_distance=by_distance), tiny.SHAPE, 0)
    exact = training_loop.logits(module, WORDS, PAIRS)
    assert np.allclose(CrossEncoder(written(tmp_path / "v", module)).logits(PAIRS), exact, atol=0.15)


@both
def test_what_was_written_can_be_trained_further(tmp_path: Path, by_distance: bool) -> None:
    module = cross_encoder_network.begin(tiny.weights(by_distance=by_distance), tiny.SHAPE, 0)
    read, shape = verifier_folder.read(written(tmp_path / "v", module))
    assert shape == tiny.SHAPE
    again = cross_encoder_network.begin(read, shape, 1)
    assert set(cross_encoder_network.arrays(again)) == set(cross_encoder_network.arrays(module))
    assert np.allclose(training_loop.logits(module, WORDS, PAIRS), training_loop.logits(again, WORDS, PAIRS), atol=0.05)


def test_an_encoder_is_read_as_its_authors_name_its_weights() -> None:
    module = cross_encoder_network.begin(tiny.weights(by_distance=True), tiny.SHAPE, 0)
    theirs = {name: value.numpy() for name, value in module.base_model.state_dict().items()}
    assert "encoder.layer.0.attention.attn.q.weight" in theirs
    ours = cross_encoder_network.arrays(module)
    read = cross_encoder_network.renamed(theirs)
    assert read.keys() == ours.keys() - cross_encoder_network.sizes(tiny.HIDDEN).keys()
    assert all(np.array_equal(value, ours[name]) for name, value in read.items())


def test_tokens_have_the_places_that_the_library_gives_them() -> None:
    module = cross_encoder_network.begin(tiny.weights(by_distance=True), tiny.SHAPE, 0)
    ids, kinds, mask = map(torch.from_numpy, padded(rows(WORDS, PAIRS[1:2])))
    with torch.inference_mode():
        theirs = module(input_ids=ids, attention_mask=mask).logits[:, 0]
        assert torch.allclose(cross_encoder_network.judge(module, ids, kinds, mask), theirs, atol=1e-6)


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
def test_all_that_a_network_is_given_lies_where_the_pairs_do(kind: str) -> None:
    given: dict[str, Any] = {}

    class Elsewhere:
        config = SimpleNamespace(model_type=kind)

        def __call__(self, **named: Any) -> Any:
            given.update(named)
            return SimpleNamespace(logits=named["input_ids"][:, :1])

    cross_encoder_network.judge(Elsewhere(), *(torch.zeros(2, 5, dtype=torch.long, device="meta") for _ in range(3)))
    assert len(given) == 3
    assert {one.device.type for one in given.values()} == {"meta"}


@pytest.mark.parametrize("buckets", [8, 32])
def test_distances_are_those_of_the_library(buckets: int) -> None:
    encoder = pytest.importorskip("transformers.models.mpnet.modeling_mpnet").MPNetEncoder
    places = torch.arange(256)
    theirs = encoder.relative_position_bucket(places[None, :] - places[:, None], num_buckets=buckets)
    assert np.array_equal(cross_encoder_network.attention_distances(256, buckets), theirs.numpy())


def test_what_differs_at_the_end_of_a_long_pair_is_trained_on() -> None:
    story = "reset my password " * 30
    same, other = (rows(WORDS, [(story, story + end)])[0] for end in ("france", "spain"))
    assert 128 < len(same.ids) <= MAX_TOKENS
    assert same != other


def test_words_that_training_never_shows_keep_their_meaning() -> None:
    module = started()
    before = cross_encoder_network.arrays(module)["embeddings.word_embeddings.weight"].copy()
    training_loop.fit(module, WORDS, examples(), COURSE)
    assert np.array_equal(before, cross_encoder_network.arrays(module)["embeddings.word_embeddings.weight"])


def test_the_same_weights_give_the_same_bytes(tmp_path: Path) -> None:
    one, two = (written(tmp_path / name, started()) for name in ("one", "two"))
    for name in ("model.onnx", "model.json", "tokenizer.json"):
        assert (one / name).read_bytes() == (two / name).read_bytes()


@pytest.mark.parametrize(
    "changes", [{}, {"half": True}, {"half": True, "levels": 63}, {"both_orders": True, "levels": 63, "grid_from": 0.5}]
)
def test_training_learns(changes: dict[str, Any]) -> None:
    module, some = started(), examples() * 8
    steps: list[TrainingStep] = []
    training_loop.fit(module, WORDS, some, replace(COURSE, **changes), told=steps.append)
    assert all(weight.dtype == torch.float32 for weight in module.parameters())
    assert (steps[-1].done, steps[-1].of) == (196, 196)
    logits = training_loop.logits(module, WORDS, [(one.one, one.two) for one in some])
    right = (logits > 0) == np.array([one.target > 0.5 for one in some])
    assert right.mean() > 0.9


def test_half_as_precise_products_lead_to_nearly_the_same_weights() -> None:
    whole, half = started(), started()
    for module, chosen in ((whole, False), (half, True)):
        training_loop.fit(module, WORDS, examples(), replace(COURSE, passes=1, half=chosen))
    one, two = (cross_encoder_network.arrays(module)["classifier.weight"] for module in (whole, half))
    assert not np.array_equal(one, two)
    assert np.allclose(one, two, atol=0.05)


def test_every_step_computes_with_the_weights_as_they_will_be_written() -> None:
    still = replace(COURSE, passes=1, rate=0.0)
    whole, rounded, grid = started(), started(), started()
    grid_weights.round_nearest(linear_weights(rounded), 2)
    losses = []
    for module, levels in ((whole, 0), (rounded, 0), (grid, 2)):
        steps: list[TrainingStep] = []
        training_loop.fit(module, WORDS, examples(), replace(still, levels=levels), told=steps.append)
        losses.append([step.loss for step in steps])
    assert losses[2] == pytest.approx(losses[1], abs=1e-6)
    assert losses[2] != pytest.approx(losses[0], abs=1e-6)
    kept = zip(linear_weights(grid), linear_weights(whole), strict=True)
    assert all(torch.equal(one, two) for one, two in kept), "beside the steps they are whole"


def test_the_grid_is_kept_from_the_share_of_the_steps_that_the_course_names(monkeypatch: pytest.MonkeyPatch) -> None:
    gridded = list[int]()
    on_grid = grid_weights.on_grid

    def noted(weights: Sequence[Any], levels: int) -> Any:
        gridded.append(len(weights))
        return on_grid(weights, levels)

    monkeypatch.setattr(grid_weights, "on_grid", noted)
    training_loop.fit(started(), WORDS, examples()[:32], replace(COURSE, passes=1, levels=63, grid_from=0.5))
    assert [bool(count) for count in gridded] == [False, False, True, True]


def test_both_orders_of_a_pair_come_to_one_word() -> None:
    gaps = {}
    turned = [(one.two, one.one) for one in examples()]
    for both in (False, True):
        module = started()
        course = replace(COURSE, passes=6, both_orders=both)
        training_loop.fit(module, WORDS, examples(), course)
        ids, kinds, mask = map(torch.from_numpy, padded(rows(WORDS, [(one.one, one.two) for one in examples()])))
        other = map(torch.from_numpy, padded(rows(WORDS, turned)))
        with torch.inference_mode():
            words = cross_encoder_network.judge(module, ids, kinds, mask), cross_encoder_network.judge(module, *other)
        one, two = (word.sigmoid() for word in words)
        gaps[both] = float((one - two).abs().mean())
    assert gaps[True] < 0.7 * gaps[False], gaps


def test_what_two_orders_of_a_pair_disagree_in_is_part_of_the_loss(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = torch.tensor([2.0, -1.0]), torch.tensor([0.5, -1.0])
    words = [torch.distributions.Bernoulli(logits=logits) for logits in (one, two)]
    either_way = [torch.distributions.kl_divergence(words[first], words[1 - first]) for first in (0, 1)]
    assert float(training_loop._divergence(one, two)) == pytest.approx(float(sum(either_way).mean() / 2))

    def loss(divergence: Any) -> float:
        steps: list[TrainingStep] = []
        with monkeypatch.context() as patch:
            patch.setattr(training_loop, "_divergence", divergence)
            still = replace(COURSE, passes=1, rate=0.0, both_orders=True)
            training_loop.fit(started(), WORDS, examples(), still, told=steps.append)
        return steps[0].loss

    none, whole = (loss(lambda one, two, of=of: torch.tensor(of)) for of in (0.0, 1.0))
    assert whole == pytest.approx(none + 0.02, abs=1e-6)  # of late: a fiftieth of a step's loss
    assert loss(training_loop._divergence) > none


def test_steps_that_are_smaller_than_the_grid_add_up() -> None:
    module, begun = started(), started()
    grid_weights.round_nearest(linear_weights(begun), 63)
    slow = replace(COURSE, passes=4, rate=3e-4, levels=63)
    training_loop.fit(module, WORDS, examples(), slow)
    step = [weight.abs().amax(dim=1, keepdim=True) / 63 for weight in linear_weights(begun)]
    moved = [
        int((now - before).abs().gt(0.5 * of).sum())
        for now, before, of in zip(linear_weights(module), linear_weights(begun), step, strict=True)
    ]
    assert all(0.5 * of.min() > slow.rate for of in step), "a single step is larger than the grid"
    assert all(moved)


def test_a_grid_holds_within_a_step_alone() -> None:
    weight = torch.tensor([[1.0, -0.26, 0.0], [0.0, 0.0, 0.0]], requires_grad=True)
    with pytest.raises(KeyboardInterrupt), grid_weights.on_grid([weight], 2):
        assert weight.tolist() == [[1.0, -0.5, 0.0], [0.0, 0.0, 0.0]]
        raise KeyboardInterrupt
    assert weight.tolist()[0][1] == pytest.approx(-0.26)


def test_a_run_that_was_broken_off_ends_where_an_unbroken_one_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training_loop, "_SAVE_EVERY", 5)
    whole = started()
    training_loop.fit(whole, WORDS, examples(), COURSE)

    def stop(step: TrainingStep) -> None:
        if step.done == 13:
            raise KeyboardInterrupt

    broken, saved = started(), tmp_path / "state.pt"
    with pytest.raises(KeyboardInterrupt):
        training_loop.fit(broken, WORDS, examples(), COURSE, saved=saved, told=stop)
    resumed, seen = started(), list[int]()
    training_loop.fit(resumed, WORDS, examples(), COURSE, saved=saved, told=lambda step: seen.append(step.done))
    assert seen[0] == 11
    after = cross_encoder_network.arrays(resumed)
    for name, value in cross_encoder_network.arrays(whole).items():
        assert np.allclose(value, after[name], atol=1e-5), name


@pytest.mark.parametrize("other", ["weights", "examples", "course", "tokenizer", "damaged", "older"])
def test_what_another_training_left_is_not_gone_on_with(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, other: str
) -> None:
    saved, some = tmp_path / "state.pt", examples()[:32]
    words = Tokenizer.from_str(tiny.tokenizer())
    if other == "tokenizer":
        words.add_tokens(["please"])
    left = {
        "weights": (started(1), words, some, COURSE),
        "examples": (started(), words, some[::-1], COURSE),
        "course": (started(), words, some, replace(COURSE, rate=2e-3)),
    }.get(other, (started(), words, some, COURSE))
    training_loop.fit(*left, saved=saved)
    if other == "damaged":
        saved.write_bytes(saved.read_bytes()[:100])
    if other == "older":  # of a version that did not say whose state it was
        state = torch.load(saved, weights_only=True)
        del state["run"]
        torch.save(state, saved)
    seen: list[int] = []
    training_loop.fit(started(), WORDS, some, COURSE, saved=saved, told=lambda step: seen.append(step.done))
    assert seen[0] == 1
    assert f"{saved} " in caplog.text
    assert "starts anew" in caplog.text
    caplog.clear()
    training_loop.fit(started(), WORDS, some, COURSE, saved=saved, told=lambda step: seen.append(step.done))
    assert (len(seen), caplog.text) == (8, "")  # what was left is now of this one: there is nothing more to do


def test_examples_of_one_class_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="both classes"):
        training_loop.fit(started(), WORDS, [TrainingExample("a", "b", 1.0)] * 4, COURSE)


def test_a_folder_that_is_no_verifier_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.json").write_text("{}", encoding="utf-8")
    with pytest.raises(ConfigError, match="no verifier"):
        verifier_folder.read(tmp_path)


def test_a_full_disk_leaves_the_old_verifier(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = written(tmp_path / "v", started(0))
    before = CrossEncoder(folder).id

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("onnx.save", full)
    with pytest.raises(Exception, match="No space left"):
        written(folder, started(1))
    assert CrossEncoder(folder).id == before
    assert [path.name for path in tmp_path.iterdir()] == ["v"]
