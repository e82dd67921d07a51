"""An embedder that wraps another: it says of itself all that the inner one says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from semcache.protocols import longest_word

if TYPE_CHECKING:
    from semcache.protocols import Embedder

E = TypeVar("E", bound="Embedder")


class EmbedderWrapper(Generic[E]):
    """The description of the embedder `inner`, which the wrapper owns."""

    def __init__(self, inner: E) -> None:
        self._inner = inner

    @property
    def id(self) -> str:
        """The name of the embedding space."""
        return self._inner.id

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return self._inner.dim

    @property
    def max_tokens(self) -> int:
        """Tokens of a text that are read."""
        return self._inner.max_tokens

    @property
    def longest_word(self) -> int:
        """Characters of a word that are told from others."""
        return longest_word(self._inner)

    @property
    def language(self) -> str:
        """The language that it was made for, "" for any."""
        return str(getattr(self._inner, "language", ""))
