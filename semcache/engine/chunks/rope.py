"""Rotary embeddings: keys moved to other positions.

A rotary embedding turns a key by an angle per position, so a key can be turned further. Holds for rotations that depend
on nothing but the position (default, linear, llama3 and yarn with their fixed frequencies), on the first dimensions
alone where rotation is partial. To be applied to the key as it was computed: errors of turning a turned key add up.
Knows no text. Invariant: turning there and back, or in two steps, is turning once, up to rounding.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from semcache.errors import ConfigError

if TYPE_CHECKING:
    import torch

_MOVING = {"dynamic", "longrope"}


def frequencies(module: Any) -> torch.Tensor:
    """(rotated dims / 2,) angles per position. Raises ConfigError when they depend on the length of the text."""
    rotary = getattr(module.get_decoder(), "rotary_emb", None)
    kind = getattr(rotary, "rope_type", None)
    if rotary is None or kind in _MOVING:
        raise ConfigError(
            f"a model of type {module.config.model_type!r} with positions of type {kind!r} has keys that cannot be "
            "moved: reuse prefixes alone"
        )
    found: torch.Tensor = rotary.inv_freq
    return found


def rotated(keys: torch.Tensor, by: int | torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
    """(…, tokens, dim) keys moved `by` positions, one number or one for each token; float32 inside, one rounding."""
    import torch

    moved = torch.as_tensor(by, device=keys.device, dtype=torch.float32)
    turn = moved.unsqueeze(-1) * angles.to(keys.device, torch.float32)
    cos, sin = turn.cos(), turn.sin()
    width = 2 * angles.numel()
    first, second = keys[..., : width // 2].float(), keys[..., width // 2 : width].float()
    parts = [first * cos - second * sin, second * cos + first * sin]
    return torch.cat([*(part.to(keys.dtype) for part in parts), keys[..., width:]], -1)
