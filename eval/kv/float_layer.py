"""A cache layer whose text is stored as 8-bit floats with a scale a token and head.

Imports torch at the top, like the layers that it extends; only functions import this module.
"""

from __future__ import annotations

import torch

from semcache.engine.press.press_protocol import ObservedLayer
from semcache.engine.press.pressed_layer import held
from semcache.engine.press.quantised_layer import CodedLayer

_FP8 = torch.float8_e4m3fn


class FloatLayer(CodedLayer):
    """A text in 8-bit floats. `keys` and `values` hold what is stored as it is."""

    def __init__(self, seen: ObservedLayer, *, recent: int) -> None:
        super().__init__(seen, group=1, recent=recent)

    def encode(self, keys: torch.Tensor, values: torch.Tensor) -> int:
        """Code both alike."""
        self._coded_keys, self._coded_values = floats(keys), floats(values)
        return held(*self._coded_keys, *self._coded_values)

    def decode(self) -> tuple[torch.Tensor, torch.Tensor]:
        """The keys and values again, about."""
        keys, values = (
            (data.float() * scale).to(self.keys.dtype) for data, scale in (self._coded_keys, self._coded_values)
        )
        return keys, values


def floats(numbers: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(…, dim) numbers as 8-bit floats, the largest of each dim at the largest float, and the scales."""
    scale = (numbers.float().abs().amax(-1, keepdim=True) / torch.finfo(_FP8).max).clamp(min=1e-12)
    return (numbers.float() / scale).to(_FP8), scale
