"""Embedding texts, and searching the vectors of one partition.

Knows only the values of `types`. Invariant: every vector is float32, finite and L2-normalised.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from semcache.types import Neighbour

if TYPE_CHECKING:
    from semcache.types import Matrix, Vector


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into unit vectors. `id` names weights, pooling and quantisation, and is stored with every vector."""

    @property
    def id(self) -> str:
        """Name of weights, pooling and quantisation."""
        ...

    @property
    def dim(self) -> int:
        """Length of a vector."""
        ...

    @property
    def max_tokens(self) -> int:
        """Tokens it reads of a text; the rest is cut off."""
        ...

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return float32 (len(texts), dim), rows L2-normalised. Raises EmbedError."""
        ...

    async def close(self) -> None:
        """Release models and connections."""
        ...


def longest_word(embedder: Embedder) -> int:
    """How many characters of a word it tells apart, as its property `longest_word` says; 100 where it has none.

    A tokenizer of word pieces reads any longer word as the one token for unknown words.
    """
    return int(getattr(embedder, "longest_word", 100))


def reads_english_alone(embedder: Embedder) -> bool:
    """Return True for an embedder whose property `language` is "en"; one that has none may read any language."""
    return str(getattr(embedder, "language", "")) == "en"


class VectorIndex(Protocol):
    """The vectors of one partition. Not thread-safe: one thread owns it."""

    def add(self, id: int, vector: Vector) -> None:
        """Insert, or replace the vector of `id`. Raises IndexFault for a vector of another dimension or not finite."""
        ...

    def remove(self, id: int) -> None:
        """Forget `id`; unknown ids are ignored."""
        ...

    def search(self, vector: Vector, k: int) -> list[Neighbour]:
        """At most k neighbours, best first; fewer or none is normal."""
        ...

    def __len__(self) -> int: ...
