"""The exported graph against the equations of BERT written in numpy, on a tiny model with random weights."""

from __future__ import annotations

import json
from math import erf
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from semcache.errors import InvalidArgument
from semcache.models.embedders.onnx import OnnxEmbedder
from semcache.train.export import export, main

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("onnx", reason="the train extra is not installed")
safetensors = pytest.importorskip("safetensors.numpy", reason="the train extra is not installed")

HIDDEN, HEADS, INNER, LAYERS, POSITIONS = 32, 4, 64, 2, 24
WORDS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", *(f"w{number}" for number in range(60))]
TEXTS = ["w1 w2 w3", "w4", "w5 w6 w7 w8 w9 w10 w11 w12", "w1 w2 w3 w4 w50", ""]
CONFIG = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "hidden_size": HIDDEN,
    "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS,
    "max_position_embeddings": POSITIONS,
    "layer_norm_eps": 1e-12,
}


def weights() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(1)

    def draw(*shape: int) -> np.ndarray:
        return (0.3 * rng.standard_normal(shape)).astype(np.float32)

    tensors = {
        "embeddings.word_embeddings.weight": draw(len(WORDS), HIDDEN),
        "embeddings.position_embeddings.weight": draw(POSITIONS, HIDDEN),
        "embeddings.token_type_embeddings.weight": draw(2, HIDDEN),
    }
    norms = ["embeddings.LayerNorm"]
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}"
        for name in ("query", "key", "value"):
            tensors[f"{prefix}.attention.self.{name}.weight"] = draw(HIDDEN, HIDDEN)
            tensors[f"{prefix}.attention.self.{name}.bias"] = draw(HIDDEN)
        for name, out, into in (
            ("attention.output.dense", HIDDEN, HIDDEN),
            ("intermediate.dense", INNER, HIDDEN),
            ("output.dense", HIDDEN, INNER),
        ):
            tensors[f"{prefix}.{name}.weight"], tensors[f"{prefix}.{name}.bias"] = draw(out, into), draw(out)
        norms += [f"{prefix}.attention.output.LayerNorm", f"{prefix}.output.LayerNorm"]
    for name in norms:
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = 1 + draw(HIDDEN), draw(HIDDEN)
    return tensors


