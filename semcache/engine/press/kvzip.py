"""KVzip (Kim et al. 2025, section 3.2): what the model needs to repeat the text.

The text is read once more behind itself; a token is worth the most attention that any of those queries gives it. Any
question can be answered from a text that can be repeated, hence agnostic; it costs a second prefill.
Knows queries that came after the whole text. Invariant: scores are attention weights, in [0, 1].
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from semcache.engine.press.evicting import EvictingPress
from semcache.engine.press.press_protocol import ObservedLayer, QuerySource

if TYPE_CHECKING:
    import torch


class KVzip(EvictingPress):
    """Keep what reconstructs the text."""

    name = "kvzip"
    asks = QuerySource.REPETITION

    def scores(self, seen: ObservedLayer) -> torch.Tensor:
        """The highest attention over all queries and the heads that share keys."""
        import torch

        assert seen.queries is not None
        pieces = seen.attention_pieces(seen.queries.shape[2])
        return reduce(torch.maximum, (piece.amax((2, 3)) for piece in pieces))
