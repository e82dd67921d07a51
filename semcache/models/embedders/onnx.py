"""The embedder that runs an exported folder (model.onnx, tokenizer.json, model.json) with onnxruntime.

Knows nothing of training frameworks and never reaches the network. Texts are read with their slips mended, of which a
small model makes other words; those longer than it reads are cut off.
Invariant: `encode` returns finite float32 unit rows or raises EmbedError, and a text's row does not depend on the
texts beside it by more than float rounding.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.errors import ConfigError, EmbedError
from semcache.models.embedders.static_table import VECTORS
from semcache.models.loaded_model import load
from semcache.models.model_card import ModelWithCard, readable
from semcache.request.wording.mending import mended

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semcache.types import Matrix

# Padded tokens of one run: enough to fill the processor, small enough that activations stay in its second-level cache.
RUN_TOKENS = 128
_LETTERS = 64  # of a token that is read, more than a text has in the mean: the rest of a long text is not looked at


class OnnxEmbedder(ModelWithCard):
    """An embedder on onnxruntime; `encode` is its synchronous core and safe to call from several threads."""

    def __init__(self, folder: Path | str, *, threads: int = 1) -> None:
        """Load the model. Raises ConfigError when `folder` does not hold one."""
        folder = Path(folder)
        super().__init__(folder)
        if (folder / VECTORS).is_file() and not (folder / "model.onnx").is_file():
            raise ConfigError(f"{folder} holds a table of words, no network: set `embedder: static:{folder}` to use it")
        try:
            self._model = load(folder, threads=threads, longest=self._max_tokens)
            self._read_by(self._model.tokenizer)
        except Exception as error:  # both libraries raise bare Exception subclasses of their own
            raise ConfigError(f"the model in {folder} cannot be loaded: {error}") from error
        self._inputs = {value.name: np.int32 if "int32" in value.type else np.int64 for value in self._inputs_of()}
        wide = self._model.session.get_outputs()[0].shape[-1]
        if isinstance(wide, int) and wide != self._dim:
            raise ConfigError(f"the model in {folder} gives {wide} dimensions, not the {self._dim} of its model.json")

    def encode(self, texts: Sequence[str], *, mending: bool = True) -> Matrix:
        """Return float32 (len(texts), dim), rows L2-normalised; without `mending` slips stand. Raises EmbedError."""
        vectors = np.empty((len(texts), self._dim), np.float32)
        if not texts:
            return vectors
        try:
            tokenizer = self._model.tokenizer
            begun = [text[: _LETTERS * self._max_tokens] for text in texts]
            read = [readable(mended(text) if mending else text) for text in begun]
            if len(read) == 1:
                tokens = [tokenizer.encode(read[0]).ids]
            else:
                tokens = [line.ids for line in tokenizer.encode_batch_fast(read)]
            for rows in _runs([len(line) for line in tokens]):
                vectors[rows] = self._run([tokens[row] for row in rows])
        except EmbedError:
            raise
        except Exception as error:  # whatever the native libraries raise, a caller can only forward
            raise EmbedError(f"the embedder {self._id} failed: {str(error) or type(error).__name__}") from error
        norms = np.einsum("ij,ij->i", vectors, vectors)
        if not np.all(np.abs(norms - 1) < 1e-3):  # also false for NaN
            raise EmbedError(f"the embedder {self._id} returned a vector that is not of unit length")
        return vectors

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return what `encode` does, from a thread. Raises EmbedError."""
        return await asyncio.to_thread(self.encode, texts)

    async def close(self) -> None:
        """Do nothing: the model is freed with the last that uses it."""

    def _run(self, tokens: list[list[int]]) -> Matrix:
        longest = max(map(len, tokens))
        ids = np.zeros((len(tokens), longest), np.int64)
        mask = np.zeros((len(tokens), longest), np.int64)
        for row, line in enumerate(tokens):
            ids[row, : len(line)] = line
            mask[row, : len(line)] = 1
        available = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        feed = {name: available[name].astype(kind, copy=False) for name, kind in self._inputs.items()}
        vectors: Matrix = self._model.session.run(None, feed)[0]
        if vectors.shape != (len(tokens), self._dim):
            raise EmbedError(f"expected vectors of shape {(len(tokens), self._dim)}, got {vectors.shape}")
        return vectors

    def _inputs_of(self) -> list[Any]:
        inputs: list[Any] = self._model.session.get_inputs()
        unknown = {value.name for value in inputs} - {"input_ids", "attention_mask", "token_type_ids"}
        if unknown:
            raise ConfigError(f"the model {self._id} asks for an unknown input {sorted(unknown)[0]!r}")
        return inputs


def _runs(lengths: Sequence[int]) -> list[list[int]]:
    """Group rows of similar length so that no group holds more than RUN_TOKENS tokens, padding included."""
    runs: list[list[int]] = []
    for row in sorted(range(len(lengths)), key=lengths.__getitem__):
        if runs and lengths[row] * (len(runs[-1]) + 1) <= RUN_TOKENS:
            runs[-1].append(row)
        else:
            runs.append([row])
    return runs