def by_the_book(tokens: list[int], pooling: str) -> np.ndarray:
    """One text through BERT in float64."""
    w = {name: value.astype(np.float64) for name, value in weights().items()}

    def norm(x: np.ndarray, name: str) -> np.ndarray:
        x = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-12)
        return x * w[f"{name}.weight"] + w[f"{name}.bias"]

    def linear(x: np.ndarray, name: str) -> np.ndarray:
        return x @ w[f"{name}.weight"].T + w[f"{name}.bias"]

    x = w["embeddings.word_embeddings.weight"][tokens] + w["embeddings.token_type_embeddings.weight"][0]
    x = norm(x + w["embeddings.position_embeddings.weight"][: len(tokens)], "embeddings.LayerNorm")
    for layer in range(LAYERS):
        p = f"encoder.layer.{layer}"
        size = HIDDEN // HEADS
        q, k, v = (
            linear(x, f"{p}.attention.self.{name}").reshape(-1, HEADS, size).transpose(1, 0, 2)
            for name in ("query", "key", "value")
        )
        logits = q @ k.transpose(0, 2, 1) / np.sqrt(size)
        attention = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
        mixed = (attention @ v).transpose(1, 0, 2).reshape(-1, HIDDEN)
        x = norm(linear(mixed, f"{p}.attention.output.dense") + x, f"{p}.attention.output.LayerNorm")
        inner = linear(x, f"{p}.intermediate.dense")
        inner = inner * 0.5 * (1 + np.vectorize(erf)(inner / np.sqrt(2)))
        x = norm(linear(inner, f"{p}.output.dense") + x, f"{p}.output.LayerNorm")
    pooled = x[0] if pooling == "cls" else x.mean(0)
    return pooled / np.linalg.norm(pooled)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    folder = tmp_path / "source"
    (folder / "1_Pooling").mkdir(parents=True)
    tokenizer = Tokenizer(models.WordLevel({word: id_ for id_, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.enable_padding(length=20)
    tokenizer.enable_truncation(10)
    tokenizer.save(str(folder / "tokenizer.json"))
    safetensors.save_file(weights(), str(folder / "model.safetensors"))
    write(folder / "config.json", CONFIG)
    write(folder / "sentence_bert_config.json", {"max_seq_length": 16})
    write(folder / "modules.json", [{"type": "sentence_transformers.models.Transformer"}, {"type": "x.Pooling"}])
    write(folder / "1_Pooling" / "config.json", {"pooling_mode_mean_tokens": True})
    return folder


def write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value))


def made(source: Path, out: Path, **options: Any) -> OnnxEmbedder:
    export(source, out, name="tiny", origin="random", licence="none", language=None, **options)
    return OnnxEmbedder(out)


def tokens_of(text: str) -> list[int]:
    return [2, *(WORDS.index(word) for word in text.split()), 3]


@pytest.mark.parametrize("pooling", ["mean", "cls"])
def test_float32_agrees_with_the_equations(source: Path, tmp_path: Path, pooling: str) -> None:
    write(
        source / "1_Pooling" / "config.json",
        {"pooling_mode_mean_tokens": pooling == "mean", "pooling_mode_cls_token": pooling == "cls"},
    )
    embedder = made(source, tmp_path / "out", precision="float32")
    expected = np.stack([by_the_book(tokens_of(text), pooling) for text in TEXTS])
    assert embedder.encode(TEXTS) == pytest.approx(expected, abs=1e-5)
    assert f"/{pooling}/float32/" in embedder.id


def test_int8_is_close_to_the_equations(source: Path, tmp_path: Path) -> None:
    embedder = made(source, tmp_path / "out")
    expected = np.stack([by_the_book(tokens_of(text), "mean") for text in TEXTS])
    assert (embedder.encode(TEXTS) * expected).sum(axis=1).min() > 0.99


def test_int8_rows_do_not_depend_on_their_batch(source: Path, tmp_path: Path) -> None:
    embedder = made(source, tmp_path / "out")
    alone = np.concatenate([embedder.encode([text]) for text in TEXTS])
    assert embedder.encode(TEXTS) == pytest.approx(alone, abs=1e-5)


def test_weights_of_half_precision_are_exported_too(source: Path, tmp_path: Path) -> None:
    whole = made(source, tmp_path / "whole").encode(TEXTS)
    place = source / "model.safetensors"
    half = {name: value.astype(np.float16) for name, value in safetensors.load_file(place).items()}
    safetensors.save_file(half, place)
    assert np.einsum("ij,ij->i", whole, made(source, tmp_path / "half").encode(TEXTS)) == pytest.approx(1, abs=1e-2)
    place.write_bytes(place.read_bytes()[:1000])
    with pytest.raises(InvalidArgument, match="cannot be read"):
        made(source, tmp_path / "cut")


def test_the_same_folder_gives_the_same_bytes(source: Path, tmp_path: Path) -> None:
    made(source, tmp_path / "one")
    made(source, tmp_path / "two")
    for path in (tmp_path / "one").iterdir():
        assert path.read_bytes() == (tmp_path / "two" / path.name).read_bytes()
        assert str(tmp_path).encode() not in path.read_bytes()


def test_padding_and_truncation_of_the_source_are_dropped(source: Path, tmp_path: Path) -> None:
    embedder = made(source, tmp_path / "out", precision="float32")
    long = " ".join(f"w{number}" for number in range(14))
    assert embedder.max_tokens == 16
    assert embedder.encode([long])[0] == pytest.approx(by_the_book(tokens_of(long), "mean"), abs=1e-5)


@pytest.mark.parametrize(
    ("file", "content", "says"),
    [
        ("config.json", CONFIG | {"model_type": "roberta"}, "model_type is 'roberta'"),
        ("config.json", CONFIG | {"hidden_act": "relu"}, "hidden_act is 'relu'"),
        ("modules.json", [{"type": "sentence_transformers.models.Dense"}], "'Dense' cannot be exported"),
        ("1_Pooling/config.json", {"pooling_mode_max_tokens": True}, "mean or cls"),
    ],
)
def test_what_the_graph_cannot_say_is_refused(source: Path, tmp_path: Path, file: str, content: Any, says: str) -> None:
    write(source / file, content)
    with pytest.raises(InvalidArgument, match=says):
        made(source, tmp_path / "out")


@pytest.mark.parametrize("file", ["config.json", "model.safetensors", "tokenizer.json"])
def test_a_missing_file_is_named(source: Path, tmp_path: Path, file: str) -> None:
    (source / file).unlink()
    with pytest.raises(InvalidArgument, match=file):
        made(source, tmp_path / "out")


def test_the_command_prints_the_card(source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--source", str(source), "--out", str(tmp_path / "out"), "--name", "tiny"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert card == json.loads((tmp_path / "out" / "model.json").read_text())
    assert "tiny" in (tmp_path / "out" / "README.md").read_text()
    with pytest.raises(SystemExit):
        main(["--source", str(tmp_path / "absent"), "--out", str(tmp_path / "out")])
