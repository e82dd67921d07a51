"""CAOTE (Goel et al. 2025, eq. 9): the tokens whose loss would change the attention's output most.

A token with weight a and value v in an output o changes it by a / (1 - a) · |o - v| when it goes; the weights are those
of another press, made to sum to one. Knows that press only as a giver of scores. Invariant: what it keeps at any price
stays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from semcache.engine.press.evicting import EvictingPress
from semcache.engine.press.press_protocol import ObservedLayer
from semcache.engine.press.snapkv import SnapKV

if TYPE_CHECKING:
    import torch


class Caote(EvictingPress):
    """Weigh the scores of `base` with values."""

    name = "caote"

    def __init__(self, base: EvictingPress | None = None) -> None:
        self._base = base or SnapKV(kernel=1)
        self.asks, self.agnostic = self._base.asks, self._base.agnostic

    def scores(self, seen: ObservedLayer) -> torch.Tensor:
        """The error of the output without the token; what the other press keeps in any case stays."""
        import torch

        given = self._base.scores(seen).float()
        always = given.isposinf()
        weights = given.masked_fill(always, 0.0).clamp(min=0.0)
        weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-9)
        values = seen.values.float()
        output = torch.einsum("bhn,bhnd->bhd", weights, values).unsqueeze(2)
        error: torch.Tensor = weights / (1 - weights).clamp(min=1e-6) * (output - values).norm(dim=-1)
        return error.masked_fill(always, torch.inf)
