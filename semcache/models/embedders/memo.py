"""A memo of the vectors of recent texts.

Holds digests and vectors, never a text. Vectors carry no answer, but the time saved would tell a caller that somebody
embedded the same text recently: what one scope has embedded is remembered for it alone.
Invariant: a remembered vector equals what the inner embedder would return; callers get copies.
"""

from __future__ import annotations

from collections import OrderedDict
from hashlib import blake2b
from typing import TYPE_CHECKING

import numpy as np

from semcache.models.embedders.wrapper import EmbedderWrapper
from semcache.runtime import scoped_memo

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semcache.protocols import Embedder
    from semcache.types import Matrix, Vector


class MemoEmbedder(EmbedderWrapper["Embedder"]):
    """An embedder with a memory of `size` texts, least recently used out first; 0 remembers nothing. Owns `inner`.

    For use from one event loop.
    """

    def __init__(self, inner: Embedder, size: int = 4096) -> None:
        super().__init__(inner)
        self._size = size
        self._vectors: OrderedDict[bytes, Vector] = OrderedDict()

    def __len__(self) -> int:
        return len(self._vectors)

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return the rows of `texts`, asking the inner embedder only for unknown ones. Raises EmbedError."""
        if self._size <= 0:
            return await self._inner.embed(texts)
        scope = blake2b(scoped_memo.current().encode("utf-8", "surrogatepass"), digest_size=32).digest()
        keys = [blake2b(text.encode("utf-8", "surrogatepass"), key=scope, digest_size=16).digest() for text in texts]
        found: dict[bytes, Vector] = {}
        unknown: dict[bytes, str] = {}
        for key, text in zip(keys, texts, strict=True):
            vector = self._vectors.get(key)
            if vector is None:
                unknown[key] = text
            else:
                self._vectors.move_to_end(key)
                found[key] = vector
        if unknown:
            fresh = await self._inner.embed(list(unknown.values()))
            for key, row in zip(unknown, fresh, strict=True):
                found[key] = row.copy()
                self._remember(key, found[key])
        matrix = np.empty((len(keys), self.dim), np.float32)
        for position, key in enumerate(keys):
            matrix[position] = found[key]
        return matrix

    async def close(self) -> None:
        """Forget everything and close the inner embedder."""
        self._vectors.clear()
        await self._inner.close()

    def _remember(self, key: bytes, vector: Vector) -> None:
        self._vectors[key] = vector
        self._vectors.move_to_end(key)
        while len(self._vectors) > self._size:
            self._vectors.popitem(last=False)
