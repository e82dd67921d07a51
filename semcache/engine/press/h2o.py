"""H2O (Zhang et al. 2023, section 4): the tokens that gathered most attention so far, and the latest.

The sum runs over all queries of the text (the paper's oracle within the prompt); half of the budget is for the latest.
Knows a text's own queries, no question apart from it. Invariant: the latest stay.
"""

from __future__ import annotations

from functools import reduce
from typing import TYPE_CHECKING

from semcache.engine.press.evicting import EvictingPress
from semcache.engine.press.press_protocol import ObservedLayer, QuerySource

if TYPE_CHECKING:
    import torch


class H2O(EvictingPress):
    """Keep heavy hitters; `recent` is the share of the budget for the latest tokens."""

    name = "h2o"
    asks = QuerySource.TEXT

    def __init__(self, recent: float = 0.5) -> None:
        self._recent = recent

    def scores(self, seen: ObservedLayer) -> torch.Tensor:
        """Attention gathered, summed over queries and over the heads that share keys."""
        import torch

        gathered = reduce(torch.add, (piece.sum((2, 3)) for piece in seen.attention_pieces(seen.tokens)))
        latest = seen.tokens - int(self._recent * seen.budget)
        return gathered.masked_fill(torch.arange(seen.tokens, device=gathered.device) >= latest, torch.inf)
