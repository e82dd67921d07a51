"""KeyDiff (Park et al. 2025, section 3): the keys that differ most from the mean direction of all.

Knows keys alone, no query, hence agnostic. Invariant: scores are cosines, in [-1, 1].
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semcache.engine.press.evicting import EvictingPress
from semcache.engine.press.press_protocol import ObservedLayer

if TYPE_CHECKING:
    import torch


class KeyDiff(EvictingPress):
    """Keep diverse keys."""

    name = "keydiff"

    def scores(self, seen: ObservedLayer) -> torch.Tensor:
        """Minus the cosine between a key and the mean of the normalised keys."""
        from torch.nn.functional import cosine_similarity, normalize

        keys = seen.keys.float()
        anchor = normalize(keys, dim=-1).mean(2, keepdim=True)
        return -cosine_similarity(keys, anchor, dim=-1)
