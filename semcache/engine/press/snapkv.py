"""SnapKV (Li et al. 2024, section 4): what the last tokens attend to, smoothed over neighbours.

The last tokens are meant to be the question: on a text without one it guesses, hence not agnostic.
Knows the last queries alone. Invariant: the window stays, and leaves half of the budget to what it looks at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semcache.engine.press.evicting import EvictingPress
from semcache.engine.press.press_protocol import ObservedLayer, QuerySource

if TYPE_CHECKING:
    import torch


class SnapKV(EvictingPress):
    """`window` last tokens, at most half of the budget, observe and stay; `kernel` neighbours (odd) are pooled."""

    name = "snapkv"
    asks = QuerySource.TEXT
    agnostic = False

    def __init__(self, window: int = 16, kernel: int = 5) -> None:
        self._window, self._kernel = window, kernel

    def scores(self, seen: ObservedLayer) -> torch.Tensor:
        """Attention of the window, summed, the largest among the neighbours; the window itself above all."""
        import torch
        from torch.nn.functional import max_pool1d

        window = min(self._window, max(1, seen.budget // 2), seen.tokens)
        votes = seen.attention(window).sum((2, 3))
        votes = max_pool1d(votes, self._kernel, stride=1, padding=self._kernel // 2)
        return votes.masked_fill(torch.arange(seen.tokens, device=votes.device) >= seen.tokens - window, torch.inf)
