"""TOVA (Oren et al. 2024, section 3.2): what the last token attends to, on average over all heads of a layer.

The last token is meant to be the question's, hence not agnostic. Knows one query a head. Invariant: all heads of a
layer keep the same tokens, the last among them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semcache.engine.press.evicting import EvictingPress
from semcache.engine.press.press_protocol import ObservedLayer, QuerySource

if TYPE_CHECKING:
    import torch


class Tova(EvictingPress):
    """Keep what the last token looks at."""

    name = "tova"
    asks = QuerySource.TEXT
    agnostic = False

    def scores(self, seen: ObservedLayer) -> torch.Tensor:
        """Attention of the last token, averaged over heads, itself above all."""
        import torch

        last = seen.attention(1)[:, :, :, 0].mean((1, 2), keepdim=True)[:, :, 0].clone()
        last[..., -1] = torch.inf
        return last.expand(seen.keys.shape[:3])
