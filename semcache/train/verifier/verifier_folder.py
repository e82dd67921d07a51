"""The folder of a verifier: written for `semcache.models.cross_encoder` to run, read back to train on.

Quantises as `semcache.train.bert_graph` does: no pair's logit depends on the pairs beside it. Knows nothing of training
or of data; needs onnx, not torch. Invariant: the same weights give the same bytes, and a folder is complete or absent.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.errors import ConfigError
from semcache.train.atomic_folder import published
from semcache.train.bert_graph import CONTRIB, INPUTS, POSITIONS, QKV, WORD_EMBEDDINGS, BertGraph, Precision
from semcache.train.verifier.cross_encoder_network import DISTANCES, EPSILON, NetworkShape, attention_distances
from semcache.train.verifier.token_rows import MAX_TOKENS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from semcache.train.verifier.logit_calibration import LogitScale

    Array = NDArray[Any]
    Arrays = Mapping[str, NDArray[np.float32]]

KINDS = "token_type_ids"
_TYPES = "embeddings.token_type_embeddings.weight"


def write(
    out: Path,
    weights: Arrays,
    shape: NetworkShape,
    tokenizer: str,
    scale: LogitScale,
    *,
    name: str,
    card: Mapping[str, Any],
) -> dict[str, Any]:
    """Write model.onnx, tokenizer.json and model.json to `out`, replacing it at once, and return what model.json says.

    `tokenizer` is its JSON, `card` what else model.json is to say. Raises StoreError, and InvalidArgument where `out`
    holds something else; what was there then stays.
    """
    import onnx

    with published(out, replace=True) as fresh:
        onnx.save(JointGraph(weights, shape, "int8").model(), str(fresh / "model.onnx"))
        (fresh / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
        digests = {file: _digest(fresh / file) for file in ("model.onnx", "tokenizer.json")}
        told = {
            "format": 1,
            "kind": "verifier",
            "id": f"{name}/joint/int8/{digests['model.onnx'][:12]}",
            "layers": shape.layers,
            "heads": shape.heads,
            "max_tokens": MAX_TOKENS,
            "calibration": asdict(scale),
            **card,
            "sha256": digests,
        }
        (fresh / "model.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
    return told


def install(fresh: Path, out: Path, *, beside: Sequence[Path] = ()) -> None:
    """Put a copy of the folder `fresh`, and the files `beside`, where `out` is. Raises StoreError, InvalidArgument."""
    with published(out, replace=True) as staging:
        for file in [*sorted(fresh.iterdir()), *beside]:
            shutil.copy(file, staging / file.name)


def read(folder: Path) -> tuple[dict[str, NDArray[np.float32]], NetworkShape]:
    """The weights of a folder that `write` made, as float32. Raises ConfigError."""
    import onnx
    from onnx import numpy_helper

    try:
        card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        shape = NetworkShape(int(card["layers"]), int(card["heads"]))
        model = onnx.load(str(folder / "model.onnx"))
    except (OSError, ValueError, KeyError) as error:
        raise ConfigError(f"{folder} is no verifier's folder: {error}; make one with `make models`") from error
    held = {value.name: numpy_helper.to_array(value) for value in model.graph.initializer}
    weights = {
        WORD_EMBEDDINGS: held["words"].astype(np.float32) * held["word_scales"],
        POSITIONS: held["positions"],
    }
    if "types" in held:
        weights[_TYPES] = held["types"]
    for name, value in held.items():
        if name.endswith(".scales"):
            whole = name.removesuffix(".scales") + ".weight"
            weights[whole] = (held[whole].astype(np.float32) * value).T
        elif value.dtype == np.float32 and name.endswith((".weight", ".bias")):
            weights[name] = value.T if value.ndim == 2 and name.endswith("weight") else value
    for name in [name for name in weights if ".qkv." in name]:
        prefix, kind = name.split(".qkv.")
        for part, value in zip(QKV, np.split(weights.pop(name), 3), strict=True):
            weights[f"{prefix}.attention.self.{part}.{kind}"] = value
    return {name: np.ascontiguousarray(value, np.float32) for name, value in weights.items()}, shape


class JointGraph(BertGraph):
    """The cross-encoder as one ONNX graph.

    (input_ids (n, tokens), attention_mask, token_type_ids) -> logit (n,), of rows as `token_rows.padded` makes them.
    """

    def __init__(self, weights: Arrays, shape: NetworkShape, precision: Precision) -> None:
        config = {
            "hidden_size": weights[WORD_EMBEDDINGS].shape[1],
            "num_attention_heads": shape.heads,
            "num_hidden_layers": shape.layers,
            "layer_norm_eps": EPSILON if DISTANCES in weights else 1e-12,
        }
        super().__init__(weights, config, "cls", MAX_TOKENS, precision)
        self._shape = shape
        self._bias: str | None = None

    def model(self) -> Any:
        """The ONNX model."""
        from onnx import TensorProto, helper

        x = self._embeddings()
        for layer in range(self._shape.layers):
            x = self._layer(x, f"encoder.layer.{layer}")
        first = self._op("Gather", x, self._const("first", np.array(0, np.int64)), axis=1)
        pooled = self._op("Tanh", self._exact(first, "pooler.dense"))
        last = self._const("axis_1", np.array([1], np.int64))
        self._op("Squeeze", self._exact(pooled, "classifier"), last, to_name="logit")
        inputs = [
            helper.make_tensor_value_info(one, TensorProto.INT64, ["pairs", "tokens"]) for one in (*INPUTS, KINDS)
        ]
        outputs = [helper.make_tensor_value_info("logit", TensorProto.FLOAT, ["pairs"])]
        graph = helper.make_graph(self._nodes, "verifier", inputs, outputs, list(self._constants.values()))
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(CONTRIB, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="semcache")

    def _typed(self, x: str, positions: Array, zero: str, tokens: str) -> str:
        x = self._op("Add", x, self._op("Slice", self._const("positions", positions), zero, tokens))
        if _TYPES not in self._weights:
            return x
        return self._op("Add", x, self._op("Gather", self._const("types", self._weights[_TYPES]), KINDS))

    def _attention_bias(self) -> Sequence[str]:
        if DISTANCES not in self._weights:
            return ()
        if self._bias is None:
            table = self._const(DISTANCES, self._weights[DISTANCES].T)
            buckets = attention_distances(MAX_TOKENS, len(self._weights[DISTANCES])).astype(np.int32)
            ends = self._op("Concat", *[self._op("Shape", INPUTS[0], start=1, end=2)] * 2, axis=0)
            starts = self._const("origin", np.zeros(2, np.int64))
            near = self._op("Slice", self._const("distances", buckets), starts, ends)
            axis = self._const("axis_0", np.array([0], np.int64))
            self._bias = self._op("Unsqueeze", self._op("Gather", table, near, axis=1), axis)
        return (self._bias,)

    def _exact(self, x: str, name: str) -> str:
        """A linear layer that is too small to be worth quantising."""
        product = self._op("MatMul", x, self._const(f"{name}.weight", self._weights[f"{name}.weight"].T))
        return self._op("Add", product, self._named(f"{name}.bias"))


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
