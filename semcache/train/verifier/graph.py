"""Write a verifier as a folder that `semcache.embed.cross` runs, and read its weights back to train on.

Quantises as `semcache.train.export` does: no pair's logit depends on the pairs beside it. Knows nothing of training or
of data; needs onnx, not torch. Invariant: the same weights give the same bytes, and a folder is complete or absent.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.errors import ConfigError, InvalidArgument
from semcache.train.export import CONTRIB, INPUTS, QKV, Precision, _Graph
from semcache.train.folder import published
from semcache.train.verifier import network
from semcache.train.verifier.network import Shape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from semcache.train.verifier.calibrating import Scale

    Arrays = Mapping[str, NDArray[np.float32]]

MAX_TOKENS = 256  # of one text


def write(
    out: Path, weights: Arrays, shape: Shape, tokenizer: str, scale: Scale, *, name: str, card: Mapping[str, Any]
) -> dict[str, Any]:
    """Write model.onnx, tokenizer.json and model.json to `out`, replacing it at once, and return what model.json says.

    `tokenizer` is its JSON, `card` what else model.json is to say. Raises StoreError, and InvalidArgument where `out`
    holds something else; what was there then stays.
    """
    import onnx

    with published(out, replace=True) as fresh:
        onnx.save(CrossGraph(weights, shape, "int8").model(), str(fresh / "model.onnx"))
        (fresh / "tokenizer.json").write_text(tokenizer, encoding="utf-8")
        digests = {file: _digest(fresh / file) for file in ("model.onnx", "tokenizer.json")}
        told = {
            "format": 1,
            "kind": "verifier",
            "id": f"{name}/cross/int8/{digests['model.onnx'][:12]}",
            "layers": shape.layers,
            "tapped": shape.tapped,
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


def read(folder: Path) -> tuple[dict[str, NDArray[np.float32]], Shape]:
    """The weights of a folder that `write` made, as float32, encoder and head. Raises ConfigError."""
    import onnx
    from onnx import numpy_helper

    try:
        card = json.loads((folder / "model.json").read_text(encoding="utf-8"))
        shape = Shape(int(card["layers"]), int(card["tapped"]), int(card["heads"]))
        model = onnx.load(str(folder / "model.onnx"))
    except (OSError, ValueError, KeyError, InvalidArgument) as error:
        raise ConfigError(f"{folder} is no verifier's folder: {error}; make one with `make models`") from error
    held = {value.name: numpy_helper.to_array(value) for value in model.graph.initializer}
    weights = {
        "embeddings.word_embeddings.weight": held["words"].astype(np.float32) * held["word_scales"],
        "embeddings.position_embeddings.weight": held["positions"],
        "embeddings.token_type_embeddings.weight": np.zeros((2, held["positions"].shape[1]), np.float32),
    }
    for name, value in held.items():
        if name.endswith(".scales"):
            whole = name.removesuffix(".scales") + ".weight"
            weights[whole] = (held[whole].astype(np.float32) * value).T
        elif value.dtype == np.float32 and name.endswith((".weight", ".bias", ".sharpness", ".sides", ".likeness")):
            weights[name] = value.T if value.ndim == 2 and name.endswith("weight") else value
    for name in [name for name in weights if ".qkv." in name]:
        prefix, kind = name.split(".qkv.")
        for part, value in zip(QKV, np.split(weights.pop(name), 3), strict=True):
            weights[f"{prefix}.attention.self.{part}.{kind}"] = value
    return {name: np.ascontiguousarray(value, np.float32) for name, value in weights.items()}, shape


def reading(weights: Arrays, shape: Shape, precision: Precision = "int8") -> bytes:
    """The model that reads single texts: (input_ids, attention_mask) -> states of the tapped layer, meanings."""
    made: bytes = CrossGraph(weights, shape, precision).reading().SerializeToString()
    return made


class CrossGraph(_Graph):
    """(input_ids (2n, tokens), attention_mask) -> logit (n,); rows 2i and 2i + 1 are the texts of pair i."""

    def __init__(self, weights: Arrays, shape: Shape, precision: Precision) -> None:
        config = {
            "hidden_size": weights["embeddings.word_embeddings.weight"].shape[1],
            "num_attention_heads": shape.heads,
            "num_hidden_layers": shape.layers,
            "layer_norm_eps": 1e-12,
        }
        super().__init__(weights, config, "mean", MAX_TOKENS, precision)
        self._shape, self._mask = shape, "attention_mask"
        self._hidden = int(config["hidden_size"])

    def model(self) -> Any:
        from onnx import TensorProto, helper

        states, meanings = self._read()
        tokens = self._op("Shape", "input_ids", start=1, end=2)
        n, two, hidden = (self._sizes(size) for size in (-1, 2, self._hidden))
        states = self._op("LpNormalization", states, axis=-1, p=2)
        states = self._op("Reshape", states, self._op("Concat", n, two, tokens, hidden, axis=0))
        meanings = self._op("Reshape", meanings, self._op("Concat", n, two, hidden, axis=0))
        sided = self._op("Reshape", "attention_mask", self._op("Concat", n, two, tokens, axis=0))
        share = self._op("Cast", sided, to=TensorProto.FLOAT)
        both = self._op("Mul", tokens, two)
        self._mask = self._op("Reshape", "attention_mask", self._op("Concat", n, both, axis=0))
        along = self._op("Slice", self._along(), self._const("zero", np.array([0], np.int64)), tokens)
        x = self._op("Concat", *[self._compared(states, share, along, here) for here in (0, 1)], axis=1)
        for layer in range(network.LAYERS):
            x = self._layer(x, f"head.layer.{layer}")
        self._judge(x, meanings)
        return self._model("verifier", [helper.make_tensor_value_info("logit", TensorProto.FLOAT, ["pairs"])])

    def reading(self) -> Any:
        """The graph of `reading`."""
        from onnx import TensorProto, helper

        outputs = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, ["texts", *rest, self._hidden])
            for name, rest in zip(self._read(), (["tokens"], []), strict=True)
        ]
        return self._model("reader", outputs)

    def _model(self, name: str, outputs: Sequence[Any]) -> Any:
        from onnx import TensorProto, helper

        inputs = [helper.make_tensor_value_info(one, TensorProto.INT64, ["texts", "tokens"]) for one in INPUTS]
        graph = helper.make_graph(self._nodes, name, inputs, outputs, list(self._constants.values()))
        opsets = [helper.make_opsetid("", 18), helper.make_opsetid(CONTRIB, 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9, producer_name="semcache")

    def _read(self) -> tuple[str, str]:
        """States of the tapped layer (2n, tokens, hidden), and the embeddings (2n, hidden)."""
        x = tapped = self._embeddings()
        for layer in range(self._shape.layers):
            x = self._layer(x, f"encoder.layer.{layer}")
            tapped = x if layer + 1 == self._shape.tapped else tapped
        self._pool(x)
        return tapped, "embedding"

    def _compared(self, states: str, share: str, along: str, here: int) -> str:
        """`network._compared`: (n, tokens, WIDTH)."""
        own, other = (self._side(states, side) for side in (here, 1 - here))
        off = self._op("Unsqueeze", self._off(self._side(share, 1 - here)), self._axis(1))
        cosines = self._op("MatMul", own, self._op("Transpose", other, perm=[0, 2, 1]))
        sharp = self._op("Mul", cosines, self._named("head.sharpness"))
        links = self._op("Softmax", self._op("Add", sharp, off), axis=-1)
        best = self._op("ReduceMax", self._op("Add", cosines, off), self._axis(2), keepdims=1)
        scale = self._const("scale", np.array(self._hidden**0.5, np.float32))
        x = self._op("Mul", own, scale)
        y = self._op("Mul", self._op("MatMul", links, other), scale)
        # Adding nought gives the positions the batch's shape.
        here_along = self._op("Add", self._op("Mul", best, self._const("nought", np.array(0, np.float32))), along)
        there_along = self._op("MatMul", links, along)
        apart = self._op("Abs", self._op("Sub", x, y))
        features = self._op("Concat", x, apart, self._op("Mul", x, y), best, here_along, there_along, axis=2)
        product = self._op("MatMul", features, self._const("head.enter.weight", self._weights["head.enter.weight"].T))
        sides = self._op("Gather", self._named("head.sides"), self._const(f"at_{here}", np.array(here, np.int64)))
        bias = self._op("Add", self._named("head.enter.bias"), sides)
        return self._norm(self._op("BiasGelu", product, bias, domain=CONTRIB), "head.norm")

    def _judge(self, x: str, meanings: str) -> None:
        from onnx import TensorProto

        joint = self._op("Cast", self._mask, to=TensorProto.FLOAT)
        total = self._op(
            "ReduceSum", self._op("Mul", x, self._op("Unsqueeze", joint, self._axis(2))), self._axis(1), keepdims=0
        )
        mean = self._op("Div", total, self._op("ReduceSum", joint, self._axis(1), keepdims=1))
        off = self._op("Unsqueeze", self._off(joint), self._axis(2))
        most = self._op("ReduceMax", self._op("Add", x, off), self._axis(1), keepdims=0)
        product = self._op("Mul", self._side(meanings, 0), self._side(meanings, 1))
        cosine = self._op("ReduceSum", product, self._axis(1), keepdims=1)
        pooled = self._op("Concat", mean, most, cosine, axis=1)
        inner = self._op("MatMul", pooled, self._const("head.inner.weight", self._weights["head.inner.weight"].T))
        inner = self._op("BiasGelu", inner, self._named("head.inner.bias"), domain=CONTRIB)
        outer = self._op("MatMul", inner, self._const("head.outer.weight", self._weights["head.outer.weight"].T))
        above = self._op("Sub", cosine, self._const("level", np.array(network.LEVEL, np.float32)))
        likeness = self._op("Mul", above, self._named("head.likeness"))
        outer = self._op("Add", self._op("Add", outer, self._named("head.outer.bias")), likeness)
        self._op("Squeeze", outer, self._axis(1), to_name="logit")

    def _off(self, share: str) -> str:
        one, much = (self._const(f"value_{value:g}", np.array(value, np.float32)) for value in (1.0, network.OFF))
        return self._op("Mul", self._op("Sub", share, one), much)

    def _along(self) -> str:
        return self._const("along", (np.arange(MAX_TOKENS, dtype=np.float32) / network.ALONG)[:, None])

    def _side(self, x: str, side: int) -> str:
        return self._op("Gather", x, self._const(f"at_{side}", np.array(side, np.int64)), axis=1)

    def _axis(self, axis: int) -> str:
        return self._const(f"axis_{axis}", np.array([axis], np.int64))

    def _sizes(self, size: int) -> str:
        return self._const(f"size_{size}", np.array([size], np.int64))

    def _once(self, kind: str, *inputs: str, **attributes: Any) -> str:
        # The layers ask for the mask by the name of the graph's input; the head's layers are to see both texts.
        given = [self._mask if name == "attention_mask" else name for name in inputs]
        return super()._once(kind, *given, **attributes)


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
