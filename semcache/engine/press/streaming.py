"""StreamingLLM (Xiao et al. 2023, section 3.2): the first tokens, on which attention rests, and the latest.

Knows positions, neither keys nor queries. Invariant: the same tokens stay in every head of every layer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semcache.engine.press.evicting import EvictingPress
from semcache.engine.press.press_protocol import ObservedLayer

if TYPE_CHECKING:
    import torch


class StreamingLLM(EvictingPress):
    """Keep `sinks` first tokens and the last."""

    name = "streaming"

    def __init__(self, sinks: int = 4) -> None:
        self._sinks = sinks

    def scores(self, seen: ObservedLayer) -> torch.Tensor:
        """The later the better, but the sinks best."""
        import torch

        at = torch.arange(seen.tokens, device=seen.keys.device).float()
        at[: self._sinks] += seen.tokens
        return at.expand(seen.keys.shape[:3])
