"""The encoder of a model of the BERT family as an ONNX graph, written down operator by operator.

The graph is not traced: torch is not needed, and every matrix product can quantise its input row by row. Tracing and
onnxruntime's own dynamic quantisation use one scale per tensor, so that a text's vector would depend on the other texts
of its batch (cosine 0.987 to itself); here it does not. Weights get 7 bits per output channel, because processors
without VNNI add pairs of 8-bit products in 16 bits and saturate on full-range weights: the same model gives the same
vectors on every machine.

Knows weights and their names, no folder. Invariant: the same weights and options give the same bytes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

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


def _quantise(table: Array, *, axis: int, levels: int) -> tuple[Array, Array]:
    """Symmetric int8 codes and the float32 scales that give `table` back, one scale per slice along `axis`."""
    peak = np.abs(table).max(axis=axis, keepdims=True)
    scales = np.where(peak == 0, 1, peak / levels).astype(np.float32)
    return np.rint(table / scales).astype(np.int8), scales
