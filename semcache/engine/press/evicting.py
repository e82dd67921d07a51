"""Presses that evict: the tokens with the highest scores stay, per KV head.

Knows scores, not where they come from. Invariant: protected tokens stay; the kept are in the order of the text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semcache.engine.press.press_protocol import ObservedLayer, QuerySource

if TYPE_CHECKING:
    import torch


class EvictingPress:
    """A press by scores: a subclass gives them, (batch, KV heads, n); the highest are kept."""

    name = ""
    asks = QuerySource.NOBODY
    agnostic = True

    def scores(self, seen: ObservedLayer) -> torch.Tensor:
        """The score of each token."""
        raise NotImplementedError

    def budget(self, seen: ObservedLayer) -> int:
        """The number of tokens that this layer keeps."""
        return seen.budget

    def press(self, seen: ObservedLayer) -> Any:
        """Keep the tokens with the highest scores."""
        return kept_layer(seen, best_positions(seen, self.scores(seen), self.budget(seen)))


def best_positions(seen: ObservedLayer, scores: torch.Tensor, budget: int) -> torch.Tensor:
    """Positions (batch, KV heads, budget) of the protected tokens and the best of the others, ascending."""
    import torch

    most = torch.finfo(torch.float32).max  # some presses keep tokens at any price, but none before the protected
    scores = scores.float().clamp(max=most).masked_fill(seen.protected, torch.inf)
    # Equal scores are common (masks, quantiles): the later token wins, by a stable sort from behind.
    order = scores.flip(-1).argsort(dim=-1, descending=True, stable=True)[..., :budget]
    return (seen.tokens - 1 - order).sort(dim=-1).values


def kept_layer(seen: ObservedLayer, positions: torch.Tensor) -> Any:
    """The layer that holds the tokens at `positions`."""
    from semcache.engine.press.pressed_layer import PressedLayer

    at = positions.unsqueeze(-1).expand(-1, -1, -1, seen.keys.shape[-1])
    return PressedLayer(seen.keys.gather(2, at), seen.values.gather(2, at), positions, seen.tokens)
