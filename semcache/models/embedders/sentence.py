"""The embedder that runs any sentence-transformers model, by folder or by name.

Slower than an exported model by an order of magnitude; for models that `semcache.train.export` cannot express.
Invariant: `encode` returns finite float32 unit rows or raises EmbedError.
"""

from __future__ import annotations

import asyncio
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.errors import ConfigError, EmbedError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semcache.types import Matrix


class SentenceEmbedder:
    """An embedder on sentence-transformers (needs the `train` extra)."""

    def __init__(self, model: str) -> None:
        """Load `model`, a folder or a name that the library can resolve. Raises ConfigError."""
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise ConfigError(
                f"embedder 'sentence:{model}' needs sentence-transformers: pip install 'semcache-llm[train]'"
            ) from error
        try:
            self._model = SentenceTransformer(model)
        except Exception as error:  # the library raises whatever its own dependencies do
            raise ConfigError(f"sentence-transformers cannot load {model!r}: {error}") from error
        self._name = model.rstrip("/\\").replace("\\", "/").rsplit("/", 1)[-1]
        self._dim = int(self._model.encode(["dimension"], show_progress_bar=False).shape[1])
        self._digest = _digest(self._model)

    @property
    def id(self) -> str:
        """The name of the embedding space."""
        return f"sentence/{self._name}/{self._digest}"

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return self._dim

    @property
    def max_tokens(self) -> int:
        """Tokens of a text that are read."""
        return int(self._model.max_seq_length or 512)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32 (len(texts), dim), rows L2-normalised. Raises EmbedError."""
        if not texts:
            return np.empty((0, self._dim), np.float32)
        readable = [text.encode("utf-8", "replace").decode("utf-8") for text in texts]
        try:
            vectors = self._model.encode(
                readable, batch_size=32, normalize_embeddings=True, convert_to_numpy=True, show_progress_bar=False
            )
        except Exception as error:  # torch raises RuntimeError, MemoryError and its own kinds
            raise EmbedError(f"the embedder {self.id} failed: {str(error) or type(error).__name__}") from error
        matrix: Matrix = np.ascontiguousarray(vectors, np.float32)
        if not np.all(np.abs(np.einsum("ij,ij->i", matrix, matrix) - 1) < 1e-3):
            raise EmbedError(f"the embedder {self.id} returned a vector that is not of unit length")
        return matrix

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return what `encode` does, from a thread. Raises EmbedError."""
        return await asyncio.to_thread(self.encode, texts)

    async def close(self) -> None:
        """Do nothing: the model is freed with the object."""


def _digest(model: Any) -> str:
    """Name the weights, so that two models in folders of the same name are not taken for one another."""
    digest = blake2b(digest_size=6)
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(name.encode())
        digest.update(tensor.detach().cpu().float().contiguous().numpy().tobytes())
    return digest.hexdigest()
