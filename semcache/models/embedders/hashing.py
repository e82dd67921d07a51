"""A deterministic embedder without a model, for tests: texts that share words and letters are near.

Knows no meaning: paraphrases with other words are far apart. Never use it to serve real traffic.
Invariant: the same text gives the same unit vector in every process and on every machine.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np

from semcache.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from semcache.types import Matrix

WORD = re.compile(r"\w+|[^\w\s]")


class HashingEmbedder:
    """Words and their three-letter pieces, hashed with a sign into `dim` buckets."""

    def __init__(self, dim: int = 256) -> None:
        if dim < 2:
            raise InvalidArgument(f"dim {dim} is too small: a hashing embedder needs at least 2 dimensions")
        self._dim = dim

    @property
    def id(self) -> str:
        """The name of the embedding space."""
        return f"hashing/{self._dim}"

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return self._dim

    @property
    def max_tokens(self) -> int:
        """Tokens of a text that are read."""
        return 1_000_000

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Return float32 (len(texts), dim), rows L2-normalised."""
        matrix = np.zeros((len(texts), self._dim), np.float32)
        for position, text in enumerate(texts):
            row = matrix[position]
            for feature, weight in _features(text):
                code = crc32(feature.encode("utf-8", "surrogatepass"))
                row[code % self._dim] += weight if code & 0x8000_0000 else -weight
            norm = float(np.linalg.norm(row))
            if norm == 0:  # nothing to hash, or features that cancel
                row[crc32(text.encode("utf-8", "surrogatepass")) % self._dim] = norm = 1.0
            np.divide(row, norm, out=row)
        return matrix

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return what `encode` does."""
        return self.encode(texts)

    async def close(self) -> None:
        """Do nothing."""


def _features(text: str) -> Iterator[tuple[str, float]]:
    for word in WORD.findall(text.lower()):
        yield f"w:{word}", 1.0
        padded = f"<{word}>"
        for start in range(len(padded) - 2):
            yield f"c:{padded[start : start + 3]}", 0.4
