"""Merging after D2O (Wan et al. 2024, section 3.3): what H2O would drop goes into the kept token it resembles most.

A dropped token is merged only where the cosine of its key with the nearest kept key is above the average; the others
are dropped. Merged tokens keep the position of the token they went into. The paper's budgets by layer are left out.
Knows H2O's choice. Invariant: the same positions stay as in H2O; protected tokens take nothing in.
"""

from __future__ import annotations

from typing import Any

from semcache.engine.press.evicting import best_positions, kept_layer
from semcache.engine.press.h2o import H2O
from semcache.engine.press.press_protocol import ObservedLayer


class D2O(H2O):
    """Keep heavy hitters and merge the rest into them."""

    name = "d2o"

    def press(self, seen: ObservedLayer) -> Any:
        """Weights are e^cosine for the merged against e for the kept token itself (eq. 6)."""
        import torch
        from torch.nn.functional import normalize

        positions = best_positions(seen, self.scores(seen), seen.budget)
        layer = kept_layer(seen, positions)
        if positions.shape[-1] == seen.tokens:
            return layer
        gone = torch.ones(seen.keys.shape[:3], dtype=torch.bool, device=seen.keys.device)
        gone.scatter_(2, positions, value=False)
        keys, values = layer.keys.float(), layer.values.float()
        alike = normalize(seen.keys.float(), dim=-1) @ normalize(keys, dim=-1).mT
        alike = alike.masked_fill(seen.protected[positions].unsqueeze(2), -torch.inf)
        best, into = alike.max(-1)
        merged = gone & (best >= (best * gone).sum(-1, keepdim=True) / gone.sum(-1, keepdim=True)) & best.isfinite()
        weight = torch.where(merged, best.exp(), 0.0)
        total = torch.full_like(keys[..., 0], torch.e).scatter_add(2, into, weight)
        target = into.unsqueeze(-1).expand_as(seen.keys)
        for name, own, states in (("keys", keys, seen.keys), ("values", values, seen.values)):
            summed = (own * torch.e).scatter_add(2, target, states.float() * weight.unsqueeze(-1))
            blend = (summed / total.unsqueeze(-1)).to(states.dtype)
            setattr(layer, name, torch.where(total.unsqueeze(-1) > torch.e, blend, getattr(layer, name)))
        return layer
