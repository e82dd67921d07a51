"""Embeddings of a provider, over the litellm package, which speaks to some dozens of them.

Every text leaves the machine, and every lookup waits for the network: a local model is the better choice where one will
do. Knows litellm's calls and nothing of any provider. Invariant: finite float32 unit rows of one width, in the order of
the texts, or an EmbedError; the width is asked for once, when the embedder is made.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from semcache.errors import ConfigError, EmbedError
from semcache.runtime.retry_after import asked_pause

if TYPE_CHECKING:
    from collections.abc import Sequence

    from semcache.types import Matrix

_AT_ONCE = 96  # texts a call; the smallest limit among the large providers
_AWAY = frozenset({408, 429, 500, 502, 503, 504})  # what a provider answers that may answer a moment later
_LONGEST_PAUSE = 60.0  # seconds
_TIMEOUT = 5.0  # seconds, of one call


class _Never(int):
    """No retries: litellm takes a plain 0 of this option for its default of two."""

    def __bool__(self) -> bool:
        return True


_NO_RETRIES = _Never(0)


class HostedEmbedder:
    """An embedder behind `model` in litellm's notation ("openai/text-embedding-3-small", "ollama/nomic-embed-text").

    Keys and addresses come from the variables that litellm reads (OPENAI_API_KEY, OPENAI_API_BASE, ...). `timeout` is
    in seconds, of one call; `patience` is how long a call may be asked again where the provider says to come later, 0
    where a request waits for it. The id holds no version of the weights: when a provider changes them, name them anew
    or reindex.
    """

    def __init__(self, model: str, *, patience: float = 0.0) -> None:
        """Ask once, for the dimension. Raises ConfigError where the package is missing or the provider refuses."""
        if find_spec("litellm") is None:
            raise ConfigError(f"embedder 'litellm:{model}' needs the package: pip install 'semcache-llm[litellm]'")
        self._model, self._patience = model, patience
        try:
            answer = _package().embedding(model=model, input=["dimension"], timeout=_TIMEOUT, max_retries=_NO_RETRIES)
            self._dim = len(_rows(answer)[0])
            if not self._dim:
                raise ValueError("it returned a vector of no dimension")
        except Exception as error:  # litellm raises each provider's own kinds
            raise ConfigError(f"embedder 'litellm:{model}' does not answer: {error}") from error

    @property
    def id(self) -> str:
        """The name of the embedding space."""
        return f"litellm/{self._model}/{self._dim}"

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return self._dim

    @property
    def max_tokens(self) -> int:
        """As most providers have it; a longer text is theirs to cut or to refuse."""
        return 8191

    async def embed(self, texts: Sequence[str]) -> Matrix:
        """Return float32 (len(texts), dim), rows L2-normalised. Raises EmbedError."""
        matrix: Matrix = np.empty((len(texts), self._dim), np.float32)
        for start in range(0, len(texts), _AT_ONCE):
            part = [text.encode("utf-8", "replace").decode("utf-8") for text in texts[start : start + _AT_ONCE]]
            try:
                rows = np.asarray(_rows(await self._answer(part)), np.float32)
            except Exception as error:
                raise EmbedError(f"the embedder {self.id} failed: {str(error) or type(error).__name__}") from error
            if rows.shape != (len(part), self._dim):
                raise EmbedError(f"the embedder {self.id} returned {rows.shape}, not {(len(part), self._dim)}")
            matrix[start : start + len(part)] = rows
        lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
        if not (np.isfinite(lengths).all() and (lengths > 0.0).all()):
            raise EmbedError(f"the embedder {self.id} returned a vector that has no direction")
        matrix /= lengths
        return matrix

    async def close(self) -> None:
        """Nothing is held between calls."""

    async def _answer(self, texts: list[str]) -> Any:
        loop = asyncio.get_running_loop()
        until, pause = loop.time() + self._patience, 1.0
        while True:
            try:
                async with asyncio.timeout(_TIMEOUT):
                    return await _package().aembedding(
                        model=self._model, input=texts, timeout=_TIMEOUT, max_retries=_NO_RETRIES
                    )
            except Exception as error:
                wait = max(min(asked_pause(_headers(error)), _LONGEST_PAUSE), pause)
                if loop.time() + wait > until or not _may_pass(error):
                    raise
            await asyncio.sleep(wait)
            pause = min(2 * pause, _LONGEST_PAUSE)


def _may_pass(error: Exception) -> bool:
    return isinstance(error, TimeoutError) or getattr(error, "status_code", None) in _AWAY


def _headers(error: Exception) -> Mapping[str, str]:
    """The headers of the answer that an error of the package is about, if there was one."""
    return getattr(getattr(error, "response", None), "headers", None) or {}


def _package() -> Any:
    import litellm

    litellm.suppress_debug_info = True
    return litellm


def _rows(answer: Any) -> list[list[float]]:
    """The vectors in the order of the texts, whatever the order of the answer; without numbers it is that of texts."""
    rows = list(answer.data)
    numbers = [row["index"] for row in rows]
    if all(number is not None for number in numbers):
        rows.sort(key=lambda row: int(row["index"]))
    return [list(row["embedding"]) for row in rows]
