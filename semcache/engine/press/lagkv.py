"""LagKV (Liang et al. 2025, section 3): tokens that spread widely when scaled by the range of the part that follows.

The text is cut into parts of `lag` tokens behind the sinks; each is scored within itself, so that every part keeps its
best; the last part has none to follow and stays as long as the budget lasts. Knows keys and values, no query, hence
agnostic. Invariant: sinks stay, and every part keeps its share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semcache.engine.press.evicting import EvictingPress
from semcache.engine.press.press_protocol import ObservedLayer

if TYPE_CHECKING:
    import torch


class LagKV(EvictingPress):
    """`sinks` first tokens stay; parts have `lag` tokens, or an eighth of a shorter text."""

    name = "lagkv"

    def __init__(self, sinks: int = 4, lag: int = 128) -> None:
        self._sinks, self._lag = sinks, lag

    def scores(self, seen: ObservedLayer) -> torch.Tensor:
        """The quantile within its part, which makes parts comparable; sinks and the last part above."""
        import torch

        first, total = min(self._sinks, seen.tokens), seen.tokens
        lag = max(1, min(self._lag, (total - first) // 8))
        parts = (total - first) // lag
        scores = torch.full(seen.keys.shape[:3], 2.0, device=seen.keys.device)
        if parts < 2:
            return scores
        end = first + parts * lag
        worth = _spread(seen.keys[:, :, first:end], lag) + _spread(seen.values[:, :, first:end], lag)
        ranks = worth.argsort(-1).argsort(-1).float() / lag
        scores[:, :, first : end - lag] = ranks.flatten(2)
        return scores


def _spread(states: torch.Tensor, lag: int) -> torch.Tensor:
    """Softmax within a part of the deviation over channels, scaled by minimum and range of the next part (eq. 4)."""
    parts = states.float().reshape(*states.shape[:2], -1, lag, states.shape[3])
    least, most = parts[:, :, 1:].amin(3, keepdim=True), parts[:, :, 1:].amax(3, keepdim=True)
    scaled = (parts[:, :, :-1] - least) / (most - least).clamp(min=1e-6)
    worth: torch.Tensor = scaled.std(-1).softmax(-1)
    return worth
