"""The static embedder (vectors.npy, tokenizer.json, model.json): a text is the sum of its tokens' vectors.

No network and no runtime but numpy and the tokenizer: some microseconds a text, no matter how few processors. Order of
words and what a word means beside another are lost. Knows nothing of how the vectors came about (`train.distill.table`)
and reaches no network. Invariant: `encode` returns finite float32 unit rows or raises EmbedError, and a text's row does
not depend on the texts beside it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from tokenizers import Tokenizer

from semcache.errors import ConfigError, EmbedError
from semcache.models.model_card import ModelWithCard, readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semcache.types import Matrix

VECTORS = "vectors.npy"
_NOTHING = 1e-6  # a sum shorter than this points nowhere


class StaticEmbedder(ModelWithCard):
    """An embedder that looks vectors up; `encode` is its synchronous core and safe to call from several threads."""

    def __init__(self, folder: Path | str) -> None:
        """Load the model. Raises ConfigError when `folder` does not hold one."""
        folder = Path(folder)
        super().__init__(folder)
        try:
            self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
            self._table = np.load(folder / VECTORS, mmap_mode="r", allow_pickle=False)
        except Exception as error:  # tokenizers raises bare Exception
            raise ConfigError(f"the model in {folder} cannot be loaded: {error}") from error
        if self._table.shape != (self._tokenizer.get_vocab_size(), self._dim):
            raise ConfigError(
                f"the model in {folder} cannot be loaded: {VECTORS} has the shape {self._table.shape}, not "
                f"{(self._tokenizer.get_vocab_size(), self._dim)}; make it again with `semcache embedder distill`"
            )
        self._read_by(self._tokenizer)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(self._max_tokens)

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32 (len(texts), dim), rows L2-normalised. Raises EmbedError."""
        found = np.zeros((len(texts), self._dim), np.float32)
        try:
            lines = self._tokenizer.encode_batch_fast([readable(text) for text in texts], add_special_tokens=False)
            for row, line in zip(found, lines, strict=True):
                if line.ids:
                    self._table[line.ids].sum(axis=0, dtype=np.float32, out=row)
        except Exception as error:  # tokenizers raises bare Exception; a number beyond the table is an IndexError
            raise EmbedError(f"the embedder {self._id} failed: {str(error) or type(error).__name__}") from error
        for row in found:
            length = float(np.linalg.norm(row))
            if not length < np.inf:
                raise EmbedError(f"the embedder {self._id} returned a vector that is not finite")
            if length < _NOTHING:  # no token, or tokens that say nothing
                row[:] = 0.0
                row[0] = length = 1.0
            np.divide(row, length, out=row)
        return found

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return what `encode` does. Raises EmbedError."""
        return self.encode(texts)

    async def close(self) -> None:
        """Do nothing: the table is freed with the object."""
