"""Read texts once with the frozen encoder, in the very arithmetic of the shipped verifier, and keep what was read.

About 13 kB of memory for a prompt of 15 tokens (half precision). Knows onnxruntime and a tokenizer, nothing of labels.
Invariant: a text's states do not depend on the texts beside it by more than float rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnxruntime

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

_AT_ONCE = 512  # padded tokens of one run


class Reader:
    """`fitting.Readings` on a model of `graph.reading`. `tokenizer` is one of the `tokenizers` library."""

    def __init__(
        self,
        model: bytes,
        tokenizer: Any,
        *,
        heads: int,
        longest: int = 64,
        threads: int = 1,
        told: Callable[[int, int], None] = lambda _, __: None,
    ) -> None:
        """Texts of more than `longest` tokens are cut."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.log_severity_level = 3
        self._session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self._tokenizer, self._longest, self._told = tokenizer, longest, told
        self._read: dict[str, tuple[NDArray[np.float16], NDArray[np.float32]]] = {}
        self.heads = heads

    def learn(self, texts: Sequence[str]) -> None:
        """Read those that are new."""
        new = [text for text in dict.fromkeys(texts) if text not in self._read]
        tokens = [line.ids[: self._longest] for line in self._tokenizer.encode_batch(new)]
        order = sorted(range(len(new)), key=lambda place: len(tokens[place]))
        while order:
            count = max(1, _AT_ONCE // len(tokens[order[min(31, len(order) - 1)]]))
            rows, order = order[:count], order[count:]
            ids, mask = padded([tokens[row] for row in rows])
            states, meanings = self._session.run(None, {"input_ids": ids, "attention_mask": mask})
            for row, state, meaning in zip(rows, states, meanings, strict=True):
                self._read[new[row]] = state[: len(tokens[row])].astype(np.float16), meaning
            self._told(len(new) - len(order), len(new))

    def length(self, text: str) -> int:
        """Tokens of a text that was learned."""
        return len(self._read[text][0])

    def batch(
        self, pairs: Sequence[tuple[str, str]]
    ) -> tuple[NDArray[np.float32], NDArray[np.int64], NDArray[np.float32]]:
        """`states`, `mask` and `meanings` as `network.judge` takes them."""
        longest = max(self.length(text) for pair in pairs for text in pair)
        hidden = len(self._read[pairs[0][0]][1])
        states = np.zeros((len(pairs), 2, longest, hidden), np.float32)
        mask = np.zeros((len(pairs), 2, longest), np.int64)
        meanings = np.zeros((len(pairs), 2, hidden), np.float32)
        for row, pair in enumerate(pairs):
            for side, text in enumerate(pair):
                state, meanings[row, side] = self._read[text]
                states[row, side, : len(state)] = state
                mask[row, side, : len(state)] = 1
        return states, mask, meanings


def padded(tokens: Sequence[Sequence[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Token ids and mask, (n, longest) each."""
    ids = np.zeros((len(tokens), max(map(len, tokens))), np.int64)
    mask = np.zeros_like(ids)
    for row, line in enumerate(tokens):
        ids[row, : len(line)] = line
        mask[row, : len(line)] = 1
    return ids, mask
